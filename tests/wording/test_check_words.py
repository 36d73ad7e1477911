"""Every check of a run has its words."""

import re
from pathlib import Path

from experiment.link_options import LINK_OPTIONS
from wording.check_words import CHECK_WORDS, check_noun, meaning_of_failure

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"


def names_in_the_code():
    """Return the names of checks in the code; for a computed name, those that its computation can give."""
    text = "\n".join(
        path.read_text() for package in ("testbed", "simulator") for path in (WORKFLOW / package).rglob("*.py")
    )
    made = set(re.findall(r'(?:Check|of_each|judge_loss)\(\s*(?:specification, )?"(\w+)"', text))
    return (
        made
        | {option.check for option in LINK_OPTIONS if option.check}
        | {"loss_forward", "loss_reverse", "carried_out"}
    )


def test_every_check_has_its_words():
    assert names_in_the_code() - CHECK_WORDS.keys() == set()
    assert CHECK_WORDS.keys() - names_in_the_code() == set()


def test_words_are_sentences():
    for name in CHECK_WORDS:
        assert re.fullmatch(r"[A-Z].*\.", meaning_of_failure(name)) or name == "exit_status"
        assert not check_noun(name).endswith(".")


def test_an_unknown_check_keeps_its_name():
    assert (check_noun("some_other"), meaning_of_failure("some_other")) == ("some other", "")
