"""Properties of a run that depend on its platform: the image and the repeatability."""

#: Platform without its version -> image for its runs.
IMAGES = {"uml": "testbed", "host": "testbed", "ns3": "ns3"}


def image_of(platform) -> str:
    """Return the name of the image for runs on a platform, such as ``ns3:3.44``."""
    return IMAGES[platform.partition(":")[0]]


def is_repeatable(platform) -> bool:
    """Return whether runs with the same seed give the same bytes. Runs on the real clock of a machine don't."""
    return platform != "host"
