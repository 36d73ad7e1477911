"""The comparing figures show the right numbers at the right positions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import drawn_figure
import tidy_tables
from drawn_figure import Drawn, marks, paths, scale, words
from figure_parts import axis_scales, figure_style
from run_tables.run_keys import CELL
from topics.cells import describe_cells
from topics.speed.goodput_scatter import DOTS_AT_MOST
from topics.speed.plot_distributions import STEPS_AT_MOST, steps
from topics.speed.plot_ideal import ramp_step, share_words
from topics.speed.plot_knee import full_queues_ms
from topics.validity import emulation_check

pytestmark = pytest.mark.filterwarnings("error")
GRID = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=100)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Two scenarios, three CCAs, two IP versions, three replications, one run excluded."""
    study = tidy_tables.synthetic_study(GRID, ["reno", "cubic", "bbr"], replications=3, spread=0.1)
    study["runs"].loc[1, ["valid", "goodput_mbps"]] = [False, 99999.0]
    return Drawn(tmp_path_factory.mktemp("values"), study)


def assert_places(drawn, expected):
    np.testing.assert_allclose(sorted(drawn), sorted(expected), atol=0.03)


@pytest.mark.parametrize(("name", "x", "kinds"), [("price", "retransmit_percent", ("linear", "log")),
                                                  ("knee", "delay_ms", ("log", "log"))])  # fmt: skip
def test_scatter_draws_every_valid_run_and_the_means(name, x, kinds, drawn):
    panel, data = drawn.panel(name), drawn.data(name)
    runs = drawn.runs.assign(delay_ms=drawn.runs["rtt_mean_ms"] - drawn.runs["rtt_path_ms"])
    valid = runs[runs["valid"]]
    means = valid.groupby(CELL, sort=False)[[x, "goodput_mbps"]].mean()
    shown = data[data["mark"] == "mean"]
    np.testing.assert_allclose(shown[[x, "goodput_mbps"]], means)
    assert len(data[data["mark"] == "replication"]) == len(valid)
    to_x, to_y = scale(panel, "x", kinds[0]), scale(panel, "y", kinds[1])
    first = GRID["scenario"][0]
    for cca in ("reno", "cubic", "bbr"):
        rows = data[(data["scenario"] == first) & (data["cca"] == cca)]
        expected = zip(map(to_x, rows[x]), map(to_y, rows["goodput_mbps"]), strict=True)
        assert_places(marks(panel, figure_style.cca_colour(cca)), expected)
    better = "better: up, right" if name == "knee" else "better: up, left"
    assert {"reno", "cubic", "bbr", better} <= set(words(panel))


def test_full_queue_is_a_line_where_it_is_known(drawn):
    # 1,000 packets of 1,514 bytes at 1 Gbit/s.
    known = {"scenario": "known", "queue_bytes": 1514e3, "rate_mbps": 1000.0, "capacity_mbps": 1000.0, "paths": 1}
    others = {
        "no queue": {"queue_bytes": None}, "no rate": {"rate_mbps": None, "capacity_mbps": None},
        "policed": {"capacity_mbps": 10.0}, "not carried out": {"capacity_mbps": None},
    }  # fmt: skip
    runs = pd.DataFrame([known, *(known | {"scenario": name} | other for name, other in others.items())])
    assert full_queues_ms(runs) == {"known": pytest.approx(12.112)}
    panel, data = drawn.panel("knee"), drawn.data("knee")
    value = data.loc[data["mark"] == "reference", "delay_ms"].iloc[0]
    dashed = paths(panel, "stroke-dasharray")
    assert dashed[0][0] == pytest.approx(scale(panel, "x", "log")(value), abs=0.03)


def test_of_many_replications_the_first_are_dots_and_the_mean_is_of_all(tmp_path):
    study = tidy_tables.synthetic_study(GRID[:1], ["reno"], ["ipv4"], replications=150)
    drawn = Drawn(tmp_path, study)
    drawn.draw("price")
    data = drawn.data("price")
    assert (data["mark"] == "replication").sum() == DOTS_AT_MOST
    assert data.loc[data["mark"] == "mean", "n"].item() == 150
    mean = study["runs"]["goodput_mbps"].mean()
    assert data.loc[data["mark"] == "mean", "goodput_mbps"].item() == pytest.approx(mean)


