"""Captions of figures: plain prose with jinja, filled with the figure's parameters when it is drawn."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import jinja2


def render_caption(path: str | Path, params: Mapping[str, object]) -> str:
    """Return a file's caption as one line of text; the params stand in the template as ``snakemake.params.<name>``."""
    return _filled(Path(path).read_text(encoding="utf-8"), params)


def _filled(template, params):
    text = (
        jinja2.Environment(undefined=jinja2.StrictUndefined)
        .from_string(template)
        .render(snakemake=SimpleNamespace(params=SimpleNamespace(**params)))
    )
    return " ".join(text.split())


def write_caption(template: str, params: Mapping[str, object], path: str | Path) -> None:
    """Fill a caption's text and write it to a file, which page and ``snakemake --report`` read as a template once more."""
    Path(path).write_text(_filled(template, params).replace("{", "{{ '{' }}") + "\n", encoding="utf-8")
