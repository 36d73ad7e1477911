"""Execution of programs: their output, how they end, and what ends them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from guest_processes import wait_for
from testbed.machine import execution
from testbed.machine.execution import EndlessLoop, execute
from testbed.machine.machine import GuestError, MachineFault, WorkflowEnded
from testbed.machine.messages import note

WORKFLOW = Path(__file__).parents[2] / "workflow"
SPEAKS = "echo first; echo second >&2; exit 3"


def carried_out(script, folder, log, limit_s=30, workflow=None, shell="sh", **options):
    """Return the exit status of a shell script and its output."""
    cores, environment = sorted(os.sched_getaffinity(0))[:1], {"PATH": os.environ["PATH"]}
    return execute([shell, "-c", script], "guest", folder, environment, cores, limit_s, log, workflow, **options)


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "run.log").open("wb", buffering=0) as stream:
        yield stream


def test_what_a_program_prints_is_in_the_log_between_what_is_noted(tmp_path, log):
    note(log, "before")
    assert carried_out(SPEAKS, tmp_path, log) == (3, b"first\nsecond\n")
    note(log, "after")
    assert Path(log.name).read_text() == "before\nfirst\nsecond\nafter\n"


def test_a_terminal_obeys_nothing_of_what_a_program_prints(tmp_path, log):
    script = r"printf 'a\033[2J\r\nb\rc\302\233\tx\n'"
    assert carried_out(script, tmp_path, log) == (0, b"a\x1b[2J\r\nb\rc\xc2\x9b\tx\n")
    assert Path(log.name).read_bytes() == b"a\\x1b[2J\r\nb\\x0dc\\xc2\\x9b\tx\n"


def test_a_program_that_prints_without_end_is_ended(tmp_path, log, monkeypatch):
    monkeypatch.setattr(execution, "LARGEST_CONSOLE_BYTES", 2**20)
    with pytest.raises(GuestError, match="reached its output limit of 1,048,576 bytes"):
        carried_out("exec yes", tmp_path, log)


SPINS = "trap 'echo at the end; exit' SEGV; while :; do :; done"


def below_another():
    """Continue in a child process, as a guest that is isolated from the machine."""
    if child := os.fork():
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # else the parent would wait for these descriptors to be closed
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@pytest.mark.parametrize("prepare", [None, below_another])
def test_a_kernel_that_computes_without_waiting_is_ended_early(tmp_path, log, monkeypatch, prepare):
    """It is told to say where it was."""
    monkeypatch.setattr(execution, "LOOP_CPU_S", 1)
    kernel = tmp_path / "linux"
    shutil.copy(shutil.which("sh"), kernel)
    with pytest.raises(EndlessLoop, match="looped endlessly: the guest kernel used 1 s of CPU time") as raised:
        carried_out(SPINS, tmp_path, log, shell=kernel, prepare=prepare, watch_loops=True)
    assert raised.value.printed == b"at the end\n"


def test_a_kernel_that_waits_for_its_programs_is_not_ended(tmp_path, log, monkeypatch):
    monkeypatch.setattr(execution, "LOOP_CPU_S", 0.2)
    kernel = tmp_path / "linux"
    shutil.copy(shutil.which("sh"), kernel)
    run = "for each in 1 2 3 4; do n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; sleep 1.1; done; times"
    status, printed = carried_out(run, tmp_path, log, shell=kernel, watch_loops=True)
    assert status == 0 and printed


def test_the_log_can_be_read_while_the_program_goes_on(tmp_path, log):
    """The program ends once it finds its own words in its log."""
    script = f"echo at work; until grep -q 'at work' {log.name}; do sleep 0.1; done; echo seen"
    assert carried_out(script, tmp_path, log) == (0, b"at work\nseen\n")
    assert Path(log.name).read_text() == "at work\nseen\n"


def test_a_log_on_a_full_disk_is_told_once_and_is_no_error_of_the_program(tmp_path, capfd):
    """Every write to /dev/full finds it full (full(4)); a shell whose `echo` fails would end with 2."""
    with open("/dev/full", "wb", buffering=0) as full:
        status, printed = carried_out("echo first || exit 2; sleep 1.5; echo second || exit 2", tmp_path, full)
    assert (status, printed) == (0, b"first\nsecond\n")
    assert capfd.readouterr().err == "sawtooth: /dev/full: no space left on device\n"


def test_a_disk_that_fills_takes_what_it_has_room_for(tmp_path, log, capfd):
    """A write beyond the file size limit is accepted in part, as by a disk that fills."""
    program = """
import resource, signal, sys
from pathlib import Path
from testbed.machine.execution import execute
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4, resource.RLIM_INFINITY))
with open(sys.argv[1], "wb", buffering=0) as log:
    # The limit is not for the program itself.
    script = ["prlimit", "--fsize=unlimited", "sh", "-c", "echo 123456"]
    print(*execute(script, "guest", Path("/"), {"PATH": "/usr/bin:/bin"}, [int(sys.argv[2])], 30, log, None))
"""
    core = str(min(os.sched_getaffinity(0)))
    command = [sys.executable, "-c", program, log.name, core]
    done = subprocess.run(command, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True)
    assert done.stdout == "0 b'123456\\n'\n", done.stderr
    assert done.stderr == f"sawtooth: {log.name}: file too large\n"
    assert Path(log.name).read_bytes() == b"1234"


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path, log):
    with pytest.raises(MachineFault, match="step 'guest': did not end within its time limit of 2 s"):
        carried_out("sleep 1000 & echo $!; wait", tmp_path, log, limit_s=2)
    started = int(Path(log.name).read_text())
    wait_for(lambda: ended(started), "the end of what it started", limit_s=10)


def ended(process):
    """Return whether a process has ended, or waits for its adoptive parent to reap it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def test_a_program_ends_with_its_workflow(tmp_path, log):
    workflow = subprocess.Popen(["sleep", "0.3"])
    handle = os.pidfd_open(workflow.pid)
    try:
        with pytest.raises(WorkflowEnded):
            carried_out("sleep 1000", tmp_path, log, workflow=handle)
    finally:
        os.close(handle)
        workflow.wait()


def test_a_program_stays_on_its_core(tmp_path, log):
    core = min(os.sched_getaffinity(0))
    _, printed = carried_out("grep Cpus_allowed_list /proc/self/status", tmp_path, log)
    assert printed.split() == [b"Cpus_allowed_list:", str(core).encode()]


def test_the_user_is_told_with_a_single_write():
    """Parallel jobs share standard error, and `print` writes twice where Python does not buffer (PYTHONUNBUFFERED)."""
    program = "from testbed.machine.messages import tell; tell('x')"
    environment = {"PYTHONPATH": str(WORKFLOW)}
    reader, writer = os.pipe2(os.O_DIRECT)  # each write is a separate packet (pipe(2))
    try:
        subprocess.run([sys.executable, "-u", "-c", program], env=environment, stderr=writer, check=True)
        assert os.read(reader, 4096) == b"sawtooth: x\n"
    finally:
        os.close(reader)
        os.close(writer)
