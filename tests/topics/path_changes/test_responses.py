"""Phases of a path that changes, and the flows' behaviour in them, against numbers worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from changing_run import changing_run
from figure_parts.figure_style import LIGHT
from study_files import study
from study_files.study_design import StudyDesign
from topics.path_changes.measure_responses import cells_of
from topics.path_changes.phases import marks_of, moments_of, phases_of
from topics.path_changes.plot_path_changes import COLUMNS_OF_DATA, _draw
from topics.path_changes.responses import believed_s, delivered_bytes, measures_of, of_forward_flows, used_s
from topics.path_changes.section import findings
from topics.path_changes.tables import CHANGE_CELLS, CHANGE_RESPONSES
from topics.path_changes.topic import TOPIC

TIMES = np.arange(0, 20.01, 0.1).round(6)
#: Share of the rate that payload can have.
PAYLOAD = 1448 / 1514


def samples(rates_mbps, cca="bbr", **columns):
    """One flow with the given Mbit/s delivered in each half of 20 s, sampled every 100 ms."""
    rates = np.where(TIMES <= 10, rates_mbps[0], rates_mbps[1])
    delivered = np.r_[0, np.cumsum(rates[1:] * 0.1)] * 1e6 / 8
    empty = {"sacked_packets": 0.0, "retransmits": 0.0, "bbr_rtt_min_ms": np.nan, "vegas_rtt_ms": np.nan}
    return pd.DataFrame(
        {"flow": 0, "path": np.nan, "flow_cca": cca, "time_s": TIMES, "bytes_acked": delivered} | empty | columns
    )


def test_a_phase_goes_from_one_change_to_the_next():
    phases = phases_of(
        changing_run({"at_s": 5, "rate_mbps": 100}, {"at_s": 8, "delay_ms": 120, "direction": "forward"})
    )
    assert [(p.begin_s, p.end_s, p.change, p.rate_mbps, p.rtt_path_ms, p.longer) for p in phases] == [
        (0, 5, "begin", 10, 40, False),
        (5, 8, "rate 100 Mbit/s", 100, 40, False),
        (8, 20, "forward delay 120 ms", 100, 140, True),
    ]


def test_of_a_ramp_the_end_begins_a_phase_and_of_a_trace_the_first_step():
    ramps = [{"at_s": at_s, "rate_mbps": rate, "over_s": 0.3} for at_s, rate in ((1.9, 40), (5.8, 60))]
    assert [p.begin_s for p in phases_of(changing_run(*ramps))] == [0, 2.2, 6.1]
    trace = {"step_ms": 1000, "rates_mbps": [4, 8], "direction": "forward"}
    (phase,) = phases_of(changing_run(trace=trace))
    assert (phase.change, phase.traced, phase.rate_mbps) == ("trace", True, 6)


def test_a_link_that_is_down_is_so_until_it_is_up_again():
    down = {"at_s": 5, "down_for_s": 2, "direction": "forward"}
    assert [(p.change, p.down, p.rate_mbps) for p in phases_of(changing_run(down))] == [
        ("begin", False, 10), ("forward down", True, 0), ("forward up again", False, 10),
    ]  # fmt: skip


def test_marks_of_recorded_changes_are_the_phases():
    run = changing_run({"at_s": 5, "rate_mbps": 100}, {"at_s": 8, "rate_mbps": 4, "over_s": 0.3})
    recorded = [vars(change) for change in run.timeline.changes]
    assert marks_of(moments_of(recorded)) == [(p.begin_s, p.change) for p in phases_of(run)[1:]]


def test_both_directions_have_one_word():
    assert [p.change for p in phases_of(changing_run({"at_s": 1, "down_for_s": 2}))] == ["begin", "down", "up again"]


def test_a_rate_is_used_at_the_end_of_the_first_time_that_had_nine_tenths_of_it():
    """100 Mbit/s carry 95.6 of payload. A flow that is delivered 8 until 2 s after the change and 91 afterwards fills 0.2 s by then."""
    (_, phase) = phases_of(changing_run({"at_s": 8, "rate_mbps": 100}))
    assert used_s(phase, *delivered_bytes(samples((8, 91)), 1448)) == pytest.approx(2.2)
    assert np.isnan(used_s(phase, *delivered_bytes(samples((8, 85)), 1448)))


def test_what_was_delivered_waited_and_was_lost_is_that_of_the_phase():
    phases = phases_of(changing_run({"at_s": 10, "rate_mbps": 100}))
    queue = pd.DataFrame(
        {"time_s": TIMES, "drops": np.where(TIMES < 12, 3, 8), "delay_ms": np.where(TIMES < 10, 1.0, 5.0)}
    )
    again = samples((5 * PAYLOAD, 50 * PAYLOAD), retransmits=np.where(TIMES < 15, 2.0, 6.0))
    first, second = (measures_of(phase, again, queue) for phase in phases)
    # Of the second's 10 s the first 40 ms are of packets that left the bottleneck at the old rate.
    assert first["utilisation_percent"] == pytest.approx(50)
    assert second["utilisation_percent"] == pytest.approx(50 / (1 - 0.004 * 0.9))
    assert (first["queue_mean_ms"], second["queue_max_ms"]) == (1, 5)
    assert (second["queue_drops"], first["retransmits"], second["retransmits"]) == (5, 2, 4)


def test_a_full_path_is_full_in_each_phase_and_never_more():
    """What the sender on a full path knows: 40 ms of 100 Mbit/s are still delivered after the step to 10."""
    phases = phases_of(changing_run({"at_s": 10, "rate_mbps": 10}, rate_mbps=100))
    known = np.cumsum(np.where(TIMES[1:] <= 10, 100.0, 10.0)) * 0.1 + np.where(TIMES[1:] > 10, 0.04 * 90, 0)
    full = samples((0, 0)).assign(bytes_acked=np.r_[0, known] * PAYLOAD * 1e6 / 8)
    queue = pd.DataFrame({"time_s": TIMES, "drops": 0, "delay_ms": 0.0})
    shares = [measures_of(phase, full, queue)["utilisation_percent"] for phase in phases]
    assert shares == pytest.approx([100, 100]) and max(shares) <= 100 + 1e-9


def test_the_data_of_a_flow_that_has_ended_still_count():
    """Its socket is gone: the sum over the sockets that are left would stand still until they had delivered as much."""
    phase = phases_of(changing_run({"at_s": 12, "rate_mbps": 20}))[1]
    ended = samples((4 * PAYLOAD, 0)).assign(flow=1)
    both = pd.concat([samples((4 * PAYLOAD, 10 * PAYLOAD)), ended[ended["time_s"] <= 10]])
    queue = pd.DataFrame({"time_s": TIMES, "drops": 0, "delay_ms": 0.0})
    assert measures_of(phase, both, queue)["utilisation_percent"] == pytest.approx(50, rel=0.01)


def test_subflows_count_each_even_after_their_end():
    phase = phases_of(changing_run({"at_s": 12, "rate_mbps": 20}))[1]
    first = samples((4 * PAYLOAD, 0), path=1.0, retransmits=np.where(TIMES < 13, 0.0, 5.0))
    second = samples((4 * PAYLOAD, 10 * PAYLOAD), path=2.0, retransmits=np.where(TIMES < 14, 1.0, 4.0))
    both = pd.concat([first[first["time_s"] <= 15], second])
    queue = pd.DataFrame({"time_s": TIMES, "drops": 0, "delay_ms": 0.0})
    measured = measures_of(phase, both, queue)
    assert measured["utilisation_percent"] == pytest.approx(50, rel=0.01) and measured["retransmits"] == 5 + 3


def test_flows_of_the_other_direction_dont_use_the_capacity():
    both = pd.concat([samples((8, 8)), samples((9, 9)).assign(flow=1)])
    flows = pd.DataFrame({"flow": [0, 1], "direction": ["forward", "reverse"]})
    assert set(of_forward_flows(both, flows)["flow"]) == {0}


def test_findings_say_in_how_many_runs_a_time_is_known():
    cell = dict.fromkeys(CHANGE_CELLS.names, np.nan) | {
        "scenario": "x", "scenario_label": "Step", "ip_version": "ipv4", "phase": 2, "begin_s": 10.0, "change": "delay 50 ms", "n": 6,
    }  # fmt: skip
    rows = [
        cell | {"cca": "reno", "used_s": 1.0, "n_used": 6, "n_believed": 0},
        cell | {"cca": "bbr", "used_s": 3.0, "n_used": 1, "n_believed": 2, "believed_s": 8.0},
    ]
    material = SimpleNamespace(tables=SimpleNamespace(change_cells=pd.DataFrame(rows)), ranked=lambda cells: cells)
    used, believed = (finding.text for finding in findings(material))
    assert used.endswith("90 % of the rate is used by Reno after 1.00 s and BBR after 3.00 s in 1 of 6 runs.")
    assert believed == "Step: BBR takes 8.0 s in 2 of 6 runs to notice that the path became longer (delay 50 ms)."


def test_nothing_is_delivered_of_a_rate_that_is_down():
    phase = phases_of(changing_run({"at_s": 10, "down_for_s": 5, "direction": "forward"}))[1]
    queue = pd.DataFrame({"time_s": TIMES, "drops": 0, "delay_ms": 0.0})
    measures = measures_of(phase, samples((8, 0)), queue)
    assert np.isnan(measures["utilisation_percent"]) and np.isnan(measures["used_s"])


@pytest.mark.parametrize("cca, column", [("bbr", "bbr_rtt_min_ms"), ("vegas", "vegas_rtt_ms")])
def test_a_longer_path_is_believed_in_once_all_flows_have_its_rtt(cca, column):
    phase = phases_of(changing_run({"at_s": 5, "delay_ms": 120, "direction": "forward"}))[1]
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


def test_lines_of_ip_versions_differ():
    rows = [
        ("x", "reno", name, 1, "goodput", at, at + high)
        for name, high in (("ipv4", 1), ("ipv6", 5))
        for at in (0.0, 9.0)
    ]
    data = pd.DataFrame(rows, columns=COLUMNS_OF_DATA)
    drawn = _draw(data, {"x": [(5.0, "down")]}, {"x": "X"})
    (axes,) = drawn.figure.axes
    assert [line.get_linestyle() for line in axes.lines if line.get_color() != LIGHT.ink] == ["-", "--"]
    assert drawn.panels[0].description.endswith(
        "Reno over IPv4 between 1.000 and 10.00, Reno over IPv6 between 5.000 and 14.00."
    )
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Reno", "IPv4", "IPv6"]
    alone = _draw(data[data["ip_version"] == "ipv6"], {"x": [(5.0, "down")]}, {"x": "X"})
    assert alone.panels[0].description.endswith("Reno between 5.000 and 14.00.")
