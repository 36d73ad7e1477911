"""What the page says of method: the design in numbers, tests taken and why, power, definitions."""

import math
from dataclasses import replace

from number_format import count, is_missing, number, plain
from report_parts.report_data_tables import size
from report_parts.sentence_words import listed
from run_tables.metrics import METRICS, PUBLISHED_METRICS, Metric
from scenario_words import amount_words, heading, ip_words, path_rtts_ms
from study_files.study_design import is_simulator

NONE_MADE = "none"
IP_FAMILY = "all cells of the metric"
CCA_FAMILY = "all scenarios{} of the metric"
PAIR_FAMILY = "all pairs of the metric in one scenario{}"
PROGRAMS = {"iperf3": "iperf3", "round-trip": "qperf", "ftp": "vsftpd and wget"}
ROUND_TRIP = Metric(
    column="rtt_mean_ms",
    slug="rtt",
    name="Round-trip time",
    unit="µs",
    definition="How long one message takes there and back: the time of all exchanges of a run over their number. Only one is under way at a time.",
    source="qperf, tcp_lat and udp_lat, both directions",
)
# Of the paper's figures of metrics.
FIRST_FIGURE = 3
# Segments that slow start begins with (RFC 6928), and the frame that carries one.
INITIAL_WINDOW, FRAME_BYTES = 10, 1514


def design(study, runs):
    """Return the numbers of the design, as the template puts them into sentences."""
    cells = runs.groupby(["scenario", "cca", "ip_version"]).ngroups
    return {
        "scenarios": runs["scenario"].nunique(),
        "ccas": list(runs["cca"].unique()),
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "cells": cells,
        "replications": int(study["replications"]),
        "runs": len(runs),
        "durations": sorted(float(value) for value in runs["duration_s"].dropna().unique()),
        "distinct_seeds": int(runs["seed"].nunique()),
    }


def tests_taken(ip_versions, ccas, cca_pairs):
    """Return which test was taken how often, and why none was where none was.

    Parameters
    ----------
    ip_versions, ccas, cca_pairs : pandas.DataFrame or None
        None where the study has nothing to compare.

    Returns
    -------
    list of dict
        question, family, metrics: a list of dict with name, counts (pairs of test and number) and
        why (pairs of reason and number).
    """
    questions = []
    for question, table, family in (
        ("IPv6 against IPv4", ip_versions, IP_FAMILY),
        ("All CCAs together", ccas, CCA_FAMILY.format("" if ip_versions is None else " and IP versions")),
        ("CCA against CCA", cca_pairs, PAIR_FAMILY.format("" if ip_versions is None else " and IP version")),
    ):
        metrics = []
        if table is None:
            continue
        for metric in METRICS:
            mine = table[table["metric"] == metric.column]
            counts = mine["test"].replace("", NONE_MADE).value_counts(sort=False)
            ordered = sorted(counts.items(), key=lambda item: (item[0] == NONE_MADE, -item[1]))
            why = reasons(mine.loc[mine["test"] == "", "note"])
            metrics.append({"name": metric.name, "counts": ordered, "why": why})
        questions.append({"question": question, "family": family, "metrics": metrics})
    return questions


