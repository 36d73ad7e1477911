"""What the page says of method: the design in numbers, tests taken and why, power, definitions."""

import math
from collections import Counter
from functools import partial

from experiment.flow_groups import LONG, REAL_TIME, WEB
from experiment.own_kernels import kernel_words
from inference.paired_tests import FLIPS_MAX_PAIRS, flips_reach
from report_page.method_statements import NETWORK, SEEDS
from report_page.metric_words import WORDS, DefinedMetric, defined
from report_page.statements import Facts, said, some
from report_page.threats import threats
from report_parts.data_tables import size
from run_tables.metrics import METRICS, PUBLISHED_METRICS, differences
from study_files.study_design import is_simulator
from study_files.study_features import FEATURES, is_without_chance
from study_files.study_replications import has_looks
from topics.packet_size.topic import compares_sizes_alone
from topics.published.topic import FIRST_FIGURE
from wording.number_format import count, is_missing, number, plain
from wording.scenario_words import amount_words, heading, ip_words, path_rtts_ms
from wording.sentence_words import cca_name, listed

NONE_MADE = "none"
PROGRAMS = {
    LONG: "iperf3", "round-trip": "qperf", "ftp": "vsftpd and wget", WEB: "nginx and a client of its objects",
    REAL_TIME: "a sender of packets of one size",
}  # fmt: skip
#: Fewer replications leave wide intervals.
FEW_REPLICATIONS = 6
ROUND_TRIP = DefinedMetric(
    column="rtt_mean_ms",
    slug="rtt",
    name="Round-trip time",
    unit="µs",
    definition="How long one message takes there and back: the time of all exchanges of a run over their number. Only one is under way at a time.",
    source="qperf, tcp_lat and udp_lat, both directions",
)
# Segments that slow start begins with (RFC 6928).
INITIAL_WINDOW = 10


def method_section(material, environments) -> dict:
    """Return design, tests taken, power, definitions and what threatens validity."""
    tables, study_design, params = material.tables, material.design, material.params
    sizes_alone = compares_sizes_alone(study_design)
    margins, detect = (differences(params["analysis"][name]) for name in ("equivalence_margin", "detect"))
    with_power = study_design.ip_versions_compared and not sizes_alone
    tests = tests_taken(tables.ip_versions, tables.ccas, tables.cca_pairs)
    any_tests = any(test != NONE_MADE for row in tests for metric in row["metrics"] for test, _ in metric["counts"])
    facts = facts_of(material, environments, any_tests)
    return {
        "design": design(material.study, tables.runs),
        "population": population(tables.scenarios),
        "draws": draws(tables.runs, tables.scenarios),
        "defined": defined_ccas(material.study),
        "tests": tests,
        "any_tests": any_tests,
        "reasons_for_none": _added_up(pair for row in tests for metric in row["metrics"] for pair in metric["why"]),
        "ccas_tested": tables.ccas is not None,
        "power": _power_rows(tables.ip_versions, margins, detect) if with_power else [],
        "margin_reason": _margin_reason(params["analysis"]["equivalence_margin"]["reason"]),
        "definitions": definitions(tables.scenarios, facts, sizes_alone),
        "network": said(NETWORK, facts),
        "seeds": said(SEEDS, facts),
        "mean_test": mean_test_words(tables, params["significance"]),
        "threats": threats(facts),
    }


def design(study, runs) -> dict:
    """Return the numbers of the design, as the template puts them into sentences."""
    cells = runs.groupby(["scenario", "cca", "ip_version"]).ngroups
    return {
        "scenarios": runs["scenario"].nunique(),
        "ccas": list(runs["cca"].unique()),
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "cells": cells,
        "replications": replications_taken(runs),
        "has_looks": has_looks(study),
        "runs": len(runs),
        "durations": sorted(float(value) for value in runs["duration_s"].dropna().unique()),
        "distinct_seeds": int(runs["seed"].nunique()),
    }


