"""The comparing figures in extreme cases: any study, the same bytes, colour-blind readers, no overlapping words."""

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import asdict, fields
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import tidy_tables
from colour_vision import DEFICIENCY, contrast, lab, linear
from drawn_figure import ALL, Drawn, marks, words
from figure_parts import figure_style
from figure_parts.axis_scales import Axis
from figure_parts.captions import render_caption
from figure_parts.figure_svg import SVG
from figure_parts.label_placement import LINE_HEIGHT, place_labels
from figure_parts.scenario_panels import LETTER_SHARE, header, parts_of, reference_entry, scenario_grid, value_axis
from inference.mean_interval import LEAST_RUNS
from report_parts.inline_figures import inline_panels
from study_files.study_design import StudyDesign
from topics.ip_version.tables import IP_VERSION_TESTS
from topics.outline import RUNS_OF_AN_INTERVAL, figure_params, study_outline
from topics.speed.plot_ideal import plot_ideal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 1_200_000
ONE = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(1,))
TWO = tidy_tables.grid(delays_ms=(20,), flows=(1,))
THREE_CCAS = ["reno", "cubic", "bbr"]


# A path without delay: no RTT of the path to compare with.
NO_DELAY = tidy_tables.grid(delays_ms=(0,), losses_percent=(0,), flows=(1,))
STUDIES = {
    "one-run": {"scenarios": ONE, "ccas": ["reno"], "ip_versions": ["ipv4"], "replications": 1},
    "nothing-valid": {"scenarios": TWO, "ccas": THREE_CCAS, "replications": 2, "invalid_share": 1},
    "ipv6-only": {"scenarios": TWO, "ccas": THREE_CCAS, "ip_versions": ["ipv6"], "replications": 3},
    "one-cca": {"scenarios": TWO, "ccas": ["vegas"], "replications": 4},
    "all-ccas": {"scenarios": TWO, "ccas": tidy_tables.ALL_CCAS, "replications": 5},
    "own-ccas": {"scenarios": tidy_tables.grid(losses_percent=(0,)), "ccas": ["reno", "cubic-no-hystart", "cubic-no-convergence"], "replications": 2},
    "no-rate": {"scenarios": tidy_tables.grid(flows=(1,), rate_mbps=None), "ccas": THREE_CCAS, "replications": 2},
    "no-delay": {"scenarios": NO_DELAY, "ccas": THREE_CCAS, "replications": 2},
    "no-loss": {"scenarios": tidy_tables.grid(losses_percent=(0,)), "ccas": ["vegas", "reno"], "replications": 2},
    "no-spread": {"scenarios": TWO, "ccas": THREE_CCAS, "replications": 3, "spread": 0.0},
}  # fmt: skip


#: The other studies have all that these have.
OFTEN = ("one-run", "nothing-valid", "all-ccas", "no-delay", "no-loss", "no-spread")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.long]) for name in STUDIES]
)
def drawn(request, tmp_path_factory):
    """Each of the odd studies, with all its figures."""
    study = tidy_tables.synthetic_study(**STUDIES[request.param])
    differences = None
    if request.param in ("one-run", "ipv6-only"):
        differences = pd.DataFrame(columns=IP_VERSION_TESTS.names)
    figures = Drawn(tmp_path_factory.mktemp(request.param), study, differences)
    for name in ALL:
        figures.draw(name)
    return figures


@pytest.mark.filterwarnings("error")
def test_any_study_can_be_drawn_and_shown(drawn):
    for name in ALL:
        text = drawn.figure(name).read_text()
        assert not re.search(r"\bnan\b|\binf\b|None", text), name
        assert "nan" not in (drawn.folder / f"{name}.csv").read_text()
        panels, columns = inline_panels(drawn.figure(name), name)
        assert panels
        assert 1 <= columns <= 3
        for panel in panels:
            colours = set(re.findall(r"(?:fill|stroke): (#\w+)", panel))
            assert not colours, f"{name}: {colours} can't change with the page's appearance"
            label = re.search(r'aria-label="([^"]*)"', panel).group(1)
            assert len(label) > 20


def test_words_lie_inside_their_panels_and_off_each_other(drawn, visit, tmp_path):
    palette = ";".join(f"--{name}:{value}" for name, value in asdict(figure_style.LIGHT).items())
    style = f":root{{{palette}}} svg{{display:block;width:600px;font-family:'DejaVu Sans'}}"
    panels = [panel for name in ALL for panel in inline_panels(drawn.figure(name), name)[0]]
    page = tmp_path / "panels.html"
    page.write_text(f"<meta charset=utf-8><style>{style}</style>{''.join(panels)}")
    for number, texts in enumerate(visit(page, width=700).evaluate(BOXES)):
        whole = texts.pop(0)
        outside = [t[0] for t in texts if min(t[1], t[2]) < -1 or t[3] > whole[3] + 1 or t[4] > whole[4] + 1]
        assert not outside, (number, panels[number][:300])
        on_another = [(a[0], b[0]) for a, b in itertools.combinations(texts, 2) if overlap(a, b)]
        assert not on_another, (number, panels[number][:300])


