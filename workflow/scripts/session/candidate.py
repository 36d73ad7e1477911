"""Add a CCA to a study, for `make exam CCA=...` and `make evaluate CCA=... STUDY=...`.

``python -m session.candidate CCA STUDY_FILE`` writes the study file ``results/<study>-<name>.yaml`` and prints the file's path. The
workflow can then run the study like any other study. CCA is one of the kernel's CCAs, the path of a C file, the path of a YAML file that
defines a CCA, or a program's CCA (`candidate_programs`); ``--program FILE`` names the file that declares the program.
"""

import argparse
import os
import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from experiment.timeline import TRACES
from session.candidate_programs import is_of_stack, named_program, without_inapplicable
from session.derived_study import size_words, write_study
from session.more_runs import extended
from study_files import study as studies
from study_files.cca_definitions import FILE, LARGEST_BYTES, impossible_name, names_in
from study_files.strict_yaml import FileError, read_mapping
from study_files.study_schema import dereferenced, keys_of, study_schema
from study_files.study_validation import nearest_choice, problems_of_form
from study_files.timeline_files import has_timeline_file
from testbed.machine.given_file import given_bytes
from testbed.machine.messages import tell
from topics.exam.tables import PRIMARY, WORSE
from wording.missing_files import absence
from wording.terminal_text import shown

#: The standard CCAs. An exam keeps all of them, even if its study file examines one of them.
STANDARDS = ("reno", "cubic", "bbr")
#: CCAs that behave like Reno if ECN is off (RFC 8257, section 3.5); their exams use ECN in all cases that don't set it.
NEED_ECN = ("dctcp",)
#: Maximum length of a CCA's name in a study, in characters; the study's own name must leave room for the CCA's name.
LONGEST = 32
#: Expectation about the scorecard that `GATE=1` adds to an exam.
NOTHING_WORSE = {
    "id": "nothing-worse", "table": "scorecard", "where": {"role": PRIMARY}, "column": "verdict", "none_of": [WORSE],
}  # fmt: skip


class CandidateError(FileError):
    """The CCA named on the command line can't be added to the study."""


@dataclass(frozen=True)
class Candidate:
    """A CCA to add to a study: its name in the study, its definition (if it needs one), and the kernels named in the definition."""

    name: str
    definition: dict | None = None
    kernels: dict = field(default_factory=dict)
    #: C file outside the workflow's working directory; runs use a copy of the file.
    foreign: Path | None = None
    #: The author's explanation of departures from the principles of congestion control, for an exam's scorecard.
    explanation: str = ""
    #: Declaration of the program that contains the candidate, by the program's name; empty if the candidate is a kernel's CCA.
    programs: dict = field(default_factory=dict)

    @property
    def study_name(self) -> str:
        """Suffix that the candidate adds to the study's name."""
        return re.sub("[^a-z0-9.-]", "-", self.name.lower())


def candidate_of(cca, program=None) -> Candidate:
    """Return the candidate that ``CCA=`` and ``PROGRAM=`` name; raise `CandidateError`, with the allowed values, if they name no CCA.

    ``~`` at the beginning of a path stands for the user's folder, because some shells don't replace it in arguments such as ``CCA=~/x.c``.
    """
    cca, program = os.path.expanduser(cca), program and os.path.expanduser(program)
    if program or is_of_stack(cca):
        name, programs, explanation = named_program(cca, program, CandidateError)
        return Candidate(name, programs=programs, explanation=explanation)
    path = Path(cca)
    if path.suffix in (".yaml", ".yml"):
        return _of_definition(path)
    if path.suffix == ".c" or "/" in cca:
        return _of_source(path)
    kernels = kernels_ccas()
    if cca not in kernels:
        near = nearest_choice(cca, kernels)
        meant = f"did you mean '{near}'? Allowed" if near else "allowed"
        paths = "the path of a C file (my/tcp_mine.c) or of a YAML file with a definition"
        raise _problem(cca, f"is not a CCA of the guest kernel; {meant}: {', '.join(kernels)}, {paths}.")
    return Candidate(cca)


