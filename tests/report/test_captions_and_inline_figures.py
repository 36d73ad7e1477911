"""Captions that are filled in, and figures that become part of the page."""

import re

import jinja2
import pytest

import tidy_tables
from figure_parts.captions import render_caption, write_caption
from report_parts.inline_figures import inline_panels


def test_caption_is_filled_and_a_misspelt_value_is_an_error(tmp_path):
    caption = tmp_path / "caption.rst"
    caption.write_text("{{ snakemake.params.replications }} runs\nin each cell.\n")
    assert render_caption(caption, {"replications": 7}) == "7 runs in each cell."
    caption.write_text("{{ snakemake.params.replications }} runs.\n\nHow to\nread them.\n")
    assert render_caption(caption, {"replications": 7}) == "7 runs.\n\nHow to read them."
    caption.write_text("{{ snakemake.params.repetitions }}")
    with pytest.raises(jinja2.UndefinedError):
        render_caption(caption, {"replications": 7})


def test_a_filled_caption_is_read_as_it_was_written(tmp_path):
    template, filled = "Runs of {{ snakemake.params.name }}.", tmp_path / "filled.rst"
    for name in ("{{ 7 * 7 }}", "{% raw %} }}", "{# a #}", "a {b} c", "reno+cubic"):
        write_caption(template, {"name": name}, filled)
        assert render_caption(filled, {}) == f"Runs of {name}."


def test_foreign_figure_is_refused(small, tmp_path):
    path = tmp_path / "goodput.svg"
    injected = small.figure("goodput").read_text().replace('<g id="patch_2">', '<g id="patch_2"><script>1</script>')
    for text, message in (
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "goodput.svg: no <view>"),
        ("<svg", "goodput.svg: not an SVG file"),
        (injected, "contains <script>"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            inline_panels(path, "goodput")


@pytest.mark.slow
def test_marks_gathered_in_the_page_are_all_there(build):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))
    built = build(tidy_tables.synthetic_study(scenarios, ["reno"], replications=20))
    html = built.page.read_text()
    figure = re.search(r'<figure id="goodput-figure">(.*?)</figure>', html, re.DOTALL).group(1)
    lines = re.findall(r'd="M([-\d. ]+)" style="fill: none; stroke: none; marker-start: url\(#([^)]+)\)', figure)
    assert len(lines) == 2
    for points, marker in lines:
        assert len(points.split()) == 2 * 20
        assert f'<marker id="{marker}"' in figure


@pytest.mark.parametrize("metric", ["goodput", "retransmits"])
def test_captions_say_that_only_flows_under_test_count(root, metric):
    caption = root / f"workflow/scripts/topics/cells/captions/{metric}.rst"
    params = {"by": "scenario", "replications": 7, "has_intervals": False, "both_ip_versions": False}
    for some in ([], ["others on the link"]):
        words = render_caption(caption, params | {"some": some})
        assert ("only the flows with the CCA under test" in words.replace("Only", "only")) == bool(some)
