"""The scorecard: a CCA's results, criterion by criterion, compared with the standard CCAs and with absolute limits.

The rows of all criteria are made here; their verdicts are set jointly (`judge`).
"""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from inference.percentile_interval import percentile_interval
from run_tables.run_keys import RUN
from topics.exam.criteria import CRITERIA, MEASURES, RARE_EVENTS
from topics.exam.judge import judge
from topics.exam.outcomes import PAIR, Outcomes, absolute_outcomes, relative_outcomes
from topics.exam.tables import NOT_APPLICABLE, NOT_MEASURED, PRIMARY, SCORECARD, SECONDARY  # fmt: skip
from wording.scenario_words import ip_words

#: A row shows the counts for IPv4 and for IPv6 if their shares of worse runs differ by at least this amount.
APART = 0.3
#: Value of ``excluded_by`` in ``tidy/runs.csv`` for a run that lacks a value because of the CCA's behaviour -> how grave this is.
OF_THE_CCA = {"sender": 1, "crash": 2, "not ended": 2}
NO_PAIRS = pd.MultiIndex.from_arrays([[], []], names=PAIR)


def scorecard(
    values, scenarios: Mapping[str, str], exam, confidence=0.95, significance=0.05, runs=None
) -> pd.DataFrame:
    """Return `SCORECARD`.

    Parameters
    ----------
    values : pandas.DataFrame
        `EXAM_VALUES`.
    scenarios : mapping
        Scenario identifier -> label, in the study's order.
    exam : mapping
        The study's ``exam``: cca, standards, primaries, margins, limits, looks.
    confidence, significance : float
        Confidence level of the intervals, and significance level of the verdicts *worse* over all rows together.
    runs : pandas.DataFrame, optional
        ``tidy/runs.csv``: the planned runs, the reasons for missing values, and the quantities drawn at random. By default, the planned
        runs are those with a value of any measure.
    """
    design = _Design(values, exam, runs)
    rows = [row for criterion in CRITERIA for row in _rows_of(criterion, design, scenarios, confidence)]
    if measured := [row for row in rows if "outcomes" in row]:
        of_scenarios = {
            row["scenario"]: (design.planned(row["scenario"]), design.failed_pairs(row["scenario"])) for row in measured
        }
        rows.insert(0, rare_row(measured, exam, of_scenarios))
    judge(rows, exam, significance)
    table = pd.DataFrame(rows, columns=SCORECARD.names)
    texts = [column.name for column in SCORECARD if column.kind == "text"]
    return table.assign(**{name: table[name].astype(object).where(table[name].notna(), "") for name in texts})


class _Design:
    """An exam's runs, and the values of their cells."""

    def __init__(self, values, exam, runs):
        self.exam = exam
        self.primaries = exam.get("primaries") or {}
        self.cells, self.taken = cells_of(values), set()
        there = (values if runs is None else runs).drop_duplicates(RUN)
        own = there[there["cca"] == exam["cca"]]
        self.of_scenario = dict(list(own.groupby("scenario")))
        self.runs = dict(list(there[there["cca"].isin([exam["cca"], *exam["standards"]])].groupby("scenario")))

    @cache  # noqa: B019, the object lives only while the card is made
    def planned(self, scenario) -> pd.MultiIndex:
        """Return the pairs (IP version, replication) for which the CCA or a standard CCA ran in a scenario."""
        runs = self.runs.get(scenario)
        return NO_PAIRS if runs is None else pd.MultiIndex.from_frame(runs[PAIR].drop_duplicates())

    def excluded(self, scenario) -> pd.DataFrame:
        """Return the rows of the CCA's invalid runs in a scenario, with the reasons; empty if ``tidy/runs.csv`` wasn't given."""
        own = self.of_scenario.get(scenario, pd.DataFrame(columns=[*RUN, "valid"]))
        return own[~own["valid"].astype(bool)] if "valid" in own else own.iloc[:0]

    @cache  # noqa: B019, the object lives only while the card is made
    def failed(self, scenario) -> dict[str, pd.Series]:
        """Return a mapping CCA (examined or standard) -> the grades (`OF_THE_CCA`) of a scenario's failed runs, by pair."""
        runs = self.runs.get(scenario)
        if runs is None or not {"valid", "excluded_by"} <= set(runs):
            return {}
        by_cca = runs[~runs["valid"].astype(bool) & runs["excluded_by"].isin(OF_THE_CCA)]
        return {cca: rows.set_index(PAIR)["excluded_by"].map(OF_THE_CCA) for cca, rows in by_cca.groupby("cca")}

    def failed_pairs(self, scenario) -> pd.MultiIndex:
        """Return the pairs of a scenario in which the examined CCA's run failed."""
        own = self.failed(scenario).get(self.exam["cca"])
        return NO_PAIRS if own is None else own.index

    @cache  # noqa: B019, the object lives only while the card is made
    def paths(self, scenario) -> pd.Series | None:
        """Return an index that identifies the randomly drawn path of each of the CCA's runs in a scenario, by pair; None if unknown."""
        drawn = ["ip_version", "rtt_path_ms", "rate_mbps", "queue_bytes"]
        own = self.of_scenario.get(scenario)
        if own is None or not set(drawn) <= set(own):
            return None
        return own.groupby(drawn, dropna=False).ngroup().set_axis(pd.MultiIndex.from_frame(own[PAIR]))

    @cache  # noqa: B019, the object lives only while the card is made
    def seeds(self, scenario) -> pd.Series | None:
        """Return the seed of each pair of a scenario; None if ``tidy/runs.csv`` wasn't given."""
        runs = self.runs.get(scenario)
        if runs is None or "seed" not in runs:
            return None
        return runs.drop_duplicates(PAIR).set_index(PAIR)["seed"]

    def is_asked(self, scenario, measure) -> bool:
        """Return whether the scorecard shows a measure in a scenario: it does if any CCA has a value or the row is a deciding one."""
        ccas = (self.exam["cca"], *self.exam["standards"])
        return measure in self.primaries.get(scenario, ()) or any(
            (scenario, measure, cca) in self.cells for cca in ccas
        )

    def role(self, scenario, measure) -> str:
        """Return `PRIMARY` if a row decides, otherwise `SECONDARY`.

        If the exam names no deciding rows, all rows decide. A measure that two criteria require in a scenario decides only once.
        """
        decides = not self.primaries or measure in self.primaries.get(scenario, ())
        is_first = (scenario, measure) not in self.taken
        self.taken.add((scenario, measure))
        return PRIMARY if decides and is_first else SECONDARY

    def why_none(self, scenario) -> str:
        """Return the reason why all of the CCA's runs in a scenario lack a value."""
        excluded = self.excluded(scenario)
        if "invalid_because" in excluded and len(excluded):
            return f"no valid run: {excluded['invalid_because'].iloc[0]}"
        return "no valid run has a value"


