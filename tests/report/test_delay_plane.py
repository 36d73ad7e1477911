"""The plane of throughput against queueing delay: its ellipses against known covariances, and the studies that have it."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.path import Path

import tidy_tables
from drawn_figure import Drawn, scale, words
from figure_parts import figure_style
from figure_parts.delay_plane import LEAST_RATIO, delay_axis, draw_ellipse, ellipse, reach
from figure_parts.figure_svg import SVG
from study_files.study_design import StudyDesign
from topics.speed.topic import TOPIC


def test_an_ellipse_is_one_standard_deviation():
    """Four points on the axes have variances of 2/3 and 6 and no covariance, so the half axes are the roots of these, around the mean."""
    x, y = ellipse(np.array([4.0, 6, 5, 5]), np.array([10.0, 10, 7, 13]))
    assert (x.min(), x.max()) == pytest.approx((5 - np.sqrt(2 / 3), 5 + np.sqrt(2 / 3)), abs=0.01)
    assert (y.min(), y.max()) == pytest.approx((10 - np.sqrt(6), 10 + np.sqrt(6)), abs=0.01)


def test_an_ellipse_follows_a_correlation():
    """Values on a line have a flat ellipse along that line."""
    x, y = ellipse(np.array([1.0, 2, 3]), np.array([2.0, 4, 6]))
    assert y == pytest.approx(2 * x)


def test_an_ellipse_of_one_run_is_a_point():
    x, y = ellipse(np.array([3.0]), np.array([7.0]))
    assert set(x) == {3.0} and set(y) == {7.0}


def test_an_ellipse_of_drawn_values_has_their_covariance():
    """Means (3, -1), variances 4 and 9, correlation 0.6: the outline solves (z - m)' S^-1 (z - m) = 1."""
    covariance = np.array([[4.0, 3.6], [3.6, 9.0]])
    values = np.random.default_rng(1).multivariate_normal([3, -1], covariance, 200_000)
    x, y = ellipse(*values.T)
    away = np.array([x - 3, y + 1])
    assert np.einsum("ik,ij,jk->k", away, np.linalg.inv(covariance), away) == pytest.approx(1, abs=0.02)


def test_how_far_an_ellipse_reaches():
    assert reach([4.0, 5.0, 6.0], "linear") == pytest.approx([4, 6])
    assert reach([1.0, 10.0, 100.0], "log") == pytest.approx([1, 100])
    assert reach([0.0, 0.0, 10.0], "linear")[0] == 0 and reach([5.0, 6.0], "linear") == []


@pytest.mark.parametrize("kind", ["linear", "log"])
def test_an_ellipse_is_drawn_as_the_axes_show_the_values(kind):
    x, y = np.array([1.0, 4, 16, 3]), np.array([10.0, 30, 20, 25])
    figure, axes = plt.subplots()
    axes.set_xscale(kind)
    axes.set(xlim=(40, 0.5), ylim=(0, 60))  # turned round, as delay is
    draw_ellipse(axes, x, y, "reno")
    (patch,) = axes.patches
    to_pixels, from_log = axes.transData.transform, (lambda a: 10**a) if kind == "log" else (lambda a: a)
    outline_x, outline_y = ellipse(np.log10(x) if kind == "log" else x, y, 20_001)
    expected = to_pixels(np.column_stack([from_log(outline_x), outline_y]))
    drawn = patch.get_path().transformed(patch.get_transform()).to_polygons(closed_only=False)[0]
    for end in ("min", "max"):
        assert getattr(drawn, end)(axis=0) == pytest.approx(getattr(expected, end)(axis=0), abs=0.1)
    plt.close(figure)


def test_one_run_has_no_ellipse():
    figure, axes = plt.subplots()
    draw_ellipse(axes, np.array([3.0]), np.array([7.0]), "reno")
    assert not axes.patches
    plt.close(figure)


