"""Assemble ``explore.html``: a page on which a reader chooses scenario, CCA, IP version and measures, and looks at single runs."""

import base64
import gzip
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import jinja2
import pandas as pd
from markupsafe import Markup

from figure_parts.figure_style import DARK, LIGHT, cca_colour, cca_marker
from report_page.repeated_run import rerun_commands
from report_page.topology_drawing import topology_drawing
from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from study_files.run_platforms import is_repeatable
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

#: Measures that are always there if a run has them; the first two are the axes at first.
FIRST = (
    "rtt_mean_ms", "goodput_mbps", "retransmit_percent", "loss_percent", "queueing_mean_ms", "rtt_above_ms", "ideal_percent", "jain_index",
)  # fmt: skip
#: Columns of numbers that measure nothing and set nothing.
NO_MEASURE = ("seed", "window_begin_ns", "window_end_ns", "steady_begin_ns")
#: So many values are in the page at most: of many runs there are fewer measures.
MOST_VALUES = 300_000
#: Significant digits of a value in the page; the tables have all.
DIGITS = 7
#: So many networks are drawn.
MOST_DRAWINGS = 40


def measures_of(runs: pd.DataFrame) -> list[dict]:
    """Return the columns of ``tidy/runs.csv`` that can be asked for, those of `FIRST` first: column, words, unit, meaning.

    These are all numbers that are not the same in all valid runs, as far as the page can hold them.
    """
    valid = runs[runs["valid"]] if runs["valid"].any() else runs
    numbers = [column for column in RUNS if column.kind in ("number", "count") and column.name not in NO_MEASURE]
    asked = [column for column in numbers if column.name in FIRST or valid[column.name].nunique() > 1]
    asked = [column for column in asked if valid[column.name].notna().any()]
    asked.sort(key=lambda column: FIRST.index(column.name) if column.name in FIRST else len(FIRST))
    most = max(len(FIRST), MOST_VALUES // max(len(runs), 1))
    return [
        {"column": column.name, "unit": column.unit, "meaning": column.meaning.replace("`", "")}
        for column in asked[:most]
    ]


def page_data(runs: pd.DataFrame, scenarios: pd.DataFrame, checks: pd.DataFrame, study: str) -> dict:
    """Return the data of the page's script: levels, measures, and the runs as columns (places in the levels, or values)."""
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    names = list(scenarios["scenario"])
    measures = measures_of(runs)
    counts = checks.groupby(["scenario", "cca", "ip_version", "replication"]).size() if len(checks) else {}
    keys = runs[["scenario", "cca", "ip_version", "replication"]].itertuples(index=False, name=None)
    return {
        "study": study,
        "ccas": [{"key": cca, "name": cca_name(cca), "light": cca_colour(cca), "dark": cca_colour(cca, DARK), "marker": cca_marker(cca)} for cca in ccas],
        "scenarios": [{"key": row["scenario"], "name": row["label"], "conditions": row["conditions"], "repeatable": is_repeatable(row["platform"])} for row in scenarios.to_dict("records")],
        "ip_versions": [{"key": key, "name": ip_words(key)} for key in ip_versions],
        "measures": measures,
        "commands": rerun_commands(study, {"scenario": "{scenario}", "cca": "{cca}", "ip_version": "{ip_version}", "replication": "{replication}"}, "{sha256}"),
        "runs": {
            "scenario": [names.index(name) for name in runs["scenario"]],
            "cca": [ccas.index(name) for name in runs["cca"]],
            "ip_version": [ip_versions.index(name) for name in runs["ip_version"]],
            "replication": [int(value) for value in runs["replication"]],
            "seed": [str(int(value)) for value in runs["seed"]],
            "valid": [int(value) for value in runs["valid"]],
            "why": [_text(value) for value in runs["invalid_because"]],
            "sha256": [_text(value) for value in runs["document_sha256"]],
            "checks": [int(counts.get(key, 0)) for key in keys],
            "values": {one["column"]: [_rounded(value) for value in runs[one["column"]]] for one in measures},
        },
    }  # fmt: skip


def _text(value):
    return "" if pd.isna(value) else str(value)


def _rounded(value):
    return None if pd.isna(value) else float(f"{float(value):.{DIGITS}g}")


def packed(data) -> str:
    """Return data as compressed JSON in base64."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def mean_rows(runs: pd.DataFrame, scenarios: pd.DataFrame) -> list[dict]:
    """Return the means of goodput and RTT of each scenario and CCA: what the page shows without its script."""
    labels = dict(zip(scenarios["scenario"], scenarios["label"], strict=True))
    return [
        {
            "scenario": labels[scenario], "cca": cca_name(cca), "n": len(rows),
            "goodput": number(rows["goodput_mbps"].astype(float).mean()), "rtt": number(rows["rtt_mean_ms"].astype(float).mean()),
        }
        for (scenario, cca), rows in runs[runs["valid"]].groupby(["scenario", "cca"], sort=False)
    ]  # fmt: skip


def render(inputs, params) -> str:
    """Return the page: HTML that loads nothing, and forbids it by its content security policy."""
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study = provenance["study"] | params["prose"]
    runs, scenarios = read_runs(inputs["runs"]), read_table(inputs["scenarios"], SCENARIOS)
    checks = pd.read_csv(inputs["checks"], usecols=["scenario", "cca", "ip_version", "replication"])
    script = Path(inputs["script"]).read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(inputs["template"]).parent), autoescape=True,
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    drawn = scenarios.to_dict("records")[:MOST_DRAWINGS]
    return environment.get_template(Path(inputs["template"]).name).render(
        study=study,
        light=asdict(LIGHT),
        dark=asdict(DARK),
        styles=[Markup(Path(inputs[name]).read_text(encoding="utf-8")) for name in ("style", "own_style")],
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        data=packed(page_data(runs, scenarios, checks, study["study"])),
        means=mean_rows(runs, scenarios),
        networks=[(row["label"], row["conditions"], topology_drawing(row)) for row in drawn],
        more_networks=len(scenarios) - len(drawn),
    )


def main(inputs, outputs, params) -> None:
    """Read the tables, write the page."""
    html = render(dict(inputs.items()), dict(params.items()))
    Path(outputs.page).write_text(html, encoding="utf-8", newline="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
