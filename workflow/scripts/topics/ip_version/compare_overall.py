"""Compare IPv6 with IPv4 over the whole study: pooled as published, and within cells.

Pooling takes runs of all scenarios and CCAs for one sample, so that the spread between scenarios
drowns any difference between IP versions. The two stratified tests compare within cells.
"""

import numpy as np
import pandas as pd

from inference.pooled_tests import mann_whitney
from inference.stratified_tests import FEW_VALUES, aligned_ranks, van_elteren
from rule_script import run_rule
from run_tables.metrics import METRICS
from run_tables.reading import read_runs
from topics.ip_version.tables import ALIGNED, EQUAL, IP_OVERALL, MSS_RATIO, POOLED, VAN_ELTEREN
from wording.number_format import count

PAIR = ["scenario", "cca", "replication"]
# The metric whose expected ratio is that of the segment sizes.
MSS_METRIC = "goodput_mbps"


def _direction(higher):
    if not higher:
        return ""
    return "IPv6 higher" if higher > 0 else "IPv4 higher"


def _compare_metric(runs: pd.DataFrame, metric, significance) -> list[dict]:
    """Return a metric's rows of `IP_OVERALL`, of valid runs."""
    values = runs.rename(columns={metric.column: "value"})
    values = values[values["value"].notna() & values["ip_version"].isin(["ipv4", "ipv6"])]
    rows = [_pooled(values, significance), _van_elteren(values, EQUAL), _aligned(values, EQUAL, metric.scale)]
    if metric.column == MSS_METRIC:
        # IPv6 over (mss6 / mss4) against IPv4 is goodput over MSS against goodput over MSS.
        segments = values["value"] / values["mss_bytes"].where(values["mss_bytes"] > 0)
        values = values.assign(value=_without_last_bits(segments)).dropna(subset="value")
        rows += [_van_elteren(values, MSS_RATIO), _aligned(values, MSS_RATIO, metric.scale)]
    return [{"metric": metric.column, **row} for row in rows]


def _without_last_bits(values) -> pd.Series:
    """Return values with 40 bits (12 digits), so that equal ones stay equal after a division."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


def _pooled(values, significance):
    first, second = (values.loc[values["ip_version"] == ip, "value"] for ip in ("ipv4", "ipv6"))
    u, p, note = mann_whitney(first, second, significance)
    return {
        "method": POOLED, "null": EQUAL, "strata": 1, "n_ipv4": len(first), "n_ipv6": len(second),
        "statistic": u, "p": p, "note": note,
        "direction": "" if u is None else _direction(len(first) * len(second) / 2 - u),
    }  # fmt: skip


def _van_elteren(values, null):
    cells = values.groupby(["scenario", "cca"], sort=False).ngroup()
    result = van_elteren(values["value"], values["ip_version"] == "ipv6", cells)
    return _row(VAN_ELTEREN, null, result, result.n_first + result.n_second, "value")


def _aligned(values, null, scale):
    wide = values.pivot(index=PAIR, columns="ip_version", values="value").reindex(columns=["ipv4", "ipv6"])
    pairs = wide.dropna()
    notes = [f"{count(len(wide) - len(pairs), 'run')} without a partner"] if len(wide) > len(pairs) else []
    if scale == "ratio":
        positive = pairs[(pairs > 0).all(axis=1)]
        if len(positive) < len(pairs):
            notes.append(f"{count(len(pairs) - len(positive), 'pair')} left out: no ratio with a value of 0")
        pairs = np.log(positive)
    cells = pairs.groupby(["scenario", "cca"], sort=False).ngroup()
    result = aligned_ranks(pairs["ipv6"] - pairs["ipv4"], cells)
    return _row(ALIGNED, null, result, result.n_first, "pair", notes)


def _row(method, null, result, n, what, notes=()):
    """Return a row, with all that was left out in its note."""
    left_out = (
        (result.unpaired_strata, "cell", " left out: only one IP version there"),
        (result.equal_strata, "cell", f" left out: no {what} differs there"),
        (result.equal_pairs, "pair", " without a difference left out"),
    )
    notes = [*notes, *(count(number, name) + words for number, name, words in left_out if number)]
    if result.z is None:
        notes.insert(0, "no test: no cell has a difference to rank in both IP versions")
    elif n < FEW_VALUES:
        notes.insert(0, f"{count(n, what)} only: the normal approximation of p is rough")
    return {
        "method": method, "null": null, "strata": result.strata, "n_ipv4": result.n_first,
        "n_ipv6": result.n_second, "statistic": result.z, "p": result.p,
        "direction": _direction(result.z), "note": "; ".join(notes),
    }  # fmt: skip


def compare_overall(runs, significance) -> pd.DataFrame:
    """Compare the IP versions in every metric over all cells; return `IP_OVERALL`."""
    valid = runs[runs["valid"]]
    rows = [row for metric in METRICS for row in _compare_metric(valid, metric, significance)]
    return pd.DataFrame(rows, columns=IP_OVERALL.names)


def main(inputs, outputs, params) -> None:
    """Read the runs, write the tests."""
    table = compare_overall(read_runs(inputs.runs), params.significance)
    table.to_csv(outputs.ip_overall, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
