"""Conditions drawn by replications: uniform within the requested range, the same for all with the same seed, and none unless requested."""

import copy
import json
import math

import numpy as np
import pytest
from scipy import stats

from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from study_files import study as studies
from study_files.study_variation import QUANTITIES, share_drawn

CABLE = {"topology": "cable", "link": {"rate_mbps": 20, "delay_ms": {"forward": 10, "reverse": 5}, "jitter_ms": 2}}
ALL = {"rtt_percent": 10, "rate_percent": 5, "queue_packets": 2, "background_percent": 30, "start_ms": 100}
SEEDS = 4000


def study_of(variation, replications=1, **scenario):
    one = {"id": "drawn", "queue": {"packets": 40}} | copy.deepcopy(CABLE) | scenario | {"variation": variation}
    config = {"study": "small", "ccas": ["reno", "cubic"], "replications": replications, "scenarios": [one]}
    return studies.resolve(config, "small.yaml")


@pytest.fixture(scope="module")
def drawn():
    """The scenario of each of many replications, with every condition drawn that may be."""
    study = study_of(ALL, SEEDS)
    return [
        studies.run_specification(study, "drawn", "reno", "ipv4", number)["scenario"] for number in range(1, SEEDS + 1)
    ]


def values_of(drawn, quantity):
    """Return a quantity of each replication, with the requested ends of its range."""
    if quantity == "rtt":
        return np.array([sum(each["link"]["delay_ms"].values()) for each in drawn]), (13.5, 16.5)
    if quantity == "rate":
        return np.array([each["link"]["rate_mbps"] for each in drawn]), (19, 21)
    # Without its own time, a flow starts within one RTT.
    rtts, _ = values_of(drawn, "rtt")
    return np.array([each["traffic"]["start_within_ms"] for each in drawn]) - rtts, (0, 100)


@pytest.mark.parametrize("quantity", ["rtt", "rate", "start"])
def test_draws_are_even_between_their_ends(drawn, quantity):
    values, (low, high) = values_of(drawn, quantity)
    assert values.min() >= low - 1e-4 and values.max() <= high + 1e-4
    assert stats.kstest((values - low) / (high - low), "uniform").pvalue > 0.001
    assert values.max() - values.min() > 0.995 * (high - low)


def test_outages_last_as_long_as_drawn_and_the_same_for_all_of_a_seed():
    link = CABLE["link"] | {"timeline": [{"at_s": 4, "down_for_s": 2}, {"at_s": 9, "delay_ms": 30}]}
    study = study_of({"down_percent": 25}, SEEDS, topology="dumbbell", link=link, traffic={"duration_s": 14})
    lengths = []
    for number in range(1, SEEDS + 1):
        runs = [studies.run_specification(study, "drawn", cca, "ipv4", number)["scenario"] for cca in ("reno", "cubic")]
        assert runs[0] == runs[1]
        outage, other = runs[0]["link"]["timeline"]
        assert (outage["at_s"], other["at_s"], other["delay_ms"], other["down_for_s"]) == (4, 9, 30, None)
        lengths.append(outage["down_for_s"])
    assert min(lengths) >= 1.5 and max(lengths) <= 2.5
    assert stats.kstest((np.array(lengths) - 1.5), "uniform").pvalue > 0.001


def test_queues_and_background_are_drawn_as_often_as_asked(drawn):
    queues = [each["queue"]["packets"] for each in drawn]
    counts = [queues.count(packets) for packets in range(38, 43)]
    assert sum(counts) == SEEDS
    assert stats.chisquare(counts).pvalue > 0.001
    servers = sum(each["background"] == "server" for each in drawn)
    assert stats.binomtest(servers, SEEDS, 0.3).pvalue > 0.001


