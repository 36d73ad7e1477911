"""What the run documents of two kernels say differently of what carried them: where a difference can come from."""

import itertools

import pandas as pd

from topics.platforms.tables import KERNEL_ENVIRONMENTS
from wording.scenario_series import KERNELS

#: What in an environment counts the runs made in it or names the platform.
NO_PROPERTIES = ("platform", "runs")


def environment_differences(environments: list[dict]) -> pd.DataFrame:
    """Return `KERNEL_ENVIRONMENTS` of the environments in ``tidy/provenance.json``: what isn't the same on two kernels.

    A platform whose runs were made in several environments has all values of a property, joined by "; ".
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
    """Return the values of a property on a platform as text; empty where its documents don't have it."""
    known = (of[name] for of in environments if of.get("platform") == platform and of.get(name) is not None)
    return "; ".join(dict.fromkeys(map(str, known)))
