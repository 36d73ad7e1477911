"""Long flows beside others: how lines that tell them apart look, and what they are called."""

from figure_parts.figure_style import DASHES, LIGHT, cca_colour
from wording.sentence_words import cca_name

#: What the column ``beside`` of groups says where there are none.
ALONE = "none"


def look(beside) -> dict:
    """Return how the line of a CCA of long flows looks; of none dashed and grey."""
    return {"color": LIGHT.muted, "ls": DASHES} if beside == ALONE else {"color": cca_colour(beside), "ls": "-"}


def name_of(beside) -> str:
    """Return what a line is called: "beside CUBIC"."""
    return "no long flow" if beside == ALONE else f"beside {cca_name(beside)}"
