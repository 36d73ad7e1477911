"""Searches in histories with branches, in shallow clones, and in histories in which GOOD and BAD are unrelated; runs are drawn."""

import pytest

import git_history
from bisecting.bisect import document_of, lines_of
from bisecting.condition import BisectError, condition_of
from bisecting.history import History
from bisecting.question import Question
from bisecting.search import VERDICT_ERROR, Searching
from drawn_commits import Drawn

CELLS = [("a", "cubic", "ipv4")]


class Histories:
    """A repository with branches; commits by their messages, which are also the names of their files."""

    def __init__(self, folder):
        self.folder, self.names = git_history.repository(folder), {}
        self.commit("base")

    def commit(self, name):
        self.names[name] = git_history.commit(self.folder, {name: name}, name)

    def branch(self, branch, at, *names):
        """Add commits on a new branch that begins at a commit."""
        git_history.git(self.folder, "checkout", "--quiet", "-b", branch, self.names[at])
        for name in names:
            self.commit(name)

    def merge(self, name, *branches):
        git_history.git(self.folder, "merge", "--quiet", "-m", name, *branches)
        self.names[name] = git_history.git(self.folder, "rev-parse", "HEAD")


@pytest.fixture
def linux(tmp_path):
    return Histories(tmp_path / "linux")


@pytest.fixture
def search(linux, tmp_path):
    """A function that searches between two commits; ``bad`` are the names of the bad commits, ``broken`` of those without a kernel."""

    def search(first, last, bad, broken=(), folder=None, when="goodput_mbps < 9"):
        ordered = [name for name in linux.names if name not in bad] + list(bad)
        drawn = Drawn([linux.names[name] for name in ordered], len(ordered) - len(bad), broken=[ordered.index(name) for name in broken])  # fmt: skip
        folder = folder or linux.folder
        asked = Question(str(folder), linux.names[first], linux.names[last], condition_of(when), {"study": "try"}, CELLS)  # fmt: skip
        history, said = History(folder, tmp_path / "history.git"), []
        answer = Searching(asked, drawn, history, said.append).carry_out()
        return answer, lines_of(answer, history), said

    return search


@pytest.fixture
def shallow(linux, tmp_path):
    """A shallow clone in which a branch begins with the commit s3, which has ancestors in the whole repository."""
    linux.branch("side", "base", "s1", "s2", "s3", "s4")
    linux.branch("trunk", "base", "m1", "m2")
    linux.merge("merge", "side")
    git_history.git(tmp_path, "clone", "--quiet", "--depth", "3", f"file://{linux.folder}", "clone")
    return tmp_path / "clone"


def test_the_first_commit_of_a_shallow_clone_is_not_named(linux, search, shallow):
    answer, lines, _ = search("m1", "merge", ["s2", "s3", "s4", "merge"], folder=shallow)
    assert answer.search.found is None and answer.search.candidates == (linux.names["s3"],)
    assert lines[0] == "the first bad commit is this one, or an earlier one:"
    assert lines[2].startswith(f"an earlier one is possible: the history of this repository begins with {linux.names['s3'][:12]} (this clone is shallow: `git fetch --unshallow`")  # fmt: skip
    document = document_of(answer)
    assert document["first_bad"] is None and "begins with" in document["or_earlier"]


def test_a_later_commit_of_a_shallow_clone_is_named(linux, search, shallow):
    answer, lines, _ = search("m1", "merge", ["s4", "merge"], folder=shallow)
    assert answer.search.found == linux.names["s4"] and lines[0].startswith("first bad commit: ")
    assert document_of(answer)["or_earlier"] is None


