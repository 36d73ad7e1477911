"""Complete the definitions of a study's own CCAs, and describe problems in sentences that start with the affected key.

Standard library only: the scripts in the analysis image need it too.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from experiment.definitions import Definition
from experiment.flow_groups import OWN
from study_files.program_ccas import program_of
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence
from wording.terminal_text import shown

#: Keys of a definition, in the order in which a resolved study lists them.
KEYS = ("base", "source", "sha256", "cca", "parameters", "kernel")
#: Maximum size of a C file in bytes. The kernel's largest CCA file, tcp_bbr.c, is 45,000 bytes long.
LARGEST_BYTES = 2**20
#: Pattern for the name of a C file, from which the name of a module is derived.
FILE = r"[a-z][a-z0-9_]*\.c"
#: Maximum length of a CCA's name: TCP_CA_NAME_MAX in include/net/tcp.h, minus the terminating null byte.
LONGEST_NAME = 15
#: Pattern for a CCA's name in the kernel.
NAME = "[a-z0-9_][a-z0-9_.-]*"


def completed(definitions) -> tuple[dict[str, dict], list[str]]:
    """Fill in missing keys of definitions from their C files.

    Parameters
    ----------
    definitions : dict
        Definitions by name, already validated by the schema.

    Returns
    -------
    complete : dict
        Completed definitions by name.
    problems : list of str
        Sentences that start with the affected key.
    """
    complete, problems = {}, []
    for name, one in definitions.items():
        try:
            one = {"parameters": {}, **one, **(_of_file(one) if "source" in one else {})}
        except (OSError, ValueError) as error:
            what = (absence(one["source"]) or error.strerror) if isinstance(error, OSError) else error
            problems.append(f"cca_definitions.{name}.source is {one['source']}; {what}.")
        complete[name] = {key: one[key] for key in KEYS if key in one}
    return complete, problems


def _of_file(one):
    """Return the keys that are derived from a definition's C file; raise ValueError if the file can't be used.

    If the definition already contains these keys, the file isn't read.
    """
    if not re.fullmatch(FILE, Path(one["source"]).name):
        raise ValueError(
            "allowed: a file name of lower-case letters, digits and underscores that ends in .c, such as tcp_mine.c"
        )
    if "sha256" in one and "cca" in one:
        return {}
    content = given_bytes(one["source"], LARGEST_BYTES)
    names = names_in(content.decode(errors="replace"))
    if "cca" not in one and (wrong := impossible_name(names)):
        raise ValueError(f"it {wrong}")
    if "cca" not in one and len(names) != 1:
        raise ValueError(
            f'it names {len(names)} CCAs (.name = "..." of struct tcp_congestion_ops) where one is needed: choose one in the key cca'
        )
    are_all = len(names) == len(list(_operations(content.decode(errors="replace"))))
    if "cca" in one and names and are_all and one["cca"] not in names:
        raise ValueError(f"it has no CCA named {one['cca']}; allowed: {', '.join(shown(name, 60) for name in names)}")
    return {"sha256": one.get("sha256", hashlib.sha256(content).hexdigest()), "cca": one.get("cca") or names[0]}


def names_in(text) -> list[str]:
    """Return the CCAs' names in a C file (``.name = "..."`` of a struct tcp_congestion_ops), sorted.

    Invalid names are included only if there are no others. Names that a macro or several strings make up are not found.
    """
    names = sorted({name for block in _operations(text) for name in LITERAL.findall(block)})
    return [name for name in names if re.fullmatch(NAME, name)] or names


#: A string or a comment of C, the beginning of the initialiser of a CCA's operations, and the name in it.
QUOTED_OR_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|//[^\n]*', re.S)
OPERATIONS = re.compile(r"\bstruct\s+tcp_congestion_ops\b[^;{}=]*=\s*\{")
LITERAL = re.compile(r'\.name\s*=\s*"([^"\n]*)"\s*(?=[,}])')


def _operations(text):
    """Yield the initialisers of a C file's structs tcp_congestion_ops, without comments."""
    text = QUOTED_OR_COMMENT.sub(lambda match: match[1] or " ", text)
    for begin in OPERATIONS.finditer(text):
        depth, at = 1, begin.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield text[begin.end() : at]


