"""The scorecard: what a CCA does, criterion by criterion, held against the standard CCAs and against absolute limits.

Relative verdicts are one-sided tests of the mean of pairs, runs of one scenario and replication (common random numbers). A CCA is
*worse* where it does worse than each of the standard CCAs by more than the margin, *better* where it does better than each by more
than the margin: of several nulls all are rejected, each at the level itself (Berger, 1982, Technometrics 24(4)). The p values of
either verdict are corrected over the card (Holm, 1979), so that a card of a CCA that is nowhere worse has a row "worse" with a
chance below the level. *Like*: the data rule out that it is worse by the margin than the standard CCA that it is nearest to.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from inference.cell_estimates import cell_estimate
from inference.multiple_tests import adjusted
from inference.paired_tests import MIN_PAIRS, StudentMean
from topics.exam.criteria import CRITERIA, HIGHER, MEASURES
from topics.exam.tables import EXAM_PUBLISHED, SCORECARD

BETTER, LIKE, WORSE, NOT_SHOWN = "better", "like", "worse", "not shown"
PASSED, FAILED, NOT_EVALUATED = "passed", "failed", "not evaluated"
#: What a mean does beside what is published.
AGREES, DIFFERS = "agrees", "differs"
#: How finely a difference is known at best, of its margin: runs that agree more closely than that repeat one measurement.
STEP = 0.1
PAIR = ["ip_version", "replication"]
#: What a row has until all rows are there: p of the other verdicts, and what it shows if it turns out better.
_UNTIL_JUDGED = ("p_better", "p_not_worse", "of_best")


def scorecard(
    values, scenarios: Mapping[str, str], exam, confidence=0.95, significance=0.05, missing=None
) -> pd.DataFrame:
    """Return `SCORECARD`.

    Parameters
    ----------
    values : pandas.DataFrame
        `EXAM_VALUES`.
    scenarios : mapping
        Identifier -> label of the study's scenarios, in its order.
    exam : mapping
        The study's ``exam``: cca, standards, margins, limits.
    confidence, significance : float
        Of intervals, and of all rows "worse" together.
    missing : mapping, optional
        Scenario -> why the CCA under examination has no valid run there.
    """
    # Once for all rows: of a study with a thousand runs a look for each would take most of the time.
    of_cell = _cells_of(values)
    other_of = values[values["other"] != ""].groupby("scenario")["other"].first()
    rows = []
    for criterion in CRITERIA:
        answering = list(filter(criterion.is_answered_by, scenarios))
        about = {
            "rfc_section": criterion.section, "group": criterion.group, "criterion": criterion.words, "rfc_word": criterion.strength,
            "cca": exam["cca"],
        }  # fmt: skip
        if not answering:
            reason = criterion.reason or "the study has no scenario for it"
            rows.append(about | {"verdict": NOT_EVALUATED, "reason": reason})
        for scenario in answering:
            place = about | {"scenario": scenario, "scenario_label": scenarios[scenario]}
            ccas = {exam["cca"], *exam["standards"], other_of.get(scenario, exam["cca"])}
            cells = {
                name: {cca: of_cell[scenario, name, cca] for cca in ccas if (scenario, name, cca) in of_cell}
                for name in criterion.measures
            }
            asked = [name for name in criterion.measures if cells[name]]
            if not any(exam["cca"] in cells[name] for name in asked):
                reason = (missing or {}).get(scenario, "no valid run has a value")
                rows.append(place | {"verdict": NOT_EVALUATED, "reason": reason})
                continue
            for name in asked:
                if exam["cca"] in cells[name]:
                    rows.append(
                        place | _row(MEASURES[name], cells[name], other_of.get(scenario), exam, confidence, scenario)
                    )
    table = _judged(pd.DataFrame(rows, columns=[*SCORECARD.names, *_UNTIL_JUDGED]), significance)[SCORECARD.names]
    texts = [column.name for column in SCORECARD if column.kind == "text"]
    return table.assign(**{name: table[name].astype(object).where(table[name].notna(), "") for name in texts})


def _cells_of(values):
    """Return a dict: (scenario, measure, CCA) -> values by IP version and replication."""
    return {key: rows.set_index(PAIR)["value"] for key, rows in values.groupby(["scenario", "measure", "cca"])}


def _row(measure, cells, other, exam, confidence, scenario) -> dict:
    """Return what a row says of one measure; ``cells``: CCA -> its values by IP version and replication."""
    own = cells[exam["cca"]]
    worst = own.idxmin() if measure.better == HIGHER else own.idxmax()
    row = {
        "measure": measure.name, "unit": measure.unit, "better": measure.better, "n": len(own),
        **_mean(own, confidence, "value", "low", "high"),
        "worst_run": f"{scenario}/{exam['cca']}/{worst[0]}/{worst[1]}",
    }  # fmt: skip
    standards = [cca for cca in ([other] if measure.incumbent else exam["standards"]) if cca in cells]
    if measure.limit:
        limit = exam["limits"][measure.limit]
        beyond = int((own > limit).sum())
        row |= {"limit": limit, "verdict": FAILED if 2 * beyond > len(own) else PASSED}
        if standards:
            row |= _standard(max(standards, key=lambda cca: cells[cca].mean()), cells, confidence)
        return row
    margin, sign = exam["margins"][measure.margin], -1 if measure.better == HIGHER else 1
    row["margin"] = margin
    tests = {}
    for cca in standards:
        pairs = sign * (own - cells[cca]).dropna()
        if len(pairs) >= MIN_PAIRS:
            tests[cca] = StudentMean(pairs.to_numpy(float), STEP * margin)
    if not tests:
        reason = "fewer than two pairs of runs" if standards else "no standard CCA has a value"
        return (
            row
            | (_standard(standards[0], cells, confidence) if standards else {})
            | {"verdict": NOT_SHOWN, "reason": reason}
        )
    # The standard that does worst leaves the least to be worse than.
    nearest, farthest = (pick(tests, key=lambda cca: tests[cca].mean) for pick in (min, max))
    row |= _standard(nearest, cells, confidence) | {
        "p": max(test.p(margin, "greater") for test in tests.values()),
        "p_better": max(test.p(-margin, "less") for test in tests.values()),
        "p_not_worse": min(1.0, len(tests) * min(test.p(margin, "less") for test in tests.values())),
    }
    row |= dict(zip(("worse_by", "worse_by_low", "worse_by_high"), _ends(tests[nearest], confidence), strict=True))
    row["of_best"] = _standard(farthest, cells, confidence) | dict(
        zip(("worse_by", "worse_by_low", "worse_by_high"), _ends(tests[farthest], confidence), strict=True)
    )
    return row


def _standard(cca, cells, confidence):
    return {"standard": cca, **_mean(cells[cca], confidence, "standard_value", "standard_low", "standard_high")}


def _ends(test, confidence):
    return test.mean, *test.interval(confidence)


def _mean(values, confidence, *names):
    """Return mean and both ends of its interval under these names; no measure is less than 0."""
    known = cell_estimate(values, confidence, 0)
    return dict(zip(names, (known.mean, known.low, known.high), strict=True))


def _judged(table, significance):
    """Return the table with the verdicts that take all rows."""
    table["p_corrected"] = adjusted(table["p"], "holm")
    better = adjusted(table["p_better"], "holm")
    for place in table.index[table["verdict"].isna()]:
        if table.at[place, "p_corrected"] <= significance:
            verdict = WORSE
        elif better[place] <= significance:
            verdict = BETTER
            table.loc[place, list(table.at[place, "of_best"])] = list(table.at[place, "of_best"].values())
        elif table.at[place, "p_not_worse"] <= significance:
            verdict = LIKE
        else:
            verdict = NOT_SHOWN
            table.at[place, "reason"] = "the runs leave open whether it is worse by the margin"
        table.at[place, "verdict"] = verdict
    return table


def beside_published(values, scenarios: Mapping[str, str], confidence=0.95) -> pd.DataFrame:
    """Return `EXAM_PUBLISHED`: what publications state of CCAs that ran, examined or not, and whether the means here agree.

    A mean *agrees* if its whole interval lies where the statement puts it, *differs* if none of it does; else, and with one run,
    it is *not shown*.

    Parameters
    ----------
    values : pandas.DataFrame
        `EXAM_VALUES`.
    scenarios : mapping
        Identifier -> label of the study's scenarios, in its order.
    confidence : float
        Of the intervals.
    """
    of_cell = _cells_of(values)
    rows = []
    for criterion in CRITERIA:
        for stated in criterion.published:
            for scenario in filter(stated.scenarios.__contains__, scenarios):
                of_runs = of_cell.get((scenario, stated.measure, stated.cca))
                if of_runs is not None and stated.minus:
                    other = of_cell.get((scenario, stated.measure, stated.minus))
                    of_runs = None if other is None else (of_runs - other).dropna()
                if of_runs is None or of_runs.empty:
                    continue
                known = cell_estimate(of_runs, confidence, None if stated.minus else 0)
                # One measurement repeated is judged by itself.
                exact = known.n > 1 and known.measurements == 1
                low, high = (known.mean, known.mean) if exact else (known.low, known.high)
                within = low is not None and stated.at_least <= low and high <= stated.at_most
                beyond = low is not None and (high < stated.at_least or low > stated.at_most)
                rows.append({
                    "rfc_section": criterion.section, "criterion": criterion.words, "scenario": scenario,
                    "scenario_label": scenarios[scenario], "cca": stated.cca, "measure": stated.measure,
                    "unit": MEASURES[stated.measure].unit, "minus": stated.minus, "n": known.n, "value": known.mean, "low": known.low,
                    "high": known.high, "at_least": stated.at_least, "at_most": stated.at_most,
                    "verdict": AGREES if within else DIFFERS if beyond else NOT_SHOWN, "statement": stated.words,
                    "source": stated.source,
                })  # fmt: skip
    return pd.DataFrame(rows, columns=EXAM_PUBLISHED.names).replace([np.inf, -np.inf], np.nan)
