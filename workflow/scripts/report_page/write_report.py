"""Assemble the report: a short page and a page with all details, as self-contained HTML files."""

import base64
import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import jinja2
from markupsafe import Markup

from figure_parts.figure_style import DARK, LIGHT
from report_page.conditions import environment_rows, folded_conditions, scenario_rows
from report_page.exclusion_words import excluded_words
from report_page.first_picture import first_picture
from report_page.method import method_section
from report_page.metric_definitions import with_sources
from report_page.page_links import linked
from report_page.page_sections import (
    details_sections,
    opening_findings,
    section_context,
    section_findings,
    short_figures,
    short_sections,
)
from report_page.references import references, with_rfc_links
from report_page.repeated_run import capture_command, has_captures, repeatable_run, rerun_commands, runs_foreign_code
from report_page.study_facts import as_run, facts_of_design, kernels_of, program_rows, replications_taken
from report_parts.inline_figures import once_more
from report_parts.material import ReportMaterial
from report_parts.page_files import download, figure_item, optional
from rule_script import run_rule
from run_tables.exclusions import not_run, whole_places
from run_tables.metrics import METRICS
from run_tables.reading import read_runs, read_table, run_name
from run_tables.run_keys import CELL
from run_tables.scenario_table import SCENARIOS
from run_tables.table import OTHER
from study_files.study_design import StudyDesign, is_simulator
from study_files.study_features import features_of
from topics import registry
from topics.cells.page_tables import descriptive_groups, mean_tables
from topics.outline import study_outline
from topics.repetitions.sentences import not_reproducible_words
from wording.number_format import count, number
from wording.scenario_words import ip_words, platform_words

MAX_MIXES_NAMED = 6
#: Maximum numbers of items on the short page.
SHORT_LIMITS = {"MOST_EXCLUDED": 6, "MOST_SCENARIOS": 16}
#: Spaces between a number and its unit, and inside "p < 0.05".
UNIT_SPACE = re.compile(r" (?=%|ms\b)|(?<=\bp) (?=[<=])|(?<=\bp [<=]) ")
#: Folder of the topics, which contain their templates.
TOPICS_FOLDER = Path(registry.__file__).parent


def _read_tables(inputs, outline) -> SimpleNamespace:
    """Read all tables of a study, and the required tables of the study that it is compared with; a table that doesn't exist is None."""
    tables = {table.name: None for topic in registry.TOPICS for table in topic.tables}
    tables |= {table.name: read_table(inputs[table.name], table) for table in outline.tables}
    for table in (table for topic in registry.TOPICS for table in topic.other_tables):
        path = optional(inputs, f"{OTHER}{table.name}")
        tables[f"{OTHER}{table.name}"] = read_table(path, table) if path else None
    return SimpleNamespace(
        runs=read_runs(inputs["runs"]), scenarios=read_table(inputs["scenarios"], SCENARIOS), **tables
    )


def _metric_items(tables, figures, design) -> dict[str, dict]:
    """Return the page's items for the metrics: slug -> the figure, the definition, the means, and the statistics of the cells."""
    items = {}
    for metric in METRICS:
        if metric.slug in figures:
            groups, notes = descriptive_groups(tables.descriptive, tables.scenarios, metric)
            items[metric.slug] = {
                **figures[metric.slug],
                "metric": with_sources(metric, tables.scenarios, facts_of_design(design)),
                "means": mean_tables(tables.descriptive, tables.scenarios, metric),
                "groups": groups,
                "notes": notes,
            }
    return items


def _ccas_words(ccas, design) -> str:
    """Return the CCAs or mixes as text; if there are many mixes, return the number of mixes and the CCAs that they contain."""
    if design.mixes and len(ccas) > MAX_MIXES_NAMED:
        return f"{len(ccas)}, of {', '.join(design.ccas_that_run)}"
    return ", ".join(ccas)


