"""The outcome of a check, and how checks write what they say."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """The outcome of one check; ``expected`` and ``observed`` are for people."""

    name: str
    ok: bool
    expected: str
    observed: str


def in_turn(texts) -> str:
    """Return what is said of each pair as one text: once if it is the same for all."""
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)


def words(values) -> str:
    """Return the distinct values as text."""
    return ", ".join(sorted({str(value) for value in values})) or "nothing"
