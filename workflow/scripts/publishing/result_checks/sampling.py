"""Draw samples of runs, and compute how many changed documents a sample can reveal."""

import math
import random
from bisect import bisect_left
from collections.abc import Iterable


def draw(names: Iterable[str], count: int, seed: int) -> list[str]:
    """Return a random sample of runs; with the same names and seed, Python's generator selects the same sample on every machine."""
    return random.Random(seed).sample(sorted(names), count)


def chance_of_finding(total: int, changed: int, count: int) -> float:
    """Return the probability that a sample of ``count`` documents out of ``total`` includes at least one of the ``changed`` documents.

    Draws are without replacement (hypergeometric distribution): 1 - C(total - changed, count) / C(total, count).
    """
    return 1 - math.prod(max(0, total - changed - i) / (total - i) for i in range(count))


def least_changed(chance, total, count) -> int:
    """Return how many documents must be changed so that a sample includes a changed one with a probability of at least ``chance``."""
    # The probability grows with the number of changed documents.
    return 1 + bisect_left(range(1, total), chance, key=lambda changed: chance_of_finding(total, changed, count))
