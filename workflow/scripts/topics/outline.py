"""The outline of a study: the topics that apply to the study's design, with their analysis tables and figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from run_tables.table import OTHER, Table
from run_tables.tidy_tables import TIDY_TABLES
from study_files.study_design import StudyDesign
from study_files.study_features import features_of
from study_files.study_replications import most_replications
from topics.registry import TOPICS
from topics.topic import Analysis, Place, Plot, Topic

#: In a study with at most this number of runs, one job runs all analyses and one job draws all figures, because starting a process
#: takes longer than a script's work. In larger studies, jobs run in parallel, and a change repeats only the affected jobs.
MOST_RUNS_TOGETHER = 500
#: Minimum number of runs of a cell for an interval of the mean, as `inference.mean_interval.LEAST_RUNS`; captions of studies with fewer
#: replications mention no intervals. That module isn't imported here, because the Snakefile imports this one.
RUNS_OF_AN_INTERVAL = 6
#: Kind of file that a figure consists of -> suffix of the file's name.
FIGURE_SUFFIXES = {"figure": ".svg", "data": ".csv", "caption": ".rst"}


@dataclass(frozen=True)
class StudyOutline:
    """The contents of a study's analysis, figures and report."""

    design: StudyDesign
    topics: tuple[Topic, ...]  # the topics that apply to the study, in the registry's order
    tables: tuple[Table, ...]  # the topics' analysis tables
    figures: tuple[Plot, ...]  # the topics' figures; script and caption have the form ``<topic>/<name>``
    # The topics' analyses whose rules follow from their declaration; the script has the form ``<topic>/<name>``.
    analyses: tuple[Analysis, ...]

    @property
    def leading(self) -> list[Topic]:
        """Topics whose findings come first in the report; none if the study defines CCAs, because comparisons of these CCAs come first."""
        return [topic for topic in self.topics if topic.leads(self.design) and not self.design.own_ccas]

    @property
    def problems(self) -> list[str]:
        """Sentences about requests that the study's topics can't fulfil."""
        return [sentence for topic in self.topics for sentence in topic.problems(self.design)]


def study_outline(design: StudyDesign, topics: Iterable[Topic] = TOPICS) -> StudyOutline:
    """Return the outline of a study; raise `ValueError` if two figures, or two tables, have the same name."""
    chosen = tuple(topic for topic in topics if topic.applies(design))
    if sole := [topic for topic in chosen if topic.sole]:
        chosen = tuple(topic for topic in chosen if topic in sole or topic.place is not Place.QUESTION)
    tables = tuple(table for topic in chosen for table in topic.tables_of(design))
    figures = tuple(_placed(figure, topic) for topic in sole or chosen for figure in topic.figures_of(design))
    for names in ([table.name for table in tables], [figure.slug for figure in figures]):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two parts of the study's outline have the same name: {', '.join(twice)}")
    analyses = tuple(
        replace(analysis, script=f"{topic.name}/{analysis.script}")
        for topic in chosen
        for analysis in topic.analyses
        if set(analysis.tables) <= set(topic.tables_of(design))
    )
    return StudyOutline(design, chosen, tables, figures, analyses)


def _placed(figure: Plot, topic: Topic) -> Plot:
    """Return a figure with a category, and with script and caption paths that are relative to the folder of all topics."""
    script, caption = (name if "/" in name else f"{topic.name}/{name}" for name in (figure.script, figure.caption))
    return replace(figure, script=script, caption=caption, category=figure.category or topic.navigation)


def section_modules(outline: StudyOutline) -> tuple[str, ...]:
    """Return the names of the topic and section modules that the report imports by name.

    These are the modules of all topics, and the section modules of the study's topics. The names have the form that
    `script_code.code_of` needs.
    """
    names = [f"topics/{topic.name}/topic" for topic in TOPICS]
    with_module = (
        topic.name for topic in outline.topics if Path(__file__).with_name(topic.name).joinpath("section.py").exists()
    )
    return (*names, *(f"topics/{name}/section" for name in with_module))


def other_tables(study: str | None, results: str = "results") -> frozenset[str]:
    """Return the names of the analysis tables that a study already has in the folder ``results``; an empty set if ``study`` is None."""
    return frozenset(path.stem for path in Path(results, study, "analysis").glob("*.csv")) if study else frozenset()


