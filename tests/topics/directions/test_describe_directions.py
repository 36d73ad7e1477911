"""Results of each direction of a cell, for flows with known goodputs."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from figure_parts.captions import render_caption
from study_files.study import resolve
from study_files.study_design import StudyDesign
from topics.directions.describe_directions import describe_directions
from topics.directions.plot_directions import lines_of, plot_directions
from topics.directions.section import findings
from topics.directions.topic import TOPIC, apart, offered
from topics.outline import figure_params

CELL = {"scenario": "both", "cca": "cubic", "ip_version": "ipv4"}
SCENARIOS = pd.DataFrame([{"scenario": "both", "label": "Both"}, {"scenario": "one", "label": "One"}])
OFFERED = {"both": {"forward": 20.0, "reverse": 2.0}}


def flow(number, direction, mbps, replication=1, **other):
    row = {
        "flow": number,
        "direction": direction,
        "goodput_lifetime_mbps": mbps,
        "rtt_mean_ms": 50.0 + number,
        "rtt_path_ms": 40.0,
    }
    return CELL | {"replication": replication, "valid": True, "start_offset_ms": 10.0 * number} | row | other


def described(rows, apart=()):
    return describe_directions(pd.DataFrame(rows), SCENARIOS, OFFERED, apart, 0.95)


def design_of(*groups, protocol="udp"):
    """Return the design of a study with one scenario of 30 s and 20 Mbit/s."""
    flows = [{"name": f"flow{number}", "stop_s": 30} | group for number, group in enumerate(groups)]
    scenario = {"id": "both", "link": {"rate_mbps": 20, "delay_ms": 20}, "traffic": {"duration_s": 30}, "flows": flows}
    study = {"study": "s", "ccas": ["reno"], "scenarios": [scenario]}
    if any("program" in one for one in flows):
        study["programs"] = {"mine": PROGRAM | {"protocol": protocol}}
    return StudyDesign(resolve(study, "s.yaml"))


UP = {"direction": "reverse"}
CALL = {"application": "real-time"}
PROGRAM = {"server": "python3 serve {port}", "client": "python3 get {server} {seconds}", "ccas": ["bbr"]}


@pytest.mark.parametrize(
    ("groups", "applies"), [(({}, UP), True), (({}, CALL | UP), False), ((CALL, UP), False), (({}, CALL, UP), True)]
)
def test_the_topic_is_of_long_flows_that_send_both_ways(groups, applies):
    design = design_of(*groups)
    assert TOPIC.applies(design) == applies and bool(offered(design)) == applies


def test_goodputs_of_flows_at_different_times_dont_add_up():
    """Two downloads of 18 Mbit/s, one after the other, aren't 36 Mbit/s on a link of 20."""
    design = design_of({"stop_s": 10}, {"start_s": 20}, UP)
    assert apart(design) == [("both", "forward")]
    down, up = described(
        [flow(0, "forward", 18), flow(1, "forward", 18), flow(2, "reverse", 1.5)], apart(design)
    ).to_dict("records")
    assert pd.isna(down["goodput_mbps"]) and pd.isna(down["used_percent"]) and up["goodput_mbps"] == 1.5
    assert apart(design_of({"on_s": 2, "off_s": 3}, UP)) == [("both", "forward")]


@pytest.mark.parametrize("protocol", [None, "tcp", "udp"])
def test_the_caption_says_what_counts_for_programs(root, protocol):
    """Their flows are in the figure, whether they belong to a group or to the CCA under test."""
    design = design_of({}, UP if protocol is None else UP | {"program": "mine:bbr"}, protocol=protocol or "tcp")
    (figure,) = TOPIC.figures(design)
    params = figure_params(figure, design, {"confidence": 0.95, "significance": 0.05})
    caption = render_caption(root / "workflow/scripts/topics/directions/captions/directions.rst", params)
    assert ("For flows of programs, they are the payload of the packets sent" in caption) == (protocol is not None)
    assert ("log of a program" in caption) == (protocol == "udp") and "not included" not in caption


@pytest.mark.parametrize(("groups", "count"), [(({}, UP), 1), (({"stop_s": 10}, UP | {"start_s": 20}), 0)])
def test_findings_are_about_flows_that_send_at_once(groups, count):
    cells = described([flow(0, "forward", 10), flow(1, "reverse", 1.5)])
    material = SimpleNamespace(
        design=design_of(*groups), tables=SimpleNamespace(direction_cells=cells), ranked=lambda cells: cells
    )
    assert len(findings(material)) == count


