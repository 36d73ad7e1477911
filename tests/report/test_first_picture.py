"""The picture that opens the report: a figure of a topic, or tiles of goodput and delay by scenario and CCA."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from report_page.conditions import folded_conditions
from report_page.first_picture import first_picture, tile_tables
from study_files.study import load, resolve
from study_files.study_design import StudyDesign
from topics.outline import study_outline

pytestmark = pytest.mark.slow

RATES = {"slow": 10.0, "policed": 100.0}


@pytest.fixture
def tables():
    """Runs of two CCAs in two scenarios, one with a policer at a tenth of the rate; one run is excluded."""
    rows = [
        (scenario, cca, valid, RATES[scenario], goodput, 20 + delay)
        for scenario, cca, valid, goodput, delay in (
            ("slow", "reno", True, 9.0, 30), ("slow", "reno", True, 8.0, 10), ("slow", "cubic", True, 5.0, 5),
            ("slow", "cubic", False, 0.1, 900), ("policed", "reno", True, 2.5, 0.4),
        )
    ]  # fmt: skip
    columns = ["scenario", "cca", "valid", "rate_mbps", "goodput_mbps", "rtt_mean_ms"]
    runs = pd.DataFrame(rows, columns=columns).assign(rtt_path_ms=20.0, queueing_mean_ms=None)
    # What passes is 10 Mbit/s in both.
    runs = runs.assign(ideal_percent=10 * runs["goodput_mbps"], rtt_above_ms=runs["rtt_mean_ms"] - runs["rtt_path_ms"])
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(0, 1), flows=(1,))
    scenarios = scenarios.assign(scenario=list(RATES), label=["10 Mbit/s", "100 Mbit/s"], rate_mbps=RATES.values())
    return runs, scenarios


def test_tiles_are_means_of_valid_runs_against_the_rate_that_passes(tables):
    goodput, delay = tile_tables(*tables)
    assert goodput["ccas"] == ["reno", "cubic"]
    assert [row["label"] for row in goodput["rows"]] == ["10 Mbit/s", "100 Mbit/s"]
    assert [row["detail"] for row in goodput["rows"]] == ["no loss", "1 % loss"]
    assert [[text for text, _ in row["tiles"]] for row in goodput["rows"]] == [["85", "50"], ["25", "–"]]
    assert [[text for text, _ in row["tiles"]] for row in delay["rows"]] == [["20", "5.0"], ["0.40", "–"]]


def test_the_more_the_farther_from_the_paper(tables):
    for table in tile_tables(*tables):
        tiles = [(float(text), step) for row in table["rows"] for text, step in row["tiles"] if step]
        assert [step for _, step in sorted(tiles)] == sorted(step for _, step in tiles)
        assert all(1 <= step <= 7 for _, step in tiles)


def test_next_to_nothing_is_not_none(tables):
    runs, *rest = tables
    goodput, _ = tile_tables(runs.assign(ideal_percent=runs["ideal_percent"] / 100), *rest)
    assert [[text for text, _ in row["tiles"]] for row in goodput["rows"]] == [["0.9", "0.5"], ["0.2", "–"]]
    tiny, _ = tile_tables(runs.assign(ideal_percent=runs["ideal_percent"] / 2000), *rest)
    assert [[text for text, _ in row["tiles"]] for row in tiny["rows"]] == [["0.04", "0.03"], ["0.01", "–"]]
    delays = runs.assign(rtt_above_ms=runs["rtt_above_ms"] / 5000)
    assert tile_tables(delays, *rest)[1]["rows"][1]["tiles"][0] == ("<0.01", 1)


def test_nothing_to_compare_makes_no_tiles(tables):
    runs, *rest = tables
    assert tile_tables(runs.assign(valid=False), *rest) == []


def test_what_all_scenarios_have_stands_once():
    rows = [
        {"rate": "10", "delay": delay, "jitter": "0", "loss": "0", "queue": "30", "flows": "1", "duration": "1 s",
         "platform": "uml", "besides": ["offload off", *more], "details": "; ".join(["offload off", *more])}
        for delay, more in (("5", []), ("9", ["ECN classic"]))
    ]  # fmt: skip
    folded = folded_conditions(rows)
    assert folded["columns"] == [("delay", "One-way delay")] and "offload off" in folded["shared"]
    assert "capacity 10" in folded["shared"] and [row["details"] for row in folded["rows"]] == ["", "ECN classic"]
    assert len(folded_conditions(rows[:1])["columns"]) == 8  # one scenario has all of its own


def test_a_fairness_study_opens_with_who_beats_whom(fairness_study):
    html = fairness_study.report.read_text()
    opening = html.split('id="first-picture"')[1].split("</figure>")[0]
    assert html.index('id="first-picture"') < html.index('<ol class="findings">')
    assert '<a href="details.html#fairness-shares-figure">' in opening and 'id="fairness-shares-figure"' not in html
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    targets = re.findall(r' href="#([^"]+)"|url\(#([^)]+)\)', opening)
    assert {name for pair in targets for name in pair if name} <= set(ids)


def test_a_figure_that_opens_the_report_whole_stands_there_alone():
    outline = SimpleNamespace(topics=[SimpleNamespace(pictures=["few", "many"], anchor="question")], leading=[])
    few = {"few": {"panels": ["<svg/>"] * 4, "columns": 2, "caption": ""}}
    picture = first_picture(outline, few, None)
    assert few["few"]["opens"] and picture["more"] == 0
    many = {"many": {"panels": ["<svg/>"] * 5, "columns": 2, "caption": ""}}
    picture = first_picture(outline, many, None)
    assert not many["many"]["opens"] and picture["more"] == 1


@pytest.mark.parametrize(
    ("study", "leading"),
    [
        ("parking-lot", ["chain"]),
        ("changes", ["path_changes"]),
        ("policer", ["policers"]),
        ("multipath-failover", ["failover"]),
        ("smoke", []),
        ("aqm", []),
    ],
)
def test_a_study_of_a_special_path_opens_with_its_own_question(study, leading, root):
    """This also holds with the user's own algorithm."""
    (file,) = (str(path) for path in (root / "config/studies").rglob(f"{study}.yaml"))
    resolved = resolve(load(file, {}), file)
    assert [topic.name for topic in study_outline(StudyDesign(resolved)).leading] == leading
    own = resolved | {"ccas": ["mine"], "cca_definitions": {"mine": {"base": "cubic"}}}
    assert study_outline(StudyDesign(own)).leading == []
