"""Hundreds of flows carried by two programs: the results of iperf3, the same bytes again, and checks that detect errors."""

import copy

import numpy as np
import pytest
from scipy import stats

from experiment.run_document import specification_of
from run_tables.run_metrics import bottleneck_metrics, flow_metrics, run_metrics
from testbed.checks.verification import judge

WAYS = ("per-flow", "per-side")
#: 16 flows over four RTTs.
SIXTEEN = {"flows": 16, "hosts": {"pairs": 4, "access_delay_ms": [0, 5, 10, 20]}}
CROWD = {
    "flows": 200,
    "link": {"rate_mbps": 400, "delay_ms": {"forward": 10, "reverse": 10}},
    "hosts": {"pairs": 3, "access_delay_ms": [0, 5, 10]},
    "queue": {"bdp": 2},
    "traffic": {"processes": "per-side", "duration_s": 5, "start_within_ms": 1500, "sample_interval_ms": 100},
    "cca": "cubic+bbr",
}


@pytest.fixture(scope="module")
def of_module():
    """Results that are made once for all tests."""
    return {}


@pytest.fixture
def crowd(run, of_module, tmp_path):
    if not of_module:
        of_module["crowd"] = run(**CROWD)
        of_module["bytes"] = (tmp_path / "run.json.gz").read_bytes()
    return copy.deepcopy(of_module["crowd"])


@pytest.mark.slow
def test_where_windows_limit_each_flow_gets_the_same(run):
    """Nothing waits and nothing is lost, so a flow gets its window per RTT, whatever program carries it."""
    asked = SIXTEEN | {
        "link": {"rate_mbps": 10_000, "delay_ms": {"forward": 10, "reverse": 10}},
        "queue": {"packets": 1000},
        "transport": {"receive_buffer_bytes": 60_000, "receive_buffer_autotuning": False},
    }
    goodput = [
        [flow["goodput_mbps"] for flow in flow_metrics(run(**asked, traffic={"processes": way, "duration_s": 40}))]
        for way in WAYS
    ]
    assert len(set(np.round(goodput[0], 1))) >= 4
    # Windows follow in part from the sizes of what came first, of which iperf3's is a separate message.
    assert goodput[1] == pytest.approx(goodput[0], rel=1e-2)
    assert sum(goodput[1]) == pytest.approx(sum(goodput[0]), rel=2e-3)


@pytest.mark.long
@pytest.mark.parametrize("cca", ["reno", "cubic", "bbr"])
def test_where_flows_compete_distributions_are_the_same(run, cca):
    """The division of a full queue is random, but the total and its inequality are not."""
    ways = {way: [] for way in WAYS}
    for way in WAYS:
        for replication in range(1, 6):
            document = run(
                **SIXTEEN,
                cca=cca,
                replication=replication,
                link={"rate_mbps": 50, "delay_ms": {"forward": 10, "reverse": 10}},
                queue={"bdp": 1},
                traffic={"processes": way, "duration_s": 8},
            )
            flows = flow_metrics(document)
            ways[way].append((run_metrics(document, flows), [flow["goodput_mbps"] for flow in flows]))
    iperf3, ours = ([metrics for metrics, _ in ways[way]] for way in WAYS)
    totals = [[metrics["goodput_mbps"] for metrics in each] for each in (iperf3, ours)]
    assert np.mean(totals[1]) == pytest.approx(np.mean(totals[0]), rel=2e-3)
    rtts = [[metrics["rtt_mean_ms"] for metrics in each] for each in (iperf3, ours)]
    assert np.mean(rtts[1]) == pytest.approx(np.mean(rtts[0]), rel=0.05)
    shares = [np.concatenate([of_flows for _, of_flows in ways[way]]) for way in WAYS]
    assert stats.ks_2samp(*shares).pvalue > 0.01
    indices = [[metrics["jain_index"] for metrics in each] for each in (iperf3, ours)]
    assert stats.ttest_rel(*indices).pvalue > 0.01


def test_hundreds_of_flows_fill_the_link_and_nothing_is_lost_count_of(crowd):
    flows, run = flow_metrics(crowd), specification_of(crowd)
    assert [flow["flow"] for flow in flows] == list(range(200))
    # Those whose SYNs were lost again and again never had a socket to look at.
    assert {flow["cca_observed"] for flow in flows} - {None} == {"bbr", "cubic"}
    assert sum(flow["cca_observed"] is None for flow in flows) < 10
    metrics = run_metrics(crowd, flows)
    most = run.goodput_limit_mbps
    assert 0.98 * most < metrics["goodput_mbps"] <= most
    # Jain's index by its definition.
    got = np.array([flow["goodput_mbps"] for flow in flows])
    assert metrics["jain_index"] == pytest.approx(got.sum() ** 2 / (200 * (got**2).sum()))
    # What the queue dropped was retransmitted, but for the SYNs.
    streams = [entry["stream"] for entry in crowd["traffic"]]
    drops = bottleneck_metrics(crowd)["queue_drops"]
    assert 0 < drops <= sum(stream["retransmits"] or 0 for stream in streams) + 10 * 200
    assert all(stream["written_bytes"] == (stream["received_bytes"] or 0) for stream in streams)
    # Each from its start to its stop.
    for entry, flow in zip(crowd["traffic"], run.long_flows, strict=True):
        start_ns = 1e6 * entry["start_offset_ms"]
        if entry["stream"]["connected_ns"] is None:
            continue
        assert entry["stream"]["connected_ns"] > start_ns
        assert entry["stream"]["ended_ns"] > start_ns + 1e9 * flow.length_s - 1


