"""Facts about a study for the sentences about its method and about threats to its validity."""

import math
import shlex
from functools import partial

from experiment.disciplines import discipline_of
from experiment.flow_groups import LONG, PROGRAM, REAL_TIME, WEB
from experiment.programs import Program
from inference.mean_interval import LEAST_RUNS
from report_page.statements import Facts
from study_files.program_ccas import programs_under_test, scenario_of
from study_files.study_features import FEATURES, is_without_chance, queues_of
from wording.number_format import count, is_missing, number, plain
from wording.scenario_words import amount_words, path_rtts_ms
from wording.sentence_words import listed

#: Key in `PROGRAMS` for the programs that carry long flows with `processes: per-side`.
STREAMS = "streams"
PROGRAMS = {
    LONG: "iperf3", STREAMS: "a sender and a receiver of many streams", "round-trip": "qperf", "ftp": "vsftpd and wget", WEB: "nginx and a client that requests its objects",
    REAL_TIME: "a sender of packets of one size",
}  # fmt: skip
#: Table for `str.translate` that removes the braces of placeholders.
BRACES = str.maketrans("", "", "{}")
# Initial congestion window, in segments (RFC 6928).
INITIAL_WINDOW = 10


def facts_of_design(design) -> Facts:
    """Return the facts of a `StudyDesign` that sentences contain or depend on."""
    programs, of_tcp = programs_under_test(design.study), tcp_programs_of(as_run(design))
    return Facts(
        design.scenarios,
        {
            "mixes": design.mixes, "several_ccas": len(design.ccas) > 1, "cca_word": design.cca_word, "pairs": design.pairs,
            "several_pairs": design.pairs > 1, "ip_versions_compared": design.ip_versions_compared,
            "programs_tested": listed(list(programs)) if programs else "", "kernel_tested": len(programs) < len(design.ccas),
            "tcp_programs": listed(of_tcp) if of_tcp else "",
            **{f"{protocol}_programs_tested": _programs_over(protocol, programs) for protocol in ("udp", "tcp")},
        },
    )  # fmt: skip


def _programs_over(protocol, programs):
    """Return the names of the programs under test that send over a protocol, as words; empty if there are none."""
    names = [name for name, program in programs.items() if program["protocol"] == protocol]
    return listed(names) if names else ""


def facts_of(material, environments, any_tests) -> Facts:
    """Return the facts that sentences about a study's method and threats contain or depend on."""
    tables, design = material.tables, material.design
    runs, scenarios, kernels = tables.runs, tables.scenarios, kernels_of(environments)
    goodput = tables.descriptive[(tables.descriptive["metric"] == "goodput_mbps") & (tables.descriptive["n"] >= 2)]
    slow_start = startup(scenarios, runs, initial_windows(design.scenarios)) or {}
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
            "disciplines": listed(
                sorted({discipline_of(queue).name for one in design.scenarios for queue in queues_of(one)})
            ),
            "others": _others_words(design.scenarios),
            "policed": of_all(sum(map(FEATURES["policer"], design.scenarios))),
            "served": of_all(design.servers),
            "amounts": amounts(scenarios),
            "trips": count(slow_start["trips"], "round trip") if slow_start else "",
            "seconds": slow_start.get("seconds"),
            "startup_scenario": slow_start.get("scenario"),
            "startup_share": _share_words(slow_start) if slow_start else "",
            "replications": count(replications_taken(runs), "replication"),
            "few": int(runs.groupby("scenario")["replication"].max().min()) < LEAST_RUNS,
            "least_runs": LEAST_RUNS,
            "power": tables.ip_versions is not None,
            "tests": any_tests,
            "ccas_tested": tables.ccas is not None and len(design.ccas) > 1,
            "significance": f"{material.params['significance']:g}",
            "missed": f"{100 * (1 - material.params['confidence']):.0f}",
            "chanceless": of_all(alone) if (alone := len(without_chance(design))) else "",
            "equal_cells": int((goodput["measurements"] == 1).sum()),
            "cells": count(len(goodput), "cell"),
            "programs": programs_of(as_run(design)),
        },
    )


def _of_scenarios(total, number_of):
    """Return the number of scenarios in words: "all 3 scenarios" or, if there are fewer, "2 of 3 scenarios"."""
    if number_of == total:
        return {1: "the one scenario", 2: "both scenarios"}.get(total, f"all {total} scenarios")
    return f"{number_of} of {count(total, 'scenario')}"


def _others_words(scenarios):
    """Describe the traffic that competes with the flows under test in any scenario; "" if there is no such traffic."""
    kinds = (
        ("other CCAs", "long flows with other CCAs"), ("web", "web objects"), ("real-time", "real-time streams"),
        ("programs", "other programs"),
    )  # fmt: skip
    words = [text for feature, text in kinds if any(map(FEATURES[feature], scenarios))]
    return listed(words) if words else ""


def _share_words(slow_start):
    if slow_start["percent"] >= 100:
        return "longer than the run"
    return f"{number(slow_start['percent'], 0)} % of the run's {slow_start['duration']} s"


def as_run(design) -> list[dict]:
    """Return one scenario for each combination of scenario and CCA, in the form in which it is run.

    If the CCA is a program, the groups of flows in the scenario use this program.
    """
    return [scenario_of(design.study, scenario, cca) for scenario in design.scenarios for cca in design.study["ccas"]]


def without_chance(design) -> set[str]:
    """Return the identifiers of the scenarios in which, for every CCA, only the start times of flows differ between replications."""
    by_chance = {one["id"] for one in as_run(design) if not is_without_chance(one)}
    return {one["id"] for one in design.scenarios} - by_chance