def _problem(cca, sentence):
    return CandidateError(f"CCA={shown(str(cca), 200)}", [sentence])


def kernels_ccas() -> list[str]:
    """Return the names of the guest kernel's CCAs."""
    return keys_of(study_schema())["ccas"]["items"]["joined"]


def _of_source(path):
    if os.path.isdir(path) or not os.path.exists(path):
        what = absence(path) or "is a folder"
        raise _problem(path, f"{what}; allowed: the path of a C file, such as examples/tcp_aimd.c.")
    if not re.fullmatch(FILE, path.name):
        allowed = "a file name of lower-case letters, digits and underscores that ends in .c, such as tcp_mine.c"
        raise _problem(path, f"the kernel module is named after the file; allowed: {allowed}.")
    try:
        text = given_bytes(path, LARGEST_BYTES).decode(errors="replace")
    except OSError as error:
        raise _problem(path, f"can't be read ({error.strerror}).") from None
    if not re.search(r"\bstruct\s+tcp_congestion_ops\b", text) or "tcp_register_congestion_control" not in text:
        wanted = "a struct tcp_congestion_ops and the call tcp_register_congestion_control"
        raise _problem(path, f"registers no CCA; a C file needs {wanted}, as in examples/tcp_aimd.c.")
    names = names_in(text)
    if wrong := impossible_name(names):
        raise _problem(path, f"{wrong}.")
    if len(names) != 1:
        which = f" ({', '.join(names)})" if names else ""
        raise _problem(
            path,
            f'names {len(names)} CCAs{which} in .name = "..."; choose one in a YAML file with the keys source and cca.',
        )
    place, foreign = _place(path)
    # A name in a study starts with a letter or digit.
    name = names[0].replace("_", "-").lstrip("-.") or path.stem.replace("_", "-")
    return Candidate(name[:LONGEST], {"source": place}, foreign=foreign)


def _place(path):
    """Return (path relative to the working directory, None) for a file that a study can name, and (name, path) for any other file.

    A study can't name a file outside the working directory, a path with spaces or other special characters, or a link to a file with
    another name, because the module is named after the file.
    """
    inside = Path(os.path.relpath(path.resolve(), Path.cwd().resolve()))
    form = keys_of(dereferenced(keys_of(study_schema())["cca_definitions"]["additionalProperties"]))["source"]
    if inside.name == path.name and not problems_of_form(
        {"source": str(inside)}, {"type": "object", "properties": {"source": form}}
    ):
        return str(inside), None
    return path.name, path


def _of_definition(path):
    schema = study_schema()
    definition = dereferenced(keys_of(schema)["cca_definitions"]["additionalProperties"])
    extra = {"name": dereferenced(schema["$defs"]["cca_name"]) | {"description": "Name of the CCA in the study."}}
    extra["explanation"] = keys_of(keys_of(schema)["exam"])["explanation"]
    if "kernels" in keys_of(schema):
        extra["kernels"] = keys_of(schema)["kernels"]
    content = read_mapping(path, "a definition of a CCA", keys_of(definition), CandidateError)
    if {"server", "client"} & {*content} or "programs" in content:
        raise CandidateError(
            path, [f"declares a program; use PROGRAM={path}, with CCA=<one of its ccas> if it has several."]
        )
    form = definition | {"properties": definition["properties"] | extra, "$defs": schema["$defs"]}
    if problems := problems_of_form(content, form):
        raise CandidateError(path, [problem.strip() for problem in problems])
    name = content.pop("name", path.stem.replace("_", "-").lower())
    if problems := problems_of_form({"name": name}, {"type": "object", "properties": extra}):
        raise CandidateError(
            path,
            [f"{problem} The CCA is named after the file unless the file has the key name." for problem in problems],
        )
    definition = {key: value for key, value in content.items() if key not in ("kernels", "explanation")}
    return Candidate(name, definition, content.get("kernels", {}), explanation=content.get("explanation", ""))


