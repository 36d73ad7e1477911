"""An exam through the whole workflow: four cases of the short one, of BBR, which must fail one of them."""

import pandas as pd
import pytest
import yaml

from topics.exam.criteria import CRITERIA

pytestmark = pytest.mark.long

CASES = ("5.1.3-0.1bdp", "5.2.1-solo", "5.2.1-before-reno", "7.9-rate-up")


@pytest.fixture(scope="module")
def examined(tmp_path_factory, checkout_in):
    """A checkout in which the exam was held, and its scorecard."""
    checkout = checkout_in(tmp_path_factory.mktemp("exam") / "checkout")
    path = checkout.folder / "config/studies/exam-quick.yaml"
    study = yaml.safe_load(path.read_text())
    study["scenarios"] = [scenario for scenario in study["scenarios"] if scenario["id"] in CASES]
    study |= {"study": "exam-bbr", "replications": 2, "ccas": ["reno"]}
    study["exam"] |= {"cca": "bbr", "standards": ["reno"]}
    (checkout.folder / "config/studies/exam-bbr.yaml").write_text(yaml.safe_dump(study))
    checkout.snakemake("--cores", "1", "--configfile", "config/studies/exam-bbr.yaml")
    return checkout, pd.read_csv(checkout.folder / "results/exam-bbr/analysis/scorecard.csv")


def test_it_trips_a_circuit_breaker(examined):
    """Four flows of BBR (v1) in a buffer of a tenth of a BDP lose more than 10 % all the time; Reno about 1 %."""
    row = examined[1].query("measure == 'breaker_s'").iloc[0]
    assert row["verdict"] == "failed" and row["value"] > 5
    assert row["standard_value"] == 0


def test_it_harms_reno_more_than_reno_does(examined):
    row = examined[1].query("measure == 'harm_throughput'").iloc[0]
    assert row["worst_run"].startswith("5.2.1-before-reno/bbr/ipv4/")
    assert row["worse_by_low"] < row["worse_by"] < row["worse_by_high"]
    assert row["value"] > row["standard_value"] + row["margin"]


def test_each_criterion_has_a_row_and_the_page_says_so(examined):
    checkout, card = examined
    assert set(card["rfc_section"]) == {criterion.section for criterion in CRITERIA}
    assert card.loc[card["verdict"] == "not evaluated", "reason"].notna().all()
    page = (checkout.folder / "results/exam-bbr/report.html").read_text()
    assert "BBR by the criteria of RFC 9743" in page and 'id="exam-changes-figure"' in page
