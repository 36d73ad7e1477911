"""Specifications of simulated runs, and the simulator's image, in which they are really executed."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from run_tables.document_form import read_form, violation
from simulator.run import program_digest
from study_files import study as studies

ROOT = Path(__file__).resolve().parents[2]
FORM = read_form(ROOT / "workflow/schemas/run.schema.json")
SMOKE = "config/studies/smoke.yaml"


@pytest.fixture(scope="session")
def specification():
    """A function that returns the specification of a simulated run: the smoke study's first scenario, with changes by section."""

    def make(cca="reno", ip_version="ipv4", version="3.44", replication=1, **changes):
        factors = {"ccas": ["reno"], "ip_versions": [ip_version], "replications": replication}
        study = studies.resolve(studies.load(ROOT / SMOKE, factors), SMOKE)
        first = study["scenarios"][0]["id"]
        made = json.loads(json.dumps(studies.run_specification(study, first, "reno", ip_version, replication)))
        made["cca"] = cca  # a mix may need more flows than the scenario has before its changes
        scenario = made["scenario"]
        scenario["platform"] = f"ns3:{version}"
        for section, values in changes.items():
            if isinstance(values, dict) and section != "queue":
                scenario[section].update(values)
            else:
                scenario[section] = values
        return made

    return make


@pytest.fixture(scope="session")
def simulate(tmp_path_factory):
    """A function that executes a run in the image and returns the unchanged bytes of its document.

    The run computes the program's identity unless it is given (``program``).
    """
    image = ROOT / "envs/ns3.sif"
    if not image.exists():
        pytest.fail(f"{image} is missing: the tests need the images, run `make setup` first.")

    def carry_out(specification, program=None):
        output = tmp_path_factory.mktemp("run") / "run.json.gz"
        command = [
            str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv",
            "--bind", str(output.parent), "--bind", str(ROOT / "workflow"),
            "--env", f"PYTHONPATH={ROOT / 'workflow'}", str(image),
            "python3", "-m", "testbed", "--specification", json.dumps(specification), "--output", str(output),
            *(["--testbed-digest", program] if program else []),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        if done.returncode:
            pytest.fail(f"the run ended with {done.returncode}: {done.stderr[-2000:]}")
        return output.read_bytes()

    return carry_out


@pytest.fixture(scope="session")
def run(simulate):
    """A function that executes a run and returns its document."""
    program = program_digest()

    def carry_out(specification):
        document = json.loads(gzip.decompress(simulate(specification, program)))
        assert violation(FORM, document) is None
        return document

    return carry_out


@pytest.fixture
def program(tmp_path):
    """A function that runs the simulation program of a version on a plan's text and returns the bytes of its result."""

    def carry_out(plan, version="3.44"):
        (tmp_path / "plan").write_text(plan)
        command = [
            str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv",
            "--bind", str(tmp_path), "--pwd", str(tmp_path), str(ROOT / "envs/ns3.sif"),
            f"/opt/ns3/{version}/dumbbell", "plan", "result",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return (tmp_path / "result").read_bytes()

    return carry_out