def with_candidate(config, candidate, output) -> dict:
    """Return a study with an additional CCA, in the form written to a study file.

    Parameters
    ----------
    config : dict
        A study from `studies.load`.
    candidate : Candidate
    output : str
        Study file or settings of the command, to name in messages.
    """
    ccas, definitions = list(config.get("ccas") or []), dict(config.get("cca_definitions") or {})
    name, exam = candidate.name, config.get("exam") or {}
    known = (*kernels_ccas(), *definitions, *([] if candidate.programs else ccas))
    if (candidate.programs or candidate.definition is not None) and name in known:
        whose = "the kernel" if name in kernels_ccas() else "the study"
        raise CandidateError(output, [f"{whose} already has a CCA named {name}; give the new one another name."])
    if exam.get("cca"):
        ccas = [cca for cca in ccas if cca != exam["cca"] or cca in (*STANDARDS, *exam.get("standards", ()))]
    elif name in ccas:
        raise CandidateError(output, [f"the study has {name} already; allowed: a CCA that isn't in the study."])
    study = config | {"study": f"{config['study']}-{candidate.study_name}", "ccas": list(dict.fromkeys([*ccas, name]))}
    study["title"] = f"{config.get('title', config['study'])}: {name}"[:120]
    if exam.get("cca"):
        study["exam"] = exam | {"cca": name} | ({"explanation": candidate.explanation} if candidate.explanation else {})
        if (candidate.definition or {}).get("base", name) in NEED_ECN:
            defaults = config.get("defaults") or {}
            study["defaults"] = defaults | {"transport": {"ecn": "classic"} | (defaults.get("transport") or {})}
    if candidate.programs:
        own = config.get("programs") or {}
        if taken := sorted(name for name, one in candidate.programs.items() if own.get(name, one) != one):
            raise CandidateError(
                output, [f"the study already has a program named {taken[0]}; give the new one another name."]
            )
        study["programs"] = dict(own) | candidate.programs
    if candidate.definition is not None:
        study["cca_definitions"] = definitions | {name: candidate.definition}
    if candidate.kernels:
        taken = sorted(set(candidate.kernels) & set(config.get("kernels") or {}))
        if taken:
            raise CandidateError(
                output, [f"the study already has a kernel named {taken[0]}; give the new one another name."]
            )
        study["kernels"] = dict(config.get("kernels") or {}) | candidate.kernels
    return study


def refuse_another_candidate(file, study) -> None:
    """Raise `CandidateError` if a study's file exists and adds another CCA: of ``one:new_reno`` and ``one:new-reno``, for example."""
    if not file.exists():
        return
    ccas = [
        (one.get("exam") or {}).get("cca") or [*(one.get("ccas") or [None])][-1] for one in (studies.load(file), study)
    ]
    if ccas[0] != ccas[1]:
        raise CandidateError(
            str(file),
            [
                f"this study examines {ccas[0]}, not {ccas[1]}; rename or delete it and the folder {file.with_suffix('')}."
            ],
        )


def with_traces(study, source) -> dict:
    """Return a study that contains traces and timelines instead of their paths, which are relative to the original study's file."""
    text = str(study)
    if "trace" not in text and "'file'" not in text:
        return study
    resolved = studies.resolve(study, source)
    # A timeline given as a list stays as written.
    keys = (*TRACES, "timeline") if has_timeline_file(study) else TRACES
    of_files = {
        scenario["id"]: {key: scenario["link"][key] for key in keys if scenario["link"][key]}
        for scenario in resolved["scenarios"]
    }
    return study | {
        "scenarios": [
            one | {"link": one.get("link", {}) | of_files[one["id"]]} if of_files[one["id"]] else one
            for one in study["scenarios"]
        ]
    }


def with_gate(study) -> dict:
    """Return an exam's study with the expectation (`analysis.expect`) that all deciding rows were measured and none of them is worse."""
    analysis = study.get("analysis") or {}
    return study | {"analysis": analysis | {"expect": [*(analysis.get("expect") or []), NOTHING_WORSE]}}