def test_all_flows_are_read_seldom_and_some_often(crowd):
    run = specification_of(crowd)
    assert [one["flow"] for one in crowd["delivered"]["flows"]] == list(range(200))
    rtts = [max(filter(None, one["rtt_us"]), default=None) for one in crowd["delivered"]["flows"]]
    assert rtts.count(None) < 10 and min(filter(None, rtts)) > 20_000
    sampled = [one["flow"] for one in crowd["series"]["sockets"]]
    assert set(sampled) <= set(run.sampled_flows)
    assert 45 <= len(sampled) <= 50 and len({flow % 6 for flow in sampled}) == 6
    assert len(crowd["series"]["queue"]["time_s"]) >= 40


def test_the_same_bytes_again(crowd, of_module, specification, testbed, tmp_path):
    done = testbed(specification(**CROWD), tmp_path / "again.json.gz")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.json.gz").read_bytes() == of_module["bytes"]


def test_flows_end_at_their_own_times(run):
    """Groups with separate start and end times, over IPv6."""
    groups = {"early": {"stop_s": 3, "count": 40}, "late": {"start_s": 2, "stop_s": 5, "cca": "bbr", "count": 20}}
    keys = {"application": "iperf3", "cca": "own", "pair": None, "ecn": None, "start_s": 0, "rate_mbps": None, "on_s": None, "off_s": None,
            "arrivals_per_s": None, "sizes": "fixed", "bytes": None, "packet_bytes": 200, "interval_ms": 20}  # fmt: skip
    document = run(
        ip_version="ipv6",
        flows=60,
        link={"rate_mbps": 100},
        queue={"packets": 500},
        groups=[{"name": name} | keys | group for name, group in groups.items()],
        traffic={"processes": "per-side", "duration_s": 5},
    )
    for entry in document["traffic"]:
        start_s, stop_s = (0, 3) if entry["flows"][0] < 40 else (2, 5)
        assert start_s <= entry["start_offset_ms"] / 1e3 < start_s + 0.1
        if entry["stream"]["ended_ns"] is not None:  # else its SYNs were lost
            assert stop_s <= entry["stream"]["ended_ns"] / 1e9 < stop_s + 5
        assert entry["cca"] == ("reno" if start_s == 0 else "bbr")


def received_less(document):
    document["traffic"][7]["stream"]["received_bytes"] -= 1


def reset(document):
    document["traffic"][7]["stream"] |= {"failure": "ECONNRESET", "ended_ns": None, "bytes_acked": None}


def ended_early(document):
    document["traffic"][7]["stream"]["ended_ns"] -= 4 * 10**9


def unread(document):
    for values in document["series"]["sockets"][3].values():
        if isinstance(values, list):
            del values[5:]


def one_less(document):
    del document["series"]["sockets"][3]


@pytest.mark.parametrize(
    ("spoil", "failed"),
    [(received_less, "bytes"), (reset, "bytes"), (ended_early, "duration"), (unread, "series"), (one_less, "series")],
)
def test_checks_see_what_is_wrong(crowd, spoil, failed):
    spoil(crowd)
    verdict = judge(specification_of(crowd), crowd)
    assert [check["name"] for check in verdict["checks"] if not check["ok"]] == [failed]


def test_without_losses_a_late_or_silent_flow_is_wrong(run):
    document = run(
        flows=30,
        link={"rate_mbps": 100},
        queue={"packets": 400},
        transport={"receive_buffer_bytes": 20_000},
        cca="vegas",
        traffic={"processes": "per-side", "duration_s": 2},
    )
    for spoil, failed in (
        ({"connected_ns": 10**9}, ["duration"]),
        ({"connected_ns": None, "bytes_sent": None, "ended_ns": None}, ["duration", "streams"]),
    ):
        spoiled = copy.deepcopy(document)
        spoiled["traffic"][3]["stream"] |= spoil
        verdict = judge(specification_of(spoiled), spoiled)
        assert [check["name"] for check in verdict["checks"] if not check["ok"]] == failed
