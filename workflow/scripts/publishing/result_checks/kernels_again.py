"""Building the kernels of received runs once more, from what was published with them: patches, options, C files."""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from experiment.definitions import kernel_id
from experiment.specification import RunSpecification
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import read_file
from session.testbed_identity import image_fact

#: The largest description of a kernel, in bytes: patches and C files are in it as text, or in base64 where they are not UTF-8.
LARGEST = 2**26


def kernel_name(specification: dict, root: Path) -> str | None:
    """Return what names the kernel of a run, None if it is the image's."""
    run = RunSpecification(specification)
    return kernel_id(image_fact(root / "envs/testbed.json", "linux_sha256"), run.sources, run.kernel)


def build(specification: dict, folder: Path, root: Path, place: Path) -> str | None:
    """Build the kernel of a run of received results; return why that can't be, or None.

    Parameters
    ----------
    specification : dict
        Validated: of what was received its texts go into no path and no command but by their digests.
    folder, root : pathlib.Path
        The results, and the checkout.
    place : pathlib.Path
        A temporary folder: the kernel becomes ``kernels/<name>/linux`` there.
    """
    run, name = RunSpecification(specification), kernel_name(specification, root)
    kernel = run.kernel and {**run.kernel}
    if kernel and "tree" in kernel:
        return f"it was a source tree of somebody's own, Linux {kernel['version']} with the digest {kernel['sha256']}, which is not published"
    try:
        described = json.loads(read_file(folder, f"workflow/kernel-{name}.json", LARGEST))
        contents = {one["sha256"]: _content(one) for one in (*described["files"], *described.get("patches", []))}
    except (ReceivedError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"workflow/kernel-{name}.json can't be read: {shown(str(error), 200)}"
    if described.get("linux_sha256") is None:
        return f"workflow/kernel-{name}.json doesn't say which kernel it was"
    made = place / "sources" / name
    made.mkdir(parents=True)
    wanted = [(f"{one.module}.c", one.sha256) for one in run.sources]
    patches = [(f"{number}.patch", patch["sha256"]) for number, patch in enumerate((kernel or {}).get("patches", []))]
    for file, sha256 in (*wanted, *patches):
        content = contents.get(sha256, b"")
        if hashlib.sha256(content).hexdigest() != sha256:
            return f"workflow/kernel-{name}.json has no file with the SHA-256 {sha256}"
        (made / file).write_bytes(content)
    linux = place / "kernels" / name / "linux"
    command = [sys.executable, "setup", "kernel", name, linux, linux.with_suffix(".json")]
    if kernel:
        command.append(
            json.dumps(kernel | {"patches": [{"path": str(made / file), "sha256": sha256} for file, sha256 in patches]})
        )
    command += [f"{made / file}={sha256}" for file, sha256 in wanted]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        return shown((done.stderr.strip() or done.stdout.strip())[-500:], 500)
    if (built_sha256 := hashlib.sha256(linux.read_bytes()).hexdigest()) != described["linux_sha256"]:
        return (
            f"another kernel came of it: SHA-256 {built_sha256}, published {shown(str(described['linux_sha256']), 64)}"
        )
    return None


def _content(one):
    return one["text"].encode() if "text" in one else base64.b64decode(one["base64"], validate=True)
