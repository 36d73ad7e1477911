"""A topic: analysis, figures and a section of the report that only studies of some designs have."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Figure:
    """A figure: `figures/<slug>.svg` with its data as `figures/<slug>.csv`.

    Attributes
    ----------
    slug : str
        Lower-case letters, digits and single hyphens (a mix is written `reno-cubic`).
    caption : str
        Name of its file in report/captions, without `.rst`; the slug if not given.
    words : dict
        What the caption names as ``snakemake.params.<name>``, besides what every caption may name.
    """

    slug: str
    caption: str = ""
    words: dict = field(default_factory=dict, compare=False)

    def __post_init__(self):
        if not SLUG.fullmatch(self.slug):
            raise ValueError(f"a figure's slug is '{self.slug}'; allowed are words of a-z and 0-9 joined by hyphens")
        object.__setattr__(self, "caption", self.caption or self.slug)


def _no_figures(design):
    return ()


@dataclass(frozen=True)
class Topic:
    """What the workflow must know of a topic before anything of the study is there.

    Attributes
    ----------
    name : str
        As in workflow/rules/<name>.smk, report/sections/<name>.html.j2 and
        report_parts/<name>_section.py: lower-case letters, digits and underscores.
    navigation : str
        A word or two for the report's navigation.
    applies : callable
        Whether a `StudyDesign` has this topic.
    tables : tuple of str
        Its analysis tables, as in analysis/<name>.csv.
    figures : callable
        Its figures for a `StudyDesign`: an iterable of `Figure`.
    """

    name: str
    navigation: str
    applies: Callable
    tables: tuple = ()
    figures: Callable = _no_figures

    @property
    def anchor(self):
        """Identifier of its section in the report."""
        return self.name.replace("_", "-")
