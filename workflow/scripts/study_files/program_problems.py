"""Explain why programs in a study's `ccas` can't run in its scenarios and mixes, in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.flow_groups import OWN
from experiment.own_kernels import kernel_words
from study_files.program_ccas import is_under_test, program_of, programs_under_test, with_program
from study_files.study_groups import KEYS, group_problems


def program_cca_problems(study, scenario) -> Iterator[str]:
    """Yield reasons why programs in a resolved study's `ccas` can't run in a scenario, as sentences that start with the affected key."""
    for cca, program in programs_under_test(study).items():
        problems = [*_kernel_of_its_own(scenario), *_others_of_its_own(scenario)] or list(
            group_problems(with_program(scenario, program, OWN), [cca])
        )
        yield from (f"{problem.removesuffix('.')} (ccas has the program {cca})." for problem in problems[:1])


def _kernel_of_its_own(scenario):
    """Yield a problem if a scenario uses a custom kernel, because programs can't run on custom kernels."""
    if scenario.get("kernel"):
        yield f"kernel is {kernel_words(scenario['kernel'])}; allowed: null"


def _others_of_its_own(scenario):
    """Yield a problem for each group that uses the CCA under test but can't be replaced by a program."""
    for group in scenario["groups"]:
        if group["cca"] == OWN and "cca" in KEYS[group["application"]] and not is_under_test(group):
            yield f"flows[{group['name']}].cca is {OWN}; allowed with application {group['application']}: a CCA of the kernel"


def mix_problems(study) -> Iterator[str]:
    """Yield a problem for each mix that includes a program; ``ccas`` of the study must already be expanded."""
    for mix in study["ccas"]:
        if parts := [part for part in mix.split("+") if program_of(study, part)] if "+" in mix else ():
            yield f"ccas has the mix {mix}; allowed: mixes of the kernel's CCAs; to run {parts[0]} with other CCAs, use groups of flows."
    if study["mixes"] == "ordered-pairs" and (programs := programs_under_test(study)):
        yield f"mixes is ordered-pairs, and ccas has the program {next(iter(programs))}; allowed: CCAs of the kernel."
