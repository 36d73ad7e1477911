"""Run the kernel's own TCP tests in virtual time: ``python -m kernel_tests.run_selftests PACKETDRILL``.

Each packetdrill script in the source of the guest kernel is executed in the same way as by the kernel's own runner, once per IP version.
Each test runs in a separate guest, so that a crash or a hang affects only that test.
"""

import argparse
import fnmatch
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from difflib import get_close_matches
from pathlib import Path

from experiment.own_kernels import has_seccomp, of_binary
from kernel_tests.named_kernel import KernelNameError, named_kernel
from kernel_tests.results import counts, entry_of, kept_tests, lines_of, summary, write_results
from publishing.result_checks import reruns
from publishing.result_checks.received_folder import temporary_folder
from publishing.result_checks.testbeds_here import ROOT
from selftests.verdicts import FAILED, options_of, options_off
from session.testbed_identity import image_fact
from study_files.kernels import image_version
from testbed.machine.machine import WORKFLOW_VARIABLE
from testbed.machine.messages import tell
from testbed.machine.uml import KERNEL
from wording.number_format import count
from wording.terminal_text import shown

IMAGE = ROOT / "envs/testbed.sif"
#: Results folder, relative to the current folder.
FOLDER = Path("results/selftests")
#: Seconds between two progress lines.
PROGRESS_S = 20


class SelftestsError(Exception):
    """The tests can't be run; the message gives the reason in one sentence, or is empty if the reason was already printed."""


