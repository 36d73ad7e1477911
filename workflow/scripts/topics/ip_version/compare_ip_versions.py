"""Compare IPv6 with IPv4, cell by cell: difference, equivalence, test against the header's effect, and power.

The IPv4 run and the IPv6 run of a scenario, CCA and replication use the same seed, so they are a pair. Each row compares one metric for
one scenario and CCA. Differences are given for IPv6 relative to IPv4.
"""

import pandas as pd

from inference.collapses import largest_share, other_kind
from inference.equivalence import INSIDE, OUTSIDE, bounds, place, smallest_margin, tost, tost_interval
from inference.multiple_tests import adjusted
from inference.paired_comparison import Family, compare, incomplete_words, sentence
from inference.paired_contrasts import from_effect, to_effect
from inference.paired_effects import hodges_lehmann_interval, rank_biserial
from inference.sample_size import MAX_PAIRS, detectable_effect, pairs_needed_in_family, spreads_of
from run_tables.exclusions import runs_with_exclusions, with_kept
from run_tables.metrics import METRICS
from topics.ip_version.run_pairs import IPV4, IPV6, pairs_of
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.ip_version.verdicts import verdict
from wording.scenario_words import ip_words

SIDES = (IPV6, IPV4)
YES, NO, OPEN = "yes", "no", "open"
#: Integer columns whose values may be missing.
COUNTS = (
    "pairs_needed", "pairs_needed_low", "pairs_needed_high", "apart_ipv4", "apart_ipv6", "apart_pairs",
)  # fmt: skip
#: Position of an interval relative to the margins of the expected difference -> whether the difference is as expected.
AS_EXPECTED = {INSIDE: YES, OUTSIDE: NO}


def compare_cell(metric, pairs, tests, params) -> dict:
    """Compare the IP versions for one scenario and CCA.

    Returns all columns of `IP_VERSION_TESTS` that depend only on this scenario and CCA, which excludes p_holm, p_bh, the verdicts, and the
    row's keys and units.

    Parameters
    ----------
    metric : metrics.Metric
        The metric to compare.
    pairs : pandas.DataFrame
        Pairs of one cell, as returned by `pairs_of`.
    tests : int
        Number of tests over all cells and metrics. Power is calculated at the significance level corrected for this number.
    """
    complete = pairs[[IPV4, IPV6]].notna().all(axis=1)
    used = pairs[complete]
    resolution = tuple(float(used[f"resolution_{version}"].max()) if len(used) else 0.0 for version in SIDES)
    resolution = tuple(0.0 if pd.isna(step) else step for step in resolution)
    values = tuple(used[version].to_numpy() for version in SIDES)
    family = Family(params.confidence, params.significance, tests)
    result = compare(*values, metric.scale, metric.effect_unit, family, resolution)
    notes = list(result.notes)
    if not complete.all():
        notes.insert(0, incomplete_words(int((~complete).sum()), len(complete)))
    names = ("scale", "pairs", "n", "effect", "ci_low", "ci_high", "hl", "one_value", "all_alike", "normality_p")
    row = {name: getattr(result, name) for name in names} | result.tested()
    row |= {"mean_ipv4": result.mean_b, "mean_ipv6": result.mean_a}
    row |= {"margin": params.margins[metric.column], "equivalent": "", "as_expected": ""}
    if result.pairs:
        row["rank_biserial"] = rank_biserial(result.contrasts)
    if result.pairs > 1 and not (result.one_value or result.all_alike):
        hl = hodges_lehmann_interval(result.contrasts, params.confidence, result.walsh)
        row["hl_low"], row["hl_high"] = (to_effect(end, result.scale) for end in hl) if hl else (None, None)
        row |= _power_columns(result, params.detect[metric.column], metric.effect_unit, tests, params, notes)
    if result.pairs:
        row |= _kinds_columns(values, result, resolution, params)
    # If there are outliers among the pairs, there is no interval for the mean, so equivalence can't be tested.
    if result.estimated is not None:
        row |= _equivalence_columns(result.estimated, result.scale, row["margin"], params)
    row |= _expected_columns(metric, result, result.estimated, used, params, notes)
    return row | {"note": sentence(notes)}


def _kinds_columns(values, result, resolution, params) -> dict[str, float]:
    """Return the columns about outliers among the runs of each IP version and among the pairs.

    The last column is an upper confidence bound on the share of outliers among pairs.
    """
    six, four = (int(other_kind(side, step).sum()) for side, step in zip(values, resolution, strict=True))
    return {
        "apart_ipv4": four, "apart_ipv6": six, "apart_pairs": result.apart,
        "apart_possible_percent": 100 * largest_share(result.apart, result.pairs, params.significance),
    }  # fmt: skip


