"""The page on which readers explore the runs: a selection applies to all of it, and a mark leads to its run."""

import base64
import gzip
import json
import re

import pandas as pd
import pytest

import tidy_tables
from figure_parts import figure_style
from page_checks import OVERFLOWING
from report_page.run_series import MOST_POINTS, MOST_VALUES, series_of
from report_page.topology_drawing import topology_drawing
from report_page.write_explorer import packed, page_data
from rule_files import ROOT
from run_tables.run_keys import RUN


@pytest.fixture(scope="module")
def explorer(small):
    return small.write_explorer()


def data_of(page):
    (text,) = re.findall(r'data-gzip="([^"]+)"', page.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_its_values_are_those_of_the_table(explorer, small):
    runs, data = pd.read_csv(small.table("runs")), data_of(explorer)
    assert [one["column"] for one in data["measures"]][:2] == ["rtt_mean_ms", "goodput_mbps"]
    for column, values in data["runs"]["values"].items():
        shown = pd.Series(values, dtype=float)
        assert shown.isna().equals(runs[column].isna())
        assert ((shown - runs[column]).abs() <= 1e-6 * runs[column].abs()).where(shown.notna(), True).all()
    assert [data["ccas"][place]["key"] for place in data["runs"]["cca"]] == list(runs["cca"])


def test_it_loads_nothing_and_has_networks_and_means_without_scripts(explorer):
    html = explorer.read_text(encoding="utf-8")
    assert not re.search(r'(src|srcset)="|url\(|@import', html)
    assert html.count('<svg class="topology"') == 2
    assert html.count('<tr><th scope="row">') == 8


def test_what_is_chosen_holds_for_charts_and_table_and_stands_in_the_address(explorer, visit):
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    whole = page.locator("#scatter .mark").count()
    assert whole == page.locator("#strips .mark").count() == 16
    page.locator("#choose-cca label", has_text="CUBIC").locator("input").uncheck()
    assert page.locator("#scatter .mark").count() == page.locator("#strips .mark").count() == 8
    assert page.locator("#shown tbody td", has_text="CUBIC").count() == 0
    page.select_option("#y", label="retransmit_percent, %")
    page.locator("#log-x").check()
    assert "cca=reno" in page.url and "y=retransmit_percent" in page.url and "logx=1" in page.url
    again = visit(explorer)
    again.goto(page.url)
    again.reload()
    again.wait_for_selector("#asked:not([hidden])")
    assert again.locator("#scatter .mark").count() == 8
    assert again.locator("#log-x").is_checked()
    assert page.problems == []


def test_a_mark_leads_to_its_run_and_the_command_that_repeats_it(explorer, small, visit):
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    mark = page.locator("#strips .mark").last
    mark.focus()
    page.keyboard.press("Enter")
    run = pd.read_csv(small.table("runs")).iloc[-1]
    text = page.inner_text("#run")
    path = f"runs/{run['scenario']}/{run['cca']}/{run['ip_version']}/{run['replication']}.json.gz"
    assert f"--force results/synthetic/{path}" in text and f"Seed {run['seed']}" in text
    assert "checks passed" in text
    assert f"make packets RUN=results/synthetic/{path}" in text


def test_a_part_of_the_scatter_fills_it_and_all_comes_back(explorer, visit):
    page = visit(explorer, 1400, 900)
    page.wait_for_selector("#asked:not([hidden])")
    box = page.locator("#scatter svg").bounding_box()
    before = page.locator("#scatter .mark").count()
    page.mouse.move(box["x"] + 0.55 * box["width"], box["y"] + 0.06 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 0.8 * box["height"])
    page.mouse.up()
    assert page.locator("#scatter .mark").count() < before
    page.click("#whole")
    assert page.locator("#scatter .mark").count() == before


def test_means_and_intervals_are_those_of_the_one_estimator(explorer, small, visit):
    descriptive = pd.read_csv(small.table("descriptive")).set_index(["scenario", "cca", "ip_version", "metric"])
    cells = data_of(explorer)["cells"]
    assert len(cells) == descriptive.index.droplevel("metric").nunique()
    for cell in cells:
        row = descriptive.loc[(*cell["key"], "goodput_mbps")]
        mean, low, high, note = cell["values"]["goodput_mbps"]
        assert mean == pytest.approx(row["mean"], rel=1e-6)
        assert (low is None) == pd.isna(row["ci_low"]) == bool(note)
        assert low is None or [low, high] == pytest.approx([row["ci_low"], row["ci_high"]], rel=1e-6)
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    assert page.locator("#shown tbody tr").count() == len(cells)
    assert "an interval needs 6" in page.inner_text("#shown caption")


def test_the_checks_of_a_run_are_listed_and_those_that_failed_come_first(small):
    runs, scenarios = pd.read_csv(small.table("runs")), pd.read_csv(small.table("scenarios"))
    key = dict(zip(RUN, runs.iloc[3][RUN], strict=True))
    checks = pd.DataFrame([key | {"check": name, "ok": name != "delay", "expected": "10 ms", "observed": name} for name in ("rate", "delay")])  # fmt: skip
    found = page_data(runs, scenarios, checks, "s", 0.95)["checks"]
    assert [len(rows) for rows in found["runs"]] == [2 * (place == 3) for place in range(len(runs))]
    assert [found["texts"][text] for text in found["runs"][3][1][:1] + found["runs"][3][1][2:]] == [
        "delay",
        "10 ms",
        "delay",
    ]
    many = pd.concat([checks] * 40_000)
    assert page_data(runs, scenarios, many, "s", 0.95)["checks"] is None


def flows_of(runs, values, number=1):
    """Return rows of flows.csv: `number` flows for each run; the callable `values` returns the columns other than the keys."""
    usual = {"direction": "forward", "start_offset_ms": 0.0}
    rows = [
        {name: run[name] for name in RUN} | usual | {"flow": flow} | values(run | {"flow": flow})
        for run in runs.to_dict("records")
        for flow in range(number)
    ]
    return pd.DataFrame(rows)


def test_flows_of_other_groups_have_their_own_lines_at_their_own_times():
    keys = {"scenario": "s", "cca": "cubic", "ip_version": "ipv4", "replication": 1}
    runs = pd.DataFrame([keys | {"valid": True, "flows": 4}])
    # Two flows of the CCA under test, of which the second starts 2 s later, one of BBR, and one in the opposite direction.
    groups = (
        {}, {"start_offset_ms": 2003.0}, {"flow_cca": "bbr"}, {"direction": "reverse"},
    )  # fmt: skip
    flows = flows_of(runs, lambda run: {"flow_cca": "cubic"} | groups[run["flow"]], 4)
    late = [0.0, 0.0004, 0.0007, 0.0]
    rows = [
        keys | {"flow": flow, "start_s": second + late[flow] * (second > 0), "end_s": second + 1 + late[flow], "sent_mbps": 10.0 ** flow}
        for flow in range(4) for second in range(3)
    ]  # fmt: skip
    absent = dict.fromkeys(("retransmits", "rtt_ms", "cwnd_bytes"), float("nan"))
    lines = series_of(runs, flows, intervals=pd.DataFrame(rows).assign(**absent))
    words = "Data sent by the applications, sum of the "
    assert [(line["words"].removeprefix(words), line["cca"], line["t"], line["v"]) for line in lines] == [
        ("flows", "", [1, 2, 3, 4, 5], [1, 1, 11, 10, 10]),
        ("flows", "bbr", [1, 2, 3], [100] * 3),
        ("reverse flows", "", [1, 2, 3], [1000] * 3),
    ]


def test_no_text_of_a_network_is_longer_than_its_place():
    (row,) = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(1,)).to_dict("records")
    drawing = str(
        topology_drawing(row | {"groups": "own, web, call, long bbr, up (reverse)", "link_options": "x" * 200})
    )
    texts = re.findall(r"<text[^>]*>([^<]*)<", drawing)
    assert "5 groups of flows" in texts and max(map(len, texts)) <= 92
    assert "own, web" in topology_drawing(row | {"groups": "own, web"})


