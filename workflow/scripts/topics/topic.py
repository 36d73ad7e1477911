"""A topic: one question of a study, with everything that belongs to it in one folder.

``topics/<name>/`` holds

- ``topic.py``: the declaration `TOPIC`, which states to which studies the topic applies, its analyses and their tables, its figures,
  and its position in the report. The rules of analyses and figures follow from the declaration (``workflow/rules/analyses.smk``,
  ``figures.smk``);
- ``rules.smk``, only if an analysis reads or writes anything besides tables of this topic: run documents, records, another topic's tables;
- the scripts of these rules, and the modules that they import;
- ``section.html.j2``: the topic's section of the report, if there is one, and ``section.py``: the section's page tables (`TABLES`),
  other variables of the template (`section`), and findings;
- ``captions/<name>.rst``: the captions of the figures.

``topics/registry.py`` finds each topic by its folder. If an argument of a script is named after a tidy table (``runs``, ``scenarios``),
the script receives this table. The argument ``params`` contains the settings and parameters that the analysis declares.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from run_tables.table import Table
from study_files.study_design import StudyDesign

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: Folder of the topics, relative to the repository's root.
FOLDER = "workflow/scripts/topics"


def slug_of(name: str) -> str:
    """Convert a name to the form that it has in a figure slug: "reno+cubic" becomes "reno-cubic"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@dataclass(frozen=True)
class Analysis:
    """An analysis: one script that computes analysis tables from other tables."""

    script: str  # name of the script in the topic's folder, without ``.py``; also the name of the rule and of the log
    # Names of the tables that the script reads: tidy or analysis tables, ``provenance``, or ``other_<name>`` as for a `Plot`;
    # or a function of the `StudyDesign` that returns them.
    inputs: tuple[str, ...] | Callable[[StudyDesign], tuple[str, ...]]
    tables: tuple[Table, ...]  # tables that the script writes
    # Names of the common settings (confidence, significance, power) that the script reads.
    settings: tuple[str, ...] = ()
    # Function that returns the script's other parameters for a `StudyDesign`: name -> value.
    params: Callable[[StudyDesign], dict] = lambda design: {}

    @property
    def rule(self) -> str:
        """Name of the rule that runs the analysis, and of the rule's log."""
        return self.script.rpartition("/")[2]

    def inputs_of(self, design: StudyDesign) -> tuple[str, ...]:
        """Return the names of the tables that the script reads in a study."""
        return self.inputs(design) if callable(self.inputs) else self.inputs


@dataclass(frozen=True)
class Plot:
    """A figure: `figures/<slug>.svg`, with its data in `figures/<slug>.csv` and its caption in `figures/<slug>.rst`."""

    slug: str  # lower-case letters, digits and single hyphens (a mix is written `reno-cubic`)
    script: str  # name of the script in the topic's folder, without ``.py``; or ``<topic>/<script>`` for a script in another topic's folder
    # Names of the tidy or analysis tables that the script reads. ``other_<name>`` is a table of the study with which this one
    # is compared; the script receives a list with its path, which is empty if the table doesn't exist.
    inputs: tuple[str, ...]
    title: str  # name of the figure in `snakemake --report`
    shows: str  # description of the figure's marks in `snakemake --report`
    # Parameters that this figure passes to the script and the caption, in addition to the parameters of all figures
    # (`outline.figure_params`).
    params: dict = field(default_factory=dict, compare=False)
    # Name of the caption file in the topic's folder ``captions``, without ``.rst`` (or ``<topic>/<caption>``); by default the slug.
    caption: str = ""
    category: str = ""  # category of the figure in `snakemake --report`; by default the topic's ``navigation``
    caption_text: str = ""  # the caption itself, if it is short enough to do without a file

    def __post_init__(self):
        if not SLUG.fullmatch(self.slug):
            raise ValueError(f"a figure's slug is '{self.slug}'; allowed: words of a-z and 0-9 joined by hyphens")
        object.__setattr__(self, "caption", self.caption or self.slug)

    @property
    def name(self) -> str:
        """The slug with underscores instead of hyphens, for the names of rules and inputs."""
        return self.slug.replace("-", "_")

    @property
    def rule(self) -> str:
        """Name of the rule that draws the figure, and of the rule's log."""
        return f"plot_{self.name}"

    @property
    def caption_path(self) -> str:
        """Path of the caption file, relative to the repository's root; valid only for a figure from a `StudyOutline`."""
        topic, _, name = self.caption.rpartition("/")
        return f"{FOLDER}/{topic}/captions/{name}.rst"


