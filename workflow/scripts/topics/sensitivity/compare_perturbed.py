"""Hold what is concluded of perturbed scenarios against what is concluded of the scenarios as they are."""

import pandas as pd

from topics.sensitivity.conclusions import sensitivity


def compare_perturbed(significance, ip_versions=None, cca_pairs=None) -> pd.DataFrame:
    """Return `SENSITIVITY`, by the comparisons that the study makes."""
    return sensitivity(ip_versions, cca_pairs, significance)
