"""Number of replications of each scenario: a fixed number, or the number needed for the required precision.

In a study that continues until it is precise enough (`replications: {until: ...}`), interim looks take place after fixed numbers of
replications. A scenario continues or ends for all of its CCAs and IP versions together, so these have the same number of replications, with
the same seeds, and can be compared. The number of replications can differ between scenarios.

Standard library only: the scripts in the analysis image need it too.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path

#: Approximate ratio of the numbers of replications at successive looks, which limits unnecessary runs to about a third of all runs.
GROWTH = 1.5


def has_looks(study) -> bool:
    """Return whether a resolved study continues until it is precise enough."""
    return isinstance(study["replications"], dict)


def most_replications(study) -> int:
    """Return the maximum number of replications of any scenario in a resolved study."""
    return study["replications"]["at_most"] if has_looks(study) else max(fixed_replications(study).values())


def fixed_replications(study) -> dict[str, int]:
    """Return the number of replications by scenario in a study without interim looks; a scenario can override the study's number."""
    return {scenario["id"]: scenario.get("replications") or study["replications"] for scenario in study["scenarios"]}


def looks(study) -> tuple[int, ...]:
    """Return the numbers of replications at a resolved study's interim looks, in ascending order.

    The numbers grow from ``at_least`` to ``at_most`` by a constant factor close to `GROWTH`. For a study without interim looks, only one
    number is returned.
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
    """Return the path of an interim look's file, relative to the study's results; a lost file is regenerated from the runs."""
    return f"logs/looks/{scenario}/{replications}.json"


def goes_on(path) -> bool:
    """Return whether a scenario needs more replications according to the file of an interim look."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["goes_on"]


def wanted_replications(study, results) -> dict[str, int]:
    """Return the number of replications that each scenario needs according to the interim looks so far.

    In a study with interim looks, this is the number at the first look that hasn't been taken yet or at which the scenario ended.

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

    In a study with interim looks, the highest replication number is rounded up to the next look, so that missing runs are noticed.
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
