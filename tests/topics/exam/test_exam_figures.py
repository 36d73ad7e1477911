"""The figures of an exam, on values with known truth."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from figure_parts.captions import render_caption
from figure_parts.figure_svg import save_svg
from figure_parts.scenario_panels import NOTHING
from figure_parts.tooltips import tooltip_attributes
from report_parts.inline_figures import inline_panels
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.exam import plot_cases, plot_throughput_delay
from topics.exam.plot_cases import POINTS, thinned
from topics.exam.plot_exam_shares import PANELS, plot_exam_shares, shares
from topics.outline import figure_params, study_outline

SCENARIOS = pd.DataFrame([{"scenario": "solo", "label": "alone"}])


def test_shares_are_means_over_valid_runs():
    rows = [
        ("5.2.1-before-reno", "mine", replication, valid, group, cca, goodput)
        for replication, valid, own in ((1, True, 15.0), (2, True, 5.0), (3, False, 0.0))
        for group, cca, goodput in (("own", "mine", own), ("other", "reno", 20.0 - own))
    ]
    rows.append(("5.2.1-solo", "mine", 1, True, "", "mine", 19.0))
    names = ["scenario", "cca", "replication", "valid", "group", "flow_cca", "goodput_lifetime_mbps"]
    (cell,) = shares(pd.DataFrame(rows, columns=names).assign(ip_version="ipv4")).to_dict("records")
    assert (cell["scenario"], cell["row_cca"], cell["column_cca"], cell["runs"]) == ("before", "mine", "reno", 2)
    assert cell["value"] == pytest.approx(0.5)


def test_flows_of_one_path_are_side_by_side_and_others_near_or_far():
    """A scenario's name states which flow's RTT is shorter, or the RTT of both."""
    rows = [
        (scenario, "mine", 1, True, group, cca, 10.0, rtt_ms)
        for scenario, rtts_ms in (
            ("5.2.1-beside-reno", (40, 40)),
            ("5.2.1-near-cubic", (6, 6)),
            ("5.2.1-near-reno", (40, 160)),
        )
        for group, cca, rtt_ms in zip(("own", "other"), ("mine", scenario.rpartition("-")[2]), rtts_ms, strict=True)
    ]
    names = ["scenario", "cca", "replication", "valid", "group", "flow_cca", "goodput_lifetime_mbps", "rtt_path_ms"]
    flows = pd.DataFrame(rows, columns=names).assign(ip_version="ipv4")
    cells = shares(flows)
    assert list(zip(cells["scenario"], cells["column_cca"], strict=True)) == [
        ("beside", "reno"),
        ("beside", "cubic"),
        ("near", "reno"),
    ]
    assert {"Both begin simultaneously", "The row's RTT is a quarter"} == {
        text.get_text()
        for text in plot_exam_shares(flows).figure.findobj(Text)
        if text.get_weight() == "bold" and text.get_text() in {title for title, _ in PANELS.values()}
    }


def test_lines_are_thinned():
    """The mean of each hundredth of a line, or its largest value."""
    times = pd.Series(np.arange(0, 10, 0.01))
    means, largest = thinned(times, times, "mean"), thinned(times, times, "max")
    assert len(means) == POINTS and means["value"].to_numpy() == pytest.approx(means["time_s"].to_numpy(), abs=0.02)
    assert (largest["value"] > means["value"]).all()


def test_runs_and_means_in_the_delay_plane_are_told():
    runs = [("solo", "mine", "ipv4", 1, 12.0, 90.0), ("solo", "mine", "ipv4", 2, 16.0, 96.0)]
    names = ["scenario", "cca", "ip_version", "replication", "queueing_p95_ms", "utilisation_percent"]
    figure = plot_throughput_delay._draw(pd.DataFrame(runs, columns=names), SCENARIOS).figure
    dots, mean = tooltip_attributes(figure).values()
    assert dots["data-told"].split("|") == ["replication 1: 90.0 % at 12.0 ms", "replication 2: 96.0 % at 16.0 ms"]
    assert mean == {"data-name": "solo, mine, IPv4", "data-told": "mean 93.0 % at 14.0 ms, n = 2"}


@pytest.mark.parametrize("draw", ["throughput and delay", "shares", "cases"])
def test_figures_without_a_value_say_so(draw, tmp_path):
    """No case has both goodput and delay, or no run is valid."""
    names = ["scenario", "cca", "ip_version", "replication", "measure", "value"]
    values = pd.DataFrame([("solo", "mine", "ipv4", 1, "recovery_s", 2.0)], columns=names)
    pairs = ["scenario", "cca", "ip_version", "replication", "valid", "group", "flow_cca", "goodput_lifetime_mbps"]
    drawing = {
        "throughput and delay": lambda: plot_throughput_delay.plot_throughput_delay(values, SCENARIOS),
        "shares": lambda: plot_exam_shares(pd.DataFrame(columns=pairs).astype({"valid": bool, "scenario": str})),
        "cases": lambda: plot_cases._draw(pd.DataFrame(columns=plot_cases.DATA), SCENARIOS, "mine", []).drawing(
            "", None
        ),
    }[draw]()
    save_svg(drawing.figure, tmp_path / "figure.svg", drawing.title, drawing.panels)
    (panel,), columns = inline_panels(tmp_path / "figure.svg", "figure")
    assert columns == 1 and panel.count(NOTHING) == 2


def test_lines_of_cases_are_told_by_run_and_flow():
    lines = [(1, "cwnd", 0, "mine", 0.0, 10.0), (1, "cwnd", 0, "mine", 1.0, 20.0), (1, "queueing", -1, "", 0.0, 3.0)]
    lines.append((1, "queueing", -1, "", 1.0, 2.0))
    data = pd.DataFrame(lines, columns=plot_cases.DATA[2:]).assign(scenario="solo", ip_version="ipv4")
    figure = plot_cases._draw(data, SCENARIOS, "mine", ["ipv4"]).figure
    attributes = list(tooltip_attributes(figure).values())
    assert [one["data-name"] for one in attributes] == [
        "solo, replication 1: flow 1, mine",
        "solo, replication 1: bottleneck",
    ]
    assert [one["data-y"].rpartition("|")[2] for one in attributes] == ["packets", "ms"]


def test_beside_a_program_goodput_is_drawn():
    """A program has no window, so its flow and the kernel's are drawn in the unit that both have."""
    times = np.arange(0, 10, 0.1)
    flows = {(0, "reno"): (10.0, 4e6), (1, "mine:cubic"): (np.nan, 1e6)}
    rows = [
        pd.DataFrame({"flow": flow, "flow_cca": cca, "path": np.nan, "time_s": times, "cwnd_packets": cwnd, "bytes_acked": rate / 8 * times})
        for (flow, cca), (cwnd, rate) in flows.items()
    ]  # fmt: skip
    queue = pd.DataFrame({"time_s": times, "delay_ms": 5.0})
    means = plot_cases.lines_of(pd.concat(rows), queue).groupby(["series", "flow"])["value"].mean()
    assert means.to_dict() == pytest.approx({("goodput", 0): 4, ("goodput", 1): 1, ("queueing", -1): 5})
    alone = plot_cases.lines_of(rows[0], queue)
    assert set(alone["series"]) == {"cwnd", "queueing"}


