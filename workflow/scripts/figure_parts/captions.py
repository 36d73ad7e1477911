"""Figure captions: Jinja templates in plain prose, filled in with the figure's parameters when the figure is drawn.

The first paragraph of a caption describes the figure's contents in at most `MOST_WORDS` words. The other paragraphs explain how
to read the figure; the page shows them collapsed.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import jinja2

#: Maximum number of words in the first paragraph of a caption.
MOST_WORDS = 60
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def render_caption(path: str | Path, params: Mapping[str, object]) -> str:
    """Read a caption template from a file and fill it in; return the text with each paragraph on one line.

    The template refers to ``params`` as ``snakemake.params.<name>``. Paragraphs are separated by blank lines.
    """
    return _filled(Path(path).read_text(encoding="utf-8"), params)


def _filled(template, params):
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    values = SimpleNamespace(params=SimpleNamespace(**params))
    texts = [environment.from_string(part).render(snakemake=values) for part in _BLANK_LINE.split(template)]
    return "\n\n".join(filter(None, (" ".join(text.split()) for text in texts)))


def write_caption(template: str, params: Mapping[str, object], path: str | Path) -> None:
    """Fill in a caption template and write the text to a file.

    Braces are escaped, because the page and ``snakemake --report`` read the file as a template.
    """
    Path(path).write_text(_filled(template, params).replace("{", "{{ '{' }}") + "\n", encoding="utf-8")
