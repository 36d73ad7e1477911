"""Assemble ``explore.html``, a page on which readers select scenarios, CCAs, IP versions and measures, and inspect individual runs."""

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
from inference.cell_estimates import cell_estimate
from report_page.repeated_run import capture_command, rerun_commands, runs_foreign_code
from report_page.run_series import series_of
from report_page.topology_drawing import topology_drawing
from rule_script import run_rule
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.resolution import RESOLVED, coarsest, resolutions
from run_tables.run_keys import CELL, RUN
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from study_files.run_platforms import is_repeatable
from wording.number_format import number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name

#: Measures that are included if any run has a value; when the page opens, the first two are the axes.
FIRST = (
    "rtt_mean_ms", "goodput_mbps", "retransmit_percent", "loss_percent", "queueing_mean_ms", "rtt_above_ms", "ideal_percent", "jain_index",
)  # fmt: skip
#: Placeholders for the factors of a run in the page's commands.
PLACES = {key: f"{{{key}}}" for key in RUN}
#: Numeric columns that are neither measures nor settings.
NO_MEASURE = ("seed", "window_begin_ns", "window_end_ns", "steady_begin_ns")
#: Maximum number of values in the page; with many runs, fewer measures are included.
MOST_VALUES = 300_000
#: Number of significant digits of a value in the page; the tables contain all digits.
DIGITS = 7
#: Maximum number of checks in the page; if there are more, none is included.
MOST_CHECKS = 60_000
#: Maximum number of networks that are shown as drawings.
MOST_DRAWINGS = 40


def measures_of(runs: pd.DataFrame) -> list[dict]:
    """Return ``column``, ``unit`` and ``meaning`` of each column of ``tidy/runs.csv`` that a reader can choose.

    The columns in `FIRST` come first. They are followed by numeric columns that vary among the valid runs, until `MOST_VALUES` is reached.
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


def cell_means(runs, measures, confidence) -> list[dict]:
    """Return a dict for each cell that has valid runs.

    ``key`` contains the scenario, CCA and IP version; ``n`` is the number of valid runs. ``values`` maps each measure to a list: the mean,
    the lower and upper ends of the interval, and, if the interval is missing, the reason.
    """
    columns, cells = {column.name: column for column in RUNS}, []
    steps = {one["column"]: resolutions(runs, one["column"]) for one in measures if one["column"] in RESOLVED}
    for key, valid in runs[runs["valid"]].groupby(list(CELL), sort=False):
        values = {}
        for name in (one["column"] for one in measures):
            step = coarsest(steps[name][valid.index]) if name in steps else 0.0
            column = columns[name]
            estimate = cell_estimate(valid[name].astype(float), confidence, column.least, column.most, step)
            ends = [None if one is None else _rounded(one) for one in (estimate.mean, estimate.low, estimate.high)]
            values[name] = [*ends, estimate.note]
        cells.append({"key": list(key), "n": len(valid), "values": values})
    return cells


def check_data(runs, checks) -> dict | None:
    """Return the checks of all runs, or None if there are too many.

    The result has two keys. ``runs`` contains, for each run, a list of checks [name, 1 if passed else 0, expected value, observed value].
    Name and values are indices into ``texts``, the list of distinct texts.
    """
    if len(checks) > MOST_CHECKS:
        return None
    place: dict[str, int] = {}

    def of(text):
        return place.setdefault(_text(text), len(place))

    by_run = {
        key: [[of(row.check), int(row.ok), of(row.expected), of(row.observed)] for row in rows.itertuples()]
        for key, rows in checks.groupby(RUN, sort=False)
    }
    return {"runs": [by_run.get(key, []) for key in runs[RUN].itertuples(index=False, name=None)], "texts": list(place)}


def page_data(
    runs: pd.DataFrame,
    scenarios: pd.DataFrame,
    checks: pd.DataFrame,
    study: str,
    confidence: float,
    series=(),
    foreign_code=False,
) -> dict:
    """Return the data for the page's script: factor levels, measures, runs, cell means, checks and time series.

    ``runs`` contains one list per column; the lists for scenario, CCA and IP version contain indices into the factor levels. The argument
    ``foreign_code`` is `runs_foreign_code` of the study.
    """
    ccas, ip_versions = list(runs["cca"].unique()), list(runs["ip_version"].unique())
    names = list(scenarios["scenario"])
    measures = measures_of(runs)
    counts = checks.groupby(RUN).size() if len(checks) else {}
    keys = runs[RUN].itertuples(index=False, name=None)
    return {
        "study": study,
        "percent": round(100 * confidence, 6),
        "cells": cell_means(runs, measures, confidence),
        "checks": check_data(runs, checks) if len(checks) else None,
        "series": list(series),
        "ccas": [_cca_item(cca) for cca in ccas],
        "flow_ccas": [_cca_item(cca) for cca in dict.fromkeys(line["cca"] for line in series) if cca],
        "scenarios": [{"key": row["scenario"], "name": row["label"], "conditions": row["conditions"], "repeatable": is_repeatable(row["platform"]), "packets": row["platform"] == "uml"} for row in scenarios.to_dict("records")],
        "ip_versions": [{"key": key, "name": ip_words(key)} for key in ip_versions],
        "measures": measures,
        "commands": rerun_commands(study, PLACES, "{sha256}"),
        "packets": capture_command(study, PLACES, foreign_code),
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


def _cca_item(cca):
    """Return the name and the look of a CCA."""
    looks = {"light": cca_colour(cca), "dark": cca_colour(cca, DARK), "marker": cca_marker(cca)}
    return {"key": cca, "name": cca_name(cca)} | looks


def _text(value):
    return "" if pd.isna(value) else str(value)


def _rounded(value):
    return None if pd.isna(value) else float(f"{float(value):.{DIGITS}g}")


def packed(data) -> str:
    """Return data as compressed JSON in base64."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def mean_rows(data) -> list[dict]:
    """Return the rows that the page shows if its script isn't executed: mean goodput and RTT of each cell, with intervals."""
    labels = {one["key"]: one["name"] for one in data["scenarios"]}
    return [
        {
            "scenario": labels[scenario], "cca": cca_name(cca), "ip_version": ip_words(ip_version), "n": cell["n"],
            "goodput": _interval_words(cell, "goodput_mbps"), "rtt": _interval_words(cell, "rtt_mean_ms"),
        }
        for cell in data["cells"]
        for scenario, cca, ip_version in [cell["key"]]
    ]  # fmt: skip


