"""A clock that is changed during runs: no run is affected, nothing is lost, and dates that Snakemake can no longer compare are reported."""

import json
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guest_processes import descendants, first_guest, nothing_goes_on, wait_for
from session.host_needs import host_problem, kernel_now
from study_files import study as studies

pytestmark = [pytest.mark.long, pytest.mark.faults]

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))
APPTAINER = [str(Path(sys.executable).with_name("apptainer")), "--silent", "exec", "--userns", "--cleanenv"]
MINI = "config/studies/mini.yaml"
HOURS = 5


class SteppedClock:
    """A clock for the programs that have its ``environment``: the machine's until it is changed."""

    def __init__(self, library, folder):
        self.folder, self._steps = folder, folder / "steps"
        self._steps.touch()
        self.environment = {"LD_PRELOAD": str(library), "STEPS": str(self._steps)}

    def set_to(self, hours):
        """Set the clock to the machine's plus a number of hours, from now on."""
        with self._steps.open("ab") as steps:
            steps.write(struct.pack("qq", time.time_ns(), hours * 3600 * 10**9))


@pytest.fixture
def clock(tmp_path_factory):
    """A clock, with its library built in the kernel image, which has a compiler."""
    import images

    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_bytes((ROOT / "tests/stepped_clock.c").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        image = images.cached_image(images.KERNEL)[1] / "root"
    compiler = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", folder / "clock.c", "-o", folder / "clock.so"]
    subprocess.run([*APPTAINER, "--bind", folder, image, *compiler], check=True)
    return SteppedClock(folder / "clock.so", folder)


@pytest.fixture
def with_clock(fresh, mini, clock, monkeypatch):
    """A checkout whose workflows use that clock."""
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    with nothing_goes_on():
        yield fresh


def stepped(checkout, clock, *hours):
    """Return exit status and output of a workflow during which the clock is changed in the middle of a run, once or more."""
    workflow = checkout.start("--cores", "2", study=MINI)
    for number, value in enumerate(hours, 1):
        checkout.finished_runs(2 * number, study="mini")
        guest = first_guest(workflow).stop()
        clock.set_to(value)
        guest.go_on()
    printed, _ = workflow.communicate(timeout=300)
    return workflow.returncode, printed


def test_set_forward(with_clock, clock, mini):
    status, printed = stepped(with_clock, clock, HOURS)
    assert status == 0, printed[-3000:]
    with_clock.same_results_as(mini)
    _, printed = with_clock.snakemake("--cores", "2", "--configfile", MINI, started=True)
    assert "Nothing to be done" in printed


@pytest.mark.parametrize("hours", [(-HOURS,), (HOURS, 0)], ids=["back", "forward and back"])
def test_set_back(with_clock, clock, mini, hours):
    """All runs are executed; the steps after them wait for a command that the sentence names."""
    status, printed = stepped(with_clock, clock, *hours)
    assert status != 0
    documents = with_clock.finished_runs(8, study="mini")
    written = [(path.stat().st_ino, path.read_bytes()) for path in documents]
    assert [content for _, content in written] == [path.read_bytes() for path in mini.finished_runs(8, study="mini")]
    sentence = sentence_in(printed)
    assert re.search(r"and results/mini/\S+ was written at .* \(and \d+ more files after now\)", sentence)
    _, printed = with_clock.snakemake("--cores", "2", "--configfile", MINI, check=False, started=True)
    assert re.sub(r"clock shows [^,]*|@\d+", "", sentence_in(printed)) == re.sub(
        r"clock shows [^,]*|@\d+", "", sentence
    )
    subprocess.run(sentence.split("`")[1], shell=True, check=True, cwd=with_clock.folder)
    with_clock.snakemake("--cores", "2", "--configfile", MINI, started=True)
    with_clock.same_results_as(mini)
    assert [(path.stat().st_ino, path.read_bytes()) for path in documents] == written


def sentence_in(printed):
    assert "Traceback" not in printed, printed[-3000:]
    (sentence,) = [line for line in printed.splitlines() if line.startswith("sawtooth: ")]
    assert sentence.startswith("sawtooth: the clock shows ")
    return sentence


def test_set_while_the_machines_kernel_carries_a_run_out(clock, tmp_path):
    """ping would measure hours: the run is repeated, and the log says why."""
    study = studies.resolve(studies.load(ROOT / "tests/workflow/cable.yaml"), "cable")
    study["scenarios"][0]["platform"] = "host"
    kernel = kernel_now()
    if problem := kernel["refused"] or host_problem(study, kernel):
        pytest.skip(str(problem))
    asked = json.dumps(studies.run_specification(study, "alone", "reno", "ipv4", 1))
    options = [f"--bind={place}" for place in (tmp_path, clock.folder, ROOT / "workflow")]
    options += [
        f"--env={name}={value}" for name, value in (clock.environment | {"PYTHONPATH": ROOT / "workflow"}).items()
    ]
    program = ["python3", "-B", "-m", "testbed", "--specification", asked, "--output", tmp_path / "run.json.gz"]
    command = [*APPTAINER, *options, ROOT / "envs/testbed.sif", *program]
    with nothing_goes_on():
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: any(is_sender(pid) for pid, _ in descendants(process.pid)), "traffic")
        clock.set_to(HOURS)
        _, log = process.communicate(timeout=300)
    assert process.returncode == 0, log
    assert f"first try: step 'host': the machine's clock jumped by +{HOURS * 3600}.000 s during the run" in log
    assert (tmp_path / "run.json.gz").exists()


def is_sender(pid):
    """Return whether a process is an iperf3 client."""
    try:
        return b"iperf3\0--client" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
