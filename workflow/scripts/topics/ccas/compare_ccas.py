"""Compare the CCAs in each scenario and IP version: all at once, then pair by pair.

Runs of one scenario and replication use the same seed for every CCA, so they form a block. A difference between two CCAs is the first
CCA's value relative to the second's.
"""

import math
from itertools import combinations

import numpy as np
import pandas as pd

from inference.block_tests import (
    friedman_test,
    kruskal_wallis_test,
    smallest_friedman_p,
    smallest_kruskal_wallis_p,
    without_noise,
)
from inference.multiple_tests import adjusted
from inference.paired_comparison import Family, compare, incomplete_words, sentence
from inference.paired_contrasts import to_effect
from inference.paired_effects import cliffs_delta, hodges_lehmann_interval
from run_tables.exclusions import runs_with_exclusions, with_kept
from run_tables.metrics import METRICS
from run_tables.resolution import coarsest, resolutions
from topics.ccas.blocks import blocks_of
from topics.ccas.tables import CCA_PAIRS, CCA_TESTS
from wording.number_format import count

GROUP = ["scenario", "ip_version"]
# Minimum share of complete blocks; with a smaller share, the test would be based on a minority of the runs.
MIN_COMPLETE_SHARE = 0.5


def compare_group(blocks, significance, resolution=0.0) -> dict:
    """Test whether the CCAs of one scenario and IP version differ.

    Friedman's test compares the complete blocks. If exclusions leave too few complete blocks, the Kruskal-Wallis test compares all values
    instead; it ignores that runs share a seed.

    Returns the columns of `CCA_TESTS` that follow the IP version, except p_holm and p_holm_kept.

    Parameters
    ----------
    blocks : pandas.DataFrame
        One row per replication and one column per CCA; a value is missing if none was measured.
    significance : float
        Significance level. A test is skipped if there are so few values that no p-value could lie below this level.
    resolution : float
        Resolution of the metric, in its unit. If the values of each CCA differ by less than this, the blocks repeat one
        measurement, and no test is made.
    """
    notes = []
    without = [cca for cca in blocks.columns if blocks[cca].isna().all()]
    if without:
        notes.append(f"no value of {', '.join(without)}")
    blocks = blocks.drop(columns=without)
    complete = blocks.dropna()
    row = {"ccas": blocks.shape[1], "blocks": len(complete) if blocks.shape[1] else 0, "test": ""}
    if blocks.shape[1] < 3:
        reasons = ["nothing to compare", "one CCA: nothing to compare", "two CCAs: the test of the pair suffices"]
        return row | {"note": sentence([*notes, reasons[blocks.shape[1]]])}
    missing = len(blocks) - len(complete)
    if missing:
        notes.append(f"{missing} of {count(len(blocks), 'block')} {'is' if missing == 1 else 'are'} incomplete")
    if len(complete) > 1 and (np.ptp(complete.to_numpy(), axis=0) < max(resolution, 1e-300)).all():
        notes.append(f"all {len(complete)} blocks repeat one measurement: n = 1, so no test")
    elif smallest_friedman_p(*complete.shape) < significance and len(complete) >= MIN_COMPLETE_SHARE * len(blocks):
        result = friedman_test(complete.to_numpy())
        if result is None:
            notes.append("all CCAs equal in every block, so no test")
        else:
            row |= {"test": "Friedman", **dict(zip(("statistic", "p", "kendall_w"), result, strict=True))}
    elif missing == 0:
        notes.append(f"{count(len(complete), 'block')} of {blocks.shape[1]} CCAs can't give p < {significance:g}")
    else:
        row |= _compare_unblocked(blocks, significance, notes)
    return row | {"note": sentence(notes)}


def _compare_unblocked(blocks, significance, notes) -> dict:
    """Test the CCAs' values as independent groups; append the reason for this test (or for no test) to `notes`."""
    groups = [blocks[cca].dropna().to_numpy() for cca in blocks.columns]
    if smallest_kruskal_wallis_p([len(group) for group in groups]) >= significance:
        notes.append(f"too few values for p < {significance:g}")
        return {}
    result = kruskal_wallis_test(groups)
    if result is None:
        notes.append("all values equal, so no test")
        return {}
    notes.append("too few complete blocks, so the values count as independent")
    return {"test": "Kruskal-Wallis", "statistic": result[0], "p": result[1]}


