"""Start-up by MSER on sequences calculated by hand and on processes with known start-up; steady columns of recorded runs."""

import copy

import numpy as np
import pytest

from run_tables.run_metrics import flow_metrics, interval_metrics, run_metrics
from run_tables.steady_state import MSER, SHARE, SteadyRule, mser
from tcp_models.fairness_index import jain_index
from testbed.readings.deliveries import windows

BY_MSER = SteadyRule(MSER)


def errors_by_hand(batches):
    """Return the squared marginal standard errors, as defined by White, Cobb and Spratt."""
    errors = []
    for d in range(len(batches) // 2 + 1):
        rest = batches[d:]
        mean = sum(rest) / len(rest)
        errors.append(sum((value - mean) ** 2 for value in rest) / len(rest) ** 2)
    return errors


@pytest.mark.parametrize(
    "batches, left_out",
    [
        ([3, 3, 3, 3], 0),  # all errors 0: nothing is left out
        ([0, 3, 3, 3], 1),  # errors 27/4 / 16, 0, 0
        ([2, 3, 2, 3, 2, 3], 0),  # errors 1.5/36 = 0.042, 1.2/25 = 0.048, 1/16, 0.67/9
        ([9, 3, 2, 3, 2, 3], 1),
        ([0, 1, 2, 3, 4, 5], None),  # ever rising: smallest with half gone
        ([1, 1, 1, 1, 1, 9], 0),  # an end that is unlike the rest is no start-up
    ],
)
def test_short_sequences_by_hand(batches, left_out):
    errors = errors_by_hand(batches)
    expected = errors.index(min(errors))
    assert expected == (len(batches) // 2 if left_out is None else left_out)
    # Values of a batch differ, their mean is what counts; two at the end make no batch.
    values = [mean + change for mean in batches for change in (-1, 1, 0, -2, 2)] + [100, -100]
    assert mser(values) == (None if left_out is None else 5 * left_out)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_too_short_a_series_tells_nothing(n):
    assert mser([1.0] * n) is None


def autoregressive(rng, n, start, decay, correlation=0.5):
    """Return an AR(1) process of mean 100 and standard deviation 1 with a start-up that decays by the factor `decay` per step."""
    noise = rng.normal(size=n) * np.sqrt(1 - correlation**2)
    values = np.zeros(n)
    values[0] = rng.normal()
    for place in range(1, n):
        values[place] = correlation * values[place - 1] + noise[place]
    return 100 + values + start * decay ** np.arange(n)


def test_start_up_of_a_known_process_is_found_and_its_bias_gone():
    """A start that is off by 40 standard deviations and halves every two steps is off by less than half of one after 13."""
    rng = np.random.default_rng(1)
    whole, steady, starts = [], [], []
    for _ in range(300):
        values = autoregressive(rng, 200, -40, 0.5**0.5)
        left_out = mser(values)
        starts.append(left_out)
        whole.append(values.mean())
        steady.append(values[left_out:].mean())
    # Ten steps leave 1.25 standard deviations at first, fifteen 0.2.
    assert np.median(starts) in (10, 15)
    assert np.mean(whole) < 99.4
    assert abs(np.mean(steady) - 100) < 0.05


def test_without_start_up_little_is_left_out():
    rng = np.random.default_rng(2)
    left_out = [mser(autoregressive(rng, 200, 0, 0.5)) for _ in range(300)]
    assert np.median([200 if one is None else one for one in left_out]) <= 20


def with_deliveries(document, rates):
    """Return a recorded run whose flows got the given amounts, in bytes, in equal steps."""
    changed = copy.deepcopy(document)
    delivered = changed["delivered"]
    step = round(np.median(np.diff(delivered["time_ns"])))
    delivered["time_ns"] = [100_000_000 + number * step for number in range(len(rates) + 1)]
    for flow in delivered["flows"]:
        flow["bytes"] = [100, *(100 + np.cumsum(rates)).tolist()]
    return changed


def test_steady_part_of_a_run_begins_where_mser_says(recorded):
    document = with_deliveries(recorded("lossy-reno-ipv4"), [1000] * 10 + [20_000, 20_100] * 15)
    flows = flow_metrics(document, BY_MSER)
    run = run_metrics(document, flows, BY_MSER)
    times = document["delivered"]["time_ns"]
    assert run["steady_begin_ns"] == times[10]
    assert run["goodput_steady_mbps"] == pytest.approx(4 * 20_050 * 8e3 / (times[1] - times[0]))
    assert run["jain_steady_index"] == 1
    assert run["goodput_mbps"] < 0.8 * run["goodput_steady_mbps"]


def test_a_run_that_never_gets_steady_has_no_steady_columns(recorded):
    document = with_deliveries(recorded("lossy-reno-ipv4"), [1000 * number for number in range(40)])
    run = run_metrics(document, flow_metrics(document, BY_MSER), BY_MSER)
    steady = [name for name in run if "steady" in name]
    assert len(steady) == 8
    assert {run[name] for name in steady} == {None}
    assert run["goodput_mbps"] > 0


def test_what_changes_after_start_up_is_not_steady_though_the_time_is_over(recorded):
    """A case from a review: an RTT of some 350 ms until 23 s, then 120, was reported as a steady RTT of 201 ms."""
    document = with_deliveries(recorded("lossy-reno-ipv4"), [1000] * 10 + [3000] * 15 + [1000] * 15)
    for process in document["traffic"]:
        for interval in process["client"]["intervals"]:
            for stream in interval["streams"]:
                stream["rtt"] = 350_000 if stream["start"] < 6 else 120_000
    run = run_metrics(document, flow_metrics(document))
    # 3 in 15 steps, then 1 in 15: -2 over the mean of 2. Of eight intervals from 2 s on four have each.
    assert run["goodput_steady_change_percent"] == pytest.approx(-100)
    assert run["rtt_steady_change_percent"] == pytest.approx(-100 * 230 / 235)
    even = with_deliveries(recorded("lossy-reno-ipv4"), [1000] * 40)
    assert run_metrics(even, flow_metrics(even))["goodput_steady_change_percent"] == pytest.approx(0)


def test_rates_over_different_times_have_no_sum(recorded):
    """A case from a review: two flows, one starting at 23 s, printed 20.86 Mbit/s together on a link of 20."""
    document = recorded("lossy-reno-ipv4")
    flows = flow_metrics(document)
    printed = sum(flow["application_goodput_mbps"] for flow in flows)
    assert run_metrics(document, flows)["application_goodput_mbps"] == pytest.approx(printed) and len(flows) == 4
    group = {"application": "iperf3", "cca": "own", "count": 2, "pair": None, "ecn": None, "start_s": 0, "stop_s": 10, "rate_mbps": None,
             "on_s": None, "off_s": None, "arrivals_per_s": None, "sizes": "web", "bytes": None, "packet_bytes": 160, "interval_ms": 20}  # fmt: skip
    document["specification"]["scenario"]["groups"] = [
        group | {"name": "early"},
        group | {"name": "late", "start_s": 4},
    ]
    assert run_metrics(document, flows)["application_goodput_mbps"] is None


def test_readings_of_a_real_clock_need_not_be_equal_steps(recorded):
    document = with_deliveries(recorded("lossy-reno-ipv4"), [1_000_000] * 10 + [20_000_000, 20_100_000] * 15)
    rng, delivered = np.random.default_rng(3), document["delivered"]
    times = np.array(delivered["time_ns"])
    read = (times + rng.uniform(-0.02, 0.02, len(times)) * (times[1] - times[0])).round()
    for flow in delivered["flows"]:
        flow["bytes"] = np.interp(read, times, flow["bytes"]).round().astype(int).tolist()
    delivered["time_ns"] = read.astype(int).tolist()
    run = run_metrics(document, flow_metrics(document, BY_MSER), BY_MSER)
    # Read a little early, the tenth still has some of what was slow behind it.
    assert run["steady_begin_ns"] == delivered["time_ns"][10 if read[10] >= times[10] else 11]


@pytest.mark.parametrize("rule", [SteadyRule(), SteadyRule(SHARE, 0.5), BY_MSER])
@pytest.mark.parametrize("name", ["lossy-reno-ipv4", "slow-vegas-ipv6"])
def test_steady_columns_of_recorded_runs_by_hand(recorded, name, rule):
    document = recorded(name)
    flows = flow_metrics(document, rule)
    run = run_metrics(document, flows, rule)
    begin = run["steady_begin_ns"]
    if rule.rule == SHARE:
        window = next(iter(windows(document).values()))
        length = window.end_ns - window.begin_ns
        readings = [time for time in document["delivered"]["time_ns"] if time >= window.begin_ns + rule.share * length]
        assert begin == readings[0]
    place = document["delivered"]["time_ns"].index(begin)
    end = document["delivered"]["time_ns"].index(run["window_end_ns"])
    got = [flow["bytes"][end] - flow["bytes"][place] for flow in document["delivered"]["flows"]]
    assert run["goodput_steady_mbps"] == pytest.approx(sum(got) * 8e3 / (run["window_end_ns"] - begin))
    assert run["jain_steady_index"] == pytest.approx(jain_index(got))
    rtts, again, sent = [], 0, 0
    for process in document["traffic"]:
        counted = [
            interval["streams"][0]
            for interval in process["client"]["intervals"]
            if process["start_offset_ms"] * 1e6 + interval["streams"][0]["start"] * 1e9 >= begin
        ]
        rtts.append(sum(stream["rtt"] for stream in counted) / len(counted) / 1e3)
        again += sum(stream["retransmits"] for stream in counted)
        sent += sum(stream["bytes"] for stream in counted)
    assert run["rtt_steady_ms"] == pytest.approx(sum(rtts) / len(rtts))
    again *= run["mss_bytes"]
    assert run["retransmit_steady_percent"] == pytest.approx(100 * again / (again + sent))
    assert run["queue_mean_packets"] is run["queue_steady_packets"] is None


def test_over_all_intervals_the_mean_rtt_is_that_of_iperf3(recorded):
    """So the steady RTT differs only by the intervals that are left out."""
    document = recorded("lossy-reno-ipv4")
    for flow in flow_metrics(document):
        rtts = [row["rtt_ms"] for row in interval_metrics(document) if row["flow"] == flow["flow"]]
        assert flow["rtt_mean_ms"] == pytest.approx(sum(rtts) / len(rtts), abs=0.001)


def test_queue_of_a_sampled_run(recorded):
    document = recorded("simulated-mix-ipv4")
    run = run_metrics(document, flow_metrics(document))
    series = document["series"]["queue"]
    for name, begin in (
        ("queue_mean_packets", run["window_begin_ns"]),
        ("queue_steady_packets", run["steady_begin_ns"]),
    ):
        packets = [
            count
            for time, count in zip(series["time_s"], series["packets"], strict=True)
            if begin / 1e9 <= time <= run["window_end_ns"] / 1e9
        ]
        assert len(packets) > 5
        assert run[name] == pytest.approx(sum(packets) / len(packets))


@pytest.mark.parametrize("name", ["exchanges-ipv4", "transfer-ipv4"])
def test_what_has_no_window_has_no_steady_part(recorded, name):
    document = recorded(name)
    run = run_metrics(document, flow_metrics(document))
    assert {run[column] for column in run if "steady" in column} == {None}


def test_of_datagrams_a_share_is_left_out_by_either_rule(recorded):
    document = recorded("datagrams-ipv6")
    by_share, by_mser = (flow_metrics(document, rule)[0]["goodput_steady_mbps"] for rule in (SteadyRule(), BY_MSER))
    assert by_share == by_mser > 0
