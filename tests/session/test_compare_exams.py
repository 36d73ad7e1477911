"""Two exams side by side: rows of the scorecards, in pairs of runs."""

import numpy as np
import pytest

from results_folders import NOISE, exam, results
from session import compare_results
from session.comparable_results import Results, problem_of
from session.compare_results import page, table_text
from session.result_comparison import compared
from topics.exam.criteria import NEVER


def test_scorecards_are_compared_in_pairs_by_the_exams_margins():
    values = 40 + 10 * NOISE
    (row,) = compared(exam(values=values), exam("results/b", values=values + 3, verdict="worse")).to_dict("records")
    assert (row["change"], row["effect"], row["n"], row["margin"]) == ("worse", pytest.approx(3), 8, 2)
    assert (row["paired"], row["first_verdict"], row["second_verdict"]) == (True, "like", "worse")
    (row,) = compared(exam(values=values), exam("results/b", values=values + 0.02)).to_dict("records")
    assert (row["change"], row["p_corrected"]) == ("like", pytest.approx(np.nan, nan_ok=True))
    (row,) = compared(exam(values=values), exam("results/b", values=values)).to_dict("records")
    assert row["change"] == "the same"


def test_a_limit_is_a_count_of_runs():
    """One more run beyond a limit is no finding, even if it changes the verdict on a mean; a majority is."""
    values = np.array([4.0, 4.5, 4.9, 4.2, 4.4, 4.6, 4.7, 4.8])
    absolute = {"margin": np.nan, "limit": 5.0, "verdict": "passed"}
    second = values + np.array([0, 0, 2.0, 0, 0, 0, 0, 0])
    (row,) = compared(
        exam(values=values, **absolute), exam("results/b", second, **absolute | {"verdict": "failed"})
    ).to_dict("records")
    assert (row["change"], row["measure"], row["second"], row["n_needed"]) == (
        "not enough",
        "queueing_p95_ms: beyond 5",
        1,
        44,
    )
    row = compared(exam(values=values, **absolute), exam("results/b", values + 2, **absolute)).iloc[0]
    assert (row["change"], row["pairs_worse"]) == ("worse", 8)


def test_infinite_values_are_called_so():
    """Half of the second runs have too many short flows that never finish: the median lies between a number and infinity."""
    values = 2 + NOISE
    never = np.where(np.arange(8) < 4, NEVER, values + 1)
    table = compared(exam(values=values), exam("results/b", values=never))
    for text in (table_text(table), page(exam(values=values), exam("results/b", values=never), table)):
        assert "infinite" in text and "000,000" not in text and "499,999" not in text


def test_what_neither_evaluates_is_left_out():
    nothing = {"measure": "", "margin": np.nan, "verdict": "not evaluated"}
    assert compared(exam(**nothing), exam("results/b", **nothing)).empty
    assert compared(exam(), exam("results/b", **nothing)).empty
    words = compare_results.summary_words(exam(), exam("results/b", **nothing), compared(exam(), exam(**nothing)))
    assert "2 rows of the scorecards are left out: they were measured in at most one of the folders." in words


def test_what_has_no_value_is_not_measured():
    row = compared(exam(), exam("results/b", values=np.nan)).iloc[0]
    assert (row["change"], row["n"]) == ("not measured", 0)


def test_exams_by_other_margins_are_refused():
    second = exam("results/b")
    second.study["exam"] = {"cca": "mine", "margins": {"index": 0.1}}
    assert problem_of(exam(), second).startswith("exam.margins.index is 0.05 in results/a and 0.1 in results/b")
    assert problem_of(exam(), results("results/b")).startswith("results/a is an exam, and results/b is not")


def test_texts_looks_and_numbers_of_replications_are_no_conditions():
    """An exam with an explanation, or with more runs of open rows; runs of the same replication form pairs."""
    values = 40 + 10 * NOISE
    first, second = exam(values=values), exam("results/b", values=values + 3)
    second.study["exam"] |= {"explanation": "It is new.", "looks": [4], "population": {"rates": "RFC 7928"}}
    second.study["scenarios"] = [one | {"replications": 12} for one in second.study["scenarios"]]
    assert problem_of(first, second) is None
    first = Results(first.folder, first.study, first.runs, first.scorecard, first.exam_values[:6])
    (row,) = compared(first, second).to_dict("records")
    assert (row["change"], row["n"]) == ("worse", 6)
