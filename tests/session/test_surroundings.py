"""What the caller's environment, limits and clock must not affect."""

import importlib
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from environment import STARTS_PYTHON, isolate_snakemake
from session.checkout import checked_out_commit
from session.surroundings import (
    clock_problem,
    leave_out_callers_variables,
    module_problem,
    path_problem,
    require_apptainer,
)


def test_nothing_of_the_callers_environment_is_handed_into_containers():
    kept = {"PATH": "/bin", "APPTAINER_BIND": "/scratch", "APPTAINER_CACHEDIR": "/c"}
    handed = {"APPTAINERENV_PYTHONPATH": "/x", "SINGULARITYENV_X": "1", "APPTAINER_ENV": "A=1", "PYTHONPATH": "/y"}
    environ = kept | handed
    leave_out_callers_variables(environ)
    assert environ == kept


def rules_beside(module, folder, root, *program):
    """Let a Snakemake list the rules with a module of the caller's in PYTHONPATH; return its exit status and output."""
    (folder / "mine").mkdir()
    (folder / "mine" / f"{module}.py").write_text("raise RuntimeError('a module of the caller')\n")
    for part in ("envs", "config"):
        (folder / part).symlink_to(root / part)
    done = subprocess.run(
        [*program, "--list-rules", "--configfile", "config/studies/smoke.yaml", "--directory", folder],
        cwd=root, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(folder / "mine")},
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pandas", "sitecustomize", pytest.param("yaml", marks=pytest.mark.long)])
def test_modules_of_the_caller_stay_out_of_snakemake(module, tmp_path, root):
    """Snakemake is started as by set-up. It imports pandas and yaml before it reads anything of the workflow."""
    program = tmp_path / "environment/bin/snakemake"
    program.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).with_name("snakemake"), program)
    isolate_snakemake(tmp_path / "environment")
    status, printed = rules_beside(module, tmp_path, root, program)
    assert status == 0 and "emulate_run" in printed, printed[-20:]
    assert not [line for line in printed if "Traceback" in line]


#: What pip and uv write for a short path; what pip, and then uv, writes for one with spaces, and for a long one.
BEGINNINGS = [
    "#!/a/bin/python{}\n# -*-",
    "#!/bin/sh\n'''exec' \"/a b/bin/python\"{} \"$0\" \"$@\"\n' '''\n",
    "#!/bin/sh\n'''exec' '/a b/bin/python'{} \"$0\" \"$@\"\n' '''\n",
    "#!/bin/sh\n'''exec' /a/bin/python3{} \"$0\" \"$@\"\n' '''\n",
]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_each_way_in_which_pip_begins_a_program(beginning):
    once = STARTS_PYTHON.sub(r"\1 -I", beginning.format(""))
    assert once == beginning.format(" -I") == STARTS_PYTHON.sub(r"\1 -I", once)


def test_a_module_in_the_place_of_the_environments_is_said(tmp_path, root):
    """Snakemake is started otherwise, with a module that can be imported."""
    module = tmp_path / "mine/pip.py"
    start = (
        f"import pathlib; pathlib.Path({str(module)!r}).write_text(''); import pip, sys;"
        "from snakemake.cli import main; sys.argv[0] = 'snakemake'; main()"
    )
    status, printed = rules_beside("another", tmp_path, root, sys.executable, "-c", start)
    assert status != 0
    assert not [line for line in printed if "Traceback" in line]
    problem = f"PYTHONPATH puts {module} in the place of the environment's module pip: unset PYTHONPATH."
    assert f"sawtooth: {problem}" in printed, printed[-20:]


def test_the_workflows_own_modules_and_folders_above_are_in_nobodys_place(tmp_path, monkeypatch):
    own, link = tmp_path / "own", tmp_path / "link"
    own.mkdir()
    link.symlink_to(own)
    (own / "surroundings_of_a_test.py").touch()
    monkeypatch.syspath_prepend(own)
    importlib.import_module("surroundings_of_a_test")
    named = {"PYTHONPATH": f"{link}:{Path(pytest.__file__).parents[2]}"}
    assert module_problem([own], named) is None
    assert module_problem([], named).startswith(f"PYTHONPATH puts {own}/surroundings_of_a_test.py in the place of ")


@pytest.mark.parametrize("name", ["a'b", 'a"b', "$(touch pwned)", "`x`", "a:b", "a,b", "a\\b", "a\nb", "a\x1bb"])
def test_paths_that_a_shell_or_apptainer_would_act_on(name):
    problem = path_problem(f"/home/{name}/sawtooth")
    assert problem.startswith("the checkout's path has the character ") and problem.isprintable()


@pytest.mark.parametrize("path", ["/home/ä/saw-tooth_2.0 (copy)", "/srv/a b;c&(d)", "/tmp/1+1=2@~%#"])
def test_other_paths_are_allowed(path):
    assert path_problem(path) is None


def limited(kind, value, *, hard=True):
    """Return the result of `limit_problem` in a process with a limit, and its limits afterwards."""
    code = "from session.surroundings import limit_problem as p; import resource as r; print(p(), r.getrlimit(r.RLIMIT_NOFILE))"
    before = resource.getrlimit(kind)[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(kind, (value, value if hard else before)),
    )  # fmt: skip
    return done.stdout


def test_limits_that_no_run_survives():
    assert "the limit of open files is 64; allowed: at least 256 (`ulimit -n 256`)." in limited(
        resource.RLIMIT_NOFILE, 64
    )
    assert "the limit of address space is 4194304 KiB; allowed:" in limited(resource.RLIMIT_AS, 4 * 2**30)


def test_a_limit_that_may_be_raised_is():
    assert "(256, " in limited(resource.RLIMIT_NOFILE, 64, hard=False)


def test_a_missing_apptainer_is_said_unless_jobs_are_only_planned(tmp_path):
    for _ in "nothing", "a broken link":
        with pytest.raises(SystemExit, match="^sawtooth: apptainer is missing: run `make setup`"):
            require_apptainer(False, {"PATH": str(tmp_path)})
        require_apptainer(True, {"PATH": str(tmp_path)})
        (tmp_path / "apptainer").unlink(missing_ok=True)
        (tmp_path / "apptainer").symlink_to(tmp_path / "cache-that-was-deleted")


def test_a_clock_in_the_past_is_said(tmp_path):
    for name in ("results/runs/a", "report", "workflow"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "results/.lock").touch()
    document = tmp_path / "results/runs/a/1.json.gz"
    document.touch()
    (tmp_path / "workflow/Snakefile").touch()
    others = (tmp_path / "report", tmp_path / "workflow")
    assert clock_problem(tmp_path / "results", others) is None
    later = time.time() + 3600
    os.utime(document, (later, later))
    os.utime(tmp_path / "workflow/Snakefile", (later - 60, later - 60))
    problem = clock_problem(tmp_path / "results", others)
    assert f"and {document} was written at 2" in problem and "(and 1 more files after now)" in problem
    command = problem.split("`")[1]
    subprocess.run(shlex.split(command), check=True)
    assert clock_problem(tmp_path / "results", others) is None


def test_the_commit_is_that_of_the_folder_whatever_git_is_told(tmp_path, monkeypatch, root):
    """Git variables are set as by a hook or an IDE."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    own = checked_out_commit(root)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert checked_out_commit(root) == own
    assert checked_out_commit(tmp_path)[0] != own[0]
