"""Phases of a path that changes, and what flows do in them, against numbers worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from study_files import study
from study_files.study_design import StudyDesign
from topics.path_changes.measure_responses import cells_of
from topics.path_changes.phases import change_words, phases_of
from topics.path_changes.responses import believed_s, delivered_mbit, measures_of, used_s
from topics.path_changes.tables import CHANGE_RESPONSES
from topics.path_changes.topic import TOPIC

RUN = {
    "rate_mbps": 10.0, "rtt_path_ms": 40.0, "delay_forward_ms": 20.0, "delay_reverse_ms": 20.0, "mss_bytes": 1000.0, "packet_bytes": 1250.0,
}  # fmt: skip
TIMES = np.arange(0, 20.01, 0.1).round(6)


def change(at_s, direction="forward", quantity="rate_mbps", value=100.0, kind="step"):
    return {
        "at_ns": at_s * 1e9,
        "realised_ns": at_s * 1e9,
        "direction": direction,
        "quantity": quantity,
        "value": value,
        "offered_mbps": value,
        "kind": kind,
    }


def samples(rates_mbps, cca="bbr", **columns):
    """One flow that is delivered so many Mbit/s in the second halves of 20 s, sampled every 100 ms."""
    rates = np.where(TIMES <= 10, rates_mbps[0], rates_mbps[1])
    delivered = np.r_[0, np.cumsum(rates[1:] * 0.1)] * 1e6 / 8
    empty = {"sacked_packets": 0.0, "retransmits": 0.0, "bbr_rtt_min_ms": np.nan, "vegas_rtt_ms": np.nan}
    return pd.DataFrame({"flow": 0, "flow_cca": cca, "time_s": TIMES, "bytes_acked": delivered} | empty | columns)


def test_a_phase_goes_from_one_change_to_the_next():
    phases = phases_of(RUN, [change(5), change(5, "reverse"), change(8, "forward", "delay_ms", 120.0)], 20.0)
    assert [(p.begin_s, p.end_s, p.change, p.rate_mbps, p.rtt_path_ms, p.longer) for p in phases] == [
        (0, 5, "begin", 10, 40, False),
        (5, 8, "rate 100 Mbit/s", 100, 40, False),
        (8, 20, "forward delay 120 ms", 100, 140, True),
    ]


def test_of_a_ramp_the_end_begins_a_phase_and_of_a_trace_the_first_step():
    ramp = [
        change(at, value=value, kind="ramp")
        for at, value in ((2.0, 20.0), (2.1, 30.0), (2.2, 40.0), (6.0, 50.0), (6.1, 60.0))
    ]
    assert [p.begin_s for p in phases_of(RUN, ramp, 20.0)] == [0, 2.2, 6.1]
    trace = [change(at, value=value, kind="trace") for at, value in ((0, 4.0), (10, 8.0))]
    (phase,) = phases_of(RUN, trace, 20.0)
    assert (phase.change, phase.traced, phase.rate_mbps) == ("trace", True, 6)


def test_a_link_that_is_down_is_so_until_it_is_up_again():
    down = [change(5, "forward", "loss_percent", 100.0, "down"), change(7, "forward", "loss_percent", 0.0, "up")]
    assert [(p.change, p.down) for p in phases_of(RUN, down, 20.0)] == [
        ("begin", False), ("forward down", True), ("forward up again", False),
    ]  # fmt: skip


def test_both_directions_have_one_word():
    both = [change(1, way, "loss_percent", 100.0, "down") for way in ("forward", "reverse")]
    assert change_words(both) == "down"


def test_a_rate_is_used_at_the_end_of_the_first_time_that_had_nine_tenths_of_it():
    """100 Mbit/s carry 80 of payload. A flow that is delivered 8 until 2 s after the change and 76 from then on fills 0.2 s by then."""
    (_, phase) = phases_of(RUN, [change(8)], 20.0)
    times, delivered = delivered_mbit(samples((8, 76)), 1000)
    assert used_s(phase, times, delivered, 0.8) == pytest.approx(2.2)
    times, delivered = delivered_mbit(samples((8, 70)), 1000)
    assert np.isnan(used_s(phase, times, delivered, 0.8))


def test_what_was_delivered_waited_and_was_lost_is_that_of_the_phase():
    phases = phases_of(RUN, [change(10)], 20.0)
    queue = pd.DataFrame(
        {"time_s": TIMES, "drops": np.where(TIMES < 12, 3, 8), "delay_ms": np.where(TIMES < 10, 1.0, 5.0)}
    )
    again = samples((4, 40), retransmits=np.where(TIMES < 15, 2.0, 6.0))
    first, second = (measures_of(phase, again, queue, RUN) for phase in phases)
    assert (first["utilisation_percent"], second["utilisation_percent"]) == pytest.approx((50, 50))
    assert (first["queue_mean_ms"], second["queue_max_ms"]) == (1, 5)
    assert (second["queue_drops"], first["retransmits"], second["retransmits"]) == (5, 2, 4)


def test_nothing_is_delivered_of_a_rate_that_is_down():
    down = [change(10, "forward", "loss_percent", 100.0, "down")]
    phase = phases_of(RUN, down, 20.0)[1]
    queue = pd.DataFrame({"time_s": TIMES, "drops": 0, "delay_ms": 0.0})
    measures = measures_of(phase, samples((8, 0)), queue, RUN)
    assert np.isnan(measures["utilisation_percent"]) and np.isnan(measures["used_s"])


@pytest.mark.parametrize("cca, column", [("bbr", "bbr_rtt_min_ms"), ("vegas", "vegas_rtt_ms")])
def test_a_longer_path_is_believed_in_once_all_flows_have_its_rtt(cca, column):
    phase = phases_of(RUN, [change(5, "forward", "delay_ms", 120.0)], 20.0)[1]
    known = samples((8, 8), cca, **{column: np.where(TIMES < 15, 40.0, 141.0)})
    assert believed_s(phase, known) == pytest.approx(10)
    other = known.assign(flow=1, **{column: 40.0})
    assert np.isnan(believed_s(phase, pd.concat([known, other])))


def test_cells_are_means_over_the_runs_that_have_a_value():
    row = dict.fromkeys(CHANGE_RESPONSES.names, 1.0) | {
        "scenario": "x",
        "scenario_label": "x",
        "cca": "bbr",
        "ip_version": "ipv4",
        "change": "begin",
    }
    phases = pd.DataFrame([row | {"used_s": 2.0}, row | {"used_s": 4.0}, row | {"used_s": np.nan}])
    (cell,) = cells_of(phases).to_dict("records")
    assert (cell["n"], cell["n_used"], cell["used_s"]) == (3, 2, 3.0)


@pytest.mark.parametrize(
    "link, interval, wanted", [({"timeline": [{"at_s": 1, "rate_mbps": 1}]}, 50, True), ({"timeline": [{"at_s": 1, "rate_mbps": 1}]}, None, False), ({}, 50, False)]
)  # fmt: skip
def test_the_topic_is_of_studies_that_watch_a_path_change(link, interval, wanted):
    scenario = {"id": "x", "link": link, "traffic": {"sample_interval_ms": interval}}
    made = study.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")
    assert TOPIC.applies(StudyDesign(made)) == wanted
