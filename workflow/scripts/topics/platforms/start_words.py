"""When differences between platforms arise, in words and as a table."""

from report_parts.cells_table import CCA, IP_VERSION, shown_cell, shown_signed, shown_text
from report_parts.data_tables import Cell, signed
from topics.platforms.platform_starts import START
from wording.number_format import NONE, count, is_missing, number
from wording.scenario_series import compared_platforms, main_pairs, platform_name
from wording.sentence_words import cca_name

#: Smallest difference in goodput, in percent, that a sentence reports; smaller differences are shown only in the table.
WORTH_SAYING = 1.0
#: The longest silences on two platforms are reported only if their ratio is at least this value.
FAR_MORE = 2.0


def start_sentences(starts, durations_s) -> list[str]:
    """Report, for the main pairs of platforms, the differences in goodput that are due to start-up, and describe start-up.

    Parameters
    ----------
    starts : pandas.DataFrame
        ``analysis/platform_starts.csv``.
    durations_s : dict of str to float
        Buffer -> time in s for which flows send, without buffers for which this time differs between scenarios.
    """
    pairs = main_pairs(compared_platforms(starts))
    rows = [
        row
        for row in starts[starts["arises"] == START].to_dict("records")
        if (row["platform_a"], row["platform_b"]) in pairs and abs(row["goodput_percent"]) >= WORTH_SAYING
    ]
    return [_sentence(row, durations_s.get(row["buffer"])) for row in rows]


def _sentence(row, duration_s):
    first, second = (platform_name(row[f"platform_{side}"]) for side in ("a", "b"))
    whole, steady = row["goodput_percent"], row["steady_percent"]
    of_time = ""
    if whole < 0 and not is_missing(duration_s):
        of_time = f" (by as much as {first} delivers in {number(-whole / 100 * duration_s, 1)} s)"
    parts = [
        f"{cca_name(row['cca'])}, {row['buffer']}: the goodput of {second} is {number(abs(whole))} % "
        f"{'lower' if whole < 0 else 'higher'} than the goodput of {first}{of_time}, but without start-up the "
        f"difference is {signed(steady)} %. So the difference arises in start-up."
    ]
    parts += filter(None, (part(row, first, second) for part in (_silence, _slow_start, _retransmits)))
    return " ".join(parts)


def _silence(row, first, second):
    """Report the longest time without acknowledged data on both platforms; None if the ratio of these times is less than `FAR_MORE`."""
    here, there = row["silence_s_b"], row["silence_s_a"]
    if is_missing(here) or is_missing(there) or max(here, there) < FAR_MORE * min(here, there):
        return None
    longer, shorter = (second, first) if here > there else (first, second)
    return (
        f"The longest time without newly acknowledged data is, on average over flows, {number(max(here, there), 2)} s on {longer} and "
        f"{number(min(here, there), 2)} s on {shorter}."
    )


def _slow_start(row, first, second):
    """Report the largest congestion window in slow start on both platforms, and whether slow start ended before a loss."""
    if is_missing(row["slow_start_peak_packets_a"]) or is_missing(row["slow_start_peak_packets_b"]):
        return None
    sides = [
        f"{number(row[f'slow_start_peak_packets_{side}'], 0)} packets on {name}{_end_words(row[f'lossless_percent_{side}'])}"
        for side, name in (("b", second), ("a", first))
    ]
    return f"Slow start reaches {'; '.join(sides)}."


def _end_words(lossless_percent):
    if is_missing(lossless_percent):
        return ""
    if lossless_percent in (0, 100):
        return " (before any loss)" if lossless_percent else " (with losses)"
    return f" (before any loss in {number(lossless_percent, 0)} % of the flows)"


def _retransmits(row, first, second):
    """Report the retransmissions in the first quarter of a run on both platforms."""
    values = [row[f"early_retransmits_{side}"] for side in ("b", "a")]
    if any(map(is_missing, values)):
        return None
    here, there = (count(round(value), "segment") for value in values)
    return f"In the first quarter {second} retransmits {here}, and {first} retransmits {there}."


def pair_words(row) -> str:
    """Return "ns-3 3.44 against Linux" for a row whose platforms are uml and ns3:3.44."""
    return f"{platform_name(row['platform_b'])} against {platform_name(row['platform_a'])}"


def buffer_words(row) -> str:
    """Return a row's buffer in words, followed by the setting if the row has one."""
    return row["buffer"] + (f" ({row['setting']})" if row["setting"] else "")


def _both(heading, name, decimals):
    """Return a column that shows the values of the first and of the second platform."""

    def cell(row):
        values = [row[f"{name}_{side}"] for side in ("a", "b")]
        if all(map(is_missing, values)):
            return Cell(NONE)
        return " and ".join(number(value, decimals) for value in values)

    return shown_cell(heading, cell, "short")


STARTS = (
    shown_cell("Platforms", pair_words, filtered=True), CCA, IP_VERSION,
    shown_cell("Buffer", buffer_words, header=True), shown_signed("Goodput, %", "goodput_percent"),
    shown_signed("Without start-up, %", "steady_percent"), shown_text("When it arises", "arises", filtered=True),
    _both("Retransmitted early", "early_retransmits", 0), _both("Retransmitted in total", "retransmits", 0),
    _both("Slow start up to, packets", "slow_start_peak_packets", 0),
    _both("Left slow start before losses, %", "lossless_percent", 0), _both("Longest silence, s", "silence_s", 2),
)  # fmt: skip
