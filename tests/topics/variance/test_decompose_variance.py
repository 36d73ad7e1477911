"""Conditions that count as factors, what is left out with a note, and components of a study with known truth."""

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from run_tables.metrics import METRICS
from topics.variance.crossed_factors import crossed_conditions
from topics.variance.decompose_variance import decompose_variance
from topics.variance.section import variance_sentence
from topics.variance.tables import VARIANCE

CCAS = ("reno", "bbr")


@pytest.fixture
def study():
    return tidy_tables.synthetic_study(ccas=CCAS, replications=3, spread=0.02)


def parts_of(table, metric="goodput_mbps"):
    return table[table["metric"] == metric].set_index("part")


def test_conditions_of_a_grid_are_its_factors():
    levels = crossed_conditions(tidy_tables.grid())
    assert list(levels.columns) == ["delay", "loss", "flows"]
    assert levels.nunique().tolist() == [3, 2, 2]


def test_the_rtt_that_follows_from_the_delay_is_no_factor():
    grid = tidy_tables.grid()
    followed = grid.assign(rtt_path_ms=grid["delay_forward_ms"] + grid["delay_reverse_ms"])
    assert crossed_conditions(followed).equals(crossed_conditions(grid))


def test_what_varies_together_is_one_factor():
    scenarios = tidy_tables.grid(delays_ms=(10, 50), flows=(2,)).assign(queue=["100 packets", "500 packets"] * 2)
    assert list(crossed_conditions(scenarios).columns) == ["delay and queue", "loss"]


def test_scenarios_that_are_no_full_factorial_have_no_conditions():
    assert crossed_conditions(tidy_tables.grid().iloc[:-1]) is None
    twice = pd.concat([tidy_tables.grid().iloc[:1].assign(scenario=name) for name in ("a", "b")])
    assert crossed_conditions(twice) is None


def test_parts_of_a_study(study):
    table = decompose_variance(study["runs"], study["scenarios"], 0.95)
    assert list(table.columns) == VARIANCE.names
    goodput = parts_of(table)
    assert goodput["share_percent"].sum() == pytest.approx(100)
    assert goodput["taken_as"].unique().tolist() == ["logarithm"]
    assert goodput["cells"].unique().tolist() == [48]
    # What each run was drawn with: a factor of 2 %.
    runs = study["runs"].merge(study["truth"].query("metric == 'goodput_mbps'"), on=["scenario", "cca", "ip_version"])
    errors = np.log(runs["goodput_mbps"] / runs["mean"])
    assert goodput.loc[["seed", "run"], "variance"].sum() == pytest.approx(0.02**2, rel=0.4)
    assert goodput.loc[["seed", "run"], "variance"].sum() == pytest.approx(
        errors.groupby([runs[name] for name in ("scenario", "cca", "ip_version")]).var().mean(), rel=1e-6
    )
    truth = study["truth"].query("metric == 'goodput_mbps'")
    of_cca = np.log(truth["mean"]).groupby(truth["cca"]).mean()
    assert goodput.loc["CCA", "variance"] == pytest.approx(of_cca.var(ddof=0), rel=0.02)


def test_scenario_is_the_factor_where_conditions_are_not_crossed(study):
    runs = study["runs"][study["runs"]["scenario"] != study["scenarios"]["scenario"].iloc[-1]]
    table = parts_of(decompose_variance(runs, study["scenarios"].iloc[:-1], 0.95))
    assert list(table.index) == [
        "scenario", "CCA", "IP version", "scenario x CCA", "scenario x IP version", "CCA x IP version",
        "higher interactions", "seed", "run",
    ]  # fmt: skip
    assert table.loc["scenario", "df"] == 10
    assert table["note"].str.contains("aren't a full factorial").all()


def test_a_scenario_with_an_empty_cell_is_left_out(study):
    runs, first = study["runs"], study["scenarios"]["scenario"].iloc[0]
    runs.loc[(runs["scenario"] == first) & (runs["cca"] == "bbr"), "valid"] = False
    table = parts_of(decompose_variance(runs, study["scenarios"], 0.95))
    assert table["cells"].unique().tolist() == [44]
    assert table["note"].str.contains("1 scenario left out: a cell has no value").all()


