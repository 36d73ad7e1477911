"""List the runs of a resolved study (`study.resolve`), and derive their seeds and specifications.

Standard library only: the scripts in the analysis image need it too.
"""

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping

from experiment.conditions import POLICERS
from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from experiment.specification import SPECIFICATION_VERSION
from study_files.cca_definitions import definitions_of_runs
from study_files.program_ccas import scenario_of
from study_files.study_replications import fixed_replications, has_looks, looks, most_replications
from study_files.study_variation import corners, drawn

#: Keys of a scenario that aren't part of the specification of a run.
NOT_OF_RUNS = ("label", "replications", "seeds_of", "variation", "kernel")
#: Key of a group -> value without effect. A specification contains the key only if it has a different value.
OPTIONS_OF_GROUPS = {"direction": "forward", "program": None}
OPTIONS_OF_HOSTS = {"qdisc": "none"}
OPTIONS_OF_TRANSPORT = {"ecn": "off"} | {one.name: one.default for one in HOST_OPTIONS}
OPTIONS_OF_LINK = {
    "timeline": [],
    **dict.fromkeys(("trace", "reverse_trace", *POLICERS.values())),
    **{one.name: one.none for one in LINK_OPTIONS},
}


def ccas_written_out(study) -> list[str]:
    """Return the CCAs and mixes that a study runs; if the study requests ordered pairs, these replace the CCAs."""
    if study["mixes"] != "ordered-pairs":
        return study["ccas"]
    return ["+".join(pair) for pair in itertools.product(study["ccas"], repeat=2)]


def cells(study) -> Iterator[tuple[str, str, str]]:
    """Iterate over the cells of a study as tuples (scenario id, CCA, IP version)."""
    scenario_ids = [scenario["id"] for scenario in study["scenarios"]]
    return itertools.product(scenario_ids, study["ccas"], study["ip_versions"])


def runs(study, replications: Mapping[str, int] | None = None) -> Iterator[tuple[str, str, str, int]]:
    """Iterate over the runs of a study as tuples (scenario id, CCA, IP version, replication).

    ``replications`` is the number of replications by scenario id, by default the maximum that the study allows.
    """
    replications = replications or ({} if has_looks(study) else fixed_replications(study))
    for scenario_id, cca, ip_version in cells(study):
        for replication in range(1, replications.get(scenario_id, most_replications(study)) + 1):
            if ip_version in ip_versions_of(study, replication):
                yield scenario_id, cca, ip_version, replication


def count_runs(study, replications: Mapping[str, int]) -> int:
    """Return the number of runs of a study, including control runs, without iterating over them."""
    controls = last_replication(study) - most_replications(study)
    versions = 1 if _alternates(study) else len(study["ip_versions"])
    return len(ccas_written_out(study)) * versions * sum(number + controls for number in replications.values())


def runs_at_looks(study) -> tuple[int, int]:
    """Return the number of runs at a study's first look and at its last look, excluding control runs."""
    of_looks = (dict.fromkeys((scenario["id"] for scenario in study["scenarios"]), look) for look in looks(study))
    of_looks = list(of_looks) if has_looks(study) else [fixed_replications(study)]
    first, last = (count_runs({**study, "controls": "none"}, numbers) for numbers in (of_looks[0], of_looks[-1]))
    return first, last


def ip_versions_of(study, replication) -> list[str]:
    """Return the IP versions of a replication: all IP versions of the study, or only one of them in an exam that alternates them."""
    versions = study["ip_versions"]
    return [versions[(replication - 1) % len(versions)]] if _alternates(study) else versions


def _alternates(study):
    return study.get("exam", {}).get("ip_versions") == "alternate"


def last_replication(study, scenario_id=None) -> int:
    """Return the number of the last run in each cell, counting from 1; control runs are numbered after the replications.

    Without ``scenario_id``, the maximum over all scenarios is returned.
    """
    most = most_replications(study)
    if scenario_id is not None and not has_looks(study):
        most = fixed_replications(study)[scenario_id]
    return most * (2 if study["controls"] == "aa" else 1)


