"""Compare IPv6 with IPv4 over the entire study, by two methods.

The pooled test, which is the published method, treats the runs of all scenarios and CCAs as one sample. The variation between scenarios
may then hide a difference between IP versions.

The test by scenario is carried out for all CCAs together and for each CCA. It uses one value per scenario (the mean
difference of the pairs in the scenario's cells), and tests whether the IP versions differ across such scenarios. The cells
of a scenario use the same seeds, so treating them as independent would overstate the evidence (a correlation of 0.3 causes
a false alarm in 19 of 100 studies). The same is true of runs in a cell that repeat one measurement.
"""

import math

import pandas as pd

from inference.equivalence import bounds, place, tost, tost_interval
from inference.multiple_tests import adjusted
from inference.paired_contrasts import contrasts, from_effect, to_effect, usable_scale
from inference.paired_tests import mean_test, pairs_for
from inference.pooled_tests import mann_whitney
from run_tables.exclusions import runs_with_exclusions, with_kept
from run_tables.metrics import METRICS
from topics.ip_version.run_pairs import IPV4, IPV6, pairs_of
from topics.ip_version.tables import BY_SCENARIO, EQUAL, IP_OVERALL, MSS_RATIO, POOLED
from wording.number_format import count

# The metric whose ratio is expected to equal the ratio of the segment sizes.
MSS_METRIC = "goodput_mbps"
#: Value of the column ``cca`` in rows about all CCAs together.
ALL_CCAS = ""


def _direction(higher):
    if not higher:
        return ""
    return "IPv6 higher" if higher > 0 else "IPv4 higher"


def _compare_metric(runs: pd.DataFrame, metric, tests, params) -> list[dict]:
    """Return the rows of `IP_OVERALL` for one metric.

    ``runs`` are the valid runs; ``tests`` is the total number of tests by scenario, over all metrics.
    """
    values = runs.rename(columns={metric.column: "value"})
    values = values[values["value"].notna() & values["ip_version"].isin([IPV4, IPV6])]
    cells, notes = _cells(runs, metric)
    rows, ccas = [{"cca": ALL_CCAS} | _pooled(values, params.significance)], _ccas(runs)
    for cca in (ALL_CCAS, *ccas):
        chosen = cells[cells["cca"] == cca] if cca else cells
        margin, said = params.margins[metric.column], [] if cca else notes
        rows.append({"cca": cca} | _by_scenario(chosen, EQUAL, metric, margin, tests, params, said))
    if metric.column == MSS_METRIC:
        known = cells.dropna(subset="expected")
        left = len(cells) - len(known)
        if left:
            notes = [*notes, f"{count(left, 'cell')} left out: the segment size is unknown or not the same in all runs"]
        rows.append(
            {"cca": ALL_CCAS} | _by_scenario(known, MSS_RATIO, metric, params.header_margin, tests, params, notes)
        )
    return [{"metric": metric.column, "effect_unit": metric.effect_unit, **row} for row in rows]


def _ccas(runs):
    """Return the CCAs to test individually; none if all runs use the same CCA."""
    ccas = list(runs["cca"].unique())
    return ccas if len(ccas) > 1 else []


def _cells(runs, metric):
    """Return a table with one row for each cell that contains pairs, and notes about the runs and cells that are left out.

    The columns are scenario, cca, contrast (the mean over the cell's pairs), expected (the contrast of the segment sizes, nan if unknown)
    and pairs (the number of pairs).
    """
    pairs = pairs_of(runs, metric.column)
    complete = pairs[pairs[[IPV4, IPV6]].notna().all(axis=1)]
    alone = int(pairs[[IPV4, IPV6]].notna().any(axis=1).sum()) - len(complete)
    notes = [f"{count(alone, 'run')} without a partner"] if alone else []
    rows, zeros = [], 0
    for (scenario, cca), cell in complete.groupby(["scenario", "cca"], sort=False):
        ipv4, ipv6 = cell[IPV4].to_numpy(), cell[IPV6].to_numpy()
        if metric.scale == "ratio" and usable_scale(ipv6, ipv4, "ratio") != "ratio":
            zeros += 1
            continue
        sizes = cell[["mss_ipv4", "mss_ipv6"]].drop_duplicates()
        known = len(sizes) == 1 and (sizes > 0).all(axis=None)
        expected = math.log(sizes["mss_ipv6"].iloc[0] / sizes["mss_ipv4"].iloc[0]) if known else math.nan
        contrast = float(contrasts(ipv6, ipv4, metric.scale).mean())
        rows.append({"scenario": scenario, "cca": cca, "contrast": contrast, "expected": expected, "pairs": len(cell)})
    if zeros:
        notes.append(f"{count(zeros, 'cell')} left out: no ratio with a value of 0")
    return pd.DataFrame(rows, columns=["scenario", "cca", "contrast", "expected", "pairs"]), notes


