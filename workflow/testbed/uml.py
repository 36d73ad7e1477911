"""Platform ``uml``: the guest kernel as an ordinary process with a virtual clock.

The guest's clock moves only when the guest is idle (``time-travel=inf-cpu``), so
neither the machine's speed nor its load reach a result. Everything the guest
can see is fixed or follows from the run: its command line feeds its random pool
and must be the same on every machine, and its environment is empty.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

KERNEL = "/usr/lib/sawtooth/linux"
RANDOMNESS = "/usr/lib/sawtooth/getrandom.so"
INIT = "/usr/lib/sawtooth/init"
#: 2023-11-14T22:13:20Z in ns, when every guest starts.
START_NS = 1_700_000_000_000_000_000
#: Memory of a guest that moves hardly any data, in MiB.
BASE_MEMORY_MIB = 384
#: What a payload byte under way costs in a guest that does not segment: sk_buffs in
#: queues, in the sender's retransmit queue and out of order at the receiver.
MEMORY_PER_BYTE = 8
PR_SET_PDEATHSIG = 1
#: Process id of the workflow on whose behalf a run is carried out; without it the run ends.
WORKFLOW_VARIABLE = "SAWTOOTH_WORKFLOW"
#: Between two looks for a free core, in seconds.
CORE_POLL_S = 0.2


class GuestError(RuntimeError):
    """The guest did not carry the run out: ``step`` and ``cause``."""

    def __init__(self, step, cause):
        self.step, self.cause = step, cause
        super().__init__(f"step '{step}': {cause}")


class MachineFault(GuestError):
    """The machine ended the guest, not the experiment: another try may succeed."""


class WorkflowEnded(GuestError):
    """The workflow that wanted the run is no more, so the run was ended."""


def memory_mib(specification):
    """Return the guest's memory in MiB; untouched pages cost the machine nothing.

    It follows from the specification alone, since the guest's size is part of
    what it can see.
    """
    rate_mbps = specification.rate_mbps
    if rate_mbps is None:
        rate_mbps = specification.flows * specification.traffic["bitrate_mbps"]
    queue = (specification.queue_packets or 0) * 1514 + (specification.queue_bytes or 0)
    under_way = rate_mbps * 1e6 / 8 * specification.rtt_path_ms / 1e3 + 2 * queue
    return BASE_MEMORY_MIB + 64 * (1 + int(MEMORY_PER_BYTE * under_way / 2**20) // 64) + 16 * specification.flows


def wall_limit_s(specification):
    """Return the real seconds that a run may take: many times what the slowest need."""
    return 120 + 30 * specification.traffic["duration_s"]


def command_line(specification):
    """Return the guest kernel's arguments."""
    return [
        KERNEL,
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        f"init={INIT}",
        f"mem={memory_mib(specification)}M",
        "time-travel=inf-cpu",
        f"time-travel-start={START_NS}",
        "seccomp=on",
        "con=null",
        "con0=null,fd:1",
        "quiet",
    ]


def boot(specification, wall_limit_s, log):
    """Carry out a run in a guest and return its document.

    Parameters
    ----------
    specification : RunSpecification
    wall_limit_s : float
        Real seconds after which the guest is ended.
    log : binary file
        Gets the guest's console, which is the run's log.

    Raises
    ------
    GuestError
        If the guest crashed, hung, or could not carry the run out.
    """
    with workflow_process() as workflow, job_folder() as job, free_core(log, workflow) as core:
        shutil.copytree(Path(__file__).parent, job / "testbed", ignore=shutil.ignore_patterns("__pycache__"))
        (job / "specification.json").write_text(json.dumps(specification.document))
        log.write(f"guest: {' '.join(command_line(specification))} on core {core}\n".encode())
        log.flush()
        return result(job, execute(specification, job, core, wall_limit_s, log, workflow))


@contextlib.contextmanager
def job_folder():
    """Make the folder that a guest sees as its job, and delete it, and those that a killed run left."""
    place = Path(tempfile.gettempdir())
    for left in place.glob("sawtooth-run-*"):
        with contextlib.suppress(OSError), locked(left):  # another user's can't be opened
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="sawtooth-run-", dir=place, ignore_cleanup_errors=True) as folder:
        with locked(folder):
            yield Path(folder)


