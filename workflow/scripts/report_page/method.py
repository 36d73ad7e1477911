"""The page's section about method: the design in numbers, the quantities drawn at random for each replication, and the defined CCAs."""

from experiment.own_kernels import kernel_words
from inference.collapses import largest_share
from report_page.method_statements import NETWORK, SEEDS
from report_page.metric_definitions import definitions
from report_page.statements import said
from report_page.study_facts import facts_of, replications_taken
from report_page.tests_and_power import NONE_MADE, added_up, mean_test_words, power_rows, tests_taken
from report_page.threats import threats
from run_tables.metrics import differences
from study_files.study_replications import has_looks
from topics.packet_size.topic import compares_sizes_alone
from wording.number_format import plain, rounded
from wording.scenario_words import heading, ip_words
from wording.sentence_words import cca_name, listed


def method_section(material, environments) -> dict:
    """Return the contents of the section: design, tests, power, definitions and threats to validity."""
    tables, study_design, params = material.tables, material.design, material.params
    sizes_alone = compares_sizes_alone(study_design)
    margins, detect = (differences(params["analysis"][name]) for name in ("equivalence_margin", "detect"))
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
        "reasons_for_none": added_up(pair for row in tests for metric in row["metrics"] for pair in metric["why"]),
        "ccas_tested": tables.ccas is not None,
        "power": [] if tables.ip_versions is None else power_rows(tables.ip_versions, margins, detect),
        "margin_reason": _margin_reason(params["analysis"]["equivalence_margin"]["reason"]),
        "definitions": definitions(tables.scenarios, facts, sizes_alone),
        "network": said(NETWORK, facts),
        "seeds": said(SEEDS, facts),
        "unseen_percent": unseen_percent(tables.runs, params["significance"]),
        "mean_test": mean_test_words(tables, params["significance"]),
        "threats": threats(facts),
    }


def unseen_percent(runs, significance) -> str:
    """Return the upper confidence bound, in percent, on the share of outliers in a cell in which no outlier was observed.

    The bound depends on the number of runs in a cell: "22" for 12 runs, "26 to 6" for 10 to 46 runs.
    """
    taken = runs.groupby("scenario")["replication"].max()
    shares = [plain(round(100 * largest_share(0, int(n), significance))) for n in (taken.min(), taken.max())]
    return " to ".join(dict.fromkeys(shares))


def design(study, runs) -> dict:
    """Return the facts about the design for the sentences in the template."""
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
    """Describe the population to which the intervals and tests apply; ``scenarios`` is ``tidy/scenarios.csv``."""
    drawn = scenarios["variation"] != ""
    lossy = (scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1) > 0).any()
    own = ["losses"] * bool(lossy) + ["start times of flows"]
    if (scenarios["background"] == "server").any():
        own.append("background messages")
    if (scenarios["platform"] == "host").any():
        own.append("noise of the machine")
    exact = f"the exact path of each scenario: replications differ only in random events, such as {listed(own)}"
    if not drawn.any():
        return f"The intervals and tests of this study apply to {exact}. They say nothing about similar paths."
    such = (
        "paths like the one that the scenario describes: each replication has its own path, drawn uniformly around the "
        f"described path within the ranges in the table, and its own {listed(own)}"
    )
    if drawn.all():
        return f"The intervals and tests of this study apply to {such}."
    few = f"scenario{'s' if drawn.sum() > 1 else ''} {listed(list(scenarios.loc[drawn, 'label']))}"
    return f"The intervals and tests of this study apply, in {few}, to {such}. In the other scenarios, they apply to {exact}."


def draws(runs, scenarios) -> list[dict]:
    """Return one row of texts per scenario with randomly drawn conditions: the requested variation, and the ranges of drawn values."""
    rows = []
    for scenario in scenarios[scenarios["variation"] != ""].to_dict("records"):
        of_scenario = runs[runs["scenario"] == scenario["scenario"]]
        # The values are the same for all CCAs and IP versions of a replication.
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
    """Return one row of texts for each CCA that the study defines."""
    rows = []
    for name, one in study["cca_definitions"].items():
        if "source" in one:
            origin = f"{one['source']} (SHA-256 {one['sha256']}), as {one['cca']}"
        else:
            origin = f"the kernel's {cca_name(one['base'])}"
        if one.get("kernel"):
            origin += f", on {kernel_words(one['kernel'])}"
        parameters = [f"{key} {str(value).lower()}" for key, value in one["parameters"].items()]
        rows.append({"name": name, "origin": origin, "parameters": ", ".join(parameters) or "defaults"})
    return rows


def _range_words(values, unit):
    """Return the range of values with their unit, such as "9.91 to 10.08 ms" or "20 ms"; "not known" if there are no values."""
    known = values.dropna()
    if known.empty:
        return "not known"
    ends = dict.fromkeys(rounded(end, 6) for end in (known.min(), known.max()))
    return f"{' to '.join(ends)} {unit}"


def _margin_reason(text) -> str:
    """Return the reason for the study's margins as a sentence; empty if the study file gives no reason."""
    reason = " ".join(text.split())
    return f"{reason}." if reason and reason[-1] not in ".!?" else reason
