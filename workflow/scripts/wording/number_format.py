"""Format numbers for readers; the results aren't used in computations."""

import math
from decimal import Decimal

NONE = "–"


def is_missing(value) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def decimals_for(value) -> int:
    """Return the number of decimals with which `value` is shown: four significant digits, fewer for small numbers."""
    if is_missing(value) or value == 0:
        return 0
    exponent = math.floor(math.log10(abs(value)))
    digits = 4 if exponent >= 0 else 3 if exponent >= -2 else 2
    return min(9, max(0, digits - 1 - exponent))


def number(value, decimals=None) -> str:
    """Return a number with thousands separators and the given number of decimals, which is by default the result of `decimals_for`."""
    if is_missing(value):
        return NONE
    if decimals is None:
        decimals = decimals_for(value)
    text = f"{value:,.{decimals}f}"
    return "0" if decimals == 0 and text == "-0" else text


def plain(value) -> str:
    """Return a configured number with thousands separators and without a superfluous ".0", such as 1,000, 0.5 or 0.00001.

    Only a number below 10⁻⁹, such as a printed p-value, has an exponent.
    """
    if is_missing(value):
        return NONE
    if 0 < abs(value) < 1e-9:
        return f"{value:.10g}"
    return f"{Decimal(f'{value:.10g}'):,f}"


def rounded(value, digits) -> str:
    """Return a number rounded to a number of significant digits, in the form of `plain`: 1,230 or 0.0123 for three digits."""
    return plain(float(f"{value:.{digits}g}"))


def interval_words(low, high, mean) -> str:
    """Return an interval as text, with as many decimals as the mean."""
    if is_missing(low):
        return NONE
    decimals = decimals_for(mean)
    return f"{number(low, decimals)} to {number(high, decimals)}"


def p_value(value) -> str:
    """Return a p-value as text with three decimals."""
    if is_missing(value):
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def tick(value) -> str:
    """Return a short axis label, such as 0.00001, 50, 1,000, 20k or 3M."""
    for size, letter in ((1_000_000, "M"), (10_000, "k")):
        if abs(value) >= size:
            return f"{value / (1000 if letter == 'k' else size):.10g}{letter}"
    return plain(value)


def count(number_of, singular, plural=None) -> str:
    """Return a number with its noun: "1 run" or "5 runs"; the number may also be a text, as in "5 to 7 runs"."""
    if isinstance(number_of, str):
        return f"{number_of} {plural or singular + 's'}"
    return f"{plain(number_of)} {singular if number_of == 1 else plural or singular + 's'}"
