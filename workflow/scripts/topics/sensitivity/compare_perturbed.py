"""Compare the conclusions on perturbed scenarios with those on the unperturbed ones."""

import pandas as pd

from topics.sensitivity.conclusions import sensitivity


def compare_perturbed(significance, ip_versions=None, cca_pairs=None) -> pd.DataFrame:
    """Return `SENSITIVITY`, by the comparisons that the study makes."""
    return sensitivity(ip_versions, cca_pairs, significance)
