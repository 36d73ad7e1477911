"""Scenarios as the rows of a panel: what they are called and what sets them apart."""

from figure_parts.figure_style import FONT_SIZE_PT, LIGHT, SMALL_SIZE_PT
from figure_parts.scenario_panels import INDENT_PT, fitting, size_pt
from wording.scenario_words import conditions, heading

ROW_PT, LABELS_PT = 24, 122


def shared_and_own(scenarios) -> tuple[str, list[str]]:
    """Tell the conditions that all rows of ``tidy/scenarios.csv`` share from those that set each apart.

    Returns
    -------
    shared : str
        Such as "1 Gbit/s"; empty if there is none.
    own : list of str
        One a scenario, such as "10 ms, 1 % loss, 1 flow"; empty if there is one scenario.
    """
    parts = [conditions(scenario).split(", ") for scenario in scenarios.to_dict("records")]
    same = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    shared = ", ".join(part for part, all_same in zip(parts[0], same, strict=True) if all_same)
    own = [", ".join(part for part, all_same in zip(row, same, strict=True) if not all_same) for row in parts]
    return shared, own


def label_rows(axes, scenarios) -> None:
    """Write name and conditions of each scenario to the left of its row.

    The axes begin `LABELS_PT` from the panel's left edge and have their rows at 0, 1, 2 and so on.
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
