"""The effects of a queue in a cell, against numbers worked out by hand, and the labels that distinguish queues."""

import numpy as np
import pandas as pd
import pytest

from drawn_figure import drawing_alike
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from study_files import study
from study_files.study_design import StudyDesign
from tidy_tables import completed
from topics.queues.describe_queues import describe_queues
from topics.queues.plot_queues import plot_queues
from topics.queues.topic import applies
from topics.queues.variants import delay_of, variants_of, with_variants


def run(replication, scenario="codel", valid=True, **values):
    shared = {
        "scenario": scenario, "scenario_label": scenario, "cca": "reno", "ip_version": "ipv4", "replication": replication,
        "valid": valid, "discipline": "codel", "ecn": "classic", "flows": 2, "rate_mbps": 20.0, "rtt_path_ms": 40.0,
        "ideal_goodput_mbps": 19.0, "goodput_mbps": 9.5, "packets_sent": 1000, "queue_drops": 0, "rtt_mean_ms": 45.0,
    }  # fmt: skip
    return shared | values


SCENARIO = {"scenario": "codel", "discipline": "codel", "ecn": "classic", "queue_parameters": "target_ms 5, ecn true"}


def described(*runs):
    scenarios = completed(pd.DataFrame([SCENARIO]), SCENARIOS)
    settings = {"codel": {"setting": 1, "conditions": "20 Mbit/s, RTT 40 ms"}}
    return describe_queues(completed(pd.DataFrame(runs), RUNS), scenarios, settings, 0.95).iloc[0]


def test_a_cell_by_hand():
    row = described(
        run(1, queue_drops=10, queue_marks=20, rtt_mean_ms=46.0, ce_received=19),
        run(2, queue_drops=30, queue_marks=40, rtt_mean_ms=50.0, ce_received=40),
        run(3, valid=False, queue_drops=999),
    )
    assert (row["n"], row["rtt_above_ms"], row["drop_percent"], row["mark_percent"]) == (2, 8.0, 2.0, 3.0)
    assert (row["goodput_percent"], row["queue_marks"], row["ce_received"]) == (50.0, 30.0, 29.5)
    # The mean of 6 and 10; two runs have no interval.
    assert row[["rtt_above_ms_low", "rtt_above_ms_high"]].isna().all()
    assert (row["setting"], row["conditions"]) == (1, "20 Mbit/s, RTT 40 ms")


def test_what_nobody_counted_is_missing():
    row = described(run(1, queue_marks=np.nan))
    assert row["n"] == 1
    assert all(np.isnan(row[name]) for name in ("mark_percent", "queueing_ms", "rtt_above_ms_low", "overflow_drops"))


def test_a_sampled_queue_has_its_own_delay_whatever_the_rtt():
    cells = pd.DataFrame([described(run(1, queueing_mean_ms=3.0)), described(run(1, rtt_mean_ms=95.0))])
    assert [delay_of(cells), delay_of(cells[:1])] == ["rtt_above_ms", "queueing_ms"]
    assert list(cells["queueing_ms"].fillna(0)) == [3.0, 0.0] and list(cells["rtt_above_ms"]) == [5.0, 55.0]


def test_queues_are_told_apart_by_what_is_not_their_default():
    names = [
        ("drop-tail", ""),
        ("codel", "target_ms 5, ecn true"),
        ("codel", "target_ms 20, ecn false"),
        ("codel", "target_ms 5, ecn false"),
    ]
    cells = pd.DataFrame(names, columns=["discipline", "queue_parameters"]).assign(
        platform="uml",
        setting=1,
        ip_version="ipv4",
        cca="reno",
        ecn=["off", "classic", "off", "off"],
        scenario_label="a",
    )
    cells = with_variants(cells)
    assert list(variants_of(cells).values()) == ["drop-tail", "codel", "codel 20"]


@pytest.mark.parametrize(
    ("keys", "asked"),
    [({}, False), ({"queue": {"discipline": "pie"}}, True), ({"transport": {"ecn": "classic"}}, True)],
)
def test_who_has_the_topic(keys, asked):
    config = {"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a", "link": {"rate_mbps": 10}, **keys}]}
    assert applies(StudyDesign(study.resolve(config, "s.yaml"))) is asked


def test_panels_of_ip_versions_have_different_titles(tmp_path):
    """The conditions are longer than a title."""
    cell = pd.DataFrame([described(run(1))]).assign(
        conditions="20 Mbit/s, RTT 40 ms, no loss, 1 flow, jitter 5 ms, 60 packets, initial window 30"
    )
    other = cell.assign(setting=2, conditions=cell["conditions"].str.replace("30", "50"))
    cells = pd.concat([one.assign(ip_version=name) for name in ("ipv4", "ipv6") for one in (cell, other)])
    assert drawing_alike(plot_queues(cells), tmp_path) == []
