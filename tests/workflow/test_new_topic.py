"""Adding a topic: a folder adds its tables, figures, section and findings to the page."""

import re

import pytest

from page_checks import check_content

SMOKE = ("--configfile", "config/studies/smoke.yaml")
#: All that a developer writes.
FILES = {
    "topic.py": """
from run_tables.table import Table, count_column, text_column
from topics.topic import Analysis, Plot, Topic

RUN_COUNTS = Table("run_counts", "a CCA", (text_column("cca", "The CCA."), count_column("runs", "runs", "Its runs.")))
CAPTION = "Runs of {{ snakemake.params.cca_shown }}, {{ snakemake.params.replications }} of each cell."


def figures(design):
    for cca in design.ccas_that_run:
        more = {"params": {"cca_shown": cca}, "caption_text": CAPTION}
        yield Plot(f"runs-{cca}", "plot_runs", ("run_counts",), title=cca, shows="runs", **more)


TOPIC = Topic(
    "run_counts",
    "Runs",
    order=1,
    heading="How many runs?",
    applies=lambda design: not design.mixes,
    analyses=(Analysis("count_runs", ("runs",), (RUN_COUNTS,)),),
    figures=figures,
)
""",
    "count_runs.py": """
def count_runs(runs):
    return runs.groupby("cca", sort=False).size().rename("runs").reset_index()
""",
    "plot_runs.py": """
from figure_parts.category_panels import CategoryPanels, slots
from figure_parts.axis_scales import linear_axis
from figure_parts.figure_style import apply_style


def plot_runs(run_counts, cca_shown):
    apply_style()
    drawn = CategoryPanels("Runs", 1)
    axes = drawn.add("Runs", cca_shown, linear_axis(0, run_counts["runs"].max()))
    slots(axes, list(run_counts["cca"]), "CCA")
    axes.bar(range(len(run_counts)), run_counts["runs"])
    drawn.finish(axes, f"Runs of {cca_shown}.")
    return drawn.drawing("Runs", run_counts)
""",
    "section.py": """
from report_parts.cells_table import CCA, PageTable, shown_number
from report_parts.material import Finding

TABLES = {"table": PageTable("runs-by-cca", "Runs by CCA", "run_counts", (CCA, shown_number("Runs", "runs", 0)))}


def findings(material):
    return [Finding("Runs", f"{material.study['title']} has runs.", "run-counts")]
""",
    "section.html.j2": """
  {% for slug in figures if slug.startswith("runs-") %}
  {{ part.figure(figures[slug]) }}
  {% endfor %}
  {{ part.data_table(topic.table) }}
  <p class="downloads">{{ part.download(files.run_counts, "Runs counted (CSV)") }}</p>
""",
}


@pytest.fixture
def with_topic(copy_of_smoke):
    """A finished study's checkout, with one more topic."""
    folder = copy_of_smoke.folder / "workflow/scripts/topics"
    for name, text in FILES.items():
        path = folder / "run_counts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))
    return copy_of_smoke


def test_a_topic_takes_few_files_and_lines():
    assert len(FILES) <= 5
    assert sum(text.strip("\n").count("\n") + 1 for text in FILES.values()) <= 80


@pytest.mark.long
def test_topic_is_part_of_the_page_and_no_run_is_repeated(with_topic):
    planned = with_topic.planned(*SMOKE)
    assert {"analyse_study": 1, "draw_figures": 1}.items() <= planned.items()
    assert not {"emulate_run", "tidy_runs"} & planned.keys()
    with_topic.snakemake("--cores", "all", *SMOKE)
    page = with_topic.folder / "results/smoke/report.html"
    check_content(page)
    short, html = page.read_text(), page.with_name("details.html").read_text()
    for one, before in ((short, ["findings"]), (html, [])):
        sections = re.findall(r'<section id="([^"]+)"', one)
        places = [sections.index(name) for name in (*before, "run-counts", "speed", "validity")]
        assert places == sorted(places)
    assert '<p class="kind">Question 1</p>\n  <h2 id="run-counts-heading">' in html
    assert '<p class="kind">Question 3</p>\n  <h2 id="speed-heading">' in html
    assert '<li><a href="#run-counts">Runs</a></li>' in html
    assert '<li><a href="#run-counts">Runs</a> <span>Reno and Vegas, a first look has runs.</span></li>' in short
    for cca in ("reno", "vegas"):
        assert f"<figcaption>Runs of {cca}, 2 of each cell.</figcaption>" in html
    assert "Runs by CCA" in html
    assert 'data-name="run_counts.csv"' in html


@pytest.mark.parametrize("right, wrong", [('("run_counts",), title', "run_cuonts"), ('("runs",), (RUN', "rusn")])
def test_a_misspelt_input_is_found_where_snakemake_plans(with_topic, right, wrong):
    topic = with_topic.folder / "workflow/scripts/topics/run_counts/topic.py"
    name = right.split('"')[1]
    topic.write_text(topic.read_text().replace(right, right.replace(name, wrong)))
    status, printed = with_topic.snakemake("--cores", "1", "--dry-run", *SMOKE, check=False)
    assert status != 0
    assert f"{wrong}.csv" in printed
