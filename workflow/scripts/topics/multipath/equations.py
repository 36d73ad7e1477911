"""The paper's two equations, held against measurements: n paths are n times as fast, and take an n-th of the time."""

from inference.independent_comparison import difference

#: "n times" and "an n-th" are taken as within so much of it: tunnels' headers take up to 4.6 % of plain TCP's goodput.
EQUATION_MARGIN_PERCENT = 5
HOLDS, FAILS, OPEN = "as the equation", "not as the equation", "open"


def ratio(first, second, confidence) -> tuple[float | None, float | None, float | None]:
    """Return the ratio of two samples' means (of logarithms) and its interval's ends, None for what isn't known."""
    first, second = first.dropna(), second.dropna()
    if first.empty or second.empty or (first <= 0).any() or (second <= 0).any():
        return None, None, None
    contrast = difference(first, second, "ratio")
    ends = contrast.interval(confidence) or (None, None)
    return (1 + contrast.effect / 100, *(None if end is None else 1 + end / 100 for end in ends))


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
