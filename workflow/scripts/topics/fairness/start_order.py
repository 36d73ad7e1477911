"""Does it matter which flow starts first, or which pair of hosts a CCA has?

The moments at which flows start are drawn for each scenario and replication, and are the same for
every mix: that draw is the unit, of which there are as many as scenarios times replications.
"""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from scipy import stats

from inference.multiple_tests import adjusted_within
from inference.paired_contrasts import to_effect
from inference.share_intervals import expit
from inference.welch import welch
from topics.fairness.tables import START_ORDER

PERMUTATIONS = 9999
HOSTS, START = "first pair of hosts", "first to start"
UNIT = ["scenario", "replication"]


def unit_effects(runs, first, second) -> pd.DataFrame:
    """Return the advantage of the first position in each unit for one unordered pair of CCAs.

    With b(a+b) = d + h + s and b(b+a) = -d + h + s, where d is what sets the CCAs apart, h the
    hosts' advantage and s that of starting first (its sign changed where the second position
    does), their mean is h + s whatever d is.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `two_sided_runs` gives, of scenarios whose paths are alike.
    first, second : str
        CCAs; if they are the same, the mix is its own other order.

    Returns
    -------
    pandas.DataFrame
        By scenario and replication: advantage, start (1, -1; 0 if unknown or not the same in both orders).
    """
    orders = [_of_mix(runs, first, second)] + ([_of_mix(runs, second, first)] if first != second else [])
    joined = pd.concat(orders, axis=1, join="inner", keys=range(len(orders)))
    balances, starts = joined.xs("balance", axis=1, level=1), joined.xs("start", axis=1, level=1)
    effects = pd.DataFrame(
        {"advantage": balances.mean(axis=1), "start": starts.iloc[:, 0].where(starts.nunique(axis=1) == 1, 0)}
    )
    return effects[np.isfinite(effects["advantage"])]


def _of_mix(runs, first, second):
    of_mix = runs[(runs["first_cca"] == first) & (runs["second_cca"] == second)]
    return of_mix.set_index(UNIT)[["balance", "start"]].astype(float)


def effect_rows(effects, params) -> dict[str, dict]:
    """Return estimate, interval and test of what the hosts and what starting first are worth.

    With m1 and m2 the mean advantages of the units in which the first and the second position
    starts first, the hosts' advantage is (m1 + m2) / 2 and that of starting first (m1 - m2) / 2:
    neither stands in for the other. Both intervals are Welch's (1947). Starting first is tested by
    permuting which units are which, as the draw does; of more than `PERMUTATIONS` arrangements so
    many are drawn.

    Parameters
    ----------
    effects : pandas.DataFrame
        As `unit_effects` gives.
    params : object
        With confidence and significance.

    Returns
    -------
    dict of str to dict
        `HOSTS` and `START`, each with the columns of `START_ORDER` from ``units`` to ``note`` but p_holm.
    """
    groups = [effects.loc[effects["start"] == sign, "advantage"].to_numpy(float) for sign in (1, -1)]
    row = {"units": sum(map(len, groups))}
    if min(map(len, groups)) < 2 or sum(group.var() for group in groups) == 0:
        return dict.fromkeys((HOSTS, START), row | {"note": "too few units in which either starts first, or all alike"})
    by_hosts, by_start = (welch(groups[0], other, params) for other in (-groups[1], groups[1]))
    permuted = stats.permutation_test(
        groups, _difference, vectorized=True, n_resamples=PERMUTATIONS, rng=np.random.default_rng(params.seed)
    )
    return {
        HOSTS: row | halved(by_hosts) | {"test": "Welch's t", "p": by_hosts["p"], "note": ""},
        START: row | halved(by_start) | {"test": "permutation", "p": float(permuted.pvalue), "note": ""},
    }


def _difference(first, second, axis):
    return first.mean(axis=axis) - second.mean(axis=axis)


def halved(result) -> dict:
    """Return half a difference of balances as a share and as a ratio of goodputs, with its intervals."""
    row = {"smallest_margin": max(abs(to_effect(result[name] / 2, "ratio")) for name in ("tost_low", "tost_high"))}
    for end, name in (("difference", ""), ("low", "_low"), ("high", "_high")):
        row[f"share{name}"] = float(expit(result[end] / 2))
        row[f"ratio{name}" if name else "ratio_percent"] = to_effect(result[end] / 2, "ratio")
    return row


def compare_start_order(runs, alike, ccas, params) -> pd.DataFrame:
    """Estimate what position and start are worth: over all pairs of CCAs, and for each.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `two_sided_runs` gives.
    alike : dict of str to bool
        As `paths_alike` gives; other scenarios don't count.
    ccas : list of str
        In the order of the pairs.
    params : object
        With confidence, significance, and the seed of the permutations.

    Returns
    -------
    pandas.DataFrame
        `START_ORDER`; cca_a and cca_b are empty in the rows over all pairs, which is the mean of
        the pairs in each unit. p of the pairs is adjusted over them (Holm, 1979).
    """
    rows = []
    for ip_version, of_version in runs[runs["scenario"].map(alike).astype(bool)].groupby("ip_version", sort=False):
        pairs = {pair: unit_effects(of_version, *pair) for pair in combinations_with_replacement(ccas, 2)}
        pairs = {pair: effects for pair, effects in pairs.items() if len(effects)}
        if not pairs:
            continue
        together = pd.concat(pairs.values()).groupby(level=[0, 1])
        unanimous = together["start"].agg(lambda starts: starts.iloc[0] if starts.nunique() == 1 else 0)
        whole = pd.DataFrame({"advantage": together["advantage"].mean(), "start": unanimous})
        for (cca_a, cca_b), effects in {("", ""): whole, **pairs}.items():
            for effect, row in effect_rows(effects, params).items():
                rows.append({"effect": effect, "ip_version": ip_version, "cca_a": cca_a, "cca_b": cca_b} | row)
    table = pd.DataFrame(rows).reindex(columns=START_ORDER.names)
    each = table["cca_a"] != ""
    table["p_holm"] = adjusted_within(table[each], ["effect", "ip_version"], "p", "holm").reindex(table.index)
    return table