def partial_words(runs) -> str:
    """State how many runs of an incomplete study were executed, and what this means for comparisons; "" if all runs were executed."""
    absent = not_run(runs)
    if not absent.any():
        return ""
    cells = absent.groupby([runs[name] for name in CELL], sort=False)
    whole, none = int((~cells.any()).sum()), int(cells.all().sum())
    ranked, places = len(whole_places(runs)), len(runs[["scenario", "ip_version"]].drop_duplicates())
    place = "scenarios" if runs["ip_version"].nunique() == 1 else "combinations of scenario and IP version"
    cells_words = (
        f"{whole:,} of {count(cells.ngroups, 'cell')} {'has all its runs' if whole == 1 else 'have all their runs'}"
    )
    cells_words += f", {none:,} {'has' if none == 1 else 'have'} none" if none else ""
    return (
        f"{int((~absent).sum()):,} of {count(len(runs), 'run')} were carried out; {cells_words}. The missing runs have not "
        f"failed, but they are not missing at random, because runs are executed in a certain order. {f'CCAs are ranked in the {ranked:,} of {places:,} {place} that have all their runs.' if ranked else 'CCAs are not ranked, because no scenario has all runs.'} Two CCAs are compared over the replications that both have, so the means in a comparison can differ from the means over all runs."
    )


def _facts(tables, design, study, environments) -> list[tuple[str, str]]:
    """Return the main facts about the study as pairs of name and value."""
    runs, simulators = tables.runs, [platform for platform in design.platforms if is_simulator(platform)]
    programs = []
    if len(simulators) < len(design.platforms):
        programs.append(("Linux kernel", ", ".join(kernels_of(environments)) or "not recorded"))
    if simulators:
        programs.append(("Simulator", ", ".join(platform_words(platform) for platform in simulators)))
    return [
        ("Valid runs", f"{int(runs['valid'].sum()):,} of {len(runs):,}"),
        ("Scenarios", str(runs["scenario"].nunique())),
        ("Mixes of CCAs" if design.mixes else "CCAs", _ccas_words(list(runs["cca"].unique()), design)),
        (
            "IP versions" if len(design.ip_versions) > 1 else "IP version",
            ", ".join(ip_words(name) for name in runs["ip_version"].unique()),
        ),
        ("Replications per cell", str(replications_taken(runs))),
        *programs,
    ]


def page_context(inputs, params) -> dict:
    """Read all inputs and return the template variables; ``inputs`` and ``params`` are the rule's mappings."""
    provenance = json.loads(Path(inputs["provenance"]).read_text(encoding="utf-8"))
    study, environments = provenance["study"] | params["prose"], provenance["environments"]
    design = StudyDesign(study | {"analysis": params["analysis"]}, frozenset(params["other_tables"]))
    outline = study_outline(design, registry.TOPICS)
    tables = _read_tables(inputs, outline)
    figures = {figure.slug: figure_item(inputs, figure) for figure in outline.figures}
    material = ReportMaterial(tables, figures, design, study, params)
    contexts = {topic.name: section_context(topic, material) for topic in outline.topics}
    findings = {topic.name: section_findings(topic, material) for topic in outline.topics}
    opening_of = opening_findings(outline, findings)
    picture = first_picture(outline, figures, tables, opening_of)
    opening = picture.get("figure") if picture else None
    shown = {topic.name: short_figures(topic, design, figures, opening) for topic in outline.topics}
    conditions = scenario_rows(tables.scenarios, tables.runs)
    runs, example = tables.runs, repeatable_run(tables.runs, tables.scenarios)
    named = ["runs", "provenance", "scenarios", *(table.name for table in outline.tables)]
    named += [name for name in vars(tables) if name.startswith(OTHER) and optional(inputs, name)]
    return {
        "sections": {
            "report": short_sections(outline.topics, contexts, findings, shown),
            "details": details_sections(outline.topics, contexts, findings),
        },
        "topics": contexts.keys(),
        "has": design,
        **features_of(design.scenarios),
        "study": study,
        "partial": partial_words(runs),
        "facts": _facts(tables, design, study, environments),
        "excluded": excluded_words(runs, tables.checks, tables.scenarios, (study.get("exam") or {}).get("cca")),
        "not_reproducible": not_reproducible_words(
            [] if tables.repetitions is None else tables.repetitions.to_dict("records")
        ),
        "findings": opening_of,
        "validity": contexts["validity"] | {"findings": findings["validity"]},
        "metrics": _metric_items(tables, figures, design),
        "figures": figures,
        "place": "scenario and IP version" if design.ip_versions_compared else "scenario",
        "ip_versions": [ip_words(name) for name in runs["ip_version"].unique()],
        "confidence_percent": f"{100 * params['confidence']:g}",
        "significance": f"{params['significance']:g}",
        "power_percent": f"{100 * params['power']:g}",
        "method": method_section(material, environments),
        "picture": picture,
        "scenarios": conditions,
        "conditions": folded_conditions(conditions),
        "references": references(design),
        "environments": environment_rows(environments),
        "environment_count": len(environments),
        "programs": program_rows(as_run(design)),
        "workflow": provenance["workflow"],
        "example": None
        if example is None
        else {
            "name": run_name(example),
            "seed": int(example["seed"]),
            "commands": rerun_commands(study["study"], example, example.get("document_sha256")),
            "packets": capture_command(study["study"], example, runs_foreign_code(design.study))
            if has_captures(example, tables.scenarios)
            else None,
        },
        "files": {name: download(optional(inputs, name)) for name in named},
    }


