"""Complete the declarations of a study's programs, insert them into groups of flows, and describe problems.

Standard library only: the scripts in the analysis image need it too.
"""

import os
import re
import shlex
from collections.abc import Iterator

from experiment.flow_groups import OWN, PROGRAM
from experiment.programs import PLACEHOLDER, PLACEHOLDERS, Program
from study_files.executable_files import why_not_startable
from study_files.stacks import how_to_build
from study_files.study_schema import dereferenced, keys_of, study_schema
from testbed.machine.program_files import digest_of, files_of
from wording.missing_files import absence

#: Keys that are part of a declaration only in a resolved group.
OF_GROUPS = ("name", "cca")
#: Words that a shell would interpret, and that a program would get as arguments.
OF_SHELLS = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>&1", "&>"}
#: First word of a command with which a shell would set an environment variable.
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
#: What may be a misspelt placeholder.
LIKE_A_PLACEHOLDER = re.compile(r"(?<![%$])\{([A-Za-z_][A-Za-z0-9_ -]*)\}")
#: Maximum number of file names in a message.
MOST_NAMED = 3
#: Placeholders for the amount of traffic, which a group states in exactly one of these two units.
AMOUNTS = ("seconds", "bytes")


def with_programs(study) -> list[str]:
    """Insert the declarations of programs into the groups of a study's resolved scenarios, in place.

    Only the programs that `ccas` names stay in the study's key ``programs``. Problems are returned as sentences that start with the
    affected key.
    """
    written = study.pop("programs")
    declared, problems = {}, []
    for name, one in written.items():
        complete, wrong = _completed(one)
        declared[name] = complete
        wrong += _other_problems(one, complete, study["cca_definitions"])
        if name == OWN:
            problems.append(f"programs.{name}: {name} stands for the CCA under test; give the program another name.")
        problems += [f"programs.{name}.{problem}" for problem in wrong]
    others = {*kernel_ccas(), *study["cca_definitions"]}
    parts = {part for cca in study["ccas"] for part in cca.split("+")} - others
    under_test = {part.partition(":")[0] for part in parts} & {*written}
    if under_test:
        study["programs"] = {
            name: declared[name] | {"ccas": one.get("ccas", [])} for name, one in written.items() if name in under_test
        }
    used = set(under_test)
    for scenario in study["scenarios"]:
        for group in scenario["groups"]:
            program = group["program"]
            where = f"scenarios[{scenario['id']}].flows[{group['name']}].program"
            if isinstance(program, dict):
                complete, wrong = _completed(program)
                group["program"] = {"name": program.get("name"), "cca": program.get("cca"), **complete}
                wrong += [] if group["program"]["name"] else ["name is missing; allowed: a name."]
                problems += [f"{where}.{problem}" for problem in wrong]
            elif program is not None:
                name, _, cca = program.partition(":")
                where += f" is {program}"
                used.add(name)
                if problem := _unknown(declared, written, name, cca or None):
                    problems.append(f"{where}; {problem}.")
                else:
                    # The list of a program's possible CCAs isn't part of a run.
                    group["program"] = {"name": name, "cca": cca or None, **declared[name]}
    for name in (name for name in written if name not in used):
        problems.append(f"programs.{name} is not used by any group of flows or in ccas; name it in one of the two.")
        if name in others and not written[name].get("ccas"):
            problems[-1] = (
                f"programs.{name} is not used by any group of flows, and {name} in ccas is a CCA of the kernel or of cca_definitions; "
                "give the program another name."
            )
    return problems


def declaration_problems(one) -> list[str]:
    """Return the problems with a program's declaration (`programs`), as sentences that start with the affected key."""
    complete, wrong = _completed(one)
    return [*wrong, *_other_problems(one, complete)]


def _other_problems(one, complete, defined=()):
    """Return further problems with a program's declaration; ``defined`` are the names in the study's ``cca_definitions``."""
    return [*only_of_groups(one), *_ccas_of_commands(complete, one.get("ccas") or [], {*kernel_ccas(), *defined})]


def kernel_ccas() -> list[str]:
    """Return the names of the guest kernel's CCAs."""
    return keys_of(study_schema())["ccas"]["items"]["joined"]


def only_of_groups(one) -> Iterator[str]:
    """Yield a problem for each key of a program's declaration (`programs`) that is allowed only in a resolved group."""
    if one.get("cca") is not None:
        yield f"cca is {one['cca']}; allowed here: ccas: [{one['cca']}]."
    if "name" in one:
        yield f"name is {one['name']}; allowed here: no name, because a program is named by its key in programs, or by its file."