@pytest.mark.parametrize(
    ("down", "up", "words"),
    [
        ({}, {}, "CUBIC carries 10 Mbit/s down and 1.5 Mbit/s up at once"),
        ({}, {"cca": "bbr"}, "CUBIC carries 10 Mbit/s down and BBR carries 1.5 Mbit/s up at once"),
        ({"program": "mine:bbr"}, {}, "mine:bbr carries 10 Mbit/s down and CUBIC carries 1.5 Mbit/s up at once"),
    ],
)
def test_a_finding_names_the_senders_of_each_direction(down, up, words):
    """The CCA of the run isn't that of groups with another CCA or a program."""
    cells = described([flow(0, "forward", 10, rtt_mean_ms=None), flow(1, "reverse", 1.5, rtt_mean_ms=None)])
    material = SimpleNamespace(
        design=design_of(down, UP | up), tables=SimpleNamespace(direction_cells=cells), ranked=lambda cells: cells
    )
    (finding,) = findings(material)
    assert words in re.sub(r" \([^)]*\)", "", finding.text)


def test_a_finding_about_flows_without_rtts_gives_none():
    """Programs over UDP report no RTT without a log."""
    rows = [flow(0, "forward", 10, rtt_mean_ms=None), flow(1, "reverse", 1.5, rtt_mean_ms=None)]
    material = SimpleNamespace(
        design=design_of({}, UP), tables=SimpleNamespace(direction_cells=described(rows)), ranked=lambda cells: cells
    )
    (finding,) = findings(material)
    assert (
        finding.text
        == "Both: CUBIC carries 10 Mbit/s down (50 % of the rate) and 1.5 Mbit/s up (75 % of the rate) at once."
    )


@pytest.mark.parametrize(
    ("paths_ms", "words"),
    [((40.0, 40.0), "with a mean RTT of 200 ms, 5.0 times the RTT of the empty path."), ((20.0, 200.0), "200 ms, 1.0 times the RTT of the empty path."),
     ((0.0, 0.0), "with a mean RTT of 200 ms.")],
)  # fmt: skip
def test_an_rtt_is_compared_with_its_own_empty_path(paths_ms, words):
    """The flows of the two directions may use different pairs of hosts, and a path may have no delay."""
    rows = [flow(0, "forward", 10, rtt_mean_ms=20.5), flow(1, "reverse", 1.5, rtt_mean_ms=200.0)]
    cells = described([row | {"rtt_path_ms": path_ms} for row, path_ms in zip(rows, paths_ms, strict=True)])
    material = SimpleNamespace(
        design=design_of({}, UP), tables=SimpleNamespace(direction_cells=cells), ranked=lambda cells: cells
    )
    (finding,) = findings(material)
    assert finding.text.endswith(words)


@pytest.mark.parametrize("shown", [["forward", "rtt"], []])
def test_only_series_with_data_have_panels(shown, tmp_path):
    """No interval of a flow is known in the other direction, or in both."""
    interval = CELL | {"replication": 1, "flow": 0, "start_s": 0.0, "end_s": 1.0, "sent_mbps": 2.0, "rtt_ms": 40.0}
    pd.DataFrame([interval]).iloc[: len(shown)].to_parquet(tmp_path / "intervals.parquet")
    runs = pd.DataFrame([CELL | {"replication": 1, "valid": True}])
    flows = pd.DataFrame([flow(0, "forward", 10), flow(1, "reverse", 1.5)])
    drawing = plot_directions(runs, SCENARIOS, flows, tmp_path / "intervals.parquet")
    assert list(dict.fromkeys(drawing.data["series"])) == shown and len(drawing.panels) == max(1, len(shown))


def test_a_panel_says_if_some_flows_report_no_rtt(tmp_path):
    """A program over UDP without a log sends one way."""
    usual = CELL | {"replication": 1, "start_s": 0.0, "end_s": 1.0, "sent_mbps": 2.0}
    runs = pd.DataFrame([CELL | {"replication": 1, "valid": True}])
    flows = pd.DataFrame([flow(0, "forward", 10), flow(1, "reverse", 1.5)])
    for rtt_ms, words in ((42.0, "mean of all flows"), (None, "mean of the flows that report it")):
        rows = [usual | {"flow": 0, "rtt_ms": 40.0}, usual | {"flow": 1, "rtt_ms": rtt_ms}]
        pd.DataFrame(rows).to_parquet(tmp_path / "intervals.parquet")
        drawing = plot_directions(runs, SCENARIOS, flows, tmp_path / "intervals.parquet")
        assert words in str(drawing.panels)


