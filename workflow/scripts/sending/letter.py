"""The text for a cover letter in at most 60 lines: the runs, the changes with their intervals, and the command that repeats the tests."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

from report_parts.data_tables import signed
from selftests.verdicts import FAILED
from sending.changes import COMPLETION_MARGIN_PERCENT, of_change
from sending.question import Question
from sending.tested import BothResults, counts_words, names_of
from session.change_verdicts import BETTER, CHANGES, LIKE, NOT_ENOUGH, SAME, TOO_VARIABLE, WORSE
from session.result_comparison import ALL_SCENARIOS, margins_of
from topics.exam import tables as exam
from wording.number_format import count, is_missing, number
from wording.scenario_words import ip_words, rate_words
from wording.sentence_words import listed
from wording.terminal_text import shown

#: Maximum number of lines, and of characters per line; mails are usually wrapped at about 75 characters.
MOST_LINES, WIDTH = 60, 75
#: Maximum number of changes listed in each part; the page lists all of them.
MOST_LISTED = 6
#: Maximum number of rows that are listed from `shifted` and from `open_rows`.
MOST_SHIFTED, MOST_OPEN = 4, 2
#: Verdict of an open row -> its meaning.
OPEN = {
    TOO_VARIABLE: "some pairs are worse and others better by more than the margin",
    NOT_ENOUGH: "more pairs are needed for a verdict",
}
#: Verdicts on rows of an exam: open verdicts, and all verdicts in the order in which they are counted.
OPEN_IN_EXAM = (exam.TOO_VARIABLE, exam.NOT_ENOUGH, exam.NOT_MEASURED)
EXAM_VERDICTS = (exam.WORSE, exam.BETTER, exam.LIKE, exam.TOO_VARIABLE, exam.NOT_ENOUGH, exam.NOT_MEASURED)


@dataclass
class Found:
    """The findings about a series.

    Attributes
    ----------
    question : Question
    version : dict
        ``commit`` of this checkout; ``is_changed``, whether files differ from the commit; and ``image``, the digest of the testbed's image.
    command : str
        The command that repeats the call.
    stopped : str
        Sentence that states why no study was run; "" if studies were run.
    is_broken : bool
        Whether ``stopped`` states that runs fail on the patched kernel.
    tested : BothResults or None
        Results of the kernel's own tests; None if packetdrill was not given.
    study : dict or None
        The resolved regression study.
    changes : pandas.DataFrame or None
        Table from `sending.changes.regression_changes`.
    exams : dict
        CCA -> table from `sending.changes.exam_changes`.
    """

    question: Question
    version: dict
    command: str
    stopped: str = ""
    is_broken: bool = False
    tested: BothResults | None = None
    study: dict | None = None
    changes: pd.DataFrame | None = None
    exams: dict = field(default_factory=dict)

    @property
    def ccas(self) -> tuple[str, ...]:
        """The examined CCAs; empty if no study was run."""
        return () if self.stopped else self.question.touched.ccas

    @property
    def ccas_words(self) -> str:
        """The examined CCAs and the reason for this choice, in sentences."""
        if self.stopped:
            return "no CCA, because no study was run."
        return f"{', '.join(self.ccas)}. {self.question.touched.why}"

    def problems(self) -> list[str]:
        """Return one sentence for each problem of the series: new failures, and results shown to be worse."""
        words = [self.stopped] if self.is_broken else []
        if self.tested:
            for tests, what in ((self.tested.newly_failed, "newly fail"), (self.tested.failed_of_added, "were added by the series and fail")):  # fmt: skip
                if tests:
                    words.append(f"{count(len(tests), 'test')} of the kernel's own {_verb(what, len(tests))}.")
        for cca, card in self.exams.items():
            if worse := int((card["verdict"] == exam.WORSE).sum()):
                words.append(f"In the exam of {cca}, {count(worse, 'row')} {'is' if worse == 1 else 'are'} worse than on the base.")  # fmt: skip
        if self.changes is not None and (worse := int((self.changes["change"] == WORSE).sum())):
            words.append(f"In the regression study, {count(worse, 'row')} {'is' if worse == 1 else 'are'} worse than on the base.")  # fmt: skip
        return words

    def worst(self) -> list[str]:
        """Return one sentence for each of the first rows that are shown to be worse."""
        words = [f"{cca}: {exam_row_words(row)}." for cca, card in self.exams.items() for row in _worse_rows(card)]
        changes = [] if self.changes is None else of_change(self.changes, WORSE)
        return [*words[:MOST_LISTED], *(f"{change_words(row)}." for row in changes[:MOST_LISTED])]

    def verdict(self) -> list[str]:
        """Return the sentences of `outcome`, and a sentence if the kernel's own tests were not run."""
        words = self.outcome()
        if self.tested is None and not self.is_broken:
            words.append("The kernel's own tests were not run: PACKETDRILL was not given.")
        return words

    def outcome(self) -> list[str]:
        """Return the outcome in sentences: the `problems` if any, and why no study was run or how many rows the studies leave open."""
        if self.stopped:
            return list(dict.fromkeys([*self.problems(), self.stopped]))
        words = self.problems() or ["Nothing is shown to be worse than on the base."]
        if self.changes is not None and len(self.changes) and (self.changes["change"] == SAME).all():
            words.append(
                "No row of the regression study differs at all, so these runs may not execute the changed code."
            )
        tables = [(f"in the exam of {cca}", card["verdict"], OPEN_IN_EXAM) for cca, card in self.exams.items()]
        tables += [] if self.changes is None else [("in the regression study", self.changes["change"], tuple(OPEN))]
        opened = [(name, int(verdicts.isin(kinds).sum()), len(verdicts)) for name, verdicts, kinds in tables]
        if any(number_of for _, number_of, _ in opened):
            parts = [f"{number_of} of {count(rows, 'row')} {name}" for name, number_of, rows in opened if number_of]
            words.append(f"These runs leave rows open: {listed(parts)}.")
        return words