def control_runs(study) -> Iterator[tuple[str, str, str, int]]:
    """Iterate over the control runs of a study as tuples like those of `runs`."""
    for cell in cells(study):
        for replication in range(most_replications(study) + 1, last_replication(study) + 1):
            yield (*cell, replication)


def all_runs(study, replications: Mapping[str, int] | None = None) -> Iterator[tuple[str, str, str, int]]:
    """Iterate over the runs of a study as in `runs`, and then over the control runs."""
    return itertools.chain(runs(study, replications), control_runs(study))


def run_seed(study_seed, scenario_id, replication) -> int:
    """Derive the seed of a run.

    All CCAs and IP versions in a scenario share the seed of a replication, because common random numbers make comparisons more precise
    (Law, Simulation Modeling and Analysis, section 11.2). The seed doesn't depend on the study's name, its other factors or the scenario's
    conditions, so adding a CCA, an IP version or a scenario doesn't change other runs.

    The seed is computed from the first 8 bytes (big-endian) of the SHA-256 of `sawtooth-run-seed/1 <study seed> <scenario id>
    <replication>`, modulo 2**32 - 1, plus 1, so it lies between 1 and 2**32 - 1. Ids don't contain spaces, so different combinations give
    different texts.
    """
    text = f"sawtooth-run-seed/1 {study_seed} {scenario_id} {replication}"
    number = int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big")
    return number % (2**32 - 1) + 1


def seed_of_run(study, scenario_id, replication) -> int:
    """Return the seed of a run in a study (`run_seed`); a scenario can share the seeds of another scenario."""
    return run_seed(study["seed"], _scenario(study, scenario_id).get("seeds_of") or scenario_id, replication)


def run_specification(study, scenario_id, cca, ip_version, replication) -> dict:
    """Return the specification of a run for the testbed.

    Parts of the specification are shared with the study and must not be modified.

    Parameters
    ----------
    study : dict
        Resolved study.
    scenario_id, cca, ip_version : str
        Cell of the run.
    replication : int or str
        Number of the replication, counted from 1; text from a path is allowed.

    Raises
    ------
    KeyError
        If there is no such run in the study.
    """
    replication = int(replication)
    if (
        scenario_id not in {scenario["id"] for scenario in study["scenarios"]}
        or cca not in study["ccas"]
        or not 1 <= replication <= last_replication(study, scenario_id)
        or ip_version not in ip_versions_of(study, replication)
    ):
        raise KeyError(f"study {study['study']} has no run {scenario_id}/{cca}/{ip_version}/{replication}")
    return {
        **run_conditions(study, scenario_id, replication, cca),
        "cca": cca,
        "ip_version": ip_version,
        "replication": replication,
        "seed": seed_of_run(study, scenario_id, replication),
    }


def run_conditions(study, scenario_id, replication=None, cca=None) -> dict:
    """Return the part of a specification that describes a scenario: ``schema_version`` and ``scenario``.

    This part doesn't contain the study's name, so a run gives the same bytes in every study that contains it. Parts of the result are shared
    with the study and must not be modified.

    Parameters
    ----------
    study : dict
        Resolved study.
    scenario_id : str
        Id of the scenario.
    replication : int, optional
        Replication for which random quantities are drawn. By default, nothing is drawn, and the values in the scenario are returned.
    cca : str, optional
        CCA or mix. If its runs need CCA definitions, the result includes these as ``cca_definitions``.

    Raises
    ------
    KeyError
        If there is no such scenario in the study.
    """
    scenario = _scenario(study, scenario_id)
    if replication is not None:
        scenario = drawn(scenario, seed_of_run(study, scenario_id, replication))
    defined = definitions_of_runs(study, scenario, cca) if cca else {}
    scenario = scenario_of(study, scenario, cca) if cca else scenario
    return _conditions(study, scenario) | ({"cca_definitions": defined} if defined else {})


