"""Sentences about a study's only CCA."""

from types import SimpleNamespace

import pandas as pd

import tidy_tables
from topics.speed.sentences import lone_sentence


def test_retransmits_and_rtt_are_joined_by_a_comma_after_an_insertion():
    scenarios = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(1,))
    runs = tidy_tables.synthetic_study(scenarios, ["reno"], ["ipv4"], replications=1)["runs"]
    rows = [
        {"metric": metric, "scenario": scenario, "scenario_label": scenario, "cca": "reno", "ip_version": "ipv4", "mean": mean}
        for scenario, factor in zip(scenarios["scenario"], (1, 2), strict=True)
        for metric, mean in (("goodput_mbps", 4 * factor), ("retransmit_percent", factor), ("rtt_mean_ms", 100 * factor))
    ]  # fmt: skip
    tables = SimpleNamespace(descriptive=pd.DataFrame(rows), runs=runs, scenarios=scenarios)
    assert ", the most of all cells, and had a mean RTT of at most " in lone_sentence(tables)
    without_rtt = tables.descriptive[tables.descriptive["metric"] != "rtt_mean_ms"]
    assert lone_sentence(SimpleNamespace(**vars(tables) | {"descriptive": without_rtt})).endswith(
        ", the most of all cells."
    )