def _unknown(declared, written, name, cca):
    """Return a phrase that lists the allowed names if a program or its CCA isn't declared, otherwise None."""
    if name not in declared:
        return f"allowed: {', '.join(declared)}" if declared else "the study has no programs"
    ccas = written[name].get("ccas", [])
    if cca is None and not ccas or cca in ccas:
        return None
    return f"allowed: {', '.join(f'{name}:{one}' for one in ccas) or name}"


def _completed(one):
    """Return a declaration without ``ccas`` and with defaults filled in, and a list of the problems with it.

    The files of the program are read only if their SHA-256 is missing.
    """
    problems, complete = [], {}
    for key, node in keys_of(dereferenced(study_schema()["$defs"]["program"])).items():
        if key not in (*OF_GROUPS, "ccas"):
            complete[key] = one.get(key, node.get("default"))
    if complete["qlog"] is None:
        # Without this key, specifications of runs without logs stay the same as before logs were introduced.
        del complete["qlog"]
    for side in ("server", "client"):
        if isinstance(complete[side], str):
            try:
                complete[side] = shlex.split(complete[side])
            except ValueError as error:
                problems.append(f"{side} is {complete[side]}; the quotes in it are invalid ({error}).")
                complete[side] = [""]
        if not complete[side]:
            problems.append(f"{side} is empty; allowed: a command.")
        problems += [
            *_placeholders(side, complete[side]),
            *_shell_words(side, complete[side]),
            *_first_word_of_shells(side, complete[side]),
        ]
    if complete.get("qlog") and "logs" not in _asked(complete[complete["data_from"]]):
        problems.append(
            f"qlog is {complete['qlog']}, and {complete['data_from']}, the sending side, has no {{logs}}; allowed: a command that "
            "passes {logs} to the program."
        )
    if complete["path"] and not complete["sha256"]:
        try:
            files = files_of(complete["path"])
            complete["sha256"] = digest_of(files)
            for side in ("server", "client"):
                problems += _first_words(side, complete[side], complete["path"], files)
        except OSError as error:
            why = absence(complete["path"]) or error.strerror
            problems.append(f"path is {complete['path']}; {why}.{how_to_build(complete['path'])}")
    return complete, problems


def _ccas_of_commands(complete, ccas, known) -> Iterator[str]:
    """Yield a problem if a program has several CCAs but doesn't learn which of them to use, or if ``{cca}`` would be empty.

    A program over TCP needn't learn which of the ``known`` CCAs to use, because its hosts use this CCA by default.
    """
    asking = [side for side in ("server", "client") if "cca" in _asked(complete[side])]
    if asking and not ccas:
        yield f"{asking[0]} has {{cca}}, and the program has no ccas; allowed: ccas with at least one CCA, or no {{cca}}."
    if len(ccas) > 1 and not asking and complete["protocol"] == "tcp":
        if unknown := [cca for cca in ccas if cca not in known]:
            yield (
                f"ccas is {', '.join(ccas)}, neither server nor client has {{cca}}, and {unknown[0]} is not a CCA of the kernel or of "
                "cca_definitions; allowed: a command that passes {cca} to the program, or CCAs of the kernel or of cca_definitions."
            )
    elif len(ccas) > 1 and not asking:
        yield (
            f"ccas is {', '.join(ccas)}, and neither server nor client has {{cca}}, so all of them would be the same; allowed: a command "
            "that passes {cca} to the program, or one CCA."
        )


def _asked(command):
    """Return the names of all placeholders in a command, in the order of their first use."""
    return list(dict.fromkeys(name for word in command for name in PLACEHOLDER.findall(word)))


def _placeholders(side, command) -> Iterator[str]:
    """Yield a problem for each unknown placeholder in a command.

    Braces around other text are left to the program, unless it differs from a placeholder only in its case, separators or digits.
    """
    for name in dict.fromkeys(name for word in command for name in LIKE_A_PLACEHOLDER.findall(word)):
        meant = re.sub("[ -]", "_", name.lower().rstrip("0123456789"))
        if name not in PLACEHOLDERS and (meant in PLACEHOLDERS or PLACEHOLDER.fullmatch(f"{{{name}}}")):
            yield f"{side} has {{{name}}}; allowed: {', '.join(f'{{{one}}}' for one in PLACEHOLDERS)}."


