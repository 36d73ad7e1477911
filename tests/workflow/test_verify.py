"""Results are verified by running them again: unchanged ones pass, changed ones are found and named."""

import json
import shutil
import subprocess

import pytest

from own_commands import own_command
from publishing.result_checks.manifest import MANIFEST
from received_results import NAME, OTHER, SCENARIO, document_path, everything, put, renew_manifest, rewrite


@pytest.mark.slow
@pytest.mark.parametrize(
    "count, verdict", [(3, "no problem was found"), pytest.param(16, "all is well", marks=pytest.mark.long)]
)
def test_results_that_are_as_they_were_pass_and_stay_as_they_are(verify, received, count, verdict):
    for path in received.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o222)
    before = everything(received)
    status, output = verify(received, "--count", str(count), derived=True)
    assert status == 0, output
    assert output.count("same bytes") == count
    assert "PROBLEM" not in output and "not checked" not in output
    assert output.splitlines()[-1] == (
        f"verdict: {verdict}: {count} of 16 runs were repeated; everything derived from the runs was made again"
    )
    assert everything(received) == before


def test_an_archive_to_publish_passes(verify, smoke, received, tmp_path):
    archive = tmp_path / "smoke.crate.zip"
    subprocess.run(own_command(smoke.folder, "publishing.pack_results", received, "--output", archive), check=True)
    status, output = verify(archive, "--runs", NAME)
    assert status == 0, output
    assert "same bytes" in output


def flip_bit(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)


