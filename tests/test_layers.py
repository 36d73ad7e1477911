"""The rooms of the workflow's Python code, and what each may import: read from the code without executing it."""

import ast
import graphlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from session.script_code import modules_of
from topics.registry import TOPICS

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "workflow" / "scripts"
#: Each room imports from earlier ones only.
ROOMS = (
    "wording",
    "tcp_models",
    "inference",
    "study_files",
    "run_tables",
    "figure_parts",
    "report_parts",
    "topics",
    "report_page",
    "session",
    "documenting",
    "publishing",
    "kernel_tests",
    "bisecting",
    "sending",
)
#: What stands in no room: any module may import these.
GROUND = ("experiment", "testbed", "simulator", "selftests", "rule_script")
MODULES = {".".join(path.relative_to(SCRIPTS).with_suffix("").parts): path for path in sorted(SCRIPTS.rglob("*.py"))}


@cache
def imports(name):
    """Return all imports of a module, at any level: dotted names; names of this folder are always modules."""
    names = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            names |= {
                whole if (whole := f"{node.module}.{alias.name}") in MODULES else node.module for alias in node.names
            }
    return names


def imports_of_packages():
    """Return module -> the modules of experiment, testbed, simulator and selftests that it imports, by their dotted names."""
    packages = [ROOT / "workflow" / name for name in ("experiment", "testbed", "simulator", "selftests")]
    paths = {
        ".".join(path.relative_to(ROOT / "workflow").with_suffix("").parts): path
        for package in packages
        for path in sorted(package.rglob("*.py"))
    }
    graph = {}
    for name, path in paths.items():
        nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        assert all(node.level == 0 for node in nodes), f"{name} imports relatively"
        one = {
            whole if (whole := f"{node.module}.{alias.name}") in paths else node.module
            for node in nodes
            for alias in node.names
        }
        graph[name] = one & set(paths)
    return graph


def top(name):
    return name.partition(".")[0]


@cache
def scripts():
    """Return the modules that rules execute: those named by a rule file or a topic's declaration, and those that draw figures."""
    return scripts_of_rules() | declared_scripts()


def scripts_of_rules():
    names = set()
    for rules in (ROOT / "workflow").rglob("*.smk"):
        for name in re.findall(r'"([\w./]+)\.py"', rules.read_text()):
            names.add(".".join((rules.parent / name).resolve().relative_to(SCRIPTS).parts))
    return names


def declared_scripts():
    figures = {name for name in MODULES if re.fullmatch(r"topics\.\w+\.plot_\w+", name)}
    return figures | {f"topics.{topic.name}.{analysis.script}" for topic in TOPICS for analysis in topic.analyses}


def test_each_module_is_in_a_room():
    assert {top(name) for name in MODULES} - {"rule_script"} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_from_earlier_ones_only(room):
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *GROUND}
    wrong = [
        f"{name} imports {other}"
        for name in MODULES
        if top(name) == room
        for other in sorted(imports(name))
        if top(other) in {*ROOMS, *GROUND} - allowed
    ]
    assert wrong == []


def test_a_script_of_a_rule_is_nobodys_library():
    assert [f"{name} imports {other}" for name in MODULES for other in sorted(imports(name) & scripts())] == []


def test_analysis_and_figures_know_nothing_of_the_page():
    of_page = re.compile(r"(report_parts|report_page)/|.*/section\.py")
    wrong = {
        script: of_the_page
        for script in sorted(scripts())
        if top(script) != "report_page"
        if (of_the_page := [path for path in modules_of(script.replace(".", "/")) if of_page.match(path)])
    }
    assert wrong == {}


def test_scripts_of_rules_are_called_alike():
    """Each script ends with its call, and nothing else does; a declared script has a function with the script's name."""
    call = 'if "snakemake" in globals():\n    run_rule(main, snakemake)\n'
    assert {name for name, path in MODULES.items() if path.read_text().endswith(call)} == scripts_of_rules()
    without = {name for name in declared_scripts() if f"\ndef {name.split('.')[-1]}(" not in MODULES[name].read_text()}
    assert without == set()


