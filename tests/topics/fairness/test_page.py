"""The section on fairness: its sentences against known truth, its figures, and its appearance in a browser."""

import itertools
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jinja2 import Environment

import share_studies
import tidy_tables
from built_study import Built, only
from colour_vision import DEFICIENCY, contrast, lab, linear
from figure_parts import figure_style
from figure_parts.figure_svg import SVG, save_svg
from page_checks import check_page, empty_tables, page_text
from study_files.study_design import StudyDesign
from topics.fairness import topic as fairness
from topics.fairness.matrix_figure import draw_matrices, value_words
from topics.fairness.plot_competition import MOST_POINTS, goodput_over_time, middle_run, thinned
from topics.fairness.plot_share_factors import shares_of
from topics.fairness.plot_shares import SCALES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("web", [False, True])
def test_limits_are_those_of_the_study(web):
    """A study with web objects and no BBR doesn't say that it has no short flows, nor what BBR is."""
    text = Path(fairness.__file__).with_name("section.html.j2").read_text(encoding="utf-8")
    limits = Environment().from_string(text[text.index('<h3 id="fairness-limits">') :])
    some, ccas = (["web"], ["reno"]) if web else ([], ["reno", "bbr"])
    words = limits.render(some=some, has={"ccas_that_run": ccas}, topic={"replications": 6})
    assert ("short flows" in words, "<i>bbr</i>" in words) == (not web,) * 2


def built_alone(folder, study):
    """Build a study's page with this topic and those of all studies."""
    return Built(folder, topics=only("fairness")).build(study)


def figures(built):
    """Return the slugs of the topic's figures."""
    return [figure.slug for figure in fairness.TOPIC.figures_of(built.outline.design)]


@pytest.fixture(scope="module")
def three_ccas(tmp_path_factory):
    places = share_studies.scenarios(flows=6).iloc[:2]
    study = share_studies.sharing_study(["reno+cubic+bbr", "bbr"], places, replications=2)
    return built_alone(tmp_path_factory.mktemp("three"), study)


@pytest.fixture(scope="module")
def nothing_shared(tmp_path_factory):
    places = share_studies.scenarios().iloc[:2]
    study = share_studies.sharing_study(["reno+cubic", "cubic+reno"], places, replications=1, invalid_share=1.0)
    return built_alone(tmp_path_factory.mktemp("nothing"), study)


def test_page_says_what_was_put_in(fairness_study):
    text = page_text(fairness_study.page)
    assert re.search(
        r"In the scenario base, BBR takes 0\.9[56] \([\d.]+ to [\d.]+\) of the goodput of both against Vegas", text
    )
    assert "95 % intervals, 8 replications" in text
    turned = r"Who wins depends on the conditions in 1 of 6 pairs: CUBIC takes 0\.98 \([\d. to]+\) against BBR in buffer-4bdp, but 0\.3"
    assert re.search(turned, text)
    assert re.search(
        r"Share of a flow with an RTT of 40 ms against a flow of the same CCA with an RTT of 160 ms: Reno 0\.", text
    )
    worth = re.search(r"Starting first gives a share of (0\.\d+)", text)
    # A balance of 0.3 more.
    assert float(worth.group(1)) == pytest.approx(0.574, abs=0.02)
    assert "The testbed is symmetric" in text
    for table in fairness.TOPIC.tables:
        assert f'data-name="{table.name}.csv"' in fairness_study.page.read_text()


def test_matrices_have_a_tile_for_every_pair_and_none_is_too_large(fairness_study):
    table = pd.read_csv(fairness_study.data("fairness-shares"))
    assert len(table) == 5 * 16
    words = {text.text for text in ET.parse(fairness_study.figure("fairness-shares")).iter(f"{{{SVG}}}text")}
    assert {value_words(share) for share in table["share"]} <= words
    for slug in figures(fairness_study):
        assert fairness_study.figure(slug).stat().st_size < 300_000, slug


