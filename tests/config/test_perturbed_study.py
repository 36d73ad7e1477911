"""A study of perturbed scenarios: each changes one condition by the requested amount, and the sample follows from the seed."""

import pytest
import yaml

from experiment.specification import RunSpecification
from session import sensitivity
from session.sensitivity import main, write
from study_files import study as studies
from study_files.perturbed_study import PERTURBATIONS, WORDS, perturbed_study

LINK = {"rate_mbps": 100, "delay_ms": {"forward": 10, "reverse": 5}, "jitter_ms": 1}


def perturbed(scenario, count=9, **changes):
    """Return the perturbed scenarios of a study with one scenario, by perturbation."""
    config = {
        "study": "small",
        "ccas": ["reno", "cubic"],
        "scenarios": [{"id": "a", "link": LINK} | scenario],
    } | changes
    study, left_out = perturbed_study(studies.resolve(config, "small.yaml"), count, 1, lambda _: True)
    assert left_out == []
    resolved = studies.resolve(study, "small-sensitivity")
    return {each["id"].removeprefix("a."): each for each in resolved["scenarios"]}


def without(scenario, *sections):
    return {key: value for key, value in scenario.items() if key not in ("id", "label", *sections)}


@pytest.mark.parametrize(
    ("name", "section"),
    [("again", ""), ("offload", "transport"), ("rtt-up", "link"), ("rtt-down", "link"), ("queue-up", "queue"), ("queue-down", "queue"), ("twice", "traffic"), ("tick", "kernel")],
)  # fmt: skip
def test_one_condition_is_changed_at_a_time(name, section):
    scenarios = perturbed({})
    assert list(scenarios) == [perturbation.name for perturbation in PERTURBATIONS] == list(WORDS)
    assert without(scenarios[name], section) == without(scenarios["as-is"], section)
    if section:
        assert scenarios[name][section] != scenarios["as-is"].get(section)


def test_conditions_are_changed_by_what_is_said():
    scenarios = perturbed({"queue": {"packets": 50}, "traffic": {"duration_s": 3}})
    assert scenarios["rtt-up"]["link"]["delay_ms"] == {"forward": 10.1, "reverse": 5.05}
    assert scenarios["rtt-down"]["link"]["jitter_ms"] == {"forward": 0.99, "reverse": 0.99}
    assert [scenarios[name]["queue"]["packets"] for name in ("queue-up", "queue-down")] == [55, 45]
    assert scenarios["twice"]["traffic"]["duration_s"] == 6
    assert scenarios["offload"]["transport"]["segmentation_offload"] is True
    short = perturbed({"queue": {"packets": 3}, "hosts": {"access_delay_ms": 2}})
    assert [short[name]["queue"]["packets"] for name in ("queue-up", "queue-down")] == [4, 2]
    assert short["rtt-up"]["hosts"]["access_delay_ms"] == [2.02]
    in_bdp = perturbed({"queue": {"bdp": 2}, "traffic": {"messages": 1000}})
    assert [in_bdp[name]["queue"]["bdp"] for name in ("queue-up", "queue-down")] == [2.2, 1.8]
    assert in_bdp["twice"]["traffic"]["messages"] == 2000


@pytest.mark.parametrize("name", ["plain", "a.unknown", "as-is"])
def test_a_scenario_whose_name_says_no_perturbation_is_refused(name):
    config = {
        "study": "s",
        "ccas": ["reno"],
        "analysis": {"sensitivity": True},
        "scenarios": [{"id": "a.as-is"}, {"id": name}],
    }
    with pytest.raises(studies.StudyError) as refused:
        studies.resolve(config, "s.yaml")
    (sentence,) = refused.value.problems
    assert sentence.startswith(
        f"s.yaml: scenarios[{name}].id names no perturbation; allowed with analysis.sensitivity:"
    )


def test_a_delay_that_a_path_changes_to_is_perturbed_like_the_one_before():
    link = {"delay_ms": 10, "timeline": [{"at_s": 1, "delay_ms": 50}, {"at_s": 2, "rate_mbps": 5}]}
    study = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a", "link": link}]}, "s.yaml")
    longer = next(each for each in PERTURBATIONS if each.name == "rtt-up").change(study["scenarios"][0])
    assert [entry["delay_ms"] for entry in longer["link"]["timeline"]] == [50.5, None]


