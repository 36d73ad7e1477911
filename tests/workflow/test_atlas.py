"""The whole of `make atlas`: two small studies of a publication, their archives, and the page."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.long

CLAIM = {
    "section": "abstract", "statement": "One flow uses the link.", "published": "90 %", "quantity": "goodput_mbps", "kind": "threshold",
    "pick": "mean", "tolerance": "None.",
}  # fmt: skip
CLAIMS = {
    "paper": {"title": "A link in use", "authors": "Somebody", "source": "Nowhere, 2026"},
    "ccas": ["reno"],
    "ip_versions": ["ipv4"],
    "scenarios": [{"id": "link", "rate_mbps": 10}],
    "claims": [
        {"id": "used", "requirement": {"at_least": 8}, **CLAIM},
        {"id": "exceeded", "requirement": {"at_least": 11}, "cause": "The link has 10 Mbit/s.", **CLAIM},
    ],
}
STUDY = {
    "title": "A link", "description": "One flow.", "seed": 1, "replications": 6, "ccas": ["reno"], "ip_versions": ["ipv4"],
    "analysis": {"claims": "link"},
    "scenarios": [{"id": "link", "label": "link", "link": {"rate_mbps": 10, "delay_ms": 5}, "traffic": {"duration_s": 5}}],
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory, checkout_in, root):
    """A checkout with the atlas of two studies, and the output of the command."""
    checkout = checkout_in(tmp_path_factory.mktemp("atlas") / "checkout")
    folder = checkout.folder
    (folder / "config/claims/link.yaml").write_text(yaml.safe_dump(CLAIMS))
    shutil.rmtree(folder / "config/studies/atlas")
    (folder / "config/studies/atlas").mkdir()
    for name in ("first", "second"):
        (folder / f"config/studies/atlas/{name}.yaml").write_text(yaml.safe_dump({"study": name} | STUDY))
    shutil.copy(root / "Makefile", folder)
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}

    def call(*words):
        command = ["make", "--old-file", "setup", "atlas", "RERUN=1", *words]
        return subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200, env=environment
        )  # fmt: skip

    failed = call("STUDIES=first nonesuch")
    assert failed.returncode and "there are no results of nonesuch; the errors are printed above" in failed.stdout
    assert "there is no study of that name" in failed.stdout
    assert not (folder / "results/atlas").exists()
    done = call()
    assert done.returncode == 0, done.stdout[-3000:]
    return folder, done.stdout


def test_all_studies_of_the_folder_are_on_the_page(made):
    folder, printed = made
    for name in ("first", "second"):
        assert f"{name}: holds in part (1 reproduced and 1 not reproduced)" in printed
    table = pd.read_csv(folder / "results/atlas/atlas.csv", keep_default_na=False)
    assert table[["study", "claim", "verdict"]].to_numpy().tolist() == [
        [name, claim, verdict]
        for name in ("first", "second")
        for claim, verdict in (("used", "reproduced"), ("exceeded", "not reproduced"))
    ]
    page = (folder / "results/atlas/index.html").read_text()
    assert "The link has 10 Mbit/s." in page and "Nowhere, 2026" in page and "../first/report.html" in page


def test_digests_are_those_of_the_archives(made):
    folder, _ = made
    sums = dict(line.split()[::-1] for line in (folder / "results/atlas/SHA256SUMS").read_text().splitlines())
    assert sums == {
        f"{name}.crate.zip": hashlib.sha256((folder / f"results/{name}.crate.zip").read_bytes()).hexdigest()
        for name in ("first", "second")
    }
