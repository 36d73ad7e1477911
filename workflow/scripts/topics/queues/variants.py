"""What tells queues apart in a figure: the discipline and its parameters, ECN's switch aside."""

import pandas as pd

from testbed.disciplines import DISCIPLINES


def with_variants(cells) -> pd.DataFrame:
    """Return cells with the column ``variant``: discipline and parameters, but for `ecn`, which lines tell apart."""
    parameters = (
        [words for words in text.split(", ") if words and not words.startswith("ecn ")]
        for text in cells["queue_parameters"]
    )
    return cells.assign(
        variant=[", ".join([name, *own]) for name, own in zip(cells["discipline"], parameters, strict=True)]
    )


def variants_of(cells) -> dict[str, str]:
    """Return variant -> its name, in the table's order: the discipline, with what is not its default if it has several."""
    variants = list(dict.fromkeys(cells["variant"]))
    disciplines = [variant.split(", ")[0] for variant in variants]
    return {
        variant: name if disciplines.count(name) == 1 else _name(variant, name)
        for variant, name in zip(variants, disciplines, strict=True)
    }


def _name(variant, discipline):
    """Return a variant's name with the value of the first parameter that is not the discipline's default."""
    defaults = {
        f"{p.name} {'null' if p.default is None else str(p.default).lower()}"
        for p in DISCIPLINES[discipline].parameters
    }
    own = [words for words in variant.split(", ")[1:] if words not in defaults]
    return f"{discipline} {own[0].split()[-1]}" if own else discipline
