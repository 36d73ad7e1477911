"""The search for the first bad commit, by Git's own bisection, in a history with known commits: runs are drawn, and no kernel is built."""

import json

import numpy as np
import pytest

import git_history
from bisecting.bisect import document_of, lines_of
from bisecting.commits import Run
from bisecting.condition import BisectError, condition_of
from bisecting.history import BAD, GOOD, SKIP, History
from bisecting.question import Question
from bisecting.search import Searching
from drawn_commits import Drawn

CELLS = [("a", "cubic", "ipv4"), ("b", "cubic", "ipv4")]


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """A repository with 40 commits and their names, in order."""
    folder = git_history.repository(tmp_path_factory.mktemp("history") / "linux")
    return folder, [git_history.commit(folder, {"number": str(number)}, f"Commit {number}") for number in range(40)]


@pytest.fixture
def search(history, tmp_path):
    """A function that searches for the first bad commit of 39; it returns the result, the printed lines and the search."""
    folder, names = history

    def search(drawn, when="goodput_mbps falls", cells=CELLS, skipped=None):
        asked = Question(str(folder), names[0], names[39], condition_of(when), {"study": "try"}, cells)
        said = []
        searching = Searching(
            asked, drawn, History(folder, tmp_path / "history.git"), said.append, {} if skipped is None else skipped
        )
        return searching.carry_out(), said, searching

    return search


@pytest.mark.parametrize("culprit", [1, 17, 22, 39])
def test_the_first_bad_commit_is_found(history, search, culprit):
    folder, names = history
    before = git_history.contents_of(folder)
    answer, said, searching = search(Drawn(names, culprit))
    assert answer.search.found == names[culprit]
    assert len(answer.verdicts) <= 7 and answer.error <= 0.05
    assert answer.cell == CELLS[0] and answer.condition.comparison == "<"
    assert answer.medians == (pytest.approx(9.3, abs=0.2), pytest.approx(8.5, abs=0.2))
    assert -1.1 < answer.compared.ci_low < answer.compared.effect < answer.compared.ci_high < -0.4
    text = "\n".join(lines_of(answer, searching.history))
    assert f"first bad commit: {names[culprit]} Commit {culprit}" in text and "with a probability of at most" in text
    assert json.loads(json.dumps(document_of(answer)))["first_bad"] == names[culprit]
    assert git_history.contents_of(folder) == before
    assert any("decides (of 2 cells)" in line for line in said)


@pytest.mark.parametrize(
    "when, before, after", [("goodput_mbps < 9", 9.3, 8.5), ("retransmits > 50", 20, 80), ("goodput_mbps rises", 8, 9), ("goodput_mbps differs", 8, 9), ("goodput_mbps differs", 9, 8)]
)  # fmt: skip
def test_all_comparisons(history, search, when, before, after):
    answer, _, _ = search(Drawn(history[1], 22, before, after), when)
    assert answer.search.found == history[1][22]


def test_a_rare_event_is_found(history, search):
    """Two of five runs of a bad commit collapse, but the medians are the same."""

    class Rare(Drawn):
        def runs(self, commit, cells, replications):
            made = super().runs(commit, cells, replications)
            if self.number[commit] >= self.culprit:
                made = {cell: [Run(run.value - 5 * (np.random.default_rng([7, self.number[commit], place, replications[0]]).random() < 0.4)) for place, run in enumerate(runs)] for cell, runs in made.items()}  # fmt: skip
            return made

    answer, _, _ = search(Rare(history[1], 22, 9.3, 9.3, 0.05), "goodput_mbps < 7", CELLS[:1])
    assert answer.search.found == history[1][22] and answer.references.hits_bad < answer.references.runs


def test_what_does_not_build_or_boot_is_skipped(history, search):
    drawn = Drawn(history[1], 22, broken={19, 20}, dead={25, 29})
    answer, said, _ = search(drawn)
    assert answer.search.found == history[1][22]
    skipped = {drawn.number[verdict.commit]: verdict.why for verdict in answer.verdicts if verdict.kind == SKIP}
    assert skipped and all(("compile" in why) == (number in drawn.broken) for number, why in skipped.items())
    assert any("skipped, " in line for line in said)


def test_skipped_ones_around_it_are_named(history, search):
    _, names = history
    skipped = {}
    answer, _, searching = search(Drawn(names, 22, broken={21, 22}), skipped=skipped)
    assert answer.search.found is None
    assert {*answer.search.candidates} == {names[number] for number in (21, 22, 23)}
    assert set(skipped) == {names[21], names[22]}
    assert (
        lines_of(answer, searching.history)[0] == "the first bad commit is one of these 3, of which 2 can't be judged:"
    )
    # The next call doesn't build them again.
    again = Drawn(names, 22, broken={21, 22})
    assert search(again, skipped=skipped)[0].search.candidates == answer.search.candidates
    assert not {21, 22} & set(again.built)