def test_no_module_changes_the_import_path():
    assert [name for name, path in MODULES.items() if "sys.path" in path.read_text()] == []


def test_scripts_use_the_analysis_images_libraries_only():
    """Other libraries would silently come from Snakemake's own environment, in versions that the results don't name."""
    lock = (ROOT / "envs" / "analysis.lock").read_text()
    known = {name.lower().replace("-", "_") for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    known |= sys.stdlib_module_names | {*ROOMS, *GROUND}
    # The page imports the sections by name.
    roots = {*scripts(), *(name for name in MODULES if name.endswith(".section"))}
    reached = roots | {
        path.removesuffix(".py").replace("/", ".") for root in roots for path in modules_of(root.replace(".", "/"))
    }
    assert {
        f"{name} imports {other}" for name in reached for other in imports(name) if top(other) not in known
    } == set()


def test_no_room_has_the_name_of_a_library():
    image = ROOT / "envs" / "analysis.sif"
    folders = [folder for place in ("lib", "local/lib") for folder in image.glob(f"usr/{place}/python3*/dist-packages")]
    names = {path.name.partition(".")[0] for folder in folders for path in folder.iterdir()}
    assert {"pandas", "scipy", "jinja2"} <= names
    assert {*ROOMS, *GROUND} & (names | sys.stdlib_module_names) == set()


def test_the_words_of_an_experiment_need_nothing_of_what_carries_it_out():
    wrong = {
        name: others
        for name, imported in imports_of_packages().items()
        if top(name) == "experiment" and (others := {other for other in imported if top(other) != "experiment"})
    }
    assert wrong == {}


def test_what_carries_runs_out_has_no_cycle():
    graphlib.TopologicalSorter(imports_of_packages()).prepare()


def test_rooms_of_the_testbed():
    """Each module is in a room, except those that are started by name and the listed exceptions."""
    testbed = ROOT / "workflow" / "testbed"
    assert {path.stem for path in testbed.glob("*.py")} == {"__init__", "__main__", "errors", "guest", "job"}
    # Network and readings do not depend on the machine room.
    wrong = {
        name: others
        for name, imported in imports_of_packages().items()
        if name.startswith(("testbed.network", "testbed.readings"))
        if (others := {other for other in imported if other.startswith("testbed.machine")})
    }
    assert wrong == {}


def test_a_run_document_has_one_interface_to_what_was_asked():
    raw = re.compile(r"""\[["']specification["']\]""")
    readers = [path for path in sorted((ROOT / "workflow").rglob("*.py")) if "__pycache__" not in path.parts]
    assert [path.name for path in readers if raw.search(path.read_text())] == ["run_document.py"]


def imported_at_once(name):
    """Return the names that importing a module imports, directly or through this folder's modules; imports in functions don't count."""
    names, waiting, known = set(), [name], set()
    while waiting:
        known.add(module := waiting.pop())
        for node in ast.parse(MODULES[module].read_text()).body:
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        waiting = sorted((names & MODULES.keys()) - known)
    return names


@pytest.mark.parametrize(
    "name, slow",
    [
        ("report_page.write_report", "matplotlib"),
        ("report_parts.inline_figures", "matplotlib"),
        ("topics.theory.fit_models", "pingouin"),
        ("topics.claims.check_claims", "scipy.stats"),
    ],
)
def test_a_job_imports_nothing_slow_before_it_is_used(name, slow):
    """Each of these takes half a second or more in every small study."""
    assert [other for other in imported_at_once(name) if other == slow or other.startswith(f"{slow}.")] == []


def test_what_is_imported_at_once_is_found():
    assert "matplotlib.pyplot" in imported_at_once("topics.validity.plot_emulation")