def programs_of(scenarios) -> str:
    """Return the programs that generate a study's traffic, such as "iperf3 and nginx"; ``scenarios`` are resolved scenarios."""
    used = {}
    for scenario in scenarios:
        applications = [group["application"] for group in scenario["groups"]] or [scenario["traffic"]["application"]]
        long = STREAMS if scenario["traffic"]["processes"] == "per-side" else LONG
        used |= dict.fromkeys(PROGRAMS[long if name == LONG else name] for name in applications if name != PROGRAM)
        used |= dict.fromkeys(Program(**group["program"]).label for group in scenario["groups"] if group["program"])
    return listed(list(used))


def program_rows(scenarios) -> list[dict]:
    """Return the files and commands of the declared programs, one row per declaration; CCAs with the same declaration share a row.

    The rows have ``names`` (the program's names in tables), ``path`` and ``sha256`` of its files (None for a program in the image),
    ``archive`` (the file name of the copy that the results contain), and the commands ``server`` and ``client``. ``scenarios`` are resolved
    scenarios.
    """
    rows = {}
    for scenario in scenarios:
        for group in scenario["groups"]:
            if group["program"]:
                one = Program(**group["program"])
                commands = {"server": _as_written(one.server), "client": _as_written(one.client)}
                archive = one.folder and f"{one.folder}.tar"
                row = {"path": one.path, "sha256": one.sha256, "archive": archive, **commands}
                rows.setdefault((one.name, *row.values()), row | {"names": []})["names"].append(one.label)
    return [row | {"names": listed(list(dict.fromkeys(row["names"])))} for row in rows.values()]


def _as_written(command):
    """Return a command's words as one text, quoted where a study file needs quotes; braces need none."""
    return " ".join(
        word if shlex.quote(bare := word.translate(BRACES)) == bare else shlex.quote(word) for word in command
    )


def tcp_programs_of(scenarios) -> list[str]:
    """Return the names of the declared programs that send data over TCP; ``scenarios`` are resolved scenarios."""
    programs = [group["program"] for scenario in scenarios for group in scenario["groups"] if group["program"]]
    return list(dict.fromkeys(Program(**one).label for one in programs if one["protocol"] == "tcp"))


def replications_taken(runs) -> int | str:
    """Return the number of replications per cell, such as 4, or "10 to 46" if the number differs between scenarios."""
    taken = runs.groupby("scenario")["replication"].max()
    return int(taken.iloc[0]) if taken.nunique() == 1 else f"{taken.min()} to {taken.max()}"


def amounts(scenarios) -> str:
    """Return the durations or transfer sizes of the runs in words: "1 or 2 s", "10 s or 50 MB"."""
    rows = sorted(scenarios[scenarios["duration_s"].notna()].to_dict("records"), key=lambda row: row["duration_s"])
    texts = list(dict.fromkeys(map(amount_words, rows)))
    if all(text.endswith(" s") for text in texts):
        texts = [text.removesuffix(" s") for text in texts[:-1]] + texts[-1:]
    return " or ".join(texts)


def kernels_of(environments) -> list[str]:
    """Return the kernel versions that the runs recorded, sorted; simulators record no kernel version."""
    known = {environment["kernel"] for environment in environments if environment.get("kernel")}
    return sorted(map(str, known))


def initial_windows(scenarios) -> dict[str, int]:
    """Return the initial congestion window in segments, by scenario id, for scenarios whose flows under test are long TCP flows."""
    return {
        one["id"]: one["transport"].get("initial_window_packets") or INITIAL_WINDOW
        for one in scenarios
        if FEATURES["tcp"](one) and FEATURES["bulk"](one)
    }


def startup(scenarios, runs, windows=None) -> dict[str, str | int | float] | None:
    """Return the scenario in which slow start on an empty, loss-free path takes the largest share of a run.

    The keys are ``scenario`` (such as "scenario 1"), ``trips``, ``seconds``, ``percent`` (the share) and ``duration`` in s. None is
    returned if no scenario has both a rate limit and a delay.

    A congestion window that starts at W segments (10 by default: RFC 6928, section 2) and doubles each round trip (RFC 5681, section 3.1)
    fills a path with a BDP of B segments in log2(B / W) round trips.

    Parameters
    ----------
    scenarios, runs : pandas.DataFrame
        ``tidy/scenarios.csv`` and ``tidy/runs.csv``.
    windows : dict, optional
        The result of `initial_windows`; other scenarios are left out. By default, all scenarios have the window `INITIAL_WINDOW`.
    """
    longest, packets = None, runs.groupby("scenario")["packet_bytes"].first()
    for row in scenarios.to_dict("records"):
        rtt_s = path_rtts_ms(row)[-1] / 1000
        packet_bytes = packets[row["scenario"]]
        if is_missing(row["capacity_most_mbps"]) or is_missing(packet_bytes) or rtt_s <= 0 or not row["duration_s"] > 0:
            continue
        if not row["flows"]:  # only groups without long flows
            continue
        if windows is not None and row["scenario"] not in windows:
            continue
        window = (windows or {}).get(row["scenario"], INITIAL_WINDOW)
        segments = row["capacity_most_mbps"] * 1e6 * rtt_s / (8 * packet_bytes) / row["flows"]
        trips = max(0, math.ceil(math.log2(segments / window))) if segments > 0 else 0
        share = 100 * trips * rtt_s / row["duration_s"]
        if longest is None or share > longest["percent"]:
            longest = {
                "scenario": f"scenario {row['label']}", "trips": trips, "seconds": plain(round(trips * rtt_s, 2)), "percent": share,
                "duration": plain(row["duration_s"]),
            }  # fmt: skip
    return longest
