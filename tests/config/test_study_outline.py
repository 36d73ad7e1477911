"""The analysis, figures and report that a study's design requires follow from its file alone."""

from pathlib import Path

import pytest

from inference.settings import SETTINGS
from run_tables.table import Table, text_column
from study_files import study as studies
from study_files.study_design import StudyDesign, cell_words, is_simulator
from topics.outline import figure_rule, study_outline
from topics.published.topic import IP_PAPER
from topics.topic import Plot, Topic

ROOT = Path(__file__).resolve().parents[2]
IP_FIGURES = [f"ip-difference-{metric}" for metric in ("goodput", "rtt", "loss", "retransmits")]
PUBLISHED = ["published-throughput", "published-rtt", "published-loss", "published-retransmits"]


def design(other_tables=(), **changes):
    """Return the design of a small study with changes."""
    study = {"study": "small", "ccas": ["reno", "cubic"], "scenarios": [{"id": "a", "flows": 2}]} | changes
    return StudyDesign(studies.resolve(study, "small.yaml"), frozenset(other_tables))


def test_no_parameter_of_a_figure_has_the_name_of_a_table():
    """A script gets both by name, so it would get the parameter instead of the table."""
    figure = Plot("knee", "speed/plot_knee", ("runs",), "", "", params={"runs": True})
    with pytest.raises(ValueError, match="speed/plot_knee has an input and a parameter with the same name: runs"):
        figure_rule([figure], design(), SETTINGS, str)


def names(outline):
    return [table.name for table in outline.tables]


def slugs(outline):
    return [figure.slug for figure in outline.figures]


def test_design_is_read_from_the_scenarios():
    scenarios = [
        {"id": "a", "flows": 3, "queue": {"packets": 100}, "traffic": {"sample_interval_ms": 10}},
        {"id": "b", "flows": 16, "platform": "ns3:3.44", "hosts": {"pairs": 16}},
        {"id": "c", "flows": 2, "queue": {"packets": 500}},
    ]
    more = {"ip_versions": ["ipv4"], "analysis": {"claims": "x", "compare_with": "y"}}
    read = design(scenarios=scenarios, ccas=["reno+reno", "reno+bbr"], **more)
    assert read.name == "small" and read.scenario_names == ("a", "b", "c")
    assert read.platforms == ("uml", "ns3:3.44")
    assert (read.pairs, read.flows, read.servers) == (16, 16, 0)
    assert (read.claims, read.other) == ("x", "y")
    assert read.mixes and not read.ip_versions_compared
    assert read.ccas_that_run == ("reno", "bbr")
    assert [is_simulator(platform) for platform in read.platforms] == [False, True]


@pytest.mark.parametrize(
    "ccas, ip_versions, words",
    [(["reno"], ["ipv4", "ipv6"], "scenario, CCA and IP version"), (["reno"], ["ipv6"], "scenario and CCA"),
     (["reno+bbr"], ["ipv4"], "scenario and mix")],
)  # fmt: skip
def test_what_cells_differ_by(ccas, ip_versions, words):
    assert cell_words(ccas, ip_versions) == words


@pytest.mark.parametrize(
    "path", ["config/config.yaml", "config/studies/exbench.yaml", "config/studies/ipv4-ipv6-full.yaml"]
)
def test_studies_of_the_ip_paper_have_everything(path):
    study = studies.resolve(studies.load(ROOT / path), path)
    outline = study_outline(StudyDesign(study, frozenset(["descriptive"])))
    assert set(names(outline)) == {
        "descriptive", "steady", "delay_percentiles", "validity", "checks", "ip_versions", "ip_overall", "ccas", "cca_pairs", "pooled", "pooled_tests",
        "variance", "models", "regressions", "claims", "claim_versions", "mislabelled", "differences", "comparisons",
    }  # fmt: skip
    assert set(slugs(outline)) == {
        "goodput", "rtt", "loss", "retransmits", *PUBLISHED, "ideal", "price", "knee", "distributions", "emulation",
        *IP_FIGURES, "methods", "variance",
    }  # fmt: skip
    (caption,) = {figure.caption_path for figure in outline.figures if figure.slug in IP_FIGURES}
    assert caption == "workflow/scripts/topics/ip_version/captions/ip-difference.rst"