def _expected_columns(metric, result, test, used, params, notes) -> dict[str, float | str]:
    """Return the columns that compare the difference in goodput with the effect expected from IPv6's longer header.

    On a saturated link, goodput is proportional to the segment size, so the expected ratio is mss6 / mss4. The measured ratio is as
    expected if two one-sided tests show that it lies within a margin around this ratio, and not as expected if the interval of these tests
    lies entirely outside the margin.
    """
    if metric.column != "goodput_mbps" or result.pairs == 0:
        return {}
    sizes = [used[f"mss_{version}"].unique() for version in (IPV4, IPV6)]
    if any(len(size) != 1 or not size[0] > 0 for size in sizes):
        notes.append("the segment size is unknown or not the same in all runs: no expected effect")
        return {}
    expected = 100 * (float(sizes[1][0] / sizes[0][0]) - 1)
    row = {"expected_effect": expected}
    if result.scale != "ratio":
        notes.append("no comparison with the expected effect, which is a ratio")
        return row
    low, high = (from_effect(expected + side * params.header_margin, result.scale) for side in (-1, 1))
    if result.one_value:
        return row | {"as_expected": YES if low < from_effect(result.effect, result.scale) < high else NO}
    if test is None:
        return row
    where = place(tost_interval(test, params.significance), low, high)
    return row | {"p_expected": tost(test, low, high), "as_expected": AS_EXPECTED.get(where, OPEN)}


def _equivalence_columns(test, scale, margin, params) -> dict[str, float | str]:
    """Return the results of the two one-sided tests: p-value, decision, interval, and the smallest margin that would show equivalence."""
    interval = tost_interval(test, params.significance)
    p = tost(test, *bounds(margin, scale))
    low, high = (to_effect(bound, scale) for bound in interval)
    return {
        "ci90_low": low,
        "ci90_high": high,
        "p_tost": p,
        "equivalent": YES if p < params.significance else NO,
        "smallest_margin": smallest_margin(interval, scale),
    }


def _power_columns(result, detect, effect_unit, tests, params, notes) -> dict:
    """Return the smallest detectable effect, and the number of pairs needed to detect the effect ``detect``.

    For each of the two, the confidence interval of the standard deviation gives a range. Both apply to the test of the mean at the
    significance level of the first test in Holm's procedure.
    """
    level, row = params.significance / max(tests, 1), {}
    for end, spread in spreads_of(result.contrasts, params.confidence).items():
        needed = pairs_needed_in_family(spread, detect, params.power, params.significance, result.scale, tests)
        row[f"pairs_needed{end}"] = needed
        if result.reaches:
            row[f"detectable{end}"] = detectable_effect(spread, result.pairs, params.power, level, result.scale)
    if row["pairs_needed"] is None:
        notes.append(f"more than {MAX_PAIRS:,} pairs needed to show {detect:g} {effect_unit}")
    return row


def compare_valid(runs, params) -> pd.DataFrame:
    """Return `IP_VERSION_TESTS`, ordered by metric; within a metric, cells are in the order of ``runs``."""
    labels = dict(zip(runs["scenario"], runs["scenario_label"], strict=True))
    versions = sorted(set(runs["ip_version"]))
    rows = []
    for metric in METRICS:
        same = {"metric": metric.column, "unit": metric.unit, "effect_unit": metric.effect_unit}
        cells = pairs_of(runs, metric.column).groupby(["scenario", "cca"], sort=False)
        for (scenario, cca), pairs in cells:
            cell = compare_cell(metric, pairs, len(METRICS) * len(cells), params)
            if len(versions) < 2:
                cell["note"] = f"the study has {ip_words(versions[0])} only"
            rows.append(same | {"scenario": scenario, "scenario_label": labels[scenario], "cca": cca} | cell)
    table = pd.DataFrame(rows).reindex(columns=[*IP_VERSION_TESTS.names, "one_value", "all_alike"])
    for column, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        table[column] = adjusted(table["p"], method)
    table["verdict"] = [verdict(row, params.significance) for row in table.to_dict("records")]
    return table[IP_VERSION_TESTS.names].astype(dict.fromkeys(COUNTS, "Int64"))


def compare_ip_versions(runs, params) -> pd.DataFrame:
    """Return `IP_VERSION_TESTS`."""
    table, kept = compare_valid(runs, params), runs_with_exclusions(runs)
    if kept is not None:
        table = with_kept(table, compare_valid(kept, params), ["metric", "scenario", "cca"], ["verdict"])
    return table
