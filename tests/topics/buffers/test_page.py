"""Figures and sections on buffers and platforms: their content, and studies in which something is missing."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

import drawn_figure
import tidy_tables
from built_study import Built, only
from drawn_figure import paths, words
from page_checks import PageParts, empty_tables, page_text
from run_tables.reading import read_table
from run_tables.scenario_table import SCENARIOS
from study_files.study_design import StudyDesign
from topics.buffers import section as buffers_section
from topics.buffers import topic as buffers
from topics.buffers.flow_panels import shown_by_platform
from topics.buffers.kato_table import KATO_PAPER, paper_row
from topics.buffers.plot_flow_bars import flow_ranks
from topics.platforms import section as platforms_section
from topics.platforms import topic as platforms
from topics.platforms.ns3_releases import changes_between
from wording.scenario_series import with_series

pytestmark = pytest.mark.slow

FLOWS, RATE = 16, 100


def small(platforms=("uml", "ns3:3.39", "ns3:3.44"), sizes=(10, 500), replications=2, sampled=True):
    """Return a study of a few buffers on a few platforms."""
    more = {"pairs": FLOWS, "duration_s": 20, "sample_interval_ms": 100 if sampled else None}
    return tidy_tables.buffers_study(
        tidy_tables.buffers(platforms, sizes, RATE, **more), ("bbr", "reno"), replications=replications
    )


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Return a function that builds a study in a separate folder, without the topics of other studies."""
    topics = only("buffers", "platforms")
    return lambda study: Built(tmp_path_factory.mktemp("study"), topics=topics).build(study)


@pytest.fixture(scope="module")
def one_platform_failed(build):
    """Three platforms, of which ns-3 3.39 has no valid run."""
    study = small()
    failed = study["runs"]["scenario"].str.startswith("ns3-3.39")
    study["runs"].loc[failed, ["valid", "invalid_because"]] = [False, "cca: something else"]
    checks = study["checks"]
    checks.loc[checks["scenario"].str.startswith("ns3-3.39") & (checks["check"] == "cca"), "ok"] = False
    return build(study)


@pytest.fixture(scope="module")
def linux_alone(build):
    """One platform, one replication."""
    return build(small(platforms=("uml",), replications=1, sampled=False))


def panel(built, slug, number=1):
    return drawn_figure.panel(built.figure(slug), number)


def flows_of(built, scenario):
    """Return BBR's flows in a scenario."""
    return pd.read_csv(built.table("flows")).query(f"scenario == '{scenario}' and cca == 'bbr'")


def test_bars_are_the_flows_from_the_highest_down(one_platform_failed):
    data = pd.read_csv(one_platform_failed.data("flow-goodput-bbr"))
    cell = data[data["scenario"] == "uml-10"]
    flows = flows_of(one_platform_failed, "uml-10")
    first = flows[flows["replication"] == 1]["goodput_mbps"].sort_values(ascending=False)
    assert cell["goodput_mbps"].tolist() == pytest.approx(first.tolist())
    ranked = flows.assign(rank=flows.groupby("replication")["goodput_mbps"].rank(ascending=False))
    assert cell["lowest_mbps"].tolist() == pytest.approx(ranked.groupby("rank")["goodput_mbps"].min().tolist())
    assert cell["highest_mbps"].tolist() == pytest.approx(ranked.groupby("rank")["goodput_mbps"].max().tolist())
    # In each of two slots a path of 16 rectangles, as high as the goodput: in points to the same scale.
    filled = paths(panel(one_platform_failed, "flow-goodput-bbr"), "fill: #eb53a7")
    bars = [numbers for numbers in filled if len(numbers) >= FLOWS * 8]
    assert len(bars) == 2
    ys = [numbers[1::2] for numbers in bars]
    heights = [max(ys[0]) - min(ys[0][start : start + 4]) for start in range(0, 4 * FLOWS, 4)]
    assert len(heights) == FLOWS and heights == sorted(heights, reverse=True)
    goodputs = cell["goodput_mbps"].to_numpy()
    assert heights[-1] / heights[0] == pytest.approx(goodputs[-1] / goodputs[0], abs=2e-3)


def test_boxes_hold_all_flows_of_all_replications(one_platform_failed):
    row = pd.read_csv(one_platform_failed.data("flow-boxes-bbr")).set_index("scenario").loc["uml-500"]
    values = flows_of(one_platform_failed, "uml-500")["goodput_mbps"]
    assert (row["flows"], row["replications"]) == (2 * FLOWS, 2)
    shown = row[["min_mbps", "median_mbps", "max_mbps", "mean_mbps"]].tolist()
    assert shown == pytest.approx([values.min(), values.median(), values.max(), values.mean()])


