"""What the page carries of other files: downloads to the byte, figures as panels, filled captions."""

import base64
import gzip
from pathlib import Path
from types import SimpleNamespace

import jinja2
from markupsafe import Markup
from report_parts.report_figures import inline_panels

MEDIA_TYPES = {".csv": "text/csv", ".svg": "image/svg+xml", ".json": "application/json"}


def download(path):
    """Return a file as the page carries it: the very bytes, compressed, and how to call them."""
    path = Path(path)
    packed = gzip.compress(path.read_bytes(), 9, mtime=0)
    return {
        "name": path.name,
        "type": MEDIA_TYPES[path.suffix],
        "gzip": base64.b64encode(packed).decode("ascii"),
    }


def render_caption(path, params):
    """Return a figure's caption, filled in as ``snakemake --report`` does it.

    Parameters
    ----------
    path : str or path
        Plain prose with jinja, no markup.
    params : mapping
        What stands in it as ``snakemake.params.<name>``.
    """
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        Path(path).read_text(encoding="utf-8")
    )
    text = template.render(snakemake=SimpleNamespace(params=SimpleNamespace(**params)))
    return " ".join(text.split())


def optional(inputs, name):
    """Return the path of an input that a rule may leave out, or None."""
    value = inputs.get(name)
    if not value:
        return None
    return value if isinstance(value, (str, Path)) else value[0]


def figure_item(inputs, slug, caption_params):
    """Return what the page shows of one figure.

    Parameters
    ----------
    inputs : mapping of str to path
        With ``<name>_figure``, ``_data`` and ``_caption``, where name is the slug with underscores.
    slug : str
    caption_params : mapping
        As `render_caption`.

    Returns
    -------
    dict or None
        slug, caption, panels, columns, svg, csv; None if there is no such figure.
    """
    name = slug.replace("-", "_")
    path = optional(inputs, f"{name}_figure")
    if path is None:
        return None
    panels, columns = inline_panels(path, slug)
    return {
        "slug": slug,
        "caption": render_caption(optional(inputs, f"{name}_caption"), caption_params),
        "panels": [Markup(panel) for panel in panels],
        "columns": columns,
        "svg": download(path),
        "csv": download(optional(inputs, f"{name}_data")),
    }
