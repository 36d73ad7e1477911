"""The behaviour of flows over time follows the specifications of their algorithms: sawtooth, delay, probes, fairness.

A link of 10 Mbit/s with an RTT of 40 ms and a buffer of 33 packets, one BDP.
"""

import statistics

import pytest

from tcp_models.fairness_index import jain_index

RTT_S = 0.04
BUFFER_PACKETS = 33
#: Full packets that the link passes in a second: 10 Mbit/s in frames of 1,514 bytes.
PACKETS_PER_S = 10e6 / 8 / 1514
BDP_PACKETS = PACKETS_PER_S * RTT_S
#: iperf3 counts whole blocks, which at this rate are not to be large.
ALONE = {"duration_s": 40, "sample_interval_ms": 10, "block_bytes": 4096}


def series_of(document, flow=0):
    (series,) = (one for one in document["series"]["sockets"] if one["flow"] == flow)
    return series


def episodes(times_s, chosen, apart_s=1.0):
    """Return (start, end) of each run of selected samples; runs less than ``apart_s`` apart are merged."""
    of_flow = []
    for time_s, inside in zip(times_s, chosen, strict=True):
        if inside and (not of_flow or time_s - of_flow[-1][1] > apart_s):
            of_flow.append([time_s, time_s])
        elif inside:
            of_flow[-1][1] = time_s
    return of_flow


@pytest.mark.slow
def test_renos_sawtooth_has_the_height_and_the_period_of_theory(run):
    """RFC 5681: half the flight at a loss, then one more segment in each RTT, until path and buffer are full."""
    series = series_of(run(cca="reno", traffic=ALONE))
    recovering = [state == "recovery" for state in series["state"]]
    losses_s = [begin for begin, _ in episodes(series["time_s"], recovering)][2:]  # after slow start's
    peaks = [
        max(
            cwnd
            for time_s, cwnd in zip(series["time_s"], series["cwnd_packets"], strict=True)
            if loss_s - 0.2 < time_s <= loss_s
        )
        for loss_s in losses_s
    ]
    # What is on the way, what waits, and one that didn't fit.
    full = BDP_PACKETS + BUFFER_PACKETS + 1
    assert len(losses_s) >= 12
    assert statistics.mean(peaks) == pytest.approx(full, abs=1.5)
    after = [
        value
        for time_s, value in zip(series["time_s"], series["ssthresh_packets"], strict=True)
        if time_s > losses_s[0]
    ]
    assert statistics.mean(after) == pytest.approx(full / 2, abs=1.5)
    # Each RTT adds a segment, and with w segments under way an RTT takes w / rate, or the path's if that is more;
    # the loss itself is noticed and repaired in two of the longest.
    growing_s = sum(max(RTT_S, cwnd / PACKETS_PER_S) for cwnd in range(round(full / 2), round(full)))
    period_s = growing_s + 2 * full / PACKETS_PER_S
    periods_s = [b - a for a, b in zip(losses_s, losses_s[1:], strict=False)]
    assert statistics.mean(periods_s) == pytest.approx(period_s, rel=0.05)
    # One like the other: nothing but the network is at work.
    assert max(periods_s) - min(periods_s) < 0.05


def test_vegas_keeps_between_alpha_and_beta_packets_queued(run):
    """Brakmo and Peterson (1995); Linux: alpha 2, beta 4 (net/ipv4/tcp_vegas.c)."""
    document = run(cca="vegas", traffic=ALONE)
    series, queue = series_of(document), document["series"]["queue"]
    steady = [
        (cwnd, rtt)
        for time_s, cwnd, rtt in zip(series["time_s"], series["cwnd_packets"], series["rtt_ms"], strict=True)
        if time_s > 10
    ]
    # What Vegas reckons: cwnd less what fits on the empty path.
    queued = [cwnd * (1 - 1e3 * RTT_S / rtt) for cwnd, rtt in steady]
    assert 2 <= statistics.mean(queued) <= 4.05  # within an RTT it may stand above until it is noticed
    waiting = [packets for time_s, packets in zip(queue["time_s"], queue["packets"], strict=True) if 10 < time_s < 40]
    # The queue itself holds as much, but for the packet that is being sent.
    assert 1 <= statistics.mean(waiting) <= 4
    assert max(waiting) <= 5