def cells_of(values) -> dict[tuple[str, str, str], pd.Series]:
    """Return a mapping (scenario, measure, CCA) -> values by IP version and replication."""
    return {key: rows.set_index(PAIR)["value"] for key, rows in values.groupby(["scenario", "measure", "cca"])}


def _rows_of(criterion, design, scenarios, confidence):
    """Yield the rows for a criterion."""
    exam, answering = design.exam, list(filter(criterion.is_answered_by, scenarios))
    about = {
        "rfc_section": criterion.section, "group": criterion.group, "criterion": criterion.words, "rfc_word": criterion.strength,
        "cca": exam["cca"], "role": SECONDARY,
    }  # fmt: skip
    inapplicable = {name: why for name, why in exam.get("inapplicable", {}).items() if criterion.is_answered_by(name)}
    for scenario, reason in inapplicable.items():
        yield about | {"scenario": scenario, "scenario_label": scenario, "verdict": NOT_APPLICABLE, "reason": reason}
    if not answering and not inapplicable:
        explained = criterion.is_explained and exam.get("explanation")
        reason = (
            "explained by the author, below" if explained else criterion.reason or "the study has no scenario for it"
        )
        yield about | {"verdict": NOT_MEASURED, "reason": reason}
    for scenario in answering:
        place = about | {"scenario": scenario, "scenario_label": scenarios[scenario]}
        asked = [name for name in criterion.measures if design.is_asked(scenario, name)]
        if not asked and not len(design.failed_pairs(scenario)):
            yield place | {"verdict": NOT_MEASURED, "reason": design.why_none(scenario)}
            continue
        for name in asked or criterion.measures[:1]:
            yield place | {"role": design.role(scenario, name)} | _row(MEASURES[name], scenario, design, confidence)


def _row(measure, scenario, design, confidence) -> dict:
    """Return the row for one measure in a scenario, without the verdict."""
    exam = design.exam
    cells = {
        cca: design.cells[scenario, measure.name, cca]
        for cca in dict.fromkeys([exam["cca"], *exam["standards"]])
        if (scenario, measure.name, cca) in design.cells
    }
    about = (exam["cca"], exam["standards"])
    of_runs = (design.planned(scenario), design.failed(scenario), design.paths(scenario), design.seeds(scenario))
    if measure.limit:
        bound = {"limit": exam["limits"][measure.limit]}
        outcomes = absolute_outcomes(cells, *about, bound["limit"], *of_runs)
    else:
        bound = {"margin": exam["margins"][measure.margin]}
        outcomes = relative_outcomes(measure, cells, *about, bound["margin"], *of_runs)
    row = {"measure": measure.name, "unit": measure.unit, "better": measure.better, **bound, **_counts(outcomes)}
    if len(own := cells.get(exam["cca"], pd.Series(dtype=float))):
        worst = own.idxmin() if measure.better == "higher" else own.idxmax()
        row |= median_with_interval(own, confidence, "value") | {"worst_value": own[worst]}
        row["worst_run"] = f"{scenario}/{exam['cca']}/{worst[0]}/{worst[1]}"
    sign = -1 if measure.better == "higher" else 1
    standards = [cca for cca in exam["standards"] if cca in cells]
    if standards:
        worst_of_them = max(standards, key=lambda cca: sign * cells[cca].median())
        # The nearest standard CCA has no value if all of its runs failed.
        row["standard"] = worst_of_them if measure.limit or outcomes.nearest not in standards else outcomes.nearest
        row |= median_with_interval(cells[row["standard"]], confidence, "standard_value")
    if not measure.limit and outcomes.nearest:
        differences = outcomes.worse_by[outcomes.nearest]
        row |= (
            median_with_interval(differences[np.isfinite(differences)], confidence, "worse_by")
            if np.isfinite(differences).any()
            else {}
        )
    return row | _by_ip_version(outcomes)


