"""Queueing disciplines and ECN in the guest kernel: each is set as configured, counted, and compared with theory."""

import numpy as np
import pytest

from experiment.disciplines import DISCIPLINES, completed
from run_tables.run_metrics import flow_metrics, run_metrics
from tcp_models.fairness_index import jain_index

LINK = {"rate_mbps": 20, "delay_ms": {"forward": 10, "reverse": 10}}
#: Where discipline and its parameters aren't the kernel's own.
MARKING = [
    {"discipline": "red", "step_packets": 20, "ecn": True, "packets": 200},
    {"discipline": "codel", "ecn": True},
    {"discipline": "fq_codel"},
    {"discipline": "pie", "ecn": True},
    {"discipline": "fq_pie", "ecn": True},
    {"discipline": "cake"},
    {"discipline": "dualpi2"},
]


def sampled(run, queue, duration_s=6, **changes):
    traffic = {"duration_s": duration_s, "sample_interval_ms": 10, **changes.pop("traffic", {})}
    return run(link=LINK, queue=queue, traffic=traffic, **changes)


def settled(document, column, from_s=2):
    """Return a column of the queue's time series once start-up is over, and before the flows end."""
    series = document["series"]["queue"]
    times = np.array(series["time_s"])
    end_s = document["specification"]["scenario"]["traffic"]["duration_s"]
    return np.array(series[column])[(times >= from_s) & (times < end_s)]


def last_look(document):
    return {socket["flow"]: socket for socket in document["sockets"][-1]["sockets"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in DISCIPLINES.items() if not one.limited_only])
def test_each_discipline_is_set_read_back_and_counted(run, name):
    document = sampled(run, completed({"discipline": name}), duration_s=3, cca="cubic", flows=2)
    kind = next(iter(DISCIPLINES[name].kinds.values()))
    for interface in ("r1-eth1", "r2-eth1"):
        assert set(document["network"]["read_back"]["interfaces"][interface]["qdiscs"]) == {"htb", kind}
    queue = document["links"]["after"]["r1-eth1"]["qdiscs"][kind]
    series = document["series"]["queue"]
    # What waits at the last sample, or comes after it, may still be dropped.
    assert 0 <= queue["drops"] - series["drops"][-1] <= 1 + series["packets"][-1] and queue["marks"] == 0
    assert queue.get("overflow_drops", 0) <= queue["drops"]
    assert len(series["packets"]) == len(series["marks"]) == len(series["time_s"])
    assert max(series["packets"]) > 0
    for column in DISCIPLINES[name].counters.delays_us:
        assert len(series[column]) == len(series["time_s"])


@pytest.mark.slow
@pytest.mark.parametrize("queue", MARKING, ids=lambda queue: queue["discipline"])
@pytest.mark.parametrize("ecn", ["classic", "accurate"])
def test_marks_are_counted_where_they_are_made_carried_and_echoed(run, queue, ecn):
    document = sampled(run, completed(queue), cca="cubic", duration_s=4, transport={"ecn": ecn}, flows=2)
    kind = next(iter(DISCIPLINES[queue["discipline"]].kinds.values()))
    marked = document["links"]["after"]["r1-eth1"]["qdiscs"][kind]["marks"]
    assert marked > 0
    assert document["stack"]["tcp"]["h2"]["IpExtInCEPkts"] <= marked
    for socket in last_look(document).values():
        assert socket["ecn"] == ecn
        if ecn == "accurate":
            # The sender knows of all that the receiver had, but for the last flight's.
            assert 0 <= socket["received_ce_packets"] - socket["delivered_ce_packets"] <= 2 + socket["unacked_packets"]
        else:
            assert socket["delivered_ce_packets"] >= socket["received_ce_packets"] // 2


def test_a_flow_with_ecn_loses_nothing_where_one_without_does(run):
    """Marks replace drops, and TCP responds to them in the same way (RFC 3168, section 6.1.2)."""
    queue = completed({"discipline": "codel", "ecn": True})
    with_ecn = sampled(run, queue, cca="reno", transport={"ecn": "classic"})
    without = sampled(run, queue, cca="reno")
    metrics = [run_metrics(document, flow_metrics(document)) for document in (with_ecn, without)]
    marks = with_ecn["links"]["after"]["r1-eth1"]["qdiscs"]["codel"]["marks"]
    # In slow start a burst may still be longer than what marks alone hold back.
    assert (metrics[0]["queue_drops"], metrics[0]["retransmits"]) == (0, 0)
    assert marks > 0 and metrics[1]["queue_drops"] > 0
    assert metrics[0]["goodput_mbps"] == pytest.approx(metrics[1]["goodput_mbps"], rel=0.05)


