"""What a study of some design gets: its topics, with their analysis tables and figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from run_tables.table import Table
from run_tables.tidy_tables import TIDY_TABLES
from study_files.study_design import StudyDesign
from study_files.study_replications import replications_words
from topics.registry import TOPICS
from topics.topic import OTHER, Analysis, Figure, Place, Topic


@dataclass(frozen=True)
class StudyOutline:
    """What analysis, figures and report of a study hold.

    Attributes
    ----------
    design : StudyDesign
    topics : tuple of Topic
        Those that apply, in the registry's order.
    tables : tuple of Table
        Their analysis tables.
    figures : tuple of Figure
        Their figures; script and caption as ``<topic>/<name>``.
    analyses : tuple of Analysis
        Their analyses whose rules follow from the declaration; script as ``<topic>/<name>``.
    """

    design: StudyDesign
    topics: tuple[Topic, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    analyses: tuple[Analysis, ...]


def study_outline(design: StudyDesign, topics: Iterable[Topic] = TOPICS) -> StudyOutline:
    """Return the outline of a study.

    Raises
    ------
    ValueError
        If two figures, or two tables, have the same name.
    """
    chosen = tuple(topic for topic in topics if topic.applies(design))
    if sole := [topic for topic in chosen if topic.sole]:
        chosen = tuple(topic for topic in chosen if topic in sole or topic.place is not Place.QUESTION)
    tables = tuple(table for topic in chosen for table in topic.tables_of(design))
    figures = tuple(_placed(figure, topic) for topic in sole or chosen for figure in topic.figures(design))
    for names in ([table.name for table in tables], [figure.slug for figure in figures]):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two parts of the study's outline have the same name: {', '.join(twice)}")
    analyses = tuple(
        replace(analysis, script=f"{topic.name}/{analysis.script}") for topic in chosen for analysis in topic.analyses
    )
    return StudyOutline(design, chosen, tables, figures, analyses)


def _placed(figure: Figure, topic: Topic) -> Figure:
    """Return a figure whose script and caption name their topic's folder, as seen from that of all topics."""
    script, caption = (name if "/" in name else f"{topic.name}/{name}" for name in (figure.script, figure.caption))
    return replace(figure, script=script, caption=caption, category=figure.category or topic.navigation)


def section_modules(outline: StudyOutline) -> tuple[str, ...]:
    """Return the modules of the topics' sections, as `script_code.code_of` wants them: the report imports them by name."""
    names = [f"topics/{topic.name}/topic" for topic in TOPICS]
    return (*names, *(f"topics/{topic.name}/section" for topic in outline.topics if topic.place is not Place.NONE))


def other_tables(study: str | None, results: str = "results") -> frozenset[str]:
    """Return the names of the analysis tables that there are of another study below ``results``; none without one."""
    return frozenset(path.stem for path in Path(results, study, "analysis").glob("*.csv")) if study else frozenset()


def table_paths(names: Iterable[str], design: StudyDesign) -> dict[str, str | list[str]]:
    """Return where tables lie, by name: what a rule of the study has as inputs.

    Parameters
    ----------
    names : iterable of str
        Names of tidy and analysis tables, or ``provenance``; ``other_<name>`` is an analysis table of the study that this one is compared with: a
        list with its path, or an empty one if there is no such table yet.
    """
    tidy = {table.name: table.path for table in TIDY_TABLES} | {"provenance": "tidy/provenance.json"}
    paths: dict[str, str | list[str]] = {}
    for name in names:
        other = name.removeprefix(OTHER)
        if other != name:
            paths[name] = [f"results/{design.other}/analysis/{other}.csv"] if other in design.other_tables else []
        else:
            paths[name] = f"results/{{study}}/{tidy.get(name, f'analysis/{name}.csv')}"
    return paths


def analysis_params(analysis: Analysis, design: StudyDesign, settings: Mapping) -> dict:
    """Return the parameters of an analysis's script: the settings that it reads, and its own.

    Parameters
    ----------
    settings : mapping
        confidence, significance and power of the analysis.
    """
    return {name: settings[name] for name in analysis.settings} | analysis.params(design)


def figure_params(figure: Figure, design: StudyDesign, settings: Mapping) -> dict:
    """Return the parameters of a figure's rule: its script's, and what its caption may name.

    Parameters
    ----------
    settings : mapping
        confidence and significance of the analysis.
    """
    return {
        "confidence": settings["confidence"],
        "significance": settings["significance"],
        "replications": replications_words(design.study),
        "by": design.cell_words,
        "cca_word": design.cca_word,
        "both_ip_versions": design.ip_versions_compared,
        **figure.params,
    }
