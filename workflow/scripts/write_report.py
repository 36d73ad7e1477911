"""Assemble the report: one HTML file that needs nothing else."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pingouin", "matplotlib", "jinja2")

import base64
import hashlib
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import jinja2
from figure_parts.figure_style import DARK, LIGHT
from markupsafe import Markup
from number_format import count, number
from report_parts.findings import findings
from report_parts.report_columns import (
    CCA_PAIRS,
    CCA_TESTS,
    CLAIMS,
    IP_OVERALL,
    IP_VERSION_TESTS,
    MISLABELLED,
    MODELS,
    POOLED,
    POOLED_TESTS,
    REGRESSIONS,
)  # fmt: skip
from report_parts.report_files import download, figure_item, optional
from report_parts.report_method import kernels_of, with_sources
from report_parts.report_outline import report_sections
from report_parts.report_sections import (
    ccas_section,
    claims_section,
    ip_versions_section,
    method_section,
    mislabelled_section,
    published_section,
    theory_section,
)  # fmt: skip
from report_parts.report_tables import descriptive_groups, environment_rows, mean_tables, scenario_rows
from report_parts.report_topics import ReportMaterial, topic_contexts, topic_findings, topic_tables
from run_platforms import is_repeatable
from run_tables.metrics import METRICS, metric_by_slug
from run_tables.tidy_columns import (
    CHECK_COUNTS,
    DESCRIPTIVE,
    SCENARIOS,
    VALIDITY,
    read_runs,
    read_table,
    run_name,
)  # fmt: skip
from scenario_words import ip_words, platform_words
from study_files.study_design import is_simulator
from study_files.study_outline import study_outline

DEFAULT_CONFIG = "config/config.yaml"
MAX_EXCLUDED_SHOWN = 200
MAX_MIXES_NAMED = 6
# The columns of every analysis table that a study may have.
TABLES = {
    "descriptive": DESCRIPTIVE,
    "validity": VALIDITY,
    "checks": CHECK_COUNTS,
    "ip_versions": IP_VERSION_TESTS,
    "ip_overall": IP_OVERALL,
    "pooled": POOLED,
    "pooled_tests": POOLED_TESTS,
    "models": MODELS,
    "regressions": REGRESSIONS,
    "ccas": CCA_TESTS,
    "cca_pairs": CCA_PAIRS,
    "claims": CLAIMS,
    "mislabelled": MISLABELLED,
}
# Those of the study that this one is compared with, if they are there.
OTHER_TABLES = {"other_claims": CLAIMS, "other_mislabelled": MISLABELLED}


def read_tables(inputs, outline):
    """Read every table of a study; those that its design doesn't have are None."""
    known = TABLES | topic_tables(outline.topics)
    tables = dict.fromkeys(TABLES) | {name: read_table(inputs[name], known[name]) for name in outline.tables}
    for name, kinds in OTHER_TABLES.items():
        path = optional(inputs, name)
        tables[name] = read_table(path, kinds) if path else None
    return SimpleNamespace(
        runs=read_runs(inputs["runs"]), scenarios=read_table(inputs["scenarios"], SCENARIOS), **tables
    )


def metric_figure(metric, inputs, tables, caption_params):
    """Return what the page shows of one metric."""
    groups, notes = descriptive_groups(tables.descriptive, tables.scenarios, metric)
    return {
        **figure_item(inputs, metric.slug, caption_params),
        "metric": with_sources(metric, tables.scenarios),
        "means": mean_tables(tables.descriptive, tables.scenarios, metric),
        "groups": groups,
        "notes": notes,
    }


def figures(inputs, outline, study, params):
    """Return all figures but those of the metrics, by slug.

    Returns
    -------
    dict of str to dict
        As `figure_item` gives.
    """
    common, own = caption_params(outline.design, study, params), {metric.slug for metric in METRICS}
    items = {}
    for figure in outline.figures:
        words = dict(figure.words)
        if figure.caption == "ip-difference":
            words["margin"] = params["margins"][metric_by_slug(words["metric"]).column]
        if figure.slug not in own:
            items[figure.slug] = figure_item(inputs, figure.slug, common | words)
    return items


