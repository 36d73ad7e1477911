"""Results of web objects and real-time streams in a cell, against numbers worked out by hand, and what figures show of them."""

import math

import pandas as pd
import pytest

from run_tables.group_tables import GROUPS, SHORT_FLOWS
from study_files import study
from study_files.study_design import StudyDesign
from tidy_tables import completed
from topics.real_time import topic as real_time
from topics.real_time.describe_real_time import describe_real_time
from topics.short_flows import topic as short_flows
from topics.short_flows.describe_short_flows import LEAST_OBJECTS, describe_groups, describe_sizes
from topics.short_flows.plot_completion_times import _draw, _figure_rows, reached
from topics.short_flows.section import _completion

CELL = {"scenario": "s", "cca": "cubic", "ip_version": "ipv4"}
WEB = {"group": "web", "group_cca": "cubic", "beside": "bbr", "application": "web", "start_s": 0, "stop_s": 30}
SETTINGS = {"s": {"scenario_label": "one", "setting": 1, "conditions": "20 Mbit/s, RTT 40 ms"}}


def groups(*rows):
    return completed(
        pd.DataFrame([CELL | WEB | {"valid": True, "replication": n} | row for n, row in enumerate(rows, 1)]), GROUPS
    )


def test_a_cell_by_hand():
    runs = groups(
        {"members": 100, "complete": 100, "completion_p95_ms": 90.0, "slowdown_p50": 1.0},
        {"members": 60, "complete": 56, "completion_p95_ms": 110.0, "slowdown_p50": 1.5},
        {"members": 60, "complete": 1, "completion_p95_ms": 1.0, "valid": False},
        {"application": "real-time"},
    )
    (row,) = describe_groups(runs, SETTINGS, 0.95).to_dict("records")
    assert (row["n"], row["members"], row["complete_percent"]) == (2, 80, 97.5)
    assert (row["setting"], row["conditions"], row["scenario_label"]) == (1, "20 Mbit/s, RTT 40 ms", "one")
    # The mean of 90 and 110; two runs have no interval.
    assert row["completion_p95_ms"] == 100
    assert math.isnan(row["completion_p95_ms_low"]) and math.isnan(row["completion_p95_ms_high"])


def test_sizes_are_classes_between_powers_of_two():
    sizes = [1023, 1024, 2047, *[4096] * LEAST_OBJECTS, 5000]
    slowdowns = [5, 1, 3, *range(LEAST_OBJECTS), None]
    rows = [
        CELL | WEB | {"replication": 1, "valid": True, "object": n, "bytes": size, "slowdown": slowdown}
        for n, (size, slowdown) in enumerate(zip(sizes, slowdowns, strict=True))
    ]
    described = describe_sizes(completed(pd.DataFrame(rows), SHORT_FLOWS), SETTINGS)
    assert list(zip(described["from_bytes"], described["to_bytes"], described["n"], strict=True)) == [
        (512, 1024, 1),
        (1024, 2048, 2),
        (4096, 8192, LEAST_OBJECTS + 1),
    ]
    # The last object was not complete, so it is the slowest of 21: the median is the eleventh, the 95th percentile the twentieth.
    assert list(described["complete"]) == [1, 2, LEAST_OBJECTS]
    assert list(described["slowdown_p50"]) == [5, 2, 10]
    assert list(described["slowdown_p95"].isna()) == [True, True, False]
    assert described["slowdown_p95"].iloc[2] == pytest.approx(19)


def test_a_percentile_that_a_run_did_not_reach_has_no_mean():
    """A mean of the runs that reached it would be a mean of the fast runs."""
    reached = {"members": 10, "complete": 10, "completion_p50_ms": 40.0, "completion_p95_ms": 90.0, "watched_ms": 95.0}
    other = {"members": 10, "complete": 6, "completion_p50_ms": 60.0, "completion_p95_ms": None, "watched_ms": 119e3}
    (row,) = describe_groups(groups(reached, other), SETTINGS, 0.95).to_dict("records")
    assert (row["completion_p50_ms"], row["complete_percent"], row["watched_ms"]) == (50, 80, (95 + 119e3) / 2)
    assert pd.isna([row[f"completion_p95_ms{end}"] for end in ("", "_low", "_high")]).all()
    assert _completion(95, row).text == "not reached in 60 s"
    assert _completion(50, row).text == "50.0"


def test_a_line_ends_at_the_share_that_was_complete():
    """13 of 20 were complete; the run waited for the other seven, or they gave up, as in the study in which half is lost."""
    times = [5e3 * n for n in range(1, 14)]
    rows = [
        CELL | WEB | {"replication": 1, "valid": True, "object": n, "bytes": 200_000, "completion_ms": time, "watched_ms": watched}
        for n, (time, watched) in enumerate([*((t, t) for t in times), *[(None, 119e3)] * 4, *[(None, None)] * 3])
    ]  # fmt: skip
    objects = completed(pd.DataFrame(rows), SHORT_FLOWS)
    data = _figure_rows(objects.assign(**SETTINGS["s"]))
    assert list(data["share"]) == pytest.approx([n / 20 for n in range(1, 14)])
    assert set(data["n"]) == {20}
    # Over all 20 the median is between the tenth and eleventh; over the 13 that were complete it would be the seventh, 35 s.
    assert reached(data, 0.5) == "50,000 ms"
    assert reached(data, 0.95) == "not reached (65 % complete)"


def test_a_line_of_equal_times_is_drawn():
    """Objects of the same size on an empty path: the line rises from 0 to 1 at their only time."""
    rows = [
        CELL
        | WEB
        | {"replication": 1, "valid": True, "object": n, "bytes": 9, "completion_ms": 40.0, "watched_ms": 40.0}
        for n in range(3)
    ]
    data = _figure_rows(completed(pd.DataFrame(rows), SHORT_FLOWS).assign(**SETTINGS["s"]))
    drawing = _draw(data).drawing("", data)
    drawn = [line.get_xydata().tolist() for axes in drawing.figure.axes for line in axes.lines]
    assert [[40, 0], [40, 1]] in drawn


def test_streams_by_hand():
    call = {"group": "call", "group_cca": "", "application": "real-time", "packets": 1500}
    runs = groups(call | {"jitter_ms": 1.0, "lost_percent": 0.0}, call | {"jitter_ms": 3.0, "lost_percent": 0.5}, {})
    (row,) = describe_real_time(runs, SETTINGS, 0.95).to_dict("records")
    assert (row["n"], row["packets"], row["jitter_ms"], row["lost_percent"], row["beside"]) == (2, 1500, 2, 0.25, "bbr")


@pytest.mark.parametrize(
    ("flows", "topics"),
    [
        (3, (False, False)),
        ([{"name": "long", "stop_s": 10}], (False, False)),
        ([{"name": "web", "application": "web", "bytes": 9}], (True, False)),
        ([{"name": "call", "application": "real-time", "stop_s": 10}], (False, True)),
    ],
)
def test_who_has_the_topics(flows, topics):
    design = StudyDesign(
        study.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a", "flows": flows}]}, "s.yaml")
    )
    assert (short_flows.applies(design), real_time.applies(design)) == topics
