"""The shipped study of message sizes, in its three forms: the paper's design."""

import re

import pytest

from study_files import study
from study_files.study_design import StudyDesign
from topics.packet_size.topic import compares_sizes_alone, figures

SIZES = (128, 384, 640, 896, 1152, 1408)


def resolved(root, name, **settings):
    path = root / "config" / "studies" / name
    return study.resolve(study.load(path, settings), str(path))


def test_scenarios_are_what_their_names_say(root):
    shipped = resolved(root, "packet-size.yaml")
    assert len(shipped["scenarios"]) == 2 * 5 * len(SIZES)
    link = shipped["scenarios"][0]["link"]
    for scenario in shipped["scenarios"]:
        name = re.fullmatch(r"(p2p|cs)-(tcp|udp)(-rtt|-segments)?-(\d+)", scenario["id"])
        environment, protocol, kind, size = name.groups()
        traffic = scenario["traffic"]
        assert scenario["background"] == {"p2p": "none", "cs": "server"}[environment]
        assert (traffic["protocol"], traffic["block_bytes"]) == (protocol, int(size))
        assert traffic["application"] == ("round-trip" if kind == "-rtt" else "iperf3")
        assert scenario["transport"]["segment_bytes"] == (int(size) if kind == "-segments" else None)
        assert scenario["topology"] == "cable" and scenario["queue"] == {"packets": 1000}
        assert scenario["link"] | {"delay_ms": 0} == link | {"delay_ms": 0}
    assert [link[key] for key in ("rate_mbps", "frame_overhead_bytes", "serialisation")] == [100, 24, "virtual-clock"]
    assert {scenario["traffic"]["block_bytes"] for scenario in shipped["scenarios"]} == set(SIZES)
    assert (shipped["ccas"], shipped["ip_versions"]) == (["cubic"], ["ipv4", "ipv6"])


def test_the_full_study_has_the_papers_number_of_packets_and_runs(root):
    default, full = resolved(root, "packet-size.yaml"), resolved(root, "packet-size-full.yaml")
    assert full["replications"] == 40
    bulk = [scenario for scenario in full["scenarios"] if scenario["traffic"]["application"] == "iperf3"]
    assert {scenario["traffic"]["messages"] for scenario in bulk} == {1_000_000}
    for either in (default, full):
        for key in ("study", "title", "description", "replications"):
            del either[key]
        del either["analysis"]["compare_with"]
        for scenario in either["scenarios"]:
            for key in ("messages", "duration_s"):
                del scenario["traffic"][key]
    assert full == default


def test_on_the_host_it_is_the_same_study_by_another_name(root):
    own, host = resolved(root, "packet-size.yaml"), resolved(root, "packet-size.yaml", platform="host")
    assert (own["analysis"]["compare_with"], host["analysis"]["compare_with"]) == ("packet-size-host", "packet-size")
    assert host["study"] == "packet-size-host"
    assert [scenario | {"platform": "uml"} for scenario in host["scenarios"]] == own["scenarios"]
    assert list(study.runs(host)) == list(study.runs(own)) and host["seed"] == own["seed"]


@pytest.mark.slow
def test_other_studies_are_not_by_size(root):
    for path in sorted((root / "config" / "studies").rglob("*.yaml")):
        design = StudyDesign(resolved(root, path.relative_to(root / "config" / "studies")))
        assert compares_sizes_alone(design) == path.name.startswith("packet-size"), path.name


def test_a_figure_is_of_traffic_that_the_study_has(root):
    shipped = resolved(root, "packet-size.yaml")
    of_all = {figure.slug for figure in figures(StudyDesign(shipped))}
    shipped["scenarios"] = [scenario for scenario in shipped["scenarios"] if "udp-rtt" not in scenario["id"]]
    assert of_all - {figure.slug for figure in figures(StudyDesign(shipped))} == {"size-udp-rtt"}