def dashes(built, first, second):
    """Return the number of dashed lines in the second flow's colour."""
    figure = ET.parse(built.figure(f"competition-{first}-{second}"))
    styles = [path.get("style", "") for path in figure.iter(f"{{{SVG}}}path")]
    return sum("stroke-dasharray" in style and figure_style.cca_colour(second) in style for style in styles)


def test_competitions_show_each_unordered_pair_once(fairness_study):
    mixes = fairness.competitions(fairness_study.outline.design)
    assert len(mixes) == 10 and "reno+cubic" in mixes and "cubic+reno" not in mixes
    data = pd.read_csv(fairness_study.data("competition-bbr-bbr"))
    assert set(data["flow"]) == {0, 1}
    # In each of the three panels the second flow, and its entry in the key.
    assert (dashes(fairness_study, "bbr", "bbr"), dashes(fairness_study, "reno", "cubic")) == (6, 0)


def test_three_ccas_with_six_flows_have_a_figure(three_ccas):
    data = pd.read_csv(three_ccas.data("fairness-mixes"))
    assert set(data["flow_cca"]) == {"reno", "cubic", "bbr"}
    assert figures(three_ccas) == ["fairness-mixes"]
    assert "Mixes that are not pairs" in page_text(three_ccas.page)


def test_without_a_valid_run_the_page_says_so(nothing_shared):
    text = page_text(nothing_shared.page)
    assert "no valid run" in text
    assert "In the scenario" not in text and "Who wins" not in text


@pytest.mark.parametrize("name", ["fairness_study", "three_ccas", "nothing_shared"])
def test_no_page_is_wider_than_its_screen(name, visit, request):
    page = request.getfixturevalue(name).page
    check_page(page, visit, (1400, 390, 360))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tiles_take_the_readers_theme(scheme, fairness_study, visit):
    page = visit(fairness_study.page, color_scheme=scheme)
    theme = {"light": figure_style.LIGHT, "dark": figure_style.DARK}[scheme]
    fills = page.evaluate(
        "[...document.querySelectorAll('#fairness-shares-figure path')].map(e => getComputedStyle(e).fill)"
    )
    rgb = tuple(int(theme.balance_7[place : place + 2], 16) for place in (1, 3, 5))
    assert f"rgb{rgb}" in fills


@pytest.mark.parametrize("theme", [figure_style.LIGHT, figure_style.DARK])
def test_balance_can_be_read_and_its_sides_told_apart_by_all_eyes(theme):
    steps = range(1, figure_style.BALANCE_STEPS + 1)
    colours = [figure_style.balance_colour(step, theme) for step in steps]
    for step, colour in zip(steps, colours, strict=True):
        # WCAG 2.2, 1.4.3.
        assert contrast(colour, figure_style.balance_text_colour(step, theme)) >= 4.5
    away = [contrast(colour, theme.paper) for colour in colours]
    assert away[:4] == sorted(away[:4], reverse=True) and away[3:] == sorted(away[3:])
    for matrix in DEFICIENCY.values():
        seen = [lab(np.array(matrix) @ linear(colour)) for colour in colours]
        assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) >= 10


def test_steps_of_the_scales():
    share, jain = SCALES["share"], SCALES["jain"]
    assert [share.step(value) for value in (0, 0.1, 0.3, 0.5, 0.6, 0.75, 0.9, 1)] == [1, 2, 3, 4, 5, 6, 7, 7]
    # As far from fair on either side.
    assert [share.step(0.5 - d) + share.step(0.5 + d) for d in (0.05, 0.15, 0.3, 0.45)] == [8] * 4
    # What is unfair stands out from the paper.
    assert [jain.step(value) for value in (0.5, 0.95, 1)] == [7, 1, 1]


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0.00"), (0.004, "<0.01"), (0.5, "0.50"), (0.997, ">0.99"), (1.0, "1.00")]
)
def test_words_of_a_tile(value, words):
    assert value_words(value) == words


