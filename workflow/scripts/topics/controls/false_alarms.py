"""Count the differences found when cells are compared with themselves, and compute the number expected by chance."""

import pandas as pd

from inference.clustered_share import clustered_share_interval, findable_share
from run_tables.metrics import METRICS
from topics.controls.arms import cell_of_place
from topics.controls.tables import AA_SUMMARY, AA_TESTS, OF_CCAS, OF_IP_VERSIONS

ALL = "all"
AS_CHANCE, MORE, FEWER = "consistent with chance", "more than chance", "fewer than chance"
#: Comparison -> columns that, together with the comparison's name, define a family of tests.
FAMILY = {OF_IP_VERSIONS: ["ip_version", "metric"], OF_CCAS: ["comparison"]}


def of_ip_versions(table, ip_version) -> pd.DataFrame:
    """Return `AA_TESTS` from the comparison of the two arms of `arms_as_ip_versions`.

    ``ip_version`` is the IP version that was actually used.
    """
    named = table.rename(columns={"mean_ipv4": "mean", "mean_ipv6": "mean_control"})
    different = table["verdict"].str.startswith("differs")
    return named.assign(ip_version=ip_version, different=different, comparison=OF_IP_VERSIONS)[AA_TESTS.names]


def of_ccas(table, significance) -> pd.DataFrame:
    """Return `AA_TESTS` from the pairwise comparison of the two arms of `arms_as_ccas`."""
    cells = pd.DataFrame(map(cell_of_place, table["scenario"]), table.index, ["scenario", "cca"])
    named = table.rename(columns={"mean_a": "mean", "mean_b": "mean_control"}).assign(**cells)
    return named.assign(different=table["p_holm"] < significance, comparison=OF_CCAS)[AA_TESTS.names]


def summary(tests, significance, confidence) -> pd.DataFrame:
    """Return `AA_SUMMARY` from the rows of `AA_TESTS`."""
    rows = []
    for comparison, of_comparison in tests.groupby("comparison", sort=False):
        families = of_comparison.groupby(FAMILY[comparison], sort=False)["different"].any()
        for metric in (*(metric.column for metric in METRICS), ALL):
            chosen = of_comparison if metric == ALL else of_comparison[of_comparison["metric"] == metric]
            row = {"comparison": comparison, "metric": metric, **counted(chosen, significance, confidence)}
            if metric == ALL:
                row |= {"families": len(families), "families_different": int(families.sum())}
            rows.append(row)
    whole = dict.fromkeys(("families", "families_different"), "Int64")
    return pd.DataFrame(rows).reindex(columns=AA_SUMMARY.names).astype(whole)


def counted(tests, significance, confidence) -> dict:
    """Return the columns of `AA_SUMMARY` from ``comparisons`` to ``different`` for the given rows of `AA_TESTS`."""
    made = tests[tests["p"].notna()]
    below = made["p"] < significance
    row = {
        "comparisons": len(tests), "tests": len(made), "scenarios": made["scenario"].nunique(), "below": int(below.sum()),
        "expected": significance * len(made), "different": int(tests["different"].sum()), "verdict": "",
    }  # fmt: skip
    if made.empty:
        return row
    of_scenario = below.groupby(made["scenario"], sort=False)
    low, high = clustered_share_interval(of_scenario.sum(), of_scenario.size(), confidence)
    verdict = MORE if low > significance else FEWER if high < significance else AS_CHANCE
    return row | {
        "share_percent": 100 * below.mean(), "share_low": 100 * low, "share_high": 100 * high, "verdict": verdict,
        "findable_percent": _percent(findable_share(of_scenario.size(), significance, confidence)),
    }  # fmt: skip


def _percent(share):
    return None if share is None else 100 * share
