"""The topic on time series: its figures, its section, and its sentences."""

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from jinja2 import Template
from matplotlib.text import Text

import tidy_tables
from built_study import Built, only
from page_checks import PageParts
from run_tables.run_keys import RUN
from run_tables.tidy_tables import RUNS
from study_files import study as studies
from study_files.study import resolve
from study_files.study_design import StudyDesign
from topics.time_series.compare_flows import compare_flows
from topics.time_series.phases import phase_table
from topics.time_series.plot_windows import _draw_windows
from topics.time_series.sentences import window_findings
from topics.time_series.topic import MOST_CELLS, TOPIC, disturbed_scenarios, pictures, sampled_scenarios
from topics.time_series.window_data import first_valid, run_data, thinned, with_changes
from window_flows import identified, recorded


def test_thinned_line_loses_no_extreme_and_few_points_stay():
    time = np.arange(0, 60, 0.01)
    values = np.sin(time * 7) + 5
    values[1234], values[4321] = 50, -50
    chosen = thinned(time, values, 100)
    assert {0, 1234, 4321, len(time) - 1} <= set(chosen)
    assert len(chosen) <= 400
    assert (np.diff(chosen) > 0).all()


def test_thinned_constant_is_two_points_and_gaps_stay_gaps():
    time = np.arange(100.0)
    assert thinned(time, np.ones(100), 10).tolist() == [0, 99]
    values = np.where((time >= 40) & (time < 60), np.nan, 1.0)
    chosen = thinned(time, values, 10)
    assert np.isnan(values[chosen]).any()
    assert {0, 39, 60, 99} <= set(chosen)
    assert thinned([], [], 10).tolist() == []


@pytest.mark.parametrize(("counter", "times", "steps"), [([0, 2, 2, 5], [2, 4], [2, 3]), ([3, 3, 3, 3], [1], [3])])
def test_marks_are_where_a_counter_has_grown(counter, times, steps):
    queue = pd.DataFrame({"time_s": [1, 2, 3, 4], "packets": 3, "drops": counter, "delay_ms": 36.3})
    data = run_data(recorded("reno")[:0], queue, phase_table(pd.DataFrame()))
    drops = data[data["series"] == "drop"]
    assert (drops["time_s"].tolist(), drops["value"].tolist()) == (times, steps)


def test_data_of_a_run_has_what_the_samples_have():
    samples = recorded("reno")
    time = samples["time_s"]
    queue = pd.DataFrame({"time_s": time, "packets": 3, "drops": (time > 5).astype(int), "delay_ms": 36.3})
    data = run_data(samples, queue, phase_table(samples))
    cwnd = data[data["series"] == "cwnd"]
    assert (cwnd["value"].max(), cwnd["value"].min()) == (samples["cwnd_packets"].max(), samples["cwnd_packets"].min())
    assert len(cwnd) < len(samples) / 2
    assert data.loc[data["series"] == "retransmission", "value"].sum() == samples["retransmits"].max()
    assert data.loc[data["series"] == "drop", "time_s"].tolist() == [time[time > 5].min()]
    assert (data["series"] == "phase").sum() == len(phase_table(samples))
    assert not (data["series"] == "queue_packets").any()
    assert (run_data(samples, queue.assign(delay_ms=np.nan), phase_table(samples))["series"] == "queue_packets").any()


def test_few_cells_are_drawn_and_many_are_not():
    few = StudyDesign(tidy_tables.time_series_study()["provenance"]["study"])
    assert [picture.slug for picture in pictures(few)] == [f"windows-{cca}" for cca in few.ccas]
    assert few.ccas == ("reno", "cubic", "vegas", "bbr")
    many = StudyDesign(tidy_tables.mixes_study(1)["provenance"]["study"])
    assert len(sampled_scenarios(many)) * len(many.ccas) > MOST_CELLS
    assert pictures(many) == ()