def reasons(notes, most=3):
    """Count the reasons why no test was made.

    Left out of a note is what differs from cell to cell (numbers after a colon), and what is no reason:
    how many pairs are complete.
    """
    counts = {}
    for note in notes:
        parts = [part.split(":")[0].strip() for part in note.split(";")]
        parts = [part for part in parts if "incomplete" not in part] or parts
        counts[parts[0] or "no reason recorded"] = counts.get(parts[0] or "no reason recorded", 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    rest = sum(number_of for _, number_of in ordered[most:])
    return [*ordered[:most], ("other reasons", rest)] if rest else ordered


def power_rows(ip_versions, margins, detect):
    """Return what the replications can show of IPv6 against IPv4, a row a metric.

    Returns
    -------
    list of dict
        metric, margin, detect, detectable (range over cells), needed (median and most pairs),
        enough (cells that have so many), cells (with a value).
    """
    rows = []
    for metric in METRICS:
        mine = ip_versions[ip_versions["metric"] == metric.column]
        unit = metric.effect_unit
        known = mine[mine["detectable"].notna()]
        needed = mine[mine["pairs_needed"].notna()]
        row = {
            "metric": metric.name,
            "margin": f"±{margins[metric.column]:g} {unit}",
            "detect": f"{detect[metric.column]:g} {unit}",
            "detectable": "not known",
            "needed": "not known",
            "enough": "not known",
        }
        if len(known):
            low, middle, high = (
                size(value)
                for value in (known["detectable"].min(), known["detectable"].median(), known["detectable"].max())
            )
            row["detectable"] = f"{middle} {unit} ({low} to {high}, {count(len(known), 'cell')})"
        if len(needed):
            row["needed"] = (
                f"{number(math.ceil(needed['pairs_needed'].median()), 0)} "
                f"(at most {number(needed['pairs_needed'].max(), 0)})"
            )
            enough = int((needed["pairs"] >= needed["pairs_needed"]).sum())
            row["enough"] = f"{enough} of {count(len(needed), 'cell')}"
        rows.append(row)
    return rows


def margin_reason(params):
    """Return why the study's margins are as they are, as a sentence; empty if its file doesn't say."""
    reason = " ".join((params.get("margin_reason") or "").split())
    return f"{reason}." if reason and reason[-1] not in ".!?" else reason


def programs(applications):
    """Return the programs that make a study's traffic: "iperf3 and qperf"."""
    return listed([PROGRAMS[name] for name in applications])


def traffic_kind(scenario):
    """Return what a scenario's metrics are read from.

    Parameters
    ----------
    scenario : mapping
        A row of ``tidy/scenarios.csv``; without `application` it is TCP.

    Returns
    -------
    str
        "TCP" (of iperf3), "UDP", "MPTCP", "FTP", "round trips" or "ns-3".
    """
    if is_simulator(scenario["platform"]):
        return "ns-3"
    application = scenario.get("application") or "iperf3"
    if application != "iperf3":
        return "FTP" if application == "ftp" else "round trips"
    if scenario.get("protocol") == "udp":
        return "UDP"
    return "MPTCP" if scenario.get("multipath") == "mptcp" else "TCP"


def with_sources(metric, scenarios):
    """Return a metric whose source is that of a study's traffic: one, or several with the kinds that each is of.

    Parameters
    ----------
    metric : Metric
    scenarios : pandas.DataFrame
        ``tidy/scenarios.csv``.

    Returns
    -------
    Metric
        With the source "none" if no such traffic has the metric.
    """
    other, kinds_of = dict(metric.elsewhere), {}
    for kind in dict.fromkeys(map(traffic_kind, scenarios.to_dict("records"))):
        kinds_of.setdefault(other.get(kind, metric.source), []).append(kind)
    kinds_of.pop(None, None)
    if len(kinds_of) < 2:
        return replace(metric, source=next(iter(kinds_of), "none"))
    return replace(metric, source=". ".join(f"{listed(kinds)}: {source}" for source, kinds in kinds_of.items()))


def definitions(scenarios, by_size=False):
    """Return our definitions beside the paper's, a row a question, with the paper's figure.

    Of a study of message sizes those that it has: throughput, and round trips of single messages.
    """
    if by_size:
        shown = (("How fast?", with_sources(METRICS[0], scenarios)), ("How long does a message take?", ROUND_TRIP))
        return [{"question": question, "ours": metric, "published": None, "figure": None} for question, metric in shown]
    questions = ("How fast?", "How long does a packet take?", "What gets lost?", "What is sent again?")
    rows = enumerate(zip(questions, METRICS, PUBLISHED_METRICS, strict=True), FIRST_FIGURE)
    return [
        {"question": question, "ours": with_sources(ours, scenarios), "published": with_sources(published, scenarios)}
        | {"figure": figure}
        for figure, (question, ours, published) in rows
    ]


def threats(study, runs, scenarios, descriptive, environments):
    """Return the facts that the threats to validity are stated with.

    Returns
    -------
    dict
        platforms, simulated (those that are simulators), emulated (whether any is not), kernels, replications, amounts (words), startup (dict or None), equal_cells, cells, queues.
    """
    goodput = descriptive[(descriptive["metric"] == "goodput_mbps") & (descriptive["n"] >= 2)]
    platforms = sorted(set(scenarios["platform"]))
    simulated = [name for name in platforms if is_simulator(name)]
    return {
        "platforms": platforms,
        "simulated": simulated,
        "emulated": len(simulated) < len(platforms),
        "kernels": kernels_of(environments),
        "replications": int(study["replications"]),
        "amounts": amounts(scenarios),
        "startup": startup(scenarios),
        "equal_cells": int((goodput["sd"] == 0).sum()),
        "cells": len(goodput),
        "loss_free": int((scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1) == 0).sum()),
        "one_bottleneck": bool(scenarios["rate_mbps"].notna().all()),
        "mixed": any("+" in cca for cca in runs["cca"].unique()),
    }


def amounts(scenarios):
    """Return how much the runs send, in words: "1 or 2 s", "10 s or 50 MB"."""
    rows = sorted(scenarios[scenarios["duration_s"].notna()].to_dict("records"), key=lambda row: row["duration_s"])
    found = list(dict.fromkeys(map(amount_words, rows)))
    if all(words.endswith(" s") for words in found):
        found = [words.removesuffix(" s") for words in found[:-1]] + found[-1:]
    return " or ".join(found)


def kernels_of(environments):
    """Return the kernels' versions that the runs recorded, sorted; a simulator has none."""
    known = {environment["kernel"] for environment in environments if environment.get("kernel")}
    return sorted(map(str, known))


def startup(scenarios):
    """Return the largest share of a run that slow start takes on an empty, loss-free path.

    A window that begins with ten segments (RFC 6928, section 2) and doubles each round trip (RFC 5681,
    section 3.1) fills a path of B segments in log2(B / 10) round trips.

    Returns
    -------
    dict or None
        scenario (its heading), trips, seconds, percent; None where no path has a rate and a delay.
    """
    longest = None
    for row in scenarios.to_dict("records"):
        rtt_s = path_rtts_ms(row)[-1] / 1000
        if is_missing(row["rate_mbps"]) or rtt_s <= 0 or not row["duration_s"] > 0:
            continue
        segments = row["rate_mbps"] * 1e6 * rtt_s / (8 * FRAME_BYTES) / row["flows"]
        trips = max(0, math.ceil(math.log2(segments / INITIAL_WINDOW))) if segments > 0 else 0
        share = 100 * trips * rtt_s / row["duration_s"]
        if longest is None or share > longest["percent"]:
            longest = {
                "scenario": heading(row), "trips": trips, "seconds": plain(round(trips * rtt_s, 2)), "percent": share,
                "duration": plain(row["duration_s"]),
            }  # fmt: skip
    return longest
