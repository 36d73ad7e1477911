"""Settings of shapers and policers: tc's arguments and the values to be read back agree."""

import pytest

from testbed.network.emulation import SHAPERS
from testbed.network.policer import Policer


@pytest.mark.parametrize("shaper", SHAPERS.values(), ids=SHAPERS)
def test_a_rate_is_set_and_read_back_in_whole_bytes_per_second(shaper):
    bottleneck = shaper(rate_mbps=0.133333, queue_packets=5, queue_bytes=None)
    assert "rate 133336bit" in " ".join(bottleneck.commands("r1-eth1"))
    assert bottleneck.expected()[shaper.shaper]["rate_bps"] == 133336


def test_a_policers_rate_is_set_and_read_back_in_whole_bytes_per_second():
    policer = Policer(0.133333, 30_000)
    assert "rate 133336bit" in " ".join(policer.commands("r1-eth0"))
    assert policer.expected()["rate_mbps"] == 0.133336
