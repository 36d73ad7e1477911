"""Plot shares against a number, such as the number of flows: CCAs are shown as marks, and theoretical shares as lines."""

from dataclasses import dataclass

from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, draw_interval, draw_nothing, panel_names, slots
from figure_parts.cca_slots import step
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.tooltips import tell, value_words
from wording.number_format import count, is_missing, number
from wording.sentence_words import cca_name

SPREAD = 0.6  # share of a slot's width over which the CCAs' marks are spread


@dataclass(frozen=True)
class Shares:
    """The data and the labels of a figure.

    ``share`` is the column with the shares; the columns ``<share>_low`` and ``<share>_high`` contain the intervals. ``number`` is the
    column on the horizontal axis; its name is in the plural. ``whose`` completes the panel title "Share of ...". ``highest`` is the upper
    end of the vertical axis unless a value is higher. ``theory`` maps each column of theoretical shares to a name and a line style.
    """

    title: str
    whose: str
    share: str
    number: str
    highest: float
    theory: dict

    def columns(self) -> list[str]:
        """Return the columns of a cell table that the figure shows."""
        ends = [f"{self.share}{end}" for end in ("", "_low", "_high")]
        return ["scenario", "cca", "ip_version", "setting", "conditions", self.number, "n", *ends, *self.theory]


def draw_shares(cells, shares) -> CategoryPanels:
    """Draw a panel for each combination of conditions and IP version, with one slot for each value of ``shares.number``."""
    apply_style()
    groups = list(cells.groupby(["setting", "conditions", "ip_version"], sort=False))
    ccas, names = list(dict.fromkeys(cells["cca"])), panel_names(cells)
    values = cells[[shares.share, f"{shares.share}_high", *shares.theory]].astype(float)
    top = min(100.0, max(shares.highest, float(values.max(axis=None))))
    drawn = CategoryPanels(shares.title, len(groups), len(ccas) + len(shares.theory), columns=2)
    for (_, conditions, ip_version), here in groups:
        numbers = sorted(set(here[shares.number].astype(int)))
        name = names[conditions, ip_version]
        axes = drawn.add(f"Share of {shares.whose}, %", name, linear_axis(0, top))
        slots(axes, [str(one) for one in numbers], shares.number)
        theory = here.drop_duplicates(shares.number).set_index(shares.number)
        for column, (_, dashes) in shares.theory.items():
            for place, one in enumerate(numbers):
                step(axes, place, theory.loc[one, column], dashes)
        words = []
        for place, cca in enumerate(ccas):
            own = here[here["cca"] == cca].set_index(shares.number)
            shift = SPREAD * ((place + 0.5) / len(ccas) - 0.5)
            words.append(f"{cca_name(cca)}: {_draw_cca(axes, own, shares, numbers, cca, shift)}.")
        key = [Line2D([], [], ls="none", ms=4, label=cca_name(cca), **_look(cca)) for cca in ccas]
        lines = shares.theory.values()
        key += [Line2D([], [], color=LIGHT.muted, lw=0.9, ls=dashes, label=name) for name, dashes in lines]
        drawn.finish(axes, f"Share of {shares.whose} in percent, {name}. {' '.join(words)}", key)
    return drawn


def _look(cca):
    return {"color": cca_colour(cca), "marker": cca_marker(cca), "mew": 0}


def _draw_cca(axes, own, shares, numbers, cca, shift):
    """Draw the marks of a CCA; return their description in words."""
    words = []
    for place, one in enumerate(numbers):
        if one not in own.index:
            continue
        row = own.loc[one]
        if is_missing(row[shares.share]):
            draw_nothing(axes, place + shift)
            continue
        words.append(f"{count(one, shares.number.removesuffix('s'))} {number(row[shares.share])} %")
        low, high = row[f"{shares.share}_low"], row[f"{shares.share}_high"]
        if not is_missing(low):
            draw_interval(axes, place + shift, low, high, cca_colour(cca))
        (mark,) = axes.plot([place + shift], [row[shares.share]], ls="none", ms=4, zorder=3, **_look(cca))
        note = value_words(row[shares.share], low, high, "%", row["n"])
        tell(mark, [note], f"{cca_name(cca)}, {count(one, shares.number.removesuffix('s'))}")
    return ", ".join(words) or "none"
