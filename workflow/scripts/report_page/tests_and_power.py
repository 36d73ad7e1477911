"""The tests that answer a study's questions, the reasons for missing tests, and the power of the study's replications."""

import math
from collections import Counter

from inference.paired_tests import LEAST_PAIRS, pairs_for
from inference.sample_size import MAX_PAIRS
from report_parts.data_tables import size
from run_tables.metrics import METRICS
from wording.number_format import count, number
from wording.sentence_words import listed

NONE_MADE = "none"


def tests_taken(ip_versions, ccas, cca_pairs) -> list[dict]:
    """Return one dict per question, which states how often each test was used and why tests are missing.

    The arguments are tables; a table is None if there is nothing to compare. The keys are ``question``, ``family`` and ``metrics``,
    a list of dicts with the keys ``name``, ``counts`` (pairs of test and number) and ``why`` (pairs of reason and number).
    """
    questions, versions = [], ("", "") if ip_versions is None else (" and IP versions", " and IP version")
    for question, table, family in (
        ("IPv6 against IPv4", ip_versions, "all cells of all metrics"),
        ("All CCAs together", ccas, f"all metrics and scenarios{versions[0]}"),
        ("CCA against CCA", cca_pairs, "all pairs of all metrics and places"),
    ):
        if table is None:
            continue
        metrics = []
        for metric in METRICS:
            rows = table[table["metric"] == metric.column]
            counts = rows["test"].replace("", NONE_MADE).value_counts(sort=False)
            ordered = sorted(counts.items(), key=lambda item: (item[0] == NONE_MADE, -item[1]))
            why = reasons(rows.loc[rows["test"] == "", "note"])
            metrics.append({"name": metric.name, "counts": ordered, "why": why})
        questions.append({"question": question, "family": family, "metrics": metrics})
    return questions


def added_up(pairs) -> list[tuple[str, int]]:
    """Add up the counts of identical reasons; return the reasons with their totals, the most frequent first."""
    counts = Counter()
    for reason, number_of in pairs:
        counts[reason] += number_of
    return counts.most_common()


def reasons(notes, most=3) -> list[tuple[str, int]]:
    """Return the ``most`` most frequent reasons for missing tests, with their counts; all other reasons are counted together.

    Details after a colon in a note are omitted, because they differ between cells. The number of incomplete pairs is omitted unless it is
    the only reason in the note.
    """
    counts = Counter()
    for note in notes:
        parts = [part.split(":")[0].strip() for part in note.split(";")]
        parts = [part for part in parts if "incomplete" not in part] or parts
        counts[parts[0] or "no reason recorded"] += 1
    ordered = counts.most_common()
    rest = sum(number_of for _, number_of in ordered[most:])
    return [*ordered[:most], ("other reasons", rest)] if rest else ordered


def power_rows(ip_versions, margins, detect) -> list[dict]:
    """Return one row of texts per metric about the power of the replications to detect differences between IPv6 and IPv4.

    ``detectable`` is the detectable difference: median and range over the cells. ``needed`` is the required number of pairs: median and
    maximum over the cells, including cells that need more than `MAX_PAIRS` pairs. ``enough`` states two numbers: in how many cells there are
    enough pairs, and in how many cells there would still be enough pairs if the standard deviation were at the upper end of its interval.
    """
    rows = []
    for metric in METRICS:
        cells = ip_versions[ip_versions["metric"] == metric.column]
        unit = metric.effect_unit
        known = cells[cells["detectable"].notna()]
        needed = cells[
            cells["pairs_needed"].notna()
            | cells["note"].str.contains(f"more than {MAX_PAIRS:,} pairs needed", na=False)
        ]
        row = {
            "metric": metric.name,
            "margin": f"±{margins[metric.column]:g} {unit}",
            "detect": f"{detect[metric.column]:g} {unit}",
            **dict.fromkeys(("detectable", "needed", "enough"), "not known"),
        }
        if len(known):
            low, middle, high = map(size, known["detectable"].agg(["min", "median", "max"]))
            row["detectable"] = f"{middle} {unit} ({low} to {high}, {count(len(known), 'cell')})"
        if len(needed):
            pairs = needed["pairs_needed"].astype(float).fillna(math.inf)
            row["needed"] = f"{_pairs_words(pairs.median())} ({_pairs_words(pairs.max(), 'at most ')})"
            enough = int((needed["pairs"] >= pairs).sum())
            sure = int((needed["pairs"] >= needed["pairs_needed_high"].astype(float)).sum())
            row["enough"] = (
                f"{enough} of {count(len(needed), 'cell')}, {sure} of them even if the standard deviation is at the upper end of its interval"
            )
        rows.append(row)
    return rows


def _pairs_words(pairs, before=""):
    return f"more than {MAX_PAIRS:,}" if math.isinf(pairs) else before + number(math.ceil(pairs), 0)


def mean_test_words(tables, significance) -> str:
    """Describe the test of the mean paired difference, including the number of pairs that this study's families of tests need.

    ``tables`` contains the tables of paired tests; a table that doesn't exist for the study is None.
    """
    families = []
    if tables.ip_versions is not None:
        families.append((len(tables.ip_versions), f"{count(len(tables.ip_versions), 'cell')} of all metrics"))
    if tables.cca_pairs is not None and len(tables.cca_pairs):
        families.append((len(tables.cca_pairs), f"{count(len(tables.cca_pairs), 'pair')} of CCAs"))
    needed = [f"{pairs_for(tests, significance)} for the {words}" for tests, words in families]
    enough = f"; the number of pairs needed for a difference to be significant is {listed(needed)}" if needed else ""
    return (
        "by a sign-flip test of the mean difference, which keeps the significance level for any distribution of the differences"
        f"{enough}; with fewer than {LEAST_PAIRS} pairs there is neither interval nor test"
    )
