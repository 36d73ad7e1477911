"""Any study file is either refused in sentences before any run, or ends in a sound report."""

import re

import pandas as pd
import pytest

import drawn_studies
from page_checks import check_content
from page_sentences import check_sentences
from study_files.study import StudyError, resolve
from study_files.study_design import StudyDesign
from topics.outline import FIGURE_SUFFIXES, study_outline

#: Drawn studies that are built with all tests; the others with the long ones.
FEW = (39, 77, 128)
MANY = range(300)
#: Drawn studies that are only read: with all tests, and with the long ones.
ONLY_READ = (range(400), pytest.param(range(400, 1000), marks=pytest.mark.long))
#: The few whose replications draw their paths in all tests too: sizes of messages; buffers, and theory of a path.
DRAWING = (77, 128)
SENTENCE = re.compile(r"drawn\.yaml: [^\n]{10,800}\.", re.DOTALL)


def resolved(config):
    """Return a resolved study, or None if it is refused, which must be in sentences."""
    try:
        return resolve(config, "drawn.yaml")
    except StudyError as error:
        assert error.problems
        for problem in error.problems:
            assert SENTENCE.fullmatch(problem), problem
            assert not re.search(r"Traceback|Error\b|<class|object at 0x", problem), problem
        return None


@pytest.mark.slow
@pytest.mark.parametrize("seeds", ONLY_READ)
def test_a_drawn_study_is_refused_in_sentences_or_has_an_outline(seeds, record_testsuite_property):
    studies = [study for study in (resolved(drawn_studies.drawn_config(seed)) for seed in seeds) if study]
    record_testsuite_property(f"accepted share of drawn studies {seeds}", len(studies) / len(seeds))
    assert 0.2 < len(studies) / len(seeds) < 0.6, "a quarter or more is accepted"
    names = set()
    for study in studies:
        assert resolve(study, "again.yaml") == study
        names |= {topic.name for topic in study_outline(StudyDesign(study)).topics}
    # The draws reach every topic but those that a study asks for by a separate key, which have their own tests.
    asked_for = {
        "calibration", "chain", "controls", "directions", "emulations", "exam", "expectations", "failover", "flow_groups", "path_changes",
        "policers", "precision", "queues", "real_time", "repetitions", "sensitivity", "short_flows", "subflows",
    }  # fmt: skip
    assert names == {topic.name for topic in study_outline.__defaults__[0]} - asked_for


@pytest.mark.parametrize("seeds", ONLY_READ)
def test_nonsense_is_refused_in_sentences(seeds):
    refused = [resolved(drawn_studies.spoiled_config(seed)) is None for seed in seeds]
    assert sum(refused) > 0.7 * len(seeds)


def check_report(seed, folder):
    """Build a drawn study, if it is valid, and check its page."""
    study = resolved(drawn_studies.drawn_config(seed))
    if study is None:
        return
    built = drawn_studies.build_drawn(study, folder / "study", seed)
    check_content(built.page)
    check_sentences(study, built.page)
    made = {path.name for part in ("analysis", "figures") for path in (built.folder / part).iterdir()}
    wanted = {f"{table.name}.csv" for table in built.outline.tables}
    assert made == wanted | {
        f"{figure.slug}{kind}" for figure in built.outline.figures for kind in FIGURE_SUFFIXES.values()
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", FEW)
def test_a_drawn_study_ends_in_a_report(seed, tmp_path):
    assert resolved(drawn_studies.drawn_config(seed)), "one of the few is refused"
    check_report(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed in DRAWING else [pytest.mark.long]) for seed in FEW]
)
def test_a_drawn_study_whose_replications_draw_their_paths_ends_in_a_report(seed, tmp_path, monkeypatch):
    config = drawn_studies.drawn_config(seed)
    config["defaults"] |= {"variation": {"rtt_percent": 5, "rate_percent": 1, "queue_packets": 1}}
    assert resolved(config), "one of the few is refused"
    monkeypatch.setattr(drawn_studies, "drawn_config", lambda _: config)
    check_report(seed, tmp_path)


@pytest.mark.slow
def test_a_study_of_paths_that_go_down_ends_in_a_report(tmp_path):
    scenarios = [
        {"id": name, "multipath": {"by": "mptcp", "paths": 2, "outage": {"path": 2, "at_s": 4, "for_s": 2}, **more}}
        for name, more in (("alike", {}), ("unlike", {"path_rate_mbps": [5, 30]}))
    ]
    defaults = {"topology": "cable", "link": {"rate_mbps": 10, "delay_ms": 10}}
    defaults["traffic"] = {"duration_s": 10, "sample_interval_ms": 100}
    config = {
        "study": "down",
        "ccas": ["reno", "cubic"],
        "replications": 2,
        "defaults": defaults,
        "scenarios": scenarios,
    }
    built = drawn_studies.build_drawn(resolved(config), tmp_path / "study", seed=4, invalid=0)
    check_content(built.page)
    ideal = pd.read_csv(built.folder / "analysis/failovers.csv").groupby("scenario")["path_ideal_mbps"].max()
    assert ideal["unlike"] == pytest.approx(3 * ideal["alike"])


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY)
def test_many_drawn_studies_end_in_reports(seed, tmp_path):
    check_report(seed, tmp_path)
