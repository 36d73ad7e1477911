"""Many flows and a small buffer: the goodput of each flow and of all flows together, as a function of the buffer's size."""

from experiment.disciplines import MEASURES, measure_of
from study_files.study_design import conditions_of
from topics.buffers.tables import FLOW_GOODPUT, FLOW_GOODPUT_CELLS
from topics.time_series.topic import sampled_scenarios
from topics.topic import Analysis, Plot, Topic, slug_of

_FLOWS = ("runs", "flows", "scenarios")


def _most_buffers(design):
    """Return the largest number of distinct queue sizes in any group of scenarios that differ only in queue size and platform."""
    sizes = {}
    for scenario in design.scenarios:
        managed = tuple(item for item in scenario["queue"].items() if item[0] not in MEASURES)
        sizes.setdefault((conditions_of(scenario, "queue"), managed), set()).add(measure_of(scenario["queue"]))
    return max(len(queues) for queues in sizes.values())


def applies(design) -> bool:
    """Return whether, in a `StudyDesign`, several flows share a buffer whose size varies; chains and mixes are excluded."""
    return "chain" not in design.topologies and design.flows > 1 and _most_buffers(design) > 1 and not design.mixes


def paced_cca(design) -> str:
    """Return the CCA whose pacing rate is shown: BBR, which sets this rate itself, or the study's first CCA if BBR isn't used."""
    return "bbr" if "bbr" in design.ccas else design.ccas[0]


def flow_goodput_figure(slug, title, **params) -> Plot:
    """Return the figure with one bar per flow.

    The parameter `cca` names the CCA whose flows are grouped by buffer; if it is empty, the flows of all CCAs are grouped by platform. The
    parameter `lines` ("buffer" or "platform") selects the matching text of the caption.
    """
    script, caption, shows = "buffers/plot_flow_bars", "buffers/flow-goodput", "flows by rank, range over replications"
    return Plot(slug, script, _FLOWS, title, shows, params, caption)


def totals_figure(slug, shows, **params) -> Plot:
    """Return the figure that plots the flows' total goodput and Jain's index against the buffer."""
    script, caption, title = (
        "buffers/plot_buffer_totals",
        "buffers/buffer-totals",
        "Goodput of all flows and Jain's index",
    )
    return Plot(slug, script, ("scenarios", "flow_goodput_cells"), title, shows, params, caption)


def _figures(design):
    for cca in design.ccas:
        yield flow_goodput_figure(
            f"flow-goodput-{slug_of(cca)}", f"Goodput of each flow, {cca}", cca=cca, lines="buffer"
        )
        slug, title = f"flow-boxes-{slug_of(cca)}", f"Distribution of the flows' goodput, {cca}"
        yield Plot(slug, "plot_flow_boxes", _FLOWS, title, "quartiles, ends, mean", {"cca": cca}, "flow-boxes")
    yield totals_figure("buffer-totals", "means, intervals, by CCA", lines="CCAs")
    if sampled_scenarios(design):
        inputs, paced = (*_FLOWS, "sockets"), {"cca": paced_cca(design)}
        yield Plot("pacing", "plot_pacing", inputs, "Pacing rate over time", "two flows of a run", paced)


TOPIC = Topic(
    "buffers",
    "Buffers",
    order=110,
    heading="What does each flow get when the buffer is small?",
    applies=applies,
    analyses=(
        Analysis("describe_flows", ("runs", "flows", "scenarios"), (FLOW_GOODPUT, FLOW_GOODPUT_CELLS), ("confidence",)),
    ),
    figures=_figures,
    pictures=("buffer-totals",),
)
