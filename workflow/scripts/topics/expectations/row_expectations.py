"""Expectations about the rows of a table: select the rows, and find those that don't meet the expectation."""

import math
from itertools import takewhile

import pandas as pd

from topics.cells.tables import IN_UNIT
from topics.claims.claim_measures import meets_requirement
from topics.claims.claim_verdicts import interval_verdict
from topics.claims.claim_words import requirement_words
from topics.claims.tables import NOT_REPRODUCED, REPRODUCED
from topics.expectations.tables import EXPECTATIONS, MET, NOT_MET, NOT_SHOWN, NOT_TESTABLE

#: Replication that is used for a row that doesn't state one.
FIRST = 1
#: Longest text, in characters, that is used to identify a row.
LONGEST_NAME = 60
#: Reason why a value isn't evidence although it meets a requirement.
NO_INTERVAL = ", but there is no interval: a single measurement, or runs that don't allow an interval, are not evidence"
#: Column of a table -> column of `EXPECTATIONS` that shows the row's number, unit or interval next to an expectation about a text.
SHOWN = {"value": "value", "low": "low", "high": "high", "unit": "unit"}


def check_rows(one, table, declared, study) -> list[dict]:
    """Return the rows of `EXPECTATIONS` for an expectation about a table.

    There is one row for each row of the table that doesn't pass, or a single row if all rows pass or a condition matches no row.

    Parameters
    ----------
    one : dict
        An expectation completed by `expectation_list.expectations_of`.
    table : pandas.DataFrame
        A table from `run_tables.reading.read_table`.
    declared : run_tables.table.Table
    study : dict
        The resolved study, which is used to find the runs that a row is about.
    """
    chosen = table[_is_chosen(one, table)]
    expected = _expected_words(one, declared)
    same = {"expectation": one["id"], "statement": one["statement"], "expected": expected, "number": len(chosen)}
    where = " and ".join(f"{key} {' or '.join(map(str, values))}" for key, values in one["where"].items())
    subject = f"{one['column']} of {one['table']}" + (f", {where}" if where else "")
    if absent := _absent(one, chosen):
        because = f"No row of {one['table']} is about {absent}."
        return [_row(same, subject=subject, outcome=NOT_TESTABLE, because=because)]
    judgements = [same | _judged(one, row, declared, study) for row in chosen.to_dict("records")]
    missed = [row for row in judgements if not row["passed"]]
    if missed:
        return [_row(row) for row in missed]
    met = all(row["outcome"] == MET for row in judgements)
    because = f"Acceptable rows: {len(judgements):,} of {len(judgements):,}."
    return [_row(same, subject=subject, outcome=MET if met else NOT_SHOWN, passed=True, because=because)]


def _row(*parts, **more):
    row = dict.fromkeys(EXPECTATIONS.names, "") | {"value": None, "low": None, "high": None, "passed": False}
    for part in (*parts, more):
        row |= part
    return row


def _is_chosen(one, table):
    chosen = pd.Series(True, index=table.index)
    for name, values in one["where"].items():
        chosen &= table[name].map(lambda cell, values=values: any(_is_same(cell, value) for value in values))
    return chosen


def _absent(one, chosen):
    """Return the first value in an expectation's conditions that doesn't occur in any chosen row; empty if every value occurs."""
    if chosen.empty:
        return "it"
    missing = (
        f"{name} {value}"
        for name, values in one["where"].items()
        for value in values
        if not chosen[name].map(lambda cell, value=value: _is_same(cell, value)).any()
    )
    return next(missing, "")


def _is_same(cell, value):
    """Return whether a value in a table equals a value in the study's file.

    If the table's value is a text, the other value is converted to text before they are compared.
    """
    return cell == (value if not isinstance(cell, str) else str(value))


