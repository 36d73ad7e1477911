"""Turn a figure's SVG file into panels that a page can reflow and recolour.

Each panel becomes a separate SVG that contains only its own contents. Its colours are the page's custom properties, its font is the page's
font, and its identifiers are unique in the page.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import fields

from markupsafe import Markup

from figure_parts.figure_style import LIGHT
from figure_parts.svg_namespaces import SVG, XLINK

_VARIABLES = {getattr(LIGHT, field.name): f"var(--{field.name})" for field in fields(LIGHT)}
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FAMILY = re.compile(r"\s*font-family:[^;]*;?")
_SPACED_STEP = re.compile(r"\s*([MLHVQCZ])\s*", re.IGNORECASE)
# If a panel is wider than this many points, one column is too narrow for its text to be legible.
BROAD_PT = 262
# Text in front of an identifier that a panel defines or refers to.
_IDENTIFIER = re.compile(r"""( id="| href="#|url\(#)""")
_PLAIN_USE = {"x", "y", "href"}
# Minimum number of identical marks that are combined.
MANY_DOTS = 12
# Elements that could execute code, load a resource or change the page; figures mustn't contain them.
_FOREIGN = {"script", "foreignObject", "image", "a", "style", "animate", "set", "iframe"}


def inline_panels(path, name) -> tuple[list[str], int]:
    """Read a figure; return one ``<svg>`` element per panel, and the number of panels per row.

    Parameters
    ----------
    path : str or path
        An SVG file written by `figure_svg.save_svg`. A file that isn't an SVG with named views raises `ValueError`.
    name : str
        Prefix of the identifiers, unique among the page's figures.
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


def once_more(panel: str) -> Markup:
    """Return a copy of a panel, with different identifiers, for a second position on the page."""
    # As plain text, because `Markup` would escape the replacement.
    return Markup(_IDENTIFIER.sub(r"\1first-", str.__str__(panel)))


def _panel(view, by_id, prefix):
    group = by_id[view.get("id").removesuffix("-view")]
    used = {use.get(f"{{{XLINK}}}href", "#")[1:] for use in group.iter(f"{{{SVG}}}use")}
    inside = {element.get("id") for element in group.iter()}
    box = view.get("viewBox")
    looks = {"viewBox": box, "class": "panel broad" if float(box.split()[2]) > BROAD_PT else "panel"}
    svg = ET.Element(f"{{{SVG}}}svg", looks | {"role": "img", "aria-label": group.get("aria-label", "")})
    elsewhere = ET.SubElement(svg, f"{{{SVG}}}defs")
    for identifier in sorted(used - inside):
        elsewhere.append(by_id[identifier])
    for child in group:
        svg.append(child)
    # A copy, because several panels may need the same definition.
    svg = ET.fromstring(ET.tostring(svg))
    for element in svg.iter():
        _adapt(element, used, prefix)
    _gather_dots(svg, prefix)
    return ET.tostring(svg, encoding="unicode", short_empty_elements=True)


def _gather_dots(svg, prefix):
    """Replace many identical marks with one invisible line that shows the mark at each of its points.

    This reduces the size of 14,400 dots to a fifth. Coordinates are rounded to tenths of a point; the figure's file contains hundredths.
    """
    definitions = svg.find("defs")
    by_id = {element.get("id"): element for element in svg.iter() if element.get("id")}
    parents = {child: parent for parent in svg.iter("defs") for child in parent}
    for group in svg.findall(".//g"):
        dots = list(group)
        hrefs = {dot.get("href") for dot in dots}
        if len(dots) < MANY_DOTS or len(hrefs) > 1 or any(set(dot.keys()) != _PLAIN_USE for dot in dots):
            continue
        mark = by_id[hrefs.pop()[1:]]
        identifier = f"{prefix}d{len(definitions)}"
        marker = ET.SubElement(
            definitions, "marker", id=identifier, markerUnits="userSpaceOnUse", markerWidth="1",
            markerHeight="1", overflow="visible", style=group.get("style", ""),
        )  # fmt: skip
        ET.SubElement(marker, mark.tag, {k: v for k, v in mark.attrib.items() if k != "id"})
        points = " ".join(f"{_tenth(dot.get('x'))} {_tenth(dot.get('y'))}" for dot in dots)
        group[:] = []
        places = "; ".join(f"marker-{place}: url(#{identifier})" for place in ("start", "mid", "end"))
        ET.SubElement(group, "path", d=f"M{points}", style=f"fill: none; stroke: none; {places}")
    still_used = {use.get("href")[1:] for use in svg.iter("use")}
    for element, parent in parents.items():
        if element.get("id") not in still_used:
            parent.remove(element)


def _tenth(coordinate):
    text = f"{float(coordinate):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _adapt(element, used, prefix):
    # SVG inside HTML needs no namespace declarations or prefixes.
    element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    if element.tag in _FOREIGN:
        raise ValueError(f"a figure contains <{element.tag}>, which is not allowed in figures")
    if element.get("id") in used:
        element.set("id", prefix + element.get("id"))
    else:
        element.attrib.pop("id", None)
    reference = element.attrib.pop(f"{{{XLINK}}}href", None)
    if reference:
        element.set("href", f"#{prefix}{reference[1:]}")
    if element.get("d"):
        element.set("d", _SPACED_STEP.sub(r"\1", element.get("d")))
    style = element.get("style")
    if style:
        style = _COLOUR.sub(lambda match: _VARIABLES.get(match.group(), match.group()), style)
        element.set("style", _FAMILY.sub("", style).strip())