def test_figure_has_a_panel_for_each_flow_and_names_its_phases(cwnd_study):
    root = ET.parse(cwnd_study.figure("windows-reno")).getroot()
    texts = {"".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Flow 1, reno", "Flow 2, reno", "Flow 3, reno", "All flows", "Round-trip time"} <= texts
    assert "Queue of the bottleneck" in texts
    assert {"slow start", "avoidance", "fast recovery", "retransmitted", "dropped"} <= texts
    assert "smoothed, ms; replication 1, every 10 ms" in texts
    assert cwnd_study.figure("windows-reno").stat().st_size < 300_000
    bbr = cwnd_study.figure("windows-bbr").read_text()
    assert all(f">{name}<" in bbr for name in ("Startup", "Drain", "ProbeBW", "ProbeRTT"))


@pytest.mark.parametrize("name", ["mine", "mine:reno"])
def test_losses_of_a_program_are_not_called_retransmissions(name):
    """Its log lists the packets that it declares lost, whether it has CCAs or not."""
    queue = pd.DataFrame({"time_s": [0.0, 9.0], "packets": 3, "drops": 0, "delay_ms": 36.3})
    samples = recorded("reno")
    lost = int(samples["retransmits"].max())
    data = pd.concat([samples.assign(flow=0, flow_cca=name), samples.assign(flow=1)])
    data = run_data(data, queue, phase_table(samples))
    figure, panels = _draw_windows(data, "a run", "replication 1", ["slow start"], [name])
    rows = [[label.get_text() for label in axes.get_yticklabels()][-1] for axes in figure.axes[:2]]
    assert rows == ["declared lost", "retransmitted"]
    assert f"{lost} packets declared lost" in panels[0].description
    assert "retransmitted" not in panels[0].description
    assert f"{lost} segments retransmitted" in panels[1].description
    assert "segments retransmitted, declared lost, or dropped" in words_of(figure)
    assert "segments retransmitted or dropped" in words_of(_draw_windows(data, "a run", "replication 1", [])[0])


def words_of(figure):
    """Return all texts of a figure."""
    return {text.get_text() for text in figure.findobj(Text)}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_the_caption_says_what_is_drawn_of_a_program(root, protocol):
    """Of several TCP connections, one; only a QUIC stack declares losses."""
    program = {"server": "s {port} {seconds}", "client": "c {server}", "protocol": protocol}
    traffic = {"duration_s": 10, "sample_interval_ms": 50}
    scenario = {"id": "a", "traffic": traffic, "flows": [{"name": "p", "program": "mine", "stop_s": 10}]}
    study = {"study": "s", "ccas": ["cubic"], "programs": {"mine": program}, "scenarios": [scenario]}
    (plot, *_) = TOPIC.figures(StudyDesign(resolve(study, "s.yaml")))
    caption = Template((root / "workflow/scripts/topics/time_series/captions/windows.rst").read_text())
    words = caption.render(snakemake=SimpleNamespace(params=SimpleNamespace(**plot.params, replications=1)))
    assert ("the connection that delivered the most data" in words) == (protocol == "tcp")
    assert ("losses in a program's log" in words) == (protocol == "udp")


def test_figure_is_the_same_twice(cwnd_study):
    figure = cwnd_study.figure("windows-cubic")
    before = figure.read_bytes()
    figure.unlink()
    cwnd_study.draw("windows-cubic")
    assert figure.read_bytes() == before


def test_section_says_what_was_put_in(cwnd_study):
    html = cwnd_study.page.read_text()
    parts = PageParts.of(cwnd_study.page)
    assert set(parts.targets) <= set(parts.ids)
    section = html.partition('<section id="time-series"')[2].partition("</section>")[0]
    assert "Replication 1 is the first valid run of 3 replications." in section
    assert section.count("<figure ") == 4
    assert "as theory" in section
    theory = pd.read_csv(cwnd_study.table("window_theory")).set_index(["cca", "quantity"])
    assert theory.loc[("reno", "left by a loss"), "mean"] == pytest.approx(0.5)
    assert theory.loc[("cubic", "left by a loss"), "mean"] == pytest.approx(0.7)
    assert theory.loc[("reno", "growth"), "mean"] == pytest.approx(1, abs=0.1)
    assert theory.loc[("vegas", "queued as believed"), "mean"] == pytest.approx(3)
    assert theory.loc[("bbr", "cwnd in ProbeRTT"), "mean"] == 4
    # From the end of one to the next: 10 s less the 0.3 s that it takes.
    assert theory.loc[("bbr", "time between ProbeRTTs"), "mean"] == pytest.approx(9.7)
    short = cwnd_study.report.read_text()
    assert re.search(r'<a href="#time-series">BBR</a> <span>BBR probes for the minimum RTT 9\.7 s', short)


def test_findings_name_n_and_interval(cwnd_study):
    tables = SimpleNamespace(
        **{name: pd.read_csv(cwnd_study.table(name)) for name in ("window_theory", "flow_outcomes")}
    )
    texts = {finding.topic: finding.text for finding in window_findings(tables, 0.95)}
    assert set(texts) == {"Vegas", "BBR", "Retransmitted"} | ({"Reno", "CUBIC"} & set(texts))
    assert "n = 3 runs, 9 flows" in texts["Vegas"]
    # In all runs of this study none was: one measurement has no interval.
    assert texts["Retransmitted"].startswith("Segments retransmitted by a run's flows under test: ")
    assert texts["Retransmitted"].endswith("BBR 0 (n = 3 runs each).")


def theory_rows(*rows):
    usual = {
        "runs": 2,
        "flows": 2,
        "ci_low": np.nan,
        "theory_low": np.nan,
        "theory_high": np.nan,
        "note": "several flows",
    }
    return SimpleNamespace(
        window_theory=pd.DataFrame([usual | dict(zip(("cca", "flow_cca", "quantity", "mean"), row, strict=True)) for row in rows]),
        flow_outcomes=pd.DataFrame(columns=["quantity"]),
    )  # fmt: skip


def test_findings_are_about_flows_with_the_ccas_name():
    """In runs of Reno, a group of CUBIC's flows has teeth, too."""
    teeth = [
        (cca, name, value)
        for cca, values in (("reno", (0.5, 3.0)), ("cubic", (0.7, 9.0)))
        for name, value in zip(("left by a loss", "time between losses"), values, strict=True)
    ]
    (finding,) = window_findings(theory_rows(*(("reno", *tooth) for tooth in teeth)), 0.95)
    assert finding.text.startswith("A loss leaves 0.500 of Reno's window, and the next loss comes after 3.00 s")


def test_findings_do_without_values_that_no_flow_has():
    (bbr,) = window_findings(theory_rows(("bbr", "bbr", "time between ProbeRTTs", 10.1)), 0.95)
    assert bbr.text.startswith("BBR probes for the minimum RTT 10.1 s after the previous probe; Linux's value is 10 s")
    rows = [("vegas", "vegas", name, 3.0) for name in ("queued as believed", "queued", "Diff")]
    tables = theory_rows(*rows)
    tables.window_theory["flows_as_theory"] = np.nan
    (vegas,) = window_findings(tables, 0.95)
    assert vegas.text.startswith("A Vegas flow keeps 3.0 packets in the queue")


def test_results_of_flows_are_those_of_the_flows_under_test():
    run = {"scenario": "s", "cca": "reno", "ip_version": "ipv4", "replication": 1}
    row = run | {
        "valid": True,
        "scenario_label": "S",
        "retransmits": 7,
        "rtt_mean_ms": 40.0,
        "throughput_per_stream_mbps": 2.0,
    }
    runs = tidy_tables.completed(pd.DataFrame([row]), RUNS)
    flows = pd.DataFrame(
        [
            run | {"group": name, "under_test": name == "own", "goodput_mbps": mbps}
            for name, mbps in (("own", 2.0), ("beside", 8.0))
        ]
    )
    table = compare_flows(runs, flows, 0.95).set_index("quantity")
    assert table.loc[["goodput", "goodput_most", "jain", "retransmits"], "mean"].tolist() == [2000, 2000, 1, 7]


@pytest.mark.parametrize(
    ("groups", "disturbed"),
    [
        ([{}], False),
        ([{"rate_mbps": 1}], True),
        ([{"on_s": 2, "off_s": 1}], True),
        ([{}, {"name": "call", "application": "real-time", "direction": "reverse"}], True),
    ],
)
def test_groups_that_theory_doesnt_know(groups, disturbed):
    flows = [{"name": "own", "stop_s": 10} | group for group in groups]
    scenario = {"id": "s", "link": {"rate_mbps": 10, "delay_ms": 10}, "flows": flows}
    made = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")
    assert (disturbed_scenarios(StudyDesign(made)) == ("s",)) == disturbed


@pytest.mark.slow
def test_study_of_mixes_has_tables_but_no_pictures(tmp_path):
    scenario = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(2,), rate_mbps=10).assign(
        sample_interval_ms=100
    )
    mixes = [f"{first}+{second}" for first in ("reno", "cubic", "bbr") for second in ("reno", "cubic", "vegas")]
    built = Built(tmp_path, topics=only("time_series")).build(
        tidy_tables.synthetic_study(scenario, mixes, ["ipv4"], replications=2)
    )
    html = built.page.read_text()
    assert 'id="window-theory"' in html
    assert "windows-" not in html
    theory = pd.read_csv(built.table("window_theory"))
    mixed = theory[(theory["cca"] == "reno+cubic") & (theory["quantity"] == "peak")]
    assert len(mixed) and mixed["theory_low"].isna().all()
    assert set(theory.loc[theory["cca"] == "reno+cubic", "flow_cca"]) == {"reno", "cubic"}