def table_paths(names: Iterable[str], design: StudyDesign) -> dict[str, str | list[str]]:
    """Return a mapping from table names to paths, for use as the inputs of a rule.

    ``names`` are names of tidy and analysis tables, or ``provenance``. The name ``other_<name>`` refers to an analysis table of the study
    with which this one is compared; its value is a list with the table's path, or an empty list if the table doesn't exist yet.
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


def together(parts: Sequence[Analysis] | Sequence[Plot], name: str, runs: int) -> dict[str, tuple]:
    """Group parts into jobs: one job for all parts in a small study, otherwise one job per part.

    Returns a dict that maps the rule name of each job to the parts that the job runs.

    Parameters
    ----------
    parts : sequence of Analysis or Plot
        Parts in an order in which they can be run.
    name : str
        Name of the job for all parts.
    runs : int
        Maximum number of runs in the study.
    """
    if runs <= MOST_RUNS_TOGETHER and parts:
        return {name: tuple(parts)}
    return {part.rule: (part,) for part in parts}


def analysis_rule(analyses: Sequence[Analysis], design: StudyDesign, settings: Mapping) -> dict:
    """Return the inputs, outputs and calls of a rule that runs analyses.

    A table that one of these analyses produces isn't an input of the rule, even if another of these analyses reads the table.
    """
    calls = [
        {
            "script": analysis.script,
            "inputs": _same_names(analysis.inputs_of(design)),
            "outputs": _same_names(table.name for table in analysis.tables),
            "params": _unlike(analysis.inputs_of(design), analysis_params(analysis, design, settings), analysis.script),
            "kinds": _kinds_of(analysis.inputs_of(design)),
            "columns": {table.name: table.names for table in analysis.tables},
            "digits": {table.name: table.digits for table in analysis.tables if table.digits},
        }
        for analysis in analyses
    ]
    made = {table.name: f"results/{{study}}/{table.path}" for analysis in analyses for table in analysis.tables}
    needed = table_paths((name for call in calls for name in call["inputs"]), design)
    return {
        "input": {name: path for name, path in needed.items() if path != made.get(name)},
        "output": made,
        "calls": calls,
    }


def figure_rule(figures: Sequence[Plot], design: StudyDesign, settings: Mapping, own: Callable[[str], str]) -> dict:
    """Return the inputs, outputs and calls of a rule that draws figures.

    ``own`` is a function that returns the path of a file in the checkout.
    """
    calls, captions, output = [], {}, {}
    for figure in figures:
        files = {kind: f"{figure.name}_{kind}" for kind in FIGURE_SUFFIXES}
        template = {} if figure.caption_text else {f"{figure.name}_template": own(figure.caption_path)}
        captions |= template
        output |= {files[kind]: f"results/{{study}}/figures/{figure.slug}{FIGURE_SUFFIXES[kind]}" for kind in files}
        calls.append(
            {
                "script": figure.script,
                "inputs": _same_names(figure.inputs) | {"caption": name for name in template},
                "caption": figure.caption_text,
                "outputs": files,
                "params": _unlike(figure.inputs, figure_params(figure, design, settings), figure.script),
                "kinds": _kinds_of(figure.inputs),
            }
        )
    return {
        "input": captions | table_paths((name for figure in figures for name in figure.inputs), design),
        "output": output,
        "calls": calls,
    }


def _kinds_of(names):
    """Return the column kinds of each analysis table among a script's inputs: table -> column -> kind."""
    tables = {table.name: table for topic in TOPICS for table in topic.tables}
    known = [tables[name] for name in (name.removeprefix(OTHER) for name in names) if name in tables]
    return {table.name: {column.name: column.kind for column in table} for table in known}


def _same_names(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _unlike(inputs, params, script):
    """Return the parameters of a script; raise `ValueError` if one is also the name of an input, because the script gets both by name."""
    if both := [name for name in inputs if name in params]:
        raise ValueError(f"{script} has an input and a parameter with the same name: {', '.join(both)}")
    return params


def analysis_params(analysis: Analysis, design: StudyDesign, settings: Mapping) -> dict:
    """Return the parameters of an analysis script: the settings that it reads, and the parameters that the analysis declares.

    ``settings`` are the study's confidence, significance and power.
    """
    return {name: settings[name] for name in analysis.settings} | analysis.params(design)


def figure_params(figure: Plot, design: StudyDesign, settings: Mapping) -> dict:
    """Return the parameters of a figure's rule, which are passed to the script and the caption.

    ``settings`` are the study's confidence and significance. The parameter ``has_intervals`` is true if a cell can have enough runs for an
    interval of the mean.
    """
    most = most_replications(design.study)
    return {
        "confidence": settings["confidence"],
        "significance": settings["significance"],
        "replications": most,
        "has_intervals": most >= RUNS_OF_AN_INTERVAL,
        "by": design.cell_words,
        "cca_word": design.cca_word,
        "both_ip_versions": design.ip_versions_compared,
        **features_of(design.scenarios),
        **figure.params,
    }