def _environment(template_path, **names) -> jinja2.Environment:
    """Return the template environment, which escapes all text; ``names`` are defined in every template.

    A template can include other templates from its own folder and from the topics' folders.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(template_path).parent, TOPICS_FOLDER]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"count": count, "number": number, "again": once_more, "held": held_together}
    environment.globals |= names
    return environment


def render_pages(context, inputs, names) -> dict[str, str]:
    """Return the pages, ``report`` and ``details``: HTML that loads nothing, with a content security policy that forbids loading.

    Parameters
    ----------
    context : dict
        The variables for the templates (from `page_context`).
    inputs : mapping
        Paths of the rule's ``template``, ``style`` and ``script``.
    names : dict
        Page -> name of its file.
    """
    script = Path(inputs["script"]).read_text(encoding="utf-8")
    files = {f"{page}_file": name for page, name in names.items()}
    template = _environment(inputs["template"], **files, **SHORT_LIMITS).get_template(Path(inputs["template"]).name)
    frame = {
        "light": asdict(LIGHT),
        "dark": asdict(DARK),
        "style": Markup(Path(inputs["style"]).read_text(encoding="utf-8")),
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
    }
    pages = {
        page: template.render(
            **context | {"sections": sections}, **frame, short=page == "report", first=sections[0].anchor
        )
        for page, sections in context["sections"].items()
    }
    report, details = (with_rfc_links(pages[page]) for page in ("report", "details"))
    return {"report": linked(report, details, names["details"]), "details": linked(details, report, names["report"])}


def findings_text(study: str, findings) -> str:
    """Return the text of ``findings.json``: the sentences that open the report, in order, each with the data behind it."""
    rows = [
        {
            "topic": one.topic,
            "sentence": one.text,
            "section": one.section,
            "scenarios": list(one.scenarios),
            "comparisons": one.data,
        }
        for one in findings
    ]
    return json.dumps({"study": study, "findings": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def held_together(text: str) -> str:
    """Return a sentence in which no line break can separate a number from its unit."""
    return UNIT_SPACE.sub("\N{NO-BREAK SPACE}", text)


def main(inputs, outputs, params) -> None:
    """Read all inputs, and write both pages and the findings."""
    paths, files = dict(inputs.items()), {page: Path(path) for page, path in outputs.items()}
    context = page_context(paths, dict(params.items()))
    text = findings_text(context["study"]["study"], context["findings"])
    files.pop("findings").write_text(text, encoding="utf-8", newline="\n")
    for page, html in render_pages(context, paths, {page: path.name for page, path in files.items()}).items():
        files[page].write_text(html, encoding="utf-8", newline="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
