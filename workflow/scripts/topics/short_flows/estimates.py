"""Means of a measure over the runs of a cell, with their intervals, as columns of a row."""

from collections.abc import Iterator

from inference.mean_interval import mean_interval


def estimate(runs, name, confidence) -> Iterator[tuple[str, float]]:
    """Yield the mean of a measure over runs, and both ends of its t interval, cut off at 0."""
    values = runs[name].dropna()
    yield name, values.mean()
    if len(values) > 1:
        _, low, high = mean_interval(values, confidence)
        yield f"{name}_low", max(low, 0.0)
        yield f"{name}_high", high
