"""Runs by another, unprivileged user of the machine, with tools and an image that everyone may read."""

import json
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def apptainer_program():
    """Return the program that the set-up's wrapper starts (the wrapper itself belongs to this checkout)."""
    wrapper = Path(sys.executable).with_name("apptainer")
    line = re.search(r'exec "([^"]+)"', wrapper.read_text()) if wrapper.exists() else None
    return Path(line[1] if line else shutil.which("apptainer"))


def private_folder(*paths):
    """Return a folder above one of the paths that others can't enter, or None."""
    folders = (folder for path in paths for folder in path.parents)
    return next((folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH), None)


@contextmanager
def nobody(checkout):
    """Yield the user `nobody` with a checkout's testbed in a separate folder; skip the test if that is impossible.

    Parameters
    ----------
    checkout : pathlib.Path
    """
    if os.geteuid() != 0:
        pytest.skip("only root can become another user (and who isn't has just carried runs out as such)")
    image = (checkout / "envs/testbed.sif").resolve()
    if private := private_folder(image, apptainer_program()):
        pytest.skip(f"other users can't enter {private}: name a cache for all in SAWTOOTH_CACHE, then `make setup`")
    place = Path(tempfile.mkdtemp(prefix="sawtooth-test-", dir="/var/tmp"))
    try:
        yield OtherUser(pwd.getpwnam("nobody"), image, checkout, place)
    finally:
        shutil.rmtree(place)


class OtherUser:
    """A user with its own folder (`place`) and the testbed in it."""

    def __init__(self, user, image, checkout, place):
        self.user, self.image, self.place = user, image, place
        shutil.copytree(checkout / "workflow", place / "workflow")
        for path in (place, *place.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)

    def start(self, specification, name="run"):
        """Start a run and return its process, with ``document`` and ``log``, the paths that it writes.

        Its niceness is higher than the test's, for the reason given in `Checkout.start`.
        """
        document, log = self.place / f"{name}.json.gz", self.place / f"{name}.log"
        command = [
            "nice", str(apptainer_program()), "--silent", "exec", "--userns", "--cleanenv", "--bind", str(self.place),
            "--env", f"PYTHONPATH={self.place}/workflow", str(self.image), "python3", "-B", "-m", "testbed",
            "--specification", json.dumps(specification), "--output", str(document),
        ]  # fmt: skip
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, cwd=self.place, user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[], stderr=stream,
                env={"PATH": os.environ["PATH"], "HOME": str(self.place)},
            )  # fmt: skip
        process.document, process.log = document, log
        return process

    def carry_out(self, specification):
        """Execute a run and return the bytes of its document, which this user owns."""
        process = self.start(specification)
        assert process.wait(timeout=300) == 0, process.log.read_text()
        return self.written_by(process)

    def written_by(self, process):
        """Return the bytes of a process's document."""
        assert process.document.stat().st_uid == self.user.pw_uid
        return process.document.read_bytes()
