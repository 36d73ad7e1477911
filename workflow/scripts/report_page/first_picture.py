"""The picture that opens the report: the main result of the study at a glance.

It is a figure named by a leading topic, if there is such a figure. Otherwise, it is a figure of the first finding (in studies with a
leading topic: of the first finding that has a figure), beginning with the scenarios that best show the finding. If there is no such figure
either, it is a figure named by any topic. If no topic names a figure, the picture consists of two tables of tiles with one row per scenario
and one column per CCA: goodput as a percentage of the ideal, and waiting time.
"""

import math

import pandas as pd

from figure_parts.figure_style import RAMP_STEPS
from run_tables.conditions_at_centre import runs_at_centre
from run_tables.waiting import ABOVE, QUEUEING, waiting
from wording.number_format import NONE, is_missing, number
from wording.scenario_words import shared_and_own

#: Number of panels per row of a figure -> maximum number of the figure's panels in the opening. The figure's section shows the other
#: panels.
PANELS = {1: 2, 2: 4, 3: 3}
#: Name of the measure of waiting time -> explanation of the measure.
WAITING_WORDS = {
    QUEUEING: "Queueing delay is the mean of the queue's samples.",
    ABOVE: "The RTT above the path's shortest RTT includes everything that delays packets: the queue, and jitter or longer paths if there are any.",
}


def first_picture(outline, figures, tables, findings=()) -> dict | None:
    """Return the contents of the page's opening, or None if there is nothing to compare in the study.

    The keys are ``figure`` (the figure's slug), ``panels`` (the panels that are shown), ``columns`` (panels per row), ``caption``, ``more``
    (number of panels that aren't shown), ``section`` (identifier) and ``tiles`` (empty). If there is no figure, the only key is ``tiles``
    (from `tile_tables`).

    Parameters
    ----------
    outline : StudyOutline
        Topics and figures of the study.
    figures : dict
        Figures by slug, from `page_files.figure_item`. This function sets ``opens`` if the opening shows all panels of a figure; the
        figure's section then omits the figure.
    tables : namespace
        Contains the tables ``runs`` and ``scenarios``.
    findings : sequence of Finding
        Findings that open the report.
    """
    for topic in outline.leading:
        for slug in topic.pictures:
            if slug in figures:
                return _opening(slug, figures[slug], topic.anchor, figures[slug]["panels"])
    # A leading topic's findings may lack figures.
    for finding in findings if outline.leading else findings[:1]:
        for slug in finding.figures:
            if slug in figures:
                return _opening(
                    slug, figures[slug], _anchor_of(slug, outline), _best_first(figures[slug], finding, tables)
                )
    for topic in outline.topics:
        for slug in topic.pictures:
            if slug in figures:
                return _opening(slug, figures[slug], topic.anchor, figures[slug]["panels"])
    tiles = tile_tables(tables.runs, tables.scenarios)
    return {"tiles": tiles} if tiles else None


def _opening(slug, item, section, panels):
    """Return the page's opening (see `first_picture`) with the first few of a figure's ``panels``; set ``opens`` in the figure."""
    shown = panels[: PANELS.get(item["columns"], item["columns"])]
    item["opens"] = shown == item["panels"]
    return {
        "tiles": [], "figure": slug, "panels": shown, "columns": item["columns"], "caption": item["caption"],
        "more": len(panels) - len(shown), "section": section,
    }  # fmt: skip


def _anchor_of(slug, outline):
    return next(
        topic.anchor for topic in outline.topics if slug in [figure.slug for figure in topic.figures_of(outline.design)]
    )


def _best_first(item, finding, tables):
    """Return a figure's panels, beginning with the scenarios that best show a finding.

    The order changes only if the figure has one panel per scenario, and more panels than the opening can show.
    """
    scenarios = list(tables.scenarios["scenario"])
    if len(scenarios) != len(item["panels"]) or len(scenarios) <= PANELS.get(item["columns"], item["columns"]):
        return item["panels"]
    order = [name for name in finding.scenarios if name in scenarios]
    order += [name for name in scenarios if name not in order]
    return [item["panels"][scenarios.index(name)] for name in order]


def tile_tables(runs, scenarios) -> list[dict]:
    """Return tables of means over the valid runs of all IP versions, with one row per scenario and one column per CCA.

    The first table shows goodput as a percentage of the ideal. The second table shows the waiting time in ms (`run_tables.waiting`). A
    table with fewer than two values is omitted.

    The keys of a table are ``title``, ``note`` (a sentence about the quantity, or ""), ``ccas`` and ``rows``. The keys of a row are
    ``label``, ``detail`` (the conditions that distinguish the scenario) and ``tiles``. A tile is a pair: its text, and its step on the
    colour ramp (0 if there is no value).
    """
    valid = runs_at_centre(runs, scenarios)
    valid = valid[valid["valid"]]
    name, waits = waiting(valid)
    quantities = (
        ("Goodput, % of what the path and the senders allow", valid["ideal_percent"], 100.0, 0, ""),
        (f"{name}, ms", waits.clip(lower=0), None, None, WAITING_WORDS[name]),
    )
    ccas, tables = list(runs["cca"].unique()), []
    labels = dict(zip(scenarios["scenario"], scenarios["label"], strict=True))
    apart = dict(zip(scenarios["scenario"], shared_and_own(scenarios)[1], strict=True))
    for title, values, most, decimals, note in quantities:
        means = values.astype(float).groupby([valid["scenario"], valid["cca"]]).mean()
        if means.notna().sum() < 2:
            continue
        top = most or means.max()
        rows = [
            {
                "label": labels[name],
                "detail": apart[name],
                "tiles": [_tile(means.get((name, cca)), top, decimals) for cca in ccas],
            }
            for name in runs["scenario"].unique()
        ]
        tables.append({"title": title, "ccas": ccas, "rows": rows, "note": note})
    return tables


def _tile(mean, top, decimals) -> tuple[str, int]:
    """Return a mean as text and as a step on the colour ramp (0 if there is no mean).

    The step is proportional to mean / `top` if `decimals` is 0, and otherwise to the square root of this ratio, so that small means can
    also be told apart.
    """
    if mean is None or is_missing(mean) or pd.isna(mean):
        return NONE, 0
    share = min(mean / top, 1.0) if top > 0 else 0.0
    power = 1 if decimals == 0 else 0.5
    step = 1 + min(int(share**power * RAMP_STEPS), RAMP_STEPS - 1)  # at least 1: 0 means none
    if 0 < mean < 0.005:
        return "<0.01", step
    if decimals == 0 and 0 < mean < 9.95:
        return number(mean, 1 if mean >= 0.095 else 2), step
    decimals = (
        max(0, 1 - int(math.floor(math.log10(mean)))) if decimals is None and 0.01 <= mean < 100 else decimals or 0
    )
    return number(mean, decimals), step
