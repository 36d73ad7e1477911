"""Which runs are drawn, and what a sample without a difference tells of the rest."""

import math
import random
from bisect import bisect_left


def draw(names, count, seed) -> list[str]:
    """Draw runs, so that anyone with the same results draws the same.

    Parameters
    ----------
    names : iterable of str
    count : int
    seed : int

    Returns
    -------
    list of str
        ``random.Random(seed).sample(sorted(names), count)`` of Python's standard library.
    """
    return random.Random(seed).sample(sorted(names), count)


def chance_of_finding(total, changed, count) -> float:
    """Return the chance that a draw finds at least one of the changed documents.

    Hypergeometric: 1 - C(total - changed, count) / C(total, count).

    Parameters
    ----------
    total, changed, count : int
        Documents in all, those among them that a rerun would show to be changed, those drawn.
    """
    return 1 - math.prod(max(0, total - changed - i) / (total - i) for i in range(count))


def found_with(chance, total, count) -> int:
    """Return the least number of changed documents of which a draw finds one with at least such a chance."""
    # The chance grows with their number.
    return 1 + bisect_left(range(1, total), chance, key=lambda changed: chance_of_finding(total, changed, count))