def test_beginnings_of_a_history_are_known(linux, shallow, tmp_path):
    whole, clone = History(linux.folder, tmp_path / "whole.git"), History(shallow, tmp_path / "clone.git")
    first, last = linux.names["m1"], linux.names["merge"]
    assert whole.beginnings(first, last) == [] and whole.shallow_words == ""
    assert clone.beginnings(first, last) == [linux.names["s3"]] and "--unshallow" in clone.shallow_words
    assert clone.parents(linux.names["s3"]) == [] and whole.parents(linux.names["s3"]) == [linux.names["s2"]]
    git_history.git(shallow, "fetch", "--quiet", "--unshallow")
    assert History(shallow, tmp_path / "clone.git").beginnings(first, last) == []


@pytest.fixture
def crossed(linux):
    """Two branches with two latest common ancestors, left1 and right1."""
    linux.branch("left", "base", "left1")
    linux.branch("right", "base", "right1")
    linux.merge("right2", "left")
    linux.branch("left-2", "left1")
    linux.merge("left2", linux.names["right1"])
    for name in ("left3", "left4", "left5"):
        linux.commit(name)
    return linux


def test_verdicts_on_several_common_ancestors_are_allowed_for(crossed, search):
    answer, lines, _ = search("right2", "left5", ["left4", "left5"])
    assert answer.search.found == crossed.names["left4"]
    judged = [verdict.commit for verdict in answer.verdicts]
    assert {*judged[:2]} == {crossed.names["left1"], crossed.names["right1"]}
    # Four commits need at most eight verdicts.
    assert answer.test.error == VERDICT_ERROR / (8 + 2)


def test_a_bad_common_ancestor_is_one_sentence(crossed, search):
    """The change was made before both, and GOOD contains a fix."""
    with pytest.raises(BisectError) as raised:
        search("right2", "left5", [*(name for name in crossed.names if name != "right2")])
    text = str(raised.value)
    assert text.startswith(f"GOOD={crossed.names['right2'][:12]}: its common ancestor with BAD") and "\n" not in text
    ancestor = crossed.names["left1"][:12] if crossed.names["left1"][:12] in text else crossed.names["right1"][:12]
    assert f"to find the fix: GOOD={ancestor} BAD={crossed.names['right2'][:12]} WHEN='goodput_mbps >= 9.0'." in text


def test_a_skipped_common_ancestor_makes_its_child_uncertain(linux, search):
    linux.branch("other", "base", "o1")
    linux.branch("trunk", "base", "m1", "m2", "m3")
    answer, lines, _ = search("o1", "m3", ["m1", "m2", "m3"], broken=["base"])
    assert answer.search.found is None and answer.search.candidates == (linux.names["m1"],)
    assert lines[2] == f"an earlier one is possible: {linux.names['base'][:12]}, a common ancestor of GOOD and BAD, can't be judged"  # fmt: skip
    # A good commit after the ancestor shows that the change came later.
    answer, lines, _ = search("o1", "m3", ["m2", "m3"], broken=["base"])
    assert answer.search.found == linux.names["m2"]


def test_a_search_with_too_many_verdicts_names_what_remains(linux, search):
    """Twenty branches of one commit are merged at once: each good one rules out only itself."""
    for number in range(20):
        linux.branch(f"b{number}", "base", f"commit {number}")
    linux.branch("trunk", "base", "m1")
    linux.merge("merge", *(f"b{number}" for number in range(20)))
    answer, lines, said = search("m1", "merge", ["merge"])
    assert len(answer.verdicts) == 12 and answer.error <= 0.05 and answer.search.found is None
    good = {verdict.commit for verdict in answer.verdicts}
    assert {*answer.search.candidates} == {*linux.names.values()} - good - {linux.names["m1"], linux.names["base"]}
    assert lines[0] == "the first bad commit is one of these 9:"
    assert any("undecided after 12 verdicts" in line for line in said)


def test_git_s_settings_of_the_user_do_not_matter(linux, search, tmp_path, monkeypatch):
    linux.branch("trunk", "base", "m1", "m2")
    (tmp_path / ".gitconfig").write_text("[safe]\nbareRepository = explicit\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert search("base", "m2", ["m2"])[0].search.found == linux.names["m2"]
