"""Draw what IPv6 differs from IPv4 by size, with what its longer header explains, and a real clock from a virtual one."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib")

import math

from figure_parts.axis_scales import difference_axis
from figure_parts.category_panels import CategoryPanels
from figure_parts.figure_style import LIGHT, apply_style
from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import DASHES
from figure_parts.size_panels import COLOURS, draw_cells, draw_line, entry, look, size_slots
from run_tables.tidy_columns import read_table
from scenario_words import ip_words
from size_tables.size_columns import SIZE_DIFFERENCES
from size_tables.size_differences import IP_VERSION, PLATFORM
from size_tables.size_words import ENVIRONMENTS, TRAFFIC_NAMES, network_words, of_network

TITLE = "Differences by size of the messages"
# An interval's end that is so many times the largest value is left to an arrowhead.
REACH = 3


def in_percent(table):
    """Return the differences of IP versions with their intervals in percent of IPv4's mean."""
    table = table.copy()
    for name in ("ci_low", "ci_high"):
        table[name] = 100 * table[name] / table["mean_first"]
    return table


def panels_of(table):
    """Yield title, second line, rows, column of the value and of what is calculated, and whether lines are IP versions."""
    both, clocks = in_percent(table[table["question"] == IP_VERSION]), table[table["question"] == PLATFORM]
    for name, rows in by_traffic(both):
        yield name, "IPv6 against IPv4, %", rows, "percent", "expected_percent", False
    for name, rows in by_traffic(clocks[clocks["background"] == "none"]):
        unit, first, second = (rows[column].iloc[0] for column in ("unit", "first", "second"))
        if rows["traffic"].iloc[0].endswith("rtt"):
            # The cable's time is no part of it: packets take none to pass under a real clock.
            yield name, f"of the kernel alone, {unit}", rows.assign(ci_low=math.nan), "mean_second", None, True
        else:
            yield name, f"{second} less {first}, {unit}", rows, "difference", None, True


def by_traffic(table):
    """Yield the name of each traffic (and network, where there are several) with its rows."""
    networks = network_words(table)
    for traffic, name in TRAFFIC_NAMES.items():
        for network, words in networks.items():
            rows = of_network(table[table["traffic"] == traffic], network)
            if len(rows):
                yield f"{name}, {words}" if words else name, rows


def axis_of(rows, value, calculated):
    """Return an axis with all values and, as far as they don't dwarf these, the ends of their intervals."""
    known = [float(number) for name in (value, calculated) if name for number in rows[name].dropna()]
    reach = REACH * max(map(abs, known), default=0.0)
    ends = [float(number) for name in ("ci_low", "ci_high") for number in rows[name].dropna() if abs(number) <= reach]
    return difference_axis([*known, *(ends if rows["ci_low"].notna().any() else [])])


def draw_differences(table):
    """Draw the figure of ``analysis/size_differences.csv``; return it with its panels."""
    apply_style()
    plan, sizes = list(panels_of(table)), sorted(table["message_bytes"].unique())
    drawn = CategoryPanels(TITLE, len(plan), 3, columns=min(3, len(plan)) or 1)
    for title, second, rows, value, calculated, by_ip in plan:
        axes = drawn.add(title, second, axis_of(rows, value, calculated))
        size_slots(axes, sizes)
        axes.axhline(0, color=LIGHT.muted, lw=0.7, zorder=1)
        words, key = [], []
        # An environment has the look of an IP version where IP versions are what is compared.
        column, names, looks = ("ip_version", ip_words, {}) if by_ip else ("background", ENVIRONMENTS.get, dict(zip(ENVIRONMENTS, COLOURS, strict=True)))
        for level in rows[column].unique():
            mine = rows[rows[column] == level].sort_values("message_bytes").to_dict("records")
            shown, platform = looks.get(level, level), "uml" if not by_ip else rows["second"].iloc[0]
            if calculated:
                draw_line(axes, mine, sizes, shown, calculated)
            marks = draw_cells(axes, mine, sizes, shown, platform, value)
            words.append(f"{names(level)}{marks[marks.index(':'):]}")
            marker, is_open = look(platform)
            key.append(entry(names(level), COLOURS[shown], marker, is_open))
        if calculated and rows[calculated].notna().any():
            key.append(entry("header", LIGHT.muted, line=DASHES, width=0.9))
        drawn.finish(axes, f"{title}: {second}. {'; '.join(words)}.", key)
    return drawn.figure, drawn.panels


def main(inputs, outputs):
    """Read the differences, write figure and data."""
    table = read_table(inputs.size_differences, SIZE_DIFFERENCES)
    figure, panels = draw_differences(table)
    save_figure(figure, panels, TITLE, table[table["question"].isin((IP_VERSION, PLATFORM))], outputs)


if "snakemake" in globals():
    main(snakemake.input, snakemake.output)
