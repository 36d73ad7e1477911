"""Compare measurements with the paper's two equations: n paths give n times one path's goodput, and transfers take 1/n of the time."""

from inference.independent_comparison import Difference, difference

#: Tolerance around "n times" and "an n-th": tunnel headers cost up to 4.6 % of plain TCP's goodput.
EQUATION_MARGIN_PERCENT = 5
HOLDS, FAILS, OPEN = "as the equation", "not as the equation", "open"


def ratio(first, second, resolutions) -> Difference | None:
    """Return the ratio of the geometric means of two samples, with everything needed for its interval.

    The result is None if a sample is empty or contains a value that isn't positive.
    """
    first, second = first.dropna(), second.dropna()
    if first.empty or second.empty or (first <= 0).any() or (second <= 0).any():
        return None
    return difference(first, second, "ratio", resolutions)


def as_factors(effect_percent, ends_percent) -> tuple[float, float | None, float | None]:
    """Convert a difference and the ends of its interval from percent to ratios; if there is no interval, both ends are None."""
    return tuple(None if end is None else 1 + end / 100 for end in (effect_percent, *(ends_percent or (None, None))))


def equation_verdict(factor, low, high, paths) -> str:
    """Return the verdict on whether a ratio's entire interval lies within `EQUATION_MARGIN_PERCENT` of the number of paths.

    If there is no interval, for example after a single run, the verdict is `OPEN`; if there is no ratio, the verdict is "".
    """
    if factor is None:
        return ""
    if low is None or high is None:
        return OPEN
    margin = EQUATION_MARGIN_PERCENT / 100 * paths * (1 + 1e-9)  # values that differ only by rounding count as within
    inside = [abs(value - paths) <= margin for value in (factor, low, high)]
    if all(inside):
        return HOLDS
    spans = low < paths - margin and high > paths + margin
    return OPEN if any(inside) or spans else FAILS
