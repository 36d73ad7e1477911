"""How the answers of a scheduler's commands are understood; these tests need no scheduler."""

import os
import subprocess

import pytest
import yaml

from session.slurm_reachable import require_slurm

TEXT = "Job Id: 1.server\n    Job_Name = sawtooth\n    job_state = {}\n{}    queue = workq\n"
XML = "<Data><Job><Job_Id>1.server</Job_Id><job_state>{}</job_state>{}<queue>batch</queue></Job></Data>\n"


def command(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (TEXT.format("Q", ""), "running"),
        (TEXT.format("R", ""), "running"),
        (TEXT.format("F", "    Exit_status = 0\n"), "success"),
        (TEXT.format("F", "    Exit_status = 271\n"), "failed"),
        (TEXT.format("F", ""), "failed"),
        (XML.format("Q", ""), "running"),
        (XML.format("C", "<exit_status>0</exit_status>"), "success"),
        (XML.format("C", "<exit_status>271</exit_status>"), "failed"),
        ("qstat: Unknown Job Id 1.server\n", "failed"),
        ("qstat: cannot connect to server\n", "running"),
    ],
)
def test_status_of_a_pbs_job(root, tmp_path, answer, status):
    """PBS answers in lines, Torque in XML (its option -x)."""
    (tmp_path / "answer").write_text(answer)
    command(tmp_path / "bin", "qstat", f"cat {tmp_path}/answer")
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    script = root / "profiles/cluster-generic/status"
    done = subprocess.run(["sh", script, "1.server"], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == status


@pytest.mark.parametrize(
    ("commands", "sentence"),
    [
        ({}, "there is no Slurm here (sbatch is missing)"),
        ({"sbatch": ""}, "Slurm can't be asked (sinfo: No such file or directory)"),
        ({"sbatch": "", "sinfo": "echo broken >&2; exit 1"}, "Slurm does not answer (broken)"),
    ],
)
def test_a_missing_slurm_gets_one_sentence(tmp_path, monkeypatch, commands, sentence):
    (tmp_path / "bin").mkdir()
    for name, text in commands.items():
        command(tmp_path / "bin", name, text)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(SystemExit) as caught:
        require_slurm("slurm")
    assert sentence in str(caught.value) and "login node" in str(caught.value)


def test_no_setting_of_a_profile_is_lost(root):
    """profiles/default is loaded too, and would take precedence."""
    profiles = {
        path.parent.name: yaml.safe_load(path.read_text()) for path in (root / "profiles").glob("*/config.yaml")
    }
    default = profiles.pop("default")
    assert profiles["slurm"]["executor"] == "slurm" and profiles["exam"]["cores"] == "all"
    assert [default.keys() & profile.keys() for profile in profiles.values()] == [set()] * 3
