"""Contents of other files for the page: byte-exact downloads, figures as panels, and captions."""

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from figure_parts.captions import render_caption
from report_parts.inline_figures import inline_panels

MEDIA_TYPES = {".csv": "text/csv", ".svg": "image/svg+xml", ".json": "application/json"}


def download(path) -> dict[str, str]:
    """Return a file in the form in which the page embeds it: its name, its media type, and its exact bytes, compressed."""
    path = Path(path)
    packed = gzip.compress(path.read_bytes(), 9, mtime=0)
    return {"name": path.name, "type": MEDIA_TYPES[path.suffix], "gzip": base64.b64encode(packed).decode("ascii")}


def optional(inputs, name) -> str | Path | None:
    """Return the path of an input, or None if the rule doesn't have this input."""
    value = inputs.get(name)
    if not value:
        return None
    return value if isinstance(value, (str, Path)) else value[0]


def figure_item(inputs: Mapping[str, str], figure) -> dict:
    """Return the page's item for one figure.

    The keys are ``slug``, ``caption`` (first paragraph of the caption), ``explanation`` (other paragraphs of the caption), ``panels``,
    ``columns`` (panels per row), ``opens`` (whether the opening shows the entire figure, see `first_picture`), and the downloads ``svg`` and
    ``csv``.

    The paths in ``inputs`` have the keys ``<name>_figure``, ``<name>_data`` and ``<name>_caption``; ``<name>`` is the figure's name.
    """
    path, data, caption = (optional(inputs, f"{figure.name}_{kind}") for kind in ("figure", "data", "caption"))
    panels, columns = inline_panels(path, figure.slug)
    first, *explanation = render_caption(caption, {}).split("\n\n")
    return {
        "slug": figure.slug,
        "caption": first,
        "explanation": explanation,
        "panels": [Markup(panel) for panel in panels],
        "opens": False,
        "columns": columns,
        "svg": download(path),
        "csv": download(data),
    }


def citation(paper) -> dict[str, str] | None:
    """Return the title, authors and source of the paper in a claims file, or None if there is no paper."""
    if not paper:
        return None
    source = paper.get("source") or paper.get("script") or ""
    return {"title": paper["title"], "authors": paper["authors"], "source": source}
