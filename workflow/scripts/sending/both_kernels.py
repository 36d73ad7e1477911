"""Build the base kernel and the patched kernel, compare them byte by byte, and try out a kernel in one run."""

import dataclasses
import subprocess
from pathlib import Path

from kernel_tests.named_kernel import NamedKernel
from kernel_tests.run_selftests import linux_of
from publishing.result_checks import reruns
from publishing.result_checks.testbeds_here import ROOT, testbeds_here
from run_tables.run_documents import DocumentError, read_document
from study_files.kernels import without_number
from study_files.study_runs import run_specification

#: Time limit for the first run on a kernel, in seconds of real time.
LIMIT_S = 300
#: Number of failed attempts after which the kernel is blamed for a failed first run; a single failure may be the machine's fault.
FAILURES = 2


@dataclasses.dataclass(frozen=True)
class Built:
    """A built kernel: its file, and a digest that identifies what it was built from (None for the image's kernel)."""

    linux: Path
    identity: str | None


def build(named, place) -> Built:
    """Build a kernel, unless it is in the cache.

    Raises
    ------
    kernel_tests.run_selftests.SelftestsError
        The kernel can't be built; set-up has printed the reason.
    """
    return Built(*linux_of(named, place))


def are_the_same(base, patched, place) -> bool:
    """Return whether two kernels are byte-identical except for their build numbers.

    If the base is the image's kernel, it is linked again, with a build number that is as long as the patched kernel's.

    Parameters
    ----------
    base : kernel_tests.named_kernel.NamedKernel
    patched : Built
    place : pathlib.Path
    """
    twin = base if base.is_own else _Twin(base.name, base.words, {"base": "newest", "patches": [], "config": {}})
    contents = [without_number(one.linux.read_bytes(), one.identity) for one in (build(twin, place), patched)]
    return contents[0] == contents[1]


class _Twin(NamedKernel):
    """The image's kernel, built in the same way as a study's custom kernel."""

    def identity(self, linux_sha256):
        return linux_sha256[:16]


def first_failure(study, cca, built, place) -> str | None:
    """Execute the first run of a study with a CCA; return the cause if the run failed `FAILURES` times, otherwise None.

    Parameters
    ----------
    study : dict
        The resolved study.
    cca : str
        The study's name for the CCA on this kernel.
    built : Built
        The kernel.
    place : pathlib.Path
        An empty folder.
    """
    first = study["scenarios"][0]["id"]
    specification = run_specification(study, first, cca, study["ip_versions"][0], 1)
    for number in range(FAILURES):
        work = place / f"first-{cca}-{number}"
        work.mkdir()
        why = _failure(specification, built, work)
        if why is None:
            return None
    return why


def _failure(specification, built, work):
    """Execute a run in an empty folder; return the cause if the run failed, or None if it succeeded."""
    programs = {"testbed": testbeds_here()["testbed"][1]}
    kernels = built.linux.parents[1] if built.identity else None
    command = reruns.run_command(ROOT, specification, (output := work / "run.json.gz"), programs, kernels)
    process = reruns.start([*command, "--wall-limit-s", str(LIMIT_S)], work)
    try:
        status = process.wait(timeout=2 * LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"it did not end within {2 * LIMIT_S} s"
    finally:
        reruns.end([process])
    if status or not output.exists():
        return reruns.last_words(work, status)
    try:
        document = read_document(output, specification)
    except DocumentError as error:
        return str(error.cause)
    return document["failure"]["cause"] if "failure" in document else None
