"""Figures: the same bytes, all of the data, distinguishable colours, sensible axes."""

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from colour_vision import DEFICIENCY, contrast, lab, linear
from drawn_figure import Drawn, marks, panel, words
from figure_parts import axis_scales, figure_style
from figure_parts.figure_svg import SVG
from run_tables.metrics import METRICS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("slug", ["goodput", "rtt", "loss", "retransmits"])
def test_every_valid_replication_is_a_dot(slug, real_shape):
    runs = pd.read_csv(real_shape.folder / "tidy" / "runs.csv")
    for number, scenario in enumerate(runs["scenario"].unique(), 1):
        valid = runs[(runs["scenario"] == scenario) & runs["valid"]]
        assert len(marks(panel(real_shape.figure(slug), number))) == len(valid)


def test_data_beside_a_figure_are_what_it_shows(real_shape):
    for metric in METRICS:
        data = pd.read_csv(real_shape.data(metric.slug), dtype={"scenario_label": str})
        runs = pd.read_csv(real_shape.folder / "tidy" / "runs.csv")
        described = pd.read_csv(real_shape.folder / "analysis" / "descriptive.csv")
        dots, means = data[data["mark"] == "replication"], data[data["mark"] == "mean"]
        assert sorted(dots[metric.column]) == sorted(runs.loc[runs["valid"], metric.column])
        expected = described[described["metric"] == metric.column]
        np.testing.assert_array_equal(means["ci_low"], expected["ci_low"])
        np.testing.assert_array_equal(means[metric.column], expected["mean"])


def test_figure_is_plain_svg_with_a_view_for_each_panel(real_shape):
    root = ET.parse(real_shape.figure("goodput")).getroot()
    assert len(root.findall(f"{{{SVG}}}view")) == 12
    text = real_shape.figure("goodput").read_text()
    assert "<metadata" not in text
    assert "Matplotlib" not in text
    assert "var(" not in text  # other programs than browsers read it too
    labels = {element.text for element in root.iter(f"{{{SVG}}}text")}
    assert {"Scenario 12", "1 Gbit/s, RTT 200 ms, 1 % loss, 12 flows", "westwood"} <= labels


def test_panel_says_its_means(small):
    described = pd.read_csv(small.folder / "analysis" / "descriptive.csv")
    mean = described.loc[described["metric"] == "goodput_mbps", "mean"].iloc[0]
    assert f"reno: IPv4 {mean:.3f}" in panel(small.figure("goodput")).get("aria-label")


@pytest.mark.parametrize("theme", [figure_style.LIGHT, figure_style.DARK])
def test_colours_stand_out_and_apart_for_all_eyes(theme):
    colours = [getattr(theme, hue) for hue in figure_style.HUES]
    for colour in colours:
        assert contrast(colour, theme.paper) >= 3  # WCAG 2.2, 1.4.11
    for name, matrix in DEFICIENCY.items():
        seen = [lab(np.array(matrix) @ linear(colour)) for colour in colours]
        for one, two in itertools.combinations(range(len(seen)), 2):
            distance = np.linalg.norm(seen[one] - seen[two])
            assert distance >= 20, (name, colours[one], colours[two])


def test_every_cca_of_the_kernel_has_a_mark_of_its_own():
    assert set(figure_style.CCA_STYLE) == set(tidy_tables.ALL_CCAS)
    assert len(set(figure_style.CCA_STYLE.values())) == 17


def test_axis_kinds():
    assert axis_scales.axis_for([850.0, 1000.0]).kind == "linear"
    assert axis_scales.axis_for([850.0, 1000.0]).low > 700
    assert axis_scales.axis_for([100.0, 900.0]).low < 0 < 100  # begins at zero
    assert axis_scales.axis_for([1.0, 900.0]).kind == "log"
    mixed = axis_scales.axis_for([0.0, 5.0, 90000.0])
    assert (mixed.kind, mixed.linear_below, mixed.ticks[0]) == ("symlog", 1.0, 0)
    assert axis_scales.axis_for([]).kind == axis_scales.axis_for([0.0]).kind == "linear"
    with pytest.raises(ValueError, match="below 0"):
        axis_scales.axis_for([-1.0])


@pytest.mark.parametrize("seed", range(30))
def test_axes_hold_all_values_and_have_ticks(seed):
    rng = np.random.default_rng(seed)
    panels = [
        list(np.round(10 ** rng.uniform(-4, 5, rng.integers(1, 9)) * rng.integers(0, 2), 4))
        for _ in range(rng.integers(1, 6))
    ]
    for axis, values in zip(axis_scales.panel_axes(panels), panels, strict=True):
        assert all(axis.low <= value <= axis.high for value in values)
        assert 1 <= len(axis.ticks) <= 7
        assert all(axis.low <= value <= axis.high for value in axis.ticks)


def test_panels_share_an_axis_unless_squeezed():
    near = axis_scales.panel_axes([[900.0, 950.0], [910.0, 960.0], [1.0, 900.0]])
    assert near[0] == near[1] != near[2]
    far = axis_scales.panel_axes([[900.0, 950.0], [90.0, 95.0]])
    assert far[0] != far[1]


def test_round_trip_axes_cover_the_same_multiples_of_the_path():
    one, two = axis_scales.relative_axes([[20.0, 21.0], [200.0, 390.0]], [20.0, 200.0])
    assert one.high / 20 == pytest.approx(two.high / 200)
    assert one.low / 20 == pytest.approx(two.low / 200)


def test_no_value_of_an_excluded_run_is_shown(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["reno"], ["ipv4"], replications=3)
    study["runs"].loc[0, ["valid", "goodput_mbps"]] = [False, 123456.0]
    drawn = Drawn(tmp_path, study)
    assert len(marks(drawn.panel("goodput"))) == 2
    assert 123456.0 not in list(drawn.data("goodput")["goodput_mbps"])


def test_a_cell_with_valid_runs_and_without_values_is_not_called_invalid(tmp_path):
    """QUIC encrypts what identifies retransmissions, so valid runs of a program over UDP have none."""
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic", "bbr"], ["ipv4"], replications=2)
    runs = study["runs"]
    runs.loc[runs["cca"] == "cubic", "retransmits"] = None
    runs.loc[runs["cca"] == "bbr", "valid"] = False
    texts = words(Drawn(tmp_path, study).panel("retransmits"))
    assert texts.count("no value") == 1 and texts.count("no valid run") == 1