@pytest.mark.slow
def test_codel_holds_the_standing_queue_near_its_target(run):
    """The smallest delay within an interval oscillates around the target (RFC 8289, section 3.2); drop-tail's follows from its size.

    CoDel drops once that was above for an interval, and stops when a packet was below, so it is on either side.
    """
    interval = 10  # samples
    for target_ms in (5, 20):
        queue = completed({"discipline": "codel", "target_ms": target_ms})
        managed = sampled(run, queue, duration_s=12, cca="cubic", flows=4)
        waits = settled(managed, "discipline_delay_ms", 4)  # of packets as they leave: what CoDel itself measures
        standing = np.array([part.min() for part in np.array_split(waits, len(waits) // interval)])
        assert target_ms / 2 < np.median(standing) < 1.5 * target_ms
        assert standing.min() < target_ms < standing.max()
        assert target_ms / 4 < waits.mean() < 2 * target_ms
    full = sampled(run, {"packets": 200}, duration_s=12, cca="cubic", flows=4)
    assert (settled(full, "bytes", 4) * 8 / 20e3).mean() > 50


def test_fq_codel_gives_cubic_and_bbr_equal_shares(run):
    """Flow queues served in turn give max-min fair shares, whatever the CCAs do; drop-tail does not."""
    goodputs = {}
    for name, queue in (("fq_codel", completed({"discipline": "fq_codel"})), ("drop-tail", {"bdp": 1})):
        document = run(link=LINK, queue=queue, cca="cubic+bbr", flows=2, traffic={"duration_s": 20})
        goodputs[name] = [flow["goodput_steady_mbps"] for flow in flow_metrics(document)]
    assert jain_index(goodputs["fq_codel"]) > 0.99
    assert jain_index(goodputs["drop-tail"]) < 0.95


@pytest.mark.parametrize("step", [10, 20, 40])
def test_dctcp_keeps_the_queue_within_a_few_packets_of_the_step(run, step):
    """A flow's queue oscillates below K + 1 by the amplitude of Alizadeh et al. (SIGCOMM 2010), equation 8: half of sqrt(2 (C RTT + K))."""
    queue = completed({"discipline": "red", "step_packets": step, "ecn": True, "packets": 400})
    document = sampled(run, queue, duration_s=10, cca="dctcp", transport={"ecn": "classic"})
    packets = settled(document, "packets", 3)
    on_the_path = 20e6 / 8 * 0.02 / 1514
    amplitude = np.sqrt(2 * (on_the_path + step)) / 2
    assert step - 2 * amplitude <= np.median(packets) <= step + 3
    assert packets.max() <= step + amplitude + 3
    assert settled(document, "drops", 3).max() == settled(document, "drops", 3).min()
    assert last_look(document)[0]["dctcp_alpha"] < 0.5


def test_the_low_latency_queue_takes_what_it_is_told_to(run):
    """Linux's CCAs send ECT(0), which L4S treats as classic; DCTCP uses the other queue only if that takes all ECN packets."""
    counted = {}
    for low_latency in ("l4s_ect", "any_ect"):
        queue = completed({"discipline": "dualpi2", "low_latency": low_latency})
        document = sampled(run, queue, cca="dctcp", transport={"ecn": "accurate"})
        counted[low_latency] = document["links"]["after"]["r1-eth1"]["qdiscs"]["dualpi2"]["counted"]
    assert counted["l4s_ect"]["packets_in_l"] == 0 < counted["l4s_ect"]["ecn_mark"]
    assert counted["any_ect"]["packets_in_l"] > 100 * counted["any_ect"]["packets_in_c"] > 0
    assert counted["any_ect"]["step_marks"] > 0


def test_a_managed_queue_with_marks_is_the_same_bytes_twice(specification, testbed, tmp_path):
    asked = specification(
        link=LINK, queue=completed({"discipline": "fq_pie", "ecn": True}), cca="cubic+bbr", flows=2,
        traffic={"duration_s": 3, "sample_interval_ms": 50}, transport={"ecn": "accurate"},
    )  # fmt: skip
    written = []
    for name in ("first", "second"):
        assert testbed(asked, tmp_path / f"{name}.json.gz").returncode == 0
        written.append((tmp_path / f"{name}.json.gz").read_bytes())
    assert written[0] == written[1]


def test_a_queue_on_the_senders_own_interface(run):
    """On a cable the queue is on the sending host, over IPv6 too; TCP small queues keep a few packets of each flow there, so there are
    many flows."""
    document = sampled(
        run, completed({"discipline": "fq_codel"}), duration_s=3, cca="cubic", ip_version="ipv6", topology="cable",
        transport={"ecn": "classic"}, flows=16,
    )  # fmt: skip
    marked = document["links"]["after"]["h1-eth0"]["qdiscs"]["fq_codel"]["marks"]
    assert 0 < document["stack"]["tcp"]["h2"]["Ip6InCEPkts"] <= marked
