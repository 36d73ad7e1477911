"""Runs under this machine's own kernel and clock: what their documents state, what they wait for, how they end."""

import csv
import fcntl
import gzip
import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from guest_processes import alive, descendants, nothing_goes_on, wait_for
from other_user import nobody
from own_commands import own_command
from session.host_needs import host_problem, kernel_now
from study_files import study as studies
from testbed.machine.machine import CORE_LOCKS, online_cores

STUDY = "config/studies/cable.yaml"
RUN = "results/cable-host/runs/alone/reno/ipv4/1.json.gz"
#: What a busy machine may make a run fail; that it says so is right.
MACHINE = {"cpu_saturation", "clock", "idle_rtt", "overlap", "duration"}


@pytest.fixture(scope="session")
def kernel():
    """The features of this machine's kernel; without user namespaces there is nothing to test."""
    of_machine = kernel_now()
    if of_machine["refused"]:
        pytest.skip(f"this machine can't carry out a run of its own: {of_machine['refused']}")
    return of_machine


@pytest.fixture
def checkout(fresh, kernel):
    shutil.copy(Path(__file__).with_name("cable.yaml"), fresh.folder / STUDY)
    if problem := host_problem(on_host(fresh), kernel):
        pytest.skip(problem)
    return fresh


def on_host(checkout, study=STUDY):
    """Return a resolved study with all scenarios on platform host."""
    resolved = checkout.study(study)
    for scenario in resolved["scenarios"]:
        scenario["platform"] = "host"
    return resolved


def runs(checkout, study):
    """Return the rows of a study's table of runs by CCA and IP version."""
    with (checkout.folder / f"results/{study}/tidy/runs.csv").open() as stream:
        return {
            (row["scenario"], row["cca"], row["ip_version"], row["replication"]): row for row in csv.DictReader(stream)
        }


def failed(document):
    return {check["name"] for check in document["verdict"]["checks"] if not check["ok"]}


@pytest.mark.long
def test_one_study_on_both_platforms_gives_tables_that_join(checkout):
    for platform in ("uml", "host"):
        checkout.snakemake("--cores", "all", "--configfile", STUDY, "--config", f"platform={platform}")
    emulated, measured = runs(checkout, "cable-uml"), runs(checkout, "cable-host")
    assert emulated.keys() == measured.keys()
    assert len(measured) == 2
    for factors, run in measured.items():
        assert run["platform"] == "host"
        assert emulated[factors]["platform"] == "uml"
        assert run["seed"] == emulated[factors]["seed"]
        assert emulated[factors]["invalid_because"] == ""
        document = json.loads(gzip.decompress(checkout.document_path(*factors, study="cable-host").read_bytes()))
        says_where_it_ran(document)
        # On this link either kernel's TCP fills what the headers leave.
        if not run["invalid_because"]:
            assert float(run["goodput_mbps"]) == pytest.approx(float(emulated[factors]["goodput_mbps"]), rel=0.05)
    says_that_it_cannot_be_repeated(checkout)
    # A second call has nothing to do.
    assert not checkout.planned("--configfile", STUDY, "--config", "platform=host")


def says_that_it_cannot_be_repeated(checkout):
    """Fail unless `make verify` finds everything valid, states why it repeats nothing, and passes."""
    command = own_command(checkout.folder, "publishing.verify_results", checkout.folder / "results/cable-host")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 runs were measured with a real clock (platform host)" in done.stdout
    assert "not repeatable" in done.stdout
    assert "not checked: none of the requested runs can be repeated\n" in done.stdout
    assert "all 2 are complete and in the right place" in done.stdout


