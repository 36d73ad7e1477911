"""The meaning of `make bisect WHEN=...`, and the messages for invalid conditions and other mistakes in a call."""

import json

import pytest

import git_history
from bisecting.bisect import main
from bisecting.condition import BisectError, Condition, condition_of, measures


@pytest.mark.parametrize(
    "text, condition",
    [
        ("goodput_mbps < 9", Condition("goodput_mbps", "<", 9.0)),
        (" retransmits>=50 ", Condition("retransmits", ">=", 50.0)),
        ("loss_percent > 1e-3", Condition("loss_percent", ">", 0.001)),
        ("goodput_mbps falls", Condition("goodput_mbps", "falls")),
        ("rtt_mean_ms differs", Condition("rtt_mean_ms", "differs")),
    ],
)
def test_conditions(text, condition):
    assert condition_of(text) == condition


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("goodput < 9", "no numeric column goodput; did you mean 'goodput_mbps'?"),
        ("goodput_mbs falls", "did you mean 'goodput_mbps'?"),
        ("goodput_mbps", "allowed: a measure and a comparison, 'goodput_mbps < 9'"),
        ("goodput_mbps <", "allowed: a measure and a comparison"),
        ("goodput_mbps falls 9", "allowed: a measure and a comparison"),
        ("goodput_mbps sinks", "allowed: a measure and a comparison"),
        ("goodput_mbps < 9 Mbit/s", "allowed: a measure and a comparison"),
        ("goodput_mbps < 1.2.3", "1.2.3 is not a number"),
        ("excluded_by differs", "no numeric column excluded_by"),
    ],
)
def test_other_texts_are_one_sentence(text, sentence):
    with pytest.raises(BisectError) as raised:
        condition_of(text)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


def test_a_condition_with_a_number():
    falls = Condition("goodput_mbps", "falls").at(8.5, -1)
    assert str(falls) == "goodput_mbps < 8.5" and falls.holds(8.4) and not falls.holds(8.5)
    precise = Condition("goodput_mbps", "<", 17.806712345)
    assert (str(precise), precise.exact) == ("goodput_mbps < 17.8067", "goodput_mbps < 17.806712345")
    assert {"goodput_mbps", "retransmits", "rtt_mean_ms"} <= set(measures()) and "cca" not in measures()


def test_the_opposite_of_a_condition_is_its_search_for_a_fix():
    opposites = {text: condition_of(text).opposite.exact for text in ("goodput_mbps < 9", "retransmits >= 2", "retransmits rises", "retransmits differs")}  # fmt: skip
    assert list(opposites.values()) == ["goodput_mbps >= 9.0", "retransmits < 2.0", "retransmits falls", "retransmits differs"]  # fmt: skip


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """The folder of a repository with two commits, in the folder of the call."""
    monkeypatch.chdir(tmp_path)
    folder = git_history.repository(tmp_path / "linux")
    for number in range(2):
        git_history.commit(folder, {"number": str(number)}, f"Commit {number}")
    git_history.git(folder, "tag", "first", "HEAD~1")
    git_history.git(folder, "checkout", "--quiet", "--orphan", "import")
    git_history.commit(folder, {"number": "2"}, "Import")
    git_history.git(folder, "checkout", "--quiet", "main")
    return folder


def call(root, **changed):
    """Return the exit status of a call with valid arguments, of which some are changed."""
    given = {"kernel": "linux", "study": str(root / "config/studies/smoke.yaml"), "--good": "first", "--bad": "main", "--when": "goodput_mbps falls"} | changed  # fmt: skip
    return main([word for key, value in given.items() for word in ((key, value) if key.startswith("--") else (value,))])


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"--good": ""}, "GOOD: it is missing; as in make bisect"),
        ({"--when": "goodput < 9"}, "did you mean 'goodput_mbps'?"),
        ({"--good": "nothing"}, "GOOD=nothing: linux: it has no such revision"),
        ({"--bad": "first"}, "BAD=first: it is the same commit as GOOD"),
        ({"--good": "main", "--bad": "first"}, "doesn't have; allowed: a later commit, or to find a fix: GOOD="),
        ({"--good": "main", "--bad": "first"}, " WHEN='goodput_mbps rises'."),
        ({"--bad": "import"}, "it has no common ancestor with BAD"),
        (
            {"kernel": "shallow", "--bad": "import"},
            "(this clone is shallow: `git fetch --unshallow` completes it); allowed: ",
        ),
        ({"kernel": "nowhere"}, "KERNEL=nowhere: there is no such folder"),
        ({"kernel": "linux/.git/refs"}, "not a git repository"),
        ({"study": "none.yaml"}, "none.yaml"),
        ({"--only": "*/bbr/ipv9"}, "it matches no cell of"),
    ],
)
def test_a_wrong_call_is_one_sentence(linux, root, capsys, changed, sentence):
    git_history.git(linux.parent, "clone", "--quiet", "--depth", "1", f"file://{linux}", "--branch", "first", "shallow")
    git_history.git(linux.parent / "shallow", "fetch", "--quiet", "--depth", "1", "origin", "import:import")
    assert call(root, **changed) == 1
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_a_study_without_a_cell_on_the_image_s_kernel_is_refused(linux, capsys, tmp_path):
    (tmp_path / "own.yaml").write_text("study: own\nccas: [cubic]\ndefaults: {platform: host}\nscenarios: [{id: a}]\n")
    assert main(["linux", "own.yaml", "--good", "first", "--bad", "main", "--when", "goodput_mbps falls"]) == 1
    assert "allowed: studies with cells on the image's kernel" in capsys.readouterr().err


def state_of(folder):
    (file,) = folder.glob("results/bisect/*/state.json")
    return file, json.loads(file.read_text())


def test_another_condition_or_cell_keeps_the_folder(linux, root, capsys, tmp_path):
    """GOOD has no Makefile, so each call ends before anything is built."""
    refused = "no kernel can be built from it"
    assert call(root) == 1 and refused in capsys.readouterr().err
    file, state = state_of(tmp_path)
    kept = state | {"skipped": {"a commit": "a reason"}, "longest_s": 3.5}
    file.write_text(json.dumps(kept))
    assert call(root) == 1 and refused in capsys.readouterr().err
    assert state_of(tmp_path)[1] == kept
    for changed, key in (({"--when": "goodput_mbps < 9.123456789"}, "when"), ({"--only": "*/reno/ipv4"}, "cells")):
        file.write_text(json.dumps(kept))
        assert call(root, **changed) == 1 and refused in capsys.readouterr().err
        now = state_of(tmp_path)[1]
        assert (now["skipped"], now["longest_s"]) == ({}, 3.5)
        assert [name for name, value in now["question"].items() if value != kept["question"][name]] == [key]
    file.write_text(json.dumps(kept | {"question": kept["question"] | {"testbed": "another"}}))
    assert call(root) == 1
    assert "it was made with another testbed; rename or delete it" in capsys.readouterr().err
    file.write_text(json.dumps(kept | {"longest_s": "long"}))
    assert call(root) == 1
    assert "it is damaged" in capsys.readouterr().err
