"""A received specification runs only if a study of this workflow could have produced it."""

import json
from functools import reduce

import pytest

from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_study import check_specification
from study_files import study as studies

#: Place in a specification -> what no study of ours gives there.
FOREIGN = {
    "cca": ["reno; touch x", ["reno"], None],
    "ip_version": ["ipv4\nlink add evil"],
    "study": ["../../etc", "$(touch x)", "a\n"],
    "replication": [0, "1", True],
    "seed": ["1; touch x", 0, 2**32],
    "schema_version": [1, True],
    "scenario": [[]],
    "scenario.id": ["a/../b", "-rf"],
    "scenario.label": ["no part of a run"],
    "scenario.flows": [10**9, "1"],
    "scenario.platform": ["moon"],
    "scenario.link.rate_mbps": ["10; touch x", float("nan"), 1e9],
    "scenario.link.delay_ms.forward": ["20ms loss 100%"],
    "scenario.link.delay_ms": [20],
    "scenario.link.more": [1],
    "scenario.queue": [
        {"packets": 33, "bytes": 2000},
        {"packets": 33, "discipline": "codel"},  # without its parameters
        {"packets": 33, "discipline": "evil; touch x"},
        {"packets": 33, "discipline": "drop-tail"},  # which has none
        {
            "bytes": 15_503_360,
            "discipline": "cake",
            "rtt_ms": 100,
            "isolation": "flows bandwidth 1bit",
            "tins": "diffserv3",
        },
    ],
    "scenario.queue.packets": ["33; touch x"],
    "scenario.traffic.duration_s": [10**6],
    "scenario.transport.cca_set_by": ["sysctl -w a=b"],
    "scenario.transport.ecn": ["3", "off", False],
    "more": [1],
}


@pytest.fixture
def specification(root):
    study = studies.resolve(studies.load(root / "config/studies/smoke.yaml"), "smoke")
    return json.loads(json.dumps(studies.run_specification(study, "10mbit-20ms-0pct-1flow", "reno", "ipv4", 1)))


@pytest.mark.parametrize(
    "path",
    [
        "config/config.yaml",
        "config/studies/exbench.yaml",
        "config/studies/smoke.yaml",
        "config/studies/aqm.yaml",
        "config/studies/aqm-dctcp.yaml",
    ],
)
def test_every_scenario_of_our_studies_passes_unchanged(path, root):
    study = studies.resolve(studies.load(root / path), path)
    for scenario in study["scenarios"]:
        text = json.dumps(
            studies.run_specification(study, scenario["id"], study["ccas"][0], study["ip_versions"][-1], 2)
        )
        assert json.dumps(check_specification(json.loads(text), "it")) == text


@pytest.mark.parametrize("path, value", [(path, value) for path, values in FOREIGN.items() for value in values])
def test_what_no_study_gives_is_refused(path, value, specification):
    *sections, key = path.split(".")
    reduce(dict.__getitem__, sections, specification)[key] = value
    with pytest.raises(ReceivedError, match="^runs/x: "):
        check_specification(specification, "runs/x")


@pytest.mark.parametrize("section", ["traffic", "transport", "link", "queue", "flows"])
def test_a_missing_section_is_refused(section, specification):
    if section == "queue":  # as long as it says other than the default
        assert specification["scenario"]["queue"] != {"bdp": 1}
    del specification["scenario"][section]
    with pytest.raises(ReceivedError):
        check_specification(specification, "it")


@pytest.mark.parametrize("document", [None, [], "x", {}, 1])
def test_what_is_no_specification_is_refused(document):
    with pytest.raises(ReceivedError, match="has exactly the keys schema_version, scenario"):
        check_specification(document, "it")
