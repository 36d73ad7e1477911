"""A topic plugs in: a folder and a name in the registry put its tables, figures, section and findings into the page."""

import re

import pytest

from page_checks import PageParts

SMOKE = ("--configfile", "config/studies/smoke.yaml")
#: All that a developer writes.
FILES = {
    "topic.py": """
from run_tables.table import Table, count_column, text_column
from topics.topic import Analysis, Plot, Topic

RUN_COUNTS = Table("run_counts", "a CCA", (text_column("cca", "The CCA."), count_column("runs", "runs", "Its runs.")))


def figures(design):
    for cca in design.ccas_that_run:
        yield Plot(f"runs-{cca}", "plot_runs", ("run_counts",), title=cca, shows="runs", params={"cca_shown": cca}, caption="runs")


TOPIC = Topic(
    "run_counts",
    "Runs",
    applies=lambda design: not design.mixes,
    analyses=(Analysis("count_runs", ("runs",), (RUN_COUNTS,)),),
    figures=figures,
)
""",
    "count_runs.py": """
from rule_script import run_rule
from run_tables.reading import read_runs
from topics.run_counts.topic import RUN_COUNTS


def main(inputs, outputs, params):
    counts = read_runs(inputs.runs).groupby("cca", sort=False).size().rename("runs").reset_index()
    counts[RUN_COUNTS.names].to_csv(outputs.run_counts, index=False)


if "snakemake" in globals():
    run_rule(main, snakemake)
""",
    "plot_runs.py": """
import matplotlib.pyplot as plt
from figure_parts.figure_style import apply_style
from figure_parts.figure_svg import save_svg
from figure_parts.scenario_panels import scenario_grid
from rule_script import run_rule
from run_tables.reading import read_table
from topics.run_counts.topic import RUN_COUNTS


def main(inputs, outputs, params):
    table = read_table(inputs.run_counts, RUN_COUNTS)
    apply_style()
    grid = scenario_grid(1, 100)
    drawn = grid.figure()
    grid.axes(drawn, 0, 20, 20, 20, 20).plot([0, 1], [0, 1])
    save_svg(drawn, outputs.figure, "Runs", [grid.panel(0, f"Runs of {params.cca_shown}.")])
    plt.close(drawn)
    table.to_csv(outputs.data, index=False)


if "snakemake" in globals():
    run_rule(main, snakemake)
""",
    "section.py": """
from report_parts.material import Finding


def section(material):
    if material.tables.run_counts.empty:
        return None
    slugs = [slug for slug in material.figures if slug.startswith("runs-")]
    return {"slugs": slugs, "words": f"{len(material.tables.run_counts)} CCAs over {material.design.ip_versions[0]}"}


def findings(material):
    return [Finding("Runs", f"{material.study['title']} has runs.", "run-counts")] if section(material) else []
""",
    "section.html.j2": """<section id="run-counts" aria-labelledby="run-counts-heading">
  <p class="kind">Question {{ question }}</p>
  <h2 id="run-counts-heading">How many runs?</h2>
  {% for slug in topic.slugs %}
  {{ part.figure(figures[slug]) }}
  {% endfor %}
  <p>{{ topic.words }}</p>
  <p class="downloads">{{ part.download(files.run_counts, "Runs counted (CSV)") }}</p>
</section>
""",
    "captions/runs.rst": "Runs of {{ snakemake.params.cca_shown }}, {{ snakemake.params.replications }} of each cell.",
}


@pytest.fixture
def with_topic(copy_of_smoke):
    """A finished study's checkout, with one more topic."""
    folder = copy_of_smoke.folder / "workflow/scripts/topics"
    for name, text in FILES.items():
        path = folder / "run_counts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip())
    return copy_of_smoke


def test_topic_is_part_of_the_page_and_no_run_is_repeated(with_topic):
    planned = with_topic.planned(*SMOKE)
    assert {"analyse_study": 1, "draw_figures": 1}.items() <= planned.items()
    assert not {"emulate_run", "tidy_runs"} & planned.keys()
    with_topic.snakemake("--cores", "all", *SMOKE)
    page = with_topic.folder / "results/smoke/report.html"
    html, parts = page.read_text(), PageParts.of(page)
    assert set(parts.targets) <= set(parts.ids)
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert (
        sections.index("findings") < sections.index("run-counts") < sections.index("speed") < sections.index("validity")
    )
    assert '<p class="kind">Question 1</p>\n  <h2 id="run-counts-heading">' in html
    assert '<p class="kind">Question 2</p>\n  <h2 id="speed-heading">' in html
    assert '<li><a href="#run-counts">Runs</a></li>' in html
    assert '<li><a href="#run-counts">Runs</a> <span>Reno and Vegas, a first look has runs.</span></li>' in html
    for cca in ("reno", "vegas"):
        assert f"<figcaption>Runs of {cca}, 2 of each cell.</figcaption>" in html
    assert "<p>2 CCAs over ipv4</p>" in html
    assert 'data-name="run_counts.csv"' in html


@pytest.mark.parametrize("right, wrong", [('("run_counts",), title', "run_cuonts"), ('("runs",), (RUN', "rusn")])
def test_a_misspelt_input_is_found_where_snakemake_plans(with_topic, right, wrong):
    topic = with_topic.folder / "workflow/scripts/topics/run_counts/topic.py"
    name = right.split('"')[1]
    topic.write_text(topic.read_text().replace(right, right.replace(name, wrong)))
    status, printed = with_topic.snakemake("--cores", "1", "--dry-run", *SMOKE, check=False)
    assert status != 0
    assert f"{wrong}.csv" in printed