def test_a_changed_byte_is_found_and_named_three_times(verify, received):
    path = document_path(received)
    flip_bit(path, middle := path.stat().st_size // 2)
    status, output = verify(received, "--runs", NAME)
    assert status == 1, output
    assert f"changed: runs/{NAME}.json.gz" in output
    assert f"run {NAME}: the document was changed" in output
    assert f"{NAME}  DIFFERENT at byte {middle} of {path.stat().st_size}" in output


def test_a_changed_byte_that_changes_no_value_is_found_too(verify, received):
    content = bytearray(document_path(received).read_bytes())
    content[4] ^= 1  # the time in gzip's header
    put(received, NAME, content)
    status, output = verify(received, "--runs", NAME)
    assert status == 1, output
    assert "DIFFERENT at byte 4 of" in output and "only its compression differs" in output


@pytest.mark.slow
def test_a_careful_forger_is_found_by_the_rerun_alone(verify, received):
    """Document, table and manifest agree with each other; only the run itself disagrees."""

    def flatter(document):
        document["traffic"][0]["client"]["end"]["sum_received"]["bits_per_second"] = 9.9e6

    rewrite(received, flatter)
    status, output = verify(received, "--no-reruns")
    assert status == 0, output
    status, output = verify(received, "--runs", NAME, OTHER)
    assert status == 1, output
    (different,) = [line for line in output.splitlines() if "DIFFERENT" in line]
    assert NAME in different
    assert "at /traffic/0/client/end/sum_received/bits_per_second: 9900000.0 was received" in different
    assert "same bytes" in next(line for line in output.splitlines() if line.strip().startswith(OTHER))


def test_a_deleted_and_an_added_document_are_named(verify, received):
    document_path(received, OTHER).unlink()
    shutil.copy(document_path(received), document_path(received, f"{SCENARIO}/reno/ipv4/3"))
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert f"missing: runs/{OTHER}.json.gz" in output
    assert f"not listed: runs/{SCENARIO}/reno/ipv4/3.json.gz" in output
    assert f"run {OTHER} has a row but no document" in output
    assert f"run {SCENARIO}/reno/ipv4/3 has a document but no row" in output
    assert f"run {SCENARIO}/reno/ipv4/3: has the specification of the run {NAME}" in output


def test_a_run_left_out_with_all_its_traces_is_missed(verify, received):
    """A forger who drops an unwelcome run from documents, tables and manifest has still announced it in the study."""
    document_path(received).unlink()
    runs = received / "tidy/runs.csv"
    rows = runs.read_text().splitlines(keepends=True)
    runs.write_text("".join(row for row in rows if not row.startswith(f"{SCENARIO},") or ",reno,ipv4,1," not in row))
    renew_manifest(received)
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert output.count("PROBLEM") == 1
    assert f"1 of the study's 16 runs have no document, for example {NAME}" in output


CHANGES = {
    "tidy/flows.csv": (f"{SCENARIO},", f"{SCENARIO} ,"),
    "analysis/cca_pairs.csv": ("vegas", "cubic"),
    "figures/goodput.csv": ("reno", "best"),
    "figures/rtt.svg": ("</svg>", "<!-- --></svg>"),
    "report.html": ("Valid runs", "Good runs"),
    "details.html": ("Valid runs", "Good runs"),
    "findings.json": ("Vegas", "Reno"),
    "explore.html": ("The networks", "Our networks"),
    "workflow/rules/tidy.smk": ("rule", "rule "),
}


@pytest.mark.long
def test_what_does_not_follow_from_the_documents_is_found(verify, received):
    """The manifest agrees with it."""
    lines = {}
    for file, (before, after) in CHANGES.items():
        text = (received / file).read_text()
        assert before in text
        lines[file] = text.count("\n", 0, text.index(before)) + 1
        (received / file).write_text(text.replace(before, after, 1))
    (received / "analysis/better.csv").write_text("cca\n")
    (received / "figures/loss.csv").unlink()
    renew_manifest(received)
    status, output = verify(received, "--no-reruns", derived=True)
    assert status == 1, output
    for file, line in lines.items():
        assert f"{file} doesn't follow from the documents: the first difference is in line {line}," in output
    assert output.count("doesn't follow from the documents") == len(CHANGES) + 1  # and the manifest
    assert "analysis/better.csv is not a file that the workflow makes from these documents" in output
    assert "figures/loss.csv is missing" in output
    assert "all is well" not in output


def test_the_published_study_is_that_of_the_tables(verify, received):
    study = received / "workflow/study.json"
    content = json.loads(study.read_text())
    content["seed"] += 1
    study.write_text(json.dumps(content))
    renew_manifest(received)
    status, output = verify(received, "--no-reruns", derived=True)
    assert status == 1, output
    assert "workflow/study.json is a different study from the one in tidy/provenance.json" in output


def test_an_unfinished_study_is_not_wrong(verify, received):
    """Its tables are there, but not what the workflow makes last; without the study alone, a finished one is wrong."""
    (received / "workflow/study.json").unlink()
    status, output = verify(received, "--no-reruns", derived=True)
    assert status == 1 and "workflow/study.json can't be read" in output, output
    (received / "ro-crate-metadata.json").unlink()
    status, output = verify(received, "--no-reruns", derived=True)
    assert "derived    not checked: the study is unfinished: there is no workflow/study.json" in output
    assert "verdict: no problem was found" in output, output


def test_a_flipped_verdict_is_found_without_a_rerun(verify, received):
    def flip(document):
        document["verdict"]["valid"] = False

    rewrite(received, flip)
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert f"run {NAME}: says that it is not valid, but its checks say otherwise" in output


def test_a_key_twice_in_the_manifest_is_found(verify, received):
    manifest = received / MANIFEST
    manifest.write_text(manifest.read_text().replace('"@graph": [', '"@graph": [], "@graph": [', 1))
    status, output = verify(received, "--no-reruns")
    assert status == 1, output
    assert "a key occurs twice" in output


def test_what_is_left_out_is_in_the_verdict(verify, received):
    status, output = verify(received, "--runs", NAME)
    assert status == 0, output
    assert output.splitlines()[-1] == (
        "verdict: no problem was found: 1 of 16 runs were repeated (not checked: derived)"
    )