@pytest.mark.slow
def test_bbr_drops_to_four_packets_about_every_ten_seconds(run):
    """net/ipv4/tcp_bbr.c: bbr_min_rtt_win_sec is 10, bbr_probe_rtt_mode_ms 200, bbr_cwnd_min_target 4."""
    series = series_of(run(cca="bbr", traffic=ALONE))
    assert min(series["cwnd_packets"]) == 4
    probes = episodes(series["time_s"], [cwnd == 4 for cwnd in series["cwnd_packets"]])
    begins_s = [begin for begin, _ in probes]
    assert len(begins_s) == 3
    assert all(10 <= b - a <= 10.5 for a, b in zip(begins_s, begins_s[1:], strict=False))
    # 200 ms from when as few are under way, and up to an RTT until the next acknowledgement.
    assert all(0.19 <= end - begin <= 0.2 + 2 * RTT_S for begin, end in probes)
    # What the kernel says of BBR itself.
    assert max(series["bbr_pacing_gain"]) == pytest.approx(2.885, abs=0.01)
    steady = series["bbr_pacing_gain"][len(series["time_s"]) // 4 :]
    assert {round(gain, 2) for gain in steady if gain} == {0.75, 1.0, 1.25}
    assert series["bbr_bw_mbps"][-1] == pytest.approx(10 * 1448 / 1514, rel=0.03)
    assert series["bbr_rtt_min_ms"][-1] == pytest.approx(40, abs=0.5)


@pytest.mark.slow
def test_two_equal_cubic_flows_are_fair_over_a_minute(run):
    document = run(
        cca="cubic", flows=2, hosts={"pairs": 2, "access_delay_ms": [0, 0]},
        traffic={"duration_s": 60, "block_bytes": 4096, "start_within_ms": 1000},
    )  # fmt: skip
    goodput = [process["client"]["end"]["sum_received"]["bits_per_second"] for process in document["traffic"]]
    assert sum(goodput) == pytest.approx(10e6 * 1448 / 1514, rel=0.03)
    assert jain_index(goodput) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    "conditions",
    [{"cca": "reno", "traffic": {"duration_s": 15}}, {"cca": "bbr", "flows": 4, "ip_version": "ipv6"}],
    ids=["reno", "bbr"],
)
def test_readings_change_nothing_of_what_is_read(run, conditions):
    """Readings every 10 ms or none: the same packets are sent, lost, delivered and observed.

    (When an iperf3 that receives says that a second is over may differ: it looks at the clock when it is woken.)
    """
    sampled, alone = sampled_and_alone(run, conditions)
    for section in ("idle_rtt", "sockets", "delivered"):
        assert sampled[section] == alone[section], section
    counted = [
        {name: (device["tx_packets"], device["qdiscs"]) for name, device in document["links"]["after"].items()}
        for document in (sampled, alone)
    ]
    for devices in counted:
        devices["r1-eth1"][1]["htb"].pop("overlimits")
    assert counted[0] == counted[1] and counted[0]["r1-eth1"][1]["pfifo"]["drops"] > 0


def sampled_and_alone(run, conditions):
    """Return the documents of two runs, with readings every 10 ms and without."""
    traffic = {"duration_s": 5} | conditions.get("traffic", {})
    sampled, alone = (run(**conditions | {"traffic": traffic | {"sample_interval_ms": every}}) for every in (10, None))
    assert len(sampled["series"]["sockets"][0]["time_s"]) >= 100 * traffic["duration_s"] - 2
    assert "series" not in alone
    return sampled, alone


@pytest.mark.slow
@pytest.mark.parametrize("flows, rate_mbps", [(6, 50), (4, 50), (5, 30)])
def test_readings_among_flows_with_random_losses_move_moments_only(run, flows, rate_mbps):
    """If iperf3 processes wake up in a different order, they read the clock at other times, and each reading moves the guest's clock by its
    step."""
    link = {"rate_mbps": rate_mbps, "loss_percent": {"forward": 0.5, "reverse": 0}}
    sampled, alone = sampled_and_alone(run, {"cca": "cubic", "flows": flows, "link": link})
    for document in (sampled, alone):
        assert document["verdict"]["valid"]
    counts = [
        [(socket["bytes_sent"], socket["retransmits"]) for look in document["sockets"] for socket in look["sockets"]]
        for document in (sampled, alone)
    ]
    for (sent, again), (other_sent, other_again) in zip(*counts, strict=True):
        assert sent == pytest.approx(other_sent, rel=2e-3)
        assert abs(again - other_again) <= 1
