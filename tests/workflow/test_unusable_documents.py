"""Files among the run documents that can't be used: all are named, none is counted, their runs are repeated."""

import gzip
import json
import re
import subprocess

import pytest

MINI = ("--configfile", "config/studies/mini.yaml")
TIDY = ("--", "results/mini/tidy/runs.csv")
OTHER = "sha256:" + 64 * "0"


def changed(document, **keys):
    """Return a document as a file's bytes, with keys of it or of one of its sections changed."""
    document = json.loads(gzip.decompress(document))
    for key, value in keys.items():
        (document["environment"] if key in document["environment"] else document)[key] = value
    return gzip.compress(json.dumps(document).encode(), mtime=0)


@pytest.mark.long
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
            "no run document (schema_version is missing)",
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
    assert not (copy_of_mini.folder / TIDY[1]).exists()
    listed = (copy_of_mini.folder / "results/mini/logs/unusable-documents.txt").read_text().splitlines()
    assert len(listed) == 7
    for name, (_, cause) in damage.items():
        (line,) = (line for line in listed if line.startswith(f"results/mini/runs/{name}\t"))
        assert cause in line
    said = printed.splitlines()
    first = said.index("sawtooth: 7 of 8 run documents can't be used:") + 1
    assert [line.strip().replace(": ", "\t", 1) for line in said[first : first + 5]] == listed[:5]

    command = re.search(r"^ +(cut -f1 results/mini/logs/unusable-documents\.txt .*)$", printed, re.M)[1]
    subprocess.run(command, shell=True, check=True, cwd=copy_of_mini.folder)
    assert [str(path.relative_to(runs)) for path in runs.rglob("*.json.gz")] == ["far/cubic/ipv4/2.json.gz"]
    assert copy_of_mini.planned(*MINI, *TIDY) == {"emulate_run": 7, "tidy_runs": 1}
    copy_of_mini.snakemake("--cores", "all", *MINI, *TIDY)
    copy_of_mini.same_results_as(mini)
    assert not (copy_of_mini.folder / "results/mini/logs/unusable-documents.txt").exists()
