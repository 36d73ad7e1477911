"""Compare platforms under the same conditions: how they differ, and whether they agree within the tolerance.

Runs on two platforms don't use the same random numbers, so they are compared as independent samples. The tolerances
are set in the study's file (`analysis.agreement`) and should be chosen before any run.
"""

import itertools
import math
from dataclasses import dataclass

import pandas as pd

from inference.equivalence import INSIDE, OUTSIDE
from inference.equivalence import place as place_of
from inference.independent_comparison import difference
from inference.multiple_tests import adjusted_within
from inference.paired_contrasts import from_effect, to_effect
from run_tables.resolution import resolution_of
from topics.platforms.kernel_environments import environment_differences
from topics.platforms.platform_causes import causes
from topics.platforms.platform_starts import platform_starts, starts_of_runs
from topics.platforms.tables import PLACE, PLATFORMS
from wording.scenario_series import platforms_of, with_series

AGREE, DIFFER, NOT_SHOWN = "agree", "differ", "not shown"
VERSIONS, KERNEL, KERNELS = "versions of the simulator", "kernel and simulator", "two kernels"


@dataclass(frozen=True)
class Compared:
    """A metric by which platforms are compared.

    ``column`` is a column of ``tidy/runs.csv``, and ``key`` names the metric's tolerance in the study's file.
    """

    column: str
    unit: str
    scale: str
    key: str

    def bounds(self, agreement, scale) -> tuple[float, float]:
        """Return the lower and the upper bound of the tolerance, converted to the given scale."""
        tolerance = agreement[self.key]
        if self.key.endswith("_factor"):
            if scale == "ratio":
                return -math.log(tolerance), math.log(tolerance)
            # If one value is `tolerance` times the other, they differ by this percentage of their mean.
            part = 200 * (tolerance - 1) / (tolerance + 1)
            return -part, part
        return from_effect(-tolerance, scale), from_effect(tolerance, scale)


METRICS = (
    Compared("goodput_mbps", "Mbit/s", "ratio", "goodput_percent"),
    Compared("jain_index", "", "points", "jain_index"),
    Compared("rtt_mean_ms", "ms", "ratio", "rtt_percent"),
    Compared("loss_percent", "%", "ratio", "loss_factor"),
    Compared("retransmits", "segments", "ratio", "retransmits_factor"),
)


def _compare_values(metric, runs_a, runs_b, agreement, params):
    """Compare the second of two platforms with the first by one metric; return columns of `PLATFORMS`.

    The columns are ``scale`` and all that follow it in the table, except p_differ_bh and verdict, which depend on other rows. An additional
    column, ``exact``, contains the bounds of the difference if they are known without a test. ``runs_a`` and ``runs_b`` are valid runs;
    both may be empty.
    """
    values_a, values_b = (runs[metric.column].dropna().astype(float) for runs in (runs_a, runs_b))
    row = {"n_a": len(values_a), "n_b": len(values_b), "exact": None, "note": ""}
    row["effect_unit"] = "" if metric.scale == "points" else "%"
    row |= {f"mean_{name}": values.mean() for name, values in (("a", values_a), ("b", values_b)) if len(values)}
    if not (len(values_a) and len(values_b)):
        missing = [name for name, values in (("first", values_a), ("second", values_b)) if not len(values)]
        return row | {"note": f"no valid run with a value on the {' and the '.join(missing)} platform"}
    resolutions = [resolution_of(runs, metric.column) for runs in (runs_b, runs_a)]
    apart = difference(values_b, values_a, metric.scale, resolutions)
    low, high = metric.bounds(agreement, apart.scale)
    row |= {"scale": apart.scale, "effect": apart.effect}
    row |= {"tolerance_low": to_effect(low, apart.scale), "tolerance_high": to_effect(high, apart.scale)}
    notes = []
    if apart.scale != metric.scale:
        notes.append("a value of 0 has no ratio: the difference is relative to the mean of both platforms")
    if apart.exact:
        notes.append("each platform's runs repeat one measurement: n = 1, no test")
        return row | {"exact": apart.bounds(params.confidence), "note": "; ".join(notes)}
    if apart.error is None:
        return row | {"note": "; ".join([*notes, apart.note])}
    row["ci_low"], row["ci_high"] = apart.interval(params.confidence)
    row["tost_low"], row["tost_high"] = apart.interval(1 - 2 * params.significance)
    p = {"p_agree": apart.p_within(low, high), "p_differ": apart.p_beyond(low, high)}
    return row | p | {"note": "; ".join(notes)}


def _between(platform_a, platform_b):
    """Return the kind of comparison between two platforms; a kernel compared with a simulator must be ``platform_a``."""
    if ":" in platform_a:
        return VERSIONS
    return KERNEL if ":" in platform_b else KERNELS


def _verdict(row, significance):
    """Return the verdict of a row: `AGREE`, `DIFFER` (by more than the tolerance) or `NOT_SHOWN`."""
    if row["exact"] is not None:
        where = place_of(row["exact"], row["tolerance_low"], row["tolerance_high"])
        return {INSIDE: AGREE, OUTSIDE: DIFFER}.get(where, NOT_SHOWN)
    if not pd.isna(row["p_agree"]) and row["p_agree"] < significance:
        return AGREE
    return DIFFER if not pd.isna(row["p_differ_bh"]) and row["p_differ_bh"] < significance else NOT_SHOWN


def placed(runs, scenarios) -> pd.DataFrame:
    """Return the runs with the columns `PLACE`, which identify the conditions."""
    series = with_series(scenarios)[["scenario", "conditions", "setting", "buffer"]]
    return runs.merge(series, on="scenario", validate="many_to_one")


def platform_differences(runs, scenarios, agreement, params) -> pd.DataFrame:
    """Return `PLATFORMS`, which compares, for each of `METRICS`, all pairs of platforms that executed runs under the same conditions.

    ``agreement`` contains the study's tolerances.
    """
    order, runs, rows = platforms_of(scenarios), placed(runs, scenarios), []
    for place, group in runs.groupby(PLACE, sort=False):
        here = [platform for platform in order if platform in set(group["platform"])]
        for platform_a, platform_b in itertools.combinations(here, 2):
            for metric in METRICS:
                valid = [group[(group["platform"] == name) & group["valid"]] for name in (platform_a, platform_b)]
                row = dict(zip(PLACE, place, strict=True)) | {"platform_a": platform_a, "platform_b": platform_b}
                row |= {"between": _between(platform_a, platform_b)}
                row |= {"metric": metric.column, "unit": metric.unit}
                rows.append(row | _compare_values(metric, *valid, agreement, params))
    result = pd.DataFrame(rows, columns=[*PLATFORMS.names, "exact"])
    result["p_differ_bh"] = adjusted_within(result, ["metric"], "p_differ", "fdr_bh") if rows else []
    result["verdict"] = [_verdict(row, params.significance) for row in result.to_dict("records")]
    return result[PLATFORMS.names]


def compare_platforms(
    runs, scenarios, intervals, sockets, provenance, params
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return `PLATFORMS`, `PLATFORM_CAUSES`, `PLATFORM_STARTS` and `KERNEL_ENVIRONMENTS`."""
    table = platform_differences(runs, scenarios, params.agreement, params)
    starts = starts_of_runs(intervals, sockets, runs)
    starts = platform_starts(table, placed(runs, scenarios), starts, params.confidence)
    return table, causes(table), starts, environment_differences(provenance["environments"])