def caption_params(design, study, params):
    """Return what every caption may name."""
    given = {name: params[name] for name in ("confidence", "significance", "power")}
    studies = {"name": study["study"], "other_name": params.get("compare_with")}
    cells = {"by": design.cell_words, "cca": design.cca_word, "both_ip_versions": design.ip_versions_compared}
    return given | studies | cells | {"replications": study["replications"]}


def repeatable_run(runs, scenarios):
    """Return a run, valid if possible, that anybody can repeat to the byte; None if all were measured under a real clock."""
    repeatable = runs[runs["scenario"].isin(scenarios.loc[scenarios["platform"].map(is_repeatable), "scenario"])]
    best = repeatable[repeatable["valid"]] if repeatable["valid"].any() else repeatable
    return None if best.empty else best.iloc[0]


def rerun_commands(study, run, configfile, sha256, platform=None):
    """Return the shell lines that run one cell again and compare its bytes.

    Parameters
    ----------
    study : str
    run : mapping
        A row of ``tidy/runs.csv``.
    configfile : str
        The study's file.
    sha256 : str or None
        The published sum of the run's document, if the tables have one.
    platform : str, optional
        The platform that the study was carried on instead of its own.
    """
    document = f"results/{study}/runs/{run_name(run)}.json.gz"
    option = "" if configfile == DEFAULT_CONFIG else f" --configfile {shlex.quote(configfile)}"
    option += f" --config platform={platform}" if platform else ""
    rerun = f"snakemake --cores 1 --use-apptainer{option} --force {document}"
    if sha256:
        return [rerun, f"echo '{sha256}  {document}' | sha256sum --check"]
    return [f"sha256sum {document}", rerun, f"sha256sum {document}"]


def excluded_rows(runs):
    """Return the excluded runs, name and reason, as many as the page lists."""
    excluded = runs[~runs["valid"]].head(MAX_EXCLUDED_SHOWN)
    return [
        {"name": run_name(row), "because": row["invalid_because"]}
        for row in excluded.to_dict("records")
    ]


def ccas_words(ccas, design):
    """Return the CCAs or mixes as text; of many mixes their number and what they are made of."""
    if design.mixes and len(ccas) > MAX_MIXES_NAMED:
        return f"{len(ccas)}, of {', '.join(design.ccas_that_run)}"
    return ", ".join(ccas)


def facts(tables, design, study, environments):
    """Return the study's outline as pairs of name and value."""
    runs, simulators = tables.runs, [platform for platform in design.platforms if is_simulator(platform)]
    programs = []
    if len(simulators) < len(design.platforms):
        programs.append(("Linux kernel", ", ".join(kernels_of(environments)) or "not recorded"))
    if simulators:
        programs.append(("Simulator", ", ".join(platform_words(platform) for platform in simulators)))
    return [
        ("Valid runs", f"{int(runs['valid'].sum()):,} of {len(runs):,}"),
        ("Scenarios", str(runs["scenario"].nunique())),
        ("Mixes of CCAs" if design.mixes else "CCAs", ccas_words(list(runs["cca"].unique()), design)),
        ("IP versions" if design.ip_versions_compared else "IP version", ", ".join(ip_words(name) for name in runs["ip_version"].unique())),
        ("Replications per cell", number(study["replications"], 0)),
        *programs,
    ]


def absent_sections(contexts, drawn):
    """Return the anchors of the sections that a study has nothing for.

    Parameters
    ----------
    contexts : dict of str to dict or None
        What sections need, None for those that the study doesn't have.
    drawn : dict
        Figures by slug.
    """
    absent = {
        anchor
        for anchor, name in (("ccas", "ccas"), ("ip-version", "ip"), ("theory", "theory"), ("published", "published"))
        if contexts[name] is None
    }
    if not contexts["claims"] and not contexts["mislabelled"] and "methods" not in drawn:
        absent.add("claims")
    if "ideal" not in drawn:  # nor the metrics by cell
        absent |= {"speed", "delay-and-loss"}
    return absent