def test_values_that_are_all_equal_and_zeros(study):
    study["runs"]["retransmits"] = 0.0
    study["runs"].loc[0, "goodput_mbps"] = 0.0
    table = decompose_variance(study["runs"], study["scenarios"], 0.95)
    assert parts_of(table)["taken_as"].unique().tolist() == ["value"]
    assert table.loc[table["metric"] == "retransmits", "note"].tolist() == ["all values are equal"]


def test_a_metric_without_values_is_said_to_have_none(study):
    runs = study["runs"].assign(valid=False)
    table = decompose_variance(runs, study["scenarios"], 0.95)
    assert table["metric"].tolist() == [metric.column for metric in METRICS]
    assert table["note"].str.startswith("fewer than two cells to compare").all()


def test_values_within_the_resolution_have_no_variance(study):
    study["runs"]["goodput_mbps"] = 95 + 1e-13 * (np.arange(len(study["runs"])) % 3)
    table = decompose_variance(study["runs"], study["scenarios"], 0.95)
    assert table.loc[table["metric"] == "goodput_mbps", "note"].tolist() == [
        "all values are equal within the resolution of the measurement"
    ]


def test_losses_in_both_directions_are_two_factors():
    losses = [(forward, reverse) for forward in (0, 1) for reverse in (0, 1)]
    scenarios = pd.concat(
        [
            tidy_tables.grid((10,), (forward,), (1,)).assign(
                loss_reverse_percent=reverse, scenario=f"{forward}{reverse}"
            )
            for forward, reverse in losses
        ]
    )
    assert list(crossed_conditions(scenarios).columns) == ["forward loss", "reverse loss"]


def sentence_of(rows, cells=4):
    columns = ["part", "kind", "share_percent", "approximate_low_percent"]
    table = pd.DataFrame(rows, columns=columns).assign(taken_as="logarithm", cells=4)
    return variance_sentence(table, "Goodput", cells)


def test_sentence():
    rows = [("loss", "factor", 57.0, 40), ("CCA", "factor", 13.5, 1), ("loss x CCA", "interaction", 12.0, 1)]
    rows += [("higher interactions", "higher", 17.0, 2), ("seed", "chance", 0.4, 0), ("run", "chance", 0.1, 0)]
    assert sentence_of(rows) == (
        "Of the variance of goodput (of its logarithm) over all cells and runs, 57.0 % is explained by loss, 17.0 % by "
        "interactions of three or more factors and 13.5 % by CCA; 0.5 % is random variation between runs."
    )
    assert sentence_of(rows, 6).startswith(
        "Of the variance of goodput (of its logarithm) over the runs of 4 of 6 cells, 57.0 %"
    )


@pytest.mark.parametrize(("low", "share"), [(1, -0.8), (0, 8.2)])
def test_no_part_is_named_that_chance_can_explain(low, share):
    text = sentence_of([("loss", "factor", share, low), ("run", "chance", 100.8, 90)])
    assert text.endswith(
        "no part of at least 5 % can be distinguished from chance; all is random variation between runs."
    )


@pytest.mark.parametrize("replications", [1, 2])
def test_with_one_or_two_replications_nothing_is_said_to_be_explained(replications):
    made = tidy_tables.synthetic_study(ccas=CCAS, replications=replications)
    noise = np.random.default_rng(0).normal(100, 5, len(made["runs"]))
    table = decompose_variance(made["runs"].assign(goodput_mbps=noise), made["scenarios"], 0.95)
    parts = table[table["metric"] == "goodput_mbps"]
    assert parts["share_percent"].max() > 5
    assert variance_sentence(parts, "Goodput", 48) == (
        "There are too few replications to show how much of the variance of goodput (of its logarithm) over all cells and runs is due to "
        "chance, and how much to anything else."
    )
