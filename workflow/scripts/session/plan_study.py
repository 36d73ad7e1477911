"""``make plan STUDY=...``: the number of replications needed to show a difference, estimated from pilot runs, and their cost."""

import argparse
import csv
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median_low

from inference.sample_size import MAX_PAIRS
from inference.settings import SETTINGS
from run_tables.metrics import METRICS
from session.needed_replications import (
    CCA_PAIRS,
    FEW,
    IP_VERSIONS,
    NO_PILOT,
    NO_SPREAD,
    NO_VALUE,
    ONE_MEASUREMENT,
    ONE_PILOT,
    TOO_MANY,
    TWO_KINDS,
    Difference,
    Needed,
    family_sizes,
    needed_replications,
)
from session.pilot_runs import Pilot, pilot_runs, same_conditions, study_of
from session.study_cost import Forecast, core_time, existing_runs, speed_record
from study_files import study as studies
from study_files.study_consistency import RUNS_LIMIT
from study_files.study_replications import fixed_replications, replications_words
from study_files.study_runs import ip_versions_of
from wording.number_format import count, plain
from wording.terminal_text import said, shown

#: Form of the setting DIFFERENCE: a number and a unit.
FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(%|points|ms|Mbit/s|segments)\s*")
UNITS = "% (goodput, RTT, retransmits), points (packet loss), Mbit/s, ms, segments"
#: Sentences about comparisons for which no number of pairs could be estimated, by kind.
REASONS = {
    NO_PILOT: "have no pair of valid pilot runs: a few replications are needed first",
    NO_VALUE: "have pilot runs without a value of the metric",
    ONE_PILOT: "have only one pair of pilot runs, from which no standard deviation can be estimated",
    TWO_KINDS: "have pilot runs of two kinds, because some runs are far from the others; the mean then has no interval, regardless of the number of replications",
    ONE_MEASUREMENT: "repeat one measurement: one replication shows any difference, and no test is needed",
    NO_SPREAD: "have no usable standard deviation (all pilot runs or all their differences are equal, or the mean is 0)",
    TOO_MANY: f"need more than {MAX_PAIRS:,} replications",
}
#: Maximum number of comparisons that are listed individually.
MOST_LINES = 10


class PlanError(Exception):
    """A study can't be planned; the message is one sentence."""


def difference_of(text) -> Difference | None:
    """Return the difference that the setting DIFFERENCE names, or None if the text is empty; raise `PlanError` if the text is invalid.

    >>> difference_of("2 %"), difference_of("0.5points"), difference_of("")
    (Difference(size=2.0, unit='%'), Difference(size=0.5, unit='points'), None)
    """
    if not text:
        return None
    match = FORM.fullmatch(text)
    if not match or not 0 < float(match[1]) < 1e6:
        raise PlanError(
            f"DIFFERENCE is {shown(text)}; allowed: a number above 0 with its unit, one of {UNITS}, as in DIFFERENCE='2 %'."
        )
    return Difference(float(match[1]), match[2])


def metrics_of(text, difference) -> tuple:
    """Return the metric that METRIC names, or all metrics; raise `PlanError` if the name is unknown or the difference fits no metric."""
    slugs = [metric.slug for metric in METRICS]
    if text and text not in slugs:
        raise PlanError(f"METRIC is {shown(text)}; allowed: {', '.join(slugs)}.")
    chosen = tuple(metric for metric in METRICS if not text or metric.slug == text)
    if difference and not any(difference.fits(metric) for metric in chosen):
        raise PlanError(
            f"DIFFERENCE is {plain(difference.size)} {difference.unit}; allowed with METRIC={text}: "
            f"{' or '.join(dict.fromkeys([chosen[0].effect_unit] + ([chosen[0].unit] if chosen[0].effect_unit == '%' else [])))}."
        )
    return chosen


def sources_of(study, asked: Iterable[str], results=Path("results")) -> dict[Path, dict]:
    """Return the results folders to search for pilot runs, each with its resolved study; raise `PlanError` if a folder holds no results.

    If no folder is requested, the study's own results folder is used, provided that it contains runs.
    """
    own = results / study["study"]
    sources = {own: study} if (own / "runs").is_dir() and not asked else {}
    for folder in map(Path, asked):
        try:
            sources[folder] = study if folder.resolve() == own.resolve() else study_of(folder)
        except ValueError as error:
            raise PlanError(
                f"FROM: {error}; allowed: a folder such as results/smoke, or several separated by spaces (only a single path may contain spaces)."
            ) from error
    return sources


def folders_alike(study, results=Path("results")) -> list[str]:
    """Return all other results folders in which at least one scenario has the same conditions as a scenario of this study."""
    found = []
    for file in sorted(results.glob("*/workflow/study.json")):
        folder = file.parent.parent
        try:
            if folder.name != study["study"] and same_conditions(study, study_of(folder)):
                found.append(str(folder))
        except ValueError:
            continue
    return found


