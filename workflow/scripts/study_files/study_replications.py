"""How many replications the scenarios of a study have: a fixed number, or as many as make it precise enough.

A study that goes on until it is precise enough (`replications: {until: ...}`) looks at its runs after fixed numbers of
replications. It is the scenario that goes on or ends: its CCAs and IP versions share their replications' seeds, so
that all of them are there for every comparison, while another scenario may need many more or fewer.

Standard library only: the scripts in the analysis image need it too.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path

#: How many times the replications there are, about, from one look to the next: what is run in vain is then at most half.
GROWTH = 1.5


def has_looks(study) -> bool:
    """Tell whether a resolved study goes on until it is precise enough."""
    return isinstance(study["replications"], dict)


def most_replications(study) -> int:
    """Return how many replications a scenario of a resolved study may come to."""
    return study["replications"]["at_most"] if has_looks(study) else max(fixed_replications(study).values())


def fixed_replications(study) -> dict[str, int]:
    """Return how many replications each scenario of a study without looks has: its own number, or else the study's."""
    return {scenario["id"]: scenario.get("replications") or study["replications"] for scenario in study["scenarios"]}


def looks(study) -> tuple[int, ...]:
    """Return after how many replications a resolved study's runs are looked at, ascending; of a fixed number only that.

    They grow by the same factor, the power of `GROWTH` nearest to it that leads from ``at_least`` to ``at_most``.
    """
    last = most_replications(study)
    first = study["replications"]["at_least"] if has_looks(study) else last
    if first == last:
        return (last,)
    steps = max(1, round(math.log(last / first, GROWTH)))
    return tuple(round(first * (last / first) ** (step / steps)) for step in range(steps + 1))


def replications_words(study) -> int | str:
    """Return how many replications cells have as far as the study itself says it: 4, or "10 to 100"."""
    numbers = looks(study) if has_looks(study) else sorted(set(fixed_replications(study).values()))
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def look_path(scenario, replications) -> str:
    """Return the file of a look, seen from the study's results. It is made again from the runs wherever it is missing."""
    return f"logs/looks/{scenario}/{replications}.json"


def goes_on(path) -> bool:
    """Tell whether a look's file says that its scenario needs more replications."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["goes_on"]


def wanted_replications(study, results) -> dict[str, int]:
    """Return how many replications each scenario has as far as is known: up to the first look that was not taken.

    Where looks have ended it is as many as these took, and of a fixed number that; ``results`` is the study's folder.
    """
    if not has_looks(study):
        return fixed_replications(study)
    wanted = {}
    for scenario in study["scenarios"]:
        for replications in looks(study):
            look = Path(results, look_path(scenario["id"], replications))
            if not look.exists() or not goes_on(look):
                break
        wanted[scenario["id"]] = replications
    return wanted


def replications_of(study, of_runs: Iterable[tuple]) -> dict[str, int]:
    """Return how many replications each scenario has of which there are some runs (scenario, ..., replication).

    That is the least number with a look that they don't go beyond, so runs that are missing up to there are known to be.
    """
    if not has_looks(study):
        return fixed_replications(study)
    highest = {scenario["id"]: 1 for scenario in study["scenarios"]}
    for scenario, *_, replication in of_runs:
        highest[scenario] = max(highest.get(scenario, 1), replication)
    return {
        scenario: next((look for look in looks(study) if look >= last), most_replications(study))
        for scenario, last in highest.items()
    }
