"""The differences in a study, their sizes, and the order in which the report states them."""

from topics.ccas.topic import one_cca_a_run
from topics.differences.axes import pairs_of
from topics.differences.measures import margins_of
from topics.differences.tables import COMPARISONS, DIFFERENCES
from topics.topic import Analysis, Topic


def _params(design):
    return {"pairs": pairs_of(design.scenarios), "margins": margins_of(design.study)}


TOPIC = Topic(
    "differences",
    "Differences",
    order=35,
    heading="What differs, and by how much?",
    applies=lambda design: (
        one_cca_a_run(design) and design.has_own_flows and (len(design.ccas) > 1 or bool(pairs_of(design.scenarios)))
    ),
    analyses=(
        Analysis(
            "compare_levels", ("runs",), (DIFFERENCES, COMPARISONS), ("significance", "confidence"), params=_params
        ),
    ),
    brief=(),
)
