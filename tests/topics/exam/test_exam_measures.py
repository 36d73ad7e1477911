"""Measures of a run for an exam, on series with known truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from changing_run import changing_run
from inference.censored_times import ended_quantile
from topics.exam import measures
from topics.exam.criteria import NEVER
from topics.exam.measure_exam import PATH, harms, values_of
from topics.exam.measures import (
    RunData,
    breaker_s,
    crowd_percent,
    dip_percent,
    harm,
    jain_index,
    least_percent,
    longest_s,
    other_flow,
    packets_per_rtt,
    rtt_exponent,
    starved_s,
    subflows_percent,
)  # fmt: skip

MSS = 1000
TIMES = np.arange(0.05, 20.001, 0.05)


def run_of(rates_mbps, change=None, drops=None):
    """Return a run of 20 s with flows of the given Mbit/s at each time."""
    sockets = []
    for flow, rate in enumerate(rates_mbps):
        sent = np.cumsum(rate(TIMES) * 0.05 * 1e6 / 8)
        sockets.append(
            pd.DataFrame({"flow": flow, "path": np.nan, "flow_cca": "reno", "time_s": TIMES, "bytes_sent": sent, "bytes_acked": sent, "sacked_packets": 0})
        )  # fmt: skip
    row = {
        "duration_s": 20, "mss_bytes": MSS, "packet_bytes": 1066, "rtt_path_ms": 40.0, "rate_mbps": 20.0,
    }  # fmt: skip
    flows = pd.DataFrame(
        {"flow": range(len(rates_mbps)), "start_offset_ms": 0.0, "rtt_path_ms": 40.0, "goodput_lifetime_mbps": 1.0}
    )
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
    assert max(starved_s(starving, 0.1).values()) == pytest.approx(8, abs=1)
    assert starved_s(starving, 0.1)[0] == 0
    assert max(starved_s(run_of([steady(10), steady(2)]), 0.1).values()) == 0


def until(end_s, begin_s=0.0, mbps=10.0):
    """Return a rate that is 0 except between two times."""
    return lambda times: np.where((times > begin_s) & (times < end_s), mbps, 0.0)


def test_flows_that_all_stall_starve():
    """Two flows deliver nothing from 2 to 20 s."""
    assert max(starved_s(run_of([until(2), until(2)]), 0.1).values()) == pytest.approx(18, abs=1)


@pytest.mark.parametrize("change", [{"down_for_s": 8}, {"loss_percent": 100, "direction": "reverse"}])
def test_no_flow_starves_while_the_path_is_down(change):
    """Nothing can be delivered from 5 to 13 s, nor, without feedback, from 5 to 20 s."""
    rate = steady(10) if "down_for_s" not in change else lambda times: np.where((times > 5) & (times < 13), 0.0, 10.0)
    flows = [rate, rate] if "down_for_s" in change else [until(5), until(5)]
    assert max(starved_s(run_of(flows, {"at_s": 5, **change}), 0.1).values()) <= 1


def test_a_flow_that_starts_too_late_starved_before():
    """The other flow delivers its first packets 15 s after its start; a flow whose SYN was lost once starts after 1 s."""
    assert max(starved_s(run_of([steady(10), until(20, begin_s=15)]), 0.1).values()) == pytest.approx(15 - 3, abs=1)
    assert max(starved_s(run_of([steady(10), until(20, begin_s=1.1)]), 0.1).values()) == 0


def test_a_flow_that_has_stopped_does_not_starve():
    """Of two flows of 10 Mbit/s, one stops at 10 of 20 s."""
    run = run_of([steady(10), until(10)])
    groups = pd.DataFrame({"group": ["long", "short"], "stop_s": [20.0, 10.0]})
    planned = replace(run, flows=run.flows.assign(group=["long", "short"]), groups=groups)
    assert max(starved_s(planned, 0.1).values()) == 0
    assert max(starved_s(run, 0.1).values()) == pytest.approx(10, abs=1)
    # A flow that starves although it should send until the end.
    together = replace(planned, groups=groups.assign(stop_s=20.0))
    assert max(starved_s(together, 0.1).values()) == pytest.approx(10, abs=1)


@pytest.mark.parametrize(
    "rates, down, percent", [("10 2", 2, 20), ("10 2", 1, 100), ("6 6", 1, 100 / 3), ("6 3 3", 2, 200 / 9)]
)
def test_during_an_outage_the_goodput_is_relative_to_the_paths_left(rates, down, percent, monkeypatch):
    """2 Mbit/s are delivered during the outage."""
    monkeypatch.setattr(measures, "measure_failover", lambda *_: {"during_mbps": 2.0, "standstill_s": 0.0})
    run = run_of([steady(1)])
    row = run.row | {"ideal_goodput_mbps": 12.0, "capacity_mbps": 12.0}
    scenario = {"path_rate_mbps": rates, "outage_path": down, "paths": len(rates.split()), "capacity_most_mbps": 12.0}
    assert measures.failover(replace(run, row=row, scenario=scenario))["during_percent"] == pytest.approx(percent)


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


def test_flows_without_goodput_are_the_worst():
    """Shares of nothing are undefined. A CCA whose flows all stall must not be missing from the comparison, or be better than others."""
    run = run_of([steady(1), steady(1)])
    for steady_mbps, lifetime in (([0.0, 0.0], 1.0), ([np.nan, np.nan], np.nan)):
        flows = run.flows.assign(goodput_steady_mbps=steady_mbps, goodput_lifetime_mbps=lifetime)
        stalled = replace(run, flows=flows, row=run.row | {"jain_steady_index": 1.0, "ideal_goodput_mbps": 16.0})
        assert (least_percent(stalled), jain_index(stalled), subflows_percent(stalled)) == (0, 0.5, 100)
        far = replace(stalled, flows=flows.assign(rtt_path_ms=[40.0, 160.0]))
        assert rtt_exponent(far) == pytest.approx(np.log(16 / (8e-6 * MSS / 20)) / np.log(4))
    # Without a steady part, the goodput after start-up is unknown.
    unknown = replace(run, flows=run.flows.assign(goodput_steady_mbps=np.nan))
    assert np.isnan(least_percent(unknown))


def values_in(scenario, run, **row):
    """Return the measures of a run in a scenario, by name."""
    row = (
        run.row
        | {"scenario": scenario, "ideal_percent": np.nan, "ideal_goodput_mbps": 18.0, "convergence_s": np.nan}
        | row
    )
    row |= dict.fromkeys(("queueing_p50_ms", "queueing_p95_ms", "loss_percent"), 1.0)
    found = values_of(replace(run, row=row), {"starved_share": 0.1, "breaker_loss_percent": 10})
    return {name: value for name, _, value in found}


def test_a_run_without_delivery_uses_nothing():
    run = run_of([steady(1)])
    silent = replace(run, flows=run.flows.assign(goodput_lifetime_mbps=np.nan))
    assert values_in("6.3-x", silent)["utilisation_percent"] == 0
    assert np.isnan(
        values_in("6.3-x", silent, ideal_goodput_mbps=np.nan)["utilisation_percent"]
    )  # no rate is configured
    assert values_in("6.3-x", run, ideal_percent=90.0)["utilisation_percent"] == 90


@pytest.mark.parametrize(
    "own, other, share, fair", [(8.0, np.nan, 100, 0), (np.nan, 8.0, 0, 100 * 8 / 9), (np.nan, np.nan, 0, 0)]
)
def test_a_flow_that_delivers_nothing_has_no_share(own, other, share, fair):
    """Its lifetime, and so its goodput, isn't known."""
    run = run_of([steady(1), steady(1)])
    flows = run.flows.assign(group=["own", "other"], flow_cca="reno", goodput_lifetime_mbps=[own, other])
    found = values_in("5.2.1-beside-reno", replace(run, flows=flows))
    assert (found["own_share_percent"], found["other_fair_percent"]) == (share, pytest.approx(fair))


