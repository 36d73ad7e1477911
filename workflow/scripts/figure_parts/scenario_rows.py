"""Label the rows of a panel with scenarios: their names and the conditions that distinguish them."""

from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, SMALL_SIZE_PT
from figure_parts.scenario_panels import INDENT_PT, fitting, size_pt
from wording.scenario_words import heading, shared_and_own

ROW_PT, LABELS_PT = 24, 122


def label_rows(axes, scenarios) -> None:
    """Write the name and conditions of each scenario to the left of its row.

    The axes must begin `LABELS_PT` points from the panel's left edge, with the rows at 0, 1, 2 and so on.
    """
    _, own = shared_and_own(scenarios)
    left = -(LABELS_PT - INDENT_PT) / size_pt(axes)[0]
    room = LABELS_PT - INDENT_PT - 2
    for row, scenario in enumerate(scenarios.to_dict("records")):
        lines = [(heading(scenario), FONT_SIZE_PT - 0.5, LIGHT.ink), (own[row], SMALL_SIZE_PT - 0.5, LIGHT.muted)]
        lines = [line for line in lines if line[0]]
        for number, (text, size, colour) in enumerate(lines):
            axes.text(
                left, row + (number - (len(lines) - 1) / 2) * 0.4, fitting(text, room, size),
                transform=axes.get_yaxis_transform(), size=size, color=colour,
                va="center_baseline",
            )  # fmt: skip
