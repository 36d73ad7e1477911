"""Compare the conclusions for perturbed scenarios with those for the unperturbed scenarios."""

import pandas as pd

from topics.sensitivity.conclusions import sensitivity


def compare_perturbed(significance, ip_versions=None, cca_pairs=None) -> pd.DataFrame:
    """Return `SENSITIVITY` for the comparisons that the study makes."""
    return sensitivity(ip_versions, cca_pairs, significance)