def _judged(one, row, declared, study):
    cell = row[one["column"]]
    shown = {name: row[column] for column, name in SHOWN.items() if column in row and column != one["column"]}
    because = row.get("because", "") or row.get("reason", "") or row.get("note", "")
    judged = shown | {"subject": _subject(one, row, declared), "run": _run_of(row, study)}
    if "requirement" not in one:
        outcome = _outcome_of_value(one, cell, declared[one["column"]].unmeasured)
        words = because if isinstance(because, str) and because else "Nothing was measured." * (outcome == NOT_TESTABLE)
        return judged | {
            "found": "" if _is_empty(cell) else str(cell), "outcome": outcome, "passed": outcome == MET, "because": words,
        }  # fmt: skip
    unit = _unit_of(one, declared)
    judged |= {"found": "", "value": cell, "unit": row.get("unit", "") if unit is None else unit}
    low, high = (row[name] for name in one["interval"]) if one["interval"] else (math.nan, math.nan)
    judged |= {"low": low, "high": high}
    if math.isnan(cell):
        return judged | {"outcome": NOT_TESTABLE, "passed": False, "because": "The row has no value."}
    # A value without an interval is sufficient if it belongs to a single run, but isn't evidence for a mean.
    if math.isnan(low) and math.isnan(high):
        met = bool(meets_requirement([cell], one["requirement"]).all())
        outcome = (NOT_SHOWN if one["interval"] else MET) if met else NOT_MET
        because = f"the value {'meets' if met else 'misses'} the requirement" + NO_INTERVAL * bool(one["interval"])
    else:  # a missing end counts as infinite
        ends = (-math.inf if math.isnan(low) else low, cell, math.inf if math.isnan(high) else high)
        verdict, because = interval_verdict(*ends, one["requirement"])
        outcome = {REPRODUCED: MET, NOT_REPRODUCED: NOT_MET}.get(verdict, NOT_SHOWN)
    return judged | {
        "outcome": outcome,
        "passed": passes(outcome, one["must_be"]),
        "because": f"{because[0].upper()}{because[1:]}.",
    }


def _outcome_of_value(one, cell, unmeasured):
    """Return the outcome for a text or bool.

    With `none_of`, an unmeasured value is not testable unless `accept` names the value.
    """
    known = {key: any(_is_same(cell, value) for value in one.get(key, ())) for key in ("one_of", "none_of", "accept")}
    if "one_of" in one:
        return MET if known["one_of"] else NOT_MET
    if known["none_of"]:
        return NOT_MET
    return NOT_TESTABLE if (_is_empty(cell) or cell in (unmeasured or ())) and not known["accept"] else MET


def _is_empty(cell):
    return cell == "" or cell != cell


def passes(outcome, must_be) -> bool:
    """Return whether the gate accepts an outcome."""
    return outcome == MET or (outcome == NOT_SHOWN and must_be == "not-refuted")


def _expected_words(one, declared):
    if "requirement" in one:
        return requirement_words(one["requirement"], _unit_of(one, declared) or "")
    values = " or ".join(str(value) for value in one.get("one_of", one.get("none_of")))
    if "one_of" in one:
        return values
    accepted = "".join(f" or {value or 'empty'}" for value in one["accept"])
    return f"measured{accepted}, and not {values}"


def _unit_of(one, declared):
    """Return the unit of an expectation's column; None if the row states the unit."""
    unit = declared[one["column"]].unit
    return None if unit == IN_UNIT else unit


def _subject(one, row, declared):
    """Describe a row by the column that the expectation names, and by the row's first text and ordinal columns; long texts are left out."""
    begins = takewhile(lambda column: column.kind in ("text", "ordinal"), declared)
    names = [row[column.name] for column in begins if column.name not in (one["column"], *SHOWN, "scenario_label")]
    texts = [f"{name:g}" if isinstance(name, float) else name for name in names if name == name]
    return ", ".join([f"{one['column']} of {one['table']}", *(text for text in texts if 0 < len(text) <= LONGEST_NAME)])


def _run_of(row, study):
    """Return a run that a row refers to; empty if the row doesn't name a scenario of the study.

    The result is the row's worst run or, if the row doesn't name one, a run of the row's cell.
    """
    if isinstance(row.get("worst_run"), str) and row["worst_run"]:
        return row["worst_run"]
    if row.get("scenario") not in {scenario["id"] for scenario in study["scenarios"]}:
        return ""
    cca = row["cca"] if row.get("cca") in study["ccas"] else study["ccas"][0]
    ip_version = row["ip_version"] if row.get("ip_version") in study["ip_versions"] else study["ip_versions"][0]
    replication = row.get("replication", FIRST)
    known = isinstance(replication, (int, float)) and not math.isnan(replication)
    return f"{row['scenario']}/{cca}/{ip_version}/{int(replication) if known else FIRST}"
