"""Compare each quantity at each point with its exact value."""

import pandas as pd

from topics.calibration.errors import calibration


def measure_errors(readings, scenarios) -> pd.DataFrame:
    """Return `CALIBRATION`."""
    return calibration(readings, scenarios)
