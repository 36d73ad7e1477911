"""The manifest written by the workflow: complete, correct, the same everywhere, and a valid RO-Crate."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from publishing.result_checks.manifest import MANIFEST, problems, published_files, read_manifest
from run_tables.run_documents import file_sha256

SMOKE = ("--configfile", "config/studies/smoke.yaml")


@pytest.fixture(scope="module")
def results(smoke):
    return smoke.folder / "results/smoke"


@pytest.fixture(scope="module")
def crate(results):
    return {entity["@id"]: entity for entity in json.loads((results / MANIFEST).read_text())["@graph"]}


def many(value):
    return value if isinstance(value, list) else [value]


def ids(value):
    return [item["@id"] for item in many(value)]


def test_every_published_file_is_listed_and_as_it_is_listed(results):
    files = read_manifest(results)
    assert set(files) == set(published_files(results)) - {MANIFEST}
    assert list(problems(results, files)) == []
    assert sum(path.startswith("runs/") for path in files) == 16
    assert {path.split("/")[0] for path in files} == {
        "runs",
        "tidy",
        "analysis",
        "figures",
        "workflow",
        "report.html",
        "details.html",
        "findings.json",
        "explore.html",
    }


def test_digests_of_runs_are_those_of_the_table(results):
    files = read_manifest(results)
    with (results / "tidy/runs.csv").open() as stream:
        for run in csv.DictReader(stream):
            path = f"runs/{run['scenario']}/{run['cca']}/{run['ip_version']}/{run['replication']}.json.gz"
            assert files[path].sha256 == run["document_sha256"] == file_sha256(results / path)


def test_the_same_results_give_the_same_manifest_elsewhere_and_later(copy_of_smoke, results, monkeypatch):
    """The folder, time zone and language differ, and the environment sets another date."""
    for name, value in {"TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "86400"}.items():
        monkeypatch.setenv(name, value)
    again = copy_of_smoke.folder / "results/smoke" / MANIFEST
    before = again.stat().st_mtime_ns
    copy_of_smoke.snakemake("--cores", "1", *SMOKE, "--forcerun", "write_manifest")
    assert again.stat().st_mtime_ns > before
    assert again.read_bytes() == (results / MANIFEST).read_bytes()


def test_a_lost_manifest_is_made_again_and_nothing_else(copy_of_smoke):
    (copy_of_smoke.folder / "results/smoke" / MANIFEST).unlink()
    assert copy_of_smoke.planned(*SMOKE) == {"write_manifest": 1, "all": 1}


def test_changed_results_are_listed_anew(copy_of_smoke):
    script = copy_of_smoke.folder / "workflow/scripts/topics/cells/describe_cells.py"
    script.write_text(script.read_text() + "\nCHANGED = True\n")
    assert "write_manifest" in copy_of_smoke.planned(*SMOKE)


def test_the_study_in_the_results_can_be_run_as_it_is(copy_of_smoke):
    planned = copy_of_smoke.planned("--configfile", "results/smoke/workflow/study.json")
    assert "emulate_run" not in planned


def test_the_library_reads_it_back(smoke, root, results):
    program = (
        "import sys; from rocrate.rocrate import ROCrate; crate = ROCrate(sys.argv[1]);"
        " print(crate.mainEntity.id, len(list(crate.get_by_type('File'))), crate.root_dataset['license'].id)"
    )
    command = [Path(sys.executable).with_name("apptainer"), "--silent", "exec", "--userns", "--bind", results]
    command += [root / "envs/analysis.sif", "python3", "-c", program, results]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == [
        "workflow/Snakefile",
        str(len(read_manifest(results))),
        "https://spdx.org/licenses/MIT",
    ]


def test_metadata_has_what_ro_crate_requires(crate, results):
    """RO-Crate 1.1: metadata descriptor, root data entity and its licence and date."""
    descriptor, root = crate[MANIFEST], crate["./"]
    assert descriptor["@type"] == "CreativeWork" and descriptor["about"] == {"@id": "./"}
    assert "https://w3id.org/ro/crate/1.1" in ids(descriptor["conformsTo"])
    assert root["@type"] == "Dataset" and root["name"] == "Reno and Vegas, a first look" and root["description"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", root["datePublished"])
    assert crate[root["license"]["@id"]]["@type"] == "CreativeWork"
    context = json.loads((results / MANIFEST).read_text())["@context"]
    assert context == ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]


def test_every_reference_within_the_crate_is_to_one_of_its_entities(crate):
    for entity in crate.values():
        for key, value in entity.items():
            for item in many(value):
                if isinstance(item, dict) and not re.match("https?://", item["@id"]):
                    assert item["@id"] in crate, (entity["@id"], key)


def test_every_file_hangs_on_the_root(crate):
    reached, waiting = set(), ["./"]
    while waiting:
        parts = ids(crate[waiting.pop()].get("hasPart", []))
        reached.update(parts)
        waiting += parts
    assert {path for path, entity in crate.items() if "File" in many(entity["@type"])} <= reached


def test_metadata_has_what_a_workflow_run_requires(crate):
    """Workflow RO-Crate 1.0; Process and Workflow Run Crate 0.5."""
    root, workflow, action = crate["./"], crate["workflow/Snakefile"], crate["#study-run"]
    for profile in ("wfrun/process/0.5", "wfrun/workflow/0.5", "workflowhub/workflow-ro-crate/1.0"):
        address = next(name for name in ids(root["conformsTo"]) if name.endswith(profile))
        assert crate[address]["@type"] == "CreativeWork" and crate[address]["version"] == profile.split("/")[-1]
    assert root["mainEntity"] == {"@id": "workflow/Snakefile"} and root["mentions"] == {"@id": "#study-run"}
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert crate[workflow["programmingLanguage"]["@id"]]["name"] == "Snakemake"
    assert action["@type"] == "CreateAction" and action["instrument"] == {"@id": "workflow/Snakefile"}
    assert ids(action["object"]) == ["workflow/study.json", "workflow/claims.yaml"]
    assert ids(action["result"]) == [
        "analysis/",
        "details.html",
        "explore.html",
        "figures/",
        "findings.json",
        "report.html",
        "runs/",
        "tidy/",
    ]
    for direction in ("input", "output"):
        for parameter in ids(workflow[direction]):
            example = crate[parameter]["workExample"]["@id"]
            assert crate[parameter]["@type"] == "FormalParameter" and crate[parameter]["additionalType"] in (
                "File",
                "Dataset",
            )
            assert crate[example]["exampleOfWork"] == {"@id": parameter}


def test_images_kernel_and_tools_are_those_of_the_runs(crate, results, root):
    provenance = json.loads((results / "tidy/provenance.json").read_text())
    [environment] = provenance["environments"]
    images = {crate[name]["name"]: crate[name]["identifier"] for name in ids(crate["#study-run"]["containerImage"])}
    described = {
        name: json.loads((root / f"envs/{name}.json").read_text())["content_digest"] for name in ("testbed", "analysis")
    }
    assert images == {f"envs/{name}.sif": digest for name, digest in described.items()}
    software = {
        crate[name]["name"]: crate[name]["softwareVersion"]
        for name in ids(crate["workflow/Snakefile"]["softwareRequirements"])
    }
    assert software["linux"] == environment["kernel"]
    assert software["iperf3"] == environment["iperf3_version"] and software["mininet"] == environment["mininet_version"]
    assert {"numpy", "pandas", "scipy", "matplotlib"} <= set(software)