def page_context(inputs, params):
    """Read everything and return what the template needs.

    Parameters
    ----------
    inputs : mapping of str to path
        The rule's inputs by name.
    params : mapping
        confidence, significance, power, margins, detect, configfile, compare_with, claims_name, claims, paper.
    """
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study, environments = provenance["study"], provenance["environments"]
    outline = study_outline(
        study, params.get("claims_name"), params.get("compare_with"), methods=bool(optional(inputs, "methods_figure"))
    )
    design, tables = outline.design, read_tables(inputs, outline)
    runs, drawn = tables.runs, figures(inputs, outline, study, params)
    shown = {figure.slug for figure in outline.figures}
    metrics = [
        metric_figure(metric, inputs, tables, caption_params(design, study, params))
        for metric in METRICS
        if metric.slug in shown
    ]
    example = repeatable_run(runs, tables.scenarios)
    other = None
    if params.get("compare_with") and tables.other_claims is not None and not design.by_size:
        other = (params["compare_with"], tables.other_claims)
    material = ReportMaterial(tables, drawn, design, study, params, inputs)
    contexts = {
        "ccas": ccas_section(tables, params),
        "ip": ip_versions_section(tables, params),
        "theory": theory_section(tables),
        "published": published_section(tables, params),
        "claims": claims_section(tables, other, params),
        "mislabelled": mislabelled_section(tables, params),
    }
    named = ["runs", "provenance", "scenarios", *outline.tables, *(name for name in OTHER_TABLES if optional(inputs, name))]
    return {
        **contexts,
        "sections": report_sections(
            outline.topics, topic_contexts(outline.topics, material), absent_sections(contexts, drawn)
        ),
        "has": design,
        "study": study,
        "facts": facts(tables, design, study, environments),
        "findings": [
            *topic_findings(outline.topics, material), *findings(tables, design, params["significance"], other)
        ],
        "metrics": {item["slug"]: item for item in metrics},
        "figures": drawn,
        "place": "scenario and IP version" if design.ip_versions_compared else "scenario",
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "confidence_percent": f"{100 * params['confidence']:g}",
        "significance": f"{params['significance']:g}",
        "power_percent": f"{100 * params['power']:g}",
        "method": method_section(tables, design, study, environments, params),
        "scenarios": scenario_rows(tables.scenarios, runs),
        "checks": tables.checks.to_dict("records"),
        "cells_excluded": tables.validity[tables.validity["excluded"] > 0].to_dict("records"),
        "cells": len(tables.validity),
        "excluded": excluded_rows(runs),
        "runs_total": len(runs),
        "runs_valid": int(runs["valid"].sum()),
        "environments": environment_rows(environments),
        "environment_count": len(environments),
        "workflow": provenance["workflow"],
        "example": None if example is None else {
            "name": run_name(example),
            "seed": int(example["seed"]),
            "commands": rerun_commands(
                study["study"], example, params["configfile"], example.get("document_sha256"), params.get("platform")
            ),
        },
        "files": {name: download(optional(inputs, name)) for name in named},
    }


def render_page(context, template_path, style_path, script_path):
    """Return the page.

    Parameters
    ----------
    context : dict
        As `page_context` gives; all text in it is escaped.
    template_path, style_path, script_path : str or path
        Template (others that it includes stand beside it), style sheet and script.

    Returns
    -------
    str
        HTML that loads nothing, and forbids it by its content security policy.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(template_path).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": count, "number": number}
    script = Path(script_path).read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template(Path(template_path).name).render(
        **context,
        light=asdict(LIGHT),
        dark=asdict(DARK),
        style=Markup(Path(style_path).read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
    )


def main(inputs, outputs, params):
    """Read all inputs, write the page."""
    named, given = dict(inputs.items()), dict(params.items())
    page = render_page(
        page_context(named, given), named["template"], named["style"], named["script"]
    )
    Path(outputs.report).write_text(page, encoding="utf-8", newline="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
