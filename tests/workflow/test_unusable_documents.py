"""Unusable files among the run documents: all are named, none is counted, their runs are repeated."""

import gzip
import json
import re
import subprocess

import pytest

from publishing.damaged_results import note_begun

pytestmark = [pytest.mark.long, pytest.mark.faults]

MINI = ("--configfile", "config/studies/mini.yaml")
TIDY = ("--", "results/mini/tidy/runs.csv")
OTHER = "sha256:" + 64 * "0"


@pytest.fixture
def copy_of_mini(copy_of_mini):
    """A copy in the state of an interrupted call: files newer than the manifest may be legitimate."""
    note_begun(copy_of_mini.folder / "results/mini")
    return copy_of_mini


def changed(document, **keys):
    """Return a document as a file's bytes, with some keys of it or of one of its sections changed."""
    document = json.loads(gzip.decompress(document))
    for key, value in keys.items():
        (document["environment"] if key in document["environment"] else document)[key] = value
    return gzip.compress(json.dumps(document).encode(), mtime=0)


def test_all_unusable_documents_are_named_and_just_their_runs_repeated(copy_of_mini, mini):
    runs = copy_of_mini.folder / "results/mini/runs"
    good = {str(path.relative_to(runs)): path.read_bytes() for path in runs.rglob("*.json.gz")}
    near, far = "near/reno/ipv4/1.json.gz", "far/reno/ipv4/1.json.gz"
    digests = json.loads(gzip.decompress(good[near]))["environment"]
    damage = {
        near: (b"", "empty, 0 bytes"),
        "near/reno/ipv4/2.json.gz": (good["near/reno/ipv4/2.json.gz"][:-40], "truncated or damaged (Compressed"),
        "near/cubic/ipv4/1.json.gz": (
            gzip.compress(b'{"hello": 1}', mtime=0),
            "not a run document (schema_version is missing)",
        ),
        "near/cubic/ipv4/2.json.gz": (good["near/cubic/ipv4/1.json.gz"], "its replication is 1, the study's is 2"),
        far: (changed(good[far], schema_version=0), "its schema_version is 0, this workflow reads 3"),
        "far/reno/ipv4/2.json.gz": (
            changed(good["far/reno/ipv4/2.json.gz"], image_digest=OTHER),
            f'its image_digest is "{OTHER}", this workflow\'s is "{digests["image_digest"]}"',
        ),
        "far/cubic/ipv4/1.json.gz": (
            changed(good["far/cubic/ipv4/1.json.gz"], testbed_digest=OTHER),
            f'its testbed_digest is "{OTHER}", this workflow\'s is "{digests["testbed_digest"]}"',
        ),
    }
    for name, (content, _) in damage.items():
        (runs / name).write_bytes(content)

    status, printed = copy_of_mini.snakemake("--cores", "1", *MINI, *TIDY, check=False)
    assert status != 0
    assert "sawtooth: 7 of 8 run documents can't be used:" in printed
    assert "Traceback" not in printed
    copy_of_mini.same_results_as(mini, "tidy", "analysis", "figures")
    listed = (copy_of_mini.folder / "results/mini/logs/unusable-documents.txt").read_text().splitlines()
    assert len(listed) == 7
    for name, (_, cause) in damage.items():
        (line,) = (line for line in listed if line.startswith(f"results/mini/runs/{name}\t"))
        assert cause in line
    lines = printed.splitlines()
    first = lines.index("sawtooth: 7 of 8 run documents can't be used:") + 1
    assert [line.strip().replace(": ", "\t", 1) for line in lines[first : first + 5]] == listed[:5]

    command = re.search(r"^ +(cut -f1 results/mini/logs/unusable-documents\.txt .*)$", printed, re.M)[1]
    subprocess.run(command, shell=True, check=True, cwd=copy_of_mini.folder)
    assert [str(path.relative_to(runs)) for path in runs.rglob("*.json.gz")] == ["far/cubic/ipv4/2.json.gz"]
    assert copy_of_mini.planned(*MINI).items() >= {"emulate_run": 7, "check_documents": 1, "tidy_runs": 1}.items()
    copy_of_mini.snakemake("--cores", "all", *MINI)
    copy_of_mini.same_results_as(mini)
    assert not (copy_of_mini.folder / "results/mini/logs/unusable-documents.txt").exists()


def test_bad_documents_take_nothing_along_and_are_found_again(copy_of_mini, mini):
    """The second call repeats the message of the first, and everything sound still exists."""
    for path in (copy_of_mini.folder / "results/mini/runs/near").rglob("*.json.gz"):
        path.write_bytes(b"")
    for _ in range(2):
        status, printed = copy_of_mini.snakemake("--cores", "1", *MINI, check=False)
        assert status != 0
        assert "sawtooth: 4 of 8 run documents can't be used:" in printed
        copy_of_mini.same_results_as(
            mini, "tidy", "analysis", "figures", "report.html", "details.html", "ro-crate-metadata.json"
        )


def test_whatever_is_deleted_is_made_again(copy_of_mini, mini):
    results = copy_of_mini.folder / "results/mini"
    first = next((results / "analysis").iterdir())
    for path in (results / "tidy/queue.parquet", results / "workflow/study.json", first):
        content = path.read_bytes()
        path.unlink()
        assert copy_of_mini.planned(*MINI).get("all") == 1, f"nobody misses {path}"
        path.write_bytes(content)
    (results / "tidy/runs.csv").unlink()
    copy_of_mini.snakemake("--cores", "all", *MINI)
    copy_of_mini.same_results_as(mini)