def test_the_other_flow_that_delivers_nothing_has_no_goodput():
    """Alone, an unknown goodput remains unknown."""
    run = run_of([steady(1)])
    unknown = dict.fromkeys(("goodput_mbps", "goodput_lifetime_mbps", "rtt_mean_ms"), np.nan) | {
        "bytes_sent": MSS,
        "retransmits": 0,
    }
    for group, is_known in (("other", True), ("", False)):
        flows = run.flows.assign(group=group, **unknown)
        assert np.isnan(other_flow(replace(run, flows=flows))["throughput"]) != is_known


def test_a_crowd_of_which_a_flow_delivers_nothing():
    """The other of its two flows has 3 of 12 Mbit/s, which are for three flows."""
    run = run_of([steady(1)] * 3)
    flows = run.flows.assign(group=["own", "crowd", "crowd"], goodput_lifetime_mbps=[9.0, 3.0, np.nan])
    groups = pd.DataFrame({"group": ["crowd"], "members": [2], "goodput_mbps": [np.nan]})
    made = replace(run, flows=flows, groups=groups, row=run.row | {"ideal_goodput_mbps": 12.0})
    assert crowd_percent(made) == pytest.approx(100 * 3 / 8)


@pytest.mark.parametrize("members", [1, 2, 20, 21, 240])
def test_short_flows_that_never_finish_are_infinitely_slow(members):
    """A quantile that isn't reached is infinite, so that the run isn't missing."""
    run, times = run_of([steady(1)]), np.linspace(1, 3, members)
    for complete in range(members + 1):
        ended = np.arange(members) < complete
        reached = {share: ended_quantile(np.where(ended, times, np.inf), ended, share) for share in (0.5, 0.95)}
        web = {"application": "web", "members": members, "complete": complete}
        web |= {f"slowdown_p{100 * share:.0f}": np.nan if at is None else at for share, at in reached.items()}
        found = values_in("5.1.5-short", replace(run, groups=pd.DataFrame([web])))
        for share, at in reached.items():
            assert found[f"slowdown_p{100 * share:.0f}"] == (NEVER if at is None else at)


def test_slowdowns_without_an_ideal_are_unknown():
    """All objects are complete, but the path changes, so that there is no ideal completion time."""
    web = {"application": "web", "members": 9, "complete": 9, "slowdown_p50": np.nan, "slowdown_p95": np.nan}
    found = values_in("5.1.5-short", replace(run_of([steady(1)]), groups=pd.DataFrame([web])))
    assert np.isnan(found["slowdown_p95"])


@pytest.mark.parametrize(
    "lost, queueing, jitter", [(100.0, NEVER, NEVER), (99.0, np.nan, NEVER), (0.0, np.nan, np.nan)]
)
def test_a_call_that_never_arrives_is_infinitely_late(lost, queueing, jitter):
    """If packets arrive, the queueing time is unknown on paths with jitter. One arrival has no jitter."""
    call = {"application": "real-time", "lost_percent": lost, "queueing_p95_ms": np.nan, "jitter_ms": np.nan}
    web = {"application": "web", "members": 0, "complete": 0, "slowdown_p50": np.nan, "slowdown_p95": np.nan}
    found = values_in("5.2.2-x", replace(run_of([steady(1)]), groups=pd.DataFrame([call, web])))
    names = ("call_lost_percent", "call_queueing_p95_ms", "call_jitter_ms", "slowdown_p95")
    assert np.array_equal([found[name] for name in names], [lost, queueing, jitter, np.nan], equal_nan=True)


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