@pytest.mark.slow
def test_no_valid_run_gives_empty_tables_and_no_section(tmp_path):
    study = tidy_tables.time_series_study()
    study["runs"]["valid"] = False
    study["runs"]["invalid_because"] = "made up"
    study["checks"].loc[study["checks"].groupby(RUN).head(1).index, "ok"] = False
    built = Built(tmp_path).build(study)
    assert 'id="time-series"' not in built.page.read_text()
    assert pd.read_csv(built.table("phases")).empty


def test_unknown_columns_of_a_platform_are_no_error():
    samples = identified(pd.DataFrame({"time_s": [0.0, 1.0], "cwnd_packets": [10.0, 11.0]}), "reno")
    data = run_data(
        samples.assign(retransmits=np.nan),
        pd.DataFrame(columns=["time_s", "packets", "drops", "delay_ms"], dtype=float),
        phase_table(samples),
    )
    assert set(data["series"]) == {"cwnd", "phase"}


def changing_design(ccas, changing=True):
    """Return the design of a sampled study with a constant path and, if requested, one that changes."""
    timeline = [{"at_s": 4, "rate_mbps": 2}, {"at_s": 6, "down_for_s": 1}]
    scenarios = [{"id": "stays"}, {"id": "changes", "link": {"timeline": timeline}}][: 2 if changing else 1]
    config = {"study": "s", "ccas": ccas, "ip_versions": ["ipv4"], "scenarios": scenarios}
    config["defaults"] = {"link": {"rate_mbps": 1}, "traffic": {"sample_interval_ms": 50}}
    return StudyDesign(studies.resolve(config, "s.yaml"))