def test_one_ip_version_is_not_compared():
    outline = study_outline(design(ip_versions=["ipv4"]))
    assert not set(slugs(outline)) & {*IP_FIGURES, *PUBLISHED, "methods"}
    assert not set(names(outline)) & {"ip_versions", "ip_overall", "pooled", "pooled_tests", "claims"}
    assert {"ccas", "models"} <= set(names(outline)) and "knee" in slugs(outline)


def test_another_papers_claims_repeat_no_figures_of_the_ip_paper():
    outline = study_outline(design(analysis={"claims": "another-paper"}))
    assert "claims" in names(outline) and not set(slugs(outline)) & set(PUBLISHED)
    assert set(PUBLISHED) <= set(slugs(study_outline(design(analysis={"claims": IP_PAPER}))))


def test_mixes_have_no_models_and_no_price_of_a_cca():
    outline = study_outline(design(ccas=["reno+reno", "reno+bbr"], ip_versions=["ipv4"]))
    assert not set(slugs(outline)) & {"price", "distributions"} and "knee" in slugs(outline)
    assert not set(names(outline)) & {"ccas", "cca_pairs", "models", "regressions", "mislabelled"}
    assert {"goodput", "rtt", "loss", "retransmits", "ideal", "emulation"} <= set(slugs(outline))
    assert {"descriptive", "validity", "checks"} <= set(names(outline))


def test_studies_without_flows_of_the_cca_ask_nothing_of_it():
    """Web objects and calls beside flows of other CCAs: a run has no goodput, RTT or retransmissions, but it has drops."""
    path = ROOT / "config/studies/web.yaml"
    outline = study_outline(StudyDesign(studies.resolve(studies.load(path), path)))
    assert not {"speed", "ccas", "theory"} & {topic.name for topic in outline.topics}
    assert not set(slugs(outline)) & {"goodput", "rtt", "retransmits", "ideal", "price", "knee", "distributions"}
    assert {"loss", "completion-times", "real-time"} <= set(slugs(outline))


SHARES = Table("shares", "a CCA", (text_column("cca", "The CCA."),))


def test_topics_add_to_the_lists_of_the_studies_that_have_them():
    topic = Topic(
        "shares", "Shares", order=1, applies=lambda design: design.mixes, tables=(SHARES,),
        figures=lambda design: (Plot(f"share-{cca}", "share", ("shares",), cca, "shares") for cca in design.ccas_that_run),
    )  # fmt: skip
    outline = study_outline(design(ccas=["reno+bbr"]), topics=(topic,))
    assert outline.topics == (topic,)
    assert outline.tables == (SHARES,)
    assert [figure.script for figure in outline.figures] == ["shares/share", "shares/share"]
    assert slugs(outline) == ["share-reno", "share-bbr"]
    assert study_outline(design(), topics=(topic,)).topics == ()


def test_names_that_clash_or_cannot_be_are_refused():
    def figures(design):
        return [Plot("knee", "plot_knee", (), "Knee", "means")]

    for parts, name in (({"tables": (SHARES,)}, "shares"), ({"figures": figures}, "knee")):
        pair = [Topic(topic, "Again", order=1, applies=lambda design: True, **parts) for topic in ("one", "two")]
        with pytest.raises(ValueError, match=f"the same name: {name}"):
            study_outline(design(), topics=pair)
    for slug in ("reno+cubic", "Cwnd", "a--b", "a_b", ""):
        with pytest.raises(ValueError, match="a figure's slug is"):
            Plot(slug, "plot", (), "Title", "means")


def test_mixes_over_several_paths_and_ids_that_read_alike_have_figures():
    cable = {"topology": "cable", "flows": 2, "platform": "host", "link": {"rate_mbps": 10}}
    joined = {**cable, "id": "a", "multipath": {"by": "mptcp", "paths": 2}}
    assert "cpu-time-reno-cubic" in slugs(study_outline(design(ccas=["reno+cubic"], scenarios=[joined])))
    sampled = [{"id": name, "traffic": {"sample_interval_ms": 10}} for name in ("1.5", "1-5")]
    outline = study_outline(
        design(ccas=["reno"], ip_versions=["ipv4"], scenarios=[sampled[0], sampled[1] | {"label": "b"}])
    )
    assert {"windows-1-5-reno-1", "windows-1-5-reno-2"} <= set(slugs(outline))
