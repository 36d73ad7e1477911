"""The page of a partly executed study says so first, and neither blames nor ranks what is missing."""

import html
import re

import pytest

import tidy_tables
from report_page.write_report import partial_words
from run_tables.exclusions import NOT_RUN, whole_places
from run_tables.metrics import DESCRIBED_METRICS
from run_tables.run_keys import RUN

pytestmark = pytest.mark.slow


def partly(study, absent):
    """Remove the documents of some runs from a study, as for ``--config gaps=true``; ``absent`` is a mask of its runs."""
    runs = study["runs"]
    gone = set(runs.loc[absent, RUN].itertuples(index=False, name=None))
    runs.loc[absent, ["valid", "invalid_because"]] = [False, NOT_RUN]
    runs.loc[absent, [metric.column for metric in DESCRIBED_METRICS]] = None
    for name in ("checks", "flows"):
        table = study[name]
        study[name] = table[[run not in gone for run in table[RUN].itertuples(index=False, name=None)]]
    return study


@pytest.fixture(scope="module")
def half(build):
    """Two scenarios, three CCAs: all runs of the first scenario, but in the second only one CCA and one replication of another."""
    scenarios = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(1,), rate_mbps=100)
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic", "bbr"], ["ipv4"], replications=3)
    runs, second = study["runs"], scenarios["scenario"].iloc[1]
    there = (runs["cca"] == "reno") | ((runs["cca"] == "cubic") & (runs["replication"] == 1))
    built = build(partly(study, (runs["scenario"] == second) & ~there))
    pages = built.report.read_text(encoding="utf-8") + built.page.read_text(encoding="utf-8")
    built.words = html.unescape(re.sub(r"<[^>]+>", " ", pages))
    return built


def test_the_page_begins_with_what_part_it_is(half):
    assert "Partial report. 13 of 18 runs were carried out; 4 of 6 cells have all their runs, 1 has none." in " ".join(
        half.words.split()
    )
    assert "CCAs are ranked in the 1 of 2 scenarios that have all their runs." in half.words
    assert half.words.index("Partial report.") < half.words.index("Findings")


def test_what_was_not_carried_out_failed_nothing(half):
    assert "13 of 18 runs were carried out; all 13 runs passed every check" in half.words
    assert "5 were not carried out." in half.words
    assert "the check of completion" not in half.words
    assert "Excluded runs (" not in half.words


def test_no_ranking_is_of_who_happens_to_be_there(half):
    assert "all other CCAs" not in half.words.split("Validity")[0]


def test_a_whole_study_has_no_such_words(small):
    page = small.page.read_text(encoding="utf-8")
    assert "Partial report" not in page
    assert "not carried out" not in page


def test_places_are_whole_where_each_cca_has_its_runs():
    runs = tidy_tables.synthetic_study(replications=2)["runs"]
    places = {(scenario, ip) for scenario in runs["scenario"] for ip in ("ipv4", "ipv6")}
    assert whole_places(runs) == places
    assert partial_words(runs) == ""
    first = runs[RUN].iloc[0]
    # A run that failed leaves the others of its cell; one that was not carried out may come.
    failed = runs.assign(valid=runs.index != 0)
    assert whole_places(failed) == places
    absent = failed.assign(invalid_because=runs["invalid_because"].where(runs.index != 0, NOT_RUN))
    assert whole_places(absent) == places - {(first["scenario"], first["ip_version"])}
