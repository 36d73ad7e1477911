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
from run_tables.metrics import METRICS, PUBLISHED_METRICS
from run_tables.tidy_columns import (
    CHECK_COUNTS,
    DESCRIPTIVE,
    SCENARIOS,
    VALIDITY,
    read_runs,
    read_table,
    run_name,
)  # fmt: skip
from scenario_words import ip_words

DEFAULT_CONFIG = "config/config.yaml"
MAX_EXCLUDED_SHOWN = 200
# Figures that stand alone, beside those of the metrics.
FIGURES = ("ideal", "price", "knee", "distributions", "emulation", "methods")
TABLES = {
    "scenarios": SCENARIOS,
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
}
# Those that a study may lack.
OPTIONAL_TABLES = {
    "claims": CLAIMS,
    "mislabelled": MISLABELLED,
    "other_claims": CLAIMS,
    "other_mislabelled": MISLABELLED,
}


def read_tables(inputs):
    """Read every table; those that a study may lack are None if it does."""
    tables = {name: read_table(inputs[name], kinds) for name, kinds in TABLES.items()}
    for name, kinds in OPTIONAL_TABLES.items():
        path = optional(inputs, name)
        tables[name] = read_table(path, kinds) if path else None
    return SimpleNamespace(runs=read_runs(inputs["runs"]), **tables)


def metric_figure(metric, inputs, tables, caption_params):
    """Return what the page shows of one metric."""
    groups, notes = descriptive_groups(tables.descriptive, tables.scenarios, metric)
    return {
        **figure_item(inputs, metric.slug, caption_params),
        "metric": metric,
        "means": mean_tables(tables.descriptive, tables.scenarios, metric),
        "groups": groups,
        "notes": notes,
    }


def figures(inputs, study, params):
    """Return the other figures by slug: those alone, the paper's, and the IP differences.

    Returns
    -------
    dict of str to dict
        As `figure_item` gives; a figure that the study lacks is left out.
    """
    common = caption_params(study, params)
    items = {slug: figure_item(inputs, slug, common) for slug in FIGURES}
    for metric in PUBLISHED_METRICS:
        items[metric.slug] = figure_item(inputs, metric.slug, common)
    for metric in METRICS:
        slug = f"ip-difference-{metric.slug}"
        words = {
            "metric": metric.slug,
            "metric_name": metric.name,
            "margin": params["margins"][metric.column],
            "effect_unit": metric.effect_unit,
        }
        items[slug] = figure_item(inputs, slug, common | words)
    return {slug: item for slug, item in items.items() if item}


def caption_params(study, params):
    """Return what every caption may name."""
    given = {name: params[name] for name in ("confidence", "significance", "power")}
    studies = {"name": study["study"], "other_name": params.get("compare_with")}
    return given | studies | {"replications": study["replications"]}


def rerun_commands(study, run, configfile, sha256):
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
    """
    document = f"results/{study}/runs/{run_name(run)}.json.gz"
    option = "" if configfile == DEFAULT_CONFIG else f" --configfile {shlex.quote(configfile)}"
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


def facts(tables, study, environments):
    """Return the study's outline as pairs of name and value."""
    runs = tables.runs
    kernels = sorted({str(environment.get("kernel")) for environment in environments})
    return [
        ("Valid runs", f"{int(runs['valid'].sum()):,} of {len(runs):,}"),
        ("Scenarios", str(runs["scenario"].nunique())),
        ("CCAs", ", ".join(runs["cca"].unique())),
        ("IP versions", ", ".join(ip_words(name) for name in runs["ip_version"].unique())),
        ("Replications per cell", number(study["replications"], 0)),
        ("Linux kernel", ", ".join(kernels) or "not recorded"),
    ]


def page_context(inputs, params):
    """Read everything and return what the template needs.

    Parameters
    ----------
    inputs : mapping of str to path
        The rule's inputs by name.
    params : mapping
        confidence, significance, power, margins, detect, configfile, compare_with, claims, paper.
    """
    tables = read_tables(inputs)
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study, runs = provenance["study"], tables.runs
    environments = provenance["environments"]
    metrics = [
        metric_figure(metric, inputs, tables, caption_params(study, params)) for metric in METRICS
    ]
    example = runs[runs["valid"]].iloc[0] if runs["valid"].any() else runs.iloc[0]
    other = None
    if params.get("compare_with") and tables.other_claims is not None:
        other = (params["compare_with"], tables.other_claims)
    named = ["runs", "provenance", *TABLES, *(name for name in OPTIONAL_TABLES if optional(inputs, name))]
    return {
        "study": study,
        "facts": facts(tables, study, environments),
        "findings": findings(tables, params["significance"], other),
        "metrics": {item["slug"]: item for item in metrics},
        "figures": figures(inputs, study, params),
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "confidence_percent": f"{100 * params['confidence']:g}",
        "significance": f"{params['significance']:g}",
        "power_percent": f"{100 * params['power']:g}",
        "method": method_section(tables, study, environments, params),
        "ccas": ccas_section(tables, params),
        "ip": ip_versions_section(tables, params),
        "theory": theory_section(tables),
        "published": published_section(tables, params),
        "claims": claims_section(tables, other, params),
        "mislabelled": mislabelled_section(tables, params),
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
        "example": {"name": run_name(example), "seed": int(example["seed"])},
        "commands": rerun_commands(
            study["study"], example, params["configfile"], example.get("document_sha256")
        ),
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
