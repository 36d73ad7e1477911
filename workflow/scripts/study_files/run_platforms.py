"""Properties of a run that depend on its platform: the image, and whether the run can be repeated byte for byte."""

#: Platform without its version -> image in which the platform's runs are executed.
IMAGES = {"uml": "testbed", "host": "testbed", "ns3": "ns3"}


def image_of(platform) -> str:
    """Return the name of the image in which runs on a platform, such as ``ns3:3.44``, are executed."""
    return IMAGES[platform.partition(":")[0]]


def is_repeatable(platform) -> bool:
    """Return whether runs with the same seed give the same bytes, which is not the case on a machine's real clock."""
    return platform != "host"
