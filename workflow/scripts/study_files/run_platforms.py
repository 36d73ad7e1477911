"""What follows from a run's platform: its image, and whether it can be repeated."""

#: Platform without its version -> image that its runs have.
IMAGES = {"uml": "testbed", "host": "testbed", "ns3": "ns3"}


def image_of(platform) -> str:
    """Return the name of the image that runs on a platform (``ns3:3.44``) have."""
    return IMAGES[platform.partition(":")[0]]


def is_repeatable(platform) -> bool:
    """Tell whether another execution with the same seed gives the same bytes: not under a machine's own clock."""
    return platform != "host"
