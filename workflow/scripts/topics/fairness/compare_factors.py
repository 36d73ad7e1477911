"""Compare shares over the factors of the scenarios, one at a time, and with what theory gives for some pairs."""

import numpy as np
import pandas as pd

from inference.multiple_tests import adjusted_within
from inference.paired_comparison import sentence
from inference.paired_contrasts import to_effect
from inference.welch import welch
from rule_script import run_rule
from run_tables.reading import read_table
from run_tables.tidy_tables import SCENARIOS
from topics.fairness.flow_shares import (
    ccas_in_order,
    ccas_of,
    matrix_cells,
    paths_alike,
    read_flow_shares,
    two_sided_runs,
)
from topics.fairness.pair_shares import mixes_of, pair_row, replication_balances
from topics.fairness.scenario_factors import base_and_levels
from topics.fairness.share_theory import compare_with_theory
from topics.fairness.tables import FAIRNESS_FACTORS

EFFECT = {"effect": "difference", "effect_low": "low", "effect_high": "high"}
DESCRIBED = ("replications", "share", "share_low", "share_high", "jain", "jain_low", "jain_high", "note")


def level_row(values, base, flows, params) -> dict:
    """Return what one level says of a pair, and what the change from the base is.

    Parameters
    ----------
    values, base : pandas.DataFrame
        As `replication_balances` gives; base is None for the base's own row.
    flows : int
    params : object
        As `main`'s.

    Returns
    -------
    dict
        Columns of `FAIRNESS_FACTORS`; the effect is the change, in percent, of the ratio of both sides' goodputs.
    """
    described = pair_row(values, flows, params)
    row = {name: described[name] for name in DESCRIBED}
    if base is None:
        return row
    row["base_share"] = pair_row(base, flows, params)["share"]
    samples = [frame["balance"].to_numpy(float) for frame in (values, base)]
    samples = [sample[np.isfinite(sample)] for sample in samples]
    if min(map(len, samples)) < 2:
        return row | {"note": sentence(filter(None, [described["note"], "no comparison: fewer than two values"]))}
    result = welch(*samples, params)
    if result is None:
        row["effect"] = to_effect(float(samples[0][0] - samples[1][0]), "ratio")
    else:
        row |= {name: to_effect(result[end], "ratio") for name, end in EFFECT.items()}
        row |= {name: result[name] for name in ("statistic", "df", "p")}
    return row


def compare_factors(runs, alike, ccas, scenarios, params) -> pd.DataFrame:
    """Compare each level of each factor with the base scenario's, for each pair of CCAs.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `two_sided_runs` gives.
    alike : dict of str to bool
        As `paths_alike` gives.
    ccas : list of str
        In the order of the pairs.
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``.
    params : object
        As `main`'s.

    Returns
    -------
    pandas.DataFrame
        `FAIRNESS_FACTORS`. Where paths are alike each pair stands there once, as the study names
        its CCAs; else for each order. p is adjusted over levels and pairs of a factor and IP
        version (Holm, 1979).
    """
    paths = {
        name: (of_scenario["first_rtt_path_ms"].iloc[0], of_scenario["second_rtt_path_ms"].iloc[0])
        for name, of_scenario in runs.groupby("scenario")
    }
    base, levels = base_and_levels(scenarios, paths)
    rows = []
    for ip_version, of_version in runs.groupby("ip_version", sort=False):
        by_scenario = dict(iter(of_version.groupby("scenario")))
        mixes = {name: mixes_of(of_scenario) for name, of_scenario in by_scenario.items()}
        for factor, scenarios_of_levels in levels.items():
            base_level = next(level for level, name in scenarios_of_levels if name == base)
            for level, name in scenarios_of_levels:
                of_level = by_scenario.get(name, of_version[:0])
                for row, column in pairs_to_compare(mixes.get(name, {}), alike[name], ccas):
                    values = [
                        replication_balances(mixes.get(scenario, {}), row, column, alike[scenario])
                        for scenario in (name, base)
                    ]
                    rows.append(
                        {"factor": factor, "level": level, "base_level": base_level, "scenario": name,
                         "scenario_label": of_level["scenario_label"].iloc[0], "ip_version": ip_version,
                         "row_cca": row, "column_cca": column}
                        | level_row(values[0], None if name == base else values[1], int(of_level["flows"].iloc[0]), params)
                    )  # fmt: skip
    table = pd.DataFrame(rows).reindex(columns=FAIRNESS_FACTORS.names)
    if not table.empty:
        table["p_holm"] = adjusted_within(table, ["factor", "ip_version"], "p", "holm")
    return table


def pairs_to_compare(mixes, pooled, ccas) -> list[tuple[str, str]]:
    """Return the pairs of a scenario, each once if both orders are one condition; a CCA with itself only if they aren't."""
    cells = matrix_cells(mixes, pooled, ccas)
    return [pair for pair in cells if not pooled or ccas.index(pair[0]) < ccas.index(pair[1])]


def main(inputs, outputs, params) -> None:
    """Read flows' shares and scenarios, write the comparisons."""
    shares = read_flow_shares(inputs.flow_shares)
    shares = shares[shares["cca"].map(lambda mix: len(ccas_of(mix)) == 2)]
    runs, alike, ccas = two_sided_runs(shares), paths_alike(shares), ccas_in_order(shares)
    scenarios = read_table(inputs.scenarios, SCENARIOS)
    factors = compare_factors(runs, alike, ccas, scenarios, params)
    factors.to_csv(outputs.fairness_factors, index=False, lineterminator="\n")
    theory = compare_with_theory(runs, alike, scenarios, params)
    theory.to_csv(outputs.share_theory, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