def test_goodputs_of_a_direction_are_added_and_its_rtts_are_averaged():
    cells = described([flow(0, "forward", 10), flow(1, "forward", 8), flow(2, "reverse", 1.5)])
    down, up = cells.to_dict("records")
    assert (down["direction"], down["flows"], down["goodput_mbps"], down["used_percent"]) == ("forward", 2, 18, 90)
    assert (up["direction"], up["flows"], up["goodput_mbps"], up["used_percent"]) == ("reverse", 1, 1.5, 75)
    assert (down["rtt_mean_ms"], up["rtt_mean_ms"], up["scenario_label"]) == (50.5, 52, "Both")


def test_a_direction_of_which_a_flow_has_no_goodput_has_none():
    (down,) = described([flow(0, "forward", 10), flow(1, "forward", None)]).to_dict("records")
    assert pd.isna(down["goodput_mbps"]) and pd.isna(down["used_percent"]) and down["rtt_mean_ms"] == 50.5


def test_scenarios_without_data_both_ways_and_invalid_runs_have_no_part():
    rows = [
        flow(0, "forward", 10),
        flow(0, "forward", 99, replication=2, valid=False),
        flow(0, "forward", 5, scenario="one"),
    ]
    (down,) = described(rows).to_dict("records")
    assert (down["scenario"], down["n"], down["goodput_mbps"]) == ("both", 1, 10)


def test_lines_are_sums_of_flows_and_means_of_valid_runs():
    flows = pd.DataFrame(
        [flow(n, way, 1, r) for r in (1, 2) for n, way in enumerate(("forward", "forward", "reverse"))]
    )
    intervals = pd.DataFrame(
        CELL | {"replication": r, "flow": n, "start_s": at, "end_s": at + 1, "sent_mbps": 2.0 * r * (n + 1), "rtt_ms": 40.0 + n}
        for r in (1, 2) for n in range(3) for at in (0.0, 1.0)
    )  # fmt: skip
    runs = pd.DataFrame([CELL | {"replication": r, "valid": True} for r in (1, 2)])
    lines = lines_of(runs, flows, intervals).set_index(["series", "time_s"])["value"]
    assert lines["forward", 0.5] == pytest.approx((2 + 4 + 4 + 8) / 2) and lines["reverse", 1.5] == pytest.approx(
        (6 + 12) / 2
    )
    assert lines["rtt", 0.5] == 41
    only = lines_of(runs.assign(valid=[True, False]), flows, intervals).set_index(["series", "time_s"])
    assert only.loc[("forward", 0.5), "value"] == 6 and (only["n"] == 1).all()


def upload_lines(lengths_s, offsets_ms=(0.0,)):
    """Return the upload lines of scenarios whose flows send 2 Mbit/s for 4 s each, by scenario.

    ``lengths_s`` maps each scenario to the length of its report intervals; ``offsets_ms`` are the start times of a scenario's flows.
    """
    usual = [CELL | {"scenario": name, "replication": 1} for name in lengths_s]
    flows = [
        one | {"flow": number, "direction": "reverse", "start_offset_ms": offset_ms}
        for one in usual for number, offset_ms in enumerate(offsets_ms)
    ]  # fmt: skip
    intervals = [
        CELL | {"scenario": one["scenario"], "replication": 1, "flow": one["flow"], "start_s": at, "end_s": min(at + length_s, 4.0),
                "sent_mbps": 2.0, "rtt_ms": 40.0}
        for one in flows for length_s in [lengths_s[one["scenario"]]] for at in np.arange(0, 4, length_s)
    ]  # fmt: skip
    lines = lines_of(pd.DataFrame(usual).assign(valid=True), pd.DataFrame(flows), pd.DataFrame(intervals))
    return dict(iter(lines[lines["series"] == "reverse"].groupby("scenario")))


@pytest.mark.parametrize("lengths_s", [{"a": 0.5, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 0.5, "c": 0.5}])
def test_the_rate_doesnt_depend_on_the_interval_lengths_of_other_scenarios(lengths_s):
    for name, line in upload_lines(lengths_s).items():
        assert set(line["value"]) == {2.0} and len(line) == 4 / lengths_s[name]


def test_a_short_last_interval_doesnt_add_to_the_one_before_it():
    """The last 0.1 s of the second flow have the same time as the 1.3 s before them."""
    line = upload_lines({"a": 1.3}, offsets_ms=(0.0, 780.0))["a"]
    assert line["value"].tolist() == pytest.approx([2, 4, 4, 4])


def test_flows_that_begin_within_an_interval_have_a_rate_in_each():
    """The midpoints of consecutive intervals aren't rounded to the same time."""
    line = upload_lines({"a": 1.0}, offsets_ms=(500.0,))["a"]
    assert line["value"].tolist() == [2.0] * 4 and line["time_s"].tolist() == [1.0, 2.0, 3.0, 4.0]
