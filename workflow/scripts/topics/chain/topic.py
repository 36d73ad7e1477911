"""Several bottlenecks in a row: what flows over all of them get beside flows over each, against theory."""

from topics.chain.tables import CHAIN_CELLS
from topics.topic import Analysis, Plot, Topic


def has_chains(design) -> bool:
    """Tell whether a `StudyDesign` has bottlenecks in a row."""
    return "chain" in design.topologies


def _figures(design):
    title = "Share of the flows over all bottlenecks"
    yield Plot("chain-shares", "plot_shares", ("chain_cells",), title, "means, intervals, theory")


TOPIC = Topic(
    "chain",
    "Bottlenecks in a row",
    order=150,
    heading="What do flows over several bottlenecks get?",
    applies=has_chains,
    analyses=(
        Analysis("describe_chains", ("runs", "flows", "bottlenecks", "scenarios"), (CHAIN_CELLS,), ("confidence",)),
    ),
    figures=_figures,
    pictures=("chain-shares",),
)
