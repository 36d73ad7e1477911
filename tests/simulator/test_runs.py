"""Runs in the real simulator: its results, its limits, and that they are the same every time."""

import gzip
import json

import pytest

from experiment.specification import RunSpecification
from simulator.limits import VERSIONS
from simulator.plan import plan
from simulator.run import program_digest
from simulator.verdict import judge

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 10}, "loss_percent": {"forward": 0, "reverse": 0}}


def flows(document):
    """Return the counters of all flows of a run."""
    return [flow for entry in document["traffic"] for flow in entry["simulated"]["flows"]]


def goodputs(document):
    """Return the data delivered by each flow, in Mbit/s."""
    return [flow["bytes_received"] * 8 / flow["seconds"] / 1e6 for flow in flows(document)]


def failed(document):
    return [check for check in document["verdict"]["checks"] if not check["ok"]]


@pytest.fixture(scope="module")
def sampled(specification, run):
    """One Reno flow with a queue of 20 packets, read every 10 ms."""
    traffic = {"duration_s": 20, "sample_interval_ms": 10}
    return run(specification("reno", link=LINK, queue={"packets": 20}, flows=1, traffic=traffic))


@pytest.mark.slow
@pytest.mark.parametrize(
    "version",
    [
        pytest.param(version, marks=[] if version in (VERSIONS[0], VERSIONS[-1]) else [pytest.mark.long])
        for version in VERSIONS
    ],
)
def test_the_same_seed_gives_the_same_bytes_and_another_one_others(specification, simulate, version):
    asked = {"link": LINK, "queue": {"packets": 20}, "flows": 2, "version": version, "traffic": {"duration_s": 4}}
    first, again = (simulate(specification("bbr+cubic", **asked)) for _ in range(2))
    assert first == again
    document = json.loads(gzip.decompress(first))
    assert failed(document) == []
    assert document["environment"]["simulator"]["version"] == version
    assert document["environment"]["testbed_digest"] == program_digest()
    other = json.loads(gzip.decompress(simulate(specification("bbr+cubic", replication=2, **asked))))
    assert other["traffic"] != document["traffic"]


@pytest.mark.parametrize("version", ["3.39", "3.44"])
def test_neither_the_faster_search_nor_the_scheduler_changes_a_byte(specification, program, version):
    asked = specification(
        "bbr+reno",
        link=LINK,
        queue={"packets": 8},
        flows=4,
        version=version,
        traffic={"duration_s": 4, "start_within_ms": 0},
    )
    text = plan(RunSpecification(asked))
    linear = program(text, version)
    assert json.loads(linear)["flows"][0]["retransmits"] > 20
    assert "search linear\n" in text
    assert program(text.replace("search linear", "search library"), version) == linear
    assert program(text.replace("MapScheduler", "HeapScheduler"), version) == linear


def test_a_full_link_delivers_what_the_packets_headers_leave_of_it(sampled):
    assert failed(sampled) == []
    # 1,448 of 1,514 bytes, as on Linux.
    limit = 10 * 1448 / 1514
    assert 0.97 * limit < goodputs(sampled)[0] <= limit


def test_the_queue_is_as_long_as_set_and_drops_what_comes_then(sampled):
    queue = sampled["series"]["queue"]
    assert max(queue["packets"]) == 20
    assert queue["drops"][-1] > 0
    dropped = sampled["links"]["after"]["r1-eth1"]["qdiscs"]["DropTailQueue"]["drops"]
    assert dropped == queue["drops"][-1] == flows(sampled)[0]["retransmits"]


def test_no_queueing_discipline_stands_above_the_devices(sampled):
    for interface in sampled["network"]["read_back"]["interfaces"].values():
        assert interface["qdiscs"].keys() == {"link", "DropTailQueue"}


def test_renos_threshold_is_half_of_the_full_pipe_and_queue(sampled):
    series = sampled["series"]["sockets"][0]
    late = [number for number, time_s in enumerate(series["time_s"]) if time_s > 5]
    # A drop comes when the window is the path (16.5 packets), the queue (20) and the one being sent.
    largest = 10e6 * 0.020 / 8 / 1514 + 20 + 1
    assert max(series["cwnd_packets"][number] for number in late) == pytest.approx(largest, abs=2)
    assert max(series["ssthresh_packets"][number] for number in late) == pytest.approx(largest / 2, abs=1.5)
    # Two drops a round trip apart are two halvings.
    assert min(series["cwnd_packets"][number] for number in late if series["state"][number] == "open") > largest / 4


