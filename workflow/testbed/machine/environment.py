"""The parts of a run's environment that can affect a result: kernel, tick rate, clock, tools and image."""

import gzip
import hashlib
import json
import os
import re
import time
from pathlib import Path

from experiment.definitions import kernel_id
from experiment.disciplines import CLOCK_MONOTONIC_COARSE
from experiment.own_kernels import of_binary

IMAGE_DESCRIPTION = Path("/usr/share/sawtooth/image.json")
KERNEL_CONFIGURATION = Path("/proc/config.gz")
VIRTUAL_CLOCK = "virtual (time-travel=inf-cpu)"
CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
CPU_INFORMATION = Path("/proc/cpuinfo")


def describe(testbed_digest) -> dict:
    """Return the environment of the running guest, which depends neither on the time nor on the machine.

    ``testbed_digest`` is the digest of the program that executes the run (`identity`).

    Raises `FileNotFoundError` if the image has no description, or if the kernel doesn't provide its configuration.
    """
    configuration = gzip.decompress(KERNEL_CONFIGURATION.read_bytes())
    return {
        "platform": "uml",
        **kernel(configuration),
        **configured(configuration),
        "clock": VIRTUAL_CLOCK,
        **program(testbed_digest),
    }


def describe_unbooted(linux, build, testbed_digest) -> dict:
    """Return the environment of a guest that ended before it could report its environment.

    The result has the form of `describe` and is read from ``linux``, the file of the guest's kernel. ``build`` is the kernel's build
    number, or None for the image's kernel.
    """
    version, configuration = of_binary(linux)
    return {
        "platform": "uml",
        "kernel": version,
        "kernel_build": f"#{build}" if build else build_in(linux),
        **configured(configuration),
        "clock": VIRTUAL_CLOCK,
        **program(testbed_digest),
    }


def build_in(linux) -> str:
    """Return the build information from a guest kernel's file, in the form of uname(2)."""
    return re.search(rb"Linux version [^\n\0]*\) (#[^\n\0]+)", linux.read_bytes())[1].decode()


def kernel_of(specification) -> str | None:
    """Return the `kernel_id` of a run's custom kernel in this image, or None for the image's kernel."""
    if not specification.has_own_kernel:
        return None
    image = json.loads(IMAGE_DESCRIPTION.read_text())
    return kernel_id(image["linux_sha256"], specification.sources, specification.kernel)


def configured(configuration) -> dict:
    """Return the SHA-256 of a guest kernel's configuration, and the tick rate that the configuration sets, in Hz."""
    return {
        "kernel_config_sha256": hashlib.sha256(configuration).hexdigest(),
        "tick_hz": int(re.search(rb"^CONFIG_HZ=(\d+)$", configuration, re.M)[1]),
    }


def describe_host(testbed_digest) -> dict:
    """Return the environment of a run on this machine's own kernel, with only those properties that may affect a result.

    Raises `FileNotFoundError` if the image has no description.
    """
    return {
        "platform": "host",
        **kernel(gzip.decompress(KERNEL_CONFIGURATION.read_bytes()) if KERNEL_CONFIGURATION.exists() else None),
        "tick_hz": round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE)),
        "clock": f"real (clocksource {CLOCK_SOURCE.read_text().strip()})",
        "cpu_model": cpu_model(CPU_INFORMATION.read_text()),
        "cpu_cores": os.cpu_count(),
        **program(testbed_digest),
    }


def kernel(configuration) -> dict[str, str | None]:
    """Return the running kernel's release, build and configuration digest; ``configuration`` is None if the kernel doesn't provide it."""
    system = os.uname()
    return {
        "kernel": system.release,
        "kernel_build": system.version,
        "kernel_config_sha256": configuration and hashlib.sha256(configuration).hexdigest(),
    }


def program(testbed_digest) -> dict:
    """Return the versions of the image's packages, and the digests of the image and the testbed."""
    image = json.loads(IMAGE_DESCRIPTION.read_text())
    return {"tools": image["packages"], "image_digest": image["content_digest"], "testbed_digest": testbed_digest}


def cpu_model(text) -> str:
    """Return the processor's name from the text of /proc/cpuinfo, or "unknown" on architectures that don't report a name."""
    named = re.search(r"^model name\s*: (.+)$", text, re.M)
    return named[1].strip() if named else "unknown"