def _worse_rows(card):
    return card[card["verdict"] == exam.WORSE].to_dict("records")


def _verb(what, number_of):
    return (
        what.replace("newly fail", "newly fails").replace("were added", "was added").replace("and fail", "and fails")
        if number_of == 1
        else what
    )


def cover_letter(found) -> str:
    """Return the findings as a text of at most `MOST_LINES` lines."""
    blocks = [
        list(block) for block in (_head(found), _selftests(found), _exams(found), _regression(found), _repeat(found))
    ]
    lines = "\n\n".join("\n".join(block) for block in blocks if block).splitlines()
    if len(lines) > MOST_LINES:
        # The last block contains the command that repeats the call.
        kept, end = MOST_LINES - len(blocks[-1]) - 2, blocks[-1]
        lines = [*lines[:kept], f"({len(lines) - kept - len(end) - 1} more lines are on the page.)", "", *end]
    return "\n".join(lines).replace("\N{MINUS SIGN}", "-") + "\n"


def _wrapped(text, indent="", first=None):
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _head(found) -> Iterator[str]:
    asked = found.question
    state = " with changes" if found.version["is_changed"] else ""
    commit = f" (commit {found.version['commit'][:12]}{state})" if found.version["commit"] else ""
    yield from _wrapped(
        f"Tested with Sawtooth{commit}: guest kernels of user-mode Linux in virtual time, where the same seed gives the same packets "
        "on any machine. A run on the base and a run on the patched kernel with the same seed are a pair."
    )
    yield ""
    yield from _wrapped(f"Base:    {asked.base_words}", " " * 9, "")
    paths = asked.touched.paths
    named = ", ".join(shown(path, 60) for path in paths[:4]) + (
        f" and {count(len(paths) - 4, 'more file')}" if len(paths) > 4 else ""
    )
    yield from _wrapped(f"Series:  {count(asked.number, 'patch', 'patches')} to {named}; SHA-256 {asked.sha256[:16]}", " " * 9, "")  # fmt: skip
    yield from _wrapped(f"CCAs:    {found.ccas_words}", " " * 9, "")
    yield from _wrapped(f"Result:  {' '.join(found.outcome())}", " " * 9, "")