def test_every_marker_of_the_figures_has_an_outline():
    script = (ROOT / "report/explore/explore.js").read_text()
    markers = {
        *(marker for _, marker in figure_style.CCA_STYLE.values()),
        *figure_style.OWN_MARKERS,
        figure_style.OTHER_STYLE[1],
    }
    drawn = {marker for marker in markers if f'marker === "{marker}"' in script or f"\n  {marker}: [[" in script}
    assert markers - drawn == {figure_style.CIRCLE}


def test_lines_over_time_are_sums_and_means_of_flows_and_only_of_what_a_cca_has():
    keys = {"scenario": "s", "ip_version": "ipv4"}
    runs = pd.DataFrame(
        [keys | {"cca": cca, "replication": n, "valid": n == 2, "flows": 2} for cca in ("reno", "bbr") for n in (1, 2)]
    )
    rows = [
        keys | {"cca": cca, "flow_cca": cca, "replication": n, "flow": flow, "time_s": time / 100, "cwnd_packets": 10 * flow + time, "rtt_ms": 20.0}
        | {"ssthresh_packets": 5.0 if cca == "reno" else float("nan"), "pacing_mbps": 3.0, "delivery_mbps": float("nan")}
        for cca in ("reno", "bbr") for n in (1, 2) for flow in (0, 1) for time in range(1000)
    ]  # fmt: skip
    flows = flows_of(runs, lambda run: {"flow_cca": run["cca"]}, 2)
    lines = series_of(runs, flows, sockets=pd.DataFrame(rows))
    by = {(line["run"], line["unit"], line["words"].split(",")[0]): line for line in lines}
    assert {run for run, *_ in by} == {1, 3}  # the first valid ones
    assert (1, "segments", "Slow start threshold") in by and (3, "segments", "Slow start threshold") not in by
    cwnd = by[1, "segments", "Congestion window"]
    assert len(cwnd["t"]) <= MOST_POINTS and cwnd["v"][:2] == [5.0, 5.0 + 3] and cwnd["t"][1] == 0.03
    assert set(by[3, "Mbit/s", "Pacing rate"]["v"]) == {6.0}
    assert not any("Delivery" in line["words"] for line in lines)


