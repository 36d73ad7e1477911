"""Results with their images, moved to a machine without network and with an empty cache, are rerun there to the byte."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fresh_clone import copy_of_workflow, has_environment, real_apptainer

pytestmark = pytest.mark.long

#: What unshare needs to leave the machine's network: nothing for root, a user namespace for others.
NO_NETWORK = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-current-user"]), "--net"]


@pytest.fixture(scope="module")
def received(root, mini, tmp_path_factory):
    """A folder with the crate of the mini study and its images beside it, as made by `make publish IMAGES=1`."""
    sender = tmp_path_factory.mktemp("sender")
    copy_of_workflow(root, sender)
    shutil.copytree(mini.folder / "results/mini", sender / "results/mini")
    for link in (mini.folder / "envs").iterdir():
        if link.is_symlink() and not (sender / "envs" / link.name).exists():
            (sender / "envs" / link.name).symlink_to(link.resolve())
    environ = {**os.environ, "PYTHONPATH": f"{sender}/workflow/scripts:{sender}/workflow"}
    for command in (["-m", "publishing.pack_results", "results/mini"], ["setup", "images", "--of", "results/mini"]):
        done = subprocess.run([sys.executable, *command], cwd=sender, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path_factory.mktemp("received")
    for name in ("mini.crate.zip", "mini.images.tar"):
        (sender / "results" / name).rename(folder / name)
    shutil.rmtree(sender)
    return folder


@pytest.fixture
def far_away(root, tmp_path):
    """A fresh checkout with an empty cache, and a function that calls make there without network."""
    checkout = tmp_path / "checkout"
    copy_of_workflow(root, checkout)
    has_environment(checkout)

    # The distribution's, so to speak: set-up takes its own wrapper for none.
    apptainer = real_apptainer()

    def make(*arguments):
        environ = {
            "PATH": f"{Path(apptainer).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "SAWTOOTH_CACHE": str(tmp_path / "cache"),
            "SAWTOOTH_APPTAINER": apptainer,
        }
        return subprocess.run(
            [*NO_NETWORK, "make", f"PYTHON={sys._base_executable}", *arguments],
            cwd=checkout, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
        )  # fmt: skip

    return make


def test_runs_are_repeated_with_the_images_that_came_along(received, far_away, tmp_path):
    seen = subprocess.run([*NO_NETWORK, "cat", "/proc/net/dev"], check=True, capture_output=True, text=True).stdout
    assert [line.split(":")[0].strip() for line in seen.splitlines()[2:]] == ["lo"]
    done = far_away("verify", f"RESULTS={received}/mini.crate.zip", "IMAGES=1", "N=2")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("same bytes") == 2 and "verdict: no problem was found: 2 of " in done.stdout
    taken = sorted(path.name.split("-")[0] for path in (tmp_path / "cache/images").iterdir() if path.is_dir())
    assert taken == ["analysis", "testbed"]
    assert sorted(path.name for path in received.iterdir()) == ["mini.crate.zip", "mini.images.tar"]
