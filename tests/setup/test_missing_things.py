"""Missing requirements are reported in one sentence, before anything is made."""

import os
import stat
import subprocess
import sys

import pytest

from fresh_clone import users_own


def refusal(answer, checkout):
    """The single line that a refused set-up prints, after checking that nothing was made."""
    assert answer.returncode != 0
    assert not (checkout / ".venv").exists()
    lines = [line for line in answer.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(lines) == 1, answer.stderr
    return lines[0]


def program(folder, name, text):
    """Put a shell script into a folder for PATH; return the folder as text."""
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return str(folder)


def test_python_missing(make_setup, checkout):
    assert "Python 3.11" in refusal(make_setup("PYTHON=python-that-is-not-there"), checkout)


def test_python_too_old(checkout):
    """The version is checked before any line that an old Python can't parse."""
    lines = (checkout / "setup" / "__main__.py").read_text().splitlines()
    check = lines.index("if sys.version_info < (3, 11):")
    imports = [line for line in lines[:check] if line.startswith(("import", "from"))]
    assert imports == ["import os", "import signal", "import subprocess", "import sys"]


@pytest.mark.parametrize("goal", ["run", "verify", "publish", "sensitivity"])
def test_study_missing(root, goal):
    answer = subprocess.run(["make", goal, "STUDY=smok"], cwd=root, env=users_own(), capture_output=True, text=True)
    sentence, *rest = answer.stderr.splitlines()
    assert answer.returncode != 0 and answer.stdout == ""
    assert sentence.startswith("sawtooth: STUDY='smok': there is no study of that name (nearest: smoke)")
    assert all(line.startswith("make: ***") for line in rest)


@pytest.mark.parametrize("name", ["ipv4-ipv6", "config/config.yaml"])
def test_the_default_study_answers_to_its_name(root, name):
    """So the published files and their location don't depend on how the study was named in the call."""
    answer = subprocess.run(
        ["make", "-n", "publish", f"STUDY={name}"], cwd=root, env=users_own(), capture_output=True, text=True
    )
    assert "publishing.pack_results 'results/ipv4-ipv6'" in answer.stdout and answer.stderr == ""


def test_no_mirror(make_setup, checkout):
    assert "SAWTOOTH_MIRROR" in refusal(make_setup(), checkout)


def test_why_images_are_built(make_setup, checkout, tmp_path):
    """If a machine that was set up builds everything again, the message names the cache of the last set-up if that still exists."""
    kept = tmp_path / "other/images/analysis-0/root"
    kept.mkdir(parents=True)
    (checkout / "envs/analysis.sif").symlink_to(kept)
    said = f"the cache {tmp_path}/cache has no image analysis, testbed of this version: building takes minutes"
    assert f"{said}; the last set-up here used SAWTOOTH_CACHE={tmp_path}/other\n" in make_setup().stdout
    kept.rmdir()
    assert f"{said}\n" in make_setup().stdout


def test_user_namespaces_forbidden(make_setup, checkout, tmp_path):
    bin_dir = program(
        tmp_path / "bin", "unshare", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1"
    )
    line = refusal(make_setup(PATH=f"{bin_dir}:{os.environ['PATH']}"), checkout)
    assert "user namespaces" in line and "Operation not permitted" in line


def test_cache_can_not_be_written(make_setup, checkout, tmp_path):
    (tmp_path / "file").touch()
    line = refusal(make_setup(SAWTOOTH_CACHE=f"{tmp_path}/file/cache", SAWTOOTH_MIRROR="http://127.0.0.1:1/"), checkout)
    assert "SAWTOOTH_CACHE" in line


def test_named_apptainer_that_is_none(tmp_path):
    import toolbox
    from progress import SetupError

    path = program(tmp_path / "bin", "apptainer", "echo singularity version 3.8")
    for named in ("not-there", f"{path}/apptainer"):
        with pytest.raises(SetupError, match="SAWTOOTH_APPTAINER is"):
            toolbox.find_apptainer({"SAWTOOTH_APPTAINER": named, "PATH": path})


@pytest.mark.parametrize(("answer", "used"), [("1.1.9", False), ("1.2.0", True), ("1.4.5-2", True)])
def test_apptainer_of_the_machine(tmp_path, answer, used):
    import toolbox

    path = program(tmp_path / "bin", "apptainer", f"echo apptainer version {answer}")
    used_program = toolbox.find_apptainer({"PATH": path})
    assert used_program == (f"{path}/apptainer" if used else None)


def test_a_wrapper_of_ours_is_never_the_machines_whatever_environment_has_it(tmp_path):
    """Otherwise it would call itself, or vanish with the other environment."""
    import toolbox
    from progress import SetupError

    machines = program(tmp_path / "machine", "apptainer", "echo apptainer version 1.4.5")
    (tmp_path / "venv/bin").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", machines)
        assert toolbox.provide_apptainer(tmp_path / "venv") == f"{machines}/apptainer"
    ours = f"{tmp_path}/venv/bin"
    assert toolbox.find_apptainer({"PATH": f"{ours}:{machines}"}) == f"{machines}/apptainer"
    assert toolbox.find_apptainer({"PATH": ours}) is None
    with pytest.raises(SetupError, match="SAWTOOTH_APPTAINER is"):
        toolbox.find_apptainer({"SAWTOOTH_APPTAINER": f"{ours}/apptainer", "PATH": machines})


@pytest.mark.parametrize("architecture", ["aarch64", "armv7l", "ppc64le"])
def test_other_architectures(architecture):
    import machine
    from progress import SetupError

    with pytest.raises(SetupError, match=f"{architecture}.*x86-64"):
        machine.check_architecture(architecture)


@pytest.mark.parametrize(
    ("line", "enough"),
    [
        ("ann:100000:65536", True),
        ("1234:100000:65536", True),
        ("ann:100000:1000", False),
        ("anna:100000:65536", False),
        ("", False),
        ("ann:100000:", False),
    ],
)
def test_id_ranges(tmp_path, line, enough):
    import machine

    table = tmp_path / "subuid"
    table.write_text(f"root:1:65536\n{line}\n")
    assert machine.has_id_range(table, "ann", 1234) is enough


def test_user_without_newuidmap(tmp_path, monkeypatch):
    """The message names the package and the command that assigns the range."""
    import machine
    from progress import SetupError

    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    table = tmp_path / "subuid"
    table.touch()
    with pytest.raises(SetupError, match="apt-get install uidmap && usermod --add-subuids .* nobody") as caught:
        machine.check_image_building({"PATH": str(tmp_path)}, tables=(table, table))
    assert "\n" not in str(caught.value)


def test_disk_full(tmp_path):
    import cache
    from progress import SetupError

    with pytest.raises(SetupError, match=r"needs 1e\+06 GB below .* GB are free"):
        cache.require_space(tmp_path, 1e6, "the test")


def test_failing_command_shows_its_log(tmp_path, capsys):
    import progress

    log = tmp_path / "log"
    script = "print('==> first step', flush=True); print('the cause'); raise SystemExit(3)"
    with pytest.raises(progress.SetupError, match=f"(?s)exit status 3.*{log}.*the cause"):
        progress.run_logged([sys.executable, "-c", script], log, "work")
    assert "work: first step" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"SAWTOOTH_MIRROR": "http://127.0.0.1:1/debian"},
            "can't be fetched (no network, or no Debian mirror at http://127.0.0.1:1/debian?): ",
        ),
        (
            {"PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_RETRIES": "0"},
            "can't be fetched (no network, or no package index?): ",
        ),
    ],
)
def test_no_network(root, tmp_path, variables, sentence):
    """Each step that fetches reports this; it runs in a separate Python, as started by make."""
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'setup'); import debian, environment, progress\n"
        "try:\n"
        "    if sys.argv[1] == 'SAWTOOTH_MIRROR': debian.unpack_packages(['hello'], Path(sys.argv[2]), Path(sys.argv[2], 'log'), 'It')\n"
        "    else: environment.LOG = Path(sys.argv[2], 'log'); environment.make_environment(Path(sys.argv[2], 'venv'))\n"
        "except progress.SetupError as error: print('refused:', error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, next(iter(variables)), tmp_path],
        cwd=root,
        capture_output=True,
        text=True,
        env={**{name: value for name, value in os.environ.items() if not name.startswith("PIP_")}, **variables},
    )
    assert "refused:" in answer.stdout and sentence in answer.stdout, answer.stderr
    assert not (tmp_path / "venv" / ".sawtooth-key").exists()


