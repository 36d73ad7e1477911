"""Every condition that a study can set is emulated, and the run's own checks agree."""

import resource

import pytest

from run_tables.run_metrics import flow_metrics, run_metrics
from study_files.study_schema import study_schema

CCAS = study_schema()["properties"]["ccas"]["items"]["joined"]


@pytest.mark.slow
@pytest.mark.parametrize("cca", CCAS)
def test_every_cca_of_the_kernel(run, cca):
    # DCTCP without ECN is Reno, and the kernel says so.
    document = run(cca=cca, **({"transport": {"ecn": "classic"}} if cca == "dctcp" else {}))
    assert document["traffic"][0]["client"]["end"]["sender_tcp_congestion"] == cca
    # 10 Mbit/s pass 9.56 Mbit/s of payload at the most; whatever the CCA, it isn't idle.
    assert flow_metrics(document)[0]["goodput_mbps"] > 1


@pytest.mark.parametrize("processes", ["per-flow", "single"])
def test_64_flows(run, processes):
    document = run(
        flows=64,
        traffic={"duration_s": 6, "processes": processes},
        link={"rate_mbps": 100, "delay_ms": {"forward": 5, "reverse": 5}},
        queue={"bdp": 4},
    )
    flows = flow_metrics(document)
    assert [flow["flow"] for flow in flows] == list(range(64))
    assert 70 < sum(flow["goodput_mbps"] for flow in flows) < 96


def test_each_direction_on_its_own(run):
    document = run(
        link={
            "rate_mbps": 100,
            "delay_ms": {"forward": 5, "reverse": 30},
            "loss_percent": {"forward": 0, "reverse": 20},
        },
        queue={"packets": 1000},
        traffic={"duration_s": 10},
        cca="vegas",
    )
    assert 35 <= document["idle_rtt"][0]["min_ms"] < 35.2
    metrics = run_metrics(document, flow_metrics(document))
    # Lost ACKs are no loss of data.
    assert (metrics["link_drops"], metrics["queue_drops"]) == (0, 0)
    before, after = (document["links"][when]["r1-eth0"] for when in ("before", "after"))
    dropped = after["qdiscs"]["netem"]["drops"] - before["qdiscs"]["netem"]["drops"]
    assert dropped / (dropped + after["tx_packets"] - before["tx_packets"]) == pytest.approx(0.2, abs=0.03)


def test_jitter(run):
    document = run(link={"jitter_ms": {"forward": 2, "reverse": 0}})
    assert 38 <= document["idle_rtt"][0]["min_ms"] <= document["idle_rtt"][0]["max_ms"] <= 42.2
    assert document["idle_rtt"][0]["max_ms"] - document["idle_rtt"][0]["min_ms"] > 0.5


@pytest.mark.parametrize(
    ("queue", "full_ms"),
    [
        ({"packets": 10}, 10 * 1514 * 8 / 10e3),
        ({"bytes": 60_000}, 60_000 * 8 / 10e3),
        ({"bdp": 0.5}, 17 * 1514 * 8 / 10e3),
    ],
)
def test_queue_sizes(run, queue, full_ms):
    """Reno fills the queue: the longest RTT is that of the path plus the full queue."""
    document = run(queue=queue, traffic={"duration_s": 10}, cca="reno")
    flow = flow_metrics(document)[0]
    assert run_metrics(document, [flow])["queue_drops"] > 0
    assert 40 + 0.5 * full_ms < flow["rtt_max_ms"] <= 40 + full_ms + 2


def test_the_published_method(run):
    """Offload on, no rate, netem at both ends, one process, as in TCP-ExBench."""
    document = run(
        flows=2,
        link={"rate_mbps": None, "netem": "both-ends", "delay_ms": {"forward": 10, "reverse": 10}},
        queue={"packets": 1000},
        traffic={"processes": "single", "bitrate_mbps": 50},
        transport={"segmentation_offload": True, "cca_set_by": "sysctl"},
        cca="vegas",
    )
    assert 95 < sum(flow["goodput_mbps"] for flow in flow_metrics(document)) < 101


@pytest.mark.parametrize(
    "cca", ["cubic", *(pytest.param(cca, marks=pytest.mark.long) for cca in ("vegas", "westwood"))]
)
def test_where_the_receiver_waits_changes_no_result(run, cca):
    """Deliveries, counters and socket readings are the same; only the wall time differs.

    The last digit of iperf3's own times may differ: each look at the clock moves the guest's by 256 ns.
    (BBR draws the phase of its probing from the kernel's random numbers, of which it gets others.)
    """
    link = {"rate_mbps": 200, "delay_ms": {"forward": 5, "reverse": 5}, "loss_percent": {"forward": 0.1, "reverse": 0}}
    changes = {"link": link, "queue": {"bdp": 1}, "traffic": {"duration_s": 5}, "cca": cca, "flows": 3}
    in_kernel = run(**changes, transport={"receive_wait": "kernel"})
    in_process = run(**changes, transport={"receive_wait": "process"})
    assert list(numbers_in(in_kernel["traffic"])) == [
        number if isinstance(number, int) else pytest.approx(number, rel=1e-6)
        for number in numbers_in(in_process["traffic"])
    ]
    assert in_kernel["sockets"] == in_process["sockets"]
    assert in_kernel["delivered"] == in_process["delivered"]


def numbers_in(value):
    """Yield all numbers of a JSON value in its order."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_two_of_five_packets_may_be_lost_both_ways(run, ip_version):
    """iperf3's control connection has a separate network, because it would not survive that loss."""
    document = run(
        ip_version=ip_version,
        link={"loss_percent": {"forward": 40, "reverse": 40}},
        traffic={"duration_s": 20, "control_connection": "own-network"},
    )
    (process,) = document["traffic"]
    assert process["client"]["start"]["connecting_to"]["host"] in ("10.2.1.2", "2001:db8:2:1::2")
    control = {name: document["links"]["after"][name]["tx_packets"] for name in ("h1-control", "h2-control")}
    assert min(control.values()) > 10
    assert document["links"]["after"]["r1-eth1"]["tx_packets"] > 0


def test_an_answer_behind_a_long_queue_costs_no_polling(run, tmp_path):
    """A queue that takes a second to drain at the end: by itself, iperf3's client asks 4 million times whether there is an answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    document = run(queue={"packets": 1000}, traffic={"duration_s": 5})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert document["traffic"][0]["client"]["end"]["sum_sent"]["seconds"] < 6
    assert used.ru_nvcsw - before.ru_nvcsw < 500_000
