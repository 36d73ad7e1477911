"""The cost of a study on this machine: number of runs, core-hours and disk space."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from session.machine_speed import SpeedRecord, samples_of, speed_of
from session.run_cache import cache_folder
from session.run_cost import Work, document_kb, work_of_run
from study_files import study as studies
from study_files.program_ccas import programs_under_test
from study_files.study_runs import ip_versions_of
from topics.repetitions.chosen_runs import repetition_path, runs_to_repeat

#: Minimum number of executed runs for which the error of a study's estimate is reported.
FEWEST_RUNS = 10


@dataclass(frozen=True)
class StudyCost:
    """The cost of a resolved study.

    ``runs`` maps each scenario to its number of runs, and ``works`` maps it to the work of one run, averaged over the CCAs. ``measured``
    maps each group of runs with comparable durations to the work of one of its runs. A group's key is a scenario or, for a program's runs,
    which take longer, a scenario and the program's name in `ccas`. ``repeated`` contains the runs that are executed a second time, to compare
    the bytes (`topics.repetitions`).
    """

    runs: dict[str, int]
    works: dict[str, Work]
    kilobytes: float
    measured: dict[str | tuple[str, str], Work]
    repeated: list[tuple[str, str, str, int]]

    def work_of(self, scenario: str, cca: str | None = None) -> Work:
        """Return the work of one run of a scenario: with the given CCA or, by default, averaged over the study's CCAs."""
        if cca is None:
            return self.works[scenario]
        return self.measured.get((scenario, cca)) or self.measured.get(scenario) or self.works[scenario]

    @property
    def work(self) -> Work:
        """Total work of all runs and repetitions."""
        total = Work()
        for scenario, runs in self.runs.items():
            total = total.plus(runs, self.works[scenario])
        for scenario, cca, *_ in self.repeated:
            total = total.plus(1, self.work_of(scenario, cca))
        return total


def cost_of(study: dict) -> StudyCost:
    """Return the cost of a resolved study."""
    runs = Counter(scenario for scenario, *_ in studies.all_runs(study))
    conditions = {scenario: studies.largest_conditions(study, scenario) for scenario in runs}
    programs, ccas = programs_under_test(study), len(study["ccas"])
    measured, works = {}, {}
    for scenario, each in conditions.items():
        of_kernel, total = work_of_run(each), Work()
        if ccas > len(programs):
            measured[scenario] = of_kernel
            total = total.plus(ccas - len(programs), of_kernel)
        for cca in programs:
            measured[scenario, cca] = work_of_run(studies.largest_conditions(study, scenario, cca))
            total = total.plus(1, measured[scenario, cca])
        works[scenario] = Work(*(part / ccas for part in total)) if programs else of_kernel
    return StudyCost(
        runs=dict(runs),
        works=works,
        kilobytes=sum(runs[scenario] * document_kb(each) for scenario, each in conditions.items()),
        measured=measured,
        repeated=list(runs_to_repeat(study, studies.runs(study))),
    )


def existing_runs(study, folder) -> Counter:
    """Return the number of a study's runs that exist in a results folder, by scenario; other documents there don't count."""
    wanted, last = set(studies.cells(study)), {}
    for scenario in study["scenarios"]:
        last[scenario["id"]] = studies.last_replication(study, scenario["id"])
    there = Counter()
    for path in (folder / "runs").glob("*/*/*/*.json.gz"):
        *cell, name = path.parts[-4:]
        number = int(text) if (text := name.partition(".")[0]).isdecimal() else 0
        if tuple(cell) in wanted and 1 <= number <= last[cell[0]] and cell[2] in ip_versions_of(study, number):
            there[cell[0]] += 1
    return there


def speed_record(root: Path) -> SpeedRecord:
    """Return the record of this machine's speed; ``root`` is the checkout."""
    return SpeedRecord(cache_folder(root) / "speed")


def off_by(cost: StudyCost, folder: Path, record: SpeedRecord) -> tuple[float, float, int] | None:
    """Return the core-seconds that a study's runs took, the core-seconds predicted from other studies, and the number of runs.

    None if fewer than `FEWEST_RUNS` of the runs in the results folder were executed here.
    """
    samples = samples_of(folder, cost.measured)
    if (runs := sum(sample.runs for sample in samples)) < FEWEST_RUNS:
        return None
    speed = speed_of(record.samples(without=folder))
    took_s, expected_s = 0.0, 0.0
    for work, number, mean_s in samples:
        took_s, expected_s = took_s + number * mean_s, expected_s + number * speed.seconds(work)
    return took_s, expected_s, runs


class Forecast:
    """A forecast of a study's run times on this machine, based on all known run times, including the study's own.

    Parameters
    ----------
    study : dict
        The resolved study.
    folder : pathlib.Path
        Folder of the study's results.
    record : SpeedRecord
    """

    def __init__(self, study: dict, folder: Path, record: SpeedRecord):
        self.cost, self.folder = cost_of(study), folder
        self.speed = speed_of([*record.samples(without=folder), *samples_of(folder, self.cost.measured)])

    def seconds(self, scenario: str, cca: str | None = None) -> float:
        """Return the core-seconds of one run of a scenario: with the given CCA or, by default, averaged over the study's CCAs."""
        return self.speed.seconds(self.cost.work_of(scenario, cca))

    def repeated_s(self) -> tuple[float, float]:
        """Return the core-seconds of all repetitions of runs, and of the repetitions that have no document yet."""
        seconds = {run: self.seconds(*run[:2]) for run in self.cost.repeated}
        missing = (each for run, each in seconds.items() if not (self.folder / repetition_path(run)).exists())
        return sum(seconds.values()), sum(missing)

    def fills_machine(self, scenario: str) -> bool:
        """Return whether a run of a scenario occupies all cores, because it uses the host's clock."""
        return self.cost.works[scenario].clock_s > 0


def took_words(study: dict, folder: Path, record: SpeedRecord) -> str:
    """Record the times of a study's runs; return a sentence about the error of the estimate, or "" if there are too few runs."""
    cost = cost_of(study)
    off = off_by(cost, folder, record)
    record.keep(folder, samples_of(folder, cost.measured))
    if not off:
        return ""
    took_s, expected_s, runs = off
    return f"{runs:,} runs took {core_time(took_s)}; {core_time(expected_s)} were expected ({100 * (took_s / expected_s - 1):+.0f} %)"


def core_time(seconds: float) -> str:
    """Return a time on one core as text.

    >>> core_time(0.7), core_time(40), core_time(600), core_time(5400), core_time(360000)
    ('1 core-second', '40 core-seconds', '10 core-minutes', '1.5 core-hours', '100 core-hours')
    """
    for limit_s, unit_s, unit in ((100, 1, "second"), (5400, 60, "minute")):
        if seconds < limit_s:
            number = max(1, round(seconds / unit_s))
            return f"{number} core-{unit}{'s' if number > 1 else ''}"
    hours = seconds / 3600
    return f"{hours:.2g} core-hours" if hours < 10 else f"{hours:,.0f} core-hours"