# Each panel and its words that aren't turned: text, left, top, right, bottom in the panel's pixels.
BOXES = """[...document.querySelectorAll("svg")].map(svg => {
  const whole = svg.getBoundingClientRect();
  const box = (name, r) => [name, r.left - whole.left, r.top - whole.top, r.right - whole.left, r.bottom - whole.top];
  const upright = t => Math.abs(t.getCTM().b) < 1e-6;
  return [box("", whole), ...[...svg.querySelectorAll("text")].filter(upright)
    .map(t => box(t.textContent, t.getBoundingClientRect()))];
})"""


def overlap(one, two):
    """Return whether two boxes overlap by more than the blank above and below their letters."""
    wide = min(one[3], two[3]) - max(one[1], two[1])
    high = min(one[4], two[4]) - max(one[2], two[2])
    return wide > 2 and high > 0.3 * min(one[4] - one[2], two[4] - two[2])


def test_same_data_same_bytes_in_another_process(tmp_path):
    program = (
        "import sys; sys.path[:0] = {paths!r}\n"
        "from pathlib import Path\nimport tidy_tables\nfrom drawn_figure import Drawn\n"
        "study = tidy_tables.synthetic_study(tidy_tables.grid(delays_ms=(20,), flows=(1,)), replications=3)\n"
        "drawn = Drawn(Path({folder!r}), study)\nfor name in {names!r}: drawn.draw(name)\n"
    )
    names = [*ALL, "goodput", "retransmits"]
    paths = [str(ROOT / name) for name in ("tests", "workflow/scripts", "workflow")]
    elsewhere = {"PYTHONHASHSEED": "1", "TZ": "UTC+1", "SOURCE_DATE_EPOCH": "1000000000"}
    code = program.format(paths=paths, folder=str(tmp_path / "there"), names=names)
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | elsewhere)
    here = Drawn(tmp_path / "here", tidy_tables.synthetic_study(TWO, replications=3))
    for name in names:
        here.draw(name)
        for kind in ("svg", "csv"):
            there = tmp_path / "there" / f"{name}.{kind}"
            assert there.read_bytes() == (here.folder / there.name).read_bytes(), name


@pytest.mark.long
def test_a_hundred_replications_stay_small_and_complete(tmp_path):
    drawn = Drawn(tmp_path, tidy_tables.synthetic_study(replications=100))
    for name in ALL:
        assert drawn.draw(name).stat().st_size < LARGEST_BYTES, name
    panel = ET.parse(drawn.figure("price")).getroot()
    paths = [p.get("d") for p in panel.iter(f"{{{SVG}}}path") if "stroke-linecap: round" in (p.get("style") or "")]
    # Each dot is a line of no length: begun and ended in one place.
    assert sum(path.count("M") for path in paths) == 12 * 6 * 2 * 100


@pytest.mark.parametrize("theme", [figure_style.LIGHT, figure_style.DARK])
def test_tiles_can_be_read_and_their_order_seen_by_all_eyes(theme):
    steps = range(1, figure_style.RAMP_STEPS + 1)
    colours = [figure_style.ramp_colour(step, theme) for step in steps]
    for step, colour in zip(steps, colours, strict=True):
        # WCAG 2.2, 1.4.3.
        assert contrast(colour, figure_style.ramp_text_colour(step, theme)) >= 4.5
    away = [contrast(colour, theme.paper) for colour in colours]
    assert away == sorted(away)
    for matrix in DEFICIENCY.values():
        seen = [lab(np.array(matrix) @ linear(colour)) for colour in colours]
        distances = [np.linalg.norm(a - b) for a, b in itertools.pairwise(seen)]
        assert min(distances) >= 7


def test_no_two_colours_of_the_light_theme_are_the_same():
    # Or the report couldn't tell which dark one belongs in their place.
    colours = [getattr(figure_style.LIGHT, field.name) for field in fields(figure_style.LIGHT)]
    assert len(set(colours)) == len(colours)


def test_labels_keep_off_each_other_and_inside():
    rng = np.random.default_rng(5)
    texts = tidy_tables.ALL_CCAS
    points = [np.array([[x, y]]) for x, y in 70 + 12 * rng.standard_normal((17, 2))]
    size, width, height = 7.5, 160, 200
    places = place_labels(texts, points, np.empty((0, 2)), width, height, size)
    assert places == place_labels(texts, points, np.empty((0, 2)), width, height, size)
    boxes = []
    for text, (x, y, *_) in zip(texts, places, strict=True):
        half = LETTER_SHARE * size * len(text) / 2
        boxes.append((text, x - half, y - LINE_HEIGHT * size / 2, x + half, y + LINE_HEIGHT * size / 2))
        assert boxes[-1][1] > -0.01
        assert boxes[-1][3] < width + 0.01
    for one, two in itertools.combinations(boxes, 2):
        assert not overlap(one, two), (one[0], two[0])


