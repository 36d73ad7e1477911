"""What web objects and real-time streams get in a cell, against numbers worked out by hand, and what figures show of them."""

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
    # The mean of 90 and 110: 100 +- 12.706 * 10 (Student's t with one degree of freedom), and no time is below 0.
    assert (row["completion_p95_ms"], row["completion_p95_ms_low"]) == (100, 0)
    assert row["completion_p95_ms_high"] == pytest.approx(100 + 127.062, abs=1e-2)


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
        (4096, 8192, LEAST_OBJECTS),
    ]
    assert list(described["slowdown_p50"]) == [5, 2, 9.5]
    assert list(described["slowdown_p95"].isna()) == [True, True, False]
    assert described["slowdown_p95"].iloc[2] == pytest.approx(18.05)


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