@contextlib.contextmanager
def locked(path):
    """Hold a file or folder until the context or this process ends; raise BlockingIOError if another does."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def execute(specification, job, core, wall_limit_s, log, workflow):
    """Run the guest kernel in the folder ``job`` and return its exit status (negative: the signal)."""
    process = subprocess.Popen(
        command_line(specification),
        cwd=job,
        env={
            "HOME": "/tmp",
            "TMPDIR": memory_folder(),
            "PATH": "/usr/bin:/bin",
            "LD_PRELOAD": RANDOMNESS,
            "SAWTOOTH_GUEST_SEED": str(specification.substream("guest")),
        },
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=lambda: confine(core),
    )
    try:
        return wait(process, wall_limit_s, workflow)
    finally:
        # The guest's processes are children of the guest kernel, in its session.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait(process, limit_s, workflow):
    """Wait for the guest's end and return its status.

    Raises
    ------
    MachineFault
        If it takes longer than ``limit_s`` real seconds.
    WorkflowEnded
        If the workflow ends before.
    """
    guest = os.pidfd_open(process.pid)
    try:
        ended = ended_within(limit_s, guest, workflow)
    finally:
        os.close(guest)
    if guest in ended:
        return process.wait()
    if ended:
        raise WorkflowEnded("guest", "the workflow ended, and so did the run")
    raise MachineFault("guest", f"did not end within its time limit of {limit_s:g} s")


@contextlib.contextmanager
def workflow_process():
    """Yield the workflow as a file that can be read once it has ended (pidfd_open(2)); None without one."""
    pid = os.environ.get(WORKFLOW_VARIABLE)
    if not pid:
        yield None
        return
    try:
        handle = os.pidfd_open(int(pid))
    except ProcessLookupError:
        raise WorkflowEnded("guest", "the workflow ended, and so did the run") from None
    try:
        yield handle
    finally:
        os.close(handle)


def ended_within(seconds, *processes):
    """Return those of the processes (pidfds, or None) that have ended, as soon as one has or the time is over."""
    ends = select.poll()
    for handle in processes:
        if handle is not None:
            ends.register(handle, select.POLLIN)
    return [handle for handle, _ in ends.poll(seconds * 1000)]


def memory_folder():
    """Return where the guest's memory is mapped from: shared memory, or else a folder on disk.

    Raises
    ------
    GuestError
        If neither may be written to and mapped as executable.
    """
    candidates = ["/dev/shm", tempfile.gettempdir()]
    for folder in candidates:
        if os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC:
            return folder
    raise GuestError("guest", f"no place for its memory: {' and '.join(candidates)} are read-only or mounted noexec")


def confine(core):
    """In the child: end with the parent, stay on one core."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, {core})


@contextlib.contextmanager
def free_core(log, workflow=None, folder="/tmp"):
    """Hold a core that no other run on this machine holds; wait for one while there is none.

    A guest hands over between its kernel and its processes all the time: on one
    core that is several times faster than across two. The lock is on a file per
    core, whoever made it, and ends with this process.
    """
    with contextlib.ExitStack() as stack:
        waited = False
        while (core := take_core(stack, Path(folder))) is None:
            if not waited:
                log.write(b"waiting for a core: other runs have them all\n")
                log.flush()
            waited = True
            if ended_within(CORE_POLL_S, workflow):
                raise WorkflowEnded("guest", "the workflow ended before there was a core")
        yield core


def take_core(stack, folder):
    """Return a core that is locked from now on for the lifetime of ``stack``, or None if all are taken."""
    for core in sorted(os.sched_getaffinity(0)):
        path = folder / f"sawtooth-core-{core}.lock"
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o444))
        with contextlib.suppress(BlockingIOError):
            stack.enter_context(locked(path))
            return core
    return None


def result(job, status):
    """Return the document that the guest left in ``job``; raise `GuestError` if there is none."""
    failure, document = job / "failure.json", job / "document.json"
    if failure.exists():
        told = json.loads(failure.read_text())
        raise GuestError(told["step"], f"{told['kind']}: {told['cause']}")
    if not document.exists():
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        hint = " (out of memory?)" if -status in (signal.SIGKILL, signal.SIGBUS) else ""
        raise MachineFault("guest", f"the guest kernel {how}{hint} and left no document (see the log)")
    try:
        return json.loads(document.read_text())
    except json.JSONDecodeError as error:
        raise GuestError("guest", f"the guest left a document that is no JSON: {error}") from None
