"""The whole of `make gallery`: two exams of two small cases, their archives, and the page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.long

CASES = ("5.2.1-solo", "5.2.1-beside-reno")


@pytest.fixture(scope="module")
def made(tmp_path_factory, checkout_in, root):
    """A checkout in which Vegas and DCTCP were examined, and the output of the command."""
    checkout = checkout_in(tmp_path_factory.mktemp("gallery") / "checkout")
    path = checkout.folder / "config/studies/exam-quick.yaml"
    study = yaml.safe_load(path.read_text())
    scenarios = [one | {"traffic": {"duration_s": 5}} for one in study["scenarios"] if one["id"] in CASES]
    for group in (group for one in scenarios for group in one.get("flows", ())):
        group["stop_s"] = 5
    study |= {"scenarios": scenarios, "replications": 2, "ccas": ["reno"]}
    primaries = {"5.2.1-solo": ["utilisation_percent"], "5.2.1-beside-reno": ["harm_throughput"]}
    study["exam"] |= {"standards": ["reno"], "primaries": primaries, "cca": "reno"}
    path.write_text(yaml.safe_dump(study))
    shutil.copy(root / "Makefile", checkout.folder)
    (checkout.folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    command = ["make", "--old-file", "setup", "gallery", "RERUN=1", "CCAS=vegas dctcp nonesuch"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}

    def call(*words):
        return subprocess.run(
            words, cwd=checkout.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200, env=environment
        )  # fmt: skip

    failed = call(*command)
    assert (
        failed.returncode and "sawtooth: there is no exam of nonesuch; the errors are printed above" in failed.stdout
    ), failed.stdout[-3000:]
    assert "CCA=nonesuch is not a CCA of the guest kernel" in failed.stdout.replace(": ", " ")
    assert not (checkout.folder / "results/gallery").exists()
    done = call(*command[:-1], "CCAS=vegas dctcp")
    assert done.returncode == 0, done.stdout[-3000:]
    return checkout.folder, call


def test_two_exams_are_side_by_side(made):
    folder, _ = made
    table = pd.read_csv(folder / "results/gallery/gallery.csv")
    assert table.groupby("cca", sort=False).size().to_dict() == {"vegas": 3, "dctcp": 3}
    page = (folder / "results/gallery/index.html").read_text()
    assert "DCTCP, ECN" in page and 'id="harm-harm_throughput"' in page and "exam-quick-dctcp.crate.zip" in page


def test_digests_are_those_of_the_archives(made):
    folder, call = made
    done = call("sh", "-c", "cd results && sha256sum --check gallery/SHA256SUMS")
    assert done.stdout.splitlines() == ["exam-quick-vegas.crate.zip: OK", "exam-quick-dctcp.crate.zip: OK"]
