"""Relations between columns, which other tests check on real runs: each is violated by a value that contradicts its column's definition."""

import pandas as pd
import pytest

import tidy_tables
from column_relations import RUNS, broken
from run_tables.tidy_tables import RUNS as TABLE

#: Column -> a value that breaks a relation of a synthetic run, and the relation.
WRONG = {
    "flows_under_test": (99, "flows under test are some of the flows"),
    "spurious_retransmits": (1e6, "no more is spurious than was retransmitted"),
    "utilisation_percent": (100.5, "no more is delivered than the path carries"),
    "jain_index": (1.018, "Jain's index lies between 1/n and 1"),
    "rtt_min_ms": (1e4, "the least RTT is the least"),
    "loss_percent": (99.0, "loss is drops over what was offered"),
    "goodput_mbps": (1.0, "goodput is what was delivered over the window"),
    "window_limited_percent": (101.0, "a share of time is a share"),
    "late_packets": (1e9, "late packets are some of those sent"),
}


@pytest.fixture
def runs():
    """A synthetic run of one flow, with a window, and drops that fit its loss."""
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,), rate_mbps=10)
    table = tidy_tables.synthetic_study(scenarios, ["reno"], ["ipv4"], replications=1)["runs"]
    table = table.assign(window_begin_ns=0, window_end_ns=10**10, steady_begin_ns=2.5e9, policer_drops=None, groups="")
    table["delivered_bytes"] = table["goodput_mbps"] * 10**10 / 8e3
    table["loss_percent"] = 100 * (table["queue_drops"] + table["link_drops"]) / table["packets_sent"]
    return table


def broken_relations(table):
    return {words for words, holds in RUNS.items() if not holds(table).fillna(True).astype(bool).all()}


def test_a_run_as_it_should_be_breaks_none(runs):
    assert broken_relations(runs) == set()


@pytest.mark.parametrize("column", WRONG)
def test_a_number_that_is_not_what_its_column_says_breaks_a_relation(runs, column):
    value, words = WRONG[column]
    assert column in TABLE.names and words in broken_relations(runs.assign(**{column: value}))


def test_relations_are_read_from_a_studys_tables(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(2,), rate_mbps=10)
    study = tidy_tables.synthetic_study(scenarios, ["vegas"], ["ipv4"], replications=1)
    study["runs"] = study["runs"].assign(jain_index=1.018, delivered_bytes=None)
    texts = broken(tidy_tables.write_tidy(study, tmp_path))
    assert any(text.endswith("vegas/ipv4/1: Jain's index lies between 1/n and 1") for text in texts)
    assert pd.Series(texts).str.contains("sum of its flows").sum() == 0
