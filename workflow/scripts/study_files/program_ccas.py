"""Resolve names in `ccas` that stand for a declared program, such as "quic-go:reno"; the program's flows replace the flows under test.

Standard library only: the scripts in the analysis image need it too.
"""

from experiment.flow_groups import LONG, OWN, PROGRAM

#: Template for the group that represents the flows of a scenario without groups; `with_program` sets the values that depend on the scenario
#: and on the program.
GROUP = {
    "name": "own", "application": LONG, "program": None, "cca": OWN, "count": 1, "direction": "forward", "pair": None, "ecn": None,
    "start_s": 0, "stop_s": None, "rate_mbps": None, "on_s": None, "off_s": None, "arrivals_per_s": None, "sizes": "fixed",
    "bytes": None, "packet_bytes": 200, "interval_ms": 20,
}  # fmt: skip


def program_of(study, cca) -> dict | None:
    """Return the program for which a name in `ccas` stands, in the form used in groups, or None if the name isn't that of a program."""
    name, _, own = cca.partition(":")
    declared = study.get("programs", {}).get(name)
    if declared is None or (own not in declared["ccas"] if own else declared["ccas"]):
        return None
    return {"name": name, "cca": own or None} | {key: value for key, value in declared.items() if key != "ccas"}


def programs_under_test(study) -> dict[str, dict]:
    """Return the programs among a resolved study's `ccas`, by name."""
    found = {cca: program_of(study, cca) for cca in study["ccas"]} if study.get("programs") else {}
    return {cca: program for cca, program in found.items() if program}


def has_grouped_runs(study) -> bool:
    """Return whether any run of a resolved study uses groups of flows, declared in its scenario or derived from a program in `ccas`."""
    return any(scenario["groups"] for scenario in study["scenarios"]) or bool(programs_under_test(study))


def programs_of_runs(study) -> dict[tuple[str, str], list[str]]:
    """Return the names of the programs in each scenario's runs with each CCA: (scenario, CCA) -> names as in `ccas`, without duplicates."""
    found = {}
    for scenario in study["scenarios"]:
        for cca in study["ccas"]:
            groups = scenario_of(study, scenario, cca)["groups"]
            if names := dict.fromkeys(label_of(group["program"]) for group in groups if group["program"]):
                found[scenario["id"], cca] = list(names)
    return found


def program_names(study, protocols=("udp", "tcp")) -> list[str]:
    """Return the names of the programs in a resolved study, both in `ccas` and in groups, in the form used in tables.

    Only programs that send over one of the ``protocols`` are included.
    """
    programs = [group["program"] for scenario in study["scenarios"] for group in scenario["groups"] if group["program"]]
    programs = [one for one in (*programs, *programs_under_test(study).values()) if one["protocol"] in protocols]
    return sorted({f"{one['name']}:{one['cca']}" if one["cca"] else one["name"] for one in programs})


def scenario_of(study, scenario, cca) -> dict:
    """Return a resolved scenario for runs of a CCA; if the CCA is a program, groups of this program replace the flows under test.

    The ``cca`` of these groups is the program's name in `ccas`, which distinguishes them from other groups of the same program.
    """
    program = program_of(study, cca)
    return scenario if program is None else with_program(scenario, program, cca)


def with_program(scenario, program, cca) -> dict:
    """Return a resolved scenario in which groups of a program, with ``cca`` as their CCA, replace the flows under test."""
    alike = GROUP | {"count": scenario["flows"], "stop_s": scenario["traffic"]["duration_s"]}
    given = scenario["groups"] or [alike]
    replaced = {"application": PROGRAM, "program": program, "cca": cca}
    groups = [group | replaced if is_under_test(group) else group for group in given]
    flows = scenario["flows"] - sum(group["count"] for group in given if is_under_test(group))
    return scenario | {"flows": flows, "groups": groups}


def is_under_test(group) -> bool:
    """Return whether a group of a resolved scenario consists of long flows with the CCA under test."""
    return group["application"] == LONG and group["cca"] == OWN


def with_named_programs(scenario, cca) -> tuple[dict, dict]:
    """Undo `with_program` in the scenario of a received specification, which need not be valid.

    Returns
    -------
    scenario : dict
        Scenario in which `OWN` is the CCA of all groups of the program under test.
    named : dict
        The original ``cca`` of these groups, by index.
    """
    groups = scenario.get("groups") if isinstance(scenario, dict) else None
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return scenario, {}
    named = {
        place: cca for place, group in enumerate(groups) if group.get("cca") == cca == label_of(group.get("program"))
    }
    plain = [group | {"cca": OWN} if place in named else group for place, group in enumerate(groups)]
    return (scenario | {"groups": plain} if named else scenario), named


def label_of(program) -> str | None:
    """Return the name by which `ccas` refers to a program given in the form used in groups; None if the program is invalid."""
    if not isinstance(program, dict) or not isinstance(program.get("name"), str):
        return None
    return f"{program['name']}:{program['cca']}" if program.get("cca") else program["name"]
