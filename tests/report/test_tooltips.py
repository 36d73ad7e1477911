"""Tooltips of runs, cells, bars and curves, each with the numbers of the figure's data."""

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from figure_parts import tooltips
from figure_parts.category_panels import bars
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import SVG, save_svg
from figure_parts.tooltips import tell, tell_line, tooltip_attributes, value_words


@pytest.fixture
def axes():
    """Axes of a figure whose points are known: 200 x 100 points, in a figure of 288 x 216."""
    apply_style()
    figure = plt.figure(figsize=(4, 3))
    yield figure.add_axes((0.25, 0.25, 200 / 288, 100 / 216), gid="panel-1")
    plt.close(figure)


def groups(axes, path):
    save_svg(axes.figure, path, "Title", [])
    return {group.get("data-name"): group for group in ET.parse(path).iter(f"{{{SVG}}}g") if group.get("data-name")}


def test_marks_and_bars_carry_a_text_each(axes, tmp_path):
    (line,) = axes.plot([1, 2, 3], [4, 5, 6], ls="none", marker="o")
    tell(line, ["a", "b|c", "d"], "dots")
    tell(bars(axes, [0, 1], [3, 4], 0.5, "#1a2027"), ["3 < 4", "4"], "bars")
    of_groups = groups(axes, tmp_path / "x.svg")
    assert of_groups["dots"].get("data-told") == "a|b¦c|d"
    assert len(list(of_groups["dots"].iter(f"{{{SVG}}}use"))) == 3
    assert of_groups["bars"].get("data-told") == "3 < 4|4"
    assert of_groups["bars"].find(f"{{{SVG}}}path").get("d").count("M") == 2


def test_as_many_texts_as_marks(axes):
    (line,) = axes.plot([1, np.nan, 3], [4, 5, 6], ls="none", marker="o")
    with pytest.raises(ValueError, match="3 texts for 2 marks"):
        tell(line, ["a", "b", "c"])
    tell(line, ["a", "c"])


def test_a_curve_carries_where_its_axes_lie(axes):
    axes.set(xlim=(1, 100), ylim=(0, 8), xscale="log")
    (line,) = axes.plot([1, 10], [0, 8])
    tell_line(line, "cwnd", "s", "packets")
    (attributes,) = tooltip_attributes(axes.figure).values()
    assert attributes == {
        "data-name": "cwnd",
        "data-x": "log|1|72.00|100|272.00|s",
        "data-y": "linear|0|162.00|8|62.00|packets",
    }


def test_figures_of_too_many_marks_tell_nothing(axes, monkeypatch):
    (line,) = axes.plot([1, 2, 3], [4, 5, 6], ls="none", marker="o")
    tell(line, ["a", "b", "c"])
    assert tooltip_attributes(axes.figure)
    monkeypatch.setattr(tooltips, "MOST_MARKS", 2)
    assert tooltip_attributes(axes.figure) == {}


def test_numbers_with_their_interval():
    assert value_words(9.5) == "9.500"
    assert value_words(9.5, float("nan"), float("nan"), "ms", 1) == "9.500 ms, n = 1"


def pointed_at(page, x, y):
    page.mouse.move(x, y)
    return page.locator(".tip").text_content()


def middle(locator):
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_reader_is_told_runs_cells_and_places_on_curves(small, visit):
    """The pointer is on the first run of goodput, on a tile, on the median of a distribution, and beside everything."""
    page = visit(small.page, 1200)
    data = pd.read_csv(small.data("goodput"))
    runs = data[data["mark"] == "replication"]
    names = page.evaluate(
        "[...document.querySelectorAll('#goodput-figure [data-told^=replication]')].map((g) => g.dataset.name)"
    )
    cells = runs[["scenario", "cca", "ip_version"]].drop_duplicates()
    assert names == [f"{row.scenario}, {row.cca}, IPv{row.ip_version[-1]}" for row in cells.itertuples()]
    text = pointed_at(page, *middle(page.locator("#goodput-figure [data-told^=replication] use").first))
    first = runs.iloc[0]
    assert text.startswith(f"{first['scenario']}, {first['cca']}, IPv4, replication {first['replication']:.0f}: ")
    assert value(text) == pytest.approx(first["goodput_mbps"], rel=1e-3)

    tile = pd.read_csv(small.data("ideal")).iloc[0]
    text = pointed_at(page, *middle(page.locator("#ideal-figure [data-told] path").first))
    assert text.startswith(f"{tile['scenario']}, {tile['cca']}, IPv4, ")
    assert value(text.split("IPv4")[1]) == pytest.approx(tile["percent"], rel=1e-3)

    steps = pd.read_csv(small.data("distributions"))
    cell = steps[
        (steps[["scenario", "cca", "ip_version"]] == steps.iloc[0][["scenario", "cca", "ip_version"]]).all(axis=1)
    ]
    curve = page.locator("#distributions-figure [data-x]").first
    curve.scroll_into_view_if_needed()
    ends = [curve.get_attribute(f"data-{way}").split("|") for way in "xy"]
    place = SimpleNamespace(x=float(cell["goodput_mbps"].iloc[0]), y=0.05)
    spot = page.evaluate(
        """([x, y]) => {
          const svg = document.querySelector('#distributions-figure [data-x]').closest('svg');
          const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
          return [at.x, at.y];
        }""",
        [along(ends[0], place.x), along(ends[1], place.y)],
    )
    text = pointed_at(page, *spot)
    assert re.search(r"^\w+ IPv4: [\d.]+ of the replications at ", text)
    assert value(text.split(" at ")[1]) == pytest.approx(place.x, rel=6e-3)

    page.mouse.move(2, 2)
    assert page.locator(".tip").is_hidden()


def value(text):
    return float(re.search(r"[\d][\d.,]*", text.split(": ")[-1])[0].replace(",", ""))


def along(carried, value):
    scale, v0, p0, v1, p1, _ = carried
    of = np.log10 if scale == "log" else float
    v0, v1, value = (of(float(one)) for one in (v0, v1, value))
    return float(p0) + (value - v0) / (v1 - v0) * (float(p1) - float(p0))
