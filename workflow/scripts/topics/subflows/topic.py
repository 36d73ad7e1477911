"""The share of the goodput that MPTCP subflows get at one bottleneck, in competition with single-subflow connections."""

from topics.subflows.tables import SUBFLOW_SHARES
from topics.topic import Analysis, Plot, Topic
from wording.scenario_labels import settings_of


def shares_bottleneck(scenario) -> bool:
    """Return whether MPTCP subflows share the bottleneck of a resolved scenario with flows of another pair of hosts."""
    joined = scenario["topology"] == "dumbbell" and scenario["multipath"]["by"] == "mptcp"
    return joined and scenario["hosts"]["pairs"] > 1


def _settings(design):
    """Return ``settings``, which maps each scenario to its conditions other than the number and delays of subflows."""
    return {"settings": settings_of(design.scenarios, ("multipath.paths", "multipath.path_delay_ms"))}


TITLE = "MPTCP's share by number of subflows"
TOPIC = Topic(
    "subflows",
    "Subflows",
    order=170,
    heading="How much does MPTCP take if its subflows share a bottleneck?",
    applies=lambda design: any(map(shares_bottleneck, design.scenarios)),
    analyses=(
        Analysis(
            "describe_subflows", ("runs", "flows", "scenarios"), (SUBFLOW_SHARES,), ("confidence",), params=_settings
        ),
    ),
    figures=(Plot("subflow-shares", "plot_subflows", ("subflow_shares",), TITLE, "means, intervals, theory"),),
    pictures=("subflow-shares",),
)
