"""The paper's two equations, held against measurements: n paths are n times as fast, and take an n-th of the time."""

from inference.independent_comparison import Difference, difference

#: "n times" and "an n-th" are taken as within so much of it: tunnels' headers take up to 4.6 % of plain TCP's goodput.
EQUATION_MARGIN_PERCENT = 5
HOLDS, FAILS, OPEN = "as the equation", "not as the equation", "open"


def ratio(first, second, resolutions) -> Difference | None:
    """Return the ratio of two samples' means (of logarithms), as of `independent_comparison.difference`; None if there is none."""
    first, second = first.dropna(), second.dropna()
    if first.empty or second.empty or (first <= 0).any() or (second <= 0).any():
        return None
    return difference(first, second, "ratio", resolutions)


def as_factors(effect_percent, ends_percent) -> tuple[float, float | None, float | None]:
    """Return a difference in percent and its ends, if there are any, as ratios."""
    return tuple(None if end is None else 1 + end / 100 for end in (effect_percent, *(ends_percent or (None, None))))


def equation_verdict(factor, low, high, paths) -> str:
    """Say whether a ratio's whole interval is within `EQUATION_MARGIN_PERCENT` of the paths' number.

    Without an interval, as after a single run, nothing is said for or against it: `OPEN`.
    """
    if factor is None:
        return ""
    if low is None or high is None:
        return OPEN
    margin = EQUATION_MARGIN_PERCENT / 100 * paths * (1 + 1e-9)  # bounds take in what differs by rounding
    inside = [abs(value - paths) <= margin for value in (factor, low, high)]
    if all(inside):
        return HOLDS
    spans = low < paths - margin and high > paths + margin
    return OPEN if any(inside) or spans else FAILS
