"""Turn a figure's SVG file into panels that a page can reflow and recolour.

Each panel becomes an SVG of its own: only what it shows, with colours as the page's custom
properties, type as the page's, and identifiers that are unique in the page.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import fields

from figure_style import LIGHT
from figure_svg import SVG, XLINK

_VARIABLES = {getattr(LIGHT, field.name): f"var(--{field.name})" for field in fields(LIGHT)}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FAMILY = re.compile(r"\s*font-family:[^;]*;?")
# Elements of a page that could run or load something; none belongs in a figure.
_FOREIGN = {"script", "foreignObject", "image", "a", "style", "animate", "set", "iframe"}


def inline_panels(path, name):
    """Read a figure and return its panels as elements of a page.

    Parameters
    ----------
    path : str or path
        An SVG file written by `figure_svg.save_svg`.
    name : str
        Prefix of the identifiers, unique among the page's figures.

    Returns
    -------
    panels : list of str
        An ``<svg>`` element each.
    columns : int
        How many of them stand side by side in the figure.

    Raises
    ------
    ValueError
        If the file is no SVG with named views.
    """
    try:
        root = ET.parse(path).getroot()
    except ET.ParseError as error:
        raise ValueError(f"{path}: not an SVG file ({error})") from error
    by_id = {element.get("id"): element for element in root.iter() if element.get("id")}
    views = root.findall(f"{{{SVG}}}view")
    if not views:
        raise ValueError(f"{path}: no <view>, so not a figure of this workflow")
    panels = [_panel(view, by_id, f"{name}-{number}-") for number, view in enumerate(views, 1)]
    return panels, len({view.get("viewBox").split()[0] for view in views})


def _panel(view, by_id, prefix):
    group = by_id[view.get("id").removesuffix("-view")]
    used = {use.get(f"{{{XLINK}}}href", "#")[1:] for use in group.iter(f"{{{SVG}}}use")}
    inside = {element.get("id") for element in group.iter()}
    svg = ET.Element(f"{{{SVG}}}svg")
    svg.set("viewBox", view.get("viewBox"))
    svg.set("class", "panel")
    svg.set("role", "img")
    svg.set("aria-label", group.get("aria-label", ""))
    elsewhere = ET.SubElement(svg, f"{{{SVG}}}defs")
    for identifier in sorted(used - inside):
        elsewhere.append(by_id[identifier])
    for child in group:
        svg.append(child)
    # A copy, since a definition may be wanted by several panels.
    svg = ET.fromstring(ET.tostring(svg))
    for element in svg.iter():
        _adapt(element, used, prefix)
    return ET.tostring(svg, encoding="unicode", short_empty_elements=True)


def _adapt(element, used, prefix):
    # In a page SVG needs no namespace declared, and href is plain.
    element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    if element.tag in _FOREIGN:
        raise ValueError(f"a figure holds <{element.tag}>, which has no place in one")
    if element.get("id") in used:
        element.set("id", prefix + element.get("id"))
    else:
        element.attrib.pop("id", None)
    reference = element.attrib.pop(f"{{{XLINK}}}href", None)
    if reference:
        element.set("href", f"#{prefix}{reference[1:]}")
    style = element.get("style")
    if style:
        style = _COLOUR.sub(lambda match: _VARIABLES.get(match.group(), match.group()), style)
        element.set("style", _FAMILY.sub("", style).strip())
