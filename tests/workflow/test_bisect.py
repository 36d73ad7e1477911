"""`make bisect` on a real history: Linux with planted commits, of which one changes CUBIC, one doesn't compile, one doesn't boot."""

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import git_history
import kernel_history
from own_commands import own_command
from study_files.kernels import completed_kernel

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import cache  # noqa: E402
import locked_packages  # noqa: E402

pytestmark = pytest.mark.long
COMMITS, CULPRIT, BROKEN, DEAD = 36, 22, 18, 27
#: A shallow buffer shows how far CUBIC backs off; the other cell shows nothing.
STUDY = """study: backs-off
seed: 46
ccas: [cubic]
ip_versions: [ipv4]
defaults:
  link: {rate_mbps: 20, delay_ms: 20}
  traffic: {duration_s: 15}
scenarios:
  - {id: shallow, flows: 1, queue: {bdp: 0.25}}
  - {id: deep, flows: 1, queue: {bdp: 4}}
"""


@pytest.fixture(scope="module")
def linux(tmp_path_factory):
    """A repository with the source of the image's kernel and planted commits, and their names by number."""
    before = {*folders_of_steps()}
    with contextlib.chdir(ROOT):
        (package,) = locked_packages.provide("linux").glob("*.deb")
    folder = kernel_history.unpacked_linux(package, tmp_path_factory.mktemp("history") / "linux")
    yield folder, kernel_history.plant(folder, COMMITS, CULPRIT, BROKEN, DEAD)
    for left in {*folders_of_steps()} - before:
        cache.remove_tree(left)


def folders_of_steps():
    return [path for path in cache.cache_entry("kernels", "steps").parent.glob("steps-*") if path.is_dir()]


def test_the_planted_commit_is_found(linux, tmp_path):
    folder, names = linux
    (tmp_path / "study.yaml").write_text(STUDY)
    kept = git_history.contents_of(folder / ".git")
    command = own_command(ROOT, "bisecting.bisect", folder, "study.yaml", "--good", names[0], "--bad", "main", "--when", "goodput_mbps falls")  # fmt: skip
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("step 2: "):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (130, "sawtooth: interrupted; the same command continues from here.\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=7200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"first bad commit: {names[CULPRIT]} tcp_cubic: tidy up" in done.stdout
    (file,) = tmp_path.glob("results/bisect/*/bisect.json")
    found = json.loads(file.read_text())
    assert found["first_bad"] == names[CULPRIT] and found["most_error"] <= 0.05
    assert found["cell"] == "shallow/cubic/ipv4"
    assert found["after"]["median"] < found["before"]["median"]
    number = {name: place for place, name in names.items()}
    kinds = {number[verdict["commit"]]: verdict["kind"] for verdict in found["verdicts"]}
    assert {BROKEN, DEAD} & kinds.keys() == {place for place, kind in kinds.items() if kind == "skip"}
    assert all(kind in ("skip", "bad" if place >= CULPRIT else "good") for place, kind in kinds.items())
    seconds = [verdict["seconds"] for verdict in found["verdicts"]]
    assert sum(seconds) / len(seconds) < 240
    assert git_history.contents_of(folder / ".git") == kept


def test_a_kernel_built_step_by_step_is_the_one_built_from_scratch(linux, tmp_path):
    """They are identical: the objects that a step keeps are those that it would compile."""
    folder, names = linux
    kernel = json.dumps(completed_kernel({"tree": str(folder), "revision": names[CULPRIT]}))
    for way, more in (("step", []), ("kernel", [tmp_path / "kernel.json"])):
        command = [sys.executable, ROOT / "setup", way, "0123456789abcdef", tmp_path / way, *more, kernel]
        done = subprocess.run(command, capture_output=True, text=True, timeout=7200)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "step").read_bytes() == (tmp_path / "kernel").read_bytes()
