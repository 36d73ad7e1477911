"""An exam through the whole workflow: four cases of the short exam, with BBR, which is worse in two of them."""

import pandas as pd
import pytest
import yaml

from topics.exam.criteria import CRITERIA, RARE_EVENTS

pytestmark = pytest.mark.long

CASES = ("5.1.3-0.1bdp", "5.2.1-solo", "5.2.1-beside-reno", "7.9-rate-down")


@pytest.fixture(scope="module")
def examined(tmp_path_factory, checkout_in):
    """A checkout in which the exam was run, and its scorecard."""
    checkout = checkout_in(tmp_path_factory.mktemp("exam") / "checkout")
    path = checkout.folder / "config/studies/exam-quick.yaml"
    study = yaml.safe_load(path.read_text())
    study["scenarios"] = [scenario for scenario in study["scenarios"] if scenario["id"] in CASES]
    study |= {"study": "exam-bbr", "replications": 8, "ccas": ["reno"]}
    primaries = {"5.1.3-0.1bdp": ["breaker_s"], "5.2.1-beside-reno": ["harm_throughput"]}
    study["exam"] |= {"cca": "bbr", "standards": ["reno"], "primaries": primaries}
    (checkout.folder / "config/studies/exam-bbr.yaml").write_text(yaml.safe_dump(study))
    checkout.snakemake("--cores", "1", "--configfile", "config/studies/exam-bbr.yaml")
    return checkout, pd.read_csv(
        checkout.folder / "results/exam-bbr/analysis/scorecard.csv", keep_default_na=False, na_values={"n": ""}
    )


def test_it_trips_a_circuit_breaker(examined):
    """Four flows of BBR (v1) in a buffer of a tenth of a BDP lose more than 10 % all the time; Reno about 1 %."""
    row = examined[1].query("measure == 'breaker_s'").iloc[0]
    assert (row["verdict"], row["runs_worse"]) == ("worse", row["n"]) and float(row["value"]) > 5
    assert float(row["standard_value"]) == 0


def test_it_harms_reno_more_than_reno_does(examined):
    """Each pair of runs had a newly drawn path, and the flow alone ran on the same one."""
    row = examined[1].query("measure == 'harm_throughput'").iloc[0]
    assert row["worst_run"].startswith("5.2.1-beside-reno/bbr/ipv")
    assert float(row["value"]) > float(row["standard_value"]) + float(row["margin"]) and row["runs_worse"] >= 7
    runs = pd.read_csv(examined[0].folder / "results/exam-bbr/tidy/runs.csv")
    drawn = runs[runs["scenario"].isin(["5.2.1-solo", "5.2.1-beside-reno"])]
    assert (drawn.groupby("replication")["rtt_path_ms"].nunique() == 1).all() and drawn["rtt_path_ms"].nunique() == 8
    assert (drawn.groupby("replication")["ip_version"].nunique() == 1).all() and drawn["ip_version"].nunique() == 2


def test_each_criterion_has_a_row_and_the_page_says_so(examined):
    checkout, card = examined
    assert set(card["rfc_section"]) == {criterion.section for criterion in (RARE_EVENTS, *CRITERIA)}
    assert card.loc[card["verdict"] == "not measured", "reason"].ne("").all()
    page = (checkout.folder / "results/exam-bbr/report.html").read_text()
    assert "BBR by the criteria of RFC 9743" in page and 'id="exam-changes-figure"' in page
