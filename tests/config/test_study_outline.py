"""What a study's design asks of analysis, figures and report follows from its file alone."""

from pathlib import Path

import pytest
from study_files import study as studies
from study_files.study_design import IP_PAPER, StudyDesign, cell_words, is_simulator, study_design
from study_files.study_outline import study_outline
from study_topics.topic import Figure, Topic

ROOT = Path(__file__).resolve().parents[2]
IP_FIGURES = [f"ip-difference-{metric}" for metric in ("goodput", "rtt", "loss", "retransmits")]
PUBLISHED = ["published-throughput", "published-rtt", "published-loss", "published-retransmits"]


def resolved(**changes):
    """Return the least of a resolved study that its design is read from."""
    scenario = {"id": "a", "flows": 2, "platform": "uml", "queue": {"bdp": 1}, "traffic": {"sample_interval_ms": None}}
    return {"ccas": ["reno", "cubic"], "ip_versions": ["ipv4", "ipv6"], "scenarios": [scenario]} | changes


def slugs(outline):
    return [figure.slug for figure in outline.figures]


def test_design_is_read_from_the_scenarios():
    scenarios = [
        {"id": "a", "flows": 3, "platform": "uml", "queue": {"packets": 100}, "traffic": {"sample_interval_ms": 10}},
        {"id": "b", "flows": 16, "platform": "ns3:3.44", "queue": {"packets": 100}, "hosts": {"pairs": 16}},
        {"id": "c", "flows": 1, "platform": "uml", "queue": {"packets": 500}, "traffic": {"sample_interval_ms": None}},
    ]
    design = study_design(resolved(scenarios=scenarios, ccas=["reno+reno", "reno+bbr"], ip_versions=["ipv4"]), "x", "y")
    assert design == StudyDesign(
        ccas=("reno+reno", "reno+bbr"), ip_versions=("ipv4",), scenarios=("a", "b", "c"), series=("a",),
        platforms=("uml", "ns3:3.44"), pairs=16, flows=16, queues=2, buffers=1, claims="x", other="y",
    )  # fmt: skip
    assert design.mixes and design.platforms_compared
    assert not design.ip_versions_compared and not design.repeats_ip_paper
    assert design.ccas_that_run == ("reno", "bbr")
    assert [is_simulator(platform) for platform in design.platforms] == [False, True]


@pytest.mark.parametrize(
    "ccas, ip_versions, words",
    [(["reno"], ["ipv4", "ipv6"], "scenario, CCA and IP version"), (["reno"], ["ipv6"], "scenario and CCA"),
     (["reno+bbr"], ["ipv4"], "scenario and mix")],
)  # fmt: skip
def test_what_cells_differ_by(ccas, ip_versions, words):
    assert cell_words(ccas, ip_versions) == words


@pytest.mark.parametrize("path", ["config/config.yaml", "config/studies/exbench.yaml", "config/studies/ipv4-ipv6-full.yaml"])
def test_studies_of_the_ip_paper_have_everything(path):
    study = studies.resolve(studies.load(ROOT / path), path)
    outline = study_outline(study, study["analysis"]["claims"], study["analysis"]["compare_with"], methods=True)
    assert outline.tables == (
        "descriptive", "validity", "checks", "ip_versions", "ip_overall", "ccas", "cca_pairs", "pooled", "pooled_tests",
        "models", "regressions", "claims", "mislabelled",
    )  # fmt: skip
    assert slugs(outline) == [
        "goodput", "rtt", "loss", "retransmits", *PUBLISHED, "ideal", "price", "knee", "distributions", "emulation",
        *IP_FIGURES, "methods",
    ]  # fmt: skip
    assert {figure.caption for figure in outline.figures if figure.slug in IP_FIGURES} == {"ip-difference"}


def test_one_ip_version_is_not_compared():
    outline = study_outline(resolved(ip_versions=["ipv4"]))
    assert not set(slugs(outline)) & {*IP_FIGURES, *PUBLISHED, "methods"}
    assert not set(outline.tables) & {"ip_versions", "ip_overall", "pooled", "pooled_tests", "claims"}
    assert {"ccas", "models"} <= set(outline.tables) and "knee" in slugs(outline)


def test_another_papers_claims_repeat_no_figures_of_the_ip_paper():
    outline = study_outline(resolved(), "another-paper")
    assert "claims" in outline.tables and not set(slugs(outline)) & set(PUBLISHED)
    assert set(PUBLISHED) <= set(slugs(study_outline(resolved(), IP_PAPER)))


def test_mixes_have_no_models_and_no_price_of_a_cca():
    outline = study_outline(resolved(ccas=["reno+reno", "reno+bbr"], ip_versions=["ipv4"]), topics=())
    assert slugs(outline) == ["goodput", "rtt", "loss", "retransmits", "ideal", "emulation"]
    assert outline.tables == ("descriptive", "validity", "checks")


def test_topics_add_to_the_lists_of_the_studies_that_have_them():
    topic = Topic(
        "shares", "Shares", applies=lambda design: design.mixes, tables=("shares",),
        figures=lambda design: (Figure(f"share-{cca}", "share", {"cca": cca}) for cca in design.ccas_that_run),
    )  # fmt: skip
    outline = study_outline(resolved(ccas=["reno+bbr"]), topics=(topic,))
    assert outline.topics == (topic,)
    assert outline.tables[-1] == "shares"
    assert outline.figures[-2:] == (Figure("share-reno", "share"), Figure("share-bbr", "share"))
    assert study_outline(resolved(), topics=(topic,)).topics == ()


def test_names_that_clash_or_cannot_be_are_refused():
    for parts, name in (({"tables": ("ccas",)}, "ccas"), ({"figures": lambda design: [Figure("knee")]}, "knee")):
        topic = Topic("again", "Again", applies=lambda design: True, **parts)
        with pytest.raises(ValueError, match=f"the same name: {name}"):
            study_outline(resolved(), topics=(topic,))
    for slug in ("reno+cubic", "Cwnd", "a--b", "a_b", ""):
        with pytest.raises(ValueError, match="a figure's slug is"):
            Figure(slug)
