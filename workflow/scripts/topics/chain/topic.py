"""Bottlenecks in series: the measured and theoretical shares of long flows, which compete with cross flows at every bottleneck."""

from experiment.specification import RunSpecification
from topics.chain.tables import CHAIN_CELLS
from topics.topic import Analysis, Plot, Topic, mostly
from wording.scenario_keys import keys_of
from wording.scenario_labels import settings_by


def in_common(scenario) -> dict:
    """Return the settings of a resolved scenario, except the number of bottlenecks.

    Scenarios with equal settings are compared with each other.
    """
    run = RunSpecification({"scenario": scenario, "ip_version": "ipv4"})
    parts = ("link.rate_mbps", "link.delay_ms", "queue", "topology", "chain.bottlenecks", "hosts", "flows")
    rest = keys_of(scenario, parts)
    if not run.is_chain:
        # A dumbbell's flows are assigned to its two pairs of hosts in turn.
        rest |= {
            "flows": [run.flows - run.flows // 2, run.flows // 2],
            "chain.cross_flows": None,
            "chain.cross_cca": None,
        }
    else:
        rest |= {"flows": [run.end_to_end_flows, run.chain.cross_flows], "chain.cross_flows": None}
    keys = ("link.rate_mbps", "link.delay_ms", "queue")
    bottlenecks = [keys_of({"link": one.scenario["link"], "queue": one.scenario["queue"]}) for one in run.bottlenecks]
    each = [{key: value for key, value in one.items() if key.startswith(keys)} for one in bottlenecks]
    alike = all(one == each[0] for one in each)
    # The long flows' hosts are the first pair.
    long_ms, *cross_ms = run.hosts.access_delay_ms
    return rest | {"bottlenecks": each[:1] if alike else each, "access_ms": [long_ms, *sorted(set(cross_ms))]}


def _settings(design):
    return {"settings": settings_by(design.scenarios, in_common)}


SHARES = Plot(
    "chain-shares",
    "plot_shares",
    ("chain_cells",),
    "Share of the flows that cross all bottlenecks",
    "means, intervals, theory",
)
TOPIC = Topic(
    "chain",
    "Bottlenecks in series",
    order=150,
    heading="What do flows over several bottlenecks get?",
    applies=lambda design: "chain" in design.topologies,
    leads=mostly(lambda scenario: scenario["topology"] == "chain"),
    analyses=(
        Analysis(
            "describe_chains",
            ("runs", "flows", "bottlenecks", "scenarios"),
            (CHAIN_CELLS,),
            ("confidence",),
            params=_settings,
        ),
    ),
    figures=(SHARES,),
    pictures=(SHARES.slug,),
)
