"""The exam compares a congestion control algorithm with the standard CCAs by the criteria of RFC 9743."""

import math
from collections.abc import Iterator
from difflib import get_close_matches

from study_files.study_design import StudyDesign, is_sampled
from study_files.study_replications import fixed_replications, has_looks
from topics.exam.tables import EXAM_PUBLISHED, EXAM_VALUES, SCORECARD
from topics.path_changes.topic import changing, is_watched
from topics.topic import Analysis, Place, Plot, Topic

THROUGHPUT, SHARES, CHANGES, CASES = "exam-throughput-delay", "exam-shares", "exam-changes", "exam-cases"
#: Cases are plotted over time only if the exam has at most this many scenarios.
MOST_CASES = 60
#: Measures on the axes of `THROUGHPUT`.
AXES = frozenset(("utilisation_percent", "queueing_p95_ms"))
#: Section of the RFC -> the figure that shows its cases. Cases of other sections are in `THROUGHPUT`, or else in `CASES`.
FIGURE_OF = {**dict.fromkeys(("5.2", "5.2.1"), SHARES), **dict.fromkeys(("5.1.1", "7.3", "7.8", "7.9"), CHANGES)}


def examines(design: StudyDesign) -> bool:
    """Return whether a study is an exam."""
    return design.study.get("exam", {}).get("cca") is not None


def _figures(design: StudyDesign) -> Iterator[Plot]:
    yield Plot(
        THROUGHPUT, "plot_throughput_delay", ("exam_values", "scenarios"), "Throughput against queueing delay", "means, ellipses"
    )  # fmt: skip
    if any(scenario["id"].startswith("5.2.1-") and scenario["groups"] for scenario in design.scenarios):
        params = {"pools_ip_versions": len(design.ip_versions) > 1}
        yield Plot(SHARES, "plot_exam_shares", ("flows",), "Shares of two competing flows", "mean shares", params)
    if any(map(is_watched, design.scenarios)):
        inputs, params = ("runs", "scenarios", "flows", "sockets", "queue"), {"changing": changing(design)}
        title = "Changing paths over time"
        yield Plot(CHANGES, "path_changes/plot_path_changes", inputs, title, "one run of each cell", params=params)
    if any(map(is_sampled, design.scenarios)) and len(design.scenarios) <= MOST_CASES:
        inputs, cca = ("runs", "scenarios", "sockets", "queue"), design.study["exam"]["cca"]
        yield Plot(CASES, "plot_cases", inputs, "Every case over time", "one run of each case", params={"cca": cca})


def _measured(design: StudyDesign) -> tuple[str, ...]:
    """Return the names of the tables from which the measures are computed; ``groups`` is included only if a scenario defines groups."""
    groups = ("groups",) if any(scenario["groups"] for scenario in design.scenarios) else ()
    return (*groups, "runs", "flows", "scenarios", "sockets", "queue")


def _judged(design: StudyDesign) -> dict:
    labels = {scenario["id"]: scenario["label"] for scenario in design.scenarios}
    return {"exam": design.study["exam"], "scenarios": labels}


def _problems(design: StudyDesign) -> Iterator[str]:
    """Yield the problems in the exam's scenarios (`case_forms`) and in its list of deciding rows.

    A row may name a scenario that isn't in the study, or a measure that no criterion requires in the scenario; or the scenario with the flow
    alone, which harm needs, may have fewer replications.
    """
    # Imported here because only exams need the criteria, which import models for their published statements.
    from topics.exam.case_forms import form_problems
    from topics.exam.criteria import wanted_measures

    yield from form_problems(design.scenarios)
    names = [scenario["id"] for scenario in design.scenarios]
    numbers = {} if has_looks(design.study) else fixed_replications(design.study)
    alone = {scenario["id"]: scenario.get("seeds_of") for scenario in design.scenarios}
    for scenario, measures in design.study["exam"]["primaries"].items():
        if scenario not in names:
            near = get_close_matches(scenario, names, 1)
            yield f"exam.primaries has {scenario}; allowed: scenarios of the study{f', such as {near[0]}' if near else ''}."
            continue
        wanted = sorted(wanted_measures(scenario))
        for measure in measures:
            if measure not in wanted:
                allowed = (
                    f"allowed: {', '.join(wanted)}" if wanted else "no criterion requires a measure in this scenario"
                )
                yield f"exam.primaries.{scenario} has {measure}; {allowed}."
            elif measure.startswith("harm_") and numbers.get(alone[scenario], math.inf) < numbers.get(scenario, 0):
                yield (
                    f"scenarios[{alone[scenario]}].replications is {numbers[alone[scenario]]}, and {scenario} has {numbers[scenario]}: harm needs "
                    f"the flow alone with each of the seeds; allowed: {numbers[scenario]} or more."
                )


TOPIC = Topic(
    "exam",
    "Exam",
    order=20,
    applies=examines,
    analyses=(
        Analysis(
            "measure_exam",
            _measured,
            (EXAM_VALUES,),
            params=lambda design: {"limits": design.study["exam"]["limits"], "changing": changing(design)},
        ),
        Analysis(
            "judge_exam",
            ("exam_values", "runs"),
            (SCORECARD, EXAM_PUBLISHED),
            ("confidence", "significance"),
            params=_judged,
        ),
    ),
    tables=(SCORECARD, EXAM_PUBLISHED, EXAM_VALUES),
    figures=_figures,
    place=Place.FRONT,
    pictures=(THROUGHPUT,),
    sole=True,
    problems=_problems,
    whole=True,
)
