"""A topic plugs in: its tables, figures, section and findings are in the page of the studies that have it, and in no other."""

import re
import shutil
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import tidy_tables
from built_study import ROOT, Built
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import save_svg
from figure_parts.scenario_panels import scenario_grid
from page_checks import PageParts
from report_parts import report_topics
from report_parts.findings import Finding
from report_parts.report_columns import kinds_of
from study_files import study_outline
from study_topics.topic import Figure, Topic

CAPTION = "Runs of {{ snakemake.params.cca_shown }}, {{ snakemake.params.replications }} of each cell."
TEMPLATE = """\
<section id="run-counts" aria-labelledby="run-counts-heading">
  <p class="kind">Question {{ question }}</p>
  <h2 id="run-counts-heading">How many runs?</h2>
  {% for slug in topic.slugs %}
  {{ part.figure(figures[slug]) }}
  {% endfor %}
  <p>{{ topic.words }}</p>
  <p class="downloads">{{ part.download(files.run_counts, "Runs counted (CSV)") }}</p>
</section>
"""


def figures(design):
    return [Figure(f"runs-{cca}", "runs", {"cca_shown": cca}) for cca in design.ccas_that_run]


TOPIC = Topic("run_counts", "Runs", applies=lambda design: bool(design.series), tables=("run_counts",), figures=figures)


def section(material):
    if material.tables.run_counts.empty:
        return None
    slugs = [slug for slug in material.figures if slug.startswith("runs-")]
    return {"slugs": slugs, "words": f"{len(material.tables.run_counts)} CCAs over {material.design.ip_versions[0]}"}


def topic_findings(material):
    return [Finding("Runs", f"{material.study['title']} has runs.", "run-counts")] if section(material) else []


def count_runs(built):
    """Do what the topic's rules do."""
    counts = pd.read_csv(built.table("runs")).groupby("cca", sort=False).size().rename("runs").reset_index()
    counts.to_csv(built.table("run_counts"), index=False)
    for figure in figures(built.outline.design):
        apply_style()
        grid = scenario_grid(1, 100)
        drawn = grid.figure()
        grid.axes(drawn, 0, 20, 20, 20, 20).plot([0, 1], [0, 1])
        save_svg(drawn, built.figure(figure.slug), "Runs", [grid.panel(0, f"Runs of {figure.slug}.")])
        plt.close(drawn)
        counts.to_csv(built.data(figure.slug), index=False)


@pytest.fixture
def registered(monkeypatch, tmp_path):
    """The topic in both registries, and the folder with its template and caption."""
    module = SimpleNamespace(TABLES={"run_counts": kinds_of("cca", "runs")}, section=section, findings=topic_findings)
    monkeypatch.setattr(study_outline, "TOPICS", (TOPIC,))
    monkeypatch.setattr(report_topics, "MODULES", {"run_counts": module})
    report = tmp_path / "report"
    shutil.copytree(ROOT / "report", report)
    (report / "sections/run_counts.html.j2").write_text(TEMPLATE)
    (report / "captions/runs.rst").write_text(CAPTION)
    return report


def built_with(report, folder, study, **more):
    return Built(folder, report=report).build(study, **more)


def test_topic_is_part_of_the_page(registered, tmp_path):
    built = built_with(registered, tmp_path / "study", tidy_tables.time_series_study(), steps=[count_runs])
    html = built.page.read_text()
    parts = PageParts.of(built.page)
    assert set(parts.targets) <= set(parts.ids)
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert sections.index("validity") < sections.index("run-counts") < sections.index("speed")
    assert '<p class="kind">Question 1</p>\n  <h2 id="run-counts-heading">' in html
    assert '<p class="kind">Question 2</p>\n  <h2 id="speed-heading">' in html
    assert '<li><a href="#run-counts">Runs</a></li>' in html
    assert '<li><a href="#run-counts">Runs</a> <span>A synthetic study has runs.</span></li>' in html
    for cca in ("reno", "cubic", "vegas", "bbr"):
        assert f"<figcaption>Runs of {cca}, 3 of each cell.</figcaption>" in html
    assert "<p>4 CCAs over ipv4</p>" in html
    assert 'data-name="run_counts.csv"' in html


def test_topic_of_another_design_leaves_no_trace(registered, tmp_path):
    study = tidy_tables.synthetic_study(tidy_tables.grid((10,), (0,), (1,)), ["reno"], replications=2)
    built = built_with(registered, tmp_path / "study", study)
    assert "run-counts" not in built.page.read_text()
    assert built.outline.topics == ()


def test_topic_with_nothing_to_show_is_left_out(registered, tmp_path):
    def nothing(built):
        count_runs(built)
        built.change("run_counts", lambda table: table[:0])

    built = built_with(registered, tmp_path / "study", tidy_tables.time_series_study(), steps=[nothing])
    html = built.page.read_text()
    assert "run-counts" not in html
    assert '<p class="kind">Question 1</p>\n  <h2 id="speed-heading">' in html


def test_missing_column_of_a_topic_is_named(registered, tmp_path):
    def without(built):
        count_runs(built)
        built.change("run_counts", lambda table: table.drop(columns="runs"))

    with pytest.raises(ValueError, match="run_counts.csv: no column runs"):
        built_with(registered, tmp_path / "study", tidy_tables.time_series_study(), steps=[without])


def test_every_registered_topic_has_its_files():
    from study_topics.registry import TOPICS

    assert [topic.name for topic in TOPICS] == list(report_topics.MODULES)
    for topic in TOPICS:
        assert (ROOT / f"workflow/rules/{topic.name}.smk").exists()
        assert (ROOT / f"report/sections/{topic.name}.html.j2").exists()
        assert set(report_topics.MODULES[topic.name].TABLES) == set(topic.tables)
