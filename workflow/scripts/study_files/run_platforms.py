"""Properties of a run that the platform determines: the image, and whether the run can be repeated."""

#: Platform without its version -> image of its runs.
IMAGES = {"uml": "testbed", "host": "testbed", "ns3": "ns3"}


def image_of(platform) -> str:
    """Return the name of the image for runs on a platform (such as ``ns3:3.44``)."""
    return IMAGES[platform.partition(":")[0]]


def is_repeatable(platform) -> bool:
    """Return whether another execution with the same seed gives the same bytes, which isn't the case with a machine's own clock."""
    return platform != "host"