def says_where_it_ran(document):
    """Fail unless a document names its kernel, clock and cores, and each side had its own core."""
    environment = document["environment"]
    assert environment["platform"] == "host"
    assert environment["kernel"] == os.uname().release
    assert environment["clock"].startswith("real (clocksource ")
    assert environment["cpu_cores"] == os.cpu_count()
    assert failed(document) <= MACHINE
    cpu = document["cpu"]
    roles = {role: core for core, section in cpu["cores"].items() for role in section["roles"]}
    assert roles.keys() == {"senders", "receivers", "program"}
    if len(os.sched_getaffinity(0)) > 1:
        assert roles["senders"] != roles["receivers"]
    # Two seconds of traffic, ten readings in each, unless the machine stood still; how many come beside it is its own.
    assert len(cpu["time_s"]) >= 18 or "clock" in failed(document)
    # From the moment before traffic begins to its end.
    assert cpu["time_s"][0] <= 0 < cpu["time_s"][1]
    assert cpu["time_s"][-1] >= 2
    for core in cpu["cores"].values():
        assert len(core["idle"]) == len(cpu["time_s"]) - 1
    steering = document["network"]["read_back"]["steering"]
    if any(steering.values()):  # Linux 6.3 and later
        cores = {"h1": [int(roles["senders"])], "h2": [int(roles["receivers"])]}
        assert steering == {f"{host}-{name}": core for host, core in cores.items() for name in ("eth0", "control")}


def test_what_the_kernel_lacks_is_said_before_anything_runs(checkout, kernel):
    problem = host_problem(on_host(checkout, "config/config.yaml"), kernel)
    if not problem:
        pytest.skip("this machine's kernel has all that the default study asks for")
    status, output = checkout.snakemake(
        "--cores", "1", "--configfile", "config/config.yaml", "--config", "platform=host", check=False
    )
    assert status != 0
    assert f"sawtooth: config/config.yaml: {problem}" in output
    assert problem.count(". ") == 0, "one sentence"
    if not kernel["parts"]["netem"]:
        assert "has no netem (delay, jitter and loss: all 12 scenarios)" in problem
    assert "Traceback" not in output
    assert not (checkout.folder / "results").exists()


@pytest.mark.slow
def test_a_run_waits_until_no_other_has_a_core(checkout):
    with ExitStack() as stack:
        last = CORE_LOCKS / f"sawtooth-core-{max(online_cores())}.lock"
        held = stack.enter_context(open(os.open(last, os.O_CREAT | os.O_RDONLY, 0o444)))
        wait_for(lambda: got(held), "a free core")
        log = checkout.folder / "results/cable-host/logs/runs/alone/reno/ipv4/1.log"
        process = checkout.start("--cores", "all", "--config", "platform=host", "--", RUN, study=STUDY)
        wait_for(lambda: log.exists() and b"waiting for all cores" in log.read_bytes(), "a run that waits")
        assert process.poll() is None
        held.close()
        output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert b"traffic in" in log.read_bytes().splitlines()[-1]


def got(file):
    """Lock a file if no other process has locked it; return whether that worked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@pytest.mark.slow
def test_nothing_of_a_run_outlives_the_workflow(checkout):
    """This holds even if the workflow was killed, because processes in its namespaces end with it."""
    study = checkout.folder / STUDY
    study.write_text(study.read_text().replace("duration_s: 2", "duration_s: 60"))
    with nothing_goes_on():
        process = checkout.start("--cores", "all", "--config", "platform=host", "--", RUN, study=STUDY)
        names = ("unshare", "iperf3", "bash", "python3")

        def sending():
            under_way = [p for p in descendants(process.pid) if name_of(p) in names]
            return [name_of(p) for p in under_way].count("iperf3") >= 2 and under_way

        everything = wait_for(sending, "an iperf3 server and client")
        process.kill()
        process.wait()
        wait_for(lambda: not alive(everything), "the end of the run's processes", 20)


def name_of(process):
    """Return the name of one of `descendants`."""
    try:
        return Path(f"/proc/{process[0]}/comm").read_text().strip()
    except OSError:
        return ""


def test_as_an_ordinary_user(checkout, root):
    """Another user without privileges executes a run in this user's image."""
    asked = studies.run_specification(on_host(checkout), "alone", "reno", "ipv6", 1)
    with nobody(root) as user:
        says_where_it_ran(json.loads(gzip.decompress(user.carry_out(asked))))
