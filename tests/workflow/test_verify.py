"""Results are verified by running them again: unchanged ones pass, changed ones are found and named."""

import fcntl
import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from guest_processes import alive, descendants, held_guest, nothing_goes_on, wait_for
from listed_results import listed, write_manifest
from own_commands import own_command
from publishing.result_checks.account import Account
from publishing.result_checks.manifest import MANIFEST, published_files
from publishing.result_checks.received_documents import ReceivedDocument
from publishing.result_checks.repeated_runs import check_needs

SCENARIO = "10mbit-20ms-0pct-1flow"
NAME = f"{SCENARIO}/reno/ipv4/1"
OTHER = f"{SCENARIO}/vegas/ipv4/2"


@pytest.fixture
def results(smoke, tmp_path):
    """A copy of the smoke study's results in another place, as somebody else would have received it."""
    folder = tmp_path / "received, from 'somebody'" / "smoke"
    shutil.copytree(
        smoke.folder / "results/smoke", folder, ignore=shutil.ignore_patterns("logs", "benchmarks", ".lock")
    )
    return folder


@pytest.fixture
def verify(smoke, tmp_path):
    """A function that verifies with the smoke study's checkout; it returns exit status and output.

    ``derived``: tables, figures and page are made again too.
    """

    def run(results, *arguments, derived=False):
        done = subprocess.run(
            command(smoke, results, *arguments, *([] if derived else ["--no-derived"])),
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )  # fmt: skip
        return done.returncode, done.stdout

    return run


def command(checkout, results, *arguments):
    return own_command(checkout.folder, "publishing.verify_results", results, *arguments)


def document_path(results, name=NAME):
    return results / "runs" / f"{name}.json.gz"


def rewrite(results, change, name=NAME):
    """Change a run document like a careful forger: sound again, including its digests in table and manifest."""
    document = json.loads(gzip.decompress(document_path(results, name).read_bytes()))
    change(document)
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n"
    put(results, name, gzip.compress(text.encode(), mtime=0))


def put(results, name, content):
    """Replace a run document, and its digests in table and manifest."""
    path = document_path(results, name)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(content)
    runs = results / "tidy/runs.csv"
    runs.write_text(runs.read_text().replace(before, hashlib.sha256(content).hexdigest()))
    renew_manifest(results)


def renew_manifest(results):
    """Let the manifest list the existing files with their digests."""
    write_manifest(results, [listed(results, path) for path in published_files(results) if path != MANIFEST])


def everything(folder):
    """Return everything in a folder: names, bytes, modes and times of change."""
    return {
        path: (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def line_of(output, word):
    return next((line for line in output.splitlines() if line.startswith(word)), "")


def test_simulated_runs_need_an_image_that_set_up_makes_on_request(capsys):
    theirs, ours = ("image of ns-3", "program of ns-3"), ("image", "program")
    simulated, measured = (
        ReceivedDocument("a/reno/ipv4/1", made_by=theirs, platform=platform) for platform in ("ns3", "uml")
    )
    study, remedies = (
        SimpleNamespace(commit=None),
        ("make setup NS3=1", "ask the authors of the results for the commit"),
    )
    for documents, platforms, expected in (
        ([simulated], {"testbed": ours}, remedies[:1]),
        ([simulated], {"testbed": ours, "ns3": ("other", "other")}, remedies[1:]),
        ([replace(simulated, made_by=("", "")), measured], {"testbed": ours}, remedies),
        ([measured], {"testbed": ours}, remedies[1:]),
    ):
        assert check_needs(documents, platforms, study, Account()) == {}
        output = capsys.readouterr().out
        assert tuple(remedy for remedy in remedies if remedy in output) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "count, verdict", [(3, "no problem was found"), pytest.param(16, "all is well", marks=pytest.mark.long)]
)
def test_results_that_are_as_they_were_pass_and_stay_as_they_are(verify, results, count, verdict):
    for path in results.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o222)
    before = everything(results)
    status, output = verify(results, "--count", str(count), derived=True)
    assert status == 0, output
    assert output.count("same bytes") == count
    assert "PROBLEM" not in output and "not checked" not in output
    assert output.splitlines()[-1] == (
        f"verdict: {verdict}: {count} of 16 runs were repeated; everything derived from the runs was made again"
    )
    assert everything(results) == before