class Place(Enum):
    """Position of a topic's section in the report."""

    FRONT = "before the findings"
    QUESTION = "among the numbered questions"
    BACK = "behind the questions"
    METHOD = "behind the method"
    APPENDIX = "at the end"
    NONE = "nowhere: it has no section"


def mostly(holds: Callable[[dict], bool]) -> Callable[[StudyDesign], bool]:
    """Return a function that returns whether ``holds`` is true for more than half of a `StudyDesign`'s scenarios."""
    return lambda design: 2 * sum(map(bool, map(holds, design.scenarios))) > len(design.scenarios)


@dataclass(frozen=True)
class Topic:
    """A topic's declaration, from which the workflow is planned before the study has any files."""

    name: str  # name of the topic's folder: lower-case letters, digits and underscores
    navigation: str  # a word or two for the report's navigation
    order: int  # sort key for the topics' questions and findings in the report
    applies: Callable[[StudyDesign], bool]  # whether the topic applies to a `StudyDesign`
    analyses: tuple[Analysis, ...] = ()  # analyses whose rules follow from their declaration
    # All analysis tables, in the order of the report's downloads. The default is the tables of `analyses`, in the same order.
    tables: tuple[Table, ...] = ()
    # Figures, or a function of the `StudyDesign` that returns them.
    figures: tuple[Plot, ...] | Callable[[StudyDesign], Iterable[Plot]] = ()
    place: Place = Place.QUESTION  # position of the topic's section in the report
    # Name of a table -> whether the table exists for a `StudyDesign` to which the topic applies; tables not listed always exist.
    table_applies: dict[str, Callable[[StudyDesign], bool]] = field(default_factory=dict)
    # Tables of the study with which this one is compared; the section shows them if they exist.
    other_tables: tuple[Table, ...] = ()
    heading: str = (
        ""  # heading of the topic's section, as HTML; if it is empty, the template contains the section's entire frame
    )
    anchor: str = ""  # identifier of the topic's section in the report; by default the name with hyphens
    # Slugs of the topic's figures that show the study's answer at a glance, the best first. One of them is shown at the top
    # of the report.
    pictures: tuple[str, ...] = ()
    # Slugs of the figures (from any topic) in the topic's section of the short page. The default is one of `pictures` or,
    # if there are none, the topic's first figure. A function returns them for a design.
    brief: tuple[str, ...] | Callable[[StudyDesign], tuple[str, ...]] | None = None
    # Whether the topic's findings may appear at the top of the report. If not, they appear only in the topic's section.
    opens: bool = True
    # Whether the topic's question is the main question of a study with this `StudyDesign`. If so, the topic's findings and picture
    # come first in the report.
    leads: Callable[[StudyDesign], bool] = lambda design: False
    # Whether the short page contains the topic's entire section. The template leaves out the parts that ``short`` excludes.
    whole: bool = False
    # Whether this topic is the only numbered question of the studies to which it applies. If so, only this topic's figures are drawn.
    sole: bool = False
    # Function that returns one sentence for each request that the topic can't fulfil; it needs only the `StudyDesign`, so such requests
    # are found before any work starts.
    problems: Callable[[StudyDesign], Iterable[str]] = lambda design: ()

    def __post_init__(self):
        object.__setattr__(self, "anchor", self.anchor or self.name.replace("_", "-"))
        made = tuple(table for analysis in self.analyses for table in analysis.tables)
        object.__setattr__(self, "tables", self.tables or made)
        if missing := [table.name for table in made if table not in self.tables]:
            raise ValueError(f"topic {self.name} makes {', '.join(missing)}, which are missing from its tables")

    def tables_of(self, design: StudyDesign) -> tuple[Table, ...]:
        """Return the topic's tables that exist for a design."""
        return tuple(t for t in self.tables if self.table_applies.get(t.name, self.applies)(design))

    def figures_of(self, design: StudyDesign) -> Iterable[Plot]:
        """Return the topic's figures for a design."""
        return self.figures(design) if callable(self.figures) else self.figures

    @property
    def folder(self) -> str:
        """The topic's folder, relative to the repository's root."""
        return f"{FOLDER}/{self.name}"
