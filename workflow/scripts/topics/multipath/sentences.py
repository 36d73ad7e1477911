"""Sentences about several paths: total goodput, the effect of reordering, CPU cost, and CCAs with equal results."""

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from topics.multipath.equations import EQUATION_MARGIN_PERCENT, HOLDS, OPEN
from topics.multipath.path_environments import longer_words, with_conditions, with_platform
from wording.number_format import count, is_missing, number, plain
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

#: Aggregation techniques: MPTCP, and tunnels grouped by what they distribute.
JOININGS = (
    ("mptcp", None, "MPTCP"),
    ("gre", "round-robin", "GRE-in-UDP in round robin"),
    ("gre", "per-flow", "GRE-in-UDP per flow"),
)
#: Columns in which two cells must agree to the last digit to count as equal.
SAME = ["goodput_mbps", "rtt_mean_ms", "packets_sent"]


def _ranges(rows, name, decimals):
    """Return the range of a column's values, such as "369.9 to 370.4"; None if there are no values."""
    values = rows[name].dropna()
    if values.empty:
        return None
    low, high = number(values.min(), decimals), number(values.max(), decimals)
    return low if low == high else f"{low} to {high}"


def _cell_words(rows, end):
    """Name the cell with the lowest or the highest goodput, such as "Vegas in tun6_path4"."""
    row = rows.loc[rows["goodput_mbps"].agg(f"idx{end}")]
    return f"{cca_name(row['cca'])} in {row['environment']}"


