"""The study of perturbed scenarios of the mini study: written, run by the workflow, and shown as one table."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.long

NAME = "results/mini-sensitivity"
ROOT = Path(__file__).resolve().parents[2]


def test_perturbed_scenarios_run_as_any_study(fresh):
    environment = os.environ | {"PYTHONPATH": "workflow/scripts:workflow"}

    def sensitivity(*arguments):
        command = [sys.executable, "-m", "session.sensitivity", *arguments]
        return subprocess.run(command, cwd=fresh.folder, env=environment, capture_output=True, text=True, check=True)

    # The tick of a guest kernel needs a separate kernel, which is built.
    (fresh.folder / "setup").symlink_to(ROOT / "setup")
    written = sensitivity("write", "config/studies/mini.yaml", f"{NAME}.yaml", "--count", "1").stdout
    assert "9 scenarios, 36 runs" in written
    fresh.snakemake("--cores", "1", "--configfile", f"{NAME}.yaml")
    table = pd.read_csv(fresh.folder / NAME / "analysis/sensitivity.csv")
    assert table["perturbation"].tolist() == [
        "again",
        "offload",
        "rtt-up",
        "rtt-down",
        "queue-up",
        "queue-down",
        "twice",
        "tick",
    ]
    runs = pd.read_csv(fresh.folder / NAME / "tidy/runs.csv")
    # Super-packets in a run of a second come out invalid (buffers, goodput_ceiling): then nothing is concluded of them.
    valid = runs.groupby(runs["scenario"].str.rpartition(".")[2])["valid"].all()
    assert valid.drop("offload").all()
    known = table["perturbation"].map(valid)
    assert (table.loc[known, "conclusions"] == 4).all() and (table.loc[~known, "conclusions"] == 0).all()
    assert (table[["same", "turned", "lost", "won"]].sum(axis=1) == table["conclusions"]).all()
    rtts = runs.groupby(runs["scenario"].str.rpartition(".")[2])["rtt_path_ms"].first()
    assert round(rtts["rtt-up"] / rtts["as-is"], 6) == 1.01 and rtts["again"] == rtts["as-is"]
    shown = sensitivity("show", NAME).stdout
    assert "RTT +1 %" in shown and "turned" in shown.splitlines()[0]
    page = (fresh.folder / NAME / "details.html").read_text()
    assert "Which conclusions depend on the settings?" in page
