"""What each section of the page needs beyond the tables themselves."""

from compare_ip_versions import VERDICTS
from compare_overall import METHODS
from number_format import NONE, is_missing, number, p_value
from report_parts.report_claims import (
    claims_table,
    follows_published_method,
    mislabelled_table,
    mislabelled_words,
    tally,
)  # fmt: skip
from report_parts.report_method import definitions, design, margin_reason, power_rows, programs, tests_taken, threats
from report_parts.report_results import (
    cca_pairs_table,
    cca_tests_table,
    ip_versions_table,
    overall_rows,
    printed_tables,
    verdict_style,
)  # fmt: skip
from report_parts.report_theory import models_table, regressions_table
from scenario_words import ip_words

HYPOTHESES = (
    ("H0", "TCP performs alike over IPv4 and IPv6."),
    ("H1", "TCP performs better over IPv4."),
    ("H2", "TCP performs better over IPv6."),
)


def method_section(tables, study_design, study, environments, params):
    """Return design, tests taken, power, definitions and what threatens validity."""
    compared = study_design.ip_versions_compared
    return {
        "design": design(study, tables.runs),
        "tests": tests_taken(tables.ip_versions, tables.ccas, tables.cca_pairs),
        "power": power_rows(tables.ip_versions, params["margins"], params["detect"]) if compared and not study_design.by_size else [],
        "margin_reason": margin_reason(params),
        "definitions": definitions(tables.scenarios, study_design.by_size),
        "programs": programs(study_design.applications),
        "threats": threats(
            study, tables.runs, tables.scenarios, tables.descriptive, environments
        ),
    }


def ccas_section(tables, params):
    """Return the tables of CCA against CCA; None for a study of mixes."""
    if tables.ccas is None:
        return None
    return {
        "tests": cca_tests_table(tables.ccas, tables.scenarios),
        "pairs": cca_pairs_table(tables.cca_pairs, tables.scenarios, params["significance"]),
    }


def ip_versions_section(tables, params):
    """Return the tables of IPv6 against IPv4, with what each verdict means; None if the study has one of them only."""
    if tables.ip_versions is None:
        return None
    verdicts = set(tables.ip_versions["verdict"])
    return {
        "cells": ip_versions_table(tables.ip_versions, tables.scenarios),
        "legend": [
            {"verdict": name, "meaning": meaning, "style": verdict_style(name)}
            for name, meaning in VERDICTS.items()
            if name in verdicts
        ],
        "overall": overall_rows(tables.ip_overall),
        "methods": METHODS,
    }


def theory_section(tables):
    """Return the tables of models and exponents; None for a study of mixes, which they don't describe."""
    if tables.models is None:
        return None
    return {
        "models": models_table(tables.models, tables.scenarios),
        "regressions": regressions_table(tables.regressions),
    }


def published_section(tables, params):
    """Return the paper's tables 3 to 5 from this study's runs, in its layout; None if it isn't this study's paper."""
    if tables.pooled is None:
        return None
    notes = []
    pooled = []
    for row in tables.pooled.to_dict("records"):
        marks = []
        for note in (row["mode_note"] and f"Mode: {row['mode_note']}", row["note"]):
            if note and note not in notes:
                notes.append(note)
            if note:
                marks.append(notes.index(note) + 1)
        pooled.append(
            {
                "ip": ip_words(row["ip_version"]),
                "name": f"{row['name']}, {row['unit']}",
                "n": number(row["n"], 0),
                **{key: number(row[key]) for key in ("mean", "median", "mode", "sd")},
                "w": number(row["shapiro_w"], 3),
                "p": tiny(row["shapiro_p"]),
                "marks": marks,
            }
        )
    tests = [
        {
            "name": row["name"],
            "n": f"{number(row['n_ipv4'], 0)} and {number(row['n_ipv6'], 0)}",
            "u": number(row["u"], 1).removesuffix(".0"),
            "p": tiny(row["p"]),
            "conclusion": row["conclusion"] or "no test",
            "words": row["hypothesis"] or row["note"],
        }
        for row in tables.pooled_tests.to_dict("records")
    ]
    return {
        "pooled": pooled,
        "notes": notes,
        "hypotheses": HYPOTHESES,
        "tests": tests,
        "printed": printed_tables(tables, params.get("paper")),
        "paper": citation(params.get("paper")),
    }


def citation(paper):
    """Return title, authors and source of a claims file's paper, or None."""
    if not paper:
        return None
    source = paper.get("source") or paper.get("script") or ""
    return {"title": paper["title"], "authors": paper["authors"], "source": source}


def tiny(p):
    """Return a p value as the paper prints it: very small ones as powers of ten."""
    if is_missing(p):
        return NONE
    if p == 0:
        return "< 1e-300"
    return p_value(p) if p >= 0.001 else f"{p:.2g}"


def claims_section(tables, other, params):
    """Return the table of claims and how they came out, or None if none were checked."""
    if tables.claims is None or tables.claims.empty:
        return None
    swapped = follows_published_method(tables.scenarios)
    verdicts, owners = tally(tables.claims, other, swapped)
    quoted = (params.get("paper") or {}).get("statements") == "quoted"
    return {
        "table": claims_table(tables.claims, other, swapped, quoted),
        "verdicts": verdicts,
        "owners": owners,
        "other": other[0] if other else None,
        "paper": citation(params.get("paper")),
        "quoted": quoted,
    }


def mislabelled_section(tables, params):
    """Return the cells in which another CCA ran, of this study and the other; None if there are none."""
    for table, study, scenarios in (
        (tables.mislabelled, None, tables.scenarios),
        (tables.other_mislabelled, params.get("compare_with"), None),
    ):
        if table is not None and not table.empty:
            return {
                "words": mislabelled_words(table, study),
                "table": mislabelled_table(table, scenarios),
                "file": "mislabelled" if study is None else "other_mislabelled",
            }
    return None
