"""How many of a paper's claims hold, in one sentence."""

import math

from topics.claims.page_tables import TEST_KINDS
from topics.claims.tables import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wording.number_format import count, is_missing

# A longer statement doesn't fit into the sentence on claims.
EXAMPLE_WORDS = 14


def claims_sentence(claims, other=None, swapped=False) -> str:
    """Say how many of a paper's claims hold here, and how many are the published method's alone, with one of them.

    Parameters
    ----------
    claims, other
        As for `page_tables.claims_table`; None if no claims were checked.
    swapped : bool
        Whether this study is the one that follows the published method.
    """
    if claims is None or claims.empty:
        return "No paper's claims were checked, for the study's file names none."
    counts = claims["verdict"].value_counts()
    held, failed, open_ = (int(counts.get(name, 0)) for name in (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE))
    text = (
        f"Of the paper's {count(len(claims), 'claim')} {held:,} {'is' if held == 1 else 'are'} "
        f"reproduced here, {failed:,} {'is' if failed == 1 else 'are'} not, and "
        f"{open_:,} can't be tested"
    )
    if other is None:
        return f"{text} with these data."
    name, other_claims = other
    both = claims.merge(other_claims, on="claim", suffixes=("", "_other"))
    decided = both[(both[["verdict", "verdict_other"]] != NOT_TESTABLE).all(axis=1)]
    if decided.empty:
        return f"{text}; none could be tested in the study {name} too."
    sound, published = ("verdict_other", "verdict") if swapped else ("verdict", "verdict_other")
    emulated = decided[(decided[sound] == NOT_REPRODUCED) & (decided[published] == REPRODUCED)]
    method = "the published method, as here," if swapped else f"the published method (study {name})"
    if emulated.empty:
        return f"{text}; none of the {len(decided):,} tested in both studies holds only with {method.rstrip(',')}."
    holds, are = ("holds", "is") if len(emulated) == 1 else ("hold", "are")
    text = f"{text}; {len(emulated):,} {holds} only with {method} and so {are} the emulation's, not TCP's"
    example = telling_example(emulated)
    return f"{text}, such as \u201c{example.rstrip('.')}\u201d." if example else f"{text}."


def telling_example(claims) -> str | None:
    """Return the statement of the claim whose two values are the most times apart; of several, the one with most runs.

    Those that are a test's p, and those too long for a sentence, are passed over.

    Parameters
    ----------
    claims : pandas.DataFrame
        With statement, value, value_other, runs, and kind if it is known.
    """
    best = None
    for row in claims.to_dict("records"):
        value, other = row["value"], row["value_other"]
        if row.get("kind") in TEST_KINDS or len(row["statement"].split()) > EXAMPLE_WORDS:
            continue
        if is_missing(value) or is_missing(other) or min(value, other) <= 0:
            continue
        # Rounded, so that claims on the same value are a tie.
        rank = (round(abs(math.log(value / other)), 9), row["runs"])
        if best is None or rank > best[0]:
            best = rank, row["statement"]
    return best and best[1]