def test_platform_without_valid_runs_is_named_in_figures_and_page(one_platform_failed):
    assert words(panel(one_platform_failed, "flow-goodput-bbr", 2)).count("none valid") == 2
    assert words(panel(one_platform_failed, "flow-boxes-reno", 2)).count("none valid") == 2
    assert "no valid run" in words(panel(one_platform_failed, "pacing", 2))
    assert words(panel(one_platform_failed, "platform-flows", 1)).count("none valid") == 1
    text = page_text(one_platform_failed.page)
    assert "BBR on ns-3 3.39 has no valid run" in text
    assert "no valid run with a value on the second platform" in text
    assert empty_tables(one_platform_failed.page) == []
    assert not re.search(r"\b(nan|inf|NaT)\b", text)


def test_pacing_shows_the_highest_and_the_lowest_flow(one_platform_failed):
    data = pd.read_csv(one_platform_failed.data("pacing"))
    flows = flows_of(one_platform_failed, "uml-10").query("replication == 1").sort_values("goodput_mbps")["flow"]
    on_linux = data[data["platform"] == "uml"]
    assert on_linux[on_linux["which"] == "highest goodput"]["flow"].unique() == [flows.iloc[-1]]
    assert on_linux[on_linux["which"] == "lowest goodput"]["flow"].unique() == [flows.iloc[0]]
    assert on_linux["time_s"].max() <= 20
    assert f"highest: flow {flows.iloc[-1] + 1}" in words(panel(one_platform_failed, "pacing"))


def test_figures_are_small(one_platform_failed):
    for path in (one_platform_failed.folder / "figures").glob("*.svg"):
        assert path.stat().st_size < 300_000, path.name


def test_one_platform_has_no_section_on_platforms(linux_alone):
    parts = PageParts.of(linux_alone.page)
    assert "buffers" in parts.ids and "platforms" not in parts.ids
    assert not linux_alone.table("platforms").exists()
    assert "ns-3" not in page_text(linux_alone.page)
    assert not {"pacing.svg", "platform-flows.svg"} & {path.name for path in (linux_alone.folder / "figures").iterdir()}


def test_one_replication_has_no_intervals(linux_alone):
    cells = pd.read_csv(linux_alone.table("flow_goodput_cells"))
    assert cells["ci_low"].isna().all()
    text = page_text(linux_alone.page)
    assert "(n = 1)" in text and empty_tables(linux_alone.page) == []
    assert not re.search(r"\bnan\b", text)


def material(built, claims=None):
    """Return the material that the report gives to sections, for the built study."""
    tables = {table.name: read_table(built.table(table.name), table) for table in (SCENARIOS, *built.outline.tables)}
    study = built.study
    design = replace(built.outline.design, study=study | {"analysis": study["analysis"] | {"claims": claims}})
    return SimpleNamespace(tables=SimpleNamespace(**tables), design=design, params={}, figures={})


def test_the_papers_table_stands_beside_ours(one_platform_failed):
    rows = buffers_section.paper_table(material(one_platform_failed, KATO_PAPER))
    assert [row["source"] for row in rows] == ["ns-3 3.40, the paper", "Linux", "ns-3 3.39", "ns-3 3.44"] * 2
    assert [row["buffer"] for row in rows if row["buffer"]] == ["1 % of the BDP", "50 % of the BDP"]
    # Table II: 39.5, 31.0 and 632.0 Mbit/s of 1 Gbit/s.
    assert rows[0]["values"] == ["3.95", "3.10", "63.2", "0.62"]
    assert rows[2]["values"] == ["none"] * 4 and rows[2]["n"] == "0"
    runs = pd.read_csv(one_platform_failed.table("runs"))
    total = runs.query("scenario == 'uml-10' and cca == 'bbr'")["goodput_mbps"].mean()
    assert rows[1]["values"][2] == f"{100 * total / RATE:.1f}"


def test_the_papers_table_is_for_its_own_studies_only(one_platform_failed):
    assert buffers_section.paper_table(material(one_platform_failed)) is None
    assert paper_row(2.0) is None and paper_row(5.05)["total_percent"] == pytest.approx(57.48)