def pilot_words(study, pilot: Pilot) -> list[str]:
    """Return sentences about the pilot runs."""
    words = []
    if pilot.used:
        words.append("Pilot: " + ", ".join(f"{count(n, 'run')} of {shown(f)}" for f, n in pilot.used.items()) + ".")
        invalid = int((~pilot.runs["valid"]).sum())
        if invalid:
            words.append(f"{count(invalid, 'run')} of these {'is' if invalid == 1 else 'are'} invalid and left out.")
    else:
        words.append(f"{study['study']} has no pilot runs.")
        alike = folders_alike(study)
        words.append(
            f"Results with the same conditions: {', '.join(map(shown, alike))}; use FROM={shown(alike[0])}."
            if alike
            else f"A few pilot runs are enough to estimate the standard deviation: make STUDY=<file> ARGS='--config replications=6', then plan again with FROM={Path('results') / study['study']}."
        )
    for error in pilot.others.values():
        words.append(f"Skipped, together with any similar files in the folder: {error}.")
    return words


def summary(needed: list[Needed]) -> list[tuple[str, ...]]:
    """Return a table with a row for each kind of comparison and metric.

    The columns are the difference; the number of cells; the number of cells for which the required number of pairs could be estimated; and
    the median, maximum and upper bound of these estimates.
    """
    rows = [("comparison", "metric", "difference", "cells", "with a number", "median", "maximum", "upper bound (95 %)")]
    for key in dict.fromkeys((one.compared, one.metric) for one in needed):
        of_key = [one for one in needed if (one.compared, one.metric) == key]
        known = [one for one in of_key if one.needs]
        effects = sorted({round(one.effect, 9) for one in of_key if one.effect})
        size = " to ".join(map(_rounded, dict.fromkeys([effects[0], effects[-1]]))) if effects else "-"
        numbers = [one.needs for one in known]
        rows.append(
            (
                key[0], key[1].name, f"{size} {key[1].effect_unit}", f"{len(of_key):,}", f"{len(known):,}",
                f"{median_low(numbers):,}" if known else "-", f"{max(numbers):,}" if known else "-",
                (f"{max(one.high for one in known):,}" if all(one.high for one in known) else f"above {MAX_PAIRS:,}") if known else "-",
            )
        )  # fmt: skip
    return rows


def _rounded(effect) -> str:
    return plain(float(f"{effect:.3g}"))


def replications_for(study, pairs) -> int:
    """Return the number of replications that give the given number of pairs; an exam that alternates IP versions needs several per pair."""
    return pairs * len(study["ip_versions"]) // len(ip_versions_of(study, 1))


def steps_of(study, needed: list[Needed]) -> list[tuple[str, str, dict]]:
    """Return the steps to list: the number of replications, a text such as "half of the comparisons", and the study with this number.

    The numbers are in ascending order; the study's own number comes first.
    """
    own, steps = replications_words(study), {}
    if known := [one.needs for one in needed if one.needs]:
        steps[median_low(known)] = "half of the comparisons"
        steps[max(known)] = "all comparisons with a number"
        if all(one.high for one in needed if one.needs):
            steps.setdefault(
                max(one.high for one in needed if one.needs),
                "all comparisons with a number, at the upper bound of each interval",
            )
    numbers = {replications_for(study, pairs): what for pairs, what in sorted(steps.items())}
    also = f", and {numbers.pop(own)}" if own in numbers else ""
    rows = [(f"{number:,}", what, with_replications(study, number)) for number, what in numbers.items()]
    return [(f"{own:,}" if isinstance(own, int) else own, f"as set in the study{also}", study), *rows]


def with_replications(study, replications) -> dict:
    """Return a resolved study with a different number of replications in all scenarios."""
    scenarios = [scenario | {"replications": None} for scenario in study["scenarios"]]
    return study | {"replications": replications, "scenarios": scenarios}


def _most_by_scenario(study):
    """Return the maximum number of replications by scenario."""
    if studies.has_looks(study):
        return {scenario["id"]: studies.most_replications(study) for scenario in study["scenarios"]}
    return fixed_replications(study)


def cost_rows(study, needed, results=Path("results"), root=Path()) -> list[tuple[str, ...]]:
    """Return a table with a row for each number of replications from `steps_of`.

    The columns are the comparisons with enough pairs, the cost of all runs, and the cost of the missing runs.
    """
    rows = [("replications", "enough for", "shown", "runs", "core time", "disk MB", "of these missing")]
    folder, record = results / study["study"], speed_record(root)
    total = sum(1 for one in needed if one.kind != ONE_MEASUREMENT)
    for replications, what, changed in steps_of(study, needed):
        forecast = Forecast(changed, folder, record)
        runs, there, taken = forecast.cost.runs, existing_runs(changed, folder), _most_by_scenario(changed)
        missing = {scenario: n - there[scenario] for scenario, n in runs.items()}
        enough = sum(1 for one in needed if one.needs and replications_for(study, one.needs) <= taken[one.scenario])
        time, left = (
            core_time(again_s + sum(n * forecast.seconds(s) for s, n in each.items()))
            for each, again_s in zip((runs, missing), forecast.repeated_s(), strict=True)
        )
        if sum(runs.values()) > RUNS_LIMIT:
            what += f" (more than the {RUNS_LIMIT:,} runs that a study may have)"
        rows.append(
            (
                replications, what, f"{enough:,} of {total:,}", f"{sum(runs.values()):,}", time,
                f"{forecast.cost.kilobytes / 1e3:,.1f}", f"{count(sum(missing.values()), 'run')}, {left if any(missing.values()) else 'nothing'}",
            )
        )  # fmt: skip
    return rows