def _shell_words(side, command) -> Iterator[str]:
    """Yield a problem if a command has a word that only a shell would interpret."""
    if word := next((word for word in command if word in OF_SHELLS), None):
        yield f"{side} contains the word {word}, but no shell interprets it; allowed: a command without it, or sh -c with the command line as one word."


def _first_word_of_shells(side, command) -> Iterator[str]:
    """Yield a problem if a command begins with a word that only a shell would interpret."""
    first = command[0] if command else ""
    if ASSIGNMENT.match(first):
        yield f"{side} begins with {first}, but no shell interprets it; allowed: env {first}, and then the command."
    elif first.startswith("$"):
        meant = PLACEHOLDER.match(first[1:])
        allowed = first[1:] if meant and meant[1] in PLACEHOLDERS else "a command without it"
        yield f"{side} begins with {first}, but no shell interprets it; allowed: {allowed}, or sh -c with the command line as one word."


def _first_words(side, command, path, files) -> Iterator[str]:
    """Yield a problem if a command begins with one of the program's files that doesn't exist, isn't executable or can't be started.

    A relative path would be looked up in the working folder, which is empty; a name without a slash is looked up in ``{folder}``, then among
    the image's programs (`testbed.machine.confined`). ``files`` are those of `files_of`.
    """
    first = next((word for word in command if word != "env" and not ASSIGNMENT.match(word)), "")
    name = first.removeprefix("{folder}/")
    named = [f"{{folder}}/{one}" for one in sorted(files)[:MOST_NAMED]]
    allowed = ", ".join(named + (["or another of its files"] if len(files) > MOST_NAMED else []))
    if not first.strip() or first in ("/", "{folder}"):
        what = "which is a folder" if first.strip() else "which names no program"
        yield f"{side} begins with {first or repr(first)}, {what}; allowed: {allowed}."
    elif "/" in first and not first.startswith(("/", "{", "$")):
        own = first.removeprefix("./").removeprefix(f"{path}/")
        own = own if own in files else os.path.basename(first)
        yield f"{side} begins with {first}, which is not looked up in {{folder}}; allowed: {f'{{folder}}/{own}' if own in files else allowed}."
    elif name == first and name not in files or PLACEHOLDER.search(name):
        return
    elif name not in files:
        yield f"{side} begins with {first}, and {path} has no such file; allowed: {allowed}."
    elif not files[name][1]:
        yield f"{side} begins with {first}, which is not executable; allowed: an executable file (chmod +x)."
    elif why := why_not_startable(files[name][0]):
        yield f"{side} begins with {first}, {why}."


def program_problems(group, scenario) -> Iterator[str]:
    """Yield problems with the program of a resolved group."""
    if group["application"] != PROGRAM:
        return
    if group["program"] is None:
        yield "program is null; allowed with application program: the name of one of the study's programs."
        return
    program = Program(**group["program"])
    if scenario["platform"] != "uml":
        yield f"program is {program.label}; on {scenario['platform']} nothing confines a program; allowed: platform uml."
    if scenario["topology"] != "dumbbell":
        yield f"program is {program.label}; allowed with topology {scenario['topology']}: no programs, which need a dumbbell."
    yield from _amount(group, program)


def _amount(group, program):
    """Yield a problem if a program's commands have no placeholder for the amount of traffic in its group."""
    key, other = ("seconds", "bytes") if group["bytes"] is None else ("bytes", "seconds")
    asked = {*_asked([*program.server, *program.client])} & {*AMOUNTS}
    ends = key == "seconds" and program.client_ends == "killed"
    if key not in asked and not ends:
        yield (
            f"{'stop_s' if key == 'seconds' else 'bytes'} is {group['stop_s'] if key == 'seconds' else group['bytes']}, and no command of "
            f"{program.label} has {{{key}}}; allowed: a program with this placeholder{f', or traffic by {other}' if other in asked else ''}."
        )


def program_files_of(study) -> dict[str, dict]:
    """Return, by archive name, the programs of a resolved study for which files are given."""
    programs = [group["program"] for scenario in study["scenarios"] for group in scenario.get("groups", ())]
    programs += [
        {"cca": None} | {key: value for key, value in one.items() if key != "ccas"} | {"name": name}
        for name, one in study.get("programs", {}).items()
    ]
    return {Program(**one).folder: one for one in programs if one and one["sha256"]}