def test_factors_as_the_other_cca_sees_them():
    row = {"ip_version": "ipv4", "scenario": "x", "replications": 5, "row_cca": "reno", "column_cca": "bbr"}
    factors = pd.DataFrame(
        [
            row | {"factor": "buffer_bdp", "level": 4.0, "share": 0.2, "share_low": 0.1, "share_high": 0.4},
            row | {"factor": "rtt_ratio", "level": 4.0, "share": 0.3, "share_low": None, "share_high": None},
        ]
    )
    other = shares_of("bbr", factors).set_index("factor")
    columns = ["level", "share", "share_low", "share_high"]
    assert other.loc["buffer_bdp", columns].tolist() == pytest.approx([4, 0.8, 0.6, 0.9])
    # Reno's path is the short one: the other flow's RTT is a quarter of BBR's.
    assert other.loc["rtt_ratio", ["level", "share"]].tolist() == pytest.approx([0.25, 0.7])
    assert shares_of("reno", factors)["level"].tolist() == [4.0, 4.0]


def test_middle_run_is_that_of_the_middle_share():
    runs = pd.DataFrame({"replication": [1, 2, 3, 4], "balance": [3.0, -1.0, 0.5, 0.4]})
    runs = runs.assign(scenario="a", cca="x+y", ip_version="ipv4")
    assert middle_run(runs, "a", "x+y") == ("a", "x+y", "ipv4", 4)
    assert middle_run(runs, "b", "x+y") is None


def test_lines_are_thinned_to_their_extremes():
    values = np.zeros(10_000)
    values[[77, 5000]] = 9, -9
    time_s, kept = thinned(np.arange(10_000.0), values)
    assert len(kept) <= MOST_POINTS and {9.0, -9.0} <= set(kept) and (np.diff(time_s) > 0).all()
    gaps = np.array([1.0, np.nan, 3.0])
    assert thinned(np.arange(3.0), gaps)[1].tolist() == [1.0, 3.0]


def test_goodput_over_time_is_bytes_over_seconds():
    rows = pd.DataFrame({"time_s": np.arange(0, 10.1, 0.1)})
    rows["bytes_acked"] = np.where(rows["time_s"] < 5, 0, (rows["time_s"] - 5) * 125_000)
    middle, mbps = goodput_over_time(rows, 1.0)
    assert middle[:2].tolist() == [0.5, 1.5]
    assert mbps.tolist() == pytest.approx([0] * 5 + [1] * 5)
    assert len(goodput_over_time(rows[:1], 1.0)[0]) == 0


def test_sixteen_ccas_have_readable_matrices_and_no_more_competitions_than_a_page_bears(tmp_path):
    ccas = tidy_tables.ALL_CCAS[:16]
    mixes = share_studies.ordered_pairs(ccas)
    study = share_studies.sharing_study(["bbr+bic"], share_studies.scenarios().iloc[:1], replications=1)
    design = StudyDesign(study["provenance"]["study"] | {"ccas": mixes})
    assert len(fairness.competitions(design)) == fairness.MOST_COMPETITIONS
    cells = pd.DataFrame(itertools.product(ccas, ccas), columns=["row_cca", "column_cca"])
    cells = cells.assign(scenario="base", ip_version="ipv4", value=0.5, note="")
    panel = {"scenario": "base", "ip_version": "ipv4", "title": "base", "conditions": ""}
    drawn = draw_matrices(cells, [panel], SCALES["share"])
    # Two panels of eight columns, each as wide as a phone bears without type becoming small.
    assert len(drawn.panels) == 2 and all(panel.width < 262 for panel in drawn.panels)
    save_svg(drawn.figure, tmp_path / "x.svg", "x", drawn.panels)
    assert (tmp_path / "x.svg").stat().st_size < 300_000


def test_one_replication_is_called_one(tmp_path):
    pairs = share_studies.ordered_pairs(["reno", "cubic"])
    study = share_studies.sharing_study(pairs, share_studies.scenarios().iloc[:2], replications=1)
    built = built_alone(tmp_path, study)
    text = page_text(built.page)
    assert "there is one replication of each pair: no interval" in text
    assert "Who wins" not in text or "In none of" in text or "Neither CCA of the pair is shown" in text
    assert empty_tables(built.page) == []