def test_a_case_is_one_run_whose_ip_version_is_named(monkeypatch):
    """In an exam, the replications' IP versions alternate."""
    names = ["scenario", "cca", "ip_version", "replication", "valid"]
    runs = [
        ("solo", "mine", "ipv4", 1, False),
        ("solo", "mine", "ipv6", 2, True),
        ("solo", "mine", "ipv4", 3, True),
        ("other", "mine", "ipv4", 1, True),
    ]
    samples = pd.DataFrame(
        {
            "flow": 0,
            "flow_cca": "mine",
            "path": np.nan,
            "time_s": [0.0, 1.0, 2.0],
            "cwnd_packets": 10.0,
            "bytes_acked": 1.0,
        }
    )
    queue = pd.DataFrame({"time_s": [0.0, 2.0], "delay_ms": 5.0})
    monkeypatch.setattr(
        plot_cases,
        "series_of_runs",
        lambda path, columns, wanted: [(key, {"sockets": samples, "queue": queue}[path]) for key in sorted(wanted)],
    )
    data = plot_cases.figure_data(pd.DataFrame(runs, columns=names), "sockets", "queue", "mine")
    drawn = {tuple(row) for row in data[["scenario", "ip_version", "replication"]].to_numpy()}
    assert drawn == {("solo", "ipv6", 2), ("other", "ipv4", 1)}
    scenarios = pd.DataFrame([{"scenario": name, "label": name} for name in ("solo", "other")])
    described = [panel.description for panel in plot_cases._draw(data, scenarios, "mine", ["ipv4", "ipv6"]).panels]
    assert [words.partition(":")[0] for words in described] == [
        f"{case}, {what}"
        for case, version in (("solo", "IPv6"), ("other", "IPv4"))
        for what in (f"{version}, cwnd, packets", f"{version}, queueing delay, ms")
    ]


def test_shares_are_means_over_both_ip_versions():
    rows = [
        ("5.2.1-beside-reno", "mine", version, replication, True, group, cca, goodput, 40)
        for replication, (version, own) in enumerate((("ipv4", 15.0), ("ipv6", 5.0)), 1)
        for group, cca, goodput in (("own", "mine", own), ("other", "reno", 20.0 - own))
    ]
    names = [
        "scenario",
        "cca",
        "ip_version",
        "replication",
        "valid",
        "group",
        "flow_cca",
        "goodput_lifetime_mbps",
        "rtt_path_ms",
    ]
    drawing = plot_exam_shares(pd.DataFrame(rows, columns=names))
    (cell,) = drawing.data.to_dict("records")
    assert (cell["value"], cell["runs"], len(drawing.panels)) == (0.5, 2, 1)


@pytest.mark.parametrize("ip_versions", [["ipv4"], ["ipv4", "ipv6"]])
def test_the_caption_says_if_shares_are_means_over_both_ip_versions(root, ip_versions):
    """Also if the IP versions of the exam's replications alternate."""
    path = root / "config/studies/exam-quick.yaml"
    study = studies.resolve(studies.load(path) | {"ip_versions": ip_versions}, str(path))
    design = StudyDesign(study | {"exam": study["exam"] | {"cca": "cubic"}})
    figure = next(figure for figure in study_outline(design).figures if figure.slug == "exam-shares")
    params = figure_params(figure, design, {"confidence": 0.95, "significance": 0.05})
    assert ("over both IP versions" in render_caption(root / figure.caption_path, params)) == (len(ip_versions) > 1)