def population(scenarios) -> str:
    """Say in plain words of what the study's intervals speak: `tidy/scenarios.csv` says what is drawn for each replication."""
    drawn = scenarios["variation"] != ""
    lossy = (scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1) > 0).any()
    own = ["losses"] * bool(lossy) + ["starts"]
    if (scenarios["background"] == "server").any():
        own.append("background messages")
    if (scenarios["platform"] == "host").any():
        own.append("noise of the machine")
    exact = f"one exact path: a replication has {listed(own)} of its own, and nothing else of it is different"
    if not drawn.any():
        return f"The intervals and tests of this study speak of {exact}. Of paths like it they say nothing."
    such = (
        "paths like the one that the scenario names: each replication has a path of its own, drawn evenly around it "
        f"as the table says, besides {listed(own)} of its own"
    )
    if drawn.all():
        return f"The intervals and tests of this study speak of {such}."
    few = listed([heading(row) for row in scenarios[drawn].to_dict("records")])
    return f"The intervals and tests of this study speak, in {few}, of {such}; in the other scenarios of {exact}."


def draws(runs, scenarios) -> list[dict]:
    """Return what was drawn in each scenario that asks for it, and what its replications had, a row of texts each."""
    rows = []
    for scenario in scenarios[scenarios["variation"] != ""].to_dict("records"):
        of_scenario = runs[runs["scenario"] == scenario["scenario"]]
        # All CCAs and IP versions of a replication have the same.
        each = of_scenario.drop_duplicates("replication")
        servers = int((each["background"] == "server").sum())
        rows.append(
            {
                "scenario": heading(scenario),
                "asked": scenario["variation"],
                "rtt": _range_words(each["rtt_path_ms"], "ms"),
                "rate": _range_words(each["rate_mbps"], "Mbit/s"),
                "queue": _range_words(of_scenario["queue_packets"], "packets"),
                "background": f"{servers} of {len(each)}",
            }
        )
    return rows


def defined_ccas(study) -> list[dict]:
    """Return the CCAs that a study defines, a row of texts each."""
    rows = []
    for name, one in study["cca_definitions"].items():
        if "source" in one:
            origin = f"{one['source']} (SHA-256 {one['sha256']}), as {one['cca']}"
        else:
            origin = f"the kernel's {cca_name(one['base'])}"
        if one.get("kernel"):
            origin += f", on {kernel_words(one['kernel'])}"
        parameters = [f"{key} {str(value).lower()}" for key, value in one["parameters"].items()]
        rows.append({"name": name, "origin": origin, "parameters": ", ".join(parameters) or "its own"})
    return rows


def _range_words(values, unit):
    """Return the range of values with its unit: "9.91 to 10.08 ms", "20 ms", or that they aren't known."""
    known = values.dropna()
    if known.empty:
        return "not known"
    ends = dict.fromkeys(plain(float(f"{end:.6g}")) for end in (known.min(), known.max()))
    return f"{' to '.join(ends)} {unit}"


def replications_taken(runs) -> int | str:
    """Return how many replications the cells have: 4, or "10 to 46" where scenarios have different numbers of them."""
    taken = runs.groupby("scenario")["replication"].max()
    return int(taken.iloc[0]) if taken.nunique() == 1 else f"{taken.min()} to {taken.max()}"


def tests_taken(ip_versions, ccas, cca_pairs) -> list[dict]:
    """Return which test was taken how often, and why none was where none was.

    The tables are None where the study has nothing to compare.

    Returns question, family, metrics: a list of dict with name, counts (pairs of test and number) and why (pairs of
    reason and number).
    """
    questions, versions = [], ("", "") if ip_versions is None else (" and IP versions", " and IP version")
    for question, table, family in (
        ("IPv6 against IPv4", ip_versions, "all cells of the metric"),
        ("All CCAs together", ccas, f"all metrics and scenarios{versions[0]}"),
        ("CCA against CCA", cca_pairs, "all pairs of all metrics and places"),
    ):
        if table is None:
            continue
        metrics = []
        for metric in METRICS:
            rows = table[table["metric"] == metric.column]
            counts = rows["test"].replace("", NONE_MADE).value_counts(sort=False)
            ordered = sorted(counts.items(), key=lambda item: (item[0] == NONE_MADE, -item[1]))
            why = reasons(rows.loc[rows["test"] == "", "note"])
            metrics.append({"name": metric.name, "counts": ordered, "why": why})
        questions.append({"question": question, "family": family, "metrics": metrics})
    return questions