def test_lines_of_some_sampled_flows_say_how_many():
    keys = {"scenario": "s", "ip_version": "ipv4", "cca": "reno", "replication": 1}
    runs = pd.DataFrame([keys | {"valid": True, "flows": 5000}])
    rows = [
        keys | {"flow_cca": "reno", "flow": flow, "time_s": time / 10, "pacing_mbps": 1.0}
        for flow in (7, 900)
        for time in range(50)
    ]
    absent = dict.fromkeys(("cwnd_packets", "ssthresh_packets", "rtt_ms", "delivery_mbps"), float("nan"))
    flows = flows_of(runs, lambda run: {"flow_cca": "reno"}, 5000)
    (line,) = series_of(runs, flows, sockets=pd.DataFrame(rows).assign(**absent))
    assert line["words"] == "Pacing rate, sum of the 2 sampled flows"


@pytest.mark.slow
def test_lines_of_many_cells_fit_into_the_page():
    runs = pd.DataFrame({"scenario": "s", "cca": [f"c{n}" for n in range(2000)], "ip_version": "ipv4", "replication": 1, "valid": True, "flows": 1})  # fmt: skip
    rows = runs.loc[runs.index.repeat(40)].assign(time_s=list(range(40)) * 2000, packets=1.0, delay_ms=1.0)
    lines = series_of(runs, flows_of(runs, lambda run: {"flow_cca": "x"}), queue=rows.assign(bottleneck=1))
    assert 3000 < len(lines) < 2 * 2000 and sum(2 * len(line["t"]) for line in lines) <= MOST_VALUES


def test_lines_are_drawn_for_what_is_chosen(explorer, visit):
    page = visit(explorer)
    page.wait_for_selector("#asked:not([hidden])")
    page.wait_for_selector("#over-time:not([hidden])")
    assert page.locator("#lines .line").count() == 4  # two CCAs, two IP versions
    page.locator("#choose-cca label", has_text="CUBIC").locator("input").uncheck()
    assert page.locator("#lines .line").count() == 2
    page.select_option("#series", index=1)
    assert "series=Retransmitted" in page.url
    page.locator("#lines .line").first.focus()
    page.keyboard.press("Enter")
    assert "Seed" in page.inner_text("#run") and "Its" in page.inner_text("#run details summary")
    assert page.problems == []


@pytest.mark.parametrize("width", [400, 1400, 2560])
def test_nothing_is_too_wide(explorer, visit, width):
    page = visit(explorer, width, 900)
    page.wait_for_selector("#asked:not([hidden])")
    assert page.evaluate(OVERFLOWING) == []


def test_a_run_under_a_real_clock_is_not_said_to_have_the_same_bytes(small):
    runs, scenarios = (pd.read_csv(small.table(name)) for name in ("runs", "scenarios"))
    scenarios["platform"] = ["uml", "host"]
    data = page_data(runs, scenarios, pd.DataFrame(), "s", 0.95)
    assert [one["repeatable"] for one in data["scenarios"]] == [True, False]


def test_many_runs_fit_into_the_page(small):
    runs = pd.read_csv(small.table("runs"), keep_default_na=False, na_values=[""])
    many = pd.concat([runs] * (14_400 // len(runs)), ignore_index=True)
    many["goodput_mbps"] *= 1 + many.index / 1e6  # what repeats is packed too well
    scenarios = pd.read_csv(small.table("scenarios"))
    data = page_data(many, scenarios, pd.DataFrame(), "s", 0.95)
    assert len(data["runs"]["seed"]) == len(many) > 14_000
    assert len(packed(data)) < 4_000_000
