"""Possible conclusions about the difference between IPv6 and IPv4 in a cell."""

import pandas as pd

WITH_APART = ", some pairs apart"
#: Verdict -> its meaning.
VERDICTS = {
    "differs, beyond the margin": (
        "The difference is significant after Holm's correction, and its interval lies entirely outside the "
        "equivalence margin."
    ),
    "differs, perhaps beyond the margin": (
        "The difference is significant after Holm's correction; whether it is larger than the margin is open."
    ),
    "differs, within the margin": (
        "The difference is significant after Holm's correction, and shown to be smaller than the margin."
    ),
    "equivalent": (
        "The mean difference is shown to be smaller than the margin, and isn't significant after Holm's correction."
    ),
    "perhaps differs": (
        "The cell by itself shows a difference: the interval excludes 0. After the correction for all cells, the difference isn't "
        "significant, or can't be significant with so few pairs (see the note). Among many cells, some show a difference by chance."
    ),
    "undecided": (
        "Neither a difference nor equivalence is shown: with this standard deviation, this number of pairs leaves both open."
    ),
    "one measurement, same": (
        "Within the measurement's resolution, all runs of each IP version give the same value, and both values are the "
        "same. n is 1, so there is no test."
    ),
    "one measurement, within the margin": (
        "Within the measurement's resolution, all runs of each IP version give the same value; the difference is smaller than the margin."
    ),
    "one measurement, beyond the margin": (
        "Within the measurement's resolution, all runs of each IP version give the same value; the difference is larger than the margin."
    ),
    "same in every pair": (
        "Runs with different seeds differ, but IPv4 and IPv6 are equal in every pair. Without variation there is no test."
    ),
    "same difference in every pair": (
        "Runs with different seeds differ, but IPv4 and IPv6 differ by the same amount in every pair. Without variation there is no test."
    ),
    "too few pairs": (
        "There is neither an interval nor a test: so few pairs can't show a difference, however clear. The note gives "
        "the number of pairs needed after the correction for all cells."
    ),
    "no test": "There is at most one pair, so there is no variation with which to compare a difference.",
}
#: Addition to a verdict, and the meaning of this addition.
APART = (
    "Some pairs are outliers, such as pairs with a run that collapsed. No single mean describes both kinds of pairs, so the mean has "
    "no interval, and equivalence isn't shown. The test is valid nevertheless."
)


def verdict(row, significance) -> str:
    """Return the verdict on a row of the table, one of `VERDICTS`; `WITH_APART` is appended if some pairs are outliers."""
    some_apart = not pd.isna(row["apart_pairs"]) and row["apart_pairs"] > 0
    return _verdict(row, significance) + (WITH_APART if some_apart else "")


def _verdict(row, significance):
    if row["one_value"]:
        if row["effect"] == 0:
            return "one measurement, same"
        size = "within" if abs(row["effect"]) < row["margin"] else "beyond"
        return f"one measurement, {size} the margin"
    if row["all_alike"]:
        return "same in every pair" if row["effect"] == 0 else "same difference in every pair"
    if not pd.isna(row["p_holm"]) and row["p_holm"] < significance:
        if row["equivalent"] == "yes":
            return "differs, within the margin"
        beyond = row["ci90_low"] > row["margin"] or row["ci90_high"] < -row["margin"]
        return "differs, beyond the margin" if beyond else "differs, perhaps beyond the margin"
    if row["equivalent"] == "yes":
        return "equivalent"
    if not row["test"]:
        return "too few pairs" if row["pairs"] > 1 else "no test"
    return "perhaps differs" if row["p"] < significance else "undecided"