def test_delays_have_a_logarithmic_axis_that_is_not_too_short():
    assert delay_axis([0.0, 3.0]).kind == "linear" and delay_axis([-1.0, 3.0]).kind == "linear"
    assert delay_axis([0.0, 0.1, 30.0]).kind == "symlog" and delay_axis([]).kind == "linear"
    for low in (1.0, 2.1, 4.9, 7.0):
        axis = delay_axis([low, 1.01 * low])
        assert axis.kind == "log" and axis.high / axis.low >= LEAST_RATIO and len(axis.ticks) >= 2
        assert axis.low < low < axis.high


def test_a_study_has_ellipses_around_its_replications(tmp_path):
    """The figure of a study: one outline per CCA and panel, inside the plot; delay decreases to the right."""
    grid = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=100)
    drawn = Drawn(tmp_path, tidy_tables.synthetic_study(grid, ["reno", "bbr"], replications=4, spread=0.1))
    panel, data = drawn.panel("knee"), drawn.data("knee")
    to_x = scale(panel, "x", "log")
    assert to_x(2.0) < to_x(1.0)
    rows = data[(data["scenario"] == grid["scenario"][0]) & (data["mark"] == "replication")]
    for cca in ("reno", "bbr"):
        own = np.log10(rows.loc[rows["cca"] == cca, "delay_ms"])
        ends = sorted(to_x(10 ** (own.mean() + sign * own.std())) for sign in (-1, 1))
        outlines = [
            path for path in panel.iter(f"{{{SVG}}}path")
            if f"stroke: {figure_style.cca_colour(cca)}" in (path.get("style") or "") and "C" in (path.get("d") or "")
        ]  # fmt: skip
        (outline,) = [path.get("d") for path in outlines if path.get("clip-path") is None and path.get("id") is None]
        points = np.array([float(text) for text in re.findall(r"-?[\d.]+", outline)]).reshape(-1, 2)[:25]
        curve = Path(points, [Path.MOVETO, *[Path.CURVE4] * 24]).to_polygons(closed_only=False)[0]
        places = curve[:, 0]
        assert (min(places), max(places)) == pytest.approx(ends, abs=0.05)
    assert "better: up, right" in words(panel)


def test_a_scenario_without_round_trip_times_has_no_panel(tmp_path):
    grid = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=100)
    study = tidy_tables.synthetic_study(grid, ["reno", "bbr"], replications=2)
    study["runs"].loc[study["runs"]["scenario"] == grid["scenario"][0], ["rtt_mean_ms", "rtt_above_ms"]] = None
    drawn = Drawn(tmp_path, study)
    drawn.draw("knee")
    assert set(drawn.data("knee")["scenario"]) == {grid["scenario"][1]}


@pytest.mark.parametrize(("change", "has"), [
    ({}, True), ({"traffic": {"protocol": "udp", "application": "iperf3"}}, False),
    ({"traffic": {"protocol": "tcp", "application": "round-trips"}}, False),
    ({"groups": [{"application": "web"}]}, False), ({"multipath": {"path_delay_ms": [0, 30]}}, False),
])  # fmt: skip
def test_who_has_the_plane(change, has):
    """Studies with TCP streams on one path, or on paths of one delay: they have a goodput and a queueing delay."""
    scenario = {
        "traffic": {"protocol": "tcp", "application": "iperf3"}, "groups": [], "multipath": {"path_delay_ms": [0]},
    }  # fmt: skip
    design = StudyDesign({"ccas": ["reno+cubic"], "scenarios": [scenario | change]})
    assert ("knee" in [figure.slug for figure in TOPIC.figures_of(design)]) == has


def test_the_details_say_how_delay_line_and_ellipse_are_calculated(root):
    """The page's caption is the first paragraph; the details page has all of them."""
    first, *others = (root / "workflow/scripts/topics/speed/captions/knee.rst").read_text().strip().split("\n\n")
    assert first.startswith("Goodput against delay")
    begins = ("Delay is the mean queueing delay", "If there are more than 100 replications", "The delay of the full queue is calculated", "Panels share an axis")  # fmt: skip
    assert [text.startswith(begin) for text, begin in zip(others, begins, strict=True)] == [True] * 4
