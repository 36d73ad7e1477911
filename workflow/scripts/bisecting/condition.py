"""Conditions for a bad run: `WHEN='goodput_mbps < 9'` or `WHEN='goodput_mbps falls'`."""

import operator
import re
from dataclasses import dataclass

from run_tables.tidy_tables import RUNS
from study_files.strict_yaml import FileError
from study_files.study_validation import nearest_choice
from wording.terminal_text import shown

COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: Comparison with GOOD's values -> sign of a bad difference; None: both signs are bad.
CHANGES = {"falls": -1, "rises": 1, "differs": None}
FORM = re.compile(r"\s*([A-Za-z_0-9]+)\s*(<=|>=|<|>|\b[a-z]+)\s*([-+]?[0-9.]+(?:[eE][-+]?\d+)?)?\s*")
#: Comparison -> its negation or, for a change, the change in the other direction.
OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "falls": "rises", "rises": "falls", "differs": "differs"}
EXAMPLES = "'goodput_mbps < 9', 'retransmits > 50', or 'goodput_mbps falls' (rises, differs)"


class BisectError(FileError):
    """The search is impossible; the message gives the reason in one sentence."""


@dataclass(frozen=True)
class Condition:
    """A condition on a run.

    Attributes
    ----------
    measure : str
        A column of ``tidy/runs.csv``.
    comparison : str
        One of `COMPARISONS` or `CHANGES`.
    number : float or None
        Threshold for the measure; None for `CHANGES`.
    """

    measure: str
    comparison: str
    number: float | None = None

    @property
    def is_change(self) -> bool:
        """Whether the threshold must be derived from GOOD's and BAD's values."""
        return self.comparison in CHANGES

    def holds(self, value) -> bool:
        """Return whether a value makes a run bad."""
        return COMPARISONS[self.comparison](value, self.number)

    def at(self, cut, direction) -> "Condition":
        """Return the condition that the measure is above ``cut`` (``direction`` 1) or below ``cut`` (``direction`` -1)."""
        return Condition(self.measure, ">" if direction > 0 else "<", cut)

    @property
    def opposite(self) -> "Condition":
        """The condition for good runs, with which a search finds the commit that ends a change."""
        return Condition(self.measure, OPPOSITES[self.comparison], self.number)

    @property
    def exact(self) -> str:
        """The condition as text with all digits of the number; `str` rounds the number to six digits."""
        return f"{self.measure} {self.comparison}" + ("" if self.number is None else f" {self.number!r}")

    def __str__(self):
        return f"{self.measure} {self.comparison}" + ("" if self.number is None else f" {self.number:.6g}")


def measures() -> list[str]:
    """Return the measures that a condition may name: the numeric columns of ``tidy/runs.csv``."""
    return [column.name for column in RUNS.columns if column.kind in ("number", "count") and column.name != "seed"]


def condition_of(text) -> Condition:
    """Parse a condition; raise `BisectError` with the allowed forms if the text isn't a condition."""
    match = FORM.fullmatch(text)
    if not match or match[2] not in (*COMPARISONS, *CHANGES) or (match[3] is None) != (match[2] in CHANGES):
        raise _problem(text, f"allowed: a measure and a comparison, {EXAMPLES}.")
    if match[1] not in (known := measures()):
        near = nearest_choice(match[1], known)
        meant = f"did you mean '{near}'? Allowed" if near else "allowed"
        raise _problem(text, f"tidy/runs.csv has no numeric column {match[1]}; {meant}: its numeric columns (config/data-dictionary.md).")  # fmt: skip
    try:
        return Condition(match[1], match[2], None if match[3] is None else float(match[3]))
    except ValueError:
        raise _problem(text, f"{match[3]} is not a number; allowed: {EXAMPLES}.") from None


def _problem(text, sentence):
    return BisectError(f"WHEN={shown(text, 200)}", [sentence])
