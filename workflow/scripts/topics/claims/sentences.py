"""The sentence that states how many of a paper's claims are reproduced."""

import numpy as np

from topics.claims.page_tables import TEST_KINDS
from topics.claims.tables import NOT_REPRODUCED, REPRODUCED, VERDICTS
from wording.sentence_words import listed

# For each verdict in `VERDICTS`: the predicate for one claim, and for several.
WORDS = (
    ("is reproduced here", "are reproduced here"), ("is not", "are not"),
    ("can't be decided from these runs", "can't be decided from these runs"),
    ("can't be tested with these data", "can't be tested with these data"),
)  # fmt: skip
# For each verdict in `VERDICTS`: subject and predicate of the sentence if several claims all have this verdict.
ALL = (
    ("All", "are reproduced here"),
    ("None", "is reproduced here"),
    ("None", "can be decided from these runs"),
    ("None", "can be tested with these data"),
)
# Maximum number of words in a statement that is quoted in the sentence about claims.
EXAMPLE_WORDS = 14


def claims_sentence(claims, other=None, swapped=False) -> str:
    """State how many claims are reproduced; if some are reproduced only with the published method, count them and quote one.

    The parameters are the same as in `page_tables.claims_table`, but ``claims`` may be None if no claims were checked.
    """
    if claims is None or claims.empty:
        return "No claims of a paper were checked, because the study's file names none."
    counts = claims["verdict"].value_counts()
    said = [
        f"{number:,} {words[number != 1]}"
        for name, words in zip(VERDICTS, WORDS, strict=True)
        if (number := int(counts.get(name, 0)))
    ]
    of = "The paper's only claim" if len(claims) == 1 else f"Of the paper's {len(claims):,} claims,"
    text = f"{of} {listed(said) if said else 'none has a verdict'}"
    if len(claims) == 1:
        text = f"{of} {said[0].partition(' ')[2] if said else 'has no verdict'}"
    elif len(said) == 1:
        subject, predicate = dict(zip(VERDICTS, ALL, strict=True))[counts.index[0]]
        text = f"{subject} of the paper's {len(claims):,} claims {predicate}"
    if other is None:
        return f"{text}."
    name, other_claims = other
    both = claims.merge(other_claims, on="claim", suffixes=("", "_other"))
    decided = both[both[["verdict", "verdict_other"]].isin([REPRODUCED, NOT_REPRODUCED]).all(axis=1)]
    if decided.empty:
        return f"{text}; none was decided in both this study and the study {name}."
    sound, published = ("verdict_other", "verdict") if swapped else ("verdict", "verdict_other")
    emulated = decided[(decided[sound] == NOT_REPRODUCED) & (decided[published] == REPRODUCED)]
    method = "the published method, as here," if swapped else f"the published method (study {name})"
    if emulated.empty:
        return f"{text}; none of the {len(decided):,} decided in both studies holds only with {method.rstrip(',')}."
    holds, are = ("holds", "is") if len(emulated) == 1 else ("hold", "are")
    text = f"{text}; {len(emulated):,} {holds} only with {method} and so {are} due to the emulation, not to TCP"
    example = telling_example(emulated)
    return f"{text}, such as \u201c{example.rstrip('.')}\u201d." if example else f"{text}."


def telling_example(claims) -> str | None:
    """Return the statement of the claim with the most extreme ratio between the two studies' values; None if there is no such claim.

    In a tie, the claim with the most runs is chosen. Claims about a p-value or a difference are ignored, and so are statements that are too
    long to quote.
    """
    values = claims[["value", "value_other"]].astype(float)
    short = claims["statement"].str.split().str.len() <= EXAMPLE_WORDS
    known = claims[short & ~claims["kind"].isin([*TEST_KINDS, "no_difference"]) & (values > 0).all(axis=1)]
    # Rounded, so that claims about the same value tie.
    apart = np.log((values["value"] / values["value_other"])[known.index]).abs().round(9)
    ranked = known.assign(apart=apart).sort_values(["apart", "runs"], ascending=False)
    return None if known.empty else ranked["statement"].iloc[0]
