"""Custom guest kernels of a study (`kernels` of study.schema.yaml): another Linux version, patches and options.

A run's specification contains all build inputs of the run's kernel. The kernel is built before the run (setup/kernels.py), and its name is
derived from these inputs.
"""

import json
import re
import zlib

#: First Linux version whose guests can run processes with seccomp. Earlier versions use ptrace, which takes more of the machine's time, but
#: not more virtual time.
SECCOMP_FROM = (6, 16)
#: Marker in a kernel binary, immediately before the copy of the kernel's configuration (kernel/configs.c).
CONFIGURATION_MARK = b"IKCFG_ST"


def identity(kernel) -> str:
    """Return all build inputs of a kernel as text, excluding file paths."""
    content = {key: value for key, value in kernel.items() if key not in ("tree", "patches")}
    patches = [patch["sha256"] for patch in kernel["patches"]]
    return json.dumps({**content, "patches": patches, "is_tree": "tree" in kernel}, sort_keys=True)


def has_seccomp(kernel) -> bool:
    """Return whether a guest kernel can run its processes with seccomp instead of ptrace; ``kernel`` is None for the image's kernel."""
    if kernel is None or kernel.get("base") == "newest":
        return True
    return tuple(map(int, re.findall(r"\d+", kernel["version"])[:2])) >= SECCOMP_FROM


def segments_per_ack(kernel) -> int:
    """Return the number of full segments per acknowledgement: 2, or the number configured in a kernel with examples/ack-segments.patch."""
    return int((kernel or {}).get("config", {}).get("TCP_ACK_SEGMENTS", 2))


def process_mode(specification) -> dict[str, str]:
    """Return the entry in a run's environment for a guest that runs processes with ptrace; empty for the usual guest, with seccomp."""
    is_old = specification.platform == "uml" and not has_seccomp(specification.kernel)
    return {"process_mode": "ptrace"} if is_old else {}


def kernel_words(kernel) -> str:
    """Return the description of a kernel for messages and the report."""
    name = kernel["tree"] if "tree" in kernel else f"Linux {kernel['base']}" if kernel["base"] != "newest" else "Linux"
    version = f" ({kernel['version']})" if "version" in kernel else ""
    patches = "".join(f", {patch['path']}" for patch in kernel["patches"])
    return f"{name}{version}{patches}" + "".join(f", {key}={value}" for key, value in kernel["config"].items())


def of_binary(linux) -> tuple[str, bytes]:
    """Return the version and the configuration of a guest kernel, read from its binary, which must be built with CONFIG_IKCONFIG."""
    content = linux.read_bytes()
    begin = content.index(CONFIGURATION_MARK) + len(CONFIGURATION_MARK)
    configuration = zlib.decompressobj(wbits=31).decompress(content[begin:])
    return re.search(rb"Linux version (\S+)", content)[1].decode(), configuration
