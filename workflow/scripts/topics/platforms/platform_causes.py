"""Find what causes a difference between platforms: the simulator's version, the step from kernel to simulator, or both.

The same conditions must have been run on three platforms: a kernel, and an old and a new version of a simulator. The difference
between the kernel and the old version then consists of two steps, which add up on a logarithmic scale: from the kernel to the new version,
and from the new version to the old version. The verdicts of the three comparisons show which step is responsible.
"""

import pandas as pd

from topics.platforms.tables import PLACE, PLATFORM_CAUSES
from wording.scenario_series import version_of

ALIKE = "none: all agree"
OLD_VERSION = "the old version"
NEW_VERSION = "the new version"
SIMULATOR = "Linux against the simulator"
BOTH = "both"
UNKNOWN = "not shown"
# Verdicts of the three comparisons (kernel and newest, newest and oldest, kernel and oldest) -> cause.
# Because of the tolerances, two verdicts don't determine the third. For combinations that aren't listed, the cause is unknown.
CAUSES = {
    ("agree", "agree", "agree"): ALIKE,
    ("agree", "differ", "differ"): OLD_VERSION,
    ("differ", "differ", "agree"): NEW_VERSION,
    ("differ", "agree", "differ"): SIMULATOR,
    ("differ", "differ", "differ"): BOTH,
}


def causes(platforms: pd.DataFrame) -> pd.DataFrame:
    """Return `PLATFORM_CAUSES`; ``platforms`` is ``analysis/platforms.csv``."""
    keys, rows = [*PLACE, "metric"], []
    for place, group in platforms.groupby(keys, sort=False):
        known = {(row["platform_a"], row["platform_b"]): row for row in group.to_dict("records")}
        names = dict.fromkeys(name for pair in known for name in pair)
        kernels = [name for name in names if ":" not in name]
        versions = sorted((name for name in names if ":" in name), key=version_of)
        if not kernels or len(versions) < 2:
            continue
        kernel, oldest, newest = kernels[0], versions[0], versions[-1]
        steps = known[kernel, newest], known[oldest, newest], known[kernel, oldest]
        verdicts = tuple(step["verdict"] for step in steps)
        rows.append(
            {
                **dict(zip(keys, place, strict=True)),
                "kernel": kernel, "oldest": oldest, "newest": newest,
                "kernel_to_newest": steps[0]["effect"],
                "newest_to_oldest": turned(steps[1]["effect"], steps[1]["scale"]),
                "kernel_to_oldest": steps[2]["effect"],
                "effect_unit": steps[0]["effect_unit"],
                "verdict_newest": verdicts[0], "verdict_versions": verdicts[1], "verdict_oldest": verdicts[2],
                "cause": CAUSES.get(verdicts, UNKNOWN),
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=PLATFORM_CAUSES.names)


def turned(effect: float, scale: str) -> float | None:
    """Return a difference with its sides exchanged: on the ratio scale, +25 % becomes -20 %; on other scales, the sign changes.

    None if the difference is missing, or if it is -100 % on the ratio scale.
    """
    if pd.isna(effect):
        return None
    if scale != "ratio":
        return -effect
    return 100 * (100 / (100 + effect) - 1) if effect > -100 else None
