"""Assemble the report: one HTML file that needs nothing else."""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "pandas", "matplotlib", "jinja2")

import base64
import gzip
import hashlib
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import jinja2
from figure_style import DARK, LIGHT
from findings import findings
from markupsafe import Markup
from metrics import METRICS
from number_format import count, number
from report_figures import inline_panels
from report_tables import descriptive_groups, environment_rows, mean_tables, scenario_rows
from scenario_words import ip_words
from tidy_columns import (
    CHECK_COUNTS, DESCRIPTIVE, SCENARIOS, VALIDITY, read_runs, read_table, run_name
)  # fmt: skip

DEFAULT_CONFIG = "config/config.yaml"
MAX_EXCLUDED_SHOWN = 200
MEDIA_TYPES = {".csv": "text/csv", ".svg": "image/svg+xml", ".json": "application/json"}


def download(path):
    """Return a file as the page carries it: the very bytes, compressed, and how to call them."""
    path = Path(path)
    packed = gzip.compress(path.read_bytes(), 9, mtime=0)
    return {
        "name": path.name,
        "type": MEDIA_TYPES[path.suffix],
        "gzip": base64.b64encode(packed).decode("ascii"),
    }


def render_caption(path, params):
    """Return a figure's caption, filled in as ``snakemake --report`` does it.

    Parameters
    ----------
    path : str or path
        Plain prose with jinja, no markup.
    params : mapping
        What stands in it as ``snakemake.params.<name>``.
    """
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        Path(path).read_text(encoding="utf-8")
    )
    text = template.render(snakemake=SimpleNamespace(params=SimpleNamespace(**params)))
    return " ".join(text.split())


def figure_context(metric, inputs, tables, captions):
    """Return what the page shows of one metric."""
    groups, notes = descriptive_groups(tables.descriptive, tables.scenarios, metric)
    panels, columns = inline_panels(inputs[f"{metric.slug}_figure"], metric.slug)
    return {
        "metric": metric,
        "caption": captions[metric.slug],
        "panels": [Markup(panel) for panel in panels],
        "columns": columns,
        "svg": download(inputs[f"{metric.slug}_figure"]),
        "csv": download(inputs[f"{metric.slug}_data"]),
        "means": mean_tables(tables.descriptive, tables.scenarios, metric),
        "groups": groups,
        "notes": notes,
    }


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
        confidence, captions (dict of slug to path) and configfile.
    """
    tables = SimpleNamespace(
        runs=read_runs(inputs["runs"]),
        scenarios=read_table(inputs["scenarios"], SCENARIOS),
        descriptive=read_table(inputs["descriptive"], DESCRIPTIVE),
        validity=read_table(inputs["validity"], VALIDITY),
        checks=read_table(inputs["checks"], CHECK_COUNTS),
    )
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study, runs = provenance["study"], tables.runs
    caption_params = {"replications": study["replications"], "confidence": params["confidence"]}
    captions = {
        metric.slug: render_caption(inputs[f"{metric.slug}_caption"], caption_params)
        for metric in METRICS
    }
    example = runs[runs["valid"]].iloc[0] if runs["valid"].any() else runs.iloc[0]
    return {
        "study": study,
        "facts": facts(tables, study, provenance["environments"]),
        "findings": findings(runs, tables.descriptive, tables.checks),
        "figures": [figure_context(metric, inputs, tables, captions) for metric in METRICS],
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "confidence_percent": f"{100 * params['confidence']:g}",
        "scenarios": scenario_rows(tables.scenarios, runs),
        "checks": tables.checks.to_dict("records"),
        "cells_excluded": tables.validity[tables.validity["excluded"] > 0].to_dict("records"),
        "cells": len(tables.validity),
        "excluded": excluded_rows(runs),
        "runs_total": len(runs),
        "runs_valid": int(runs["valid"].sum()),
        "environments": environment_rows(provenance["environments"]),
        "environment_count": len(provenance["environments"]),
        "workflow": provenance["workflow"],
        "example": {"name": run_name(example), "seed": int(example["seed"])},
        "commands": rerun_commands(
            study["study"], example, params["configfile"], example.get("document_sha256")
        ),
        "files": {
            "runs": download(inputs["runs"]),
            "descriptive": download(inputs["descriptive"]),
            "validity": download(inputs["validity"]),
            "checks": download(inputs["checks"]),
            "scenarios": download(inputs["scenarios"]),
            "provenance": download(inputs["provenance"]),
        },
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