def by_joining(rows) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (name, rows) for each aggregation technique in `JOININGS` for which there are rows with a goodput."""
    for by, distribution, name in JOININGS:
        alike = rows[(rows["by"] == by) & ((rows["distribution"] == distribution) | (distribution is None))]
        if alike["goodput_mbps"].notna().any():
            yield name, alike


def aggregation_words(even) -> str:
    """Report iperf3's goodput for each rate, platform and set of further conditions.

    ``even`` contains the cells with the largest number of paths; the paths of each cell are alike.
    """
    parts = []
    alike = ["rate_mbps", "platform", "conditions"]
    for (rate_mbps, platform, conditions), group in even[even["application"] == "iperf3"].groupby(
        alike, sort=False, dropna=False
    ):
        goodputs = [
            f"{_ranges(rows, 'goodput_mbps', 1)} Mbit/s with {name} ({_capacity_words(rows)}lowest: {_cell_words(rows, 'min')})"
            for name, rows in by_joining(group)
        ]
        paths = with_platform(count(int(group["paths"].iloc[0]), "path"), platform, even["platform"])
        more = f" ({conditions})" if conditions else ""
        rate = "without a rate limit" if is_missing(rate_mbps) else f"of {plain(rate_mbps)} Mbit/s"
        parts.append(f"{paths} {rate}{more} give {listed(goodputs)}")
    return f"{'; '.join(parts)}." if parts else ""


def _capacity_words(rows):
    """Return the share of the capacity that was used: "95.1 to 95.4 % of the capacity without headers; "; "" if nothing limits the rate."""
    used = _ranges(rows, "ceiling_percent", 1)
    return f"{used} % of the capacity without headers; " if used else ""


def transfer_words(even) -> str:
    """Compare how long a file transfer takes over several paths and over a single path."""
    files = even[(even["application"] == "ftp") & even["time_factor"].notna()]
    if files.empty:
        return ""
    times = [f"{_ranges(rows, 'time_factor', 2)} times as long as over {name}" for name, rows in by_joining(files)]
    held, unknown = (int((files["equation"] == verdict).sum()) for verdict in (HOLDS, OPEN))
    more = f"; {unknown:,} can't be decided" if unknown else ""
    return (
        f"Over a single path, a file takes {listed(times)}. The expected factor of {int(files['paths'].iloc[0])}, within "
        f"{EQUATION_MARGIN_PERCENT} %, is confirmed in {held} of {count(len(files), 'cell')}{more}."
    )


def unlike_paths_words(joined) -> str:
    """Compare the goodput over aggregated unequal paths with that over the best single path and with the sum over all single paths.

    The result is "" if there are no such paths.
    """
    sentences = []
    known = joined[joined["best_factor"].notna()]
    for (label, how), rows in known.groupby(["scenario_label", "joined"], sort=False):
        better, both = ("better", "both") if rows["paths"].iloc[0] == 2 else ("best", "all")
        ends = (rows.loc[rows["best_factor"].agg(f"idx{end}")] for end in ("min", "max"))
        low, high = (
            f"{number(row['best_factor'], 2)} times ({cca_name(row['cca'])}, {ip_words(row['ip_version'])})"
            for row in ends
        )
        sentences.append(
            f"{label}: {how} gives {low if low == high else f'{low} to {high}'} the goodput of the {better} single path, and "
            f"{_ranges(rows, 'sum_factor', 2)} times the sum of {both}."
        )
    return " ".join(sentences)


def uneven_words(joined) -> str:
    """Report the goodput over aggregated unequal paths for which there are no single-path scenarios; "" if there are no such paths."""
    uneven = joined[~joined["even"] & joined["goodput_mbps"].notna() & joined["best_factor"].isna()]
    sentences = []
    alike = ["path_delay_ms", "unlike", "rate_mbps", "platform", "conditions"]
    for (delays, unlike, _, _, conditions), group in uneven.fillna({"unlike": ""}).groupby(
        alike, sort=False, dropna=False
    ):
        goodputs = [
            f"{name} gives {_ranges(rows, 'goodput_mbps', 1)} Mbit/s (lowest: {_cell_words(rows, 'min')}, "
            f"highest: {_cell_words(rows, 'max')})"
            for name, rows in by_joining(group)
        ]
        longer = longer_words(delays)
        where = " and ".join(
            filter(None, (f"{longer} each way" if longer else "", f"paths have {unlike}" if unlike else ""))
        )
        sentences.append(f"Where {with_conditions(where, conditions)}, {listed(goodputs)}.")
    return " ".join(sentences)


def recovery_words(joined) -> str:
    """Report how often iperf3's flows undid a recovery over round-robin tunnels.

    For cells with a low goodput, also report cwnd and the retransmissions.
    """
    known = joined[joined["recoveries"].notna() & joined["goodput_mbps"].notna() & (joined["paths"] > 1)]
    alike = {"by": "gre", "distribution": "round-robin", "application": "iperf3"}
    tunnels = known[known[list(alike)].eq(pd.Series(alike)).all(axis=1)]
    even, uneven = tunnels[tunnels["even"]], tunnels[~tunnels["even"]]
    low = uneven[uneven["ceiling_percent"] < 50]
    sentences = []
    if (even["recoveries"] > 0).any():
        sentences.append(f"Over paths of equal delay in round robin, {_undone_words(even)}.")
    if not low.empty:
        sentences.append(
            f"Over paths that differ, {len(low):,} of {count(len(uneven), 'cell')} "
            f"{'stays' if len(low) == 1 else 'stay'} below half of the ceiling: there, {_undone_words(low)}, cwnd was "
            f"{_ranges(low, 'cwnd_packets', 1)} packets at the readings, and {_ranges(low, 'retransmits', 0)} of "
            f"{_ranges(low, 'packets_sent', 0)} segments were retransmitted per run."
        )
        rest = uneven.drop(low.index)
        if not rest.empty:
            sentences.append(
                f"In the other {count(len(rest), 'cell')}, cwnd was {_ranges(rest, 'cwnd_packets', 1)} packets."
            )
    return " ".join(sentences)


def _undone_words(rows):
    """Return the share of recoveries that were undone, in words: "12 of 15 recoveries were undone"."""
    undone, begun = (round((rows[name] * rows["n"]).sum()) for name in ("recoveries_undone", "recoveries"))
    return f"{undone:,} of {count(begun, 'recovery', 'recoveries')} {'was' if begun == 1 else 'were'} undone"


def same_words(table, lossy) -> str:
    """Name the pairs of CCAs that agree in `SAME` to the last digit in at least half of their common cells; "" if there are none.

    ``lossy`` contains the identifiers of the scenarios with random loss.
    """
    cells = table.dropna(subset=SAME).set_index(["scenario", "ip_version"])
    parts, alike = [], []
    for first, second in combinations(dict.fromkeys(cells["cca"]), 2):
        firsts, seconds = (cells[cells["cca"] == cca] for cca in (first, second))
        both = firsts.index.intersection(seconds.index)
        same = (firsts.loc[both, SAME] == seconds.loc[both, SAME]).all(axis=1)
        if len(both) and 2 * same.sum() >= len(both):
            names = f"{cca_name(first)} and {cca_name(second)}"
            parts.append(f"{names} in {int(same.sum()):,} of {count(len(both), 'cell')}")
            alike.append(firsts.loc[both][same])
    if not parts:
        return ""
    sentence = f"Goodput, mean RTT and number of packets are the same to the last digit for {listed(parts)}."
    has_losses = ((rows["queue_drops"] != 0) | rows.index.get_level_values("scenario").isin([*lossy]) for rows in alike)
    if any(one.any() for one in has_losses):
        return sentence
    return f"{sentence} No queue dropped a packet there, so these CCAs had no real loss to react to."


def baseline_words(joined) -> str:
    """Name the scenarios for which there is no single-path scenario, with the reason; "" if there are no such scenarios."""
    without = joined[(joined["note"] != "") & joined["factor"].isna() & (joined["n"] > 0)]
    parts = [
        f"{listed(list(dict.fromkeys(rows['scenario_label'])))}: {note}"
        for note, rows in without.groupby("note", sort=False)
    ]
    return f"{'; '.join(parts)}." if parts else ""


def header_percent_words(joined) -> str:
    """Return the largest cost of headers as a percentage of plain TCP's goodput, such as "4.6"; "" if it is unknown."""
    lost = 100 * (1 - joined["ceiling_factor"] / joined["paths"]).dropna()
    return number(lost.max(), 1) if len(lost) and lost.max() > 0 else ""


def cpu_words(table) -> str:
    """Report the CPU use with the fewest and with the most paths; "" if CPU time was not measured."""
    measured = table[table["cpu_busy_percent"].notna() & (table["application"] == "iperf3")]
    parts = []
    for name, rows in by_joining(measured):
        least, most = rows["paths"].min(), rows["paths"].max()
        if least < most:
            ends = [
                f"{_ranges(rows[rows['paths'] == paths], 'cpu_busy_percent', 1)} % over {count(int(paths), 'path')}"
                for paths in (least, most)
            ]
            parts.append(f"with {name} {' and '.join(ends)}")
    return f"Busy share of the cores that carried a run (real clock): {listed(parts)}." if parts else ""
