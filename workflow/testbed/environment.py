"""What a run ran on, as far as it can change a result: kernel, tick, tools, image."""
import gzip
import hashlib
import json
import os
import re
from pathlib import Path

IMAGE_DESCRIPTION = Path("/usr/share/sawtooth/image.json")
KERNEL_CONFIGURATION = Path("/proc/config.gz")


def package_digest(folder=None):
    """Return the SHA-256 of this package's modules: names and contents, sorted by name."""
    folder = Path(folder or __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    digest = hashlib.sha256()
    for module in sorted(folder.glob("*.py")):
        digest.update(f"{module.name}\0{len(module.read_bytes())}\0".encode())
        digest.update(module.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def describe():
    """Return the environment of the running guest; nothing in it depends on when or where.

    Raises
    ------
    FileNotFoundError
        If the image has no description or the kernel no configuration to read.
    """
    image = json.loads(IMAGE_DESCRIPTION.read_text())
    configuration = gzip.decompress(KERNEL_CONFIGURATION.read_bytes())
    tick = re.search(rb"^CONFIG_HZ=(\d+)$", configuration, re.M)
    kernel = os.uname()
    return {
        "platform": "uml",
        "kernel": kernel.release,
        "kernel_build": kernel.version,
        "kernel_config_sha256": hashlib.sha256(configuration).hexdigest(),
        "tick_hz": int(tick[1]),
        "clock": "virtual (time-travel=inf-cpu)",
        "tools": image["packages"],
        "image_digest": image["content_digest"],
        "testbed_digest": package_digest(),
    }
