"""Custom guest kernels of a study (`kernels` of study.schema.yaml): another Linux version, patches and options.

A run's specification contains everything from which its kernel is built. The kernel is built beforehand (setup/kernels.py) and named after
these inputs.
"""

import json
import re
import zlib

#: First Linux version with seccomp for a guest's processes. Earlier versions use ptrace, which costs more of the machine's time, not the
#: guest's.
SECCOMP_FROM = (6, 16)
#: Marker that precedes the copy of a kernel's configuration in its file (kernel/configs.c).
CONFIGURATION_MARK = b"IKCFG_ST"


def identity(kernel) -> str:
    """Return everything from which a kernel is built, as text, without the locations of its files."""
    content = {key: value for key, value in kernel.items() if key not in ("tree", "patches")}
    patches = [patch["sha256"] for patch in kernel["patches"]]
    return json.dumps({**content, "patches": patches, "is_tree": "tree" in kernel}, sort_keys=True)


def has_seccomp(kernel) -> bool:
    """Return whether a run's kernel (None for the image's) can run its processes with seccomp."""
    if kernel is None or kernel.get("base") == "newest":
        return True
    return tuple(map(int, re.findall(r"\d+", kernel["version"])[:2])) >= SECCOMP_FROM


def segments_per_ack(kernel) -> int:
    """Return the number of full segments per acknowledgement: Linux's 2, or as configured in a kernel with examples/ack-segments.patch."""
    return int((kernel or {}).get("config", {}).get("TCP_ACK_SEGMENTS", 2))


def process_mode(specification) -> dict[str, str]:
    """Return the environment's entry for the mode in which a run's guest runs its processes; empty for the usual mode, seccomp."""
    is_old = specification.platform == "uml" and not has_seccomp(specification.kernel)
    return {"process_mode": "ptrace"} if is_old else {}


def kernel_words(kernel) -> str:
    """Return the description of a kernel for messages and the report."""
    name = kernel["tree"] if "tree" in kernel else f"Linux {kernel['base']}" if kernel["base"] != "newest" else "Linux"
    version = f" ({kernel['version']})" if "version" in kernel else ""
    patches = "".join(f", {patch['path']}" for patch in kernel["patches"])
    return f"{name}{version}{patches}" + "".join(f", {key}={value}" for key, value in kernel["config"].items())


def of_binary(linux) -> tuple[str, bytes]:
    """Return the version and the configuration stored in the file of a guest kernel with CONFIG_IKCONFIG."""
    content = linux.read_bytes()
    begin = content.index(CONFIGURATION_MARK) + len(CONFIGURATION_MARK)
    configuration = zlib.decompressobj(wbits=31).decompress(content[begin:])
    return re.search(rb"Linux version (\S+)", content)[1].decode(), configuration
