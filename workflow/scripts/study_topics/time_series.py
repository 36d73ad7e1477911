"""What flows do over time: the phases of their congestion control, their windows against theory, and pictures of a run."""

import re
from dataclasses import dataclass

from study_topics.topic import Figure, Topic

#: Of more cells, or more flows in a run, no pictures of single runs are drawn: tables say it in less room.
MOST_CELLS, MOST_FLOWS = 8, 8


@dataclass(frozen=True)
class Picture:
    """A cell of which one run is drawn."""

    slug: str
    scenario: str
    cca: str
    ip_version: str


def pictures(design):
    """Return the cells of a `StudyDesign` of which one run is drawn: all those that are sampled, or none if they are many."""
    cells = [(s, c, ip) for s in design.series for c in design.ccas for ip in design.ip_versions]
    if len(cells) > MOST_CELLS or design.flows > MOST_FLOWS:
        return ()
    several = len(design.series) > 1, True, len(design.ip_versions) > 1
    return tuple(
        Picture(
            "-".join(["windows", *(_slug(name) for name, named in zip(cell, several, strict=True) if named)]), *cell
        )
        for cell in cells
    )


def _slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _figures(design):
    for picture in pictures(design):
        words = {"scenario": picture.scenario, "cca_shown": picture.cca, "ip_shown": picture.ip_version}
        yield Figure(picture.slug, "windows", words)


TOPIC = Topic(
    "time_series",
    "Over time",
    applies=lambda design: bool(design.series),
    tables=("phase_shares", "window_theory", "flow_outcomes", "phases", "sawtooth", "teeth"),
    figures=_figures,
)