@pytest.mark.parametrize("name", ["it's $(touch pwned)", "a:b"])
def test_a_path_that_a_shell_would_act_on(checkout, name):
    moved = checkout.rename(checkout.with_name(name))
    done = subprocess.run(["make", "setup"], cwd=moved, env=users_own(), capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(lines) == 1 and lines[0].startswith("sawtooth: the checkout's path has the character ")
    assert not list(moved.parent.rglob("pwned"))


@pytest.mark.parametrize(
    ("switch", "apptainer", "sentence"),
    [("1", None, "AppArmor"), ("0", None, "user namespaces"), ("1", "its own", None)],
)
def test_user_namespaces_kept_back_by_apparmor(tmp_path, monkeypatch, switch, apptainer, sentence):
    """As on Ubuntu 24.04 and later: the command for an administrator, unless an Apptainer with a profile exists."""
    import machine
    from progress import SetupError

    (tmp_path / "switch").write_text(switch + "\n")
    path = program(tmp_path / "bin", "unshare", "echo 'unshare: mount failed: Permission denied' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    if sentence is None:
        machine.check_user_namespaces(apptainer, tmp_path / "switch")
        return
    with pytest.raises(SetupError, match="sysctl -w kernel.*") as caught:
        machine.check_user_namespaces(apptainer, tmp_path / "switch")
    assert sentence in str(caught.value) and ("apparmor" in str(caught.value)) == (switch == "1")


def test_a_machine_without_apt_hears_of_all_that_it_lacks(tmp_path, monkeypatch):
    """As on Fedora: one sentence lists everything, and there is none once it is installed."""
    import toolbox
    from progress import SetupError

    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    environ = {"PATH": program(tmp_path / "bin", "other", "")}
    with pytest.raises(SetupError, match=r"dnf install apptainer debootstrap squashfs-tools") as caught:
        toolbox.check_programs(True, environ)
    assert "\n" not in str(caught.value)
    with pytest.raises(SetupError, match=r"`dnf install apptainer`"):
        toolbox.check_programs(False, environ)
    for name in ("debootstrap", "mksquashfs"):
        program(tmp_path / "bin", name, "")
    program(tmp_path / "bin", "apptainer", "echo apptainer version 1.4.5")
    toolbox.check_programs(True, environ)
