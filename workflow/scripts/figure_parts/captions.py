"""Captions of figures: plain prose with jinja, filled with the figure's parameters when it is drawn."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import jinja2


def render_caption(path: str | Path, params: Mapping[str, object]) -> str:
    """Return a caption as one line of text; the params stand in its template as ``snakemake.params.<name>``."""
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(Path(path).read_text(encoding="utf-8"))
    text = template.render(snakemake=SimpleNamespace(params=SimpleNamespace(**params)))
    return " ".join(text.split())


def write_caption(template: str | Path, params: Mapping[str, object], path: str | Path) -> None:
    """Write a filled caption to a file, which page and ``snakemake --report`` read as a template once more."""
    filled = render_caption(template, params)
    Path(path).write_text(filled.replace("{", "{{ '{' }}") + "\n", encoding="utf-8")
