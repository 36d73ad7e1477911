"""CCAs of a study that are a declared program's: `ccas: [cubic, "quic-go:cubic"]` puts that program in the place of the flows under test.

Standard library only: the scripts in the analysis image need it too.
"""

from collections.abc import Iterator

from experiment.flow_groups import LONG, OWN, PROGRAM
from study_files.study_groups import KEYS, group_problems, long_flows_of

#: What stands for flows that are all alike where they are a program's; the rest of the group is the scenario's.
GROUP = {
    "name": "own", "application": LONG, "program": None, "cca": OWN, "count": 1, "direction": "forward", "pair": None, "ecn": None,
    "start_s": 0, "stop_s": None, "rate_mbps": None, "on_s": None, "off_s": None, "arrivals_per_s": None, "sizes": "fixed",
    "bytes": None, "packet_bytes": 200, "interval_ms": 20,
}  # fmt: skip


def program_of(study, cca) -> dict | None:
    """Return the program that a CCA of a resolved study is, as a group has it; None of a kernel's CCA, a definition or a mix."""
    name, _, own = cca.partition(":")
    declared = study.get("programs", {}).get(name)
    if declared is None or (own not in declared["ccas"] if own else declared["ccas"]):
        return None
    return {"name": name, "cca": own or None} | {key: value for key, value in declared.items() if key != "ccas"}


def programs_under_test(study) -> dict[str, dict]:
    """Return the programs among a resolved study's CCAs, by the names that they have there."""
    found = {cca: program_of(study, cca) for cca in study["ccas"]} if study.get("programs") else {}
    return {cca: program for cca, program in found.items() if program}


def scenario_of(study, scenario, cca) -> dict:
    """Return a resolved scenario as runs of a CCA have it: of a program, with groups of it in the place of the flows under test.

    Their ``cca`` is the program's name, by which they differ from other groups of the same program.
    """
    program = program_of(study, cca)
    return scenario if program is None else _with_program(scenario, program, cca)


def _with_program(scenario, program, cca):
    alike = GROUP | {"count": scenario["flows"], "stop_s": scenario["traffic"]["duration_s"]}
    groups = [
        group | {"application": PROGRAM, "program": program, "cca": cca} if _is_under_test(group) else group
        for group in scenario["groups"] or [alike]
    ]
    return scenario | {"flows": long_flows_of(groups), "groups": groups}


def _is_under_test(group):
    return group["application"] == LONG and group["cca"] == OWN


def with_named_programs(scenario, cca) -> tuple[dict, dict]:
    """Return the scenario of a received specification with the program that is its CCA as any other group's, and group -> that CCA's name.

    Nothing of it has been checked yet; a scenario without such groups is returned as it is.
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
    """Return the name that `ccas` has for a program as a group has it, checked or not."""
    if not isinstance(program, dict) or not isinstance(program.get("name"), str):
        return None
    return f"{program['name']}:{program['cca']}" if program.get("cca") else program["name"]


def program_cca_problems(study, scenario) -> Iterator[str]:
    """Yield what keeps the programs among a resolved study's CCAs from a scenario: sentences that start with the key."""
    for cca, program in programs_under_test(study).items():
        problems = list(_others_of_its_own(scenario)) or list(
            group_problems(_with_program(scenario, program, OWN), [cca])
        )
        yield from (f"{problem.removesuffix('.')} (ccas has the program {cca})." for problem in problems[:1])


def _others_of_its_own(scenario):
    """Yield flows with the CCA under test that can't be a program's."""
    for group in scenario["groups"]:
        if group["cca"] == OWN and "cca" in KEYS[group["application"]] and not _is_under_test(group):
            yield f"flows[{group['name']}].cca is {OWN}; allowed with application {group['application']} is a CCA of the kernel"


def mix_problems(study) -> Iterator[str]:
    """Yield mixes of a study's CCAs, as written out, that have a program."""
    for mix in study["ccas"]:
        if parts := [part for part in mix.split("+") if program_of(study, part)] if "+" in mix else ():
            yield f"ccas has the mix {mix}; allowed are mixes of the kernel's CCAs: for {parts[0]} beside others use groups of flows."
    if study["mixes"] == "ordered-pairs" and (programs := programs_under_test(study)):
        yield f"mixes is ordered-pairs, and ccas has the program {next(iter(programs))}; allowed are CCAs of the kernel."