def test_a_small_sample_follows_from_its_seed():
    config = {"study": "large", "ccas": ["reno", "cubic", "bbr", "vegas"], "replications": 30}
    study = studies.resolve(config | {"scenarios": [{"id": f"s{n}"} for n in range(20)]}, "large.yaml")
    samples = [perturbed_study(study, 3, seed, lambda _: True)[0] for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert len(samples[0]["scenarios"]) == 3 * len(PERTURBATIONS)
    assert len(samples[0]["ccas"]) == 3 and samples[0]["replications"] == 6


def test_what_cannot_be_run_is_left_out_and_named(tmp_path):
    # A queue of less than a super-packet lets none pass.
    config = {"study": "small", "ccas": ["reno", "cubic"], "scenarios": [{"id": "a", "queue": {"bytes": 20_000}}]}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(config))
    text = write(tmp_path / "small.yaml", tmp_path / "out.yaml", 2, 1)
    assert "8 scenarios" in text
    assert "a, segmentation offload the other way: left out, because such a scenario can't be run" in text
    assert len(studies.resolve(studies.load(tmp_path / "out.yaml"), "out.yaml")["scenarios"]) == 8


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"analysis": {"calibration": True}}, "analysis.calibration is true; allowed with make sensitivity: false."),
        ({"ccas": ["reno"], "ip_versions": ["ipv4"]}, "compares neither IP versions nor CCAs by tests; allowed with"),
        ({"ccas": ["rino"]}, "did you mean 'reno'?"),
    ],
)
def test_a_study_that_concludes_nothing_is_refused(tmp_path, capsys, changes, sentence):
    config = {"study": "small", "ccas": ["reno", "cubic"], "scenarios": [{"id": "a"}]} | changes
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(config))
    assert main(["write", str(tmp_path / "small.yaml"), str(tmp_path / "out.yaml")]) == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out.yaml").exists()
    assert main(["write", "x.yaml", "y.yaml", "--count", "0"]) == 1
    assert "N is '0'; allowed: whole numbers of at least 1." in capsys.readouterr().err


def test_a_study_is_perturbed_on_the_platform_of_the_command(tmp_path):
    """The study has the name that `make sensitivity PLATFORM=host` expects when it shows the results."""
    output = tmp_path / "smoke-host-sensitivity.yaml"
    assert (
        sensitivity.main(["write", "config/studies/smoke.yaml", str(output), "--count", "1", "--platform", "host"]) == 0
    )
    written = studies.resolve(studies.load(output), "perturbed")
    assert written["study"] == output.stem
    assert {scenario["platform"] for scenario in written["scenarios"]} == {"host"}


def test_programs_under_test_are_perturbed_too(tmp_path, monkeypatch):
    """They are declared in the perturbed study; offload and another tick, which programs don't support, are left out."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flow").write_text("#!/bin/sh\n")
    (tmp_path / "flow").chmod(0o755)
    program = {"path": "flow", "server": "{folder}/flow {cca} {seconds}", "client": "{folder}/flow", "ccas": ["a", "b"]}
    config = {
        "study": "try", "ccas": ["cubic", "mine:a"], "programs": {"mine": program, "other": program | {"ccas": ["a"]}},
        "scenarios": [{"id": "x", "flows": [{"name": "own", "cca": "own", "stop_s": 9}, {"name": "o", "program": "other:a", "stop_s": 9}]}],
    }  # fmt: skip
    perturbed, left_out = perturbed_study(studies.resolve(config, "try.yaml"), 1, 1, sensitivity._is_possible)
    assert [sentence.partition(":")[0] for sentence in left_out] == [
        "x, segmentation offload the other way",
        "x, the guest kernel's tick 250 Hz",
    ]
    resolved = studies.resolve(perturbed, "perturbed.yaml")
    assert list(resolved["programs"]) == ["mine"] and len(resolved["scenarios"]) == 7
    assert {one["groups"][1]["program"]["name"] for one in resolved["scenarios"]} == {"other"}


def queue_packets(scenario):
    return RunSpecification({"ip_version": "ipv4", "scenario": scenario}).queue_packets


@pytest.mark.parametrize(("rate_mbps", "delay_ms", "bdp"), [(1, 20, 1), (0.5, 50, 1), (10, 10, 0.25), (100, 20, 2)])
def test_a_short_queue_in_bdps_changes_by_a_packet(rate_mbps, delay_ms, bdp):
    """A queue of four packets would still have four packets if only its BDPs were increased by 10 %."""
    link = {"rate_mbps": rate_mbps, "delay_ms": delay_ms}
    scenarios = perturbed({"link": link, "queue": {"bdp": bdp}})
    packets = queue_packets(scenarios["as-is"])
    least = max(1, int(packets * 0.1) - 1)
    assert queue_packets(scenarios["queue-up"]) >= packets + least
    assert queue_packets(scenarios["queue-down"]) <= packets - least


def test_a_study_with_interim_looks_is_perturbed_with_six_replications():
    config = {"study": "small", "ccas": ["reno", "cubic"], "scenarios": [{"id": "a", "link": LINK}]}
    rule = {"until": {"goodput_percent": 1}, "at_least": 10, "at_most": 40}
    study, _ = perturbed_study(studies.resolve(config | {"replications": rule}, "small.yaml"), 1, 1, lambda _: True)
    assert study["replications"] == 6


def test_results_that_are_not_there_get_one_sentence(tmp_path, capsys):
    """After a dry run, for example."""
    assert main(["show", str(tmp_path / "results/small-sensitivity")]) == 1
    error = capsys.readouterr().err
    assert "small-sensitivity has no analysis/sensitivity.csv; allowed: " in error and error.count("\n") == 1
