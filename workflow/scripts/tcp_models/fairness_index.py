"""Fairness between flows: Jain's index, as used in all tables."""


def jain_index(values) -> float:
    """Return Jain's fairness index, (sum x)^2 / (n sum x^2): 1 if all flows get equal shares, 1/n if one flow gets everything.

    The index was defined by Jain, Chiu and Hawe (1984).

    ``values`` (iterable of float, shape (n,)) are the goodputs of one or more flows. If all goodputs are zero, the index is 1; if any
    goodput is missing (NaN), the index is missing too.

    Examples
    --------
    >>> jain_index([3, 1])
    0.8
    """
    values = list(values)
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0
