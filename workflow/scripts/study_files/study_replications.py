"""Number of replications of each scenario: a fixed number, or the number needed for the required precision.

A study that continues until it is precise enough (`replications: {until: ...}`) takes interim looks after fixed numbers of replications.
Each scenario continues or ends as a whole. All of its CCAs and IP versions have the same number of replications with the same seeds, so
that all of them can be compared. Scenarios can differ in their number of replications.

Standard library only: the scripts in the analysis image need it too.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path

#: Approximate factor between the numbers of replications at successive looks. It limits unnecessary runs to about a third of all runs.
GROWTH = 1.5


def has_looks(study) -> bool:
    """Return whether a resolved study continues until it is precise enough."""
    return isinstance(study["replications"], dict)


def most_replications(study) -> int:
    """Return the largest number of replications that a scenario of a resolved study may have."""
    return study["replications"]["at_most"] if has_looks(study) else max(fixed_replications(study).values())


def fixed_replications(study) -> dict[str, int]:
    """Return the number of replications by scenario in a study without interim looks. A scenario may override the study's number."""
    return {scenario["id"]: scenario.get("replications") or study["replications"] for scenario in study["scenarios"]}


def looks(study) -> tuple[int, ...]:
    """Return the numbers of replications at a resolved study's interim looks, in ascending order.

    The numbers grow from ``at_least`` to ``at_most`` by a constant factor close to `GROWTH`. A study without interim looks has only one
    number.
    """
    last = most_replications(study)
    first = study["replications"]["at_least"] if has_looks(study) else last
    if first == last:
        return (last,)
    steps = max(1, round(math.log(last / first, GROWTH)))
    return tuple(round(first * (last / first) ** (step / steps)) for step in range(steps + 1))


def replications_words(study) -> int | str:
    """Return the number or the range of replications per cell, such as 4 or "10 to 100"."""
    numbers = looks(study) if has_looks(study) else sorted(set(fixed_replications(study).values()))
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def look_path(scenario, replications) -> str:
    """Return the path of an interim look's file, relative to the study's results. A missing file is made again from the runs."""
    return f"logs/looks/{scenario}/{replications}.json"


def goes_on(path) -> bool:
    """Return whether a scenario needs more replications according to the file of an interim look."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["goes_on"]


def wanted_replications(study, results) -> dict[str, int]:
    """Return the number of replications that each scenario needs as far as is known now.

    In a study with interim looks, this is the number at the first look that has not been taken or that ended the scenario.

    Parameters
    ----------
    study : dict
        Resolved study.
    results : str or pathlib.Path
        Folder with the study's results.
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
    """Return the number of replications of each scenario, given a list of runs (scenario, ..., replication).

    In a study with interim looks, the highest replication is rounded up to the next look, so that missing runs are noticed.
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
