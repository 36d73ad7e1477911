"""Every interval of a mean over replications comes from one function, inside bounds that the measure declares once."""

import ast
from pathlib import Path

import pytest

from run_tables.metrics import DESCRIBED_METRICS
from run_tables.tidy_tables import RUNS
from topics.registry import TOPICS

TOPICS_FOLDER = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "topics"
#: What only `cell_estimates` and the other estimators of `inference` call.
ESTIMATORS = {"inference.mean_interval": {"mean_interval", "measured_mean"}, "inference.student_t": {"quantile"}}
#: Modules of topics that make another interval themselves -> why.
OWN_INTERVALS = {
    "packet_size/size_differences.py": "Welch's interval from the n, means and deviations of another study's table"
}
#: Modules of topics that estimate a cell's mean without `estimated_cells` -> why.
OWN_LOOPS = {
    "buffers/describe_flows.py": "a row for each statistic of a cell, with its own bounds",
    "cells/describe_cells.py": "a row for each metric of a cell, with a note",
    "differences/compare_levels.py": "a row for each measure of two levels: of their difference",
    "exam/beside_published.py": "a row for each statement",
    "fairness/compare_shares.py": "a row for each position of a mix, beside estimates on logits",
    "multipath/compare_paths.py": "a note says why an interval is missing",
    "packet_size/size_cells.py": "a cell's mean is compared with a calculation",
    "packet_size/size_differences.py": "a difference of two cells",
    "precision/mean_precision.py": "a row for each metric of a cell, at another level",
    "time_series/compare_flows.py": "a row for each quantity of a cell",
    "time_series/window_verdicts.py": "a row for each quantity of a cell, with a verdict",
}
#: Units of measures that cannot be negative.
BOUNDED_UNITS = ("", "%", "s", "ms", "µs", "Mbit/s", "kbit/s", "segments", "packets")
#: Intervals that are no mean of a measure over replications, by table and start of the columns' names -> why.
OTHER_INTERVALS = {
    ("size_cells", "ci"): "in the unit of the row; bounds at the estimator",
    ("size_differences", "ci"): "a difference",
    ("aggregation", "factor"): "a ratio on logarithms",
    ("aggregation", "time_factor"): "a ratio on logarithms",
    ("share_pairs", "order"): "an effect",
    ("start_order", "share"): "an effect, made a share on logits",
    ("start_order", "ratio"): "an effect",
    ("fairness_factors", "effect"): "an effect",
    ("models", "ratio"): "a ratio on logarithms",
    ("regressions", "ci"): "a slope",
    ("aa_summary", "share"): "a share of tests, of scenarios as clusters",
    ("platform_starts", "goodput"): "a difference",
    ("platform_starts", "steady"): "a difference",
    ("scorecard", "standard"): "in the unit of the row; bounds at the estimator",
    ("scorecard", "worse_by"): "a difference",
}


def imported(path):
    """Return (module, name) of each name that a file imports."""
    return {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_no_topic_makes_intervals_of_means_itself():
    own = {
        str(path.relative_to(TOPICS_FOLDER))
        for path in TOPICS_FOLDER.rglob("*.py")
        if any(name in ESTIMATORS.get(module, ()) for module, name in imported(path))
    }
    assert own == set(OWN_INTERVALS)


def test_tables_of_cells_take_their_intervals_from_one_loop():
    loops = {
        str(path.relative_to(TOPICS_FOLDER))
        for path in TOPICS_FOLDER.rglob("*.py")
        if ("inference.cell_estimates", "cell_estimate") in imported(path)
    }
    assert loops == set(OWN_LOOPS)


def test_the_columns_of_an_interval_are_those_that_its_measure_names():
    named = {
        (table.name, column.interval)
        for topic in TOPICS
        for table in topic.tables
        for column in table
        if column.interval
    }
    assert len(named) > 20
    assert named - {(table.name, start) for table, start, _ in intervals()} == set()


def intervals():
    """Return (table, common start of the column names, column of the lower end) of every interval of every topic."""
    tables = {table.name: table for topic in TOPICS for table in topic.tables}.values()
    return [
        (table, column.name.removesuffix("_low"), column)
        for table in tables
        for column in table
        if column.name.endswith("_low") and column.name.replace("_low", "_high") in table.names
    ]


def unbounded():
    return {
        (table.name, start)
        for table, start, low in intervals()
        if low.unit in BOUNDED_UNITS and low.least is None and low.kind == "number"
    }


def test_a_measure_with_an_interval_declares_its_bounds():
    assert len(intervals()) > 50
    assert unbounded() - set(OTHER_INTERVALS) == set()


def test_exceptions_are_needed():
    assert set(OTHER_INTERVALS) - unbounded() == set()


@pytest.mark.parametrize("metric", DESCRIBED_METRICS, ids=lambda metric: metric.column)
def test_a_metric_declares_its_bounds(metric):
    assert RUNS[metric.column].least == 0


def test_an_interval_has_the_bounds_of_its_measure():
    wrong = [
        (table.name, start)
        for table, start, low in intervals()
        if start in table.names and (table.name, start) not in OTHER_INTERVALS
        if (low.least, low.most) != (table[start].least, table[start].most)
    ]
    assert wrong == []
