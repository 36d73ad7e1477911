"""A specification from somebody else runs only if a study of this workflow could have given it."""

import copy
import json

import pytest

from publishing.result_checks.received_specification import SpecificationError, check_specification
from study_files import study as studies


@pytest.fixture
def given(root):
    study = studies.resolve(studies.load(root / "config/studies/smoke.yaml"), "smoke")
    return json.loads(json.dumps(studies.run_specification(study, "10mbit-20ms-0pct-1flow", "reno", "ipv4", 1)))


def with_value(document, path, value):
    changed = copy.deepcopy(document)
    *sections, key = path.split(".")
    place = changed
    for section in sections:
        place = place[section]
    place[key] = value
    return changed


def test_the_workflow_s_own_passes_unchanged(given):
    assert json.dumps(check_specification(given, "it")) == json.dumps(given)


@pytest.mark.parametrize("path", ["config/config.yaml", "config/studies/exbench.yaml"])
def test_every_scenario_of_our_studies_passes(path, root):
    study = studies.resolve(studies.load(root / path), path)
    for scenario in study["scenarios"]:
        specification = studies.run_specification(study, scenario["id"], study["ccas"][-1], "ipv6", 2)
        assert check_specification(json.loads(json.dumps(specification)), "it") == specification


@pytest.mark.parametrize(
    "path, value",
    [
        ("cca", "reno; touch x"),
        ("cca", ["reno"]),
        ("cca", None),
        ("ip_version", "ipv4\nlink add evil"),
        ("study", "../../etc"),
        ("study", "$(touch x)"),
        ("study", "a\n"),
        ("replication", 0),
        ("replication", "1"),
        ("replication", True),
        ("seed", "1; touch x"),
        ("seed", 0),
        ("seed", 2**32),
        ("schema_version", 1),
        ("schema_version", True),
        ("scenario", []),
        ("scenario.id", "a/../b"),
        ("scenario.id", "-rf"),
        ("scenario.label", "no part of a run"),
        ("scenario.flows", 10**9),
        ("scenario.flows", "1"),
        ("scenario.platform", "moon"),
        ("scenario.link.rate_mbps", "10; touch x"),
        ("scenario.link.rate_mbps", float("nan")),
        ("scenario.link.rate_mbps", 1e9),
        ("scenario.link.delay_ms.forward", "20ms loss 100%"),
        ("scenario.link.delay_ms", 20),
        ("scenario.link.more", 1),
        ("scenario.queue", {"packets": 33, "bytes": 2000}),
        ("scenario.queue.packets", "33; touch x"),
        ("scenario.traffic.duration_s", 10**6),
        ("scenario.transport.cca_set_by", "sysctl -w a=b"),
        ("more", 1),
    ],
)
def test_what_no_study_gives_is_refused(path, value, given):
    with pytest.raises(SpecificationError, match="^runs/x: "):
        check_specification(with_value(given, path, value), "runs/x")


@pytest.mark.parametrize("section", ["traffic", "transport", "link", "queue", "flows"])
def test_a_missing_section_is_refused(section, given):
    if section == "queue":  # as long as it says other than the default
        assert given["scenario"]["queue"] != {"bdp": 1}
    del given["scenario"][section]
    with pytest.raises(SpecificationError):
        check_specification(given, "it")


@pytest.mark.parametrize("document", [None, [], "x", {}, 1])
def test_what_is_no_specification_is_refused(document):
    with pytest.raises(SpecificationError, match="has the keys schema_version, study"):
        check_specification(document, "it")
