"""A program through the whole workflow: examined beside the kernel's CCAs, with a gate on its card, and its runs repeated from the
published files."""

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from own_commands import own_command

pytestmark = pytest.mark.long

CASES = ("5.2.1-solo", "5.2.1-beside-cubic", "6.2-tunnel")
DECLARED = {
    "path": "my/sender.py", "protocol": "tcp", "reports_bytes": "bytes", "ccas": ["bic"],
    "server": "{folder}/sender.py serve tcp {server_address} {port} {seconds} '' well",
    "client": "{folder}/sender.py get tcp {server_address} {port} well",
}  # fmt: skip
STUDY = "results/exam-mini-sender-bic"


@pytest.fixture(scope="module")
def examined(tmp_path_factory, checkout_in):
    """A checkout in which a program's exam was run."""
    checkout = checkout_in(tmp_path_factory.mktemp("exam") / "checkout")
    folder = checkout.folder
    (folder / "my").mkdir()
    shutil.copy(Path(__file__).parents[1] / "programs/sender.py", folder / "my")
    (folder / "my/sender.yaml").write_text(yaml.safe_dump(DECLARED))
    study = yaml.safe_load((folder / "config/studies/exam-quick.yaml").read_text())
    study["scenarios"] = [scenario for scenario in study["scenarios"] if scenario["id"] in CASES]
    study |= {"study": "exam-mini", "replications": 8, "ccas": ["cubic"]}
    primaries = {"5.2.1-beside-cubic": ["harm_throughput"], "5.2.1-solo": ["utilisation_percent"]}
    study["exam"] |= {"standards": ["cubic"], "primaries": primaries}
    (folder / "my/exam-mini.yaml").write_text(yaml.safe_dump(study))
    written(folder)
    checkout.snakemake("--cores", "1", "--configfile", f"{STUDY}.yaml")
    return checkout


def written(folder, *options):
    """Write the exam's study, as `make exam` does."""
    command = own_command(folder, "session.candidate", "", "my/exam-mini.yaml", "--program", "my/sender.yaml", *options)
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.stdout.strip() == f"{STUDY}.yaml", made.stderr


def test_the_card_has_the_program_and_what_does_not_apply(examined):
    card = pd.read_csv(examined.folder / STUDY / "analysis/scorecard.csv", keep_default_na=False)
    deciding = card[card["role"] == "primary"]
    assert set(deciding["cca"]) == {"sender:bic"} and not set(deciding["verdict"]) & {"not measured", "not applicable"}
    assert card.query("scenario == '6.2-tunnel'")["verdict"].tolist() == ["not applicable"]
    solo = card.query("measure == 'utilisation_percent' and scenario == '5.2.1-solo'").iloc[0]
    assert 95 < float(solo["value"]) <= 100
    page = (examined.folder / STUDY / "report.html").read_text()
    assert "Not applicable to" in page and "programs run on a dumbbell only" in page


def test_its_tables_have_what_those_of_the_kernel_have(examined):
    runs = pd.read_csv(examined.folder / STUDY / "tidy/runs.csv")
    assert runs["valid"].all() and set(runs["cca"]) == {"cubic", "sender:bic"}
    columns = ["goodput_mbps", "goodput_steady_mbps", "ideal_percent", "mss_bytes", "queue_bytes", "queueing_p95_ms"]
    assert runs[columns].notna().all().all()
    # The same seed draws the same path for both.
    assert (runs.groupby(["scenario", "replication"])["rtt_path_ms"].nunique() == 1).all()


def test_two_of_its_runs_were_repeated(examined):
    table = pd.read_csv(examined.folder / STUDY / "analysis/repetitions.csv")
    assert set(table["scenario"]) == {"5.2.1-solo", "5.2.1-beside-cubic"} and (table["result"] == "same bytes").all()
    assert (
        "2 runs were repeated with the same bytes: with sender:bic."
        in (examined.folder / STUDY / "report.html").read_text()
    )


def test_its_runs_can_be_repeated_from_what_was_published(examined):
    """The user's file isn't needed, because the crate contains it."""
    folder = examined.folder
    subprocess.run(own_command(folder, "publishing.pack_results", STUDY), cwd=folder, check=True)
    (folder / "my/sender.py").rename(folder / "sender.py")
    run = "5.2.1-beside-cubic/sender:bic/ipv4/1"
    command = own_command(folder, "publishing.verify_results", f"{STUDY}.crate.zip", "--build", "--runs", run)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    (folder / "sender.py").rename(folder / "my/sender.py")
    assert done.returncode == 0 and "same bytes" in done.stdout and "no problem was found" in done.stdout, done.stdout


def test_a_gate_fails_because_of_a_row_that_is_worse(examined):
    """The program doesn't choose a CCA, so it sends by the one in its name, BIC, which takes more from CUBIC than CUBIC does."""
    written(examined.folder, "--gate")
    status, output = examined.snakemake("--cores", "1", "--configfile", f"{STUDY}.yaml", check=False)
    assert (
        status == 1 and "gate: nothing-worse is not met: verdict of scorecard" in output and "harm_throughput" in output
    )
