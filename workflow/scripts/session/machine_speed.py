"""Estimate the speed of this machine, for `make studies`, dry runs, the remaining time, and the report on a study's duration.

`run_cost.work_of_run` returns a run's work in seconds on the reference machine of benchmarks/README.md. Snakemake's benchmark files contain
the duration of each run that was executed here. At the end of a call, the mean durations are stored in the cache, in one file per results
folder, so that a new clone can use them.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from session.run_cost import Work

#: Weight of the default, as a number of runs: a few measured runs change the estimate only slightly; factors that the measured runs can't
#: determine stay at 1.
DEFAULT_RUNS = 10
#: Minimum and maximum of a factor: no machine is assumed to be more than 20 times as fast, or as slow, as the reference machine.
LEAST, MOST = 0.05, 20.0
#: Maximum number of benchmark files read per scenario.
MOST_FILES = 50
#: Maximum number of results folders whose times are kept; the oldest are deleted.
MOST_FOLDERS = 100


class Sample(NamedTuple):
    """Runs of one scenario: a run's expected time on the reference machine, the number of runs, and their mean time in s."""

    work: Work
    runs: int
    mean_s: float


class Speed(NamedTuple):
    """This machine's times relative to the reference machine's: ``own`` for a run's fixed part, ``traffic`` for a run's traffic.

    ``runs`` is the number of measured runs.
    """

    own: float = 1.0
    traffic: float = 1.0
    runs: int = 0

    def seconds(self, work: Work) -> float:
        """Return the core-seconds that work takes on this machine."""
        return self.own * work.own_s + self.traffic * work.traffic_s + work.clock_s


def speed_of(samples: Iterable[Sample]) -> Speed:
    """Return the speed that minimises the squared relative errors of the samples, shrunk towards the default with weight `DEFAULT_RUNS`.

    >>> speed_of([]).own
    1.0
    >>> a = [Sample(Work(1.0, 0.1), 10**5, 2.3), Sample(Work(1.0, 5.0), 10**5, 17.0)]
    >>> [round(factor, 1) for factor in speed_of(a)[:2]]
    [2.0, 3.0]
    """
    own2 = traffic2 = float(DEFAULT_RUNS)
    own_y, traffic_y, both, measured = own2, traffic2, 0.0, 0
    for (own_s, traffic_s, clock_s), runs, mean_s in samples:
        if clock_s or mean_s <= 0:
            continue
        own, traffic = own_s / mean_s, traffic_s / mean_s
        own2, traffic2, both = own2 + runs * own**2, traffic2 + runs * traffic**2, both + runs * own * traffic
        own_y, traffic_y, measured = own_y + runs * own, traffic_y + runs * traffic, measured + runs
    determinant = own2 * traffic2 - both**2
    factors = (traffic2 * own_y - both * traffic_y) / determinant, (own2 * traffic_y - both * own_y) / determinant
    return Speed(*(min(MOST, max(LEAST, factor)) for factor in factors), measured)


def samples_of(folder: Path, works: Mapping[str | tuple[str, str], Work]) -> list[Sample]:
    """Return the times of those runs in a results folder that were executed on this machine.

    ``works`` maps a scenario, or a scenario and a CCA, to the work of a run (`run_cost.work_of_run`). The entry of a scenario applies to
    the CCAs that have no separate entry. The benchmark file of a run from the cache contains no row, so such runs are skipped.
    """
    samples = []
    for key, work in works.items():
        scenario, cca = (key, None) if isinstance(key, str) else key
        files = sorted((folder / "benchmarks" / "runs" / scenario).glob("*/*/*.tsv"))
        files = [file for file in files if _is_of(file.parts[-3], scenario, cca, works)]
        # If there are many runs, use some runs of each CCA, not only runs of the first CCA.
        read = files[:: max(1, len(files) // MOST_FILES)]
        seconds = [s for file in read if (s := _seconds(file)) is not None]
        if seconds:
            samples.append(Sample(work, round(len(files) * len(seconds) / len(read)), sum(seconds) / len(seconds)))
    return samples


def _is_of(name, scenario, cca, works):
    """Return whether a CCA's runs belong to the entry of a scenario and ``cca``, or to the scenario's common entry if ``cca`` is None."""
    return name == cca if cca else (scenario, name) not in works


def _seconds(file):
    """Return the duration in s from a benchmark file, or None if the file has no row or is damaged."""
    try:
        names, *rows = [line.split("\t") for line in file.read_text().splitlines()]
        return float(dict(zip(names, rows[-1], strict=True))["s"])
    except (OSError, ValueError, IndexError, KeyError):
        return None


class SpeedRecord:
    """Run times on this machine, stored in a cache folder. Files that can't be read or written are ignored."""

    def __init__(self, folder: Path):
        self.folder = folder

    def keep(self, results: Path, samples: Iterable[Sample]) -> None:
        """Replace the stored samples of a results folder; do nothing if ``samples`` is empty."""
        if not (samples := list(samples)):
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False) as file:
                json.dump(samples, file)
            os.replace(file.name, self._file(results))
            for old in self._latest()[MOST_FOLDERS:]:
                old.unlink(missing_ok=True)

    def samples(self, without: Path | None = None) -> list[Sample]:
        """Return all stored samples, except for samples from the results folder ``without``, whose runs are to be forecast."""
        known = []
        for file in self._latest():
            if without is None or file != self._file(without):
                with contextlib.suppress(OSError, ValueError, TypeError):
                    for (own_s, traffic_s, clock_s), runs, mean_s in json.loads(file.read_text()):
                        known.append(Sample(Work(own_s + 0.0, traffic_s + 0.0, clock_s + 0.0), int(runs), mean_s + 0.0))
        return known

    def _file(self, results):
        return self.folder / f"{hashlib.sha256(os.fsencode(results.absolute())).hexdigest()[:16]}.json"

    def _latest(self):
        times = {}
        for file in self.folder.glob("*.json"):
            with contextlib.suppress(OSError):
                times[file] = file.stat().st_mtime_ns
        return sorted(times, key=times.get, reverse=True)
