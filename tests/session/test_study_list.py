"""The studies by name, and the cost stated for each, compared with what runs took."""

import re
from pathlib import Path

import pytest
from tests.session.test_run_cost import shared_by_runs

from session import study_list, study_names
from session.machine_speed import Sample, SpeedRecord, samples_of, speed_of
from session.planned_runs import planned_runs, tell_cost
from session.progress_lines import WorkLeft, in_words
from session.run_cost import Work, document_kb, work_of_run
from session.study_cost import Forecast, core_time, cost_of, took_words
from study_files import study as studies


@pytest.fixture(autouse=True)
def in_checkout(root, monkeypatch):
    monkeypatch.chdir(root)


def test_every_shipped_study_answers_to_its_name():
    for file in dict.fromkeys(study_names.study_files().values()):
        name = re.search(r"^study: *(\S+)", file.read_text(), re.MULTILINE)[1]
        assert study_names.file_of(name) == file


@pytest.mark.parametrize("name", ["smok", "", "../config", "config", "a\nb", "-h"])
def test_an_unknown_name_gets_one_sentence(name):
    with pytest.raises(LookupError, match=r"there is no study of that name.*make studies") as caught:
        study_names.file_of(name)
    assert "\n" not in caught.value.args[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the default study, and a function that writes another study file."""
    monkeypatch.chdir(tmp_path)

    def write(path, text):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode())
        return Path(path)

    write("config/config.yaml", "study: first\n")
    return write


def test_a_copy_that_kept_the_studys_name_is_refused(folder):
    """Its runs would replace those of the original."""
    original, copy = (folder(f"config/studies/{name}.yaml", "study: smoke\n") for name in ("smoke", "test"))
    for name in ("smoke", "test", str(copy), f"./{original}"):
        with pytest.raises(
            LookupError, match="both define the study smoke, so they have the same results folder; give one"
        ):
            study_names.file_of(name)
    folder("config/studies/test.yaml", "study: other\n")
    assert (
        study_names.file_of("smoke") == original and study_names.file_of("test") == study_names.file_of("other") == copy
    )
    elsewhere = folder("elsewhere/smoke.yaml", "study: smoke\n")
    assert study_names.file_of(str(elsewhere)) == elsewhere


def test_a_tilde_is_the_users_folder(folder, tmp_path, monkeypatch):
    """Not all shells replace it in STUDY=~/mine.yaml."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder("mine.yaml", "study: mine\n")
    assert study_names.file_of("~/mine.yaml") == tmp_path / "mine.yaml"


def test_a_file_name_goes_before_the_name_of_another_files_study(folder):
    smoke = folder("config/studies/smoke.yaml", "study: of-smoke\n")
    folder("config/studies/zz.yaml", "study: smoke\n")
    assert study_names.file_of("smoke") == smoke


def test_a_file_that_cannot_be_read_hides_no_other(folder, monkeypatch):
    folder("config/studies/smoke.yaml", "study: smoke\n")
    folder("config/studies/secret.yaml", "study: secret\n")
    read = Path.read_bytes

    def read_bytes(path):
        if path.stem == "secret":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    assert study_names.file_of("smoke") == Path("config/studies/smoke.yaml")


@pytest.mark.parametrize(
    ("text", "words", "name"),
    [
        ("study: mine", "", "mine"),
        ("study: 'mine'  # a remark\r\nplatform: host\r\n", "", "mine-host"),
        ('\ufeff"study" : "mine"\nplatform: "uml"\n', "", "mine-uml"),
        ("title: x\nstudy: mine\nplatform: host\n", "-n --config platform=uml", "mine-uml"),
        ("study: mine\nplatform: null\n", "--config platform=host study=other -n", "other-host"),
        ("study: mine", "--config study=other --config seed=2", "mine"),
        ("study: mine", "-C study=other --until tidy_runs", "other"),
        ("study: mine", "--configfile config/config.yaml --config=seed=2", "first"),
    ],
)
def test_the_results_folder_of_a_call(folder, text, words, name):
    """The folder is the one that the workflow uses: otherwise, make prints the path of another report, and skips the check of the image."""
    file = folder("my study.yaml", text + "\n")
    assert study_names.results_of(file, words.split()) == Path("results", name)


@pytest.fixture
def record(tmp_path):
    return SpeedRecord(tmp_path / "speed")


@pytest.fixture
def smoke():
    file = study_names.file_of("smoke")
    return studies.resolve(studies.load(str(file), {}), str(file))


def test_list_of_a_study_that_has_some_runs(tmp_path, record, smoke):
    for cca in (smoke["ccas"][0], "former"):
        folder = tmp_path / "smoke" / "runs" / smoke["scenarios"][0]["id"] / cca / "ipv4"
        folder.mkdir(parents=True)
        (folder / "1.json.gz").touch()
    row = study_list.row_of("smoke.yaml", smoke, record, tmp_path)
    assert (*row[:3], row[4], row[6]) == ("smoke", "16", "1", "", "smoke.yaml")


def benchmark(folder, scenario, number, text):
    file = folder / "benchmarks" / "runs" / scenario / "reno" / "ipv4" / f"{number}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_speed_is_that_of_the_runs_carried_out_here(tmp_path):
    """Cached runs have only a heading; damaged files and scenarios that the study no longer has don't count."""
    for number in range(10):
        benchmark(tmp_path, "a", number, "s\th:m:s\n0.5\t0:00:00\n")
    benchmark(tmp_path, "a", 10, "s\th:m:s\n")
    benchmark(tmp_path, "a", 11, "s\th:m:s\n?\t0\n")
    benchmark(tmp_path, "gone", 1, "s\th:m:s\n99\t0\n")
    assert samples_of(tmp_path, {"a": Work(2.0)}) == [Sample(Work(2.0), 10, 0.5)]


def test_of_many_runs_a_part_is_read_and_all_are_counted(tmp_path):
    for number in range(400):
        benchmark(tmp_path, "a", number, f"s\n{1 + number % 2 * 0.02}\n")
    (sample,) = samples_of(tmp_path, {"a": Work(2.0)})
    assert sample.runs == 400 and sample.mean_s == pytest.approx(1.01, abs=0.011)


@pytest.mark.parametrize("own, traffic", [(1.0, 1.0), (3.0, 3.0), (0.5, 4.0), (3.0, 0.7)])
def test_both_parts_of_a_machines_speed_are_found(own, traffic):
    works = [Work(0.7, 0.02), Work(0.7, 1.5), Work(2.0, 30.0)]
    found = speed_of(Sample(work, 3000, own * work.own_s + traffic * work.traffic_s) for work in works)
    assert found.own == pytest.approx(own, rel=0.1) and found.traffic == pytest.approx(traffic, rel=0.1)


def test_what_was_not_measured_stays_as_it_is():
    """Runs with hardly any packets give no time per packet; runs under the host's clock give nothing at all."""
    found = speed_of([Sample(Work(0.7, 0.0001), 1000, 1.4), Sample(Work(clock_s=10.0), 1000, 99.0)])
    assert found.own == pytest.approx(2, rel=0.02) and found.traffic == pytest.approx(1, rel=0.02)
    assert found.runs == 1000
    assert speed_of([]) == (1.0, 1.0, 0)


def test_finished_study_says_how_far_off_its_estimate_was(tmp_path, record, smoke):
    """The estimate isn't based on the study's own runs but on other studies'."""
    cost, folder = cost_of(smoke), tmp_path / "smoke"
    for scenario, work in cost.works.items():
        for number in range(8):
            benchmark(folder, scenario, number, f"s\n{1.5 * (work.own_s + work.traffic_s)}\n")
    assert took_words(smoke, folder, record).endswith("(+50 %)")
    assert took_words(smoke, folder, record).endswith("(+50 %)")
    record.keep(
        tmp_path / "other", [Sample(work, 10**6, 1.5 * (work.own_s + work.traffic_s)) for work in cost.works.values()]
    )
    assert took_words(smoke, folder, record).endswith("(+0 %)") or took_words(smoke, folder, record).endswith("(-0 %)")
    row = study_list.row_of("smoke.yaml", smoke, record, tmp_path)
    assert row[4] in ("+0%", "-0%")
    assert float(row[3]) == pytest.approx(1.5 * sum(cost.work) / 3600, rel=0.06)


@pytest.fixture
def with_program(tmp_path, monkeypatch):
    """A study of Reno and a program; a run of the program takes many times as long as a run of Reno."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my/one").mkdir(parents=True)
    (tmp_path / "my/one/run").write_text("#!/bin/sh\n")
    (tmp_path / "my/one/run").chmod(0o755)
    program = {
        "path": "my/one",
        "server": "{folder}/run {seconds}",
        "client": "{folder}/run {server}",
        "ccas": ["reno"],
    }
    scenario = {"id": "a", "link": {"rate_mbps": 20}, "traffic": {"duration_s": 10}}
    config = {"study": "s", "ccas": ["reno", "mine:reno"], "ip_versions": ["ipv4"], "scenarios": [scenario]}
    return studies.resolve(config | {"programs": {"mine": program}, "replications": 10}, "s.yaml")


def test_runs_of_a_program_have_their_own_cost(tmp_path, record, with_program):
    forecast = Forecast(with_program, tmp_path / "s", record)
    plain_s, program_s = forecast.seconds("a", "reno"), forecast.seconds("a", "mine:reno")
    # A flow of 10 s at 20 Mbit/s takes 3.2 s with aioquic and 0.9 s with s2n-quic (benchmarks/README.md).
    assert program_s - plain_s == pytest.approx(2.7, rel=0.2)
    assert forecast.seconds("a") == pytest.approx((plain_s + program_s) / 2)
    paths = [f"results/s/runs/a/mine:reno/ipv4/{n}.json.gz" for n in range(1, 11)]
    assert f"in about {core_time(10 * program_s)} " in planned_runs(paths, forecast.seconds)[0]


def test_second_executions_are_part_of_the_cost(tmp_path, record, with_program):
    work_left, forecast = WorkLeft(), Forecast(with_program, tmp_path / "s", record)
    paths = [f"results/s/{folder}/a/mine:reno/ipv4/1.json.gz" for folder in ("runs", "logs/repetitions")]
    first, scenario, last = planned_runs(paths, forecast.seconds)
    program_s = forecast.seconds("a", "mine:reno")
    assert first.startswith("sawtooth: 1 run would be carried out") and scenario == "  a: 1 run, of mine:reno"
    assert last == (
        "sawtooth: 1 run with programs would be executed a second time, to compare the bytes, "
        f"in about {core_time(program_s)}"
    )
    tell_cost(lambda: forecast, work_left, 1, False, lambda: paths, False)
    assert list(work_left.runs.values()) == [program_s] * 2


def test_a_studys_cost_includes_second_executions(tmp_path, record, with_program):
    cost, forecast = cost_of(with_program), Forecast(with_program, tmp_path / "s", record)
    program_s, plain_s = forecast.seconds("a", "mine:reno"), forecast.seconds("a", "reno")
    # Of ten replications, the first is both the program's first run and the first one in its last scenario.
    assert cost.repeated == [("a", "mine:reno", "ipv4", 1)]
    assert forecast.speed.seconds(cost.work) == pytest.approx(10 * plain_s + 11 * program_s)
    assert forecast.repeated_s() == (program_s, program_s)
    path = tmp_path / "s/logs/repetitions/a/mine:reno/ipv4/1.json.gz"
    path.parent.mkdir(parents=True)
    path.touch()
    assert forecast.repeated_s() == (program_s, 0)


def test_runs_of_a_program_dont_change_the_speed_of_others(tmp_path, record, with_program):
    """An interrupted study may have only runs of the kernel's CCAs."""
    cost, folder = cost_of(with_program), tmp_path / "s"
    for number in range(100):
        benchmark(folder, "a", number, f"s\n{sum(cost.work_of('a', 'reno'))}\n")
    assert [sample.runs for sample in samples_of(folder, cost.measured)] == [100]
    assert Forecast(with_program, folder, record).speed[:2] == pytest.approx((1, 1), abs=0.01)


def test_runs_under_the_hosts_clock_occupy_all_cores(tmp_path, record):
    scenario = {"id": "a", "platform": "host", "link": {"rate_mbps": 10}, "traffic": {"duration_s": 60}}
    study = studies.resolve(
        {"study": "s", "ccas": ["reno"], "ip_versions": ["ipv4"], "scenarios": [scenario]}, "s.yaml"
    )
    work_left, paths = WorkLeft(), [f"results/s/runs/a/reno/ipv4/{n}.json.gz" for n in range(1, 61)]
    tell_cost(lambda: Forecast(study, tmp_path / "s", record), work_left, 60, False, lambda: paths, False)
    (run_s,) = set(work_left.runs.values())
    assert run_s / 60 > 60 and work_left.words(0, 60) == in_words(run_s)


def test_record_that_is_damaged_or_cannot_be_written_is_passed_over(tmp_path, record):
    samples = [Sample(Work(1.0, 2.0), 5, 3.0)]
    record.keep(tmp_path / "a", samples)
    assert record.samples() == samples and record.samples(without=tmp_path / "a") == []
    for text in ("", "[1]", '[[["a", 0, 0], 1, 1]]', "{}", "[[[1, 2, 3], null, 1]]", "\x00"):
        (record.folder / "other.json").write_text(text)
        assert record.samples() == samples
    (tmp_path / "file").touch()
    closed = SpeedRecord(tmp_path / "file" / "speed")
    closed.keep(tmp_path / "a", samples)
    assert closed.samples() == []


# Mean s of the runs of scenarios on the machine of benchmarks/README.md, one core of two, the other one busy.
@pytest.mark.parametrize(
    ("scenario", "took_s"),
    [
        ({"link": {"rate_mbps": 20, "delay_ms": 20}, "flows": 2, "traffic": {"duration_s": 12}}, 0.69),
        ({"link": {"rate_mbps": 1000, "delay_ms": 10}, "traffic": {"duration_s": 10}}, 1.82),
        ({"link": {"rate_mbps": 1000, "delay_ms": 100}, "flows": 12, "traffic": {"duration_s": 10}}, 3.09),
        (
            {
                "link": {"rate_mbps": 1000, "delay_ms": 50, "loss_percent": 1},
                "flows": 12,
                "traffic": {"duration_s": 10},
            },
            1.12,
        ),
        ({"link": {"rate_mbps": 1000, "delay_ms": 50, "loss_percent": 1}, "traffic": {"duration_s": 10}}, 0.64),
    ],
)
def test_time_of_a_run(scenario, took_s):
    queue = {"queue": {"bdp": 1}}
    assert sum(work_of_run(shared_by_runs(queue | scenario))) == pytest.approx(took_s, rel=0.3)


def per_side(flows, rate_mbps, duration_s, pairs=1):
    traffic = {"processes": "per-side", "duration_s": duration_s, "start_within_ms": 100}
    link = {"rate_mbps": rate_mbps, "delay_ms": 10}
    return {"flows": flows, "link": link, "queue": {"bdp": 1}, "hosts": {"pairs": pairs}, "traffic": traffic}


# Core seconds and kB of a document from docs/many-flows.md.
@pytest.mark.parametrize(
    ("scenario", "took_s", "kilobytes"),
    [
        (per_side(1000, 1000, 10), 6, 400),
        (per_side(5000, 10_000, 10), 58, 2200),
        (per_side(100, 1000, 1, pairs=100), 4.8, 100),
        (per_side(250, 1000, 1, pairs=250), 11, 200),
        (per_side(500, 1000, 1, pairs=500), 22, 400),
        (per_side(1000, 1000, 1, pairs=1000), 56, 800),
    ],
)
def test_cost_of_thousands_of_flows(scenario, took_s, kilobytes):
    shared = shared_by_runs(scenario)
    assert sum(work_of_run(shared)) == pytest.approx(took_s, rel=0.3)
    assert document_kb(shared) == pytest.approx(kilobytes, rel=0.3)


def test_only_a_sample_of_thousands_of_flows_has_time_series():
    without, each = per_side(1000, 1000, 10), per_side(1000, 1000, 10)
    each["traffic"] = each["traffic"] | {"sample_interval_ms": 100}
    more_kb = document_kb(shared_by_runs(each)) - document_kb(shared_by_runs(without))
    assert more_kb == pytest.approx(50 * 100 * 0.026, rel=0.1)


# kB of the documents of shipped studies, a mean over the runs of a scenario.
@pytest.mark.parametrize(
    ("scenario", "kilobytes"),
    [
        ({"flows": 1, "traffic": {"duration_s": 10}}, 7.3),
        ({"flows": 12, "traffic": {"duration_s": 10}}, 19.5),
        ({"flows": 1, "traffic": {"duration_s": 12, "sample_interval_ms": 20}}, 24.4),
        ({"flows": 4, "traffic": {"duration_s": 12, "sample_interval_ms": 20}}, 72.9),
    ],
)
def test_size_of_a_document(scenario, kilobytes):
    assert document_kb(shared_by_runs(scenario)) == pytest.approx(kilobytes, rel=0.2)
