"""A sentence that refuses a value covered by another key names that key, and the key exists."""

import re

import pytest

from study_files import study as studies
from study_files.study import StudyError
from study_files.where_else import OF_KEYS, OF_VALUES
from turned_off import keys_of_the_schema


def refused(**scenario):
    ccas = scenario.pop("ccas", ["reno"])
    with pytest.raises(StudyError) as raised:
        studies.resolve({"study": "s", "ccas": ccas, "scenarios": [{"id": "a"} | scenario]}, "s.yaml")
    return str(raised.value)


@pytest.mark.parametrize(
    "scenario, named",
    [
        ({"link": {"rate_mbps": [30, 30]}}, "multipath.path_rate_mbps"),
        ({"link": {"loss_percent": [1, 0]}}, "multipath.path_loss_percent"),
        ({"link": {"delay_ms": [1, 20]}}, "multipath.path_delay_ms"),
        ({"queue": {"packets": [9, 20]}}, "multipath.path_queue_packets"),
        ({"traffic": {"protocol": "quic"}}, "`programs`"),
        ({"transport": {"delayed_acks": 10}}, "examples/ack-segments.patch"),
        ({"transport": {"segment_bytes": 8948}}, "link.mtu_bytes"),
        ({"ccas": ["prague+cubic"]}, "l4s"),
        ({"traffic": {"capture": True}}, "`make packets`"),
        ({"link": {"mtu": 9000}}, "link.mtu_bytes"),
        ({"hosts": {"sysctls": {}}}, "keys of transport"),
    ],
)  # fmt: skip
def test_the_key_that_would_do_is_named(scenario, named):
    assert named in refused(**scenario)


def test_what_only_looks_alike_gets_no_other_place():
    assert "multipath" not in refused(link={"rate_mbps": "fast"})
    assert "ack-segments" not in refused(transport={"delayed_acks": "never"})


def test_keys_that_are_named_exist():
    sentences = [sentence for _, sentence in OF_VALUES.values()] + list(OF_KEYS.values())
    named = {key for sentence in sentences for key in re.findall(r"\b(?:link|multipath|transport)\.\w+", sentence)}
    assert len(named) >= 7 and named <= set(keys_of_the_schema())
