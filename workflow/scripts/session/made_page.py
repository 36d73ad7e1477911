"""Write tables in Markdown, and insert them between two comments in a documentation page."""

import re
from pathlib import Path


class MadePageError(Exception):
    """A documentation page lacks the comments that enclose the tables; the message is one sentence."""


def markdown_table(table) -> str:
    """Return a table from `data_table` as Markdown, with its caption above."""
    lines = [[column.heading for column in table["columns"]]]
    lines.append(["---:" if column.kind == "number" else "---" for column in table["columns"]])
    lines += [[_escaped(cell.text) for cell in row] for row in table["rows"]]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"**{table['caption']}**\n\n{text}\n"


def _escaped(text):
    """Return a cell's text on one line, with all markup escaped."""
    return re.sub(r"([\\|<\[\]`*_])", r"\\\1", " ".join(text.split()))


def write_between(page: Path, target: str, text: str) -> None:
    """Replace the text between the comments ``<!-- made by make <target> -->`` and ``<!-- end -->`` in a page.

    Raises `MadePageError` if the page lacks these comments.
    """
    begin = f"<!-- made by make {target} -->"
    made = re.compile(rf"(?<={re.escape(begin)}\n).*(?=<!-- end -->)", re.DOTALL)
    whole = page.read_text(encoding="utf-8")
    if not made.search(whole):
        raise MadePageError(f"{page} lacks the comments that enclose the tables: {begin} and <!-- end -->.")
    page.write_text(made.sub(lambda _: f"\n{text}\n", whole), encoding="utf-8", newline="\n")
