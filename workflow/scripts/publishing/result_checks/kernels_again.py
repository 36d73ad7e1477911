"""Rebuild the kernels of received runs from the published patches, options and C files."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from experiment.definitions import kernel_id
from experiment.specification import RunSpecification
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import read_file
from session.testbed_identity import image_fact
from study_files.kernel_trees import described_tree

#: Maximum size in bytes of a kernel's description, which contains patches and C files, as text or, if they aren't UTF-8, in base64.
LARGEST = 2**26
#: Additional files and options for a kernel with tracing, because arch/um supports neither the function tracer nor kprobes.
TRACING = Path("envs/guest/tracing")
TRACING_OPTIONS = {"FTRACE": True, "ENABLE_DEFAULT_TRACERS": True}
#: Build number of the kernel in the image.
IMAGE_BUILD = "1"


def kernel_name(specification: dict, root: Path) -> str | None:
    """Return the name of a run's kernel, or None if the run uses the image's kernel."""
    run = RunSpecification(specification)
    return kernel_id(image_fact(root / "envs/testbed.json", "linux_sha256"), run.sources, run.kernel)


def build(specification: dict, folder: Path, root: Path, place: Path) -> str | None:
    """Build the kernel of a received run; return None if the published kernel was reproduced, otherwise the reason why not.

    Parameters
    ----------
    specification : dict
        A validated specification; of the received texts, only digests are used in paths and commands.
    folder, root : pathlib.Path
        The results folder and the checkout.
    place : pathlib.Path
        A temporary folder; the kernel is written to ``kernels/<name>/linux`` in it.
    """
    name = kernel_name(specification, root)
    try:
        kernel, files, linux_sha256 = _published(specification, folder, root, place)
        linux = _built(name, kernel, files, root, place / "kernels" / name)
    except ReceivedError as error:
        return str(error)
    if (built_sha256 := hashlib.sha256(linux.read_bytes()).hexdigest()) != linux_sha256:
        return f"the build gave a different kernel: SHA-256 {built_sha256}, published {shown(str(linux_sha256), 64)}"
    return None


def with_tracing(specification: dict, folder: Path, root: Path, place: Path) -> Path:
    """Build a run's kernel (the image's or a custom kernel) with tracing, in the folder ``place``; return the path of the built kernel.

    The source, patches, C files and build number are those of the run's kernel. `TRACING_OPTIONS` and the files in envs/guest/tracing are
    added. The parameters are the same as for `build`.

    Raises
    ------
    ReceivedError
        If the kernel can't be built.
    """
    name = kernel_name(specification, root)
    kernel, files = None, []
    if name is not None:
        kernel, files, _ = _published(specification, folder, root, place)
    kernel = kernel or {"base": "newest", "patches": [], "config": {}}
    patches = [*kernel["patches"], _file_of(root / TRACING / "tracing.patch")]
    kernel |= {"patches": patches, "config": kernel["config"] | TRACING_OPTIONS}
    calls = _file_of(root / TRACING / "trace_functions.c")
    return _built(name or IMAGE_BUILD, kernel, [*files, (calls["path"], calls["sha256"])], root, place / "tracing")


def _file_of(path):
    return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def source_texts(specification: dict, folder: Path, root: Path) -> dict[str, str]:
    """Return the published C files of a run's custom kernel: SHA-256 -> text; raise `ReceivedError` if they are missing."""
    _, contents = _description(f"workflow/kernel-{kernel_name(specification, root)}.json", folder)
    return {sha256: content.decode(errors="replace") for sha256, content in contents.items()}


def _description(described, folder):
    """Return a kernel's description and the files in it (SHA-256 -> content); raise `ReceivedError` if the description can't be read."""
    try:
        published = json.loads(read_file(folder, described, LARGEST))
        contents = {one["sha256"]: _content(one) for one in (*published["files"], *published.get("patches", []))}
    except (ReceivedError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceivedError(f"{described} can't be read: {shown(str(error), 200)}") from None
    if published.get("linux_sha256") is None:
        raise ReceivedError(f"{described} doesn't have the digest of the kernel")
    return published, contents


def _published(specification, folder, root, place):
    """Write the published files of a run's custom kernel to ``place``.

    Returns the definition of the kernel, its C files as (path, SHA-256), and its published SHA-256. Raises `ReceivedError` if a file was
    not published, or if the kernel's source tree isn't on this machine.
    """
    run, name = RunSpecification(specification), kernel_name(specification, root)
    kernel = run.kernel and {**run.kernel}
    if kernel and "tree" in kernel:
        kernel["tree"] = _tree_here(kernel, root)
    described = f"workflow/kernel-{name}.json"
    published, contents = _description(described, folder)
    made = place / "sources" / name
    made.mkdir(parents=True)
    wanted = [(f"{one.module}.c", one.sha256) for one in run.sources]
    patches = [(f"{number}.patch", patch["sha256"]) for number, patch in enumerate((kernel or {}).get("patches", []))]
    for file, sha256 in (*wanted, *patches):
        content = contents.get(sha256, b"")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ReceivedError(f"{described} has no file with the SHA-256 {sha256}")
        (made / file).write_bytes(content)
    if kernel:
        kernel["patches"] = [{"path": str(made / file), "sha256": sha256} for file, sha256 in patches]
    return kernel, [(str(made / file), sha256) for file, sha256 in wanted], published["linux_sha256"]


def _tree_here(kernel, root) -> str:
    """Return the path of a kernel's source tree, which no study contains, if it is on this machine; otherwise raise `ReceivedError`."""
    tree = os.path.join(root, kernel["tree"])
    what = f"it was built from the source tree {shown(kernel['tree'])}, Linux {shown(kernel['version'], 64)}"
    try:
        here = described_tree(tree, kernel.get("revision"))
    except (ValueError, OSError) as error:
        raise ReceivedError(f"{what}, which a study doesn't contain, and which can't be read here: {shown(str(error), 300)}") from None  # fmt: skip
    if here["sha256"] != kernel["sha256"]:
        raise ReceivedError(f"{what}, which a study doesn't contain, and which has other files here: SHA-256 {here['sha256']} instead of {kernel['sha256']}")  # fmt: skip
    return tree


def _built(name, kernel, files, root, made) -> Path:
    """Build a kernel in the folder ``made`` and return its path; if the build fails, raise `ReceivedError` with the reason."""
    linux = made / "linux"
    command = [sys.executable, "setup", "kernel", name, linux, linux.with_suffix(".json")]
    if kernel:
        command.append(json.dumps(kernel))
    command += [f"{file}={sha256}" for file, sha256 in files]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip() or done.stdout.strip())[-500:].removeprefix("sawtooth: ").removesuffix(".")
        raise ReceivedError(shown(why, 500))
    return linux


def _content(one):
    return one["text"].encode() if "text" in one else base64.b64decode(one["base64"], validate=True)
