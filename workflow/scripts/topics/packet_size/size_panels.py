"""Panels with one slot per message size, and the style of their lines."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.lines import Line2D

from figure_parts.category_panels import draw_interval, slots
from figure_parts.figure_style import LIGHT
from figure_parts.scenario_panels import DASHES
from figure_parts.tooltips import tell, value_words
from topics.packet_size.traffic import TRAFFIC, network_words
from wording.number_format import is_missing, number, plain
from wording.scenario_words import ip_words

#: IP version -> colour. The marks for the two versions are drawn slightly to the left and to the right of the slot's centre.
COLOURS = {"ipv4": LIGHT.blue, "ipv6": LIGHT.maroon}
SHIFTS = {"ipv4": -0.09, "ipv6": 0.09}
#: If both platforms are shown, the second platform's marks are shifted to the right by this amount.
ASIDE = 0.12
#: Platform -> marker, and whether the marker is open; markers for a real clock are open.
MARKERS = {"uml": ("o", False), "host": ("s", True)}


def by_traffic(table) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield (kind of traffic, name of the network, rows) for each kind and network; with only one network, the name is empty."""
    networks = network_words(table)
    for traffic in TRAFFIC:
        for (cca, rate), words in networks.items():
            has_rate = table["rate_mbps"].isna() if is_missing(rate) else table["rate_mbps"] == rate
            rows = table[(table["traffic"] == traffic) & (table["cca"] == cca) & has_rate]
            if len(rows):
                yield traffic, words, rows


def look(platform) -> tuple[str, bool]:
    """Return a platform's marker and whether the marker is open."""
    return MARKERS.get(platform, ("D", True))


def entry(label, colour, marker="", is_open=False, line="none", width=1.1) -> Line2D:
    """Return an entry of a panel's key."""
    face = LIGHT.paper if is_open else colour
    return Line2D([], [], color=colour, marker=marker, ms=4, lw=width, ls=line, mec=colour, mfc=face, label=label)


def keys_of(ip_versions, platforms, calculated, printed) -> list[Line2D]:
    """Return the entries of a panel's key; ``calculated`` and ``printed`` state whether there are such values."""
    entries = []
    for ip_version in ip_versions:
        for platform in platforms:
            marker, is_open = look(platform)
            clock = f", {'real' if is_open else 'virtual'}" if len(platforms) > 1 else ""
            entries.append(entry(f"{ip_words(ip_version)}{clock}", COLOURS[ip_version], marker, is_open))
    if calculated:
        entries.append(entry("calculated", LIGHT.muted, line=DASHES, width=0.9))
    if printed:
        entries.append(entry("as printed", LIGHT.muted, "x"))
    return entries


def size_slots(axes, sizes) -> None:
    """Assign a slot to each size."""
    slots(axes, [plain(size) for size in sizes], "bytes of payload")


def draw_cells(axes, rows, sizes, ip_version, platform, value="mean", aside=0.0) -> str:
    """Draw the marks and intervals of one IP version and platform; return the values in words."""
    (marker, is_open), colour, values = look(platform), COLOURS[ip_version], []
    for row in rows:
        place = sizes.index(row["message_bytes"]) + SHIFTS[ip_version] + aside
        if is_missing(row[value]):
            values.append("none")
            continue
        if not is_missing(row["ci_low"]):
            draw_interval(axes, place, row["ci_low"], row["ci_high"], colour)
        bottom, top = axes.get_ylim()
        (mark,) = axes.plot(
            [place], [min(max(row[value], bottom), top)], ls="none", marker=marker, ms=4.2, mec=colour,
            mfc=LIGHT.paper if is_open else colour, zorder=3,
        )  # fmt: skip
        words = value_words(row[value], row["ci_low"], row["ci_high"])
        tell(mark, [words], f"{ip_words(ip_version)}, {plain(row['message_bytes'])} bytes")
        values.append(number(row[value]))
    return f"{ip_words(ip_version)}: {', '.join(values) or 'none'}"


def draw_line(axes, rows, sizes, ip_version, column) -> None:
    """Draw the calculated values in ``column`` as a dashed line."""
    points = [(sizes.index(row["message_bytes"]), row[column]) for row in rows if not is_missing(row[column])]
    if points:
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=COLOURS[ip_version], lw=0.9, ls=DASHES, zorder=1.5)