def median_with_interval(values, confidence, name) -> dict[str, float]:
    """Return the columns with the median and both ends of its interval (order statistics)."""
    known = percentile_interval(values, 0.5, confidence)
    has_interval = known.kind == "interval"
    end = name.removesuffix("value")
    names = (f"{end}low", f"{end}high") if end != name else (f"{name}_low", f"{name}_high")
    return {name: float(np.median(values))} | dict(
        zip(names, (known.low, known.high) if has_interval else (np.nan, np.nan), strict=True)
    )


def _by_ip_version(outcomes) -> dict[str, str]:
    """Return the counts of worse runs by IP version if the two shares of worse runs are far apart."""
    if not outcomes.worse or outcomes.worse_by.index.get_level_values("ip_version").nunique() < 2:
        return {}
    of_standards = outcomes.worse_by > outcomes.margin
    # The row is decided by the standard CCA against which the fewest runs are worse.
    worse = of_standards[of_standards.sum().idxmin()].groupby(level="ip_version")
    if np.ptp(worse.mean()) < APART:
        return {}
    return {"worse_by_ip_version": ", ".join(f"{ip_words(name)} {of.sum()} of {len(of)}" for name, of in worse)}


def rare_row(rows, exam, of_scenarios) -> dict:
    """Return the row for all cases together.

    The row gives the number of runs in which the examined CCA falls far behind in any measure, and the same number for a standard CCA. It
    contains only the runs of the first look: later runs belong to open cases, in which collapses are more likely than in other cases.

    Parameters
    ----------
    rows : list of dict
        Rows with ``scenario``, ``scenario_label`` and `Outcomes` as ``outcomes``.
    exam : mapping
        cca, standards and looks.
    of_scenarios : mapping
        Scenario -> the pairs (IP version, replication) of its runs, and the pairs that failed because of the CCA's behaviour.
    """
    names = ["scenario", *PAIR]
    first_look = next(iter(exam.get("looks") or ()), None)
    far, standard_far, seeds = {}, {}, {}
    for row in rows:
        outcomes, scenario = row["outcomes"].until(first_look), row["scenario"]
        runs = [(scenario, *pair) for pair in outcomes.is_far.index]
        for run, is_far in zip(runs, outcomes.is_far, strict=True):
            far[run] = far.get(run, False) or bool(is_far)
        of_runs = runs if outcomes.seeds is None else outcomes.seeds.reindex(outcomes.is_far.index)
        seeds |= zip(runs, of_runs, strict=True)
        standard_far |= dict.fromkeys((scenario, *pair) for pair in outcomes.standard_pairs)

    def index(pairs):
        return (
            pd.MultiIndex.from_tuples(pairs, names=names) if pairs else pd.MultiIndex.from_arrays([[]] * 3, names=names)
        )

    def of_all(place):
        return [(scenario, *pair) for scenario, pairs in of_scenarios.items() for pair in pairs[place]]

    worse_by = pd.DataFrame({"any": [float(value) for value in far.values()]}, index=index(list(far)))
    outcomes = Outcomes(
        planned=index(of_all(0)), failures=index([pair for pair in of_all(1) if pair in far]), worse_by=worse_by,
        margin=0.5, far=0.5, far_pairs={"standard": index(list(standard_far))},
        seeds=pd.Series(list(seeds.values()), index(list(seeds))),
    ).until(first_look)  # fmt: skip
    places = worse_by[worse_by["any"] > 0].groupby(level="scenario").size().sort_values(ascending=False, kind="stable")
    labels = {row["scenario"]: row["scenario_label"] for row in rows}
    return {
        "rfc_section": RARE_EVENTS.section, "group": RARE_EVENTS.group, "criterion": RARE_EVENTS.words, "rfc_word": RARE_EVENTS.strength,
        "cca": exam["cca"], "role": PRIMARY, "measure": RARE_EVENTS.measures[0], "better": "lower", **_counts(outcomes), "is_rare": True,
        "most_of_them": ", ".join(f"{labels[name]} ({count})" for name, count in places.head(3).items()),
    } | _by_ip_version(outcomes)  # fmt: skip


def _counts(outcomes) -> dict:
    """Return the columns that count a row's runs, and the outcomes themselves."""
    return {
        "n": outcomes.n, "runs_planned": len(outcomes.planned), "runs_missing": outcomes.missing, "runs_failed": outcomes.failed,
        "runs_worse": outcomes.worse, "runs_better": outcomes.better, "runs_far_worse": outcomes.far_worse,
        "standard_runs_far_worse": outcomes.standards_far, "outcomes": outcomes,
    }  # fmt: skip
