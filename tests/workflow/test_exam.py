"""Exams through the whole workflow: cases of the short exam once, and four cases with BBR, which is worse in two of them."""

import re

import pandas as pd
import pytest
import yaml

from topics.exam.criteria import CRITERIA, RARE_EVENTS, wanted_measures

CASES = ("5.1.3-0.1bdp", "5.2.1-solo", "5.2.1-beside-reno", "7.9-rate-down")


#: Measures of a flow that isn't alone, or of flows with equal RTTs, or with different RTTs.
SOMETIMES = {"starved_s", "jain_index", "least_percent", "rtt_exponent"}


def short_exam(checkout):
    """Return the content of the short exam's study file."""
    return yaml.safe_load((checkout.folder / "config/studies/exam-quick.yaml").read_text())


def one_of_each_measure(cases):
    """Return the first case of each measure, and those that a measure needs: the flow alone, and flows with different RTTs."""
    kept, seen = [], set()
    for case in cases:
        if wanted_measures(case["id"]) - seen or case["id"] in ("5.2.1-solo", "5.1.4-rtts"):
            kept.append(case)
            seen |= wanted_measures(case["id"])
    return kept


FEW = ("5.1.3-0.1bdp", "5.2.1-solo", "5.2.1-beside-reno", "5.2.2-call-and-web")
CHOICES = {
    "few": lambda cases: [case for case in cases if case["id"] in FEW],
    "one of each measure": one_of_each_measure,
    "all": lambda cases: cases,
}


@pytest.mark.parametrize(
    "choice",
    ["few", pytest.param("one of each measure", marks=pytest.mark.slow), pytest.param("all", marks=pytest.mark.long)],
)
def test_each_case_gives_the_measures_of_its_criteria(tmp_path, checkout_in, choice):
    """Each of the chosen cases, except those beside CUBIC or BBR, which are like those beside Reno."""
    checkout = checkout_in(tmp_path / "checkout")
    study = short_exam(checkout) | {"study": "exam-bic", "replications": 1, "ccas": ["reno"]}
    cases = [case for case in study["scenarios"] if not re.search("-(cubic|bbr)", case["id"])]
    cases = CHOICES[choice](cases)
    study["scenarios"] = [case | {"replications": 1} for case in cases]
    names = {case["id"] for case in cases}
    primaries = {name: measures for name, measures in study["exam"]["primaries"].items() if name in names}
    study["exam"] |= {"cca": "bic", "standards": ["reno"], "primaries": primaries}
    (checkout.folder / "config/studies/exam-bic.yaml").write_text(yaml.safe_dump(study))
    card = "results/exam-bic/analysis/scorecard.csv"
    checkout.snakemake(card, "--cores", "2", "--configfile", "config/studies/exam-bic.yaml")
    valid = pd.read_csv(checkout.folder / "results/exam-bic/tidy/runs.csv").query("valid and cca == 'bic'")
    values = pd.read_csv(checkout.folder / "results/exam-bic/analysis/exam_values.csv").query("cca == 'bic'")
    assert len(valid) > 0.9 * len(cases)
    for scenario in valid["scenario"]:
        measured = set(values.loc[values["scenario"] == scenario, "measure"])
        assert wanted_measures(scenario) - SOMETIMES <= measured, scenario
    assert (checkout.folder / card).exists()


@pytest.fixture(scope="module")
def examined(tmp_path_factory, checkout_in):
    """A checkout in which the exam was run, and its scorecard."""
    checkout = checkout_in(tmp_path_factory.mktemp("exam") / "checkout")
    study = short_exam(checkout)
    study["scenarios"] = [scenario for scenario in study["scenarios"] if scenario["id"] in CASES]
    study |= {"study": "exam-bbr", "replications": 8, "ccas": ["reno"]}
    primaries = {"5.1.3-0.1bdp": ["breaker_s"], "5.2.1-beside-reno": ["harm_throughput"]}
    study["exam"] |= {"cca": "bbr", "standards": ["reno"], "primaries": primaries}
    (checkout.folder / "config/studies/exam-bbr.yaml").write_text(yaml.safe_dump(study))
    checkout.snakemake("--cores", "1", "--configfile", "config/studies/exam-bbr.yaml")
    return checkout, pd.read_csv(
        checkout.folder / "results/exam-bbr/analysis/scorecard.csv",
        keep_default_na=False,
        na_values={"n": "", "runs_worse": ""},
    )


@pytest.mark.long
def test_it_trips_a_circuit_breaker(examined):
    """Four flows of BBR (v1) in a buffer of a tenth of a BDP lose more than 10 % all the time; Reno about 1 %."""
    row = examined[1].query("measure == 'breaker_s'").iloc[0]
    assert (row["verdict"], row["runs_worse"]) == ("worse", row["n"]) and float(row["value"]) > 5
    assert float(row["standard_value"]) == 0


@pytest.mark.long
def test_it_harms_reno_more_than_reno_does(examined):
    """Each pair of runs had a newly drawn path, and the flow alone ran on the same one."""
    row = examined[1].query("measure == 'harm_throughput'").iloc[0]
    assert row["worst_run"].startswith("5.2.1-beside-reno/bbr/ipv")
    assert float(row["value"]) > float(row["standard_value"]) + float(row["margin"]) and row["runs_worse"] >= 7
    runs = pd.read_csv(examined[0].folder / "results/exam-bbr/tidy/runs.csv")
    drawn = runs[runs["scenario"].isin(["5.2.1-solo", "5.2.1-beside-reno"])]
    assert (drawn.groupby("replication")["rtt_path_ms"].nunique() == 1).all() and drawn["rtt_path_ms"].nunique() == 8
    assert (drawn.groupby("replication")["ip_version"].nunique() == 1).all() and drawn["ip_version"].nunique() == 2


@pytest.mark.long
def test_each_criterion_has_a_row_and_the_page_says_so(examined):
    checkout, card = examined
    assert set(card["rfc_section"]) == {criterion.section for criterion in (RARE_EVENTS, *CRITERIA)}
    assert card.loc[card["verdict"] == "not measured", "reason"].ne("").all()
    page = (checkout.folder / "results/exam-bbr/report.html").read_text()
    assert "BBR by the criteria of RFC 9743" in page and 'id="exam-changes-figure"' in page