def test_what_is_drawn_is_independent_of_the_rest():
    shares = np.array([[share_drawn(seed, quantity) for quantity in QUANTITIES] for seed in range(1, SEEDS + 1)])
    correlations = np.corrcoef(shares.T)[np.triu_indices(len(QUANTITIES), 1)]
    assert np.abs(correlations).max() < 4 / math.sqrt(SEEDS)
    less, more = (study_of(variation, 9) for variation in ({"rtt_percent": 10}, ALL))
    for number in range(1, 10):
        delays = [
            studies.run_conditions(study, "drawn", number)["scenario"]["link"]["delay_ms"] for study in (less, more)
        ]
        assert delays[0] == delays[1]


def test_all_delays_have_one_factor(drawn):
    for each in drawn[:50]:
        link = each["link"]
        factor = link["delay_ms"]["forward"] / 10
        assert link["delay_ms"]["reverse"] == pytest.approx(5 * factor, rel=1e-5)
        assert link["jitter_ms"]["reverse"] == pytest.approx(2 * factor, rel=1e-5)
    hosts = {"pairs": 2, "access_delay_ms": [1, 3]}
    study = study_of({"rtt_percent": 10}, topology="dumbbell", hosts=hosts, flows=2)
    scenario = studies.run_conditions(study, "drawn", 1)["scenario"]
    factor = scenario["link"]["delay_ms"]["forward"] / 10
    assert scenario["hosts"]["access_delay_ms"] == pytest.approx([factor, 3 * factor], rel=1e-5)
    assert factor != 1


def test_ccas_and_ip_versions_of_a_replication_share_the_draw():
    study = study_of(ALL, 5)
    drawn = {}
    for run in studies.runs(study):
        specification = studies.run_specification(study, *run)
        drawn.setdefault(run[3], set()).add(json.dumps(specification["scenario"]))
    assert [len(texts) for texts in drawn.values()] == [1] * 5
    assert len(set.union(*drawn.values())) == 5


def test_same_seed_same_draw_and_another_seed_another():
    study = study_of(ALL, 2)
    again = studies.run_conditions(copy.deepcopy(study), "drawn", 1)
    assert again == studies.run_conditions(study, "drawn", 1)
    assert again != studies.run_conditions(study | {"seed": 2}, "drawn", 1)
    # Recorded once; another value would change every published run of a study that draws.
    assert share_drawn(3523601161, "rtt_percent") == 0.7840793468561982


@pytest.mark.parametrize(
    ("size", "drawn"), [({"bdp": 2}, "bdp"), ({"bytes": 30_000}, "bytes"), ({"packets": 9}, "packets")]
)
def test_a_queue_keeps_its_measure_unless_packets_are_drawn_of_bdps(size, drawn):
    queue = studies.run_conditions(study_of({"rtt_percent": 10}, queue=size), "drawn", 1)["scenario"]["queue"]
    assert queue == size
    queues = [
        studies.run_conditions(study_of({"queue_packets": 1}, 40, queue=size), "drawn", number)["scenario"]["queue"]
        for number in range(1, 41)
    ]
    centre = {"bdp": ("packets", math.ceil(2 * 20e6 / 8 * 0.015 / 1514), 1), "bytes": ("bytes", 30_000, 1514)}
    measure, middle, step = centre.get(drawn, ("packets", 9, 1))
    assert {json.dumps(queue) for queue in queues} == {
        json.dumps({measure: middle + more * step}) for more in (-1, 0, 1)
    }


def test_off_nothing_of_a_specification_changes():
    for variation in ({}, dict.fromkeys(ALL, 0)):
        study = study_of(variation, 2)
        specification = studies.run_specification(study, "drawn", "reno", "ipv4", 2)
        written = {
            key: value
            for key, value in study["scenarios"][0].items()
            if key not in ("label", "replications", "seeds_of", "variation")
        }
        # What is off is in no specification.
        for section, key in (
            ("transport", "ecn"),
            ("link", "timeline"),
            ("link", "trace"),
            ("link", "reverse_trace"),
            ("link", "policer"),
            ("link", "reverse_policer"),
            ("hosts", "qdisc"),
            *(("link", option.name) for option in LINK_OPTIONS),
            *(("transport", option.name) for option in HOST_OPTIONS),
        ):
            del written[section][key]
        assert written.pop("groups") == []
        assert json.dumps(specification["scenario"]) == json.dumps(written)
        assert written["link"]["rate_mbps"] == 20 and written["traffic"]["start_within_ms"] is None


