"""Compare shares between the levels of each scenario factor and, for some pairs of CCAs, with theory."""

import numpy as np
import pandas as pd

from inference.collapses import other_kind
from inference.mean_interval import LEAST_RUNS, too_few_words
from inference.multiple_tests import adjusted_within
from inference.paired_comparison import sentence
from inference.paired_contrasts import to_effect
from inference.welch import welch
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.queue_sizes import queues_of
from topics.fairness.flow_shares import matrix_cells, numbered, pairs_of
from topics.fairness.pair_shares import coarsest_known, mixes_of, pair_row, replication_balances
from topics.fairness.scenario_factors import base_and_levels
from topics.fairness.share_theory import compare_with_theory
from topics.fairness.tables import FAIRNESS_FACTORS

EFFECT = {"effect": "difference", "effect_low": "low", "effect_high": "high"}


def _level_row(values, base, flows, params):
    """Return a pair's result at one level, with the percentage by which the goodput ratio differs from the ratio in the base scenario.

    ``values`` and ``base`` come from `replication_balances`; ``base`` is None for the row of the base itself.
    """
    row = pair_row(values, flows, params)
    row.pop("p", None)  # the p-value of a test against one half, which isn't in this table
    if base is None:
        return row
    row["base_share"] = pair_row(base, flows, params)["share"]
    samples = [frame["balance"].to_numpy(float) for frame in (values, base)]
    samples = [sample[np.isfinite(sample)] for sample in samples]
    fewest, steps = min(map(len, samples)), [coarsest_known(frame["step"]) for frame in (values, base)]
    if fewest < LEAST_RUNS:
        return row | {"note": sentence(dict.fromkeys(filter(None, [row["note"], too_few_words(fewest)])))}
    result = welch(*samples, params, steps)
    if result is None:
        return row | {"effect": to_effect(float(samples[0].mean() - samples[1].mean()), "ratio")}
    effect = {name: to_effect(result[end], "ratio") for name, end in EFFECT.items()}
    if any(other_kind(sample, step).any() for sample, step in zip(samples, steps, strict=True)):
        effect |= {"effect_low": None, "effect_high": None}
        row["note"] = sentence(filter(None, [row["note"], "no interval for the change: there are two kinds of runs"]))
    return row | effect | {name: result[name] for name in ("statistic", "df", "p")}


def compare_levels(pairs, scenarios, queues, params) -> pd.DataFrame:
    """Compare each level of each factor with the level of the base scenario, for each pair of CCAs.

    Returns `FAIRNESS_FACTORS`. If the two flows' paths are alike, each pair is listed once, with the CCAs in the study's order. If
    they aren't, the table lists both orders of each pair, and each CCA against itself. Within a factor and IP version, p is adjusted
    over all levels and pairs (Holm, 1979).

    ``queues`` gives the packet and queue sizes of the scenarios (from `queue_sizes.queues_of`).
    """
    rtts = pairs.runs.reindex(columns=["scenario", "first_rtt_path_ms", "second_rtt_path_ms"])
    paths = {scenario: rtts_ms for scenario, *rtts_ms in rtts.drop_duplicates("scenario").itertuples(index=False)}
    rows = []
    for ip_version, of_version in pairs.runs.groupby("ip_version", sort=False):
        held = queues.xs(ip_version, level="ip_version")
        base, levels = base_and_levels(scenarios.merge(held, left_on="scenario", right_index=True), paths)
        by_scenario = dict(iter(of_version.groupby("scenario")))
        mixes = {name: mixes_of(of_scenario) for name, of_scenario in by_scenario.items()}
        for factor, scenarios_of_levels in levels.items():
            base_level = next(level for level, name in scenarios_of_levels if name == base)
            for level, name in scenarios_of_levels:
                alike = pairs.alike[name]
                for row, column in matrix_cells(mixes.get(name, {}), alike, pairs.ccas):
                    if alike and pairs.ccas.index(row) >= pairs.ccas.index(column):
                        continue
                    values, at_base = (
                        replication_balances(mixes.get(scenario, {}), row, column, pairs.alike[scenario])
                        for scenario in (name, base)
                    )
                    first = by_scenario[name].iloc[0]
                    rows.append(
                        {"factor": factor, "level": level, "base_level": base_level, "scenario": name,
                         "scenario_label": first["scenario_label"], "ip_version": ip_version,
                         "row_cca": row, "column_cca": column}
                        | _level_row(values, None if name == base else at_base, int(first["flows"]), params)
                    )  # fmt: skip
    table = pd.DataFrame(rows).reindex(columns=FAIRNESS_FACTORS.names)
    if not table.empty:
        table["p_holm"] = adjusted_within(table, ["factor", "ip_version"], "p", "holm")
    return table


def compare_factors(flow_shares, scenarios, runs, params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `FAIRNESS_FACTORS` and `SHARE_THEORY`."""
    pairs = pairs_of(numbered(flow_shares))
    queues = queues_of(runs_at_centre(runs, scenarios))
    arguments = pairs, scenarios, queues, params
    return compare_levels(*arguments), compare_with_theory(*arguments)
