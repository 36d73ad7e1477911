"""The material from which the report's sections are made.

A topic's ``section.py`` has

- ``section(material)``: the template's variable ``topic``; None if there is nothing to show;
- ``findings(material)``, if it has any: a list of `Finding`, which open the report.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pandas as pd

from run_tables.exclusions import in_whole_places
from study_files.study_design import StudyDesign


@dataclass(frozen=True)
class Finding:
    """A finding: a sentence, the topic in a word or two, and the identifier of the section that shows the finding."""

    topic: str
    text: str
    section: str
    data: list[dict] = field(default_factory=list)  # the sentence's data, for programs (``findings.json``)
    figures: tuple[str, ...] = ()  # slugs of the figures (of any topic) that show the finding, the best first
    scenarios: tuple[str, ...] = ()  # scenarios that show the finding, the clearest first; empty if all scenarios do


@dataclass(frozen=True)
class ReportMaterial:
    """The material of a topic's section."""

    #: DataFrames by name: runs, scenarios, all analysis tables, and tables of the other study as ``other_<name>``. None for
    #: a table that the study doesn't have.
    tables: SimpleNamespace
    figures: dict  # slug -> result of `page_files.figure_item`
    design: StudyDesign
    study: dict  # as in ``tidy/provenance.json``
    params: dict  # of the report's rule: confidence, significance, power, analysis, paper, and more

    def ranked(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table of cells in which CCAs can be ranked: all runs of the row's scenario and IP version were executed."""
        return in_whole_places(cells, self.tables.runs)

    @property
    def other_claims(self) -> tuple[str, pd.DataFrame] | None:
        """Name and claims of the study with which this study is compared, or None."""
        if self.design.other is None or self.tables.other_claims is None:
            return None
        return self.design.other, self.tables.other_claims
