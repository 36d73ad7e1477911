"""Find the conclusions in the report that would change if excluded runs with measured values were kept."""

from dataclasses import dataclass

from run_tables.exclusions import KEPT
from run_tables.metrics import METRICS
from wording.number_format import is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

NO_VALUE, NOT_TESTED, NOT_SHOWN, DIFFERS = "no value", "not tested", "not shown", "differs"

PAIRS = "CCA against CCA"


@dataclass(frozen=True)
class ChangedConclusion:
    """A conclusion that would change if excluded runs were kept.

    For a conclusion about all scenarios together, no scenario is given.
    """

    question: str
    metric: str
    scenario: str
    scenario_label: str
    place: str  # CCA and IP version in words
    reported: str  # conclusion from valid runs
    kept: str  # conclusion if excluded runs are kept


def changed_conclusions(tables, margins, significance) -> tuple[list[ChangedConclusion], int]:
    """Return the conclusions that would change, and the number of conclusions compared.

    Parameters
    ----------
    tables : object
        Object with the attributes descriptive, ip_versions, ip_overall, ccas and cca_pairs, each a DataFrame or None.
    margins : dict of str to float
        Metric -> largest change in the mean that is too small to matter, as returned by `metrics.differences`.
    significance : float
    """
    changes, compared = [], 0
    for question, table, conclusion in (
        ("Mean of a cell", tables.descriptive, lambda row: _means(row, margins)),
        ("IPv6 against IPv4", tables.ip_versions, lambda row: (row["verdict"], row[f"verdict{KEPT}"])),
        ("IPv6 against IPv4, all cells", tables.ip_overall, lambda row: _overall(row, significance)),
        ("All CCAs together", tables.ccas, lambda row: _together(row, significance)),
        (PAIRS, tables.cca_pairs, lambda row: _pair(row, significance)),
    ):
        if table is None:
            continue
        of_metrics = table[table["metric"].isin([metric.column for metric in METRICS])]
        compared += len(of_metrics)
        for row in of_metrics.to_dict("records"):
            reported, kept = conclusion(row)
            if reported != kept:
                place = row.get("scenario", ""), row.get("scenario_label", ""), _place(row)
                changes.append(ChangedConclusion(question, row["metric"], *place, reported, kept))
    return changes, compared


def _place(row) -> str:
    ccas = " against ".join(cca_name(row[name]) for name in ("cca", "cca_a", "cca_b") if name in row)
    parts = [ccas, ip_words(row["ip_version"]) if "ip_version" in row else "", row.get("method", "")]
    return ", ".join(filter(None, parts))


def _means(row, margins):
    """Return the mean without excluded runs and the mean with excluded runs, in words.

    Both texts are empty if the means differ by at most the metric's margin.
    """
    metric = next(metric for metric in METRICS if metric.column == row["metric"])
    mean, kept = row["mean"], row[f"mean{KEPT}"]
    if is_missing(mean) or is_missing(kept):
        moved = is_missing(mean) != is_missing(kept)
    elif metric.scale == "points":
        moved = abs(kept - mean) > margins[metric.column]
    else:
        moved = 100 * abs(kept - mean) > margins[metric.column] * abs(mean)
    if not moved:
        return "", ""
    return tuple(NO_VALUE if is_missing(value) else f"{number(value)} {metric.unit}" for value in (mean, kept))


def _overall(row, significance):
    return tuple(
        f"{_shown(row[f'p{end}'], significance)}{', ' if row[f'within{end}'] else ''}{row[f'within{end}']}"
        for end in ("", KEPT)
    )


def _together(row, significance):
    return tuple(_shown(row[f"p_holm{end}"], significance) for end in ("", KEPT))


def _pair(row, significance):
    """Return the conclusions about a pair without and with the excluded runs, such as ("differs, higher", "not shown")."""
    verdicts = []
    for end in ("", KEPT):
        shown = _shown(row[f"p_holm{end}"], significance)
        verdicts.append(f"{shown}, {'higher' if row[f'effect{end}'] > 0 else 'lower'}" if shown == DIFFERS else shown)
    return tuple(verdicts)


def _shown(p, significance) -> str:
    if is_missing(p):
        return NOT_TESTED
    return DIFFERS if p < significance else NOT_SHOWN


def exclusions_sentence(usable, invalid, changes, compared) -> str:
    """Report the number of conclusions that would change if excluded runs were kept.

    Parameters
    ----------
    usable, invalid : int
        Number of excluded runs with measured values, and number of all excluded runs.
    changes : list of ChangedConclusion
    compared : int
        Number of conclusions that were compared.
    """
    if usable == 0:
        return "No excluded run has measured values that could be kept." if invalid else "No run is excluded."
    of = "The" if usable == invalid else f"{number(usable, 0)} of the"
    runs = "The excluded run" if invalid == 1 else f"{of} {number(invalid, 0)} excluded runs"
    sentence = f"{runs} {'has' if usable == 1 else 'have'} measured values nevertheless. If {'it' if usable == 1 else 'they'} had counted"
    if not changes:
        return f"{sentence}, none of {compared:,} conclusions would change: every verdict would stay the same, and no mean would change by more than the study's margins."
    pairs = [change for change in changes if change.question == PAIRS]
    turned = sum(change.reported.startswith(DIFFERS) and change.kept.startswith(DIFFERS) for change in pairs)
    return (
        f"{sentence}, {len(changes):,} of {compared:,} conclusions would change; "
        f"{number(turned, 0) if turned else 'none'} of them would reverse a difference between CCAs."
    )
