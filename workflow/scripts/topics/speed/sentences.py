"""Sentences about a study's only CCA: goodput, retransmissions and RTT."""

from run_tables.conditions_at_centre import runs_at_centre
from wording.number_format import count
from wording.sentence_words import between, cca_name, place_words, short


def lone_sentence(tables, one_ip_version=False) -> str:
    """Report the goodput, retransmissions and RTT of the study's only CCA; "" if there are several CCAs.

    If ``one_ip_version`` is true, the IP version isn't named.
    """
    means = _means_of(tables.descriptive, "goodput_mbps")
    if means["cca"].nunique() != 1:
        return ""
    cca = means["cca"].iloc[0]
    speed = (
        f"The study has values for only one CCA, {cca_name(cca)}, whose mean goodput was "
        f"{between(means['mean'])} Mbit/s in {count(len(means), 'cell')}; there is no other CCA to compare it with."
    )
    return f"{speed} {_lone_price(tables, one_ip_version)}".strip()


def _means_of(descriptive, metric):
    return descriptive[(descriptive["metric"] == metric) & descriptive["mean"].notna()]


def _lone_price(tables, one_ip_version) -> str:
    """Report the retransmissions and the RTT of the study's only CCA."""
    parts = []
    means = _means_of(tables.descriptive, "retransmit_percent")
    if len(means):
        top = means.loc[means["mean"].idxmax()]
        place = place_words(top, tables.scenarios, one_ip_version)
        several = len(means) > 1
        if top["mean"] > 0:
            parts.append(
                f"had {short(top['mean'])} % retransmissions among its segments in {place}"
                + (", the most of all cells," if several else "")
            )
        else:
            parts.append("retransmitted nothing in any cell" if several else f"retransmitted nothing in {place}")
    means = _means_of(tables.descriptive, "rtt_mean_ms")
    path = _path_rtts(tables)
    means = means.assign(path=means["scenario"].map(path))
    means = means[means["path"] > 0]
    if len(means):
        most = "at most " if len(means) > 1 else ""
        parts.append(f"had a mean RTT of {most}{short((means['mean'] / means['path']).max())} times the empty path's")
    return f"It {' and '.join(parts).rstrip(',')}." if parts else ""


def _path_rtts(tables):
    """Return each scenario's base RTT in ms."""
    runs = runs_at_centre(tables.runs, tables.scenarios)
    return dict(zip(runs["scenario"], runs["rtt_path_ms"], strict=True))
