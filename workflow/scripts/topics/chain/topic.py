"""Several bottlenecks in a row: what flows over all of them get beside flows over each, against theory."""

from topics.chain.tables import CHAIN_CELLS
from topics.topic import Analysis, Plot, Topic

SHARES = Plot(
    "chain-shares",
    "plot_shares",
    ("chain_cells",),
    "Share of the flows over all bottlenecks",
    "means, intervals, theory",
)
TOPIC = Topic(
    "chain",
    "Bottlenecks in a row",
    order=150,
    heading="What do flows over several bottlenecks get?",
    applies=lambda design: "chain" in design.topologies,
    analyses=(
        Analysis("describe_chains", ("runs", "flows", "bottlenecks", "scenarios"), (CHAIN_CELLS,), ("confidence",)),
    ),
    figures=(SHARES,),
    pictures=(SHARES.slug,),
)