def definitions_in(study, scenario_id, cca) -> dict[str, dict]:
    """Return the definitions that runs of a CCA or mix in a scenario need, by name (`definitions_of_runs`)."""
    return definitions_of_runs(study, _scenario(study, scenario_id), cca)


def largest_conditions(study, scenario_id, cca=None) -> dict:
    """Return `run_conditions` with all drawn quantities at their upper bounds, to estimate the resources that jobs need.

    ``cca`` is required for runs of a program.
    """
    largest = list(corners(_scenario(study, scenario_id)))[-1]
    return _conditions(study, scenario_of(study, largest, cca) if cca else largest)


def _scenario(study, scenario_id):
    # A study has tens of scenarios, so a linear search costs microseconds.
    scenario = next((item for item in study["scenarios"] if item["id"] == scenario_id), None)
    if scenario is None:
        raise KeyError(f"study {study['study']} has no scenario {scenario_id}")
    return scenario


def _conditions(study, scenario):
    # Unused options are left out, so that documents of runs without them are the same as before the options existed.
    transport = _used(scenario["transport"], OPTIONS_OF_TRANSPORT)
    # The same applies to runs that don't use a chain.
    unused = {"groups": not scenario["groups"], "chain": scenario["topology"] != "chain"}
    left_out = (*NOT_OF_RUNS, *(key for key in unused if unused[key]))
    groups = {} if unused["groups"] else {"groups": [_used(group, OPTIONS_OF_GROUPS) for group in scenario["groups"]]}
    link = _used(scenario["link"], OPTIONS_OF_LINK)
    return {
        "schema_version": SPECIFICATION_VERSION,
        "scenario": {key: value for key, value in scenario.items() if key not in left_out}
        | groups
        | {"link": link, "hosts": _used(scenario["hosts"], OPTIONS_OF_HOSTS), "transport": transport},
    }


def _used(section, unused):
    return {key: value for key, value in section.items() if value != unused.get(key, ...)}


def job_runs(
    study, most_runs, most_s=math.inf, *, seconds_of=None, needs_of=None, scenarios=None
) -> list[list[tuple[str, str, str, int]]]:
    """Divide the runs of a study into jobs, and return, for each job, a list of tuples like those of `runs`.

    All runs in a job need the same inputs. They are ordered by scenario and replication. In a study with interim looks, the runs in a job
    belong to one scenario and lie between the same two looks.

    Parameters
    ----------
    study : dict
        Resolved study.
    most_runs : int
        Maximum number of runs in a job.
    most_s : float
        Maximum expected duration of a job in s.
    seconds_of : callable, optional
        Called with a scenario id and a CCA; returns the expected duration of a run in s.
    needs_of : callable, optional
        Called with a scenario id and a CCA; returns a hashable description of the inputs that a run needs.
    scenarios : container of str, optional
        Ids of the scenarios to include; by default, all.
    """
    places = {scenario["id"]: place for place, scenario in enumerate(study["scenarios"])}
    alike = {}
    for run in sorted(all_runs(study), key=lambda run: (places[run[0]], run[-1])):
        scenario_id, cca, _, replication = run
        if scenarios is not None and scenario_id not in scenarios:
            continue
        needs = needs_of(scenario_id, cca) if needs_of else None
        looks_before = (scenario_id, sum(look < replication for look in looks(study))) if has_looks(study) else None
        alike.setdefault((needs, looks_before), []).append(run)
    jobs = []
    for of_kind in alike.values():
        left_s, job = -math.inf, []
        for run in of_kind:
            run_s = seconds_of(*run[:2]) if seconds_of else 0
            if run_s > left_s or len(job) == most_runs:
                left_s, job = most_s, []
                jobs.append(job)
            left_s -= run_s
            job.append(run)
    return jobs