def _selftests(found) -> Iterator[str]:
    if found.tested is None:
        if not found.is_broken:
            yield from _wrapped("Kernel selftests (packetdrill): not run, because packetdrill's source was not given.")
        return
    tested = found.tested
    yield "Kernel selftests (tools/testing/selftests/net/packetdrill):"
    yield from _wrapped(f"base     {counts_words(tested.base)}", " " * 11, "  ")
    yield from _wrapped(f"patched  {counts_words(tested.patched)}", " " * 11, "  ")
    parts = (
        ("newly failed", tested.newly_failed),
        ("newly passed", tested.newly_passed),
        ("no longer fit", tested.not_fit_any_more),
        ("added by the series", tested.added),
        ("of these failed", tested.failed_of_added),
        ("removed by the series", tested.removed),
    )
    for what, tests in parts:
        if tests:
            yield from _wrapped(f"{what}: {_some(names_of(tests))}", "    ", "  ")
    if all(not tests for _, tests in parts):
        failing = sum(test["result"] == FAILED for test in tested.base)
        yield from _wrapped("each test has the same result on both" + (f"; the {count(failing, 'failure')} also occur on the base" if failing else ""), "    ", "  ")  # fmt: skip


def _some(names):
    more = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _exams(found) -> Iterator[str]:
    for place, (cca, card) in enumerate(found.exams.items()):
        if place == 0:
            yield from _wrapped(
                "Short exam by RFC 9743, patched against base, with paths drawn for each replication. A row is worse if most runs are worse by "
                "more than a margin, or if more runs fall far behind. The probability that any row of a card is falsely judged worse is below 5 %:"
            )
        numbers = card["verdict"].value_counts()
        counted = ", ".join(f"{numbers[verdict]} {verdict}" for verdict in EXAM_VERDICTS if verdict in numbers)
        yield from _wrapped(f"{cca}: of {count(len(card), 'row')} {counted}", "    ", "  ")
        told = card[card["verdict"].isin([exam.WORSE, exam.BETTER])].to_dict("records")
        for row in told[:MOST_LISTED]:
            yield from _wrapped(exam_row_words(row), "      ", "    ")
        if len(told) > MOST_LISTED:
            yield f"    and {len(told) - MOST_LISTED} more, on the page"


def exam_row_words(row) -> str:
    """Return a row of an exam's scorecard in words: the verdict, the case, and the difference from the base with its interval."""
    where = row["scenario_label"] if row["scenario"] else "all cases together"
    runs = f"{row['runs_worse']:.0f} of {row['n']:.0f} runs worse, {row['runs_better']:.0f} better" if not is_missing(row["n"]) else ""  # fmt: skip
    by = ""
    if row["measure"] and not is_missing(row["worse_by"]):
        is_better = row["verdict"] == exam.BETTER
        value, *ends = (
            -row[name] if is_better else row[name] for name in ("worse_by", "worse_by_low", "worse_by_high")
        )
        interval = "" if is_missing(ends[0]) else f" ({signed(min(ends))} to {signed(max(ends))})"
        unit = f" {row['unit']}" if row["unit"] else ""
        by = f"{row['measure']} {row['verdict']} by {signed(value)}{interval}{unit}"
    return f"{row['verdict']}: {row['rfc_section']} {where}: {'; '.join(filter(None, [by, runs]))}"


def _regression(found) -> Iterator[str]:
    table, study = found.changes, found.study
    if table is None:
        return
    scenarios = ", ".join(one["id"] if one["id"] == one["label"] else f"{one['id']} ({one['label']})" for one in study["scenarios"])  # fmt: skip
    yield from _wrapped(
        f"Regression study{_path_words(study)}: {scenarios}; {listed([ip_words(one) for one in study['ip_versions']])}; {count(study['replications'], 'pair')} of runs each. "
        "Effects are medians of the pairs' differences, with distribution-free intervals of at least 95 % each; a pair counts as worse or "
        "better if it differs by more than a margin."
    )
    numbers = table["change"].value_counts()
    counted = ", ".join(f"{numbers[change]} {change}" for change in CHANGES if change in numbers)
    yield from _wrapped(f"of {count(len(table), 'row')} {counted}", "    ", "  ")
    yield from _wrapped(_verdict_words(numbers, study), "    ", "  ")
    for verdict in (WORSE, BETTER):
        told = of_change(table, verdict)
        for row in told[:MOST_LISTED]:
            yield from _wrapped(change_words(row), "      ", "    ")
        if len(told) > MOST_LISTED:
            yield f"    and {len(told) - MOST_LISTED} more {verdict}, on the page"
    for heading, rows in (
        ("Neither worse nor better, but with an interval that excludes 0 (the intervals are not corrected: among many rows, some exclude 0 by chance)", shifted(table)),
        ("Open, with the most pairs worse", open_rows(table)),
    ):  # fmt: skip
        if rows:
            yield from _wrapped(f"{heading}:", "    ", "  ")
            for row in rows:
                yield from _wrapped(change_words(row), "      ", "    ")


