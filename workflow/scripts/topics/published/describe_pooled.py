"""Pool the runs of all scenarios and CCAs by IP version, as the paper does for its tables 3 and 5.

The tables are meant for a line-by-line comparison with the publication. Pooled runs aren't a sample of one
population, so neither the test of normality nor the comparison shows much about IP versions.
"""

import numpy as np
import pandas as pd

from inference.normality import SHAPIRO_MAX_N, SHAPIRO_MIN_N, shapiro_wilk
from inference.pooled_tests import mann_whitney
from run_tables.metrics import PUBLISHED_METRICS
from topics.published.tables import HYPOTHESES, POOLED, POOLED_TESTS
from wording.number_format import count, number, plain

# Number of decimals to which values are rounded before they are counted, as printed in the paper
# (0.1 Mbit/s, 1 us, 0.01 %).
MODE_DECIMALS = {
    "throughput_per_stream_mbps": 1,
    "rtt_first_stream_ms": 3,
    "published_loss_percent": 2,
    "retransmits": 0,
}
# The metric for which a higher value is better; for all other metrics, a lower value is better.
MORE_IS_BETTER = {"throughput_per_stream_mbps"}


def mode(values, decimals, unit) -> tuple[float | None, str]:
    """Return the statistical mode (the most frequent value after rounding), and a description of the mode.

    The mode of a continuous quantity depends on the rounding step. The mode is None if several values share the highest frequency.
    """
    values = np.asarray(values, float)
    if len(values) == 0:
        return None, "no value"
    rounded = "counted as they are" if decimals == 0 else f"rounded to {plain(10.0**-decimals)} {unit}"
    # Adding 0.0 turns -0.0 into 0.0.
    distinct, counts = np.unique(np.round(values, decimals) + 0.0, return_counts=True)
    most = int(counts.max())
    ties = int((counts == most).sum())
    if ties == 1:
        share = number(100 * most / len(values), 1)
        return float(distinct[counts.argmax()]), f"{rounded}, it occurs {count(most, 'time')} ({share} %)"
    if most == 1:
        return None, f"none ({rounded}, every value occurs once)"
    return None, f"none ({rounded}, {ties:,} values occur {count(most, 'time')} each)"


def describe(values, metric) -> dict:
    """Describe a metric over all valid runs of an IP version; some of the ``values`` may be missing.

    Returns columns of `POOLED`. Columns that can't be computed are missing, and the note gives the reason.
    """
    known = values.dropna().astype(float)
    n = len(known)
    row = {"n": n}
    row["mode"], row["mode_note"] = mode(known, MODE_DECIMALS[metric.column], metric.unit)
    notes = []
    if n == 0:
        notes.append("no valid run has a value" if len(values) else "no valid run")
    elif n < len(values):
        notes.append(f"{len(values) - n} of {len(values)} valid runs have no value")
    if n >= 1:
        row |= {"mean": known.mean(), "median": known.median()}
    if n == 1:
        notes.append("one value: no standard deviation, no test of normality")
    elif n >= 2 and known.min() == known.max():
        row |= {"mean": known.iloc[0], "sd": 0.0}
        notes.append(f"all {n} values are equal: no test of normality")
    elif n >= 2:
        row["sd"] = known.std(ddof=1)
        if n < SHAPIRO_MIN_N:
            notes.append(f"two values: a test of normality needs {SHAPIRO_MIN_N}")
        else:
            row["shapiro_w"], row["shapiro_p"] = shapiro_wilk(known)
            if n > SHAPIRO_MAX_N:
                notes.append(f"above n = {SHAPIRO_MAX_N:,} the p of Shapiro-Wilk is approximate")
    return {**row, "note": "; ".join(notes)}


def _describe_pooled(runs):
    """Return the table that describes the published metrics, with one row per metric and IP version (table 3 of the paper)."""
    rows = [
        {"metric": metric.column, "name": metric.name, "unit": metric.unit, "ip_version": ip_version}
        | describe(runs.loc[runs["valid"] & (runs["ip_version"] == ip_version), metric.column], metric)
        for metric in PUBLISHED_METRICS
        for ip_version in sorted(runs["ip_version"].unique())
    ]
    return pd.DataFrame(rows, columns=POOLED.names)


def hypothesis(u, p, n_ipv4, n_ipv6, more_is_better, significance) -> tuple[str, str]:
    """Return a pooled test's conclusion, and the hypothesis of table 4 that it supports; ``u`` is the U statistic of the IPv4 values."""
    name = "H0"
    if p < significance:
        ipv4_better = (u > n_ipv4 * n_ipv6 / 2) == more_is_better
        name = "H1" if ipv4_better else "H2"
    return "H0 kept" if name == "H0" else "H0 rejected", f"{name}: {HYPOTHESES[name]}"


def _compare_pooled(runs, significance):
    """Return the table that compares the IP versions in the published metrics, with one row per metric (table 5 of the paper)."""
    valid = runs[runs["valid"]]
    rows = []
    for metric in PUBLISHED_METRICS:
        ipv4, ipv6 = (valid.loc[valid["ip_version"] == ip, metric.column].dropna() for ip in ("ipv4", "ipv6"))
        u, p, note = mann_whitney(ipv4, ipv6, significance)
        outcome = u, p, len(ipv4), len(ipv6), metric.column in MORE_IS_BETTER, significance
        conclusion, text = ("", "") if p is None else hypothesis(*outcome)
        rows.append(
            {
                "metric": metric.column, "name": metric.name, "n_ipv4": len(ipv4), "n_ipv6": len(ipv6),
                "u": u, "p": p, "conclusion": conclusion, "hypothesis": text, "note": note,
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=POOLED_TESTS.names)


def describe_pooled(runs, significance) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `POOLED` and `POOLED_TESTS`."""
    return _describe_pooled(runs), _compare_pooled(runs, significance)
