"""Which testbed and which image the runs will have: what makes finished runs stale."""

import json
import sys
from pathlib import Path

from testbed.environment import package_digest  # noqa: F401, the same function as in the guest


def simulator_digest() -> str:
    """Return the digest of the program that carries out runs in a simulator."""
    from simulator.run import digest  # only studies that have such runs need it

    return digest()


def image_digest(description: str | Path) -> str:
    """Return the content digest of an image that set-up has made, from its description, ``envs/<image>.json``."""
    return image_fact(description, "content_digest")


def image_fact(description: str | Path, name: str) -> str:
    """Return what the description of an image says under a name; leave with one sentence if there is none: nothing can run then."""
    try:
        return json.loads(Path(description).read_text())[name]
    except OSError as error:
        sys.exit(f"sawtooth: {description} can't be read ({error.strerror}): the images are missing, run `make setup`.")
    except (ValueError, KeyError):
        sys.exit(f"sawtooth: {description} is no image description: run `make setup`.")