def test_every_flow_runs_its_own_cca_on_its_own_pair(specification, run):
    asked = specification(
        "reno+vegas+bbr", "ipv6", link=LINK, queue={"packets": 50}, flows=3,
        hosts={"pairs": 3, "access_delay_ms": [0, 5, 10]}, traffic={"duration_s": 4, "sample_interval_ms": 100},
    )  # fmt: skip
    document = run(asked)
    assert failed(document) == []
    assert [entry["cca"] for entry in document["traffic"]] == ["reno", "vegas", "bbr"]
    assert [entry["sender"] for entry in document["traffic"]] == ["h1", "h3", "h5"]
    for look in document["sockets"]:
        assert [socket["cca"] for socket in look["sockets"]] == ["reno", "vegas", "bbr"]
    for flow, rtt_ms in zip(flows(document), (20, 40, 60), strict=True):
        assert rtt_ms <= flow["rtt_min_ms"] < rtt_ms + 50 * 1514 * 8 / 10e3
    # Only of pairs that connected before the first data came.
    for pair in document["idle_rtt"]:
        assert pair["min_ms"] == pytest.approx({"h1": 20, "h3": 40, "h5": 60}[pair["sender"]], abs=0.5)
    columns = [set(series) for series in document["series"]["sockets"]]
    assert "bbr_bw_mbps" in columns[2] and "bbr_bw_mbps" not in columns[0] | columns[1]
    assert "vegas_rtt_min_ms" in columns[1] and "vegas_rtt_min_ms" not in columns[0] | columns[2]


def test_packets_are_lost_at_random_in_the_configured_direction(specification, run):
    link = LINK | {"loss_percent": {"forward": 1, "reverse": 0}}
    document = run(specification("cubic", link=link, queue={"packets": 1000}, flows=2, traffic={"duration_s": 10}))
    assert failed(document) == []
    lost = document["links"]["after"]["r2-eth1"]["qdiscs"]["RateErrorModel"]
    assert 0.005 < lost["drops"] / (lost["drops"] + lost["packets"]) < 0.015
    assert document["links"]["after"]["r1-eth1"]["qdiscs"]["RateErrorModel"]["drops"] == 0
    assert sum(flow["retransmits"] for flow in flows(document)) >= lost["drops"] - 10


def test_what_was_asked_of_tcp_is_what_its_sockets_have(specification, run):
    transport = {"delayed_acks": False, "min_rto_ms": 200, "recovery": "classic", "segment_bytes": 1000}
    document = run(
        specification("bbr", link=LINK, queue={"bytes": 30000}, flows=1, transport=transport, traffic={"duration_s": 2})
    )
    assert failed(document) == []
    read_back = document["network"]["read_back"]["hosts"]["h1"]
    assert read_back["DelAckCount"] == "1"
    assert read_back["Recovery"] == "ns3::TcpClassicRecovery"
    assert float(read_back["MinRto"].removesuffix("ns")) == 200e6
    assert read_back["SegmentSize"] == "1000"
    assert document["network"]["read_back"]["interfaces"]["r1-eth1"]["qdiscs"]["DropTailQueue"] == {
        "limit_bytes": 30000
    }


def test_a_wrong_setting_makes_a_run_invalid(specification, sampled):
    asked = RunSpecification(sampled["specification"])

    def outcome(change):
        document = json.loads(json.dumps(sampled))
        change(document)
        return [check["name"] for check in judge(asked, document)["checks"] if not check["ok"]]

    back = "network", "read_back"
    assert outcome(lambda d: d[back[0]][back[1]]["interfaces"]["h1-eth0"]["qdiscs"].update(FqCoDel={})) == ["qdiscs"]
    assert outcome(lambda d: d[back[0]][back[1]]["hosts"]["h2"].update(DelAckCount="1")) == ["host_settings"]
    assert outcome(lambda d: d["sockets"][1]["sockets"][0].update(cca="cubic")) == ["cca"]
    assert outcome(lambda d: d["links"]["after"]["h1-eth0"].update(device_drops=1)) == ["drops_elsewhere"]
    assert outcome(lambda d: d["traffic"][0]["simulated"]["flows"][0].update(rtt_min_ms=19.9)) == ["rtt_floor"]
    assert outcome(lambda d: d["traffic"][0]["simulated"]["flows"][0].update(bytes_received=10**8)) == [
        "goodput_ceiling"
    ]
    assert outcome(lambda d: d["links"]["after"]["r2-eth1"]["qdiscs"]["RateErrorModel"].update(drops=3)) == [
        "loss_forward"
    ]