def test_ideal_is_a_share_of_what_could_be(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno", "cubic"], replications=2)
    runs = study["runs"]
    runs["goodput_mbps"] = runs["ideal_goodput_mbps"] * runs["replication"].map({1: 0.30, 2: 0.50})
    runs["ideal_percent"] = runs["replication"].map({1: 30.0, 2: 50.0})
    runs.loc[runs["cca"].eq("cubic") & runs["scenario"].eq(GRID["scenario"][0]), "valid"] = False
    runs.loc[runs["cca"].eq("cubic") & runs["scenario"].eq(GRID["scenario"][1]), "ideal_goodput_mbps"] = None
    drawn = Drawn(tmp_path, study)
    tiles = words(drawn.panel("ideal"))
    assert tiles.count("40.0") == 2
    assert tiles.count("none") == tiles.count("?") == 1
    data = drawn.data("ideal").set_index(CELL)
    cell = (GRID["scenario"][0], "reno", "ipv6")
    assert data.loc[cell, "percent"] == pytest.approx(40)
    assert data.loc[cell, "ideal_goodput_mbps"] == pytest.approx(100 * 1428 / 1514)
    assert data["note"].value_counts().to_dict() == {"no valid run": 2, "no ideal known": 2}


def test_ideal_words_and_colours_of_shares():
    shares = [0, 0.004, 0.04, 0.96, 3, 29.96, 89.9, 99.96, 123.4]
    assert [share_words(s) for s in shares] == ["0.0", "<0.01", "0.04", "1.0", "3.0", "30.0", "89.9", "100", "123"]
    assert [ramp_step(s) for s in (0, 0.99, 1, 3, 10, 30, 60, 90, 101)] == [1, 1, 2, 3, 4, 5, 6, 7, 7]


def test_no_limit_no_ideal(tmp_path):
    grid = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=None)
    drawn = Drawn(tmp_path, tidy_tables.synthetic_study(grid, ["reno"], replications=2))
    assert any(text.startswith("no ideal: neither the link nor the sender") for text in words(drawn.panel("ideal")))


