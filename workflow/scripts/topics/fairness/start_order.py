"""Estimate how the shares of two CCAs depend on which CCA starts first and which pair of hosts each CCA uses.

The flows' start times are drawn at random for each scenario and replication, and are the same for every mix. Each draw is one
unit of analysis, so the number of units is the number of scenarios times the number of replications.
"""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd

from inference.mean_interval import repeats_one_measurement
from inference.multiple_tests import adjusted_within
from inference.paired_contrasts import to_effect
from inference.share_intervals import expit
from inference.welch import welch
from topics.fairness.tables import START_ORDER

PERMUTATIONS = 9999
HOSTS, START = "first pair of hosts", "first to start"
UNIT = ["scenario", "replication"]


def _unit_effects(runs, first, second):
    """Return, for an unordered pair of CCAs, the first position's advantage and the position that starts first in each unit.

    The balances are b(a+b) = d + h + s and b(b+a) = -d + h + s, where d is the difference between the CCAs, h the
    advantage of the hosts, and s the advantage of starting first (with a negative sign if the second position
    starts first). The mean of the two balances is h + s for any d. If both CCAs are the same, the mix is its own
    reverse. The start is 1 (the first position starts first), -1 (the second does), or 0 if it is unknown or differs between the orders.
    """
    orders = [_of_mix(runs, first, second)] + ([_of_mix(runs, second, first)] if first != second else [])
    joined = pd.concat(orders, axis=1, join="inner", keys=range(len(orders)))
    balances, starts = joined.xs("balance", axis=1, level=1), joined.xs("start", axis=1, level=1)
    effects = pd.DataFrame(
        {"advantage": balances.mean(axis=1), "start": starts.iloc[:, 0].where(starts.nunique(axis=1) == 1, 0)}
    )
    step = joined.xs("step", axis=1, level=1).max(axis=1)
    effects = effects.assign(step=step)[np.isfinite(effects["advantage"])]
    return _measurements(effects)


def _measurements(effects):
    """Return the units; units with the same scenario and start are merged into one if they repeat one measurement."""
    kept = []
    for _, group in effects.groupby([effects.index.get_level_values("scenario"), "start"], sort=False):
        same = repeats_one_measurement(group["advantage"].to_numpy(), group["step"].max())
        kept.append(group[:1].assign(advantage=group["advantage"].mean()) if same else group)
    return pd.concat(kept) if kept else effects


def _of_mix(runs, first, second):
    of_mix = runs[(runs["first_cca"] == first) & (runs["second_cca"] == second)]
    return of_mix.set_index(UNIT)[["balance", "start", "step"]].astype(float)


def _effect_rows(effects, params):
    """Return the estimates, intervals and tests of the hosts' advantage and the advantage of starting first.

    ``effects`` is the result of `_unit_effects`.

    If m1 is the mean advantage in the units in which the first position starts first, and m2 the mean advantage in the units in which the
    second position does, the hosts' advantage is (m1 + m2) / 2 and the advantage of starting first is (m1 - m2) / 2, so neither advantage
    biases the estimate of the other. Both intervals are Welch's (1947). The advantage of starting first is tested by permuting the units'
    starts, which are random; if there are more than `PERMUTATIONS` permutations, only `PERMUTATIONS` of them are sampled.
    """
    groups = [effects.loc[effects["start"] == sign, "advantage"].to_numpy(float) for sign in (1, -1)]
    row = {"units": sum(map(len, groups))}
    if min(map(len, groups)) < 2 or sum(group.var() for group in groups) == 0:
        return dict.fromkeys(
            (HOSTS, START),
            row | {"note": "too few draws in which either position starts first, or all draws are alike"},
        )
    by_hosts, by_start = (welch(groups[0], other, params) for other in (-groups[1], groups[1]))
    from scipy import stats  # imported here, because the import takes half a second

    permuted = stats.permutation_test(
        groups, _difference, vectorized=True, n_resamples=PERMUTATIONS, rng=np.random.default_rng(params.seed)
    )
    return {
        HOSTS: row | _halved(by_hosts) | {"test": "Welch's t", "p": by_hosts["p"], "note": ""},
        START: row | _halved(by_start) | {"test": "permutation", "p": float(permuted.pvalue), "note": ""},
    }


def _difference(first, second, axis):
    return first.mean(axis=axis) - second.mean(axis=axis)


def _halved(result):
    """Return half of a difference in balances as a share and as a ratio of goodputs, each with an interval."""
    row = {"smallest_margin": max(abs(to_effect(result[name] / 2, "ratio")) for name in ("tost_low", "tost_high"))}
    for end, name in (("difference", ""), ("low", "_low"), ("high", "_high")):
        row[f"share{name}"] = float(expit(result[end] / 2))
        row[f"ratio{name}" if name else "ratio_percent"] = to_effect(result[end] / 2, "ratio")
    return row


def compare_start_order(pairs, params) -> pd.DataFrame:
    """Estimate the advantages of the first pair of hosts and of starting first, for all pairs of CCAs together and for each pair.

    Returns `START_ORDER`. In the rows over all pairs, cca_a and cca_b are empty, and the value of a unit is the mean over the
    pairs. The p-values of individual pairs are adjusted over the pairs (Holm, 1979).

    Parameters
    ----------
    pairs : Pairs
        Pairs of CCAs; scenarios with different paths for the two flows are ignored.
    params : object
        Object with confidence, significance, and the seed of the permutations.
    """
    rows = []
    runs = pairs.runs[pairs.runs["scenario"].map(pairs.alike).astype(bool)]
    for ip_version, of_version in runs.groupby("ip_version", sort=False):
        by_pair = {pair: _unit_effects(of_version, *pair) for pair in combinations_with_replacement(pairs.ccas, 2)}
        by_pair = {pair: effects for pair, effects in by_pair.items() if len(effects)}
        if not by_pair:
            continue
        together = pd.concat(by_pair.values()).groupby(level=[0, 1])
        unanimous = together["start"].agg(lambda starts: starts.iloc[0] if starts.nunique() == 1 else 0)
        whole = pd.DataFrame({"advantage": together["advantage"].mean(), "start": unanimous})
        for (cca_a, cca_b), effects in {("", ""): whole, **by_pair}.items():
            for effect, row in _effect_rows(effects, params).items():
                rows.append({"effect": effect, "ip_version": ip_version, "cca_a": cca_a, "cca_b": cca_b} | row)
    table = pd.DataFrame(rows).reindex(columns=START_ORDER.names)
    each = table["cca_a"] != ""
    table["p_holm"] = adjusted_within(table[each], ["effect", "ip_version"], "p", "holm").reindex(table.index)
    return table
