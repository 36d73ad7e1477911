"""Styles and labels of lines; there is one line for each CCA of the competing long flows."""

from dataclasses import dataclass

from figure_parts.figure_style import DASHES, LIGHT, cca_colour
from wording.sentence_words import cca_name

#: Value of the column ``beside`` for groups that don't compete with any long flows.
ALONE = "none"


#: Dash patterns of successive lines with the same competing CCA.
STYLES = ("-", (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (6, 2)))
#: Columns that identify a line or a slot.
LINE = ["scenario", "cca"]


def look(beside, number=0) -> dict:
    """Return the style of a line: dashed and grey if there are no long flows.

    ``number`` is the line's index, from 0, among the lines with the same competing CCA.
    """
    return (
        {"color": LIGHT.muted, "ls": DASHES}
        if beside == ALONE
        else {"color": cca_colour(beside), "ls": STYLES[number % len(STYLES)]}
    )


def name_of(beside) -> str:
    """Return a line's label: "against CUBIC"."""
    return "no long flow" if beside == ALONE else f"against {cca_name(beside)}"


@dataclass(frozen=True)
class Line:
    """A line of a panel.

    ``beside`` is the CCA of the competing long flows, ``name`` is the line's label, and ``number`` is the line's index, from 0, among the
    lines with the same competing CCA.
    """

    beside: str
    name: str
    number: int

    @property
    def look(self) -> dict:
        """Style of the line."""
        return look(self.beside, self.number)


def lines_of(rows) -> dict[tuple[str, str], Line]:
    """Return the `Line` of each scenario and CCA in the rows of a panel.

    If several lines have the same competing CCA, their labels also name the scenario or the CCA under test.
    """
    distinct = rows.drop_duplicates(LINE)
    lines, counts = {}, {}
    for row in distinct.to_dict("records"):
        alike = distinct[distinct["beside"] == row["beside"]]
        more = [row["scenario_label"]] if alike["scenario"].nunique() > 1 else []
        more += [f"CCA {cca_name(row['cca'])}"] if (alike["scenario"] == row["scenario"]).sum() > 1 else []
        name = name_of(row["beside"]) + (f" ({', '.join(more)})" if more else "")
        number = counts.setdefault(row["beside"], 0)
        counts[row["beside"]] += 1
        lines[row["scenario"], row["cca"]] = Line(row["beside"], name, number)
    return lines
