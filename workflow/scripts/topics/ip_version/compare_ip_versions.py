"""Compare IPv6 with IPv4, cell by cell: difference, equivalence, the right null, power.

Runs of one scenario, CCA and replication have the same seed over IPv4 and IPv6: they are a pair.
Each row is one metric of one scenario and CCA. Differences are IPv6 against IPv4.
"""

import math
import zlib

import numpy as np
import pandas as pd

from inference.equivalence import bounds, smallest_margin, tost, tost_interval
from inference.multiple_tests import adjusted_within
from inference.paired_comparison import compare, incomplete_words, sentence
from inference.paired_contrasts import to_effect
from inference.paired_effects import bootstrap_counts, bootstrap_hodges_lehmann, bootstrap_rank_biserial, rank_biserial
from inference.paired_tests import p_of
from inference.sample_size import MAX_PAIRS, detectable_effect, pairs_needed
from rule_script import run_rule
from run_tables.metrics import METRICS
from run_tables.reading import read_runs
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.ip_version.verdicts import verdict
from wording.scenario_words import ip_words

IPV4, IPV6 = "ipv4", "ipv6"


def _pairs_of(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the values of each pair of runs, in the table's order, missing where a run is excluded or has none.

    Indexed by scenario, cca and replication; columns ipv4, ipv6, mss_ipv4, mss_ipv6 (bytes).
    """
    known = runs["valid"] & runs[metric].notna()
    values = runs.assign(value=runs[metric].where(known), mss=runs["mss_bytes"].where(known))
    pair = ["scenario", "cca", "replication"]
    wide = values.pivot(index=pair, columns="ip_version", values=["value", "mss"]).reindex(
        index=pd.MultiIndex.from_frame(values[pair].drop_duplicates()),
        columns=pd.MultiIndex.from_product([["value", "mss"], [IPV4, IPV6]]),
    )
    return wide.set_axis([IPV4, IPV6, "mss_ipv4", "mss_ipv6"], axis=1)


def compare_cell(metric, pairs, key, params) -> dict:
    """Compare the IP versions in one scenario with one CCA.

    Parameters
    ----------
    metric : metrics.Metric
        What is compared.
    pairs : pandas.DataFrame
        ipv4, ipv6, mss_ipv4, mss_ipv6 (bytes) of each replication; missing where there is none.
    key : str
        Names the row; the bootstrap's seed is made of the study's and this.
    params : object
        As `main`'s.

    Returns
    -------
    dict
        Columns of `IP_VERSION_TESTS` from `pairs` on, but for what needs the other cells: p_holm, p_bh,
        p_expected_holm, verdict.
    """
    complete = pairs[[IPV4, IPV6]].notna().all(axis=1)
    used = pairs[complete]
    result = compare(
        used[IPV6].to_numpy(), used[IPV4].to_numpy(), metric.scale, metric.effect_unit,
        params.confidence, params.significance,
    )  # fmt: skip
    notes = list(result.notes)
    if not complete.all():
        notes.insert(0, incomplete_words(int((~complete).sum()), len(complete)))
    row = {name: getattr(result, name) for name in ("scale", "pairs", "effect", "ci_low", "ci_high", "hl", "constant")}
    row |= {"mean_ipv4": result.mean_b, "mean_ipv6": result.mean_a, "normality_p": result.test.normality_p}
    row |= {"test": result.test.name, "statistic": result.test.statistic, "p": result.test.p}
    row |= {"margin": params.margins[metric.column], "equivalent": ""}
    row |= _expected_columns(metric, result, used, notes)
    if result.pairs:
        row["rank_biserial"] = rank_biserial(result.contrasts)
    if result.pairs > 1 and not result.constant:
        row |= _bootstrap_columns(result, key, params, notes)
        row |= _equivalence_columns(result, row["margin"], params, notes)
        row |= _power_columns(result, params.detect[metric.column], metric.effect_unit, params, notes)
    return row | {"note": sentence(notes)}


def _expected_columns(metric, result, used, notes) -> dict[str, float]:
    """Return the goodput ratio that the headers alone make, and p of the test against it.

    A full link carries goodput in proportion to the segment that fits a packet: the null
    hypothesis is then a ratio of mss6 / mss4, a shift of the contrasts by its logarithm.
    """
    if metric.column != "goodput_mbps" or result.pairs == 0:
        return {}
    sizes = [used[f"mss_{version}"].unique() for version in (IPV4, IPV6)]
    if any(len(size) != 1 or not size[0] > 0 for size in sizes):
        notes.append("the segment size is unknown or not the same in all runs: no expected effect")
        return {}
    ratio = float(sizes[1][0] / sizes[0][0])
    row = {"expected_effect": 100 * (ratio - 1)}
    if result.scale != "ratio":
        notes.append("no test against the expected effect, which is a ratio")
    elif result.test.name:
        row["p_expected"] = p_of(result.test.kind, result.contrasts - math.log(ratio))
    return row


def _bootstrap_columns(result, key, params, notes) -> dict[str, float]:
    """Return the bootstrap intervals of Hodges-Lehmann estimate and rank-biserial correlation.

    There are none with so few pairs that even the range of all contrasts would miss the centre of
    a symmetric distribution more often than the confidence allows: 2 / 2^n.
    """
    if params.resamples < 1:
        return {}
    if 2.0 ** (1 - result.pairs) > 1 - params.confidence:
        notes.append(f"{result.pairs} pairs are too few for a bootstrap interval")
        return {}
    seeds = [int(params.seed), zlib.crc32(key.encode())]
    counts = bootstrap_counts(result.pairs, params.resamples, seeds)
    ordered = np.sort(result.contrasts)
    low, high = bootstrap_hodges_lehmann(ordered, counts, params.confidence, result.walsh)
    row = {"hl_low": to_effect(low, result.scale), "hl_high": to_effect(high, result.scale)}
    if abs(rank_biserial(result.contrasts)) == 1:
        notes.append("every pair has the same sign: no interval of the rank-biserial correlation")
        return row
    low, high = bootstrap_rank_biserial(ordered, counts, params.confidence)
    return row | {"rank_biserial_low": low, "rank_biserial_high": high}


def _equivalence_columns(result, margin, params, notes) -> dict[str, float | str]:
    """Return TOST's p, decision, interval, and the smallest margin that it would have shown.

    It follows the test that was chosen; where none could be, only the mean's interval is given.
    """
    interval = tost_interval(result.contrasts, result.test.kind or "t", params.significance, result.walsh)
    if interval is None:
        notes.append(f"{result.pairs} pairs are too few for a rank test of equivalence")
        return {}
    low, high = (to_effect(bound, result.scale) for bound in interval)
    row = {"ci90_low": low, "ci90_high": high}
    if not result.test.kind:
        return row
    p = tost(result.contrasts, result.test.kind, *bounds(margin, result.scale))
    return row | {
        "p_tost": p,
        "equivalent": "yes" if p < params.significance else "no",
        "smallest_margin": smallest_margin(interval, result.scale),
    }


def _power_columns(result, detect, effect_unit, params, notes) -> dict:
    """Return the detectable effect and the pairs that the stated one needs (paired t test)."""
    sd = float(result.contrasts.std(ddof=1))
    needed = pairs_needed(sd, detect, params.power, params.significance, result.scale)
    if needed is None:
        notes.append(f"more than {MAX_PAIRS:,} pairs needed to show {detect:g} {effect_unit}")
    detectable = detectable_effect(sd, result.pairs, params.power, params.significance, result.scale)
    return {"detectable": detectable, "pairs_needed": needed}


def compare_ip_versions(runs, params) -> pd.DataFrame:
    """Compare the IP versions in every cell; return `IP_VERSION_TESTS`, metrics in their order, cells in the runs'."""
    labels = dict(zip(runs["scenario"], runs["scenario_label"], strict=True))
    versions = sorted(set(runs["ip_version"]))
    rows = []
    for metric in METRICS:
        same = {"metric": metric.column, "unit": metric.unit, "effect_unit": metric.effect_unit}
        for (scenario, cca), pairs in _pairs_of(runs, metric.column).groupby(["scenario", "cca"], sort=False):
            cell = compare_cell(metric, pairs, f"{metric.column}/{scenario}/{cca}", params)
            if len(versions) < 2:
                cell["note"] = f"the study has {ip_words(versions[0])} only"
            rows.append(same | {"scenario": scenario, "scenario_label": labels[scenario], "cca": cca} | cell)
    table = pd.DataFrame(rows).reindex(columns=[*IP_VERSION_TESTS.names, "constant"])
    for column, p, method in (
        ("p_holm", "p", "holm"), ("p_bh", "p", "fdr_bh"), ("p_expected_holm", "p_expected", "holm")
    ):  # fmt: skip
        table[column] = adjusted_within(table, ["metric"], p, method)
    table["verdict"] = [verdict(row, params.significance) for row in table.to_dict("records")]
    return table[IP_VERSION_TESTS.names].astype({"pairs_needed": "Int64"})


def main(inputs, outputs, params) -> None:
    """Read the runs, write the comparison."""
    table = compare_ip_versions(read_runs(inputs.runs), params)
    table.to_csv(outputs.ip_versions, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
