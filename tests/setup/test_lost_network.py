"""The network is lost while set-up fetches something: one sentence, no incomplete file is kept, and the next call completes it."""

import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import python_packages
from failing_server import FAULTS, SENT_BYTES, URL, network_of

pytestmark = [pytest.mark.long, pytest.mark.faults]

#: What is fetched -> the lines of set-up that fetch it, which print where it then is.
STAGES = {
    "the workflow environment": "environment.make_environment(Path('venv'), Path('packages.lock')); print('has', 'venv/lib')",
    "wheels of an image": "print('has', images.fetch_wheels(Path('packages.lock'), sys.executable))",
    "Debian packages": "print('has', locked_packages.provide('section'))",
    "Debian packages without apt": "debian.APT_HELPER = '/none'; print('has', locked_packages.provide('section'))",
}
CALL = """\
import sys
from pathlib import Path
import debian, environment, images, locked_packages, progress
try:
    {}
except progress.SetupError as error:
    sys.exit(progress.refuse(error))
"""
#: Longest time until set-up gives up, in seconds: pip waits for 15, apt for 30 and urllib for 60 for each of two archives.
LONGEST_S = 150


@pytest.fixture
def served(tmp_path, root):
    """A folder with packages of each kind, a small one before a large one; returns SHA-256 by file name."""
    digests, locked = {}, []
    for name, size in (("first", 1000), ("snakemake", 2 * SENT_BYTES), ("third", 1000)):
        content = random.Random(name).randbytes(size)
        wheel = tmp_path / f"served/simple/{name}/{name}-1.0-py3-none-any.whl"
        wheel.parent.mkdir(parents=True)
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{name}-1.0.data/scripts/{name}", "#!python\n")
            archive.writestr(f"{name}-1.0.data/data/lib/{name}", content)
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
        package = tmp_path / f"served/mirror/{name}.deb"
        package.parent.mkdir(exist_ok=True)
        package.write_bytes(content)
        for file in (wheel, package):
            digests[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        digests[name] = digests[package.name]
        locked.append(f"{name} 1.0 all {size} {digests[package.name]} {package.name}\n")
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs/debian.lock").write_text("archive 20260102T030405Z\n[section]\n" + "".join(locked))
    wheels = [name for name in digests if name.endswith(".whl")]
    requirements = (f"{name.split('-')[0]}==1.0 --hash=sha256:{digests[name]}\n" for name in wheels)
    (tmp_path / "packages.lock").write_text("".join(requirements))
    # uv is there already; the served packages don't include it.
    shutil.copy(root / python_packages.LOCK, tmp_path / "envs")
    with contextlib.chdir(root):
        uv = python_packages.provide_uv(python_packages.pip_command(sys.executable), tmp_path / "uv.log")
    (tmp_path / "cache/uv").mkdir(parents=True)
    (tmp_path / "cache/uv" / uv.parents[1].name).symlink_to(uv.parents[1])
    return digests


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("stage", STAGES)
def test_network_lost_while_something_is_fetched(root, tmp_path, served, stage, fault):
    began = time.monotonic()
    (broken,) = fetch(root, tmp_path, stage, fault)
    assert broken.returncode == 1 and time.monotonic() - began < LONGEST_S
    (sentence,) = broken.stderr.splitlines()
    assert sentence.startswith("sawtooth: ") and "can't be " in sentence
    assert "Ignored the following" not in sentence and "DO NOT MATCH" not in sentence
    assert "has " not in broken.stdout
    assert not (tmp_path / "venv/.sawtooth-key").exists()
    made = [
        path
        for path in (tmp_path / "cache").glob("*/*")
        if path.is_dir() and path.parent.name not in ("uv", "packages")
    ]
    assert [path for path in made if path.name != "fetched"] == []
    if "Debian" in stage:
        assert "run the command again when there is a network" in sentence
        # nor is what came before the fault fetched again
        assert [path.name for path in (tmp_path / "cache").glob("debian/fetched/*")] == ["first.deb"]
        (tmp_path / "served/mirror/first.deb").unlink()
    (whole,) = fetch(root, tmp_path, stage)
    has_all(whole, tmp_path, served)
    assert not (tmp_path / "cache/debian/fetched").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_two_set_ups_at_once(root, tmp_path, served, stage):
    """In one clone, or in two that fill one cache: one fetches and the other waits."""
    calls = fetch(root, tmp_path, stage, count=2)
    for call in calls:
        has_all(call, tmp_path, served)
    words = "".join(call.stdout for call in calls)
    assert words.count(": started") + words.count("files\n") == (2 if stage == "the workflow environment" else 1), words


def has_all(call, folder, served):
    """Fail unless a call of `fetch` has made a folder with the three files exactly as served."""
    assert call.returncode == 0, call.stdout + call.stderr
    place = folder / call.stdout.splitlines()[-1].removeprefix("has ")
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.iterdir() if path.is_file()}
    assert len(files) == 3 and files.items() <= served.items()


def fetch(root, folder, stage, fault=None, count=1):
    """Return the finished calls of a stage of set-up, started at the same time, each in a Python process like that of `make`."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))} | {
        "PYTHONPATH": os.pathsep.join(f"{root}/{part}" for part in ("setup", "workflow/scripts", "workflow")),
        "SAWTOOTH_CACHE": f"{folder}/cache", "SAWTOOTH_MIRROR": f"{URL}/mirror", "SAWTOOTH_SNAPSHOT": f"{URL}/past",
        "PIP_INDEX_URL": f"{URL}/simple", "PIP_CACHE_DIR": f"{folder}/pip",
    }  # fmt: skip
    try:
        with network_of(folder / "served", fault) as within:
            command = [*within, Path(sys._base_executable), "-c", CALL.format(STAGES[stage])]
            calls = [
                subprocess.Popen(
                    command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                for _ in range(count)
            ]
            printed = [call.communicate(timeout=300) for call in calls]
    except OSError as error:
        pytest.skip(str(error))
    return [
        subprocess.CompletedProcess(call.args, call.returncode, *texts)
        for call, texts in zip(calls, printed, strict=True)
    ]
