"""Tiny studies that together have all topics, executed by Snakemake from runs to report, in the containers."""

import json
from pathlib import Path

import pandas as pd
import pytest

from page_checks import check_page
from page_sentences import check_sentences
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.outline import FIGURE_SUFFIXES, other_tables, study_outline
from topics.registry import TOPICS

pytestmark = pytest.mark.long
HERE = Path(__file__).parent
#: Time series, buffers, platforms, sizes, paths, such that change or share a bottleneck, policers; mixes of CCAs, which exclude
#: some of these; points of a calibration, which excludes all; cells against themselves, perturbed scenarios, a gate, bottlenecks
#: in a row and paths that fail, of which the last two exclude buffers and paths.
#: The smoke study, which other tests have run, has what is left: theory, and a paper's claims and tables.
TINY = ("every-path", "mixes", "points", "arms")


@pytest.fixture(scope="module", params=TINY)
def finished(request, run_beside):
    """A checkout in which a tiny study was run, and the study's folder and outline."""
    checkout, path = run_beside(request.param, cores="all")
    study = checkout.study(path)
    return checkout.folder / "results" / study["study"], study_outline(StudyDesign(study)), path, checkout


def test_all_tables_and_figures_are_there(finished):
    folder, outline, *_ = finished
    assert {path.name for path in (folder / "analysis").iterdir()} == {f"{table.name}.csv" for table in outline.tables}
    made = {f"{figure.slug}{kind}" for figure in outline.figures for kind in FIGURE_SUFFIXES.values()}
    assert {path.name for path in (folder / "figures").iterdir()} == made


def test_tables_have_the_columns_that_are_declared(finished):
    folder, outline, *_ = finished
    for table in outline.tables:
        assert (folder / table.path).read_text().split("\n")[0].split(",") == table.names, table.name


def test_page_shows_every_figure_and_is_sound(finished, visit):
    folder, outline, path, checkout = finished
    page = (folder / "details.html").read_text()
    missing = [figure.slug for figure in outline.figures if f'data-name="{figure.slug}.svg"' not in page]
    assert missing == []
    check_page(folder / "details.html", visit)
    for one in ("report.html", "details.html"):
        check_sentences(checkout.study(path), folder / one)


def test_points_of_a_calibration_are_as_they_must_be(finished):
    folder, outline, *_ = finished
    if "calibration" not in {table.name for table in outline.tables}:
        pytest.skip("another study")
    table = pd.read_csv(folder / "analysis" / "calibration.csv")
    assert set(table["quantity"]) == {"rate", "delay", "serialisation", "loss", "queue", "jitter", "burst"}
    assert set(table["verdict"]) == {"exact", "expected"}


def test_a_second_call_does_nothing(finished):
    *_, path, checkout = finished
    assert checkout.planned("--configfile", path) == {}


def test_manifest_lists_declarations_and_rules_of_the_topics(finished):
    folder, outline, *_ = finished
    listed = {entity["@id"] for entity in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}
    made = [topic for topic in outline.topics if topic.tables_of(outline.design)]
    assert {f"workflow/scripts/topics/{topic.name}/topic.py" for topic in made} <= listed
    with_rules = [topic for topic in made if not topic.analyses]
    assert {f"workflow/scripts/topics/{topic.name}/rules.smk" for topic in with_rules} <= listed


def test_every_topic_is_carried_out_by_some_test(root):
    """By a tiny study, or by one that `test_smoke_study.py`, `test_until_precise.py` and `test_exam.py` run up to its report."""
    had = set()
    for path in (
        *(HERE / f"{name}.yaml" for name in (*TINY, "until")),
        root / "config/studies/smoke.yaml",
        root / "config/studies/exam-quick.yaml",
    ):
        study = studies.resolve(studies.load(path), str(path))
        had |= {topic.name for topic in study_outline(StudyDesign(study, other_tables(None))).topics}
    assert had == {topic.name for topic in TOPICS}