def test_an_archive_to_publish_passes(verify, smoke, results, tmp_path):
    archive = tmp_path / "smoke.crate.zip"
    subprocess.run(own_command(smoke.folder, "publishing.pack_results", results, "--output", archive), check=True)
    status, output = verify(archive, "--runs", NAME)
    assert status == 0, output
    assert "same bytes" in output


def flip_bit(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)


def test_a_changed_byte_is_found_and_named_three_times(verify, results):
    path = document_path(results)
    flip_bit(path, middle := path.stat().st_size // 2)
    status, output = verify(results, "--runs", NAME)
    assert status == 1, output
    assert f"changed: runs/{NAME}.json.gz" in output
    assert f"run {NAME}: the document was changed" in output
    assert f"{NAME}  DIFFERENT at byte {middle} of {path.stat().st_size}" in output


def test_a_changed_byte_that_changes_no_value_is_found_too(verify, results):
    content = bytearray(document_path(results).read_bytes())
    content[4] ^= 1  # the time in gzip's header
    put(results, NAME, content)
    status, output = verify(results, "--runs", NAME)
    assert status == 1, output
    assert "DIFFERENT at byte 4 of" in output and "only its compression differs" in output


@pytest.mark.slow
def test_a_careful_forger_is_found_by_the_rerun_alone(verify, results):
    """Document, table and manifest agree with each other; only the run itself disagrees."""

    def flatter(document):
        document["traffic"][0]["client"]["end"]["sum_received"]["bits_per_second"] = 9.9e6

    rewrite(results, flatter)
    status, output = verify(results, "--no-reruns")
    assert status == 0, output
    status, output = verify(results, "--runs", NAME, OTHER)
    assert status == 1, output
    (different,) = [line for line in output.splitlines() if "DIFFERENT" in line]
    assert NAME in different
    assert "at /traffic/0/client/end/sum_received/bits_per_second: 9900000.0 was received" in different
    assert "same bytes" in next(line for line in output.splitlines() if line.strip().startswith(OTHER))


def test_a_deleted_and_an_added_document_are_named(verify, results):
    document_path(results, OTHER).unlink()
    shutil.copy(document_path(results), document_path(results, f"{SCENARIO}/reno/ipv4/3"))
    status, output = verify(results, "--no-reruns")
    assert status == 1, output
    assert f"missing: runs/{OTHER}.json.gz" in output
    assert f"not listed: runs/{SCENARIO}/reno/ipv4/3.json.gz" in output
    assert f"run {OTHER} has a row but no document" in output
    assert f"run {SCENARIO}/reno/ipv4/3 has a document but no row" in output
    assert f"run {SCENARIO}/reno/ipv4/3: has the specification of the run {NAME}" in output


def test_a_run_left_out_with_all_its_traces_is_missed(verify, results):
    """A forger who drops an unwelcome run from documents, tables and manifest has still announced it in the study."""
    document_path(results).unlink()
    runs = results / "tidy/runs.csv"
    rows = runs.read_text().splitlines(keepends=True)
    runs.write_text("".join(row for row in rows if not row.startswith(f"{SCENARIO},") or ",reno,ipv4,1," not in row))
    renew_manifest(results)
    status, output = verify(results, "--no-reruns")
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
def test_what_does_not_follow_from_the_documents_is_found(verify, results):
    """The manifest agrees with it."""
    lines = {}
    for file, (before, after) in CHANGES.items():
        text = (results / file).read_text()
        assert before in text
        lines[file] = text.count("\n", 0, text.index(before)) + 1
        (results / file).write_text(text.replace(before, after, 1))
    (results / "analysis/better.csv").write_text("cca\n")
    (results / "figures/loss.csv").unlink()
    renew_manifest(results)
    status, output = verify(results, "--no-reruns", derived=True)
    assert status == 1, output
    for file, line in lines.items():
        assert f"{file} doesn't follow from the documents: the first difference is in line {line}," in output
    assert output.count("doesn't follow from the documents") == len(CHANGES) + 1  # and the manifest
    assert "analysis/better.csv is not a file that the workflow makes from these documents" in output
    assert "figures/loss.csv is missing" in output
    assert "all is well" not in output


def test_the_published_study_is_that_of_the_tables(verify, results):
    study = results / "workflow/study.json"
    content = json.loads(study.read_text())
    content["seed"] += 1
    study.write_text(json.dumps(content))
    renew_manifest(results)
    status, output = verify(results, "--no-reruns", derived=True)
    assert status == 1, output
    assert "workflow/study.json is a different study from the one in tidy/provenance.json" in output


def test_an_unfinished_study_is_not_wrong(verify, results):
    """Its tables are there, but not what the workflow makes last; without the study alone, a finished one is wrong."""
    (results / "workflow/study.json").unlink()
    status, output = verify(results, "--no-reruns", derived=True)
    assert status == 1 and "workflow/study.json can't be read" in output, output
    (results / "ro-crate-metadata.json").unlink()
    status, output = verify(results, "--no-reruns", derived=True)
    assert "derived    not checked: the study is unfinished: there is no workflow/study.json" in output
    assert "verdict: no problem was found" in output, output


def test_a_flipped_verdict_is_found_without_a_rerun(verify, results):
    def flip(document):
        document["verdict"]["valid"] = False

    rewrite(results, flip)
    status, output = verify(results, "--no-reruns")
    assert status == 1, output
    assert f"run {NAME}: says that it is not valid, but its checks say otherwise" in output


def test_a_key_twice_in_the_manifest_is_found(verify, results):
    manifest = results / MANIFEST
    manifest.write_text(manifest.read_text().replace('"@graph": [', '"@graph": [], "@graph": [', 1))
    status, output = verify(results, "--no-reruns")
    assert status == 1, output
    assert "a key occurs twice" in output


def test_what_is_left_out_is_in_the_verdict(verify, results):
    status, output = verify(results, "--runs", NAME)
    assert status == 0, output
    assert output.splitlines()[-1] == (
        "verdict: no problem was found: 1 of 16 runs were repeated (not checked: derived)"
    )


def made_elsewhere(document):
    document["environment"]["image_digest"] = f"sha256:{'7' * 64}"


def test_another_image_is_named_and_its_runs_are_not_repeated(verify, results):
    names = [str(path.relative_to(results / "runs")).removesuffix(".json.gz") for path in results.rglob("*.json.gz")]
    for name in names:
        rewrite(results, made_elsewhere, name)
    provenance = results / "tidy/provenance.json"
    content = json.loads(provenance.read_text())
    content["workflow"]["commit"] = "c0ffee" + "0" * 34
    provenance.write_text(json.dumps(content))
    renew_manifest(results)
    status, output = verify(results, "--count", "2")
    assert status == 3, output
    assert "16 of 16 documents need a testbed other than the one here" in output
    assert f"testbed image sha256:{'7' * 64}" in output
    assert f"`git checkout c0ffee{'0' * 34}`, `make setup`" in output
    assert "same bytes" not in output and "DIFFERENT" not in output


def test_where_some_runs_need_another_image_the_others_are_repeated(verify, results):
    rewrite(results, made_elsewhere)
    status, output = verify(results, "--runs", NAME, OTHER)
    assert status == 3, output
    assert "1 of 16 documents need a testbed other than the one here" in output
    assert "1 of 2 named runs" in output
    assert output.count("same bytes") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "section, values",
    [
        ("traffic", {"duration_s": 10**9}),
        ("traffic", {"bitrate_mbps": "1; touch /tmp/x"}),
        ("link", {"netem": "$(reboot)"}),
    ],
)
def test_a_hostile_specification_is_not_run(verify, results, section, values):
    """There is nothing else that could contradict it."""
    shutil.rmtree(results / "tidy")
    (results / MANIFEST).unlink()
    path = document_path(results)
    document = json.loads(gzip.decompress(path.read_bytes()))
    document["specification"]["scenario"][section].update(values)
    path.write_bytes(gzip.compress((json.dumps(document, separators=(",", ":")) + "\n").encode(), mtime=0))
    status, output = verify(results, "--runs", NAME)
    assert status == 1, output
    assert f"run {NAME}: won't be run: " in output
    assert "none of the requested runs can be repeated" in output


