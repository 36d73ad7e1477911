"""Programs that `make exam` and `make evaluate` accept in place of a kernel's CCA, declared in a user's file or in ``examples/``.

``python -m session.candidate_programs CCA FILE`` prints the stack that must be built first, if any (`missing_stack`). FILE may be "".
"""

import sys
from pathlib import Path

from experiment.flow_groups import OWN, WEB
from study_files import study as studies
from study_files.named_programs import names_of
from study_files.program_problems import program_cca_problems
from study_files.programs import declaration_problems, only_of_groups
from study_files.stacks import how_to_build, stack_at
from study_files.strict_yaml import FileError, read_mapping
from study_files.study_groups import MOST_PROGRAMS
from study_files.study_schema import dereferenced, keys_of, study_schema
from study_files.study_validation import nearest_choice, problems_of_form
from wording.terminal_text import shown

#: Folder with the studies that declare the checkout's programs.
EXAMPLES = Path(__file__).parents[3] / "examples"


def is_of_stack(cca) -> bool:
    """Return whether a CCA on the command line has the form of a program's CCA, ``stack:cca``."""
    return ":" in cca and "/" not in cca


def named_program(cca, file, error) -> tuple[str, dict, str]:
    """Return the name of a program's CCA as in `ccas`, a dict with only the program's declaration, and the author's explanation.

    Parameters
    ----------
    cca : str
        ``program:cca``. One of the two parts is enough if only one CCA matches; no part is needed if the file declares only one CCA.
    file : str or None
        File with the declaration (`declarations`). If it is None, the program that ``cca`` names is one of the checkout's.
    error : type
        Type of the exception to raise, with a message that states the allowed values.
    """
    file = file or declaring_file(cca, error)
    programs, explanation = declarations(file, error)
    name = _chosen(cca, programs, file, error)
    program = name.partition(":")[0]
    if _missing(programs[program]):
        path = programs[program]["path"]
        raise error(f"CCA={shown(cca, 200)}", [f"{path} doesn't exist.{how_to_build(path)}"])
    if problems := declaration_problems(programs[program]):
        raise error(file, problems)
    return name, {program: programs[program]}, explanation


def _chosen(cca, programs, file, error):
    """Return the only name in `names_of` that fits the CCA on the command line."""
    names = names_of(programs)
    fitting = [name for name in names if not cca or cca in (name, *name.split(":"))]
    if len(fitting) != 1:
        what = f"CCA={shown(cca, 200)} matches " + ("several" if fitting else "none") if cca else "CCA must name one"
        near = nearest_choice(cca, names) if cca and not fitting else None
        meant = f"did you mean {near!r}? Allowed" if near else "allowed"
        raise error(
            f"PROGRAM={shown(str(file), 200)}", [f"{what} of its programs; {meant}: one of {', '.join(names)}."]
        )
    return fitting[0]


def _missing(declaration):
    path = declaration.get("path")
    return stack_at(path) if path and not Path(path).exists() else None


def missing_stack(cca, file) -> str | None:
    """Return the stack of the checkout that a program needs if it isn't built, otherwise None.

    The parameters are those of `named_program`, which reports any problem with them; None is returned then.
    """
    try:
        file = file or declaring_file(cca, FileError)
        programs, _ = declarations(file, FileError)
        return _missing(programs[_chosen(cca, programs, file, FileError).partition(":")[0]])
    except (FileError, OSError):
        return None


def declaring_file(cca, error) -> Path:
    """Return the file in ``examples/`` that declares the program of ``cca``, ``program:cca``; raise ``error`` if there is none."""
    files, name = declaring_files(error), cca.partition(":")[0]
    if name not in files:
        words = f"has no declaration in examples; allowed: {', '.join(sorted(files))}, or another program with PROGRAM=<file>."
        raise error(f"CCA={shown(cca, 200)}", [f"{shown(name, 60)} {words}"])
    return files[name]


def declaring_files(error) -> dict[str, Path]:
    """Return the file in ``examples/`` that declares each program: the file with the program's name if there is one."""
    files = {}
    for path in sorted(EXAMPLES.glob("*.yaml")):
        if "\nprograms:\n" in path.read_text(encoding="utf-8"):
            for name in declarations(path, error)[0]:
                if name not in files or path.stem == name:
                    files[name] = path
    return files


