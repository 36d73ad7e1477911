"""The conclusions for each scenario, compared with those for the scenario's perturbed versions.

Conclusions are drawn from uncorrected p-values: only their agreement counts, and with six replications no corrected p-value could be small.
"""

import pandas as pd

from study_files.perturbed_study import AS_IS, JOINT, WORDS
from topics.controls.tables import OF_CCAS, OF_IP_VERSIONS
from topics.sensitivity.tables import SENSITIVITY
from wording.scenario_words import ip_words

HIGHER, LOWER, ALIKE, OPEN = "higher", "lower", "equivalent", "open"
#: Beginnings of the verdicts on IP versions that show a difference beyond the margin, and of verdicts without a test.
BEYOND, ONE_VALUE_BEYOND = "differs, beyond the margin", "one measurement, beyond the margin"
ONE_VALUE_ALIKE = ("one measurement, same", "one measurement, within the margin")
KEPT = ["scenario", "metric", "effect", "pairs"]
GOODPUT = "goodput_mbps"
NOTHING_KNOWN = "no valid run to compare with"


def ip_conclusions(table, significance) -> pd.DataFrame:
    """Return the conclusions from ``analysis/ip_versions.csv``, one per row.

    The columns are scenario, metric, effect, pairs, what (subject of the conclusion, in words), conclusion, and beyond (whether a difference
    is shown to be larger than the margin). A significant difference that is shown to be smaller than the margin is `ALIKE`.
    """
    conclusions = [
        ALIKE if equivalent == "yes" or verdict.startswith(ONE_VALUE_ALIKE)
        else _direction(effect) if verdict.startswith(("differs", ONE_VALUE_BEYOND)) or p < significance
        else OPEN
        for verdict, equivalent, effect, p in zip(table["verdict"], table["equivalent"], table["effect"], table["p"], strict=True)
    ]  # fmt: skip
    what = [f"{cca}, {metric}" for cca, metric in zip(table["cca"], table["metric"], strict=True)]
    beyond = table["verdict"].str.startswith((BEYOND, ONE_VALUE_BEYOND))
    return table[KEPT].assign(what=what, conclusion=conclusions, beyond=beyond)


def cca_conclusions(table, significance) -> pd.DataFrame:
    """Return the conclusions from ``analysis/cca_pairs.csv``, with the columns of `ip_conclusions`; these tests have no margin."""
    conclusions = [
        _direction(effect) if p < significance else OPEN for p, effect in zip(table["p"], table["effect"], strict=True)
    ]
    what = [
        f"{row['cca_a']} against {row['cca_b']} over {ip_words(row['ip_version'])}, {row['metric']}"
        for row in table.to_dict("records")
    ]
    return table[KEPT].assign(what=what, conclusion=conclusions, beyond=False)


def _direction(effect):
    return HIGHER if effect > 0 else LOWER


def compared(conclusions, comparison) -> list[dict]:
    """Return the rows of `SENSITIVITY` for one comparison, one row per perturbed scenario.

    Parameters
    ----------
    conclusions : pandas.DataFrame
        Result of `ip_conclusions` or `cca_conclusions`.
    comparison : str
        Name of the comparison from which the conclusions were drawn.
    """
    bases, perturbations = zip(*(name.rsplit(JOINT, 1) for name in conclusions["scenario"]), strict=True)
    table = conclusions.assign(base=bases, perturbation=perturbations)
    rows = []
    for base, of_base in table.groupby("base", sort=False):
        of = dict(iter(of_base.groupby("perturbation", sort=False)))
        if AS_IS not in of:
            continue
        rows += [
            {"scenario": base, "perturbation": name, "comparison": comparison, **_moves(of[AS_IS], of[name])}
            for name in WORDS
            if name in of and name != AS_IS
        ]
    return rows


def _moves(before, after) -> dict:
    both = before.merge(after, on="what", suffixes=("", "_after"))
    both = both[(both["pairs"] > 0) & (both["pairs_after"] > 0)]
    was, now = both["conclusion"], both["conclusion_after"]
    same, shown, shown_after = was == now, was != OPEN, now != OPEN
    # A difference that may be smaller than the margin doesn't contradict equivalence.
    apart = (was != ALIKE) & (now != ALIKE) | both["beyond"].astype(bool) | both["beyond_after"].astype(bool)
    turned = ~same & shown & shown_after & apart
    goodput = both[both["metric"] == GOODPUT]
    shifts = (goodput["effect_after"] - goodput["effect"]).abs().dropna()
    return {
        "conclusions": len(both), "shown": int(shown.sum()), "same": int(same.sum()),
        "turned": int(turned.sum()), "lost": int((shown & ~same & ~turned).sum()),
        "won": int((~shown & shown_after).sum()), "largest_shift": shifts.max() if len(shifts) else None,
        "moved": "; ".join(f"{what}: {a} -> {b}" for what, a, b in zip(both["what"], was, now, strict=True) if a != b)
        if len(both)
        else NOTHING_KNOWN,
    }  # fmt: skip


def sensitivity(ip_versions, cca_pairs, significance) -> pd.DataFrame:
    """Return `SENSITIVITY`, given the tables of the two comparisons; a table may be None."""
    rows = []
    if ip_versions is not None:
        rows += compared(ip_conclusions(ip_versions, significance), OF_IP_VERSIONS)
    if cca_pairs is not None:
        rows += compared(cca_conclusions(cca_pairs, significance), OF_CCAS)
    return pd.DataFrame(rows, columns=SENSITIVITY.names)
