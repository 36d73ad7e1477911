"""Means beside published statements about them, on tables with known truth."""

import numpy as np
import pandas as pd
import pytest

from study_files import study as studies
from topics.exam import beside_published as published_rows
from topics.exam.beside_published import AGREES, DIFFERS, NOT_SHOWN, beside_published
from topics.exam.criteria import CRITERIA, MEASURES
from topics.exam.page_tables import published_words
from topics.exam.published import Published
from topics.exam.tables import EXAM_VALUES

STATED = [(criterion, stated) for criterion in CRITERIA for stated in criterion.published]


def values(cells):
    """Return `EXAM_VALUES` of (scenario, measure, cca) -> one value per run."""
    rows = [
        (scenario, cca, "ipv4", replication, measure, "", float(value))
        for (scenario, measure, cca), of_cell in cells.items()
        for replication, value in enumerate(of_cell, 1)
    ]
    return pd.DataFrame(rows, columns=EXAM_VALUES.names)


def verdicts(monkeypatch, cells, scenarios=("6.3-x",), **about):
    """Return the verdicts on one statement, by default about the utilisation of ``mine`` in 6.3-x."""
    stated = Published(
        **{"cca": "mine", "scenarios": ("6.3-x",), "measure": "utilisation_percent", "words": "", "source": ""} | about
    )
    criterion = next(one for one in CRITERIA if one.section == "6.3")
    monkeypatch.setattr(published_rows, "CRITERIA", (type(criterion)(**{**vars(criterion), "published": (stated,)}),))
    return list(beside_published(values(cells), dict.fromkeys(scenarios, "x"))["verdict"])


@pytest.mark.parametrize(
    "runs, verdict",
    [
        ([80.0, 80.1, 79.9, 80.05, 79.95, 80.0], AGREES),
        ([90.0, 90.1, 89.9, 90.05, 89.95, 90.0], DIFFERS),
        ([60.0, 60.1, 59.9, 60.05, 59.95, 60.0], DIFFERS),
        ([70.0, 90.0, 75.0, 85.0, 80.0, 82.0], NOT_SHOWN),  # the mean agrees, its interval doesn't
        ([80.0], NOT_SHOWN),
    ],
)
def test_the_whole_interval_decides(monkeypatch, runs, verdict):
    cells = {("6.3-x", "utilisation_percent", "mine"): runs}
    assert verdicts(monkeypatch, cells, at_least=76, at_most=86) == [verdict]


def test_differences_are_of_pairs(monkeypatch):
    """Runs that vary by 20 % agree with a difference of 5 that all pairs have; a run without its pair doesn't count."""
    cells = {
        ("6.3-x", "utilisation_percent", "mine"): [60, 70, 80, 99],
        ("6.3-x", "utilisation_percent", "reno"): [55, 65, 75],
    }
    assert verdicts(monkeypatch, cells, minus="reno", at_least=4.9, at_most=5.1) == [AGREES]
    assert verdicts(monkeypatch, cells, minus="cubic", at_least=0) == []


def test_a_statement_holds_in_its_own_scenarios_alone(monkeypatch):
    """A statement about one BDP doesn't apply to four."""
    cells = {(name, "utilisation_percent", "mine"): [80, 80] for name in ("6.3-x", "6.3-x-4bdp")}
    assert len(verdicts(monkeypatch, cells, ("6.3-x", "6.3-x-4bdp"), at_least=0)) == 1


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_have_what_is_stated(file):
    """Three or more criteria are compared with publications, each in a scenario that tests the criterion."""
    path = f"config/studies/{file}.yaml"
    scenarios = {scenario["id"] for scenario in studies.resolve(studies.load(path), path)["scenarios"]}
    answered = [criterion for criterion, stated in STATED if scenarios & set(stated.scenarios)]
    assert len({criterion.words for criterion in answered}) >= 3


@pytest.mark.parametrize("criterion, stated", STATED)
def test_statements_are_of_their_criterion_and_can_fail(criterion, stated):
    assert stated.measure in criterion.measures and stated.measure in MEASURES
    assert all(map(criterion.is_answered_by, stated.scenarios))
    assert stated.at_least < stated.at_most and np.isfinite([stated.at_least, stated.at_most]).any()
    assert stated.words and stated.source


def test_a_row_of_the_scorecard_names_its_source():
    """BBR's row on loss behind 0.1 BDP cites the published statement; Vegas's doesn't."""
    cells = {
        ("5.1.3-0.1bdp", "loss_percent", cca): [level, level] for cca, level in (("bbr", 16), ("reno", 1), ("vegas", 1))
    }
    rows = beside_published(values(cells), {"5.1.3-0.1bdp": "x"})
    row = {"cca": "bbr", "scenario": "5.1.3-0.1bdp", "measure": "loss_percent"}
    assert published_words(row, rows).startswith("Published: agrees (RFC 9743, section 5.1.3")
    assert published_words(row | {"cca": "vegas"}, rows) == ""
