"""Flows over time: the phases of congestion control, congestion windows compared with theory, and plots of individual runs."""

from dataclasses import dataclass
from itertools import compress, product

from experiment.flow_groups import LONG
from study_files.program_ccas import program_names, programs_under_test
from study_files.study_design import is_changing, is_sampled
from topics.multipath.topic import is_joined, is_transfer
from topics.time_series.tables import FLOW_OUTCOMES, PHASE_SHARES, PHASES, SAWTOOTH, TEETH, WINDOW_THEORY
from topics.topic import Analysis, Plot, Topic, slug_of

#: If there are more cells, or more flows per run, individual runs aren't plotted: tables need less space.
MOST_CELLS, MOST_FLOWS = 8, 8


@dataclass(frozen=True)
class Picture:
    """A cell from which one run is plotted."""

    slug: str
    scenario: str
    cca: str
    ip_version: str


def sampled_scenarios(design) -> tuple[str, ...]:
    """Return the sampled scenarios in which each flow is one TCP connection through one constant bottleneck.

    Theory predicts the congestion windows on such a path; another topic treats the response of flows to changes.
    """
    return tuple(s["id"] for s in _alone(design) if not is_changing(s))


def _alone(design):
    """Yield the sampled scenarios in which each flow is one TCP connection through one bottleneck; the path may change."""
    for scenario in design.scenarios:
        if (
            is_sampled(scenario)
            and scenario["topology"] != "chain"
            and not is_joined(scenario)
            and not is_transfer(scenario)
        ):
            yield scenario


def disturbed_scenarios(design) -> tuple[str, ...]:
    """Return the scenarios with groups of flows, except those with a single group of long flows without a limited rate or pauses."""
    return tuple(scenario["id"] for scenario in design.scenarios if scenario["groups"] and not _is_plain(scenario))


def _is_plain(scenario):
    (first, *others) = scenario["groups"]
    return not others and (first["application"], first["rate_mbps"], first["on_s"]) == (LONG, None, None)


def pictures(design) -> tuple[Picture, ...]:
    """Return the cells of a `StudyDesign` from which a run is plotted.

    CCAs whose congestion window isn't known, programs over UDP without a qlog, come last. By default, these are all sampled cells. If there are too many, only cells with a constant path are returned; if these are still too
    many, or if runs contain too many flows, none are returned.
    """
    unknown = {
        cca
        for cca, program in programs_under_test(design.study).items()
        if program["protocol"] == "udp" and not program.get("qlog")
    }
    ccas = sorted(design.ccas, key=lambda cca: cca in unknown)
    for sampled in (tuple(scenario["id"] for scenario in _alone(design)), sampled_scenarios(design)):
        cells = list(product(sampled, ccas, design.ip_versions))
        if len(cells) <= MOST_CELLS:
            break
    if len(cells) > MOST_CELLS or design.flows > MOST_FLOWS:
        return ()
    several = len(sampled) > 1, True, len(design.ip_versions) > 1
    slugs = ["-".join(["windows", *map(slug_of, compress(cell, several))]) for cell in cells]
    if len(set(slugs)) < len(slugs):  # names of scenarios, such as 1.5 and 1-5, may have the same slug
        slugs = [f"{slug}-{number}" for number, slug in enumerate(slugs, 1)]
    return tuple(Picture(slug, *cell) for slug, cell in zip(slugs, cells, strict=True))


def _figures(design):
    programs, over_tcp = program_names(design.study, ["udp"]), bool(program_names(design.study, ["tcp"]))
    for picture in pictures(design):
        changing = picture.scenario in design.changing_scenarios
        yield Plot(
            picture.slug,
            "plot_windows",
            ("runs", "scenarios", "sockets", "queue", "phases", *(("changes",) if changing else ())),
            title=f"{picture.cca}, {picture.scenario}, {picture.ip_version}",
            shows="one run over time",
            params={
                "scenario": picture.scenario,
                "cca_shown": picture.cca,
                "ip_shown": picture.ip_version,
                "changing": changing,
                "programs": programs,
                "over_tcp": over_tcp,
            },
            caption="windows",
        )


TOPIC = Topic(
    "time_series",
    "Over time",
    order=40,
    heading="What do flows do over time?",
    applies=lambda design: bool(sampled_scenarios(design) or pictures(design)),
    analyses=(
        Analysis("find_phases", ("runs", "sockets"), (PHASES, PHASE_SHARES), ("confidence",)),
        Analysis(
            "measure_sawtooth",
            ("runs", "scenarios", "flows", "sockets"),
            (TEETH, SAWTOOTH, WINDOW_THEORY),
            ("confidence",),
            # Theory applies only to constant paths.
            params=lambda design: {"changing": design.changing_scenarios, "disturbed": disturbed_scenarios(design)},
        ),
        Analysis("compare_flows", ("runs", "flows"), (FLOW_OUTCOMES,), ("confidence",)),
    ),
    tables=(PHASE_SHARES, WINDOW_THEORY, FLOW_OUTCOMES, PHASES, SAWTOOTH, TEETH),
    figures=_figures,
)
