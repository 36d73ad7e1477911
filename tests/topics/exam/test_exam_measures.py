"""Measures of a run for an exam, on series with known truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from changing_run import changing_run
from topics.exam.measure_exam import PATH, harms
from topics.exam.measures import (
    RunData,
    breaker_s,
    dip_percent,
    harm,
    least_percent,
    longest_s,
    packets_per_rtt,
    rtt_exponent,
    starved_s,
)  # fmt: skip

MSS = 1000
TIMES = np.arange(0.05, 20.001, 0.05)


def run_of(rates_mbps, change=None, drops=None):
    """Return a run of 20 s with flows of the given Mbit/s at each time."""
    sockets = []
    for flow, rate in enumerate(rates_mbps):
        sent = np.cumsum(rate(TIMES) * 0.05 * 1e6 / 8)
        sockets.append(
            pd.DataFrame({"flow": flow, "flow_cca": "reno", "time_s": TIMES, "bytes_sent": sent, "bytes_acked": sent, "sacked_packets": 0})
        )  # fmt: skip
    row = {
        "duration_s": 20, "mss_bytes": MSS, "packet_bytes": 1066, "rtt_path_ms": 40.0, "rate_mbps": 20.0,
    }  # fmt: skip
    flows = pd.DataFrame({"flow": range(len(rates_mbps)), "start_offset_ms": 0.0, "rtt_path_ms": 40.0})
    queue = pd.DataFrame(
        {"time_s": TIMES, "packets": 0, "drops": 0 if drops is None else drops(TIMES), "delay_ms": 0.0}
    )
    specification = change and changing_run(change, rate_mbps=20, transport={"segment_bytes": MSS})
    return RunData(row, {}, flows, pd.DataFrame(), specification, pd.concat(sockets), queue)


def steady(mbps):
    """Return a constant rate."""
    return lambda times: np.full(len(times), float(mbps))


def test_packets_per_rtt():
    """A flow of 5 Mbit/s sends 25 packets of 1,000 bytes in 40 ms; only packets later than 3 s after the change count."""
    change = {"at_s": 4, "direction": "forward", "loss_percent": 50}
    after = run_of([lambda times: np.where(times < 7, 20.0, 5.0)], change)
    assert packets_per_rtt(after) == pytest.approx(25, rel=0.01)
    silent = run_of([lambda times: np.where(times < 7, 20.0, 0.0)], change)
    assert packets_per_rtt(silent) == pytest.approx(0, abs=0.01)


def test_starved():
    """A flow that gets 0.4 of 10.4 Mbit/s from 5 to 13 s has less than a tenth of its fair share for 8 s, less a step at the edges."""
    starving = run_of([steady(10), lambda times: np.where((times > 5) & (times < 13), 0.4, 10.0)])
    assert starved_s(starving, 0.1) == pytest.approx(8, abs=1)
    assert starved_s(starving, 0.1, [0]) == 0
    assert starved_s(run_of([steady(10), steady(2)]), 0.1) == 0


def test_breaker():
    """One packet in five is dropped from 6 to 12 s."""
    offered = 10e6 / 8 / MSS

    def drops(times):
        return 0.2 * offered * (np.clip(times, 6, 12) - 6)

    assert breaker_s(run_of([steady(10)], drops=drops), 10) == pytest.approx(6, abs=1)
    assert breaker_s(run_of([steady(10)], drops=drops), 30) == 0


def test_dip():
    """Of 20 Mbit/s, 1,000 of 1,066 bytes are payload; from 9 to 11 s the flow gets 2. The second after the change doesn't count."""
    change = {"at_s": 5, "direction": "forward", "delay_ms": 40}
    rate = run_of([lambda times: np.where((times > 9) & (times < 11) | (times > 5) & (times < 5.9), 2.0, 15.0)], change)
    assert dip_percent(rate) == pytest.approx(100 * 2 / (20 * 1000 / 1066), rel=0.02)


def test_least():
    """The mean of 3 and 1 Mbit/s is 2."""
    run = run_of([steady(3), steady(1)])
    run.flows["goodput_steady_mbps"] = [3.0, 1.0]
    assert least_percent(run) == 50


def test_longest():
    """The longest row of True, in s."""
    assert longest_s([]) == 0
    assert longest_s([True, True, False, True]) == 2


def test_harm():
    """By the definition of Ware and others: 0.6 if 10 became 4; a delay of 50 instead of 40 is a harm of a fifth."""
    assert harm(10, 4, True) == pytest.approx(0.6)
    assert harm(40, 50, False) == pytest.approx(0.2)
    assert harm(10, 12, True) == pytest.approx(-0.2)
    assert harm(0, 0, False) == 0


def test_harms_by_the_other_flows_own_cca_and_path():
    """The value alone is that of the other flow's CCA in the same replication: path and seed are the same."""
    keys = ["scenario", "cca", *PATH, "throughput", "delay", "loss"]
    rows = [
        ("5.2.1-solo", "reno", "reno", 40.0, 20.0, 99924.0, "ipv4", 1, 19.0, 50.0, 1.0),
        ("5.2.1-solo", "reno", "reno", 40.0, 20.0, 99924.0, "ipv4", 2, 10.0, 50.0, 1.0),
        ("5.2.1-solo-far", "reno", "reno", 160.0, 20.0, 99924.0, "ipv4", 1, 10.0, 170.0, 1.0),
        ("5.2.1-before-reno", "mine", "reno", 40.0, 20.0, 99924.0, "ipv4", 1, 9.5, 100.0, 4.0),
        ("5.2.1-before-reno-fast", "mine", "reno", 40.0, 100.0, 99924.0, "ipv4", 1, 9.5, 100.0, 4.0),  # never alone there
        ("5.2.1-before-bbr", "mine", "bbr", 40.0, 20.0, 99924.0, "ipv4", 1, 9.5, 100.0, 4.0),
    ]  # fmt: skip
    of_flows = harms(pd.DataFrame(rows, columns=keys))
    assert set(of_flows["scenario"]) == {"5.2.1-before-reno"}  # BBR never ran alone
    assert of_flows.set_index("measure")["value"].to_dict() == pytest.approx(
        {"harm_throughput": 0.5, "harm_delay": 0.5, "loss_added_percent": 3.0}
    )


@pytest.mark.parametrize("goodput, power", [([8.0, 2.0], 1), ([16.0, 1.0], 2), ([1.0, 4.0], 1), ([5.0, 5.0], 0)])
def test_rtt_exponent(goodput, power):
    """At 40 and 160 ms a ratio of 4 is a power of 1, and one of 16 a power of 2, whichever flow has more."""
    run = run_of([steady(1), steady(1)])
    flows = run.flows.assign(rtt_path_ms=[40.0, 160.0], goodput_steady_mbps=goodput)
    assert rtt_exponent(replace(run, flows=flows)) == pytest.approx(power)


def test_rtt_exponent_of_a_flow_that_gets_nothing():
    """One packet is assumed for it, 1,000 bytes in 20 s, of 400 times as much."""
    run = run_of([steady(1), steady(1)])
    flows = run.flows.assign(rtt_path_ms=[40.0, 160.0], goodput_steady_mbps=[400 * 8e-6 * MSS / 20, 0.0])
    assert rtt_exponent(replace(run, flows=flows)) == pytest.approx(np.log(400) / np.log(4))