def test_labels_of_ticks_keep_off_each_other():
    axis = Axis("symlog", -0.6e-4, 30.0, (0, 0.0001, 0.01, 1.0), 1e-4)
    figure = scenario_grid(3, 120).figure()
    for spaced, expected in ((False, ["0", "0.0001", "0.01", "1"]), (True, ["0", "", "0.01", "1"])):
        axes = scenario_grid(3, 120).axes(figure, 0, 40, 10, 30, 30)
        value_axis(axes, "x", axis, spaced)
        assert [label.get_text() for label in axes.get_xticklabels()] == expected
    plt.close(figure)


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_a_key_is_not_wider_than_its_figure(panels):
    figure_style.apply_style()
    figure = scenario_grid(panels, 120).figure()
    names = (
        "IPv4, a replication",
        "IPv6, a replication",
        "mean, with the CCA's name",
        "one standard deviation",
        "delay of the full queue",
    )
    header(figure, "A title", [reference_entry(name) for name in names])
    (key,) = figure.legends
    figure.draw_without_rendering()
    assert key.get_window_extent().x1 < figure.bbox.width
    plt.close(figure)


def test_long_names_lie_beside_the_titles_of_tiles():
    study = tidy_tables.synthetic_study(ONE, ["reno", "cubic-no-convergence"], ["ipv4"], replications=1)
    drawing = plot_ideal(study["runs"], study["scenarios"])
    (axes,) = drawing.figure.axes
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    title = next(box for text, box in boxes.items() if text.startswith("% of the ideal goodput"))
    name = boxes["cubic-no-convergence"]
    assert name.y1 < title.y0 and name.x1 < drawing.figure.bbox.width
    plt.close(drawing.figure)


def test_many_ccas_are_spread_over_panels_of_equal_size():
    assert [len(part) for part in parts_of(list(range(17)), 8)] == [6, 6, 5]
    assert [len(part) for part in parts_of(list(range(8)), 8)] == [8]
    assert sum(parts_of(list(range(9)), 8), []) == list(range(9))


def test_all_ccas_are_named_in_distributions(tmp_path):
    drawn = Drawn(tmp_path, tidy_tables.synthetic_study(ONE, tidy_tables.ALL_CCAS, replications=2))
    named = set()
    for number in (1, 2, 3):
        panel = drawn.panel("distributions", number)
        named |= set(words(panel))
        assert len(marks(panel)) == 2 * (6 if number < 3 else 5)
    assert set(tidy_tables.ALL_CCAS) <= named


@pytest.mark.parametrize("ip_versions", [["ipv4", "ipv6"], ["ipv4"]])
def test_captions_are_filled_from_the_rules_parameters(ip_versions):
    study = tidy_tables.synthetic_study(ONE, ["reno", "cubic"], ip_versions, replications=77)["provenance"]["study"]
    design = StudyDesign(
        study | {"analysis": tidy_tables.ANALYSIS | {"compare_with": "another"}}, frozenset({"descriptive"})
    )
    for figure in study_outline(design).figures:
        params = figure_params(figure, design, {"confidence": 0.9, "significance": 0.05})
        filled = render_caption(ROOT / figure.caption_path, params)
        assert ("another" if figure.slug == "methods" else "77") in filled
        assert len(ip_versions) > 1 or "IP" not in filled
        if figure.slug == "ip-difference-loss":
            assert "0.5 points" in filled
        assert ("MSSs" in filled) == (figure.slug == "ip-difference-goodput")


@pytest.mark.parametrize(
    ("replications", "said"),
    [(5, "(up to 5 in each cell); the bar is the mean. "), ({"at_least": 4, "at_most": 60}, "(up to 60 in each cell); the bar is the mean with its 90 % interval. ")],
)  # fmt: skip
def test_captions_mention_intervals_if_a_cell_can_have_one(replications, said):
    study = tidy_tables.synthetic_study(ONE, ["reno"], ["ipv4"], replications=1)["provenance"]["study"]
    design = StudyDesign(study | {"analysis": tidy_tables.ANALYSIS, "replications": replications})
    figure = next(figure for figure in study_outline(design).figures if figure.slug == "goodput")
    params = figure_params(figure, design, {"confidence": 0.9, "significance": 0.05})
    assert f"{said}The dashed line" in render_caption(ROOT / figure.caption_path, params)
    assert "dashed line" not in render_caption(ROOT / figure.caption_path, params | {"some": []})  # no capacity
    assert RUNS_OF_AN_INTERVAL == LEAST_RUNS


@pytest.mark.parametrize("caption", ["validity/captions/emulation.rst", "variance/captions/variance.rst"])
def test_captions_count_one_replication_in_the_singular(caption):
    path, params = (
        ROOT / "workflow/scripts/topics" / caption,
        {"confidence": 0.9, "rtt_shifts_ms": [], "loss_changing": False},
    )
    assert "Up to 1 replication was run in each cell" in render_caption(path, params | {"replications": 1})
    assert "Up to 2 replications were run in each cell" in render_caption(path, params | {"replications": 2})
