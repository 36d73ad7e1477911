"""Identify the images and programs with which this checkout executes runs."""

from pathlib import Path

from publishing.result_checks.received_errors import ReceivedError
from session.testbed_identity import image_digest
from testbed.machine.identity import TESTBED, package_digest

ROOT = Path(__file__).resolve().parents[4]


def testbeds_here() -> dict[str, tuple[str, str]]:
    """Return the digests of this checkout's testbeds: name of the image -> (digest of the image, digest of the program).

    The images are "testbed" for Linux and, if it exists, "ns3" for ns-3.
    """
    here = {"testbed": (image_here("testbed"), package_digest(*TESTBED))}
    if (ROOT / "envs/ns3.sif").exists():
        from simulator.run import program_digest  # needed only if the image exists

        here["ns3"] = image_here("ns3"), program_digest()
    return here


def image_here(name) -> str:
    """Return the digest of one of this checkout's images; raise ReceivedError if the image is missing."""
    try:
        digest = image_digest(ROOT / f"envs/{name}.json")
    except SystemExit as error:
        raise ReceivedError(str(error).removeprefix("sawtooth: ")) from None
    if not (ROOT / f"envs/{name}.sif").exists():
        raise ReceivedError(f"envs/{name}.sif is missing: run `make setup{' NS3=1' if name == 'ns3' else ''}`.")
    return digest
