"""Standalone pages in the style of the report, such as a comparison or a gallery."""

import base64
import hashlib
from dataclasses import asdict
from pathlib import Path

import jinja2
from markupsafe import Markup

from figure_parts.figure_style import DARK, LIGHT
from wording.number_format import count, number

REPORT = Path(__file__).resolve().parents[3] / "report"


def standalone_page(template, kind, title, **values) -> str:
    """Return an HTML page that loads no other files.

    ``template`` is the name of a template in this folder that extends ``standalone.html.j2``; ``values`` are the template's variables.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([REPORT, Path(__file__).parent]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": count, "number": number}
    script = (REPORT / "page.js").read_text(encoding="utf-8")
    return environment.get_template(template).render(
        kind=kind,
        title=title,
        light=asdict(LIGHT),
        dark=asdict(DARK),
        style=Markup((REPORT / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        **values,
    )
