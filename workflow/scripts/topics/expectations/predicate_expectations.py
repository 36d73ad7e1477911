"""Expectations that are written as predicates, like claims, and judged by the same statistics, intervals and verdicts."""

import numpy as np
import pandas as pd

from run_tables.reading import run_name
from topics.claims.claim_measures import meets_requirement
from topics.claims.claim_predicates import parts_of
from topics.claims.claim_quantities import LEVELS, SIDES
from topics.claims.claim_samples import Samples
from topics.claims.claim_verdicts import check_claims
from topics.claims.claim_words import requirement_words
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED
from topics.expectations import tables
from topics.expectations.row_expectations import NO_INTERVAL, passes

#: Verdict on a claim -> outcome of an expectation that is written as the same predicate.
OUTCOMES = {
    REPRODUCED: tables.MET, NOT_REPRODUCED: tables.NOT_MET, NOT_SHOWN: tables.NOT_SHOWN, NOT_TESTABLE: tables.NOT_TESTABLE,
}  # fmt: skip
UPPER, LOWER = ("below", "at_most"), ("above", "at_least")


def check_predicates(predicates, confidence, significance, runs, flows, scenarios, sockets) -> list[dict]:
    """Return one row of `EXPECTATIONS` for each predicate.

    Parameters
    ----------
    predicates : dict
        Predicates completed by `expectation_list.expectations_of`.
    confidence, significance : float
    runs, flows, scenarios, sockets
        The same tables as for `topics.claims.claim_samples.Samples`.
    """
    checked = check_claims(runs, predicates, confidence, significance, flows, scenarios, sockets).to_dict("records")
    samples = Samples(runs, predicates, flows, scenarios, sockets)
    return [_row(claim, row, samples, runs) for claim, row in zip(predicates["claims"], checked, strict=True)]


def runs_of_claims(claims, table, runs, flows, scenarios, sockets) -> dict[str, str]:
    """Return claim id -> run to repeat, for each claim in a study's claims file.

    ``table`` is `CLAIMS`. The other parameters are the same as for `Samples`.
    """
    samples, values = Samples(runs, claims, flows, scenarios, sockets), table.set_index("claim")["value"]
    return {
        claim["id"]: _run_to_repeat(claim, {"value": values[claim["id"]]}, samples, runs) for claim in claims["claims"]
    }


def _row(claim, row, samples, runs):
    outcome, because = OUTCOMES[row["verdict"]], row["because"]
    if outcome == tables.MET and claim["kind"] != "normality" and pd.isna([row["low"], row["high"]]).all():
        outcome, because = tables.NOT_SHOWN, because.rstrip(".") + NO_INTERVAL + "."
    if outcome == tables.NOT_SHOWN and _violates(claim, row, samples):
        outcome, because = tables.NOT_MET, f"{because.rstrip('.')}; the value violates the requirement."
    expected = _expected_words(claim, row)
    subject = row["requirement"].removesuffix(f": {expected}")
    measure = parts_of(claim, samples)[0][0]
    if measure.plain or not subject:  # otherwise, the subject begins with the measure
        subject = f"{measure.words}; {subject}" if subject else measure.words
    return {
        "expectation": claim["id"],
        "statement": claim["statement"] if claim["statement"] != claim["id"] else "",
        "subject": subject,
        "found": "",
        **{name: row[name] for name in ("value", "low", "high", "unit")},
        "expected": expected,
        "outcome": outcome,
        "because": because,
        "passed": passes(outcome, claim["must_be"]),
        "run": _run_to_repeat(claim, row, samples, runs),
        "number": row["runs"],
    }


def _violates(claim, row, samples):
    """Return whether a value violates the requirement that bounds it, and has no interval because of outliers."""
    requirement = _requirement(claim)
    if (
        not requirement
        or "replicates" in requirement
        or pd.isna(row["value"])
        or pd.notna([row["low"], row["high"]]).any()
    ):
        return False
    has_outliers = any(samples.apart(measure, mask).any() for measure, mask in parts_of(claim, samples))
    return has_outliers and not meets_requirement(row["value"], requirement)


def _requirement(claim):
    if claim["kind"] == "no_difference":
        return {"at_least": -claim["margin"], "at_most": claim["margin"]}
    return claim.get("requirement", {})


def _expected_words(claim, row):
    """Return the requirement on the statistic in words; ``row`` is the row with the verdict."""
    if "replicates" in _requirement(claim) or claim["kind"] == "normality":
        return row["requirement"].rpartition(": ")[2]
    return requirement_words(_requirement(claim), row["unit"])


def _run_to_repeat(claim, row, samples, runs):
    """Return the run to repeat, from the predicate's first group of cells.

    It is the run whose value deviates most in the direction in which the statistic violates the requirement.
    """
    side = claim[SIDES[claim["kind"]][0]] if claim["kind"] in SIDES else claim
    factors = {factor: side[key] for key, factor in LEVELS.items()}
    factors["scenario"] = [samples.matches[name] for name in factors["scenario"] if name in samples.matches]
    chosen = np.logical_and.reduce([samples.runs[factor].isin(names) for factor, names in factors.items()])
    if not chosen.any():  # no run is valid
        candidates = runs[np.logical_and.reduce([runs[factor].isin(names) for factor, names in factors.items()])]
        return run_name(candidates.iloc[0]) if len(candidates) else ""
    values = np.where(chosen, samples.of_runs(parts_of(claim, samples)[0][0]), np.nan)
    place = int(chosen.argmax())
    if np.isfinite(values).any():
        order = _wrong_way(claim, row["value"])
        place = int(np.nanargmax(order * values)) if order else place
    return run_name(samples.runs.iloc[place])


def _wrong_way(claim, value):
    """Return 1 if large values violate the requirement, -1 if small values violate it, and 0 if the direction is unknown."""
    if claim["kind"] == "ordering":
        return {"highest": -1, "lowest": 1, "middle": 0}[claim["place"]]
    if claim["kind"] not in ("threshold", "ratio") or claim.get("pick") == "spread_percent" or value is None:
        return 0
    requirement = claim["requirement"]
    if "replicates" in requirement:
        return 1 if value > requirement["replicates"] else -1
    lows, highs = ([requirement[key] for key in keys if key in requirement] for keys in (LOWER, UPPER))
    if lows and highs:
        return 1 if value - highs[0] > lows[0] - value else -1
    return 1 if highs else -1
