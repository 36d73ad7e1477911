"""The effect of excluded runs: computed by the scripts that make the tables, and stated for each kind of conclusion."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from rule_files import carry_out
from run_tables.exclusions import runs_with_exclusions, usable_exclusions, with_kept
from run_tables.metrics import METRICS
from run_tables.reading import read_table
from topics.ccas.tables import CCA_PAIRS, CCA_TESTS
from topics.cells.tables import DESCRIPTIVE
from topics.ip_version.tables import IP_OVERALL, IP_VERSION_TESTS
from topics.validity.exclusions import changed_conclusions, exclusions_sentence

MARGINS = {"goodput_mbps": 5, "rtt_mean_ms": 5, "loss_percent": 0.5, "retransmits": 20}
PARAMS = {
    "confidence": 0.95, "significance": 0.05, "power": 0.8, "margins": MARGINS, "header_margin": 0.5,
    "detect": {"goodput_mbps": 1, "rtt_mean_ms": 1, "loss_percent": 0.1, "retransmits": 10},
}  # fmt: skip
SCRIPTS = {
    "topics.cells.describe_cells": (DESCRIPTIVE,),
    "topics.ip_version.compare_ip_versions": (IP_VERSION_TESTS,),
    "topics.ip_version.compare_overall": (IP_OVERALL,),
    "topics.ccas.compare_ccas": (CCA_TESTS, CCA_PAIRS),
}
NAMES = ("descriptive", "ip_versions", "ip_overall", "ccas", "cca_pairs")
#: Columns whose value with excluded runs kept the table has too.
KEPT = {
    "descriptive": ("mean",), "ip_versions": ("verdict",), "ip_overall": ("within", "p"), "ccas": ("p_holm",),
    "cca_pairs": ("p_holm", "effect"),
}  # fmt: skip


def study():
    """Return the runs of two scenarios; in the first, BBR is halved in the two runs over IPv6 that can be excluded."""
    scenarios = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(2,))
    runs = tidy_tables.synthetic_study(scenarios, ["reno", "cubic", "bbr"], replications=8, spread=0.002)["runs"]
    first = (runs["scenario"] == scenarios["scenario"][0]) & (runs["cca"] == "bbr") & (runs["ip_version"] == "ipv6")
    odd = first & runs["replication"].le(2)
    runs.loc[odd, "goodput_mbps"] *= 0.5
    return runs, odd


def tables_of(runs, folder):
    """Execute the scripts; return their tables by name."""
    folder.mkdir()
    runs.to_csv(folder / "runs.csv", index=False)
    by_name = {}
    for script, tables in SCRIPTS.items():
        outputs = {table.name: folder / f"{table.name}.csv" for table in tables}
        carry_out(script, {"runs": folder / "runs.csv"}, outputs, PARAMS)
        by_name |= {table.name: read_table(outputs[table.name], table) for table in tables}
    return SimpleNamespace(**by_name)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tables with the odd runs excluded, and with nothing excluded."""
    runs, odd = study()
    place = tmp_path_factory.mktemp("tables")
    return tables_of(runs.assign(valid=~odd), place / "excluded"), tables_of(runs, place / "all")


@pytest.mark.parametrize("name", NAMES)
def test_columns_with_excluded_runs_kept_are_those_of_all_runs_valid(name, made):
    excluded, whole = (getattr(tables, name) for tables in made)
    assert len(excluded) == len(whole)
    for column in KEPT[name]:
        pd.testing.assert_series_equal(excluded[f"{column}_kept"], whole[column], check_names=False)
        assert not (whole[f"{column}_kept"].replace("", None).notna()).any()


def test_conclusions_that_change_are_those_that_differ_between_both(made):
    excluded, whole = made
    changes, compared = changed_conclusions(excluded, MARGINS, 0.05)
    of_metrics = [metric.column for metric in METRICS]
    assert compared == sum(getattr(excluded, name)["metric"].isin(of_metrics).sum() for name in NAMES)
    both = excluded.ip_versions["verdict"], whole.ip_versions["verdict"]
    differing = excluded.ip_versions[both[0] != both[1]]
    of_question = [change for change in changes if change.question == "IPv6 against IPv4"]
    assert len(of_question) == len(differing) >= 1
    assert {(change.metric, change.scenario) for change in of_question} == set(
        zip(differing["metric"], differing["scenario"], strict=True)
    )
    (mean,) = (change for change in changes if change.question == "Mean of a cell")
    assert (mean.metric, mean.place, mean.scenario_label) == ("goodput_mbps", "BBR, IPv6", "1")
    (row,) = whole.descriptive.query(
        "metric == 'goodput_mbps' and cca == 'bbr' and ip_version == 'ipv6' and scenario_label == '1'"
    )["mean"]
    assert mean.kept == f"{row:,.1f} Mbit/s"


def test_without_numbers_nothing_is_kept():
    runs, odd = study()
    runs = runs.assign(valid=~odd)
    assert usable_exclusions(runs).sum() == 2
    runs.loc[odd, [metric.column for metric in METRICS]] = None
    assert runs_with_exclusions(runs) is None


def test_rows_that_only_the_kept_runs_have_are_left_out():
    table = pd.DataFrame({"a": ["x"], "v": [1.0], "v_kept": [None]})
    kept = pd.DataFrame({"a": ["y", "x"], "v": [5.0, 2.0]})
    assert with_kept(table, kept, ["a"], ["v"]).to_dict("records") == [{"a": "x", "v": 1.0, "v_kept": 2.0}]


@pytest.mark.parametrize(
    "usable, invalid, changes, text",
    [
        (0, 0, [], "No run is excluded."),
        (0, 3, [], "No excluded run has measured values that could be kept."),
        (2, 2, [], "The 2 excluded runs have measured values nevertheless. If they had counted, none of 90 conclusions would change"),
        (1, 1, [], "The excluded run has measured values nevertheless. If it had counted, none"),
        (1, 3, [("differs, higher", "differs, lower"), ("not shown", "differs, lower")],
         "1 of the 3 excluded runs has measured values nevertheless. If it had counted, 2 of 90 conclusions would change; 1 of them"),
    ],
)  # fmt: skip
def test_sentences(usable, invalid, changes, text):
    changes = [SimpleNamespace(question="CCA against CCA", reported=one, kept=other) for one, other in changes]
    assert exclusions_sentence(usable, invalid, changes, 90).startswith(text)
