"""The material from which the report's sections are made.

A topic's ``section.py`` defines

- ``section(material)``, which returns the template's variable ``topic``, or None if there is nothing to show;
- ``findings(material)``, if the topic has findings, which returns a list of `Finding`.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pandas as pd

from run_tables.exclusions import in_whole_places
from study_files.study_design import StudyDesign


@dataclass(frozen=True)
class Finding:
    """A finding: a sentence, its topic in a word or two, and the identifier of the section that shows the finding."""

    topic: str
    text: str
    section: str
    data: list[dict] = field(default_factory=list)  # the data behind the sentence, for ``findings.json``
    figures: tuple[str, ...] = ()  # slugs of the figures (of any topic) that show the finding, best first
    scenarios: tuple[str, ...] = ()  # scenarios that show the finding, clearest first; empty if all scenarios show it


@dataclass(frozen=True)
class ReportMaterial:
    """The material from which a topic's section is made."""

    #: DataFrames by name: runs, scenarios, all analysis tables, and tables of the other study as ``other_<name>``. A table that doesn't
    #: exist is None.
    tables: SimpleNamespace
    figures: dict  # slug -> result of `page_files.figure_item`
    design: StudyDesign
    study: dict  # as in ``tidy/provenance.json``
    params: dict  # parameters of the report's rule: confidence, significance, power, analysis, paper, and more

    def ranked(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of ``cells`` whose scenario and IP version allow CCAs to be ranked (see `exclusions.whole_places`)."""
        return in_whole_places(cells, self.tables.runs)

    @property
    def other_claims(self) -> tuple[str, pd.DataFrame] | None:
        """The name and the claims of the study with which this study is compared, or None."""
        if self.design.other is None or self.tables.other_claims is None:
            return None
        return self.design.other, self.tables.other_claims
