"""Reasons for excluding runs, and tables that include the excluded runs for which measurements exist."""

from collections.abc import Sequence

import pandas as pd

from run_tables.metrics import METRICS
from run_tables.run_documents import is_missing
from testbed.checks.check import INSTRUMENT, SENDER

#: Value of ``invalid_because`` in ``tidy/runs.csv`` for a run without a document.
NOT_RUN = "not carried out: there is no document"
#: Value of ``excluded_by`` for a run without a document.
ABSENT = "not run"
#: Suffix of a column whose values include excluded runs.
KEPT = "_kept"


def excluded_by(document) -> str:
    """Return why a run is excluded, as a value of ``excluded_by`` in ``tidy/runs.csv``; empty if the run is valid.

    If the path, the hosts or the measurement differed from the specification, the reason is `INSTRUMENT`, whatever other checks failed:
    such a run says nothing about its senders.
    """
    if document["verdict"]["valid"]:
        return ""
    if is_missing(document):
        return ABSENT
    causes = {check.get("cause", INSTRUMENT) for check in document["verdict"]["checks"] if not check["ok"]}
    return document.get("failure", {}).get("kind") or (SENDER if causes == {SENDER} else INSTRUMENT)


def not_run(runs: pd.DataFrame) -> pd.Series:
    """Return a mask of the runs in ``tidy/runs.csv`` that were not executed, and therefore have no checks."""
    return runs["invalid_because"] == NOT_RUN


def whole_places(runs: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the (scenario, IP version) pairs for which all runs were executed and each CCA has at least one valid run.

    CCAs are ranked only within these pairs. Elsewhere, a CCA would be missing from the ranking, or CCAs would be compared over different
    runs.
    """
    places = runs.assign(absent=not_run(runs)).groupby(["scenario", "ip_version"], sort=False)
    whole = set()
    for place, of_place in places:
        ccas = of_place.groupby("cca", sort=False)["valid"].any()
        if not of_place["absent"].any() and ccas.all():
            whole.add(place)
    return whole


def in_whole_places(table: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of cells that belong to a (scenario, IP version) pair from `whole_places`."""
    whole = whole_places(runs)
    places = zip(table["scenario"], table["ip_version"], strict=True)
    return table[pd.Series([place in whole for place in places], table.index, dtype=bool)]


def usable_exclusions(runs: pd.DataFrame) -> pd.Series:
    """Return a mask of the runs in ``tidy/runs.csv`` that are invalid but have at least one metric."""
    return ~runs["valid"] & runs[[metric.column for metric in METRICS]].notna().any(axis=1)


def runs_with_exclusions(runs: pd.DataFrame) -> pd.DataFrame | None:
    """Return ``tidy/runs.csv`` with the runs in `usable_exclusions` marked as valid, or None if there are no such runs."""
    usable = usable_exclusions(runs)
    return runs.assign(valid=runs["valid"] | usable) if usable.any() else None


def with_kept(table: pd.DataFrame, kept: pd.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return a table whose ``<column>_kept`` columns are filled from a second table, which includes excluded runs.

    Parameters
    ----------
    table : pandas.DataFrame
        Table computed from valid runs, with a column ``<column>_kept`` for each name in ``columns``.
    kept : pandas.DataFrame
        The same table computed from `runs_with_exclusions`.
    keys : sequence of str
        Columns that identify a row of both tables.
    columns : sequence of str
        Columns of ``kept`` to copy.
    """
    names = {column: column + KEPT for column in columns}
    other = kept[[*keys, *columns]].rename(columns=names)
    return table.drop(columns=list(names.values())).merge(other, on=list(keys), how="left")[list(table.columns)]
