"""Seeds and specifications follow from a run's own factors, and never change silently."""

import json

import pytest

from study_files import study


def specifications(config):
    """Return the specification of each run of a study, by its factors."""
    resolved = study.resolve(config, "small.yaml")
    return {run: study.run_specification(resolved, *run) for run in study.runs(resolved)}


@pytest.mark.parametrize(
    ("study_seed", "scenario_id", "replication", "seed"),
    # Recorded once; another value would change every published run.
    [
        (1, "10ms-1pct-1flow", 1, 3523601161),
        (1, "10ms-1pct-1flow", 2, 534858411),
        (1, "100ms-0pct-12flows", 1, 1887507755),
        (4294967295, "10mbit-20ms-0pct-1flow", 100, 2114486423),
    ],
)
def test_recorded_seeds(study_seed, scenario_id, replication, seed):
    assert study.run_seed(study_seed, scenario_id, replication) == seed


def test_seeds_differ_and_stay_in_range():
    seeds = {study.run_seed(seed, name, n) for seed in (1, 2) for name in ("a", "a1", "b") for n in range(1, 201)}
    assert len(seeds) == 2 * 3 * 200
    assert min(seeds) >= 1
    assert max(seeds) <= 2**32 - 1


def test_ccas_and_ip_versions_share_a_seed(small):
    seeds = {}
    for (scenario, _, _, replication), specification in specifications(small).items():
        seeds.setdefault((scenario, replication), set()).add(specification["seed"])
    assert len(seeds) == 2 * 6
    assert all(len(shared) == 1 for shared in seeds.values())


@pytest.mark.parametrize(
    "change",
    [
        {"ip_versions": ["ipv4", "ipv6"]},
        {"ccas": ["bbr", "reno", "cubic"]},
        {"replications": 7},
        {"scenarios": [{"id": "new"}, {"id": "far", "link": {"delay_ms": 100}}, {"id": "near"}]},
        {"title": "Another title", "description": "Another text."},
        {"scenarios": [{"id": "near", "label": "N"}, {"id": "far", "label": "F", "link": {"delay_ms": 100}}]},
    ],
    ids=["ip version", "cca", "replication", "scenario and order", "text", "labels"],
)
def test_a_new_level_or_label_changes_no_other_run(small, change):
    one_version = {"ip_versions": ["ipv6"]} if "ip_versions" in change else {}
    before, after = specifications(small | one_version), specifications(small | change)
    assert before.items() <= after.items()
    assert len(after) >= len(before) > 0


def test_a_changed_scenario_changes_only_its_runs(small):
    before = specifications(small)
    small["scenarios"][1]["link"]["delay_ms"] = 90
    after = specifications(small)
    changed = {run for run in before if before[run] != after[run]}
    assert changed == {run for run in before if run[0] == "far"}


def test_the_specification_holds_the_run_and_nothing_else(small):
    resolved = study.resolve(small, "small.yaml")
    specification = study.run_specification(resolved, "far", "reno", "ipv6", "2")
    assert list(specification) == ["schema_version", "scenario", "cca", "ip_version", "replication", "seed"]
    assert specification["replication"] == 2
    assert "label" not in specification["scenario"]
    assert specification["scenario"]["link"]["delay_ms"] == {"forward": 100, "reverse": 100}
    assert json.loads(json.dumps(specification)) == specification


@pytest.mark.parametrize(
    "run",
    [("no", "reno", "ipv4", 1), ("far", "bbr", "ipv4", 1), ("far", "reno", "ipv5", 1), ("far", "reno", "ipv4", 7)],
)
def test_a_run_that_the_study_does_not_have_is_refused(small, run):
    resolved = study.resolve(small, "small.yaml")
    with pytest.raises(KeyError, match=f"study small has no run {'/'.join(map(str, run))}"):
        study.run_specification(resolved, *run)


def test_cells_and_runs_are_the_product_of_the_factors(small):
    resolved = study.resolve(small | {"replications": 2}, "small.yaml")
    assert len(list(study.cells(resolved))) == 2 * 2 * 2
    first = [("near", "reno", "ipv4", 1), ("near", "reno", "ipv4", 2), ("near", "reno", "ipv6", 1)]
    assert list(study.runs(resolved))[:3] == first
