"""Active queue management and paths that change, in the real simulator."""

import json
from statistics import mean

import pytest

from experiment.disciplines import completed
from experiment.specification import RunSpecification
from simulator.disciplines import COUNTERPARTS, refusals
from simulator.verdict import judge

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 20, "reverse": 20}, "loss_percent": {"forward": 0, "reverse": 0}}
TRAFFIC = {"duration_s": 15, "sample_interval_ms": 10}


@pytest.fixture(scope="module")
def behind(specification, run):
    """A function that returns the document of flows behind a discipline."""

    def carry_out(name, cca="cubic", flows=1, version="3.44", **parameters):
        queue = completed({"discipline": name} | (parameters or {}))
        return run(specification(cca, link=LINK, queue=queue, flows=flows, version=version, traffic=TRAFFIC))

    return carry_out


def failed(document):
    return [check for check in document["verdict"]["checks"] if not check["ok"]]


def delays_ms(document):
    """Return the time that the waiting packets take to leave, at each sample after the first third."""
    queued = document["series"]["queue"]["bytes"]
    return [count * 8 / 10e3 for count in queued[len(queued) // 3 :]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "low_ms", "high_ms"),
    # CoDel's target is what may stand, and PIE's what is held; a window of 33 packets keeps RED below its 15.
    [("codel", 0.5, 5), ("fq_codel", 0.5, 5), ("pie", 11, 19), ("fq_pie", 11, 19), ("red", 1, 15 * 1.2)],
)
def test_a_discipline_holds_the_queue_where_it_is_to(behind, name, low_ms, high_ms):
    document = behind(name, **({"packets": 200} if name == "red" else {}))
    assert failed(document) == []
    assert low_ms <= mean(delays_ms(document)) <= high_ms
    kind = COUNTERPARTS[name].type_id.removeprefix("ns3::")
    passed = document["links"]["after"]["r1-eth1"]["qdiscs"]
    assert passed[kind]["drops"] > 0 and passed["DropTailQueue"]["drops"] == 0
    # What the discipline let go is what the device got, one behind the other.
    assert passed[kind]["packets"] == passed["DropTailQueue"]["packets"]
    assert document["series"]["queue"]["drops"][-1] == passed[kind]["drops"]


@pytest.mark.long
def test_the_oldest_version_has_them_too(behind):
    for name in COUNTERPARTS:
        assert failed(behind(name, version="3.39", **({"packets": 200} if name == "red" else {}))) == []


def test_queues_of_their_own_give_unlike_flows_the_same(behind):
    document = behind("fq_codel", "bbr+cubic", flows=2)
    assert failed(document) == []
    goodput = [entry["simulated"]["flows"][0]["bytes_received"] for entry in document["traffic"]]
    assert sum(goodput) ** 2 / 2 / sum(x * x for x in goodput) > 0.99


def test_another_setting_than_asked_makes_a_run_invalid(behind):
    document = behind("codel", target_ms=10, packets=500)
    asked = RunSpecification(document["specification"])
    assert document["network"]["read_back"]["interfaces"]["r1-eth1"]["qdiscs"]["CoDelQueueDisc"]["limit_packets"] == 500
    for key, value in (("Target", 5e6), ("UseEcn", 1), ("limit_packets", 1000)):
        changed = json.loads(json.dumps(document))
        changed["network"]["read_back"]["interfaces"]["r1-eth1"]["qdiscs"]["CoDelQueueDisc"][key] = value
        checks = {check["name"]: check for check in judge(asked, changed)["checks"]}
        assert not checks["qdiscs"]["ok"] and key in checks["qdiscs"]["observed"]


@pytest.mark.parametrize(
    ("queue", "sentence"),
    [
        ({"discipline": "cake"}, "queue.discipline is cake; allowed on ns3:3.44: drop-tail, red, codel, fq_codel, pie, fq_pie."),
        ({"discipline": "fq_codel", "quantum_bytes": 300}, "queue.quantum_bytes is 300; allowed on ns3:3.44: 1514, "),
        ({"discipline": "red", "step_packets": 20}, "queue.step_packets is 20; allowed on ns3:3.44: null, "),
        ({"discipline": "red", "bytes": 90_000}, "queue.bytes is 90000; allowed on ns3:3.44 with red: packets or bdp."),
    ],
)  # fmt: skip
def test_what_ns_3_lacks_is_refused_in_one_sentence(queue, sentence):
    (problem,) = refusals(completed(queue), "ns3:3.44")
    assert problem.startswith(sentence)


def test_a_path_changes_when_it_is_to_and_passes_what_its_rate_allows(specification, run):
    no_change = {"direction": "both", "rate_mbps": None, "delay_ms": None, "loss_percent": None, "down_for_s": None, "over_s": 0, "step_ms": 100}  # fmt: skip
    changes = [
        {"at_s": 4, "rate_mbps": 20}, {"at_s": 7, "rate_mbps": 5}, {"at_s": 11, "rate_mbps": 10}, {"at_s": 12, "delay_ms": 50},
        {"at_s": 13, "loss_percent": 5, "direction": "forward"}, {"at_s": 14, "down_for_s": 0.5},
    ]  # fmt: skip
    link = LINK | {"timeline": [no_change | change for change in changes]}
    document = run(specification("reno", link=link, queue={"packets": 200}, flows=2, traffic=TRAFFIC))
    assert failed(document) == []
    done = document["timeline"]
    # Each of both directions, but for the loss that is of one; a link that is down is up again later.
    assert len(done) == 2 * 4 + 1 + 2 * 2
    assert all(entry["realised_ns"] == entry["at_ns"] for entry in done)
    rates = [entry for entry in done if (entry["direction"], entry["quantity"]) == ("forward", "rate_mbps")]
    passed = [entry["devices"]["r1-eth1"]["bytes"] for entry in rates]
    # A queue that never runs empty passes its rate, to the two packets at either end.
    assert passed[1] - passed[0] == pytest.approx(20e6 / 8 * 3, abs=2 * 1514)
    assert passed[2] - passed[1] == pytest.approx(5e6 / 8 * 4, abs=2 * 1514)
