"""Draw MPTCP's share of a bottleneck by its number of subflows: marks by CCA, and the shares of coupled and of uncoupled subflows."""

from matplotlib.lines import Line2D

from figure_parts.axis_scales import linear_axis
from figure_parts.category_panels import CategoryPanels, interval, nothing, slots, with_ip_version
from figure_parts.figure_style import LIGHT, apply_style, cca_colour, cca_marker
from figure_parts.figure_svg import save_figure
from figure_parts.scenario_panels import DASHES
from rule_script import run_rule
from run_tables.reading import read_table
from topics.subflows.tables import SUBFLOW_SHARES
from wording.number_format import count, is_missing, number
from wording.sentence_words import cca_name

#: Column of theory -> its name, and how its line is drawn.
THEORY = {"uncoupled_percent": ("uncoupled", "-"), "coupled_percent": ("coupled (RFC 6356)", DASHES)}
SPREAD = 0.6  # of a slot, over which marks are set apart


def _look(cca):
    return {"color": cca_colour(cca), "marker": cca_marker(cca), "mew": 0}


def _draw(cells):
    """Return figure and panels: one for each conditions and IP version, with a slot for each number of subflows."""
    apply_style()
    groups = list(cells.groupby(["conditions", "ip_version"], sort=False))
    ccas, versions = list(dict.fromkeys(cells["cca"])), list(cells["ip_version"].unique())
    drawn = CategoryPanels("Share of MPTCP by its number of subflows", len(groups), len(ccas) + len(THEORY), columns=2)
    for (conditions, ip_version), here in groups:
        numbers = sorted(set(here["subflows"].astype(int)))
        parts = with_ip_version(conditions, ip_version, versions).split(", ")
        axes = drawn.add("Share of MPTCP, %", ", ".join(parts[1:]), linear_axis(0, 100))
        slots(axes, [str(one) for one in numbers], "subflows")
        theory = here.drop_duplicates("subflows").set_index("subflows")
        for column, (_, dashes) in THEORY.items():
            axes.plot(range(len(numbers)), theory.loc[numbers, column], color=LIGHT.muted, lw=0.9, ls=dashes, zorder=1)
        words = []
        for place, cca in enumerate(ccas):
            own = here[here["cca"] == cca].set_index("subflows")
            shift = SPREAD * ((place + 0.5) / len(ccas) - 0.5)
            words.append(f"{cca_name(cca)}: {_draw_cca(axes, own, numbers, cca, shift)}.")
        key = [Line2D([], [], ls="none", ms=4, label=cca_name(cca), **_look(cca)) for cca in ccas]
        key += [Line2D([], [], color=LIGHT.muted, lw=0.9, ls=dashes, label=name) for name, dashes in THEORY.values()]
        drawn.finish(axes, f"Share of MPTCP in percent, {conditions}. {' '.join(words)}", key)
    return drawn.figure, drawn.panels


def _draw_cca(axes, own, numbers, cca, shift):
    """Draw the marks of a CCA; return what they show in words."""
    words = []
    for place, subflows in enumerate(numbers):
        if subflows not in own.index:
            continue
        row = own.loc[subflows]
        if is_missing(row["share_percent"]):
            nothing(axes, place + shift)
            continue
        words.append(f"{count(subflows, 'subflow')} {number(row['share_percent'])} %")
        if not is_missing(row["share_percent_low"]):
            interval(axes, place + shift, row["share_percent_low"], row["share_percent_high"], cca_colour(cca))
        axes.plot([place + shift], [row["share_percent"]], ls="none", ms=4, zorder=3, **_look(cca))
    return ", ".join(words) or "none"


def main(inputs, outputs, params) -> None:
    """Read the cells, write figure and data."""
    cells = read_table(inputs.subflow_shares, SUBFLOW_SHARES)
    figure, views = _draw(cells)
    columns = ["scenario", "cca", "ip_version", "conditions", "subflows", "n", "share_percent", "share_percent_low"]
    save_figure(
        figure, views, "Shares by number of subflows", cells[[*columns, "share_percent_high", *THEORY]], outputs
    )


if "snakemake" in globals():
    run_rule(main, snakemake)
