"""The meaning of `make bisect WHEN=...`, and the messages for invalid conditions and other mistakes in a call."""

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
    assert {"goodput_mbps", "retransmits", "rtt_mean_ms"} <= set(measures()) and "cca" not in measures()


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """The folder of a repository with two commits, in the folder of the call."""
    monkeypatch.chdir(tmp_path)
    folder = git_history.repository(tmp_path / "linux")
    for number in range(2):
        git_history.commit(folder, {"number": str(number)}, f"Commit {number}")
    git_history.git(folder, "tag", "first", "HEAD~1")
    return folder


@pytest.mark.parametrize(
    "changed, sentence",
    [
        ({"--good": ""}, "GOOD: it is missing; as in make bisect"),
        ({"--when": "goodput < 9"}, "did you mean 'goodput_mbps'?"),
        ({"--good": "nothing"}, "GOOD=nothing: linux: it has no such revision"),
        ({"--bad": "first"}, "BAD=first: it is the same commit as GOOD"),
        ({"--good": "main", "--bad": "first"}, "it has no commit that GOOD"),
        ({"kernel": "nowhere"}, "KERNEL=nowhere: there is no such folder"),
        ({"kernel": "linux/.git/refs"}, "not a git repository"),
        ({"study": "none.yaml"}, "none.yaml"),
        ({"--only": "*/bbr/ipv9"}, "it matches no cell of"),
    ],
)
def test_a_wrong_call_is_one_sentence(linux, root, capsys, changed, sentence):
    given = {"kernel": "linux", "study": str(root / "config/studies/smoke.yaml"), "--good": "first", "--bad": "main", "--when": "goodput_mbps falls"} | changed  # fmt: skip
    options = [word for key, value in given.items() for word in ((key, value) if key.startswith("--") else (value,))]
    assert main(options) == 1
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_a_study_without_a_cell_on_the_image_s_kernel_is_refused(linux, capsys, tmp_path):
    (tmp_path / "own.yaml").write_text("study: own\nccas: [cubic]\ndefaults: {platform: host}\nscenarios: [{id: a}]\n")
    assert main(["linux", "own.yaml", "--good", "first", "--bad", "main", "--when", "goodput_mbps falls"]) == 1
    assert "allowed: studies with cells on the image's kernel" in capsys.readouterr().err
