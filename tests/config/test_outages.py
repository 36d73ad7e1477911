"""The outage of a path: what a study can't request."""

import pytest

from study_files import study as studies

CABLE = {"topology": "cable", "link": {"rate_mbps": 10, "delay_ms": 5}, "queue": {"packets": 100}}
PATHS = {"by": "mptcp", "paths": 2, "outage": {"path": 2, "at_s": 3, "for_s": 2}}


def resolved(multipath, **changes):
    scenario = {"id": "a", **CABLE, "multipath": multipath} | changes
    return studies.resolve({"study": "small", "ccas": ["reno"], "scenarios": [scenario]}, "small.yaml")


def test_an_outage_stands_in_the_specification_and_none_does_not():
    asked = studies.run_specification(resolved(PATHS), "a", "reno", "ipv4", 1)["scenario"]["multipath"]
    assert asked["outage"] == {"path": 2, "at_s": 3, "for_s": 2}
    plain = studies.run_specification(resolved(PATHS | {"outage": None}), "a", "reno", "ipv4", 1)["scenario"][
        "multipath"
    ]
    assert "outage" not in plain


@pytest.mark.parametrize(
    ("multipath", "changes", "message"),
    [
        ({"by": "gre"}, {}, "multipath.outage is set for path 2; allowed with multipath.by gre: null, because only mptcp"),
        ({"by": "none", "paths": 1}, {}, "multipath.outage is set for path 2; allowed with multipath.by none: null"),
        ({"paths": 1}, {}, "multipath.outage is set for path 2; allowed with one path: null"),
        ({"outage": {"path": 3, "at_s": 3, "for_s": 2}}, {}, "multipath.outage.path is 3; allowed: up to the number of paths, 2."),
        ({"outage": {"path": 2, "at_s": 8, "for_s": 2}}, {}, "multipath.outage ends at 10 s; allowed: an end before the end of the traffic, 10 (s)."),
        ({"outage": {"path": 2, "at_s": 0, "for_s": 2}}, {}, "multipath.outage.at_s is 0; allowed: a number above 0 and up to 3600 (s)."),
        ({"outage": {"path": 2, "at_s": 3}}, {}, "multipath.outage.for_s is missing; allowed: a number from 0.01 to 3600 (s)."),
        ({"outage": 3}, {}, "multipath.outage is 3; allowed: null, or the path, start and length of an outage"),
        ({}, {"link": {"rate_mbps": 10, "delay_ms": 0}}, "multipath.outage is given without link.delay_ms"),
        ({}, {"traffic": {"application": "ftp"}}, "allowed without a duration of iperf3: null."),
    ],
)  # fmt: skip
def test_what_an_outage_cannot_be_is_refused_in_one_sentence(multipath, changes, message):
    with pytest.raises(studies.StudyError) as caught:
        resolved(PATHS | multipath, **changes)
    (problem,) = caught.value.problems
    assert message in problem
