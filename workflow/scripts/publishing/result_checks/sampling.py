"""Which runs are drawn, and what a sample without a difference tells of the rest."""

import math
import random
from bisect import bisect_left
from collections.abc import Iterable


def draw(names: Iterable[str], count: int, seed: int) -> list[str]:
    """Draw runs with Python's own generator and sample, so that anyone with the same results draws the same."""
    return random.Random(seed).sample(sorted(names), count)


def chance_of_finding(total: int, changed: int, count: int) -> float:
    """Return the chance that ``count`` documents drawn from ``total`` have at least one of the changed among them.

    Hypergeometric: 1 - C(total - changed, count) / C(total, count).
    """
    return 1 - math.prod(max(0, total - changed - i) / (total - i) for i in range(count))


def least_changed(chance, total, count) -> int:
    """Return the least number of changed documents of which a draw finds one with at least such a chance."""
    # The chance grows with their number.
    return 1 + bisect_left(range(1, total), chance, key=lambda changed: chance_of_finding(total, changed, count))
