"""Bounds for the number of packets that an option affected: as wide as the unobservable part requires, and no wider."""

import numpy as np
import pytest

from testbed.checks.link_option_checks import judge_share
from testbed.checks.link_option_counts import noticed_share
from testbed.network.emulation import parse_qdiscs

#: Ethernet's and IPv4's headers.
HEADERS = 34


@pytest.mark.parametrize("full", [0, 0.3, 1])
def test_the_noticed_share_of_packets_of_any_mix_lies_inside_its_bounds(full):
    """Flips in 14 bytes never show, those in 22 more may; packets of 1,514 bytes and of 66, like data and acknowledgements."""
    lengths = np.where(np.arange(1000) < 1000 * full, 1514, 66)
    least, most = noticed_share(lengths.mean(), 66, HEADERS)
    assert least <= np.mean(1 - 36 / lengths) + 1e-12 and np.mean(1 - 14 / lengths) <= most + 1e-12
    # Of packets that are all alike nothing is given away.
    if full in (0, 1):
        assert (least, most) == pytest.approx((np.mean(1 - 36 / lengths), np.mean(1 - 14 / lengths)))


def test_sound_counts_pass_and_those_of_another_share_fail():
    seen, packets = noticed_share(1480, 66, HEADERS), 10_000
    draws = np.random.default_rng(1).binomial(packets, 0.01 * np.mean(seen), size=2000)
    assert all(judge_share("corruption", 0.01, count, packets, seen).ok for count in draws)
    for count in (0, 40, 170, packets):
        assert not judge_share("corruption", 0.01, count, packets, seen).ok
    assert not judge_share("corruption", 0.01, 0, 0, seen).ok


def test_what_is_seen_for_certain_is_judged_as_loss_is():
    check = judge_share("duplicates", 0.02, 205, 10_000)
    assert (check.ok, check.expected, check.observed) == (True, "2 %", "205 of 10000 packets, 2.0500 %")


def test_netem_tells_each_option_by_its_own_name():
    options = {
        "limit": 1000, "seed": 7, "slot": {"min-delay": 0.005, "max-delay": 0.005},
        "reorder": {"reorder": 0.99}, "duplicate": {"duplicate": 0.02}, "corrupt": {"corrupt": 0.01},
    }  # fmt: skip
    read = parse_qdiscs([{"kind": "netem", "options": options}], [])["netem"]
    assert {name: read[name] for name in ("slot_ms", "at_once_percent", "duplicate_percent", "corrupt_percent")} == {
        "slot_ms": 5, "at_once_percent": 99, "duplicate_percent": 2, "corrupt_percent": 1
    }  # fmt: skip
    assert (
        not {"slot_ms", "corrupt_percent"}
        & parse_qdiscs([{"kind": "netem", "options": {"limit": 1}}], [])["netem"].keys()
    )