def test_a_job_has_room_for_the_largest_draw(drawn):
    largest = studies.largest_conditions(study_of(ALL), "drawn")["scenario"]
    for each in drawn[:200]:
        assert each["link"]["rate_mbps"] <= largest["link"]["rate_mbps"]
        assert each["link"]["delay_ms"]["forward"] <= largest["link"]["delay_ms"]["forward"]
        assert each["queue"]["packets"] <= largest["queue"]["packets"]


@pytest.mark.parametrize(
    ("scenario", "variation", "sentence"),
    [
        ({}, {"rtt_percent": 51}, "variation.rtt_percent is 51; allowed: a number from 0 to 50 (percent)."),
        ({}, {"rtt": 1}, "variation.rtt'; did you mean 'rtt_percent'?"),
        ({"link": {"rate_mbps": 20, "delay_ms": 0}}, {"rtt_percent": 1}, "variation.rtt_percent is 1; allowed on a path without delay: 0."),
        (
            {"link": {"rate_mbps": None}, "traffic": {"bitrate_mbps": 1}}, {"rate_percent": 1},
            "variation.rate_percent is 1; allowed without a link.rate_mbps: 0.",
        ),
        (
            {"queue": {"bdp": 1}, "transport": {"segment_bytes": 500}}, {"queue_packets": 1},
            "variation.queue_packets is 1; allowed with a queue in BDPs: 0 where packets of IPv4 and IPv6 differ in size",
        ),
        ({}, {"down_percent": 5}, "variation.down_percent is 5; allowed with a link that is never down: 0."),
        ({"topology": "dumbbell"}, {"background_percent": 5}, "variation.background_percent is 5; allowed with topology dumbbell: 0"),
        ({"background": "server"}, {"background_percent": 5}, "variation.background_percent is 5; allowed with background server: 0."),
        ({"queue": {"packets": 2}}, {"queue_packets": 2}, "variation includes values that can't be run: queue.packets is 0; allowed:"),
        ({"link": {"rate_mbps": 20_000}}, {"rate_percent": 1}, "variation includes values that can't be run: link.rate_mbps is 20200; allowed:"),
        ({"traffic": {"duration_s": 1}}, {"start_ms": 500}, "variation includes values that can't be run: traffic.start_within_ms is 515"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_one_sentence(scenario, variation, sentence):
    with pytest.raises(studies.StudyError) as refused:
        study_of(variation, **scenario)
    assert [sentence in problem for problem in refused.value.problems] == [True]


def test_exact_values_are_not_varied():
    config = {"study": "small", "ccas": ["reno"], "analysis": {"calibration": True}}
    config["scenarios"] = [{"id": "a", "variation": {"rtt_percent": 1}}]
    with pytest.raises(studies.StudyError, match="rtt_percent is 1; allowed with analysis.calibration: 0"):
        studies.resolve(config, "small.yaml")


@pytest.mark.parametrize("delay_ms", [0.01, 7, 600])
def test_drawn_delays_are_those_that_can_be_read_back(delay_ms):
    study = study_of({"rtt_percent": 10}, 50, link={"rate_mbps": 1, "delay_ms": delay_ms}, queue={"packets": 99})
    for number in range(1, 51):
        forward = studies.run_conditions(study, "drawn", number)["scenario"]["link"]["delay_ms"]["forward"]
        # As tc prints it, in s, and as the check of the queueing disciplines compares it.
        printed_ms = 1e3 * float(f"{forward / 1e3:g}")
        assert math.isclose(printed_ms, forward, rel_tol=1e-9)