def impossible_name(names) -> str | None:
    """Return a phrase that rejects the name of the CCA in a C file, or None if the name is allowed in a study."""
    if len(names) == 1 and not (re.fullmatch(NAME, names[0]) and len(names[0]) <= LONGEST_NAME):
        return (
            f'calls its CCA {shown(names[0], 60)} in .name = "..."; allowed: 1 to {LONGEST_NAME} lower-case letters, digits, dots, '
            "hyphens and underscores"
        )
    return None


def definitions_of_runs(study, scenario, cca) -> dict[str, dict]:
    """Return the definitions that runs of a CCA or mix in a resolved scenario need, by name.

    CCAs built into the kernel need a definition only in a scenario that sets its own kernel. The definition of a CCA after which a program
    over TCP is named is included, because the program's sockets use this CCA by default.
    """
    names = dict.fromkeys(with_named(scenario, cca).split("+"))
    programs = [program for name in names if (program := program_of(study, name))]
    programs += [group["program"] for group in scenario["groups"] if group["program"]]
    names = [name for name in names if not is_program(study, name)]
    names += [one["cca"] for one in programs if one["protocol"] == "tcp" and one["cca"] in study["cca_definitions"]]
    defined = {name: study["cca_definitions"][name] for name in names if name in study["cca_definitions"]}
    if kernel := scenario.get("kernel"):
        return {name: defined.get(name, {"base": name, "parameters": {}}) | {"kernel": kernel} for name in names}
    return defined


def is_program(study, cca) -> bool:
    """Return whether a name in a resolved study's `ccas` stands for a program."""
    return program_of(study, cca) is not None


def defines_ccas(study) -> bool:
    """Return whether any run of a resolved study needs a CCA definition, a program or a kernel other than the image's.

    The conditions of such runs depend on the CCA.
    """
    return bool(study["cca_definitions"] or study.get("programs")) or any(
        "kernel" in scenario for scenario in study["scenarios"]
    )


def with_named(scenario, cca) -> str:
    """Return a mix that combines a CCA (or mix) with the CCAs that a resolved scenario names."""
    return "+".join([cca, *named_ccas(scenario)])


def kernel_cca(study, cca) -> str:
    """Return the name under which the kernel knows a CCA of a resolved study; mixes aren't allowed."""
    one = study["cca_definitions"].get(cca)
    return Definition(**one).kernel_cca if one else cca


def definition_problems(study, mixes, kernels_ccas) -> Iterator[str]:
    """Yield problems with a study's CCA definitions, as sentences that start with the affected key.

    Parameters
    ----------
    study : dict
        Resolved study.
    mixes : iterable of str
        CCAs and mixes that the study runs.
    kernels_ccas : collection of str
        CCAs built into the guest kernel.
    """
    definitions = {name: Definition(**one) for name, one in study["cca_definitions"].items()}
    for name, one in definitions.items():
        where = f"cca_definitions.{name}"
        if name in kernels_ccas:
            yield f"{where} has the name of one of the kernel's CCAs; allowed: any other name."
        if one.source and one.cca in kernels_ccas:
            yield f"{where}.source is {one.source}, which registers as {one.cca}, a CCA that the kernel has; give it another name."
        if one.source and one.module in {f"tcp_{cca}" for cca in kernels_ccas}:
            yield f"{where}.source is {one.source}, and the kernel has a module {one.module}; give the file another name."
        as_they_are = not one.kernel or not (one.kernel["patches"] or "tree" in one.kernel)
        if one.base and as_they_are and one.base not in kernels_ccas:
            meant = "".join(f"did you mean {near!r}? " for near in difflib.get_close_matches(one.base, kernels_ccas, 1))
            yield f"{where}.base is {one.base}; {meant}Allowed: {', '.join(sorted(kernels_ccas))}, and the CCAs of a kernel with patches."
        if one.kernel and (others := [s for s in study["scenarios"] if not s["platform"].startswith("uml")]):
            yield _only_on_uml(where, others[0])
        if one.base == "reno" and one.parameters:
            yield f"{where}.parameters has {next(iter(one.parameters))}; reno has no parameters."
        for scenario in study["scenarios"]:
            if not scenario["platform"].startswith("uml") and one.parameters:
                yield (
                    f"{where}.parameters has {next(iter(one.parameters))}; on {scenario['platform']}, the platform of "
                    f"scenarios[{scenario['id']}], nothing sets a kernel's parameters; allowed: uml."
                )
                break
    for scenario in study["scenarios"]:
        where = f"scenarios[{scenario['id']}].kernel"
        if "kernel" in scenario and not scenario["platform"].startswith("uml"):
            yield _only_on_uml(where, scenario)
        names = dict.fromkeys(
            name
            for mix in mixes
            for name in (*_of_sockets(study, mix), *named_ccas(scenario), *_named_by_programs(scenario))
        )
        theirs = [name for name in names if name in definitions and definitions[name].kernel]
        if others := [
            name for name in theirs if "kernel" in scenario and definitions[name].kernel != scenario["kernel"]
        ]:
            yield f"{where} differs from the kernel of cca_definitions.{others[0]}, and a run has only one kernel; allowed: one of the two."
    for mix in mixes:
        problems = list(_at_odds(f"ccas has the mix {mix}", _of_sockets(study, mix), definitions))
        for scenario in study["scenarios"]:
            named = dict.fromkeys([*named_ccas(scenario), *_named_by_programs(scenario)])
            if others := [cca for cca in named if not problems]:
                what = f"scenarios[{scenario['id']}] has flows of {' and '.join(others)} in addition to those of {mix}"
                problems = list(_at_odds(what, [*_of_sockets(study, mix), *others], definitions))
        yield from problems


