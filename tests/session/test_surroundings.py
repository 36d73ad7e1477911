"""What the caller's environment, limits and clock may not do."""

import os
import resource
import subprocess
import sys
import time

import pytest

from session.checkout import checked_out_commit
from session.surroundings import clock_problem, leave_out_callers_variables, limit_problem, path_problem


def test_nothing_of_the_callers_environment_is_handed_into_containers():
    kept = {"PATH": "/bin", "APPTAINER_BIND": "/scratch", "APPTAINER_CACHEDIR": "/c"}
    handed = {"APPTAINERENV_PYTHONPATH": "/x", "SINGULARITYENV_X": "1", "APPTAINER_ENV": "A=1", "PYTHONPATH": "/y"}
    environ = kept | handed
    leave_out_callers_variables(environ)
    assert environ == kept


@pytest.mark.parametrize("name", ["a'b", 'a"b', "$(touch pwned)", "`x`", "a:b", "a,b", "a\\b", "a\nb", "a\x1bb"])
def test_paths_that_a_shell_or_apptainer_would_act_on(name):
    problem = path_problem(f"/home/{name}/sawtooth")
    assert problem.startswith("the checkout's path has the character ") and problem.isprintable()


@pytest.mark.parametrize("path", ["/home/ä/saw-tooth_2.0 (copy)", "/srv/a b;c&(d)", "/tmp/1+1=2@~%#"])
def test_other_paths_are_allowed(path):
    assert path_problem(path) is None


def limited(kind, value, *, hard=True):
    """Return what `limit_problem` says in a process with a limit, and its limits then."""
    code = "from session.surroundings import limit_problem as p; import resource as r; print(p(), r.getrlimit(r.RLIMIT_NOFILE))"
    before = resource.getrlimit(kind)[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(kind, (value, value if hard else before)),
    )  # fmt: skip
    return done.stdout


def test_limits_that_no_run_survives():
    assert "the limit of open files is 64; allowed are 256 and more (`ulimit -n 256`)." in limited(
        resource.RLIMIT_NOFILE, 64
    )
    assert "the limit of address space is 4194304 KiB; allowed are" in limited(resource.RLIMIT_AS, 4 * 2**30)


def test_a_limit_that_may_be_raised_is():
    assert "(256, " in limited(resource.RLIMIT_NOFILE, 64, hard=False)


def test_a_missing_apptainer_is_said(tmp_path):
    assert limit_problem({"PATH": str(tmp_path)}).startswith("apptainer is missing: run `make setup`")
    (tmp_path / "apptainer").symlink_to(tmp_path / "cache-that-was-deleted")
    assert limit_problem({"PATH": str(tmp_path)}).startswith("apptainer is missing: run `make setup`")


def test_a_clock_in_the_past_is_said(tmp_path):
    for name in ("results/runs/a", "report", "workflow"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "results/.lock").touch()
    document = tmp_path / "results/runs/a/1.json.gz"
    document.touch()
    others = (tmp_path / "report", tmp_path / "workflow")
    assert clock_problem(tmp_path / "results", others) is None
    later = time.time() + 3600
    os.utime(document, (later, later))
    assert f"and {document} was written at 2" in clock_problem(tmp_path / "results", others)


def test_the_commit_is_that_of_the_folder_whatever_git_is_told(tmp_path, monkeypatch, root):
    """As by a hook or an IDE."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    own = checked_out_commit(root)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert checked_out_commit(root) == own
    assert checked_out_commit(tmp_path)[0] != own[0]