def declarations(file, error) -> tuple[dict, str]:
    """Return the program declarations in a file by name, and the file's ``explanation``.

    The file is either a study or the declaration of a single program. A single program is named after the file.
    """
    schema = study_schema()
    form = dereferenced(schema["$defs"]["program"])
    content = read_mapping(Path(file), "a program's declaration", {**keys_of(form), **keys_of(schema)}, error)
    if {"base", "source"} & {*content}:
        raise error(file, [f"defines a CCA of the kernel; use CCA={file}."])
    if "programs" in content:
        content = {key: content[key] for key in ("programs", "explanation") if key in content}
        form = {"type": "object", "properties": {"programs": keys_of(schema)["programs"]}}
    wanted = {**form, "properties": {**keys_of(form), **_explanation()}, "$defs": schema["$defs"]}
    if problems := problems_of_form(content, wanted):
        raise error(file, [problem.strip() for problem in problems])
    explanation = content.pop("explanation", "")
    if "programs" in content:
        return content["programs"], explanation
    if problems := list(only_of_groups(content)):
        raise error(file, problems)
    name = Path(file).stem.replace("_", "-").lower()
    named = {"type": "object", "properties": {"programs": keys_of(schema)["programs"]}, "$defs": schema["$defs"]}
    if problems := problems_of_form({"programs": {name: content}}, named):
        raise error(file, [f"{problems[0]} The program is named after the file unless the file has the key programs."])
    return {name: content}, explanation


def _explanation():
    return {"explanation": keys_of(keys_of(study_schema())["exam"])["explanation"]}


def without_inapplicable(study, config, cca, source, called, error) -> dict:
    """Return an exam's study without the scenarios that the program can't run; ``exam.inapplicable`` gives the reasons.

    Parameters
    ----------
    study, config : dict
        The exam with the program and the exam without it, as in a study file.
    cca : str
        Name of the program's CCA in `ccas`.
    source, called : str
        File of the exam, and settings of the command, for messages.
    error : type
        Type of the exception to raise, with a message that states the allowed values.
    """
    # Any scenario can be used to complete the declaration.
    plain = {"id": "plain", "traffic": {"sample_interval_ms": 50}}
    of_program = studies.resolve(
        {
            "study": "try", "ccas": [cca], "programs": {name: study["programs"][name] for name in [cca.partition(":")[0]]},
            "scenarios": [plain],
        },
        called,
    )  # fmt: skip
    reasons = {}
    for scenario in studies.resolve(config, source)["scenarios"]:
        for problem in program_cca_problems(of_program, scenario):
            reasons[scenario["id"]] = _reason(scenario) or problem
    scenarios = [one for one in study["scenarios"] if one["id"] not in reasons]
    if not scenarios:
        raise error(called, [next(iter(reasons.values()))])
    scenarios = _with_seeds(scenarios, reasons)
    primaries = {name: of for name, of in (study["exam"].get("primaries") or {}).items() if name not in reasons}
    return study | {"scenarios": scenarios, "exam": study["exam"] | {"primaries": primaries, "inapplicable": reasons}}


def _with_seeds(scenarios, left_out):
    """Return the scenarios after replacing each `seeds_of` that names an omitted scenario.

    Of the scenarios that named the same omitted scenario, the first uses its own seeds, and the others use the first scenario's seeds.
    """
    firsts, kept = {}, []
    for scenario in scenarios:
        if (base := scenario.get("seeds_of")) in left_out:
            first = firsts.setdefault(base, scenario["id"])
            scenario = scenario | {"seeds_of": None if first == scenario["id"] else first}
        kept.append(scenario)
    return kept


def _reason(scenario):
    """Return the reason why no program can run a resolved scenario, or None if no such reason is known."""
    if scenario["multipath"]["by"] != "none" or scenario["topology"] != "dumbbell":
        return "its path is a tunnel or has several paths, and programs run on a dumbbell only."
    if any(group["cca"] == OWN and group["application"] == WEB for group in scenario["groups"]):
        return "its short flows are objects of a web server with the CCA under test, and programs have no web server."
    if (
        max([scenario["flows"], *(group["count"] for group in scenario["groups"] if group["cca"] == OWN)])
        > MOST_PROGRAMS
    ):
        return f"it has more flows under test than the {MOST_PROGRAMS} that a program may have."
    return None


if __name__ == "__main__":
    print(missing_stack(*sys.argv[1:]) or "")
