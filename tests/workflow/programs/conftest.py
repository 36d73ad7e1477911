"""Runs of declared programs as fixtures."""

import gzip
import json
import shutil

import pytest

from experiment.disciplines import completed
from program_runs import LINK, PROGRAMS, SENDER
from study_files import study as studies
from testbed.machine.program_files import digest_of, files_of, write_archive


@pytest.fixture
def made(tmp_path, monkeypatch, specification):
    """A function that returns the specification of a run with groups of programs; their archives are in ``programs``."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAMS / "sender.py", tmp_path)

    def make(*groups, programs=None, ip_version="ipv4", duration_s=4, **changes):
        used = {group["program"].partition(":")[0] for group in groups if "program" in group}
        declared = programs or {kind: SENDER | {"protocol": kind, "ccas": [kind]} for kind in used}
        config = {
            "study": "try",
            "ccas": ["reno"],
            "programs": declared,
            "scenarios": [{"id": "a", "flows": list(groups)}],
        }
        config["scenarios"][0] |= {"traffic": {"duration_s": duration_s}}
        scenario = studies.resolve(config, "try.yaml")["scenarios"][0]
        (tmp_path / "programs").mkdir(exist_ok=True)
        for one in declared.values():
            if one.get("path"):
                files = files_of(one["path"])
                write_archive(files, tmp_path / "programs" / f"{digest_of(files)[:16]}.tar")
        asked = specification(
            link=LINK,
            queue=completed({"packets": 50}),
            **{"traffic": {"duration_s": duration_s}, "ip_version": ip_version} | changes,
        )
        asked["scenario"] |= {key: scenario[key] for key in ("flows", "groups")}
        return asked

    return make


@pytest.fixture
def carried(made, testbed, tmp_path):
    """A function that executes such a run and returns its document; ``failing``: the checks that it must fail."""

    def carry_out(*groups, failing=(), name="run", **changes):
        output = tmp_path / f"{name}.json.gz"
        done = testbed(made(*groups, **changes), output, "--programs", str(tmp_path / "programs"))
        assert done.returncode == 0, done.stderr[-3000:]
        document = json.loads(gzip.decompress(output.read_bytes()))
        failed = {check["name"]: check["observed"] for check in document["verdict"]["checks"] if not check["ok"]}
        assert set(failing) == set(failed) if not failing else set(failing) <= set(failed), failed
        return document

    return carry_out


@pytest.fixture
def under_test(testbed, tmp_path, monkeypatch):
    """A function that executes a run of a scenario whose CCA is the program ``kind:kind``, and returns its document."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAMS / "sender.py", tmp_path)
    files = files_of("sender.py")
    write_archive(files, tmp_path / f"{digest_of(files)[:16]}.tar")

    def carry_out(kind, **scenario):
        declared = {kind: SENDER | {"protocol": kind, "ccas": [kind]}}
        config = {
            "study": "try",
            "ccas": ["reno", f"{kind}:{kind}"],
            "programs": declared,
            "scenarios": [{"id": "a", **scenario}],
        }
        asked = studies.run_specification(studies.resolve(config, "try.yaml"), "a", f"{kind}:{kind}", "ipv4", 1)
        output = tmp_path / "run.json.gz"
        done = testbed(asked, output, "--programs", str(tmp_path))
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(gzip.decompress(output.read_bytes()))

    return carry_out
