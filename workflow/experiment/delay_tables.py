"""Custom tables from which netem draws delays (tc-netem's `distribution`).

The numbers in a table are deviations from the mean delay, in units of 1/8,192 of the jitter. For each packet netem picks the number at a
random index (`tabledist` in net/sched/sch_netem.c of Linux 7.2). tc reads the table from a file named after the distribution.
"""

import math
from bisect import bisect_left, bisect_right

#: Table entry for a deviation that equals the jitter (NETEM_DIST_SCALE), maximum absolute value of an entry, and maximum number of entries.
SCALE, LARGEST, MOST_NUMBERS = 8192, 32767, 4096
#: Name of the table for tc, and the environment variable that names the folder in which tc looks for the table.
NAME, FOLDER_VARIABLE = "sawtooth", "TC_LIB_DIR"
#: Probability that the check rejects delays that were indeed drawn from the table.
FALSE_ALARM = 1e-9


def numbers_of(delays) -> list[int]:
    """Return the sorted table for measured delays, which may be in any unit.

    Each number is a delay's deviation from the mean in standard deviations, times `SCALE`. If there are more than `MOST_NUMBERS` delays,
    the table contains `MOST_NUMBERS` of their quantiles. Values beyond four standard deviations are clipped.

    Examples
    --------
    >>> numbers_of([10, 30, 10, 30])
    [-8192, -8192, 8192, 8192]
    """
    mean = math.fsum(delays) / len(delays)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in delays) / len(delays))
    ordered, count = sorted(delays), min(len(delays), MOST_NUMBERS)
    chosen = (ordered[int((place + 0.5) * len(ordered) / count)] for place in range(count))
    return [max(-LARGEST, min(LARGEST, round((one - mean) / deviation * SCALE))) for one in chosen]


def reach(numbers) -> tuple[float, float]:
    """Return the largest deviations below and above the mean delay, in units of the jitter."""
    return -min(0, *numbers) / SCALE, max(0, *numbers) / SCALE


def distance(delays, numbers, mean, jitter, slack) -> float:
    """Return the Kolmogorov-Smirnov statistic of delays and a table: the largest difference between their distribution functions.

    Parameters
    ----------
    delays : list of float
        Measured delays.
    numbers : list of int
        Sorted numbers of the table.
    mean, jitter, slack : float
        Mean delay (the number 0 in the table), jitter, and tolerance for each measured delay, in the unit of ``delays``.
    """
    table = [max(0, mean + jitter * number / SCALE) for number in numbers]
    seen = sorted(delays)
    most = 0.0
    for place, at in enumerate(seen):
        # Minimum and maximum share of the table's delays that may lie below this delay, given the slack.
        few, many = bisect_left(table, at - slack) / len(table), bisect_right(table, at + slack) / len(table)
        most = max(most, few - (place + 1) / len(seen), place / len(seen) - many)
    return most


def most_distance(count) -> float:
    """Return the largest acceptable result of `distance` for ``count`` delays.

    For delays that were drawn from the table, the result exceeds this bound with a probability of at most `FALSE_ALARM`. The bound follows
    from the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990).
    """
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * count))