def test_a_study_that_the_workflow_would_refuse_is_refused(verify, results):
    provenance = results / "tidy/provenance.json"
    content = json.loads(provenance.read_text())
    content["study"]["replications"] = 10**12
    provenance.write_text(json.dumps(content))
    status, output = verify(results, "--no-reruns")
    assert status == 1, output
    assert "tidy/provenance.json has no study of this version: study: replications is 1000000000000" in output


def test_links_are_not_followed(verify, results, tmp_path):
    path = document_path(results)
    path.rename(tmp_path / "elsewhere.json.gz")
    path.symlink_to(tmp_path / "elsewhere.json.gz")
    status, output = verify(results, "--no-reruns")
    assert status == 1, output
    assert f"runs/{NAME}.json.gz is not a run document" in output


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--count", "0"], "N is '0'; allowed: whole numbers of at least 1."),
        (["--count", "17"], "has 16 runs; allowed: 1 to 16."),
        (["--seed", "one"], "SEED is 'one'; allowed: whole numbers of at least 0."),
        (
            ["--runs", f"{SCENARIO}/reno/ipv4/7"],
            f"has no run {SCENARIO}/reno/ipv4/7; the nearest names are {SCENARIO}/reno/ipv4/",
        ),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_in_one_sentence(verify, smoke, arguments, sentence):
    status, output = verify(smoke.folder / "results/smoke", *arguments)
    assert status == 2
    assert output.startswith("sawtooth: ") and sentence in output
    assert len(output.splitlines()) == 1


