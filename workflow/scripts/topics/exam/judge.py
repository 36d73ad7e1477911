"""The verdicts of a scorecard's rows.

Each run of the examined CCA is compared with the standard CCAs' runs with the same seed: it is worse than a standard CCA by more than the
margin, better by more than the margin, or neither (`outcomes`). Verdicts are based on the counts of such runs (`card_tests`), so they are
valid for any distribution of the values.

- *Worse*: most runs on such paths are worse, or the CCA collapses in more runs than is allowed and in more runs than each similar standard
  CCA.
- *Better*: no run is missing or failed, and most runs are better. For all deciding rows together, the probability of any false *worse* is
  below the significance level, and so is the probability of any false *better*.
- *Like*: no run is missing, none failed unless a standard CCA's did, the CCA doesn't collapse in more runs than a similar standard CCA, and
  for all deciding rows together, the data rule out that the share of worse runs exceeds a given bound.
- *Too variable*: the runs differ and leave the question open.
- *Not enough*: the runs agree, but they are too few, some are missing, or they repeat each other.
- *Not measured*: no value is known for any run.
"""

import numpy as np
import pandas as pd

from inference.counts_of_draws import share_at_most
from inference.multiple_tests import adjusted
from topics.exam import card_tests
from topics.exam.tables import (
    BETTER,
    LIKE,
    NOT_ENOUGH,
    NOT_MEASURED,
    OPEN_VERDICTS,
    PRIMARY,
    TOO_VARIABLE,
    WORSE,
)  # fmt: skip


def judge(rows, exam, significance) -> None:
    """Set the verdicts of the deciding rows (`set_verdicts`), and describe what would close the open ones."""
    tests, looks = sum(row["role"] == PRIMARY for row in rows), len(exam.get("looks", ()))
    rare = set_verdicts(rows, exam, significance)
    now, following = (card_tests.level_of_look(significance, look) / max(tests, 1) for look in (looks, looks + 1))
    for row in rows:
        if row.get("verdict") in OPEN_VERDICTS and row["role"] == PRIMARY and "outcomes" in row:
            row |= _what_it_would_take(row, exam, now, following, rare)


def set_verdicts(rows, exam, significance) -> float:
    """Set the verdicts of the deciding rows jointly; each look after the first sets only the verdicts of rows that are still open.

    ``rows`` are dicts with ``role``, ``margin`` or ``limit``, and `Outcomes` as ``outcomes``. The verdicts, and the columns of `SCORECARD`
    that belong to a verdict, are added to these dicts. The share of far worse runs above which collapses count as shown is returned.
    """
    deciding = [row for row in rows if row["role"] == PRIMARY and "outcomes" in row]
    tests = sum(row["role"] == PRIMARY for row in rows)
    looks = [*exam.get("looks", ()), None]
    of_all = next((row["outcomes"] for row in deciding if "is_rare" in row), None)
    rare = _allowed_share(of_all) if of_all else card_tests.RARE
    for number, look in enumerate(looks):
        level = card_tests.level_of_look(significance, number)
        still = [row for row in deciding if row.get("verdict") in (None, NOT_MEASURED, *OPEN_VERDICTS)]
        for row, verdict in zip(
            still,
            _verdicts([row["outcomes"].until(look) for row in still], still, tests, level, exam, rare),
            strict=True,
        ):
            row |= verdict | {"look": number + 1}
    return rare


def _allowed_share(of_all):
    """Return the share of far worse runs above which collapses count as shown, given the outcomes of all cases together.

    Collapses that are no more frequent than those of the standard CCAs don't count against the CCA.
    """
    return max(card_tests.RARE, of_all.standards_far / of_all.n if of_all.n else 0.0)


def _verdicts(outcomes, rows, tests, level, exam, rare):
    """Return each row's p-values, upper confidence bound on the share of worse runs, and verdict."""
    is_absolute = ["limit" in row or "is_rare" in row for row in rows]
    worse = [card_tests.p_worse(*one, rare) for one in zip(outcomes, is_absolute, strict=True)]
    better = [card_tests.p_better(one) for one in outcomes]
    # Holm's correction over all deciding rows; those without runs have p = 1.
    worse_corrected, better_corrected = (
        adjusted(pd.Series([*of, *[1.0] * (tests - len(of))]), "holm")[: len(of)] for of in (worse, better)
    )
    found = []
    for one, p, corrected, better_p in zip(outcomes, worse, worse_corrected, better_corrected, strict=True):
        draws = one.draws if one.measurements >= one.n else ((1, one.measurements),)
        # The fewest worse runs may by chance be those against any of the standard CCAs, so the level is divided among them.
        most = share_at_most(one.worse, draws, level / tests / one.comparisons)
        verdict = {"p": p, "p_corrected": corrected, "worse_share_at_most": most, "reason": ""}
        if one.n == 0:
            found.append(
                verdict
                | {
                    "p": np.nan,
                    "p_corrected": np.nan,
                    "worse_share_at_most": np.nan,
                    "verdict": NOT_MEASURED,
                    "reason": "no pair of runs has a value",
                }
            )
        elif corrected <= level:
            found.append(verdict | {"verdict": WORSE})
        elif better_p <= level and not one.missing:
            found.append(verdict | {"verdict": BETTER})
        elif (
            most <= exam["limits"]["worse_share"]
            and not (one.missing or one.failed_alone)
            and one.far_worse <= one.standards_far
        ):
            found.append(verdict | {"verdict": LIKE})
        else:
            found.append(verdict | _open(one))
    return found


def _open(one) -> dict[str, str]:
    """Return the verdict of an open row, and the reason."""
    if one.measurements < one.n:
        return {"verdict": NOT_ENOUGH, "reason": f"its {one.n} runs repeat one measurement"}
    if one.missing and not 0 < one.worse < one.n:
        return {"verdict": NOT_ENOUGH, "reason": f"{one.missing} of {len(one.planned)} runs are missing"}
    if 0 < one.worse < one.n:
        return {"verdict": TOO_VARIABLE, "reason": f"worse in {one.worse} of {one.n} runs"}
    return {"verdict": NOT_ENOUGH, "reason": f"{one.n} runs are too few"}


def _what_it_would_take(row, exam, level, next_level, rare) -> dict:
    """Return the smallest deterioration that an open row could have shown, and the number of runs that would decide the row."""
    one, is_absolute = row["outcomes"], "limit" in row or "is_rare" in row
    found = {"runs_needed": card_tests.runs_needed(one, next_level, exam["limits"]["worse_share"], is_absolute, rare)}
    if is_absolute or one.measurements < one.n:
        return found
    fewest = card_tests.fewest_for_most(one.draws, level)
    if fewest is not None:
        ordered = np.sort(one.worse_by.to_numpy(float), axis=0)
        # With a median deterioration of ``detectable`` and the same spread, just enough runs would be worse than every standard CCA by more
        # than the margin to show it.
        lowest = ordered[one.n - fewest].min()
        detectable = row["margin"] + float(one.worse_by[one.nearest].median()) - float(lowest)
        # The size is unknown if it depends on failed runs, which have no value.
        found["detectable"] = detectable if np.isfinite(detectable) else np.nan
    return found