def test_a_scenario_without_an_ideal_has_no_row_beside_others(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno"], replications=2)
    other = study["runs"]["scenario"] == GRID["scenario"][1]
    study["runs"].loc[other, "ideal_goodput_mbps"] = None
    drawn = Drawn(tmp_path, study)
    assert "?" not in words(drawn.panel("ideal"))
    assert (drawn.data("ideal")["note"] == "no ideal known").sum() == 2


# Newcombe (1998), Statistics in Medicine 17:857-872, table I, method 3 (score, not corrected).
@pytest.mark.parametrize(("hits", "trials", "low", "high"), [
    (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718),
])  # fmt: skip
def test_wilson_interval_as_published(hits, trials, low, high):
    assert emulation_check.wilson_interval(hits, trials, 0.95) == pytest.approx((low, high), abs=5e-5)
    mirrored = emulation_check.wilson_interval(trials - hits, trials, 0.95)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_losses_of_one_seed_count_once(tmp_path):
    study = tidy_tables.synthetic_study(GRID[:1], ["reno", "cubic", "bbr"], ["ipv4"], replications=2)
    runs = study["runs"]
    runs["packets_sent"] = runs["cca"].map({"reno": 1000, "cubic": 2100, "bbr": 50_000})
    runs["queue_drops"] = runs["cca"].map({"reno": 0, "cubic": 100, "bbr": 0})
    runs["link_drops"] = runs["cca"].map({"reno": 9, "cubic": 22, "bbr": 900})
    runs.loc[runs["cca"].eq("bbr") & runs["replication"].eq(1), "valid"] = False
    drawn = Drawn(tmp_path, study)
    drawn.draw("emulation")
    loss = drawn.data("emulation").set_index("quantity").loc["loss"]
    # cubic of the first seed, bbr of the second.
    assert (loss["runs"], loss["packets"]) == (2, 52_000)
    assert loss["realised"] == pytest.approx(100 * 922 / 52_000)
    both = emulation_check.wilson_interval(922, 52_000, 0.95)
    assert (loss["low"] / 100, loss["high"] / 100) == pytest.approx(both)


def test_emulation_shows_deviations_and_says_what_was_not_counted(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno"], replications=3)
    runs = study["runs"]
    lossy = runs["scenario"] == GRID["scenario"][0]
    runs.loc[~lossy, ["queue_drops", "link_drops"]] = None
    runs.loc[lossy, "rtt_min_ms"] = [20.3, 20.1, 20.2, 20.5, 20.4, 20.6]
    drawn = Drawn(tmp_path, study)
    panel, data = drawn.panel("emulation", 2), drawn.data("emulation")
    rtt = data[data["quantity"] == "smallest RTT"].iloc[0]
    assert (rtt["configured"], rtt["realised"], rtt["low"], rtt["high"]) == (20, 20.1, 20.1, 20.6)
    to_x = scale(panel, "x", "linear")
    dots = [place[0] for place in marks(panel, figure_style.LIGHT.blue, "fill")]
    assert dots[0] == pytest.approx(to_x(0.1), abs=0.03)
    loss = data[data["quantity"] == "loss"].iloc[1]
    assert pd.isna(loss["realised"])
    assert loss["note"] == emulation_check.UNKNOWN
    assert emulation_check.UNKNOWN in words(drawn.panel("emulation", 1))


def test_difference_marks_band_and_arrowheads(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno", "cubic", "bbr", "vegas"], replications=3)
    table = drawn_figure.difference_table(study["runs"])
    first = (table["metric"] == "goodput_mbps") & (table["scenario"] == GRID["scenario"][0])
    numbers = ["ci_low", "ci_high", "ci90_low", "ci90_high"]
    table.loc[first & table["cca"].eq("reno"), ["effect", *numbers]] = [-2, -80, 70, -60, 60]
    table.loc[first & table["cca"].eq("cubic"), ["effect", *numbers]] = [1.5, 1, 2, 1.1, 1.9]
    table.loc[first & table["cca"].eq("bbr"), numbers] = None
    table = table[~(first & table["cca"].eq("vegas"))]
    drawn = Drawn(tmp_path, study, table)
    panel, data = drawn.panel("ip-difference-goodput"), drawn.data("ip-difference-goodput")
    to_x = scale(panel, "x", "linear")
    ((x, _),) = marks(panel, figure_style.cca_colour("cubic"))
    assert x == pytest.approx(to_x(1.5), abs=0.03)
    band = paths(panel, f"fill: {figure_style.LIGHT.line}")[0]
    assert (min(band[::2]), max(band[::2])) == pytest.approx((to_x(-5), to_x(5)), abs=0.03)
    dashed = paths(panel, "stroke-dasharray")
    assert dashed[0][0] == pytest.approx(to_x(-1.381), abs=0.03)
    # Thin lines: cut at both ends (reno), in full (cubic), none (bbr and vegas).
    thin = [p for p in paths(panel, f"stroke: {figure_style.LIGHT.ink}; stroke-linecap: square") if len(p) == 4]
    assert len(thin) == 2
    assert (thin[1][0], thin[1][2]) == pytest.approx((to_x(1), to_x(2)), abs=0.03)
    assert len(marks(panel, figure_style.LIGHT.ink, "fill")) == 2
    assert words(panel).count("no pair") == 1
    assert data["effect"].isna().sum() == 1
    assert "cubic: 1.500 (1.000 to 2.000), undecided" in panel.get("aria-label")


@pytest.mark.parametrize(("values", "margin"), [([-1.4, -1.3], 5.0), ([-40.0, 3.0], 0.5), ([300.0], 5.0),
                                                ([0.0], None), ([], None), ([-2.0, -1.0], None)])  # fmt: skip
def test_axis_of_differences_keeps_margins_and_values_legible(values, margin):
    axis = axis_scales.difference_axis(values, margin)
    assert axis.low <= 0 <= axis.high
    assert all(axis.low <= value <= axis.high for value in [*values, -(margin or 0), margin or 0])
    assert 0 in axis.ticks
    assert 2 <= len(axis.ticks) <= 9
    assert all(axis.low <= value <= axis.high for value in axis.ticks)
    if margin and axis.kind == "linear":
        assert 2 * margin >= 0.1 * axis.length()
    if axis.kind == "symlog":
        assert axis.linear_below == margin


def test_steps_are_the_empirical_distribution():
    values = np.random.default_rng(3).normal(size=57)
    ours, shares = steps(values)
    theirs = stats.ecdf(values).cdf
    np.testing.assert_array_equal(ours, theirs.quantiles)
    np.testing.assert_allclose(shares, theirs.probabilities)
    many, shares = steps(np.arange(5000.0))
    assert len(many) <= STEPS_AT_MOST
    assert (many[0], many[-1], shares[-1]) == (0, 4999, 1)
    np.testing.assert_allclose(shares, (many + 1) / 5000)


def test_distribution_of_one_value_is_an_upright_line(tmp_path):
    study = tidy_tables.synthetic_study(GRID[:1], ["reno", "cubic"], ["ipv4"], replications=1)
    drawn = Drawn(tmp_path, study)
    panel = drawn.panel("distributions")
    lines = [p for p in paths(panel, f"stroke: {figure_style.cca_colour('reno')}") if len(p) > 4]
    assert len(set(lines[0][::2])) == 1
    to_x = scale(panel, "x", "linear")
    assert lines[0][0] == pytest.approx(to_x(study["runs"]["goodput_mbps"].iloc[0]), abs=0.03)
    assert list(drawn.data("distributions")["share"]) == [1, 1]


def test_methods_side_by_side(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno", "cubic"], replications=2)
    other = describe_cells.describe_cells(study["runs"], 0.95)
    other["mean"] *= 3
    other = other[~(other["scenario"].eq(GRID["scenario"][1]) & other["cca"].eq("cubic"))]
    drawn = Drawn(tmp_path, study, other=other)
    panel, data = drawn.panel("methods"), drawn.data("methods")
    assert len(data) == 6
    np.testing.assert_allclose(data["other_goodput_mbps"], 3 * data["goodput_mbps"])
    to_x = scale(panel, "x", "log")
    here = data[data["scenario"] == GRID["scenario"][0]]
    for cca in ("reno", "cubic"):
        places = [x for x, _ in marks(panel, figure_style.cca_colour(cca))]
        assert_places(places, map(to_x, here.loc[here["cca"] == cca, "goodput_mbps"]))
    assert_places([x for x, _ in marks(panel, figure_style.LIGHT.ink)], map(to_x, here["other_goodput_mbps"]))


def test_methods_without_a_common_cell_says_so(tmp_path):
    study = tidy_tables.synthetic_study(GRID, ["reno"], replications=2)
    other = describe_cells.describe_cells(study["runs"], 0.95).assign(scenario="elsewhere")
    drawn = Drawn(tmp_path, study, other=other)
    assert words(drawn.panel("methods")) == ["The studies have no cells in common."]
    assert drawn.data("methods").empty
