"""What can be concluded of IPv6 against IPv4 in a cell."""

import pandas as pd

WITH_COLLAPSES = ", with collapses"
#: Each verdict, and what it means.
VERDICTS = {
    "differs, beyond the margin": (
        "The difference is significant after Holm's correction, and its interval lies wholly outside the "
        "equivalence margin."
    ),
    "differs, perhaps beyond the margin": (
        "The difference is significant after Holm's correction; whether it is larger than the margin is open."
    ),
    "differs, within the margin": (
        "The difference is significant after Holm's correction, and shown to be smaller than the margin."
    ),
    "equivalent": (
        "Any difference of the mean is shown to be smaller than the margin, and none is significant after Holm's correction."
    ),
    "perhaps differs": (
        "The cell by itself shows a difference, so its interval excludes 0; after the correction for all cells it isn't "
        "significant. Among so many cells some do so by chance."
    ),
    "undecided": (
        "Neither a difference nor equivalence is shown: for the spread that there is, so many pairs leave both open."
    ),
    "one measurement, same": (
        "The runs of each IP version repeat one measurement, as far as can be measured, and both are the same. n is 1, so there is "
        "no test."
    ),
    "one measurement, within the margin": (
        "The runs of each IP version repeat one measurement, as far as can be measured; the difference is smaller than the margin."
    ),
    "one measurement, beyond the margin": (
        "The runs of each IP version repeat one measurement, as far as can be measured; the difference is larger than the margin."
    ),
    "same in every pair": (
        "Runs of different seeds differ, but IPv4 and IPv6 don't in any pair. Without a spread there is no test."
    ),
    "same difference in every pair": (
        "Runs of different seeds differ, but IPv4 and IPv6 by the same in every pair. Without a spread there is no test."
    ),
    "no test": "One pair or none: no spread to judge a difference by.",
}
#: What is added to a verdict, and what it means.
COLLAPSES = (
    "Some runs lie far below the others of their cell: below 2/3 of their median, and by five robust standard deviations. The "
    "mean has them in it; the typical run differs from it. An interval of the mean is given where five pairs or more have "
    "a collapse, and as many have none."
)


def verdict(row, significance) -> str:
    """Return which of `VERDICTS` a row of the table comes to, with `WITH_COLLAPSES` behind it where a run collapsed."""
    with_collapses = not pd.isna(row["collapsed_pairs"]) and row["collapsed_pairs"] > 0
    return _verdict(row, significance) + (WITH_COLLAPSES if with_collapses else "")


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
        return "no test"
    return "perhaps differs" if row["p"] < significance else "undecided"