def test_findings_carry_numbers_and_n(one_platform_failed):
    findings = platforms_section.findings(material(one_platform_failed))
    assert any("Reno: ns-3 3.44 agrees with Linux" in finding.text for finding in findings)
    assert {finding.section for finding in findings} == {"platforms"}
    texts = [finding.text for finding in buffers_section.findings(material(one_platform_failed))]
    assert len(texts) == 3
    buffer = r"BBR on Linux, 16 flows: with a buffer of 10 packets \(1 % of the BDP\)"
    assert re.search(rf"{buffer}, its flows together get [\d.]+ % of the link", texts[0])


def test_steps_go_through_the_releases_in_order(one_platform_failed):
    steps = platforms_section.step_rows(material(one_platform_failed).tables.platforms)
    assert [step["step"] for step in steps] == ["ns-3 3.39 to 3.44"]
    assert [change.split(":")[0] for change in steps[0]["changes"]] == ["3.40", "3.41", "3.42", "3.43", "3.44"]
    assert changes_between((3, 42), (3, 43))[0].startswith("3.43: BBR: the lowest RTT")


def test_the_release_that_made_a_difference_is_named():
    quiet = {"text": "+0.10 % (-1 to +1): agree", "style": "verdict alike"}
    loud = {"text": "+0.35 (+0.28 to +0.41): differ", "style": "verdict differs"}
    steps = [
        {"step": "ns-3 3.39 to 3.42", "buffer": "10 packets", "rows": [{"cca": "BBR", "cells": [quiet, quiet]}]},
        {"step": "ns-3 3.42 to 3.43", "buffer": "10 packets", "rows": [{"cca": "BBR", "cells": [quiet, loud]}]},
    ]
    assert platforms_section.steps_sentence(steps) == (
        "Release by release, with a buffer of 10 packets: ns-3 3.42 to 3.43 changes BBR in Jain's index +0.35 "
        "(+0.28 to +0.41); no difference beyond the tolerance is shown from ns-3 3.39 to 3.42."
    )
    assert platforms_section.steps_sentence(steps[:1]) is None


def test_bars_by_platform_take_the_buffer_that_most_platforms_have():
    study = small(platforms=("ns3:3.44", "uml"), sizes=(10, 500))
    more = small(platforms=("ns3:3.42",), sizes=(500,))["scenarios"]
    here, order = shown_by_platform(with_series(pd.concat([study["scenarios"], more], ignore_index=True)))
    assert set(here["buffer"]) == {"500 packets"} and order == ["uml", "ns3:3.42", "ns3:3.44"]
    here, _ = shown_by_platform(with_series(study["scenarios"]))
    assert set(here["buffer"]) == {"10 packets"}


def test_ranks_leave_invalid_runs_out():
    study = small(platforms=("uml",), sizes=(10, 500))
    study["runs"].loc[study["runs"]["replication"] == 1, "valid"] = False
    ranks = flow_ranks(study["flows"], study["runs"][study["runs"]["valid"]], with_series(study["scenarios"]))
    assert set(ranks["replication"]) == {2} and (ranks["replications"] == 1).all()


LARGER = {"queue": {"packets": 500}}
SIMULATED = {"platform": "ns3:3.44", "transport": {"recovery": "classic"}}


def design(**more):
    """Return the design of a study of two scenarios, with changes."""
    scenario = {
        "platform": "uml",
        "topology": "dumbbell",
        "flows": FLOWS,
        "queue": {"packets": 10},
        "transport": {"recovery": "prr"},
    }
    scenarios = [{**scenario, "id": "a"}, {**scenario, "id": "b", **more.pop("other", LARGER)}]
    return StudyDesign({"ccas": ["bbr"], "ip_versions": ["ipv4"], "scenarios": scenarios} | more)


@pytest.mark.parametrize(
    ("more", "on_buffers", "on_platforms"),
    [
        ({}, True, False),
        ({"other": LARGER | {"link": {"rate_mbps": 10}}}, False, False),
        ({"other": LARGER | {"flows": 1}}, False, False),
        ({"ccas": ["bbr+reno"]}, False, False),
        ({"other": SIMULATED}, False, True),
        # No two platforms have the same buffer, so that nothing of them is compared.
        ({"other": SIMULATED | LARGER}, True, False),
    ],
)
def test_which_studies_have_the_topics(more, on_buffers, on_platforms):
    assert buffers.TOPIC.applies(design(**more)) is on_buffers
    assert platforms.TOPIC.applies(design(**more)) is on_platforms


def test_without_buffers_platforms_have_their_table_and_one_figure():
    of = design(other={"platform": "ns3:3.44"})
    assert [figure.slug for figure in platforms.TOPIC.figures_of(of)] == ["platform-differences"]
