"""The same conditions on several platforms: Linux, and versions of a simulator."""

from study_topics import buffers
from study_topics.topic import Figure, Topic


def _applies(design):
    return design.platforms_compared


def _figures(design):
    yield Figure("platform-differences")
    if buffers.TOPIC.applies(design):
        yield Figure("platform-flows", "flow-goodput", {"cca": "", "lines": "platform"})
        yield Figure("platform-totals", "buffer-totals", {"lines": "platforms"})


TOPIC = Topic("platforms", "Platforms", applies=_applies, tables=("platforms", "platform_causes"), figures=_figures)
