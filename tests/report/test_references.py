"""Each CCA and queue has its source, and a page links to the RFCs that it names."""

import re

import pytest

from experiment.disciplines import DISCIPLINES
from report_page import references
from session.gallery import kernels_ccas
from study_files.study import resolve
from study_files.study_design import StudyDesign


def names(scenario, ccas=("reno",)):
    study = resolve({"study": "s", "ccas": list(ccas), "scenarios": [{"id": "a"} | scenario]}, "s.yaml")
    return [one.name for one in references.references(StudyDesign(study))]


def test_every_cca_and_queue_of_the_kernel_has_a_source():
    assert set(references.CCAS) == set(kernels_ccas())
    # Of the two others there is nothing but their code.
    assert set(references.DISCIPLINES) == set(DISCIPLINES) - {"drop-tail", "fq"}


@pytest.mark.parametrize(
    ("scenario", "named"),
    [
        ({}, ["Reno", "TCP"]),
        ({"queue": {"discipline": "fq_pie"}, "transport": {"ecn": "accurate"}}, ["Reno", "PIE", "Accurate ECN", "TCP"]),
        ({"topology": "cable", "multipath": {"by": "mptcp", "paths": 2}}, ["Reno", "MPTCP", "TCP"]),
    ],
)
def test_what_a_study_uses_is_named_and_nothing_else(scenario, named):
    assert names(scenario) == named


def test_addresses_last():
    """Only RFCs, DOIs and drafts are cited, because most other addresses of 2004 no longer exist."""
    for _, address in [*references.CCAS.values(), *(source[1:] for source in references.DISCIPLINES.values())]:
        assert address is None or re.match(
            r"https://(www\.rfc-editor\.org/rfc/rfc\d+|doi\.org/10\.\d+/|datatracker\.ietf\.org/doc/)", address
        )


@pytest.mark.parametrize(
    "html",
    [
        "<title>RFC 9743</title>", "<code>RFC 1</code>", '<img alt="RFC 1 > RFC 2">', "<a href='#x'><b>RFC 2</b></a>",
        "<script>'RFC 3'</script>", "<svg><text>RFC 4</text></svg>", "XRFC 5, RFC", "<button>RFC 6</button>",
        "<h1>A short exam by RFC 9743</h1>", "<h3 id='x'>RFC 7</h3>",
    ],
)  # fmt: skip
def test_what_is_no_running_text_stays_as_it_is(html):
    assert references.with_rfc_links(html) == html
