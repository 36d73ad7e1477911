"""Claims are recorded before the first run, each later change is reported, and nothing is ever removed."""

import json
from types import SimpleNamespace

import claim_runs
from topics.claims.claim_versions import RECORD, changes, record_claims
from topics.claims.claims_file import claims_version
from topics.claims.record_claims import main

CLAIM = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}


def version(folder, *claims, comment="", **others):
    path = claim_runs.written(folder / "claims.yaml", claim_runs.content(*claims) | others)
    path.write_text(path.read_text() + comment)
    return claims_version(path)


def test_each_version_is_added_with_the_runs_that_there_were(tmp_path):
    results = tmp_path / "results"
    first = version(tmp_path, CLAIM | {"id": "a"}, CLAIM | {"id": "b"})
    record_claims(results, first)
    text = (results / RECORD).read_bytes()
    record_claims(results, first)
    assert (results / RECORD).read_bytes() == text
    for replication in (1, 2):
        document = results / f"runs/s/reno/ipv4/{replication}.json.gz"
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_bytes(b"x")
    later = version(tmp_path, CLAIM | {"id": "a", "requirement": {"above": 2}}, CLAIM | {"id": "c"})
    outputs = SimpleNamespace(record=results / RECORD)
    main(SimpleNamespace(), outputs, SimpleNamespace(version=later))
    record_claims(
        results,
        version(tmp_path, CLAIM | {"id": "a", "requirement": {"above": 2}}, CLAIM | {"id": "c"}, comment="# why\n"),
    )
    versions = json.loads((results / RECORD).read_text())
    assert [entry["runs"] for entry in versions] == [0, 2, 2]
    assert versions[0]["sha256"] == first["sha256"]
    assert [(row["version"], row["runs"], row["change"], row["claim"]) for row in changes(versions)] == [
        (1, 0, "fixed", ""), (2, 2, "added", "c"), (2, 2, "changed", "a"), (2, 2, "removed", "b"), (3, 2, "comments or causes only", ""),
    ]  # fmt: skip


def test_a_cause_is_no_part_of_a_claim(tmp_path):
    """It is found after the runs, and adding it doesn't change the claim."""
    before = version(tmp_path, CLAIM | {"id": "a"})
    after = version(tmp_path, CLAIM | {"id": "a", "cause": "The link is slower."})
    assert before["claims"] == after["claims"] and before["sha256"] != after["sha256"]
    for step in (before, after):
        record_claims(tmp_path, step)
    texts = [row["change"] for row in changes(json.loads((tmp_path / RECORD).read_text()))]
    assert texts == ["fixed", "comments or causes only"]


def test_changed_scenarios_are_told_and_so_is_going_back(tmp_path):
    first, other = version(tmp_path, CLAIM), version(tmp_path, CLAIM, ccas=["reno", "cubic", "bbr", "vegas"])
    for step in (first, other, first):
        record_claims(tmp_path, step)
    texts = [row["change"] for row in changes(json.loads((tmp_path / RECORD).read_text()))]
    assert texts == ["fixed", "paper or scenarios changed", "paper or scenarios changed"]