def compare_pair(metric, a, b, resolution, tests, params) -> dict:
    """Compare two CCAs in one scenario and IP version.

    Returns the columns of `CCA_PAIRS` that follow `cca_b`, except p_holm, p_holm_kept and effect_kept.

    Parameters
    ----------
    metric : metrics.Metric
        The metric to compare.
    a, b : numpy.ndarray of float, shape (n,)
        Values of both CCAs by replication; nan where a value is missing.
    resolution : float
        Resolution of the metric, in its unit.
    tests : int
        Number of paired tests in the entire study, over all metrics; p may be corrected for this number.
    """
    complete = ~(np.isnan(a) | np.isnan(b))
    a, b = a[complete], b[complete]
    family = Family(params.confidence, params.significance, tests)
    result = compare(a, b, metric.scale, metric.effect_unit, family, (resolution, resolution))
    notes = list(result.notes)
    if not complete.all():
        notes.insert(0, incomplete_words(int((~complete).sum()), len(complete)))
    names = ("pairs", "n", "mean_a", "mean_b", "effect", "ci_low", "ci_high", "hl")
    row = {name: getattr(result, name) for name in names} | {"note": sentence(notes)}
    row |= result.tested()
    if result.pairs:
        row["cliffs_delta"] = cliffs_delta(*np.split(without_noise(np.concatenate([a, b])), 2))
    if result.pairs > 1 and not (result.one_value or result.all_alike):
        interval = hodges_lehmann_interval(result.contrasts, params.confidence, result.walsh)
        if interval is not None:
            row["hl_low"], row["hl_high"] = (to_effect(bound, result.scale) for bound in interval)
    return row


def compare_valid(runs, params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the CCAs in every scenario and IP version.

    A pair can be found to differ only if the joint test of all CCAs in the same scenario and IP version finds a difference. The p-values of
    joint tests are corrected for all scenarios, IP versions and metrics, and those of pairs for all pairs in the study. If a study contains
    no true difference, the probability that it reports a difference is thus at most the significance level (gatekeeping: Dmitrienko and
    others, 2009, section 5).

    Returns `CCA_TESTS` and `CCA_PAIRS`. Rows are sorted by metric, in the order of `metrics.METRICS`, and otherwise follow the order of
    ``runs``.
    """
    together, by_pair = [], []
    groups = list(runs.groupby(GROUP, sort=False))
    tests = len(METRICS) * sum(math.comb(group["cca"].nunique(), 2) for _, group in groups)
    for metric in METRICS:
        same = {"metric": metric.column, "unit": metric.unit, "effect_unit": metric.effect_unit}
        steps = resolutions(runs, metric.column).where(runs["valid"])
        for (scenario, ip_version), group in groups:
            label, resolution = group["scenario_label"].iloc[0], coarsest(steps[group.index])
            place = same | {"scenario": scenario, "scenario_label": label, "ip_version": ip_version}
            blocks = blocks_of(group, metric.column)
            together.append(place | compare_group(blocks, params.significance, resolution))
            for a, b in combinations(blocks.columns, 2):
                pair = compare_pair(metric, blocks[a].to_numpy(), blocks[b].to_numpy(), resolution, tests, params)
                by_pair.append(place | {"cca_a": a, "cca_b": b} | pair)
    together = pd.DataFrame(together).reindex(columns=CCA_TESTS.names)
    by_pair = pd.DataFrame(by_pair).reindex(columns=CCA_PAIRS.names)
    together["p_holm"] = adjusted(together["p"], "holm")
    by_pair["p_holm"] = gated(by_pair, together, params.significance)
    return together, by_pair


def gated(by_pair, together, significance) -> pd.Series:
    """Return the pairs' p-values with Holm's correction for all pairs in the study; 1 where the joint test finds no difference.

    The correction also counts the pairs for which the joint test finds no difference. When these pairs weren't counted, 22 % of studies
    reported a false difference: the values of one pair may happen to be so far apart that the joint test finds a difference for this reason
    alone. With two CCAs there is no joint test, so the test of the pair isn't restricted.
    """
    place = ["metric", *GROUP]
    gates = together.set_index(place)
    passed = gates["p_holm"].lt(significance) | gates["ccas"].lt(3)
    opened = pd.Series(passed.reindex(pd.MultiIndex.from_frame(by_pair[place])).to_numpy(bool), by_pair.index)
    return adjusted(by_pair["p"], "holm").where(opened | by_pair["p"].isna(), 1.0)


def compare_ccas(runs, params) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `CCA_TESTS` and `CCA_PAIRS`."""
    (together, by_pair), kept = compare_valid(runs, params), runs_with_exclusions(runs)
    if kept is not None:
        together_kept, by_pair_kept = compare_valid(kept, params)
        together = with_kept(together, together_kept, ["metric", *GROUP], ["p_holm"])
        by_pair = with_kept(by_pair, by_pair_kept, ["metric", *GROUP, "cca_a", "cca_b"], ["p_holm", "effect"])
    return together, by_pair