def _added_up(pairs) -> list[tuple[str, int]]:
    """Add up the numbers of equal reasons, the most frequent first."""
    counts = Counter()
    for reason, number_of in pairs:
        counts[reason] += number_of
    return counts.most_common()


def reasons(notes, most=3) -> list[tuple[str, int]]:
    """Count the reasons why no test was made.

    Left out of a note is what differs from cell to cell (numbers after a colon), and what is no reason:
    how many pairs are complete.
    """
    counts = Counter()
    for note in notes:
        parts = [part.split(":")[0].strip() for part in note.split(";")]
        parts = [part for part in parts if "incomplete" not in part] or parts
        counts[parts[0] or "no reason recorded"] += 1
    ordered = counts.most_common()
    rest = sum(number_of for _, number_of in ordered[most:])
    return [*ordered[:most], ("other reasons", rest)] if rest else ordered


def _power_rows(ip_versions, margins, detect):
    """Return what the replications can show of IPv6 against IPv4, a row of texts a metric.

    detectable is the range over cells, needed the median and most pairs, enough the number of cells that have so many, and
    that have them even if the spread is at the upper end of its interval.
    """
    rows = []
    for metric in METRICS:
        cells = ip_versions[ip_versions["metric"] == metric.column]
        unit = metric.effect_unit
        known = cells[cells["detectable"].notna()]
        needed = cells[cells["pairs_needed"].notna()]
        row = {
            "metric": metric.name,
            "margin": f"±{margins[metric.column]:g} {unit}",
            "detect": f"{detect[metric.column]:g} {unit}",
            **dict.fromkeys(("detectable", "needed", "enough"), "not known"),
        }
        if len(known):
            low, middle, high = map(size, known["detectable"].agg(["min", "median", "max"]))
            row["detectable"] = f"{middle} {unit} ({low} to {high}, {count(len(known), 'cell')})"
        if len(needed):
            middle, most = needed["pairs_needed"].median(), needed["pairs_needed"].max()
            row["needed"] = f"{number(math.ceil(middle), 0)} (at most {number(most, 0)})"
            enough = int((needed["pairs"] >= needed["pairs_needed"]).sum())
            sure = int((needed["pairs"] >= needed["pairs_needed_high"].astype(float)).sum())
            row["enough"] = f"{enough} of {count(len(needed), 'cell')}, {sure} of them surely"
        rows.append(row)
    return rows


def _margin_reason(text) -> str:
    """Return why the study's margins are as they are, as a sentence; empty if its file doesn't say."""
    reason = " ".join(text.split())
    return f"{reason}." if reason and reason[-1] not in ".!?" else reason


def programs_of(scenarios) -> str:
    """Return the programs that make a study's traffic: "iperf3 and nginx"; ``scenarios`` are resolved."""
    used = {}
    for scenario in scenarios:
        applications = [group["application"] for group in scenario["groups"]] or [scenario["traffic"]["application"]]
        used |= dict.fromkeys(PROGRAMS[name] for name in applications)
    return listed(list(used))


def mean_test_words(tables, significance) -> str:
    """Say which test of the mean difference pairs get, and from how many pairs on this study's families get sign flips.

    ``tables`` has those of the tests of pairs, None where the study has none.
    """
    families = {}
    if tables.ip_versions is not None:
        cells = tables.ip_versions.groupby("metric").size().max()
        families[int(cells)] = f"{count(int(cells), 'cell')} of a metric"
    if tables.cca_pairs is not None and len(tables.cca_pairs):
        families[len(tables.cca_pairs)] = f"{count(len(tables.cca_pairs), 'pair')} of CCAs"
    reached = [
        f"{next(n for n in range(2, FLIPS_MAX_PAIRS) if flips_reach(n, tests, significance))} for the {words}"
        for tests, words in families.items()
        if any(flips_reach(n, tests, significance) for n in range(2, FLIPS_MAX_PAIRS))
    ]
    flips = "flips of the differences' signs where there are enough of them to reach the corrected level"
    return f"by the mean of the differences, with Student's t where there are few pairs, and with {flips}" + (
        f" (here from {listed(reached)} on)" if reached else ""
    )


