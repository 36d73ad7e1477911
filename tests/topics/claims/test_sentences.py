"""The number of claims that hold: counted, compared with the other method, with an example."""

import pandas as pd
import pytest

from topics.claims.claim_words import requirement_words
from topics.claims.sentences import claims_sentence, telling_example


def claim_rows(*verdicts, **columns):
    table = pd.DataFrame({"claim": list("abcd"), "verdict": verdicts})
    defaults = {"statement": [f"Claim {name}." for name in "ABCD"], "kind": "ratio", "value": 2.0, "runs": 8}
    return table.assign(**(defaults | columns))


def test_claims_are_counted_and_compared_where_both_methods_can_tell():
    ours = claim_rows("reproduced", "reproduced", "not reproduced", "not testable")
    text = "Of the paper's 4 claims, 2 are reproduced here, 1 is not and 1 can't be tested with these data"
    assert claims_sentence(ours) == f"{text}."
    other = claim_rows("not reproduced", "reproduced", "not testable", "reproduced")
    assert claims_sentence(ours, ("exbench", other)) == (
        f"{text}; none of the 2 decided in both studies holds only with the published method (study exbench)."
    )
    published = other.assign(verdict="reproduced")
    assert claims_sentence(ours, ("exbench", published)) == (
        f"{text}; 1 holds only with the published method (study exbench) and so is due to the emulation, not to TCP, such as "
        "“Claim C”."
    )
    none = other.assign(verdict="not testable")
    assert claims_sentence(ours, ("x", none)) == f"{text}; none was decided in both this study and the study x."
    assert "names none" in claims_sentence(None)


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ("reproduced", "All of the paper's 4 claims are reproduced here."),
        ("not reproduced", "None of the paper's 4 claims is reproduced here."),
        ("not shown", "None of the paper's 4 claims can be decided from these runs."),
        ("not testable", "None of the paper's 4 claims can be tested with these data."),
    ],
)
def test_claims_with_one_verdict_are_not_counted_twice(verdict, sentence):
    assert claims_sentence(claim_rows(*[verdict] * 4)) == sentence
    assert claims_sentence(claim_rows(*[verdict] * 4)[:1]).startswith("The paper's only claim ")


def test_in_the_published_methods_own_study_the_roles_are_swapped():
    ours = claim_rows("reproduced", "reproduced", "not reproduced", "not testable")
    sound = claim_rows("not reproduced", "not reproduced", "reproduced", "reproduced", value=[2.0, 1.0, 9.0, 9.0])
    assert claims_sentence(ours, ("ours", sound), swapped=True).endswith(
        "; 2 hold only with the published method, as here, and so are due to the emulation, not to TCP, such as “Claim B”."
    )


def test_the_example_is_the_claim_whose_values_are_the_most_times_apart():
    both = claim_rows(*["not reproduced"] * 4, value_other=[1.9, 4.0, 0.5, 1.0])
    assert telling_example(both[:1]) == "Claim A."
    # C's value is four times the other one.
    assert telling_example(both) == "Claim C."
    # The first of A, B and D, all twice or half, counts if none has more runs.
    assert telling_example(both.assign(value_other=[4.0, 1.0, 1.9, 4.0])) == "Claim A."
    assert telling_example(both.assign(value_other=[4.0, 1.0, 1.9, 4.0], runs=[8, 8, 8, 9])) == "Claim D."
    # A test's p, a value of zero, a missing one and a statement too long for the sentence are no example.
    for change in ({"kind": "no_difference"}, {"value": 0.0}, {"value_other": None}, {"statement": "word " * 15}):
        assert telling_example(both.assign(**change)) is None


@pytest.mark.parametrize(
    ("unit", "words"),
    [("Mbit/s", "Mbit/s"), ("ms", "ms"), ("s", "s"), ("µs", "µs"), ("s/GB", "s/GB"), ("flows", "flow"), ("%", "%")],
)
def test_only_nouns_have_a_singular(unit, words):
    assert requirement_words({"at_least": 1}, unit) == f"at least 1 {words}"
    assert requirement_words({"at_least": 1, "at_most": 5}, unit) == f"at least 1 and at most 5 {unit}"