def write(cca, source, results="results", more=None, program=None, gate=False, platform=None) -> tuple[str, dict]:
    """Write a study with one additional CCA to ``results/<study>-<name>.yaml``; return the path and the resolved study.

    In an exam, ``more`` replications are added to each scenario whose verdict was open in the latest finished exam. ``platform`` is the
    platform that the command names, or None. If ``gate`` is true, the exam fails unless every deciding row was measured and none is worse.
    Raises `FileError` if the CCA doesn't exist or the study can't run with it.
    """
    config, candidate = studies.load(source), candidate_of(cca, program)
    if problems := problems_of_form(config, _NEEDED):
        raise studies.StudyError(source, problems)
    output = f"{results}/{config['study']}-{candidate.study_name}.yaml"
    if candidate.foreign:
        copy = Path(f"{output.removesuffix('.yaml')}-source", candidate.foreign.name)
        candidate = replace(candidate, definition={"source": str(copy)})
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(candidate.foreign, copy)
    called = " ".join(filter(None, (cca and f"CCA={cca}", program and f"PROGRAM={program}")))
    study = with_candidate(config, candidate, called)
    if candidate.programs and (config.get("exam") or {}).get("cca"):
        study = without_inapplicable(study, config, candidate.name, source, called, CandidateError)
    if gate and not (study.get("exam") or {}).get("cca"):
        raise CandidateError("GATE=1", [f"{source} is not an exam; allowed: GATE with make exam."])
    refuse_another_candidate(Path(output), study)
    study = with_traces(with_gate(study) if gate else study, source)
    if more is not None:
        suffix = f"-{on}" if (on := platform or study.get("platform")) else ""
        study = extended(study, Path(f"{results}/{study['study']}{suffix}"), more, CandidateError)
    return output, write_study(study, output, f"`make evaluate` or `make exam` of {source}, {shown(called, 400)}")


def _number_of_runs(text):
    if text is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise CandidateError(
            f"MORE={shown(text, 200)}", ["is not a number of replications; allowed: a whole number from 1 to 9999."]
        )
    return int(text)


def _needed_form():
    """Return the form of the parts of a study that are read or changed before `studies.resolve` checks the result."""
    schema, section = study_schema(), {"type": "object", "allowed": "a mapping", "description": "Section."}
    parts = {key: keys_of(schema)[key] for key in ("study", "title", "exam", "analysis", "programs", "cca_definitions")}
    parts["ccas"] = keys_of(schema)["ccas"] | {"minItems": 0}
    parts["defaults"] = section | {"properties": {"link": section, "transport": section}}
    one = section | {"properties": {"link": section}}
    parts["scenarios"] = {"type": "array", "items": one, "allowed": "a list of scenarios", "description": "Scenarios."}
    needed = ["study", "ccas", "scenarios"]
    return {"type": "object", "properties": parts, "required": needed, "$defs": schema["$defs"]}


_NEEDED = _needed_form()


def main(arguments=None) -> int:
    """Read the command line and write the study; print its size to standard error and its path to standard output."""
    parser = argparse.ArgumentParser(prog="candidate", description=__doc__.splitlines()[0])
    parser.add_argument(
        "cca", help="one of the kernel's CCAs, or the path of a C file or of a YAML file with a definition"
    )
    parser.add_argument("study", help="the study's file")
    parser.add_argument("--program", help="the YAML file that declares the CCA's program")
    parser.add_argument("--more", help="number of additional replications for the open rows of an exam")
    parser.add_argument("--platform", help="platform on which the exam runs, if the command names one")
    parser.add_argument(
        "--gate", action="store_true", help="make an exam fail unless every deciding row was measured and none is worse"
    )
    options = parser.parse_args(arguments)
    try:
        output, resolved = write(
            options.cca,
            options.study,
            more=_number_of_runs(options.more),
            program=options.program,
            gate=options.gate,
            platform=options.platform,
        )
    except (FileError, OSError) as error:
        tell(str(error))
        return 1
    print(size_words(output, resolved), file=sys.stderr)
    print(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
