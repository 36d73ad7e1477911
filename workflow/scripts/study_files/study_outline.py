"""What a study of some design gets: its analysis tables and figures, each list in one place."""

from dataclasses import dataclass

from run_tables.metrics import METRICS, PUBLISHED_METRICS
from study_files.study_design import StudyDesign, study_design
from study_topics.registry import TOPICS
from study_topics.topic import Figure


def _always(design):
    return True


def _by_cell(design):
    return not design.by_size


def _one_cca_a_run(design):
    return not design.mixes and not design.by_size


def _one_path(design):
    # The models, and the delay of a full queue, are of one path and of a connection that stays on it.
    return _one_cca_a_run(design) and not design.multipath


def _both_ip_versions(design):
    return design.ip_versions_compared and not design.by_size


def _ip_paper(design):
    return design.repeats_ip_paper


def _claims(design):
    return design.claims is not None


# Analysis table -> which designs have it. What compares CCAs needs runs of one CCA each. Where sizes of messages are
# compared, of cells that have no metric in common, the topic of that has tables and figures of its own.
TABLES = {
    "descriptive": _always,
    "validity": _always,
    "checks": _always,
    "ip_versions": _both_ip_versions,
    "ip_overall": _both_ip_versions,
    "ccas": _one_cca_a_run,
    "cca_pairs": _one_cca_a_run,
    "pooled": _ip_paper,
    "pooled_tests": _ip_paper,
    "models": _one_path,
    "regressions": _one_path,
    "claims": _claims,
    "mislabelled": _one_cca_a_run,
}
# Figures -> which designs have them.
FIGURES = (
    (tuple(metric.slug for metric in METRICS), _by_cell),
    (tuple(metric.slug for metric in PUBLISHED_METRICS), _ip_paper),
    (("ideal",), _by_cell),
    (("price",), _one_cca_a_run),
    (("knee",), _one_path),
    (("distributions",), _one_cca_a_run),
    (("emulation",), _by_cell),
)


@dataclass(frozen=True)
class StudyOutline:
    """What analysis, figures and report of a study hold.

    Attributes
    ----------
    design : StudyDesign
    topics : tuple of Topic
    tables : tuple of str
        Analysis tables, those of the topics too.
    figures : tuple of Figure
        Those of the topics too.
    """

    design: StudyDesign
    topics: tuple
    tables: tuple
    figures: tuple


def study_outline(study, claims=None, other=None, methods=False, topics=None):
    """Return the outline of a study.

    Parameters
    ----------
    study, claims, other
        As for `study_design`.
    methods : bool
        Whether the other study has been analysed, so that the two can stand side by side.
    topics : tuple of Topic
        Those there are; of the registry if not given.

    Raises
    ------
    ValueError
        If two figures, or two tables, have the same name.
    """
    design = study_design(study, claims, other)
    chosen = tuple(topic for topic in (TOPICS if topics is None else topics) if topic.applies(design))
    tables = [name for name, applies in TABLES.items() if applies(design)]
    tables += [name for topic in chosen for name in topic.tables]
    figures = [Figure(slug) for slugs, applies in FIGURES if applies(design) for slug in slugs]
    if _both_ip_versions(design):
        figures += [ip_difference(metric) for metric in METRICS]
    if methods and not design.by_size:
        figures.append(Figure("methods"))
    figures += [figure for topic in chosen for figure in topic.figures(design)]
    for names in (tables, [figure.slug for figure in figures]):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two parts of the study's outline have the same name: {', '.join(twice)}")
    return StudyOutline(design, chosen, tuple(tables), tuple(figures))


def ip_difference(metric):
    """Return the figure of IPv6 against IPv4 in one metric."""
    words = {"metric": metric.slug, "metric_name": metric.name, "effect_unit": metric.effect_unit}
    return Figure(f"ip-difference-{metric.slug}", "ip-difference", words)
