"""Plot delay, goodput, drops and marks by queueing discipline, with one line per CCA and ECN setting."""

from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, draw_interval, draw_nothing, panel_names, slots
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.tooltips import tell, value_words
from topics.queues.tables import QUEUE_CELLS
from topics.queues.variants import delay_of, variants_of, with_variants
from wording.number_format import is_missing, number
from wording.sentence_words import cca_name

#: Measure to plot -> title of the panel, and upper end of the axis (None: determined by the data).
SHOWN = {
    "queueing_ms": ("Queueing delay, ms", None),
    "rtt_above_ms": ("RTT above the path's shortest, ms", None),
    "goodput_percent": ("Goodput, % of a full path's", 100.0),
    "drop_percent": ("Dropped by the queue, %", None),
    "mark_percent": ("Marked CE by the queue, %", None),
}
SPREAD = 0.5  # the lines in a slot are spread over this share of its width


def _lines(cells):
    """Return the lines of a panel: (CCA, ECN) in the table's order."""
    return list(dict.fromkeys(zip(cells["cca"], cells["ecn"], strict=True)))


def _is_known(cells, measure):
    if measure in ("queueing_ms", "rtt_above_ms"):
        # If samples of the queue exist for all cells, the delay comes from these samples.
        return measure == delay_of(cells)
    if measure == "mark_percent":
        return (cells["ecn"] != "off").any() or (cells[measure] > 0).any()
    return cells[measure].notna().any()


def _look(cca, ecn):
    """Return the style of a line's symbols: filled with ECN, open without ECN."""
    colour = cca_colour(cca)
    return {"color": colour, "marker": cca_marker(cca), "mec": colour, "mfc": LIGHT.paper if ecn == "off" else colour}


def _line_name(cca, ecn, several):
    """Return a line's label: "CUBIC, ECN classic"."""
    ecn_words = "no ECN" if ecn == "off" else f"ECN {ecn}"
    return f"{cca_name(cca)}, {ecn_words}" if several else cca_name(cca)


def _draw(cells):
    """Return the figure: one panel per measure for each set of conditions and IP version, with one slot per queue."""
    apply_style()
    groups = list(cells.groupby(["setting", "conditions", "ip_version"], sort=False))
    lines, several = _lines(cells), cells["ecn"].nunique() > 1
    names = panel_names(cells)
    highest = {
        measure: most or (1.08 * cells[measure].max() if (cells[measure] > 0).any() else 1.0)
        for measure, (_, most) in SHOWN.items()
    }
    title = "Delay, goodput, drops and marks by queueing discipline"
    # No panel is drawn for a measure without values, such as goodput and RTT if all flows belong to other groups, or marks if ECN is off.
    shown = {measure: what for measure, (what, _) in SHOWN.items() if _is_known(cells, measure) or not cells["n"].any()}
    drawn = CategoryPanels(title, len(shown) * len(groups), len(lines), columns=2)
    for (_, conditions, ip_version), here in groups:
        variants = variants_of(here)
        for measure, what in shown.items():
            axes = drawn.add(what, names[conditions, ip_version], linear_axis(0, highest[measure]))
            slots(axes, list(variants.values()), "")
            axes.set_xticklabels(
                list(variants.values()), rotation=18, ha="right", rotation_mode="anchor", size=SMALL_SIZE_PT
            )
            words = [
                _draw_line(axes, here, variants, line, SPREAD * ((place + 0.5) / len(lines) - 0.5), measure, several)
                for place, line in enumerate(lines)
            ]
            key = [Line2D([], [], ls="none", ms=4, label=_line_name(*line, several), **_look(*line)) for line in lines]
            drawn.finish(axes, f"{what}, {names[conditions, ip_version]}. {' '.join(words)}", key)
    return drawn


def _draw_line(axes, cells, variants, line, shift, measure, several):
    """Draw the symbols of one line (a CCA with an ECN setting); return the plotted values in words."""
    cca, ecn = line
    own = cells[(cells["cca"] == cca) & (cells["ecn"] == ecn)].set_index("variant")
    words = []
    for place, (variant, name) in enumerate(variants.items()):
        if variant not in own.index:
            continue
        row = own.loc[variant]
        if is_missing(row[measure]):
            if not row["n"]:
                draw_nothing(axes, place + shift)
            continue
        words.append(f"{name} {number(row[measure])}")
        if not is_missing(row[f"{measure}_low"]):
            draw_interval(axes, place + shift, row[f"{measure}_low"], row[f"{measure}_high"], cca_colour(cca))
        (mark,) = axes.plot([place + shift], [row[measure]], ls="none", ms=4, zorder=3, **_look(cca, ecn))
        note = value_words(row[measure], row[f"{measure}_low"], row[f"{measure}_high"], n=row["n"])
        tell(mark, [note], f"{_line_name(cca, ecn, several)}, {name}")
    return f"{_line_name(cca, ecn, several)}: {', '.join(words) or 'none'}."


def plot_queues(queue_cells) -> Drawing:
    """Return the figure and its data."""
    cells = with_variants(queue_cells)
    drawn = _draw(cells)
    columns = [name for name in QUEUE_CELLS.names if name.removesuffix("_low").removesuffix("_high") in SHOWN]
    shown = cells[
        [
            "scenario",
            "cca",
            "ip_version",
            "setting",
            "conditions",
            "discipline",
            "ecn",
            "queue_parameters",
            "n",
            *columns,
        ]
    ]
    return drawn.drawing("Queues by discipline, CCA and ECN", shown)
