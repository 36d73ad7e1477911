"""The tables in the section on fairness; users can sort and filter them."""

from report_parts.cells_table import cells_table, shown_cell, shown_number, shown_p, shown_signed, shown_text
from report_parts.data_tables import Cell, effect_cells, number_cell, round_trip
from report_parts.hypothesis_cells import NOTE
from topics.fairness.pair_shares import once
from topics.fairness.scenario_factors import FACTORS
from wording.number_format import NONE, is_missing, plain
from wording.scenario_words import ip_words

FACTOR_OF = {factor.name: factor for factor in FACTORS}


def _share(heading, interval_heading, name):
    """Return two columns: a value between 0 and 1, and its interval."""

    def value(row):
        return Cell(NONE) if is_missing(row[name]) else Cell(f"{row[name]:.3f}", round_trip(row[name]))

    def ends(row):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        if is_missing(row[name]) or is_missing(low):
            return Cell(NONE)
        return Cell(f"{low:.3f} to {high:.3f}", round_trip(low))

    return shown_cell(heading, value, "number"), shown_cell(interval_heading, ends, "number")


def _percent(heading, interval_heading, *names):
    """Return two columns: a difference in percent, and its interval."""

    def cells(row):
        return effect_cells({**row, "effect_unit": "%"}, *names)

    return (
        shown_cell(heading, lambda row: cells(row)[0], "number"),
        shown_cell(interval_heading, lambda row: cells(row)[1], "number"),
    )


def _level_cell(row):
    return Cell(FACTOR_OF[row["factor"]].words(row["level"]), row["level"])


def _pair_words(row):
    return f"{row['cca_a']} and {row['cca_b']}" if row["cca_a"] else "mean of all pairs"


def _times_words(row):
    return NONE if is_missing(row["reno_s"]) else f"{row['reno_s']:.1f} s, {row['cubic_s']:.1f} s"


def _empty_path_cell(row):
    return Cell(plain(float(f"{row['rtt_path_ms']:.6g}")), row["rtt_path_ms"])


IP_VERSION = shown_text("IP version", "ip_version", ip_words, kind="short", filtered=True)
PLACE = (shown_text("Scenario", "scenario_label", kind="short", filtered=True), IP_VERSION)
CCAS = (shown_text("CCA", "row_cca", filtered=True, header=True), shown_text("against", "column_cca", filtered=True))
REPLICATIONS = shown_number("n", "replications", 0)
SHARE = _share("Share", "Interval", "share")
P_HOLM = shown_p("p (Holm)", "p_holm")
PAIRS = (
    *PLACE, *CCAS, REPLICATIONS, *SHARE, P_HOLM, *_share("Jain", "Its interval", "jain"),
    shown_number("Mbit/s", "row_mbps"), shown_number("Other's", "column_mbps"),
    *_percent("Orders differ by", "Its interval", "order_effect", "order_low", "order_high"),
    shown_p("p (Holm), orders", "order_p_holm"), NOTE,
)  # fmt: skip
LEVELS = (
    shown_text("Factor", "factor", lambda name: FACTOR_OF[name].title, kind="words", filtered=True), IP_VERSION,
    shown_cell("Level", _level_cell, "number"), *CCAS, REPLICATIONS, *SHARE,
    shown_number("Share in the base", "base_share", 3),
    *_percent("Ratio of goodputs", "Its interval", "effect", "effect_low", "effect_high"), shown_p("p", "p"), P_HOLM,
)  # fmt: skip
ORDERS = (
    shown_text("Advantage of", "effect", kind="words", filtered=True), IP_VERSION,
    shown_cell("Pair", _pair_words, header=True), shown_number("Draws", "units", 0), *SHARE,
    *_percent("Ratio of goodputs", "Its interval", "ratio_percent", "ratio_low", "ratio_high"),
    shown_number("Equal within", "smallest_margin", 1, " %"), shown_text("Test", "test", empty=NONE), shown_p("p", "p"),
    P_HOLM, NOTE,
)  # fmt: skip
THEORY = (
    shown_text("Model", "model", kind="words", filtered=True), *PLACE, shown_text("CCA", "row_cca", header=True),
    shown_text("against", "column_cca"), shown_number("Buffer, BDP", "buffer_bdp"),
    shown_cell("As Reno, as CUBIC", _times_words, "short"),
    shown_cell("Expected", lambda row: row["expected"], "number"), REPLICATIONS, *SHARE,
    shown_signed("Off by", "off", 3), shown_text("Agrees", "agrees", empty=NONE, kind="short", filtered=True),
)  # fmt: skip
FLOWS = (
    *PLACE, shown_text("Mix", "cca", filtered=True, header=True), shown_text("CCA", "flow_cca", filtered=True),
    shown_cell("Position", lambda row: number_cell(row["position"] + 1, 0), "number"),
    shown_cell("RTT of the empty path, ms", _empty_path_cell, "number"), shown_number("n", "n", 0),
    shown_number("Mbit/s", "goodput_mbps"), *SHARE, shown_number("Share / fair share", "fair_ratio", 2), P_HOLM,
    shown_number("Jain", "jain", 3), shown_number("RTT, ms", "rtt_mean_ms"),
    shown_number("Retransmissions", "retransmits"), NOTE,
)  # fmt: skip


def _table(identifier, caption, table, shown):
    """Return a page table, which has no IP version column if the study uses only one IP version."""
    without = () if table["ip_version"].nunique() > 1 else ("ip_version",)
    return cells_table(identifier, caption, table, shown, without=without)


def pair_table(pairs) -> dict:
    """Return the table of pairs of CCAs; if the two orders of a pair are one condition, the pair is listed only once."""
    return _table("fairness-pairs", "CCA against CCA in each scenario", once(pairs), PAIRS)


def factor_table(factors) -> dict:
    """Return the table of each factor's levels, compared with the base."""
    compared = factors[factors["effect"].notna()]
    return _table(
        "fairness-factors-table", "Each level of each factor compared with the base scenario", compared, LEVELS
    )


def order_table(orders) -> dict:
    """Return the table of the advantages of starting first and of using the first pair of hosts."""
    return _table(
        "fairness-orders", "Advantages of starting first, and of being on one of the host pairs", orders, ORDERS
    )


def theory_table(theory) -> dict:
    """Return the table of measured and theoretical shares."""
    return _table("fairness-theory", "Measured shares compared with theory", theory, THEORY)


def mix_table(shares) -> dict:
    """Return the table of all flows in all mixes."""
    return _table("fairness-mixes-table", "Every flow of every mix", shares, FLOWS)