def _traffic_kind(scenario):
    """Return what a row of ``tidy/scenarios.csv`` has its metrics read from; without `application` it is TCP (of iperf3)."""
    if is_simulator(scenario["platform"]):
        return "ns-3"
    application = scenario.get("application") or "iperf3"
    if application != "iperf3":
        return "FTP" if application == "ftp" else "round trips"
    if scenario.get("protocol") == "udp":
        return "UDP"
    return "MPTCP" if scenario.get("multipath") == "mptcp" else "TCP"


def with_sources(metric, scenarios, facts) -> DefinedMetric:
    """Return a metric with its definition in a study, and with what it is read from in the traffic of ``tidy/scenarios.csv``.

    That is one source, several with the kinds that each is of, or "none" if no such traffic has the metric.
    """
    words, kinds = WORDS[metric.slug], {}
    for kind in dict.fromkeys(map(_traffic_kind, scenarios.to_dict("records"))):
        kinds.setdefault(dict(words.elsewhere).get(kind, words.source), []).append(kind)
    kinds.pop(None, None)
    if len(kinds) < 2:
        return defined(metric, next(iter(kinds), "none"), facts)
    return defined(metric, ". ".join(f"{listed(names)}: {source}" for source, names in kinds.items()), facts)


def definitions(scenarios, facts, by_size=False) -> list[dict]:
    """Return our definitions beside the paper's, a row a question, with the paper's figure.

    A study of message sizes has its own: throughput, and round trips of single messages.
    """
    if by_size:
        shown = (
            (some("bulk"), "How fast?", with_sources(METRICS[0], scenarios, facts)),
            (some("round trips"), "How long does a message take?", ROUND_TRIP),
        )
        return [
            {"question": question, "ours": metric, "published": None, "figure": None}
            for when, question, metric in shown
            if when.holds(facts)
        ]
    figures = {metric.ours: (number_of, metric) for number_of, metric in enumerate(PUBLISHED_METRICS, FIRST_FIGURE)}
    rows = []
    for metric in METRICS:
        figure, published = figures.get(metric.slug, (None, None))
        row = {
            "question": WORDS[metric.slug].question,
            "ours": with_sources(metric, scenarios, facts),
            "figure": figure,
        }
        rows.append(row | {"published": published and with_sources(published, scenarios, facts)})
    return rows


def facts_of_design(design) -> Facts:
    """Return what sentences name of a `StudyDesign`, and what they presume of it."""
    return Facts(
        design.scenarios,
        {
            "mixes": design.mixes, "several_ccas": len(design.ccas) > 1, "cca_word": design.cca_word, "pairs": design.pairs,
            "several_pairs": design.pairs > 1, "ip_versions_compared": design.ip_versions_compared,
        },
    )  # fmt: skip


