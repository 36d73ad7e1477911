"""Losses of a cell to a policer, against numbers worked out by hand."""

import numpy as np
import pandas as pd

from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.policers.describe_policers import describe_policers


def run(replication, valid=True, **values):
    shared = {
        "scenario": "x", "scenario_label": "x", "cca": "bbr", "ip_version": "ipv4", "replication": replication, "valid": valid,
        "packets_sent": 900, "policer_drops": 100, "queue_drops": 0, "goodput_mbps": 9.0, "ideal_goodput_mbps": 10.0,
        "loss_percent": 10.0,
    }  # fmt: skip
    return shared | values


def described(*runs, words=None):
    return describe_policers(completed(pd.DataFrame(runs), RUNS), words or {}, 0.95).iloc[0]


def test_a_cell_by_hand():
    row = described(run(1), run(2, policer_drops=300), run(3, valid=False), words={"x": "10 Mbit/s, 15,140 bytes"})
    assert (row["n"], row["policed_percent"], row["goodput_percent"], row["policer_drops"]) == (2, 17.5, 90, 200)
    assert row["policer"] == "10 Mbit/s, 15,140 bytes"
    # The mean of 10 and 25; two runs have no interval.
    assert row[["policed_percent_low", "policed_percent_high"]].isna().all()


def test_without_a_policer_nothing_is_policed():
    row = described(run(1, policer_drops=np.nan))
    assert np.isnan(row["policed_percent"]) and row["loss_percent"] == 10
