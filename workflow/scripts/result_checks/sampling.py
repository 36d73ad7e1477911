"""Which runs are drawn, and what a sample without a difference tells of the rest."""
import math
import random


def draw(names, count, seed):
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


def chance_of_finding(total, changed, count):
    """Return the chance that a draw finds at least one of the changed documents.

    Hypergeometric: 1 - C(total - changed, count) / C(total, count).

    Parameters
    ----------
    total, changed, count : int
        Documents in all, those among them that a rerun would show to be changed, those drawn.
    """
    return 1 - math.prod(max(0, total - changed - i) / (total - i) for i in range(count))


def found_with(chance, total, count):
    """Return the least number of changed documents of which a draw finds one with at least such a chance."""
    low, high = 1, total
    while low < high:
        middle = (low + high) // 2
        if chance_of_finding(total, middle, count) >= chance:
            high = middle
        else:
            low = middle + 1
    return low
