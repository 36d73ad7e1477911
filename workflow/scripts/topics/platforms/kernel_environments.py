"""Compare two kernels' environments, as recorded in the run documents.

A difference between the environments may explain a difference between results.
"""

import itertools

import pandas as pd

from topics.platforms.tables import KERNEL_ENVIRONMENTS
from wording.scenario_series import KERNELS

#: Entries of an environment that aren't compared: the platform's name, and the number of runs executed in the environment.
NO_PROPERTIES = ("platform", "runs")


def environment_differences(environments: list[dict]) -> pd.DataFrame:
    """Return `KERNEL_ENVIRONMENTS`: the properties that differ between the environments of two kernels.

    ``environments`` come from ``tidy/provenance.json``. If runs on a platform were executed in several environments, the values of a
    property are joined by "; ".
    """
    platforms = [platform for platform in KERNELS if any(of.get("platform") == platform for of in environments)]
    names = dict.fromkeys(name for of in environments for name in of if name not in NO_PROPERTIES)
    rows = []
    for pair in itertools.combinations(platforms, 2):
        for name in names:
            values = [_values(environments, platform, name) for platform in pair]
            if values[0] != values[1]:
                rows.append((*pair, name, *values))
    return pd.DataFrame(rows, columns=KERNEL_ENVIRONMENTS.names)


def _values(environments, platform, name):
    """Return a property's values on a platform as text; empty if the platform's documents don't contain the property."""
    known = (of[name] for of in environments if of.get("platform") == platform and of.get(name) is not None)
    return "; ".join(dict.fromkeys(map(str, known)))
