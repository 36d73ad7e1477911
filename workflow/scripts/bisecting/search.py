"""The search for the first bad commit: choose the deciding cell and threshold, measure GOOD and BAD, and judge commits."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from bisecting.commits import SkippedError
from bisecting.condition import BisectError, Condition
from bisecting.history import BAD, GOOD, SKIP, BadAncestorError, History, Search
from bisecting.question import Question
from inference.paired_comparison import Comparison, Family, compare
from inference.sequential_verdict import UPPER, SequentialTest, best_cut, reference_test
from wording.number_format import count

#: Number of runs of GOOD, and of BAD, in each cell; the deciding cell and the threshold are chosen from these runs.
SCREENED = 6
#: Interim looks at the references: numbers of runs of GOOD, and of BAD, after which the two are tested for a difference.
LOOKS = (16, 32, 64)
#: Maximum number of runs of a commit; a commit without a verdict after these runs is skipped.
MOST_RUNS = 64
#: Maximum number of runs that a verdict may need if all of them agree; above this number, further reference runs are made first.
FEW_RUNS = 8
#: Bounds on two probabilities: that the references' limits are wrong, and that any verdict is wrong although the limits are right.
REFERENCE_ERROR, VERDICT_ERROR = 0.02, 0.03
#: The first replications of references and of commits, far apart so that their runs have different seeds.
FIRST_REFERENCE, FIRST_JUDGED = 101, 201
#: Number of pairs of runs with the same seed, on the first bad commit and on its parent.
COMPARED = 16


@dataclass(frozen=True)
class Verdict:
    """Verdict on a commit: ``hits`` of its ``runs`` runs met the condition.

    ``why`` states why the commit was skipped, or names another commit that has the same kernel; otherwise, it is empty.
    """

    commit: str
    kind: str
    why: str = ""
    hits: int = 0
    runs: int = 0
    median: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class References:
    """Behaviour of GOOD and BAD in the deciding cell.

    ``runs`` is the number of runs of each; ``hits_good`` and ``hits_bad`` are the numbers of runs that meet the condition.
    """

    runs: int
    hits_good: int
    hits_bad: int
    median_good: float
    median_bad: float


@dataclass(frozen=True)
class Answer:
    """Result of a search.

    ``search`` contains the first bad commit or the candidates. ``error`` is an upper bound on the probability that the result is wrong.
    ``earlier`` is the reason why an ancestor of the candidates may be the first bad commit; empty if none can be.
    """

    search: Search
    condition: Condition
    cell: tuple[str, str, str]
    references: References
    test: SequentialTest
    verdicts: list[Verdict]
    error: float
    earlier: str = ""
    before: str | None = None
    compared: Comparison | None = None
    medians: tuple[float, float] | None = None


@dataclass
class Searching:
    """A search in progress.

    Attributes
    ----------
    question : Question
    commits
        `commits.Commits`, or an object with the same methods.
    history : History
    say : callable
        Called with each line to print.
    skipped : dict
        Commits without a kernel: commit -> reason why the build failed. The search adds entries; the caller stores the mapping.
    """

    question: Question
    commits: object
    history: History
    say: Callable[[str], None]
    skipped: dict[str, str] = field(default_factory=dict)
    _known: dict = field(default_factory=dict)

    def carry_out(self) -> Answer:
        """Search until the first bad commit is found or only skipped commits remain.

        Raises
        ------
        BisectError
            GOOD is not good, BAD is not bad, the two can't be distinguished, or a common ancestor of the two is bad.
        """
        asked = self.question
        for name, commit in (("GOOD", asked.good), ("BAD", asked.bad)):
            self._build_reference(name, commit)
        cell, condition = self._chosen()
        number = self.history.count(asked.good, asked.bad)
        # Git asks for verdicts on common ancestors before any other commit.
        ancestors = [commit for commit in self.history.common(asked.good, asked.bad) if commit != asked.good]
        most_verdicts = 2 * number.bit_length() + 2 + len(ancestors)
        references, test = self._references(cell, condition, VERDICT_ERROR / most_verdicts)
        self.say(f"{condition} in {references.hits_good} of {references.runs} runs of GOOD and {references.hits_bad} of {references.runs} of BAD: a commit is judged after {count(test.fewest, 'run')} if all runs agree")  # fmt: skip
        verdicts = []
        search = self.history.begin(asked.good, asked.bad)
        while search.next and len([one for one in verdicts if one.kind != SKIP]) < most_verdicts:
            verdict = self._judge(search.next, cell, condition, test)
            verdicts.append(verdict)
            self.say(f"step {len(verdicts)}: {self._words(verdict, condition)}")
            search = self._told(verdict)
        if search.next:
            self.say(f"undecided after {most_verdicts} verdicts; more would make the error probability too large")
            search = Search(candidates=self.history.possible())
        earlier = self._earlier(
            search, [one.commit for one in verdicts if one.kind == SKIP and one.commit in ancestors]
        )
        if earlier and search.found:
            search = Search(candidates=(search.found,))
        judged = len([one for one in verdicts if one.kind != SKIP])
        error = REFERENCE_ERROR + judged * test.error
        answer = Answer(search, condition, cell, references, test, verdicts, error, earlier)
        return self._with_comparison(answer) if search.found else answer

    def _told(self, verdict):
        """Pass a verdict to Git, and return the progress of the search."""
        try:
            return self.history.tell(verdict.commit, verdict.kind)
        except BadAncestorError:
            asked, name = self.question, verdict.commit[:12]
            raise BisectError(f"GOOD={asked.good[:12]}", [f"its common ancestor with BAD, {name}, is bad, so GOOD contains a fix; to find the fix: GOOD={name} BAD={asked.good[:12]} WHEN='{asked.condition.opposite.exact}'."]) from None  # fmt: skip

    def _earlier(self, search, skipped_ancestors):
        """Return the reason why an ancestor of the remaining candidates may be the first bad commit; empty if none can be."""
        for commit in (search.found,) if search.found else search.candidates:
            parents = self.history.parents(commit)
            if not parents:
                return f"the history of this repository begins with {commit[:12]}{self.history.shallow_words}"
            for ancestor in skipped_ancestors:
                # Git treats a skipped common ancestor as good.
                if any(self.history.common(parent, ancestor) == [parent] for parent in parents):
                    return f"{ancestor[:12]}, a common ancestor of GOOD and BAD, can't be judged"
        return ""

    def _build_reference(self, name, commit):
        began = time.monotonic()
        try:
            self.commits.build(commit, self.question.cells)
        except SkippedError as error:
            raise BisectError(f"{name}={commit[:12]}", [f"no kernel can be built from it: {error}."]) from None
        self.say(f"{name} {commit[:12]} {self.history.subject(commit)}: built in {time.monotonic() - began:.0f} s")

    def _values(self, name, commit, cells, first, number):
        """Return the values of GOOD or BAD: cell -> one value per run.

        Cells in which a run has no value are omitted; raise BisectError if no cell is left.
        """
        done = self.commits.runs(commit, cells, range(first, first + number))
        whole, missing = {}, []
        for cell, runs in done.items():
            if failed := [run for run in runs if run.value is None]:
                missing.append(f"a run of {'/'.join(cell)} has no {self.question.condition.measure}: {failed[0].why}")
                continue
            whole[cell] = [run.value for run in runs]
            if name == "GOOD":
                self.commits.longest_s = max([self.commits.longest_s or 0, *(run.seconds for run in runs)])
        if not whole:
            raise BisectError(f"{name}={commit[:12]}", [f"{missing[0]}; choose another cell with ONLY, or another measure."])  # fmt: skip
        return whole

    def _chosen(self):
        """Return the deciding cell, and the condition with its threshold."""
        asked, condition = self.question, self.question.condition
        if not condition.is_change and len(asked.cells) == 1:
            return asked.cells[0], condition
        good = self._values("GOOD", asked.good, asked.cells, 1, SCREENED)
        bad = self._values("BAD", asked.bad, list(good), 1, SCREENED)
        screened = [one for cell in bad if (one := _apart(condition, cell, good[cell], bad[cell]))]
        measure, cells = condition.measure, count(len(bad), "cell")
        if left_out := len(asked.cells) - len(bad):
            cells += f"; in {left_out} more, a run has no {measure}"
        if not screened:
            if condition.is_change:
                way = {"falls": "lower", "rises": "higher", "differs": "different"}[condition.comparison]
                raise BisectError(f"WHEN={condition}", [f"{measure} is not {way} in BAD than in GOOD: {_both(good, bad)}."])  # fmt: skip
            raise BisectError(f"WHEN={condition}", [f"it holds in no more runs of BAD than of GOOD in any of {cells}: {_both(good, bad)}."])  # fmt: skip
        _, _, cell, chosen = max(screened, key=lambda one: one[:2])
        self.say(f"{'/'.join(cell)} decides (of {cells}): {measure} is {statistics.median(good[cell]):.6g} in GOOD and {statistics.median(bad[cell]):.6g} in BAD; a run is bad if {chosen}")  # fmt: skip
        return cell, chosen

    def _references(self, cell, condition, error):
        """Return the references and the test derived from them; raise BisectError if GOOD isn't good or BAD isn't bad."""
        asked, test = self.question, None
        for runs in LOOKS:
            good, bad = (
                self._values(name, commit, [cell], FIRST_REFERENCE, runs)[cell]
                for name, commit in (("GOOD", asked.good), ("BAD", asked.bad))
            )
            hits_good, hits_bad = (sum(map(condition.holds, values)) for values in (good, bad))
            references = References(runs, hits_good, hits_bad, statistics.median(good), statistics.median(bad))
            test = reference_test(hits_good, hits_bad, runs, REFERENCE_ERROR, LOOKS, error)
            if (test and test.fewest <= FEW_RUNS) or hits_bad <= hits_good:
                break
        if test:
            return references, test
        given = not asked.condition.is_change
        if given and hits_good > runs / 2:
            raise BisectError(f"GOOD={asked.good[:12]}", [f"it is not good: {condition} in {hits_good} of {runs} runs of {'/'.join(cell)} (median {references.median_good:.6g})."])  # fmt: skip
        if given and hits_bad < runs / 2:
            raise BisectError(f"BAD={asked.bad[:12]}", [f"it is not bad: {condition} in {hits_bad} of {runs} runs of {'/'.join(cell)} (median {references.median_bad:.6g}), and in {hits_good} runs of GOOD."])  # fmt: skip
        raise BisectError(f"WHEN={asked.condition}", [f"it doesn't distinguish GOOD from BAD: {condition} in {hits_good} (GOOD) and {hits_bad} (BAD) of {runs} runs of {'/'.join(cell)}."])  # fmt: skip

    def _judge(self, commit, cell, condition, test):
        """Return the verdict on a commit."""
        began = time.monotonic()
        try:
            if commit in self.skipped:
                raise SkippedError(self.skipped[commit])
            try:
                digest = self.commits.build(commit, [cell])
            except SkippedError as error:
                self.skipped[commit] = str(error)
                raise
        except SkippedError as error:
            return Verdict(commit, SKIP, str(error), seconds=time.monotonic() - began)
        if same := self._known.get(digest):
            why = f"the kernel of {same.commit[:12]}" + (f", {same.why}" if same.kind == SKIP else "")
            return replace(same, commit=commit, why=why, seconds=time.monotonic() - began)
        try:
            verdict = self._of_runs(commit, self._runs_of(commit, cell), condition, test)
        except SkippedError as error:
            verdict = Verdict(commit, SKIP, str(error))
        self._known[digest] = verdict = replace(verdict, seconds=time.monotonic() - began)
        return verdict

    def _runs_of(self, commit, cell) -> Iterator:
        """Iterate over the runs of a commit, which are executed in parallel on all cores."""
        step = self.commits.cores
        for first in range(0, MOST_RUNS, step):
            replications = range(FIRST_JUDGED + first, FIRST_JUDGED + min(first + step, MOST_RUNS))
            runs = self.commits.runs(commit, [cell], replications)[cell]
            if first == 0 and all(run.value is None for run in runs):
                raise SkippedError(runs[0].why)
            yield from runs

    def _of_runs(self, commit, runs, condition, test):
        values, failed = [], []
        for run in runs:
            if run.value is None:
                failed.append(run.why)
                if len(failed) > MOST_RUNS / 4:
                    raise SkippedError(f"{len(failed)} of {len(values) + len(failed)} runs failed: {failed[0]}")
                continue
            values.append(run.value)
            hits = sum(map(condition.holds, values))
            if kind := test.verdict(hits, len(values)):
                return Verdict(commit, BAD if kind == UPPER else GOOD, "", hits, len(values), statistics.median(values))
        raise SkippedError(f"{condition} in {sum(map(condition.holds, values))} of {len(values)} runs, like neither GOOD nor BAD")  # fmt: skip

    def _words(self, verdict, condition):
        what = f"{verdict.commit[:12]} {self.history.subject(verdict.commit)[:60]}"
        if verdict.kind == SKIP:
            return f"{what}: skipped, {verdict.why} ({verdict.seconds:.0f} s)"
        how = (
            verdict.why
            or f"{condition.measure} {verdict.median:.6g}, {condition} in {verdict.hits} of {count(verdict.runs, 'run')}"
        )
        return f"{what}: {verdict.kind}, {how} ({verdict.seconds:.0f} s)"

    def _with_comparison(self, answer):
        """Return the answer with a comparison between the first bad commit and its parent; the runs of both have the same seeds."""
        found, before = answer.search.found, self.history.parents(answer.search.found)[0]
        numbers = range(FIRST_JUDGED, FIRST_JUDGED + COMPARED)
        try:
            values = []
            for commit in (before, found):
                self.commits.build(commit, [answer.cell])
                values.append([run.value for run in self.commits.runs(commit, [answer.cell], numbers)[answer.cell]])
        except SkippedError:
            return answer
        pairs = [pair for pair in zip(*values, strict=True) if None not in pair]
        if not pairs:
            return answer
        a, b = (np.array(side) for side in zip(*pairs, strict=True))
        return replace(
            answer, before=before, medians=(float(np.median(a)), float(np.median(b))),
            compared=compare(b, a, "points", "", Family(0.95, 0.05)),
        )  # fmt: skip


def _apart(condition, cell, good, bad):
    """Return two measures of how well a condition separates BAD from GOOD, the cell, and the condition; None if BAD isn't worse.

    The first measure is the share of BAD's runs that meet the condition minus the share of GOOD's runs. The second breaks ties: it is the
    relative difference between the threshold and the value closest to it or, for a change, the difference between the two medians divided
    by the larger range of the values.
    """
    if not condition.is_change:
        shares = [sum(map(condition.holds, values)) / len(values) for values in (good, bad)]
        far = min(abs(value - condition.number) for value in (*good, *bad)) / (abs(condition.number) or 1)
        return (shares[1] - shares[0], far, cell, condition) if shares[1] > shares[0] else None
    if (found := best_cut(good, bad)) is None:
        return None
    cut, direction = found
    chosen = condition.at(cut, direction)
    if {"falls": 1, "rises": -1}.get(condition.comparison) == direction:
        return None
    share = (sum(map(chosen.holds, bad)) - sum(map(chosen.holds, good))) / len(good)
    spread = max(max(good) - min(good), max(bad) - min(bad))
    far = abs(statistics.median(bad) - statistics.median(good)) / (spread or 1e-9)
    return (share, far, cell, chosen) if share > 0 else None


def _both(good, bad):
    """Return a text with the medians of GOOD and BAD in the first three cells of BAD."""
    cells = list(bad)
    medians = [f"{'/'.join(cell)} {statistics.median(good[cell]):.6g} and {statistics.median(bad[cell]):.6g}" for cell in cells[:3]]  # fmt: skip
    return "medians " + "; ".join(medians) + ("; ..." if len(cells) > 3 else "")
