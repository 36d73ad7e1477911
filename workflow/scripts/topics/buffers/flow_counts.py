"""The number of flows in a study's runs, in words."""

import pandas as pd

from wording.number_format import count


def flows_words(runs: pd.DataFrame) -> str:
    """Return the number of flows under test in a run, or the range of these numbers: "4 to 16 flows"."""
    least, most = (int(end) for end in runs["flows_under_test"].agg(["min", "max"]))
    return count(most, "flow") if least == most else f"{least:,} to {count(most, 'flow')}"
