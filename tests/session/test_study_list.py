"""The studies by name, and the cost stated for each, compared with what runs took."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.session.test_run_cost import shared_by_runs

from session import study_list, study_names
from session.machine_speed import Sample, SpeedRecord, samples_of, speed_of
from session.run_cost import Work, document_kb, work_of_run
from session.study_cost import cost_of, took_words
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
    """A folder with the default study, and a function that writes another file of a study."""
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
            LookupError, match="are both the study smoke, and so have the same results folder; give one"
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
    """As the workflow names it: a wrong folder would print another report's path, and skip the check of the image."""
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
    folder = tmp_path / "smoke" / "runs" / "a" / "reno" / "ipv4"
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


MISTYPED = [
    (["studdies"], "make has no target studdies"),
    (["tests"], "make has no target tests"),
    (["report", "config"], "make has no target report"),
    (["STUDI=smoke"], "make has no variable STUDI"),
    (["CONFIG=config/studies/smoke.yaml"], "make has no variable CONFIG; make run uses: PLATFORM, PROFILE"),
    (["CCA=my/tcp_mine.c", "STUDY=smoke"], "make run doesn't use CCA, which is for: exam, evaluate; make run uses: "),
    (["STUDIES=smoke"], "make run doesn't use STUDIES, which is for: atlas;"),
    (["gallery", "CCA=vegas"], "make gallery doesn't use CCA, which is for: exam, evaluate;"),
    (["exam", "STUDY=smoke", "CCA=vegas"], "make exam doesn't use STUDY, which is for: run, "),
    (["evaluate", "STUDY=smoke", "CCA=vegas", "QUICK=1"], "make evaluate doesn't use QUICK, which is for: exam,"),
    (["study=smoke"], "make has no variable study"),
    (["STUDY=smok"], "there is no study of that name (nearest: smoke"),
    (["STUDY=config/studies/none.yaml"], "there is no such file, or it can't be read"),
    (["sensitivity", "STUDY=smoke", "N=x"], "sawtooth: N is 'x'; allowed: whole numbers of at least 1."),
    (["sensitivity", "STUDY=smoke", "SEED=-1"], "sawtooth: SEED is '-1'; allowed: whole numbers of at least 0."),
    (["verify", "RESULTS=nowhere"], "sawtooth: nowhere: there is no such folder"),
]


@pytest.mark.parametrize("words, sentence", MISTYPED)
def test_a_mistyped_call_of_make_is_told_in_a_sentence(words, sentence, tmp_path, root):
    """Nothing is started: an unread misspelt variable would run the default study for an hour."""
    for name in ("Makefile", "config", "workflow", "profiles", "Snakefile", "envs"):
        (tmp_path / name).symlink_to(root / name)
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    command = ["make", "--old-file", "setup", *words]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    assert done.returncode != 0 and sentence in done.stdout and "Traceback" not in done.stdout, done.stdout
    assert not (tmp_path / "results").exists() and not (tmp_path / ".snakemake").exists()


def test_a_study_named_in_the_environment_is_not_ignored(root):
    done = subprocess.run(["env", "STUDY=smoke", "make", "--dry-run"], cwd=root, capture_output=True, text=True)
    assert (
        done.returncode
        and "sawtooth: STUDY is set in the environment, which has no effect; write it after make" in done.stderr
    )
    assert subprocess.run(["env", "STUDY=smoke", "make", "help"], cwd=root, capture_output=True).returncode == 0


def dry_make(root, *words):
    command = ["make", "--dry-run", "--old-file", "setup", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def test_a_platform_is_kept_beside_other_configuration(root):
    """Snakemake uses only the last --config."""
    for option in ("--config ", "-C ", "--config="):
        printed = dry_make(root, "STUDY=smoke", "PLATFORM=host", f"ARGS=-n {option}seed=2")
        assert printed.count("'config/studies/smoke.yaml' -n --config 'platform=host' seed=2\n") == 1


def test_the_report_is_that_of_the_study_that_runs(root):
    printed = dry_make(root, "STUDY=smoke", "ARGS=--config study=other", "PLATFORM=host")
    assert "setup begun 'results/other-host'" in printed and "echo report: 'results/other-host/report.html'" in printed


def test_zero_switches_an_option_off(root):
    run = dry_make(root, "STUDY=smoke", "RERUN=0")
    packets = dry_make(root, "packets", "RUN=x", "FULL=0", "BUILD=0")
    assert "setup begun" in run and "--full" not in packets and "--build" not in packets
    assert "setup images" not in dry_make(root, "publish", "STUDY=smoke", "IMAGES=0")


@pytest.mark.parametrize(
    "words", [("CCA=vegas", "exam"), ("evaluate", "CCA=x", "STUDY=smoke"), ("gallery",), ("atlas",), ("sensitivity",)]
)
def test_every_command_that_continues_results_checks_their_image(root, words):
    assert dry_make(root, *words).count("setup begun") == 1 and "setup begun" not in dry_make(root, *words, "RERUN=1")


def test_each_target_lists_the_variables_that_it_uses(root):
    text = (root / "Makefile").read_text()
    lists = {target: {*words.split()} for target, words in re.findall(r"^OF_([a-z-]+) = (.*)$", text, re.MULTILINE)}
    known = {name for names in lists.values() for name in names if name.isupper() or name == "NS3"}
    recipes = re.findall(r"^([a-z-]+):.*?##.*\n((?:\t.*\n)*)", text, re.MULTILINE)
    for target, recipe in recipes:
        used = {*re.findall(r"[A-Z]+\b(?!=)", " ".join(re.findall(r"\$\([^$]*", recipe)))} & known
        assert used - lists.get(target, set()) <= {"RESULTS"}, target
