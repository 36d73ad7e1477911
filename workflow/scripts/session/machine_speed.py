"""The part of a run's upper bound (`run_cost.run_time_s`) that runs really take on this machine.

The bound takes each link for full and the machine for a slow one. Snakemake's benchmark files have the seconds of each
run that was carried out here.
"""

from dataclasses import dataclass
from pathlib import Path

#: Part of the bound that runs took on two cores with other work beside them: 0.31 (16 runs of smoke) to 0.37 (1,548 of an exam).
DEFAULT_PART = 0.36
#: Fewest measured runs that replace the default.
FEWEST_RUNS = 10


@dataclass(frozen=True)
class Measured:
    """Runs that were carried out here: their number, the seconds that they took, and the sum of their bounds in s."""

    runs: int = 0
    took_s: float = 0.0
    bound_s: float = 0.0

    def __add__(self, other):
        return Measured(self.runs + other.runs, self.took_s + other.took_s, self.bound_s + other.bound_s)

    @property
    def part(self) -> float:
        """The part of their bound that runs take: measured, or the default if too few runs were."""
        return self.took_s / self.bound_s if self.runs >= FEWEST_RUNS else DEFAULT_PART


def measured_in(folder: Path, bounds_s: dict[str, float]) -> Measured:
    """Return the times that the runs of a results folder took; ``bounds_s`` are the bounds of one run by scenario.

    Runs from the cache, whose benchmark file has no row, and runs of other scenarios are left out.
    """
    total = Measured()
    for file in (folder / "benchmarks" / "runs").glob("*/*/*/*.tsv"):
        seconds, bound_s = _seconds(file), bounds_s.get(file.parts[-4])
        if seconds is not None and bound_s is not None:
            total += Measured(1, seconds, bound_s)
    return total


def _seconds(file):
    """Return the seconds in a benchmark file, or None: there are none, or the file is damaged."""
    try:
        names, *rows = [line.split("\t") for line in file.read_text().splitlines()]
        return float(dict(zip(names, rows[-1], strict=True))["s"])
    except (OSError, ValueError, IndexError, KeyError):
        return None