def test_paths_that_change_are_drawn_too_unless_that_made_too_many():
    drawn = [(picture.scenario, picture.cca) for picture in pictures(changing_design(["reno", "bbr"]))]
    assert drawn == [("stays", "reno"), ("stays", "bbr"), ("changes", "reno"), ("changes", "bbr")]
    five = ["reno", "cubic", "bbr", "vegas", "htcp"]
    assert [picture.scenario for picture in pictures(changing_design(five))] == ["stays"] * 5
    figures = {figure.params["scenario"]: figure for figure in TOPIC.figures_of(changing_design(["reno"]))}
    assert "changes" in figures["changes"].inputs and "changes" not in figures["stays"].inputs


def test_changes_stand_in_the_figure_and_its_data(tmp_path):
    samples = recorded("reno")
    queue = pd.DataFrame({"time_s": samples["time_s"], "packets": 3, "drops": 0, "delay_ms": 36.3})
    data = run_data(samples, queue, phase_table(samples))
    moments = [(4.0, "rate 2 Mbit/s"), (6.0, "down")]
    marked = with_changes(data, moments)
    changes = marked[marked["series"] == "change"]
    assert changes[["time_s", "value_text"]].values.tolist() == [list(moment) for moment in moments]
    assert (marked.dtypes == data.dtypes).all() and len(marked) == len(data) + 2
    figure, panels = _draw_windows(marked, "reno", "replication 1", ["slow start"])
    for axes in figure.axes:
        lines = [line for line in axes.collections if len(line.get_segments()) == 2]
        assert any([tuple(s[:, 0]) for s in line.get_segments()] == [(4.0, 4.0), (6.0, 6.0)] for line in lines)
    assert all("Changes: rate 2 Mbit/s at 4 s; down at 6 s." in panel.description for panel in panels)


def test_a_cell_without_a_valid_run_has_no_run_to_plot():
    runs = pd.DataFrame({"replication": [1, 2, 3], "valid": [False, True, True]})
    assert first_valid(runs) == 2
    assert first_valid(runs.assign(valid=False)) is None


@pytest.mark.parametrize("samples", [recorded("reno")[:0], recorded("reno")[:1].assign(time_s=0.0, rtt_ms=np.nan)])
def test_rtts_that_are_not_known_are_said(samples):
    """No sample at all, and one sample at the beginning, before any RTT was measured."""
    queue = pd.DataFrame({"time_s": [0.0], "packets": 0, "drops": 0, "delay_ms": 0.0})
    data = run_data(samples, queue, phase_table(pd.DataFrame()))
    _, panels = _draw_windows(data, "reno", "replication 1", [])
    (words,) = [panel.description for panel in panels if panel.description.startswith("Round-trip time")]
    assert words == "Round-trip time, smoothed, ms; replication 1: not known."