def _interval_words(cell, measure):
    mean, low, high, _ = cell["values"].get(measure, (None,) * 4)
    return number(mean) if low is None else f"{number(mean)} ({number(low)} to {number(high)})"


def render(inputs, params) -> str:
    """Return the page: HTML that loads nothing, with a content security policy that forbids loading."""
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study = provenance["study"] | params["prose"]
    runs, scenarios = read_runs(inputs["runs"]), read_table(inputs["scenarios"], SCENARIOS)
    checks = pd.read_csv(inputs["checks"], keep_default_na=False)
    samples = {name: pd.read_parquet(inputs[name]) for name in ("intervals", "sockets", "queue")}
    script = Path(inputs["script"]).read_text(encoding="utf-8")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(inputs["template"]).parent), autoescape=True,
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    drawn = scenarios.to_dict("records")[:MOST_DRAWINGS]
    lines = series_of(runs, read_flows(inputs["flows"]), **samples)
    foreign_code = runs_foreign_code(provenance["study"])
    data = page_data(runs, scenarios, checks, study["study"], params["confidence"], lines, foreign_code)
    return environment.get_template(Path(inputs["template"]).name).render(
        study=study,
        light=asdict(LIGHT),
        dark=asdict(DARK),
        styles=[Markup(Path(inputs[name]).read_text(encoding="utf-8")) for name in ("style", "own_style")],
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        data=packed(data),
        means=mean_rows(data),
        percent=f"{data['percent']:g}",
        networks=[(row["label"], row["conditions"], topology_drawing(row)) for row in drawn],
        more_networks=len(scenarios) - len(drawn),
    )


def main(inputs, outputs, params) -> None:
    """Read the tables and write the page."""
    html = render(dict(inputs.items()), dict(params.items()))
    Path(outputs.page).write_text(html, encoding="utf-8", newline="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
