"""Plot queueing delay, jitter and loss of real-time streams, with one slot for each CCA of the competing long flows."""

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, draw_interval, draw_nothing, panel_names, slots
from figure_parts.figure_style import LIGHT, SMALL_SIZE_PT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import Drawing
from figure_parts.tooltips import tell, value_words
from topics.short_flows.beside import ALONE, LINE, lines_of
from wording.number_format import is_missing, number

TITLE = "Service of real-time streams, by the CCA of the competing long flows"
#: Measure to plot -> its name. If jitter hides the queueing delay of any stream, one-way delays are plotted instead.
WAITS = {"queueing_p50_ms": "Queueing delay, median, ms", "queueing_p95_ms": "Queueing delay, 95th percentile, ms"}
DELAYS = {"delay_p50_ms": "One-way delay, median, ms", "delay_p95_ms": "One-way delay, 95th percentile, ms"}
OTHERS = {"jitter_ms": "Interarrival jitter, ms", "lost_percent": "Lost, %"}


def shown_measures(cells) -> dict[str, str]:
    """Return the measures of `REAL_TIME_CELLS` that are plotted, each with its name."""
    hidden = cells["queueing_p50_ms"].isna() & cells["delay_p50_ms"].notna()
    return (DELAYS if hidden.any() else WAITS) | OTHERS


def _draw(cells):
    """Return the figure: one panel per measure for each set of conditions, IP version and group, with one slot per competing CCA."""
    apply_style()
    groups, places = (
        list(cells.groupby(["setting", "conditions", "ip_version", "group"], sort=False)),
        panel_names(cells),
    )
    shown = shown_measures(cells)
    drawn = CategoryPanels(TITLE, len(shown) * len(groups), columns=2)
    highest = {measure: 1.08 * cells[measure].max() if (cells[measure] > 0).any() else 1.0 for measure in shown}
    for (_, conditions, ip_version, group), here in groups:
        lines = lines_of(here)
        for measure, what in shown.items():
            place_words = f"{group}, {places[conditions, ip_version]}"
            axes = drawn.add(what, place_words, linear_axis(0, highest[measure]))
            names = ["none" if line.beside == ALONE else line.name.removeprefix("against ") for line in lines.values()]
            slots(axes, names, "competing long flows")
            axes.tick_params(axis="x", labelsize=SMALL_SIZE_PT)
            words = [
                _draw_slot(axes, here[(here[LINE] == list(key)).all(axis=1)], place, lines[key].beside, measure, name)
                for place, (key, name) in enumerate(zip(lines, names, strict=True))
            ]
            drawn.finish(axes, f"{what}, {place_words}. {'; '.join(words)}.")
    return drawn


def _draw_slot(axes, rows, place, beside, measure, name):
    """Draw a slot's symbols, one per cell; return the plotted values in words."""
    colour = LIGHT.muted if beside == ALONE else cca_colour(beside)
    words = []
    for row in rows.to_dict("records"):
        if is_missing(row[measure]):
            draw_nothing(axes, place)
            words.append(f"{name}: none valid")
            continue
        if not is_missing(row[f"{measure}_low"]):
            draw_interval(axes, place, row[f"{measure}_low"], row[f"{measure}_high"], colour)
        (mark,) = axes.plot(
            [place],
            [row[measure]],
            ls="none",
            ms=4,
            marker="o" if beside == ALONE else cca_marker(beside),
            color=colour,
            zorder=3,
        )
        tell(mark, [value_words(row[measure], row[f"{measure}_low"], row[f"{measure}_high"], n=row["n"])], name)
        words.append(f"{name}: {number(row[measure])}")
    return ", ".join(words)


def plot_real_time(real_time_cells) -> Drawing:
    """Return the figure and its data."""
    return _draw(real_time_cells).drawing("Real-time streams by the competing long flows", real_time_cells)
