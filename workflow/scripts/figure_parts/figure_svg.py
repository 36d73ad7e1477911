"""Write figures as SVG files that are byte-identical if the data are equal.

Matplotlib's identifiers are seeded, dates and versions are omitted, coordinates are rounded to a hundredth of a point, and a style that all
marks of a group share is written only once, on the group.
"""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from figure_parts.svg_namespaces import SVG, XLINK
from figure_parts.tooltips import tooltip_attributes

_GEOMETRY = ("d", "x", "y", "width", "height", "transform", "viewBox")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?![\d.]|e)")


@dataclass(frozen=True)
class Panel:
    """A rectangle of a figure that can be shown by itself."""

    identifier: str  # the ``gid`` of its axes
    left: float  # all in points from the figure's upper left corner
    top: float
    width: float
    height: float
    description: str  # the panel's contents in words, for readers who can't see the figure


@dataclass(frozen=True)
class Drawing:
    """A drawing, as returned by a figure's script."""

    figure: Figure
    panels: list[Panel]
    title: str  # what the figure shows
    data: pd.DataFrame  # the rows that the figure shows
    digits: int | None = None  # significant digits of the numbers in the data file; all digits if None

    def save(self, figure_path, data_path) -> None:
        """Write the figure as SVG and its rows as CSV; close the figure."""
        save_svg(self.figure, figure_path, self.title, self.panels)
        plt.close(self.figure)
        float_format = self.digits and f"%.{self.digits}g"
        self.data.to_csv(data_path, index=False, lineterminator="\n", float_format=float_format)


def save_svg(figure, path, title, panels) -> None:
    """Write a figure as SVG, with a named view for each of its panels.

    `figure_style.apply_style` must have been called before the figure was drawn. Each `Panel` becomes ``<view id="...-view">``, so that
    ``file.svg#...-view`` shows only this panel.
    """
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "sawtooth"}):
        figure.savefig(buffer, format="svg")
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(buffer.getvalue())
    # Date and program version.
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    _compact(root)
    _tell(root, tooltip_attributes(figure))
    _describe(root, title, panels)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(ET.tostring(root, encoding="unicode") + "\n")


def _compact(root):
    """Shorten the coordinates and merge the repeated styles of an SVG tree in place."""
    for element in root.iter():
        for name in _GEOMETRY:
            if name in element.attrib:
                element.set(name, _LONG_NUMBER.sub(_rounded, element.get(name)))
        styles = {child.get("style") for child in element}
        marks = len(element) > 1 and all(child.tag == f"{{{SVG}}}use" for child in element)
        if marks and len(styles) == 1 and None not in styles and "style" not in element.attrib:
            element.set("style", styles.pop())
            for child in element:
                del child.attrib["style"]
        # Indentation would make a figure of 14,400 dots much larger.
        if element.tag != f"{{{SVG}}}text" and not (element.text or "").strip():
            element.text = None
        element.tail = None


def _rounded(match):
    text = f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _tell(root, texts):
    """Add each mark's tooltip to the SVG group of the mark."""
    for group in root.iter(f"{{{SVG}}}g"):
        for name, text in texts.get(group.get("id"), {}).items():
            group.set(name, text)


def _describe(root, title, panels):
    root.set("role", "img")
    root.set("aria-label", title)
    groups = {group.get("id"): group for group in root.iter(f"{{{SVG}}}g")}
    heading = ET.Element(f"{{{SVG}}}title")
    heading.text = title
    root.insert(0, heading)
    for panel in panels:
        group = groups[panel.identifier]
        group.set("role", "img")
        group.set("aria-label", panel.description)
        box = f"{panel.left:g} {panel.top:g} {panel.width:g} {panel.height:g}"
        view = ET.SubElement(root, f"{{{SVG}}}view")
        view.set("id", f"{panel.identifier}-view")
        view.set("viewBox", box)