def facts_of(material, environments, any_tests) -> Facts:
    """Return what sentences on a study's method and threats name, and what they presume."""
    tables, design = material.tables, material.design
    runs, scenarios, kernels = tables.runs, tables.scenarios, kernels_of(environments)
    goodput = tables.descriptive[(tables.descriptive["metric"] == "goodput_mbps") & (tables.descriptive["n"] >= 2)]
    slow_start = startup(scenarios, runs) or {}
    with_power = design.ip_versions_compared and not compares_sizes_alone(design)
    total = len(design.scenarios)
    of_all = partial(_of_scenarios, total)
    return Facts(
        design.scenarios,
        facts_of_design(design).values
        | {
            "kernels": listed(kernels) if kernels else "",
            "one_kernel": len(kernels) == 1,
            "several_kernels": len(kernels) > 1,
            "bbr_above_all": ", BBR above all" if "bbr" in design.ccas_that_run else "",
            "disciplines": listed(sorted(set(scenarios["discipline"]))),
            "others": _others_words(design.scenarios),
            "policed": of_all(sum(map(FEATURES["policer"], design.scenarios))),
            "served": of_all(design.servers),
            "amounts": amounts(scenarios),
            "trips": count(slow_start["trips"], "round trip") if slow_start else "",
            "seconds": slow_start.get("seconds"),
            "startup_scenario": slow_start.get("scenario"),
            "startup_share": _share_words(slow_start) if slow_start else "",
            "replications": count(replications_taken(runs), "replication"),
            "few": int(runs.groupby("scenario")["replication"].max().min()) < FEW_REPLICATIONS,
            "power": with_power,
            "tests": any_tests,
            "ccas_tested": tables.ccas is not None and len(design.ccas) > 1,
            "significance": f"{material.params['significance']:g}",
            "missed": f"{100 * (1 - material.params['confidence']):.0f}",
            "chanceless": of_all(alone) if (alone := sum(map(is_without_chance, design.scenarios))) else "",
            "equal_cells": int((goodput["measurements"] == 1).sum()),
            "cells": count(len(goodput), "cell"),
            "programs": programs_of(design.scenarios),
        },
    )


def _of_scenarios(total, number_of):
    """Return "all scenarios", or how many of them: "2 of 3 scenarios"."""
    if number_of == total:
        return "the one scenario" if total == 1 else f"all {total} scenarios"
    return f"{number_of} of {count(total, 'scenario')}"


def _others_words(scenarios):
    """Return what runs beside the flows under test in some scenarios, in words; "" if nothing does."""
    kinds = (
        ("other CCAs", "long flows with other CCAs"), ("web", "web objects"), ("real-time", "real-time streams"),
    )  # fmt: skip
    words = [text for feature, text in kinds if any(map(FEATURES[feature], scenarios))]
    return listed(words) if words else ""


def _share_words(slow_start):
    if slow_start["percent"] >= 100:
        return "longer than the run"
    return f"{number(slow_start['percent'], 0)} % of its {slow_start['duration']} s"


def amounts(scenarios) -> str:
    """Return how much the runs send, in words: "1 or 2 s", "10 s or 50 MB"."""
    rows = sorted(scenarios[scenarios["duration_s"].notna()].to_dict("records"), key=lambda row: row["duration_s"])
    texts = list(dict.fromkeys(map(amount_words, rows)))
    if all(text.endswith(" s") for text in texts):
        texts = [text.removesuffix(" s") for text in texts[:-1]] + texts[-1:]
    return " or ".join(texts)


def kernels_of(environments) -> list[str]:
    """Return the kernels' versions that the runs recorded, sorted; a simulator has none."""
    known = {environment["kernel"] for environment in environments if environment.get("kernel")}
    return sorted(map(str, known))


def startup(scenarios, runs) -> dict[str, str | int | float] | None:
    """Return the largest share of a run that slow start takes on an empty, loss-free path; None without a rate and a delay.

    A window that begins with ten segments (RFC 6928, section 2) and doubles each round trip (RFC 5681,
    section 3.1) fills a path of B segments in log2(B / 10) round trips.
    """
    longest, packets = None, runs.groupby("scenario")["packet_bytes"].first()
    for row in scenarios.to_dict("records"):
        rtt_s = path_rtts_ms(row)[-1] / 1000
        packet_bytes = packets[row["scenario"]]
        if is_missing(row["capacity_most_mbps"]) or is_missing(packet_bytes) or rtt_s <= 0 or not row["duration_s"] > 0:
            continue
        if not row["flows"]:  # groups without a long flow
            continue
        segments = row["capacity_most_mbps"] * 1e6 * rtt_s / (8 * packet_bytes) / row["flows"]
        trips = max(0, math.ceil(math.log2(segments / INITIAL_WINDOW))) if segments > 0 else 0
        share = 100 * trips * rtt_s / row["duration_s"]
        if longest is None or share > longest["percent"]:
            longest = {
                "scenario": heading(row), "trips": trips, "seconds": plain(round(trips * rtt_s, 2)), "percent": share,
                "duration": plain(row["duration_s"]),
            }  # fmt: skip
    return longest