def _by_scenario(cells, null, metric, margin, tests, params, notes) -> dict:
    """Return the row for the mean over scenarios: test, interval, and the interval's position relative to the margin."""
    of_scenario = cells.groupby("scenario", sort=False)[["contrast", "expected"]].mean()
    values, pairs = of_scenario["contrast"].to_numpy(float), int(cells["pairs"].sum())
    row = {
        "method": BY_SCENARIO,
        "null": null,
        "scenarios": len(values),
        "n_ipv4": pairs,
        "n_ipv6": pairs,
        "margin": margin,
    }
    row |= {"direction": "", "within": ""}
    if len(values) == 0:
        return row | {"note": "; ".join(["no test: no cell has a value for both IP versions", *notes])}
    # Scenarios whose values differ only by rounding count as equal.
    values = contrasts(values, of_scenario["expected"].to_numpy() if null == MSS_RATIO else 0 * values, "points")
    effect = float(values.mean())
    row |= {"effect": to_effect(effect, metric.scale), "direction": _direction(effect)}
    test, needed = mean_test(values), pairs_for(tests, params.significance)
    if len(values) < needed:
        few = f"too few scenarios {'for a test' if test is None else 'to be significant'}"
        notes = [f"{few}: {len(values)}; with {count(tests, 'test')}, {needed} are needed", *notes]
    elif test is None:
        notes = ["no test: all scenarios have the same difference", *notes]
    if test is None:
        return row | {"note": "; ".join(notes)}
    row |= {"statistic": test.statistic, "p": test.p()}
    row["ci_low"], row["ci_high"] = (to_effect(end, metric.scale) for end in test.interval(params.confidence))
    if null == EQUAL:
        low, high = bounds(margin, metric.scale)
    else:  # the margin is a percentage of IPv4's goodput, but contrasts are relative to the expected ratio
        ratio = 100 * math.expm1(float(of_scenario["expected"].mean()))
        low, high = (
            from_effect(ratio + side * margin, metric.scale) - from_effect(ratio, metric.scale) for side in (-1, 1)
        )
    where = place(tost_interval(test, params.significance), low, high)
    return row | {"p_tost": tost(test, low, high), "within": where, "note": "; ".join(notes)}


def _pooled(values, significance):
    first, second = (values.loc[values["ip_version"] == ip, "value"] for ip in ("ipv4", "ipv6"))
    u, p, note = mann_whitney(first, second, significance)
    return {
        "method": POOLED, "null": EQUAL, "scenarios": 1, "n_ipv4": len(first), "n_ipv6": len(second),
        "statistic": u, "p": p, "note": note, "within": "",
        "direction": "" if u is None else _direction(len(first) * len(second) / 2 - u),
    }  # fmt: skip


def compare_valid(runs, params) -> pd.DataFrame:
    """Return `IP_OVERALL`, which compares each metric over all cells.

    ``params`` provides confidence, significance, margins (by metric) and header_margin, in percent.
    """
    valid = runs[runs["valid"]]
    tests = len(METRICS) * (1 + len(_ccas(valid))) + 1
    rows = [row for metric in METRICS for row in _compare_metric(valid, metric, tests, params)]
    table = pd.DataFrame(rows, columns=IP_OVERALL.names)
    table["p_holm"] = adjusted(table["p"].where(table["method"] == BY_SCENARIO), "holm")
    return table


def compare_overall(runs, params) -> pd.DataFrame:
    """Return `IP_OVERALL`."""
    table, kept = compare_valid(runs, params), runs_with_exclusions(runs)
    if kept is not None:
        table = with_kept(table, compare_valid(kept, params), ["metric", "cca", "method", "null"], ["within", "p"])
    return table
