"""Which mark of a panel is which run, for the page's script to say where a reader points.

That is read off the figure's own data: a file whose rows are replications, cell after cell, as the marks were drawn. What was
read off is then held against the drawing: so many marks in each cell, and along the axis in the order of their values.
"""

import csv
import xml.etree.ElementTree as ET
from itertools import groupby
from pathlib import Path

from figure_parts.figure_svg import SVG
from run_tables.metrics import METRICS
from wording.number_format import number
from wording.scenario_words import ip_words

#: Figures of more marks say nothing of each: the page would be too large.
MOST_MARKS = 5_000
_FACTORS = ("scenario", "cca", "ip_version")
# The columns of such data, before the metric's and behind it (topics/cells/plot_metric.py).
_BEFORE = ("scenario", "scenario_label", "cca", "ip_version", "mark", "replication")
_BEHIND = ("ci_low", "ci_high", "n", "note")


def cells_of_panels(path: str | Path) -> list[list[dict]]:
    """Return for each panel its cells: name, unit, replications and values; none if the data are not a metric's runs."""
    with Path(path).open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        columns = reader.fieldnames
        metric = next((metric for metric in METRICS if columns == [*_BEFORE, metric.column, *_BEHIND]), None)
        if metric is None:
            return []
        listed = list(reader)
    # A scenario has a panel also where it has no valid run.
    order = {
        name: place
        for place, name in enumerate(dict.fromkeys(row["scenario"] for row in listed if row["mark"] == "mean"))
    }
    rows = [row for row in listed if row["mark"] == "replication"]
    if len(rows) > MOST_MARKS:
        return []
    panels = [[] for _ in order]
    for (scenario, cca, ip_version), group in groupby(rows, key=lambda row: tuple(row[name] for name in _FACTORS)):
        group = list(group)
        panels[order[scenario]].append(
            {
                "name": f"{scenario}, {cca}, {ip_words(ip_version)}",
                "unit": metric.unit,
                "replications": [row["replication"] for row in group],
                "values": [float(row[metric.column]) for row in group],
            }
        )
    return panels


def name_runs(panel: ET.Element, cells: list[dict]) -> None:
    """Write into a panel's groups of marks which runs they are; leave it as it is if marks and cells are not alike."""
    lines = [child for child in panel if (child.get("id") or "").startswith("line2d_")]
    drawn = [(line, list(line.iter(f"{{{SVG}}}use"))) for line in lines]
    drawn = [(line, marks) for line, marks in drawn if marks][: len(cells)]
    if [len(marks) for _, marks in drawn] != [len(cell["values"]) for cell in cells]:
        return
    places = [float(mark.get("x")) for _, marks in drawn for mark in marks]
    values = [value for cell in cells for value in cell["values"]]
    in_order = sorted(zip(values, places, strict=True))
    # Coordinates are rounded to a hundredth of a point.
    if any(after < before - 0.011 for (_, before), (_, after) in zip(in_order, in_order[1:], strict=False)):
        return
    for (line, _), cell in zip(drawn, cells, strict=True):
        holder = next(group for group in line.iter(f"{{{SVG}}}g") if group.find(f"{{{SVG}}}use") is not None)
        holder.set("data-cell", cell["name"])
        texts = (
            f"{n}: {number(value)} {cell['unit']}"
            for n, value in zip(cell["replications"], cell["values"], strict=True)
        )
        holder.set("data-runs", "|".join(text.strip() for text in texts))