def reason_words(needed: list[Needed]) -> list[str]:
    """Return sentences about comparisons whose required replications can't be estimated, or are estimated from few runs."""
    words = []
    for kind, reason in REASONS.items():
        if of_kind := [one for one in needed if one.kind == kind]:
            first = of_kind[0]
            example = f"{first.scenario}, {first.cell}, {first.metric.slug}" + (f": {first.note}" if first.note else "")
            words.append(f"{len(of_kind):,} of {len(needed):,} comparisons {reason} ({shown(example, 300)}).")
    if few := sum(one.kind == FEW for one in needed):
        words.append(
            f"{few:,} comparisons have fewer than six pairs of pilot runs: their numbers are guesses, so use the upper bounds."
        )
    return words


def hungriest(needed: list[Needed]) -> list[tuple[str, ...]]:
    """Return a table of the comparisons that need the most replications."""
    known = sorted((one for one in needed if one.needs), key=lambda one: -one.needs)[:MOST_LINES]
    rows = [("comparison", "scenario", "cell", "metric", "pilot pairs", "needs", "interval (95 %)")]
    for one in known:
        ends = f"{one.low:,} to {f'{one.high:,}' if one.high else f'above {MAX_PAIRS:,}'}"
        rows.append((one.compared, one.scenario, one.cell, one.metric.slug, f"{one.pairs:,}", f"{one.needs:,}", ends))
    return rows


def table_lines(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the rows of a table as lines with aligned columns, or no lines for a table with only a header."""
    if len(rows) < 2:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def plan_lines(study, pilot: Pilot, needed: list[Needed]) -> list[str]:
    """Return the plan as text."""
    tests = ", ".join(f"{n:,} for {compared}" for compared, n in family_sizes(study).items())
    power, level = (f"{100 * SETTINGS[name]:g} %" for name in ("power", "significance"))
    alternates = replications_for(study, 1) > 1
    head = [
        *pilot_words(study, pilot),
        f"{'Pairs of runs' if alternates else 'Replications'} that show a true difference with a power of {power}, at a significance level of {level} corrected for all tests ({tests}):",
    ]
    if alternates:
        head.append(
            f"The study alternates IP versions, so a pair needs {replications_for(study, 1)} replications; the last table takes this into account."
        )
    if len(study["ccas"]) > 2 and any(one.compared == CCA_PAIRS for one in needed):
        head.append(
            "With three or more CCAs the joint test of a scenario has to find a difference first, so pairs of CCAs may need more replications."
        )
    parts = [head, table_lines(summary(needed)), reason_words(needed), table_lines(hungriest(needed))]
    parts.append(table_lines(cost_rows(study, needed)))
    return [line for part in parts if part for line in (*part, "")][:-1]


def write_rows(path: Path, needed: list[Needed]) -> None:
    """Write all comparisons as a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(
            ["compared", "scenario", "cell", "metric", "pilot_pairs", "difference", "difference_unit", "pairs_needed", "pairs_needed_low", "pairs_needed_high", "kind", "note"]
        )  # fmt: skip
        for one in needed:
            table.writerow(
                [one.compared, one.scenario, one.cell, one.metric.column, one.pairs, one.effect, one.metric.effect_unit, one.needs, one.low, one.high, one.kind, one.note]
            )  # fmt: skip


def main(arguments=None) -> int:
    """Print the plan for a study file, and write all comparisons to a file; return the exit status."""
    parser = argparse.ArgumentParser(prog="plan", description=__doc__.splitlines()[0])
    parser.add_argument("config", help="the study's file")
    parser.add_argument("--difference", default="", help="true difference to be detected, such as '2 %%'")
    parser.add_argument("--metric", default="", help="metric to plan for; all if not given")
    parser.add_argument("--from", dest="sources", nargs="*", default=[], help="results folders with pilot runs")
    parser.add_argument("--platform", default="", help="platform for the study instead of the scenarios' platforms")
    options = parser.parse_args(arguments)
    platform = {"platform": options.platform} if options.platform else {}
    try:
        asked = difference_of(options.difference)
        metrics = metrics_of(options.metric, asked)
        study = studies.resolve(studies.load(options.config, platform), options.config)
        if not family_sizes(study):
            raise PlanError(
                f"{study['study']} compares neither {IP_VERSIONS} nor {CCA_PAIRS} by tests (mixes of CCAs are not compared); "
                "allowed: a study that does."
            )
        pilot = pilot_runs(study, sources_of(study, options.sources))
        needed = list(needed_replications(study, pilot.runs, asked, metrics))
    except (PlanError, studies.StudyError) as error:
        print(said(error), file=sys.stderr)
        return 1
    print("\n".join(plan_lines(study, pilot, needed)))
    path = Path("results") / f"{study['study']}-plan.csv"
    write_rows(path, needed)
    print(f"\nAll comparisons: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