def test_only_skipped_commits_that_remain_possible_are_counted(history, search):
    answer, _, searching = search(Drawn(history[1], 25, broken={19, 24, 25}))
    assert {*answer.search.candidates} == {history[1][number] for number in (24, 25, 26)}
    assert sum(verdict.kind == SKIP for verdict in answer.verdicts) == 3
    first = lines_of(answer, searching.history)[0]
    assert first == "the first bad commit is one of these 3, of which 2 can't be judged:"


def test_cells_without_the_measure_do_not_decide(history, search):
    class Sparse(Drawn):
        def runs(self, commit, cells, replications):
            made = super().runs(commit, cells, replications)
            return {cell: [Run(None, "no such value"), *runs[1:]] if cell[0] == "b" else runs for cell, runs in made.items()}  # fmt: skip

    answer, said, _ = search(Sparse(history[1], 22))
    assert answer.search.found == history[1][22]
    assert any("(of 1 cell; in 1 more, a run has no goodput_mbps)" in line for line in said)


def test_a_kernel_that_hangs_is_not_run_again(history, search):
    """A commit whose kernel is that of a skipped commit is skipped, too."""
    drawn = Drawn(history[1], 22, dead={19, 20}, alike={19: "hangs", 20: "hangs"})
    answer, _, _ = search(drawn)
    skipped = [verdict for verdict in answer.verdicts if verdict.kind == SKIP]
    assert len(skipped) == 2 and f"the kernel of {skipped[0].commit[:12]}, the guest ended" == skipped[1].why
    assert len({number for number, _ in drawn.runs_made} & {19, 20}) == 1


def test_the_same_kernel_is_not_run_again(history, search):
    """A commit whose kernel was already judged for another commit gets no runs."""
    first = Drawn(history[1], 22)
    judged = [verdict.commit for verdict in search(first)[0].verdicts]
    places = [first.number[commit] for commit in judged]
    bad = [place for place in places if place >= 22][:2]
    drawn = Drawn(history[1], 22, alike={bad[1]: bad[0]})
    answer, said, searching = search(drawn)
    assert answer.search.found == history[1][22]
    assert any(f"the kernel of {history[1][bad[0]][:12]}" in line for line in said)
    runs = sum(verdict.runs for verdict in answer.verdicts if verdict.commit != history[1][bad[1]])
    assert f" from {runs} runs" in lines_of(answer, searching.history)[-1]


@pytest.mark.parametrize(
    "drawn, when, sentence",
    [
        ({"before": 8.5}, "goodput_mbps < 9", "it holds in no more runs of BAD than of GOOD"),
        ({"after": 9.3}, "goodput_mbps < 9", "it holds in no more runs of BAD than of GOOD"),
        ({"after": 10}, "goodput_mbps falls", "goodput_mbps is not lower in BAD than in GOOD"),
        ({"broken": {39}}, "goodput_mbps falls", "no kernel can be built from it: net/a.c:1: error"),
        (
            {"dead": {0}},
            "goodput_mbps falls",
            "has no goodput_mbps: the guest ended; choose another cell with ONLY, or another measure.",
        ),
        (
            {"after": 9.3},
            "goodput_mbps differs",
            "WHEN=goodput_mbps differs: it doesn't distinguish GOOD from BAD: goodput_mbps > ",
        ),
    ],
)
def test_good_must_be_good_and_bad_bad(history, search, drawn, when, sentence):
    with pytest.raises(BisectError) as raised:
        search(Drawn(history[1], 22, **drawn), when)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "before, after, sentence",
    [(8.5, 8.4, "GOOD="), (9.3, 9.2, "BAD="), (9.05, 8.95, "it doesn't distinguish GOOD from BAD")],
)
def test_with_one_cell_references_say_it(history, search, before, after, sentence):
    with pytest.raises(BisectError) as raised:
        search(Drawn(history[1], 22, before, after, 0.5 if before == 9.05 else 0.05), "goodput_mbps < 9", CELLS[:1])
    assert sentence in str(raised.value)


def test_histories_with_merges_and_unrelated_ends(tmp_path):
    folder = git_history.repository(tmp_path / "linux")
    base = git_history.commit(folder, {"a": "0"}, "Base")
    git_history.git(folder, "checkout", "--quiet", "-b", "side")
    side = git_history.commit(folder, {"b": "1"}, "Side")
    git_history.git(folder, "checkout", "--quiet", "main")
    main = git_history.commit(folder, {"a": "1"}, "Main")
    git_history.git(folder, "merge", "--quiet", "--no-edit", "side")
    merge = git_history.git(folder, "rev-parse", "HEAD")
    history = History(folder, tmp_path / "history.git")
    assert history.count(base, merge) == 3
    search, told = history.begin(base, merge), {side: GOOD, main: BAD}
    while search.next:
        search = history.tell(search.next, told[search.next])
    assert search.found == main
    # GOOD on a different branch than BAD: their common ancestor is judged first.
    assert History(folder, tmp_path / "history.git").begin(side, main).next == base
    worktree = tmp_path / "worktree"
    git_history.git(folder, "worktree", "add", "--quiet", "--detach", worktree, "main")
    assert History(worktree, tmp_path / "history.git").count(base, merge) == 3