def test_what_is_no_results_folder_is_refused_in_one_sentence(verify, smoke, tmp_path):
    (tmp_path / "empty/runs").mkdir(parents=True)
    for results, sentence in (
        (tmp_path / "nothing", "no such folder"),
        (smoke.folder / "Snakefile", "neither a folder nor a zip archive"),
        (smoke.folder / "results", "did you mean"),
        (tmp_path / "empty", "has no run document below `runs`"),
    ):
        status, output = verify(results)
        assert status == 2
        assert output.startswith("sawtooth: ") and sentence in output
        assert len(output.splitlines()) == 1


def test_results_that_a_workflow_is_at_work_on_are_left_alone(verify, results):
    with (results / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, output = verify(results, "--no-reruns")
    assert (status, output) == (2, f"sawtooth: a workflow is at work on {results}: wait until it has ended.\n")


def test_an_interrupt_leaves_nothing_behind(smoke, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with nothing_goes_on():
        process = subprocess.Popen(
            command(smoke, smoke.folder / "results/smoke", "--count", "16"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True,
        )  # fmt: skip
        for line in process.stdout:
            if "same bytes" in line:
                break
        # One of the other reruns is held in its middle: the whole can't end by itself.
        held_guest(process)
        under_way = descendants(process.pid)
        assert under_way and any(tmp_path.iterdir())
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 130, output
        assert "Traceback" not in output
        assert not list(tmp_path.iterdir())
        wait_for(lambda: not alive(under_way), "the end of the reruns' processes", limit_s=20)