def _only_on_uml(where, scenario):
    return (
        f"{where} has the study's own kernel; on {scenario['platform']}, the platform of scenarios[{scenario['id']}], "
        "runs use the machine's kernel or none; allowed: uml."
    )


def named_ccas(scenario) -> list[str]:
    """Return the CCAs that a resolved scenario names for some of its flows; these CCAs are the same in all runs of the scenario."""
    cross = scenario.get("chain", {}).get("cross_cca")
    groups = (group["cca"] for group in scenario["groups"] if group["cca"] != OWN)
    return list(dict.fromkeys([*([cross] if cross else []), *groups]))


def _of_sockets(study, mix):
    """Return the CCAs that sockets in the kernel use in runs of a CCA or mix; for a program over TCP, the CCA in its name."""
    programs = ((name, program_of(study, name)) for name in mix.split("+"))
    return [one for name, program in programs for one in ([name] if program is None else _in_name(program))]


def _named_by_programs(scenario):
    """Return the CCAs in the names of the programs over TCP that a resolved scenario's groups run."""
    return [cca for group in scenario["groups"] if group["program"] for cca in _in_name(group["program"])]


def _in_name(program):
    return [program["cca"]] if program["protocol"] == "tcp" and program["cca"] else []


def _at_odds(what, ccas, definitions):
    """Yield a sentence about the first conflict among the CCAs of a run.

    CCAs conflict if they need different kernels, different parameters of the same module, two files with the same name, or two files that
    register the same name.
    """
    kernels = {name: definitions[name].kernel for name in ccas if name in definitions}
    # CCAs without a definition run on any kernel.
    for name, kernel in kernels.items():
        first = next(iter(kernels))
        if kernel != kernels[first]:
            yield f"{what}, but {first} and {name} need different kernels, and a run has only one; allowed: definitions with the same kernel."
            return
    needed, registered = {}, {}
    for name in dict.fromkeys(ccas):
        one = definitions.get(name) or Definition({}, base=name)
        other_name, module = registered.setdefault(one.kernel_cca, (name, one.module))
        if module != one.module:
            yield (
                f"{what}, but {other_name} and {name} both register as {one.kernel_cca}, and a kernel can't have two CCAs with the same name; allowed: "
                "files with different names in .name."
            )
            return
        other_name, other = needed.setdefault(one.module, (name, one))
        if other.parameters != one.parameters:
            yield (
                f"{what}, but {other_name} and {name} need different parameters of {one.module}, which apply to all sockets of a kernel; "
                f"allowed: one of the two CCAs, or, as source of {other_name if other.parameters else name}, a copy of "
                f"{one.source or f'net/ipv4/{one.module}.c'} with another file name and another .name."
            )
            return
        if other.sha256 != one.sha256:
            yield f"{what}, but {other_name} and {name} are two files with the same name; allowed: files with different names."
            return
