"""What can be concluded of IPv6 against IPv4 in a cell."""

import pandas as pd

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
    "equivalent": "No significant difference, and any difference is shown to be smaller than the margin.",
    "undecided": "Neither a difference nor equivalence is shown: too few pairs for the spread there is.",
    "same in every pair": "Both IP versions gave the same value in every pair; without variance there is no test.",
    "constant difference, within the margin": (
        "All pairs show the same difference, smaller than the margin; without variance there is no test."
    ),
    "constant difference, beyond the margin": (
        "All pairs show the same difference, larger than the margin; without variance there is no test."
    ),
    "no test": "Too few pairs for any test.",
}


def verdict(row, significance) -> str:
    """Return which of `VERDICTS` a row of the table comes to."""
    if row["constant"]:
        if row["effect"] == 0:
            return "same in every pair"
        size = "within" if abs(row["effect"]) < row["margin"] else "beyond"
        return f"constant difference, {size} the margin"
    if not pd.isna(row["p_holm"]) and row["p_holm"] < significance:
        if row["equivalent"] == "yes":
            return "differs, within the margin"
        beyond = row["ci90_low"] > row["margin"] or row["ci90_high"] < -row["margin"]
        return "differs, beyond the margin" if beyond else "differs, perhaps beyond the margin"
    if row["equivalent"] == "yes":
        return "equivalent"
    return "undecided" if row["test"] else "no test"
