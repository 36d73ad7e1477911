"""The report's section of each topic: a line each, named as in study_topics/registry.py.

A section's module has

- ``TABLES``: name of each analysis table of the topic -> kinds of its columns, as in `report_columns`;
- ``section(material)``: what its template needs, as ``topic``; None if there is nothing to show;
- ``findings(material)``: a list of `findings.Finding`, which open the report.
"""

from dataclasses import dataclass
from types import SimpleNamespace

from report_parts import (
    buffers_section,
    fairness_section,
    multipath_section,
    packet_size_section,
    platforms_section,
    time_series_section,
)
from study_files.study_design import StudyDesign

MODULES = {
    "time_series": time_series_section,
    "fairness": fairness_section,
    "buffers": buffers_section,
    "platforms": platforms_section,
    "packet_size": packet_size_section,
    "multipath": multipath_section,
}


@dataclass(frozen=True)
class ReportMaterial:
    """What a topic's section is made of.

    Attributes
    ----------
    tables : SimpleNamespace
        runs, scenarios and each analysis table of the study by name: DataFrames.
    figures : dict of str to dict
        By slug, as `report_files.figure_item` gives them.
    design : StudyDesign
    study : dict
        As in ``tidy/provenance.json``.
    params : mapping
        Of the report's rule: confidence, significance, and more.
    inputs : mapping
        Of the report's rule: paths by name.
    """

    tables: SimpleNamespace
    figures: dict
    design: StudyDesign
    study: dict
    params: dict
    inputs: dict


def topic_tables(topics, modules=None):
    """Return the kinds of the columns of every analysis table of some topics, by the table's name."""
    modules = MODULES if modules is None else modules
    return {name: modules[topic.name].TABLES[name] for topic in topics for name in topic.tables}


def topic_contexts(topics, material, modules=None):
    """Return what each topic's template needs, by the topic's name; None where there is nothing to show."""
    modules = MODULES if modules is None else modules
    return {topic.name: modules[topic.name].section(material) for topic in topics}


def topic_findings(topics, material, modules=None):
    """Return the findings of some topics, in their order."""
    modules = MODULES if modules is None else modules
    return [finding for topic in topics for finding in modules[topic.name].findings(material)]