def main(arguments=None) -> int:
    """Run the tests that the command line requests, and print and write the results; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_selftests", description=__doc__.splitlines()[0])
    parser.add_argument("packetdrill", type=Path, help="packetdrill's source, a folder or an archive")
    parser.add_argument(
        "--kernel", default="", help="6.12, 7.2, or the path of a patch, C file, YAML file or source tree"
    )
    parser.add_argument("--only", default="*", help="glob of scripts, as in tcp_sack_*")
    parser.add_argument("--seed", type=int, default=1, help="seed of the guests' random numbers")
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    try:
        named = named_kernel(options.kernel, image_version())
        if options.check:
            return 0
        with temporary_folder() as place:
            return _carry_out(options, named, place)
    except (SelftestsError, KernelNameError) as error:
        if str(error):
            tell(str(error))
    except KeyboardInterrupt:
        tell("interrupted; there are no results.")
    return 1


def _carry_out(options, named, place):
    began = time.monotonic()
    about, tests, outputs = tests_of(options.packetdrill, named, place, options.only, options.seed)
    folder = FOLDER / named.name
    write_results(folder, about, tests, outputs)
    print("\n".join(lines_of(tests)))
    if off := about["options_off"]:
        print(f"the scripts' own config asks for {', '.join(off)}, which this kernel doesn't have")
    print(summary(tests, time.monotonic() - began))
    print(f"results: {folder}/selftests.json, {folder}/selftests.csv")
    return 1 if counts(tests)[FAILED] else 0


def tests_of(packetdrill, named, place, only="*", seed=1, kept=None) -> tuple[dict, list[dict], list[str] | None]:
    """Execute the tests of a kernel.

    Parameters
    ----------
    packetdrill : pathlib.Path
        Source of packetdrill.
    named : kernel_tests.named_kernel.NamedKernel
    place : pathlib.Path
        An empty folder.
    only : str
        A glob of scripts.
    seed : int
    kept : pathlib.Path, optional
        Folder of earlier results, which are returned if their ``about`` is the same.

    Returns
    -------
    about : dict
        Versions and digests of the kernel, image, packetdrill and scripts; the call's glob and seed; the missing kernel options.
    tests : list of dict
        An entry for each test, from `kernel_tests.results.entry_of`.
    outputs : list of str or None
        Output of each test; None if earlier results are returned.

    Raises
    ------
    SelftestsError
        The tests can't be run.
    """
    asked = _parts(packetdrill, named, place)
    commands = chosen(asked["commands"], only)
    linux, identity = linux_of(named, place)
    version, configuration = of_binary(linux)
    has = options_of(configuration.decode(errors="replace"))
    scripts = place / "scripts"
    wanted = scripts / "config"
    off = options_off(wanted.read_text(errors="replace"), has) if wanted.is_file() else []
    about = {
        "kernel": {"version": version, "linux_sha256": hashlib.sha256(linux.read_bytes()).hexdigest(), "identity": identity},
        "image_digest": image_fact(ROOT / "envs/testbed.json", "content_digest"),
        "packetdrill_sha256": asked["packetdrill"],
        "scripts_sha256": _digest(scripts),
        "only": only,
        "seed": seed,
        "options_off": off,
    }  # fmt: skip
    if kept is not None and (tests := kept_tests(kept, about)) is not None:
        return about, tests, None
    print(f"{named.words}: {count(len(commands), 'test')} of {count(len({one[0] for one in commands}), 'script')}", flush=True)  # fmt: skip
    plan = plan_of(place, commands, linux if named.is_own else None, named.kernel, seed)
    outcomes = outcomes_of(plan, place)
    tests = [
        entry_of(command, outcome, (scripts / command[0]).read_text(errors="replace"), has)
        for command, outcome in zip(commands, outcomes, strict=True)
    ]
    return about, tests, [_printed(place, *one) for one in enumerate(outcomes)]


def _parts(packetdrill, named, place):
    """Run set-up, which writes programs and scripts to a folder; return the document that set-up writes.

    The document contains the tests' ``commands`` and, as ``packetdrill``, the SHA-256 of packetdrill's source.
    """
    _call_setup("selftests", place, packetdrill, *([json.dumps(named.kernel)] if named.kernel else []))
    return json.loads((place / "commands.json").read_text())


def _call_setup(*arguments):
    status = subprocess.run([sys.executable, ROOT / "setup", *map(str, arguments)]).returncode
    if status:
        raise SelftestsError("")  # set-up has printed the reason


def chosen(commands, only) -> list[list[str]]:
    """Return the commands whose script matches a glob; the extension may be omitted.

    Raises
    ------
    SelftestsError
        No script matches.
    """
    names = list(dict.fromkeys(command[0] for command in commands))
    found = {name for name in names if fnmatch.fnmatchcase(name, only) or fnmatch.fnmatchcase(name, f"{only}.pkt")}
    if not found:
        near = get_close_matches(only.strip("*"), [name.removesuffix(".pkt") for name in names], n=1, cutoff=0)
        raise SelftestsError(f"ONLY={shown(only)} matches none of {count(len(names), 'script')} of this kernel; allowed: a name or a glob, such as {near[0] if near else 'tcp_*'}.")  # fmt: skip
    return [command for command in commands if command[0] in found]


def linux_of(named, place) -> tuple[Path, str | None]:
    """Return the guest kernel's file and the identifier of its content; build the kernel first unless it is the image's.

    The identifier of the image's kernel is None.
    """
    if not named.is_own:
        return IMAGE / KERNEL.lstrip("/"), None
    identity = named.identity(image_fact(ROOT / "envs/testbed.json", "linux_sha256"))
    linux = place / "kernels" / identity / "linux"
    kernel = [json.dumps(named.kernel)] if named.kernel else []
    sources = [f"{one.source}={one.sha256}" for one in named.sources]
    _call_setup("kernel", identity, linux, linux.with_suffix(".json"), *kernel, *sources)
    return linux, identity


def plan_of(place, commands, linux=None, kernel=None, seed=1) -> dict:
    """Return the input for the program in the container (`selftests.__main__`).

    Parameters
    ----------
    place : pathlib.Path
        The folder of this call, with ``programs`` and ``scripts``.
    commands : list of list of str
        Script, then packetdrill's arguments.
    linux : pathlib.Path, optional
        File of a kernel other than the image's.
    kernel : dict, optional
        Definition of that kernel (`study_files.kernels.completed_kernel`).
    seed : int
    """
    shared = {
        "programs": str(place / "programs"),
        "scripts": str(place / "scripts"),
        "linux": str(linux or KERNEL),
        "has_seccomp": has_seccomp(kernel),
        "is_own": linux is not None,
        "seed": seed,
    }
    workers = min(len(os.sched_getaffinity(0)), len(commands))
    return {"plan": shared, "commands": commands, "workers": workers, "logs": str(place / "logs")}


def outcomes_of(plan, place, folders=()) -> list[dict]:
    """Execute the tests of a plan in the testbed's image and return their outcomes, in the order of the commands.

    Parameters
    ----------
    plan : dict
        Result of `plan_of`.
    place : pathlib.Path
        The folder of this call.
    folders : iterable of pathlib.Path
        Other folders that the plan names.

    Raises
    ------
    SelftestsError
        The machine can't execute the tests.
    """
    (place / "logs").mkdir()
    (file := place / "plan.json").write_text(json.dumps(plan))
    mounts = [reruns.mount(place), *(f"{reruns.mount(folder)},ro" for folder in (ROOT / "workflow", *folders))]
    environment = {"PYTHONPATH": ROOT / "workflow", WORKFLOW_VARIABLE: os.getpid()}
    command = reruns.module_command(IMAGE, mounts, environment, ["selftests", str(file)])
    with (place / "log").open("wb") as log, subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
    ) as process:  # fmt: skip
        try:
            outcomes = dict(_with_progress(map(json.loads, process.stdout), len(plan["commands"])))
            status = process.wait()
        finally:
            reruns.end([process])
    if status or len(outcomes) < len(plan["commands"]):
        raise SelftestsError(f"the tests can't be run: {reruns.last_words(place, status)}")
    return [outcomes[number] for number in range(len(outcomes))]


def _with_progress(outcomes, total):
    """Yield outcomes as they arrive, and print their number every `PROGRESS_S` seconds."""
    said = time.monotonic()
    for number, outcome in enumerate(outcomes, 1):
        yield outcome
        if time.monotonic() - said > PROGRESS_S:
            said = time.monotonic()
            print(f"  {number} of {total}", flush=True)


def _printed(place, number, outcome):
    """Return a test's output or, if the outcome contains none, the console log of the test's guest."""
    return outcome["output"] if "output" in outcome else (place / "logs" / f"{number}.log").read_text(errors="replace")


def _digest(folder):
    """Return the SHA-256 of the files in a folder: names and contents."""
    total = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        total.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
