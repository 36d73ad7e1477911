"""A link's additional effects in words: those of each option, and none without options."""

import pytest

from study_files import study
from wording.link_words import link_words

QUIET = {"delay_ms": 10, "loss_percent": 1, "jitter_ms": 1}


def words(**link):
    made = study.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "x", "link": QUIET | link}]}, "s.yaml")
    return link_words(made["scenarios"][0]["link"])


@pytest.mark.parametrize(
    "link, phrase",
    [
        ({}, ""),
        ({"timeline": [{"at_s": 2, "down_for_s": 1}]}, "down for 1 s at 2 s"),
        ({"timeline": [{"at_s": 2, "delay_ms": 50, "direction": "forward"}]}, "forward delay 50 ms from 2 s on"),
        ({"timeline": [{"at_s": second, "rate_mbps": 1} for second in range(9)]}, "9 changes while traffic flows"),
        ({"trace": {"rates_mbps": [1, 2]}}, "capacity of a trace (forward), in steps of 100 ms"),
        ({"policer": {}}, "policed at 10 Mbit/s with a burst of 30,000 bytes"),
        ({"loss_burst_packets": {"forward": 4, "reverse": None}}, "losses in bursts of 4 packets (forward)"),
        ({"reordering": {"percent": 2.0}}, "2 % of packets 5 ms late (forward)"),
        ({"duplicate_percent": {"forward": 0, "reverse": 0.5}}, "0.5 % of packets twice (reverse)"),
        ({"corrupt_percent": 1}, "1 % of packets damaged (forward); 1 % of packets damaged (reverse)"),
        ({"jitter_order": "kept", "ack_slot_ms": 5}, "jitter keeps the order; acknowledgements in slots of 5 ms"),
    ],
)
def test_each_option_has_its_words(link, phrase):
    assert words(**link) == phrase
