"""What the measures of a case need in its scenario: flows in named groups, short flows, a call, or a path that changes."""

from collections.abc import Callable, Iterator

from experiment.flow_groups import REAL_TIME, WEB
from study_files.study_features import FEATURES
from topics.exam.criteria import wanted_measures


def _numbers(scenario):
    """Return the number of flows in each group of a resolved scenario, by the group's name."""
    return {group["name"]: group["count"] for group in scenario["groups"]}


def _has(application) -> Callable[[dict], bool]:
    return lambda scenario: any(group["application"] == application for group in scenario["groups"])


#: A measure -> whether a resolved scenario has what the measure needs, and this in words.
FORMS: dict[str, tuple[Callable[[dict], bool], str]] = {
    "other_starved_s": (
        lambda scenario: (_numbers(scenario).get("own"), _numbers(scenario).get("other")) == (1, 1),
        "one flow in a group named own, and one in a group named other",
    ),
    "slowdown_p50": (_has(WEB), "a group with application: web"),
    "call_jitter_ms": (_has(REAL_TIME), "a group with application: real-time"),
    "after_utilisation_percent": (FEATURES["changing path"], "a path that changes (link.timeline or link.trace)"),
    "crowd_percent": (lambda scenario: "crowd" in _numbers(scenario), "a group named crowd"),
    "during_percent": (lambda scenario: bool(scenario["multipath"].get("outage")), "multipath.outage"),
}


def form_problems(scenarios) -> Iterator[str]:
    """Yield a sentence for each resolved scenario that lacks what the measures of its criteria need."""
    for scenario in scenarios:
        wanted = wanted_measures(scenario["id"])
        for measure, (has, words) in FORMS.items():
            if measure in wanted and not has(scenario):
                yield f"scenarios[{scenario['id']}] is a case of the exam by its name; allowed: a scenario with {words}, or another name."