def _path_words(study):
    """Return rate, RTT and duration in words if they are the same in all scenarios, otherwise ""."""
    shared = {(one["link"]["rate_mbps"], sum(one["link"]["delay_ms"].values()), one["traffic"]["duration_s"]) for one in study["scenarios"]}  # fmt: skip
    if len(shared) > 1:
        return ""
    rate_mbps, rtt_ms, duration_s = shared.pop()
    return f" ({rate_words(rate_mbps)}, RTT {rtt_ms:g} ms, {duration_s:g} s)"


def shifted(table) -> list[dict]:
    """Return the rows that are neither worse nor better but have an interval that excludes 0.

    Rows with the largest effects relative to their margins come first; at most `MOST_SHIFTED` rows are returned.
    """
    rows = [row for row in of_change(table, LIKE, *OPEN) if not is_missing(row["low"]) and row["low"] * row["high"] > 0]
    return _one_of_each(sorted(rows, key=lambda row: -abs(row["effect"]) / row["margin"]))[:MOST_SHIFTED]


def open_rows(table) -> list[dict]:
    """Return the first open rows that have an interval and more worse pairs than better pairs, the largest excess first."""
    rows = [row for row in of_change(table, *OPEN) if not is_missing(row["low"]) and row["pairs_worse"] > row["pairs_better"]]  # fmt: skip
    return _one_of_each(sorted(rows, key=lambda row: row["pairs_better"] - row["pairs_worse"]))[:MOST_OPEN]


def _one_of_each(rows):
    """Return only the first row for each CCA, scenario and measure, because the results over both IP versions are usually alike."""
    found = {}
    for row in rows:
        found.setdefault((row["cca"], row["scenario"], row["measure"]), row)
    return list(found.values())


def _verdict_words(numbers, study):
    margins = margins_of(study)
    sizes = (
        f"goodput {margins['goodput_mbps']:g} %, RTT {margins['rtt_mean_ms']:g} %, loss {margins['loss_percent']:g} points, "
        f"retransmissions {margins['retransmits']:g} %, completion times {COMPLETION_MARGIN_PERCENT} %"
    )
    parts = [f"Margins: {sizes}"]
    parts += [f"{change}: {words}" for change, words in OPEN.items() if numbers.get(change, 0)]
    if numbers.get(LIKE, 0):
        parts.append(f"{LIKE}: more than half of the pairs are shown to be within the margin")
    if numbers.get(SAME, 0):
        parts.append(f"{SAME}: the runs of every pair are equal within the resolution of the measurement")
    return "; ".join(parts) + "."


def change_words(row) -> str:
    """Return a row of the comparison in words: the verdict, the cell, the measure, both medians, and the change with its interval."""
    where = row["scenario"] if row["scenario"] == ALL_SCENARIOS else f"{row['scenario']} {row['ip_version']}"
    words = f"{row['change']}: {row['cca']}, {where}, {row['measure'].lower()}"
    if not is_missing(row["first"]):
        unit = f" {row['unit']}" if row["unit"] else ""
        words += f" {number(row['first'])} -> {number(row['second'])}{unit}"
    if not is_missing(row["effect"]):
        ends = "" if is_missing(row["low"]) else f" ({signed(row['low'])} to {signed(row['high'])})"
        words += f", {signed(row['effect'])}{ends} {row['effect_unit']}"
    return f"{words}; {row['pairs_worse']:.0f} of {row['n']:.0f} pairs worse, {row['pairs_better']:.0f} better"


def _repeat(found) -> Iterator[str]:
    is_of_commit = found.version["commit"] and not found.version["is_changed"]
    of_commit = ", in a checkout of that commit" if is_of_commit else ""
    yield f"To repeat it, with the same packets{of_commit}:"
    # The command stays on one line, so that it can be copied.
    yield f"  {found.command}"
    yield f"  (image {found.version['image'][:16]})"
