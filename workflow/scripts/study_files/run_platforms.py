"""Properties of a run that its platform determines: its image, and whether it can be repeated."""

#: Platform without its version -> image that its runs have.
IMAGES = {"uml": "testbed", "host": "testbed", "ns3": "ns3"}


def image_of(platform) -> str:
    """Return the name of the image for runs on a platform (such as ``ns3:3.44``)."""
    return IMAGES[platform.partition(":")[0]]


def is_repeatable(platform) -> bool:
    """Return whether another execution with the same seed gives the same bytes, which is false under a machine's own clock."""
    return platform != "host"
