"""The shipped claims evaluate on any study, to one of three verdicts with a reason."""

from types import SimpleNamespace

import pandas as pd
import pytest

import claim_runs
import tidy_tables
from run_tables.reading import read_table
from topics.claims import check_claims
from topics.claims.page_tables import value_text
from topics.claims.tables import CLAIMS, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED


def check(runs, file, resamples=200):
    return check_claims.check_claims(runs, file, 0.95, 0.05, resamples, seed=1)


def inputs_in(tidy):
    """Return the rule's inputs; no claim of the shipped ones asks for time series."""
    names = {name: tidy / f"{name}.csv" for name in ("runs", "flows", "scenarios")}
    return SimpleNamespace(**names, sockets=tidy / "sockets.parquet")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replications": 2},
        {"replications": 6, "invalid_share": 0.1},
        {"spread": 0.0},
        {"ccas": tidy_tables.ALL_CCAS},
    ],
)
def test_every_shipped_claim_gets_a_verdict(shipped, options):
    table = check(tidy_tables.synthetic_study(**options)["runs"], shipped)
    assert table["claim"].tolist() == [claim["id"] for claim in shipped["claims"]]
    assert set(table["verdict"]) <= {REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE}
    for row in table.to_dict("records"):
        assert row["because"].endswith(".") and row["because"][0].isupper(), row["claim"]
        if row["verdict"] != NOT_TESTABLE:
            assert row["requirement"] and pd.notna(row["value"]) and row["runs"] > 0, row["claim"]
            assert pd.isna(row["low"]) or row["low"] <= row["value"] <= row["high"], row["claim"]
    if "replications" not in options:
        assert (table["verdict"] == NOT_TESTABLE).sum() < len(table) / 2


def test_what_was_put_in_comes_out(shipped):
    """The generator's BBR is far ahead under loss, VEGAS never keeps a queue, IPv6 has 1.4 % less goodput."""
    table = check(tidy_tables.synthetic_study(replications=10)["runs"], shipped).set_index("claim")
    verdicts = table["verdict"]
    assert verdicts["throughput-bbr-under-loss"] == "reproduced"
    assert verdicts["throughput-ip-versions-alike"] == "reproduced"
    assert verdicts["rtt-vegas-highest"] == "not reproduced"
    assert verdicts["loss-bbr-scenario-12"] == "not reproduced"
    assert verdicts["conclusion-cca-matters-throughput"] == "reproduced"
    assert verdicts["table5-throughput"] == "reproduced"
    assert "finds IPv6 lower" in table["because"]["table5-throughput"]


def test_study_without_these_scenarios_says_so(shipped):
    study = tidy_tables.synthetic_study(tidy_tables.grid(delays_ms=(7, 33), flows=(4,)), replications=2)
    table = check(study["runs"], shipped)
    assert set(table["verdict"]) == {NOT_TESTABLE}
    assert table["because"].str.startswith("No scenario of this study has the conditions of scenario ").all()
    assert table[["value", "low", "high"]].isna().all(axis=None)


def test_study_with_some_of_the_scenarios_answers_what_it_can(shipped):
    study = tidy_tables.synthetic_study(tidy_tables.grid(delays_ms=(50,), losses_percent=(0,), flows=(1,)))
    table = check(study["runs"], shipped).set_index("claim")
    assert table["verdict"]["throughput-veno-best-in-5"] in (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE)
    assert "No scenario" not in table["because"]["throughput-veno-best-in-5"]
    assert table["because"]["table3-rtt-mean"] == (
        "No scenario of this study has the conditions of scenario 1 (so of 11 scenarios)."
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ccas": ["reno", "vegas"]}, "This study has no cubic, bbr, veno, westwood."),
        ({"ip_versions": ["ipv6"]}, "This study has no IPv4."),
    ],
)
def test_missing_factor_levels_are_named(shipped, options, reason):
    table = check(tidy_tables.synthetic_study(replications=2, **options)["runs"], shipped).set_index("claim")
    assert table["verdict"]["throughput-bbr-highest"] == NOT_TESTABLE
    assert table["because"]["throughput-bbr-highest"] == reason


def test_cells_without_runs_are_named(shipped):
    runs = tidy_tables.synthetic_study(replications=3)["runs"]
    cell = (runs["scenario_label"] == "5") & (runs["cca"] == "vegas") & (runs["ip_version"] == "ipv4")
    runs.loc[cell, "valid"] = False
    table = check(runs, shipped).set_index("claim")
    assert table["because"]["throughput-veno-best-in-5"] == "No valid run of vegas in scenario 5, IPv4; 2 are needed."
    assert table["verdict"]["throughput-bbr-under-loss"] != NOT_TESTABLE
    runs.loc[cell & (runs["replication"] == 2), "valid"] = True
    table = check(runs, shipped).set_index("claim")
    because = "A single valid run of vegas in scenario 5, IPv4; 2 are needed."
    assert table["because"]["throughput-veno-best-in-5"] == because
    runs["valid"] = False
    assert set(check(runs, shipped)["verdict"]) == {NOT_TESTABLE}


def test_one_replication_tests_nothing(shipped):
    table = check(tidy_tables.synthetic_study(replications=1)["runs"], shipped)
    assert set(table["verdict"]) == {NOT_TESTABLE}


def test_counts_need_runs_of_the_papers_duration(shipped):
    runs = tidy_tables.synthetic_study(replications=2)["runs"]
    table = check(runs, shipped).set_index("claim")
    assert table["because"]["table3-retransmits-mean"] == "It is about runs of 30 s, and those of this study last 10 s."
    runs["duration_s"] = 30
    assert check(runs, shipped).set_index("claim")["value"].notna()["table3-retransmits-mean"]


def test_scenario_that_refuses_ccas_takes_no_part(shipped):
    """A scenario with the conditions of number 4 but another label, as in the study exbench."""
    study = tidy_tables.synthetic_study(replications=3)["runs"]
    extra = study[study["scenario_label"] == "4"].copy()
    extra["scenario"], extra["scenario_label"] = extra["scenario"] + "-refused", "4 refused"
    extra["throughput_per_stream_mbps"] = 1.0
    both = pd.concat([study, extra], ignore_index=True)
    assert check(both, shipped).equals(check(study, shipped))


def test_same_bytes_whatever_the_order_of_rows(shipped, tmp_path):
    study = tidy_tables.synthetic_study(replications=3, invalid_share=0.05)
    params = SimpleNamespace(image="", claims=shipped, confidence=0.95, significance=0.05, resamples=200, seed=1)
    texts = []
    for number, runs in enumerate([study["runs"], study["runs"].sample(frac=1, random_state=3)]):
        tidy = tidy_tables.write_tidy(study | {"runs": runs}, tmp_path / str(number))
        path = tmp_path / f"claims-{number}.csv"
        check_claims.main(inputs_in(tidy), SimpleNamespace(claims=path), params)
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    for word in (b"nan,", b"inf,", b"\r"):
        assert word not in texts[0]
    assert len(read_table(path, CLAIMS)) == len(shipped["claims"])


def test_no_claims_give_a_table_without_rows(tmp_path):
    tidy = tidy_tables.write_tidy(tidy_tables.synthetic_study(replications=1), tmp_path)
    params = SimpleNamespace(claims=None, confidence=0.95, significance=0.05, resamples=10, seed=1)
    check_claims.main(inputs_in(tidy), SimpleNamespace(claims=tmp_path / "claims.csv"), params)
    assert (tmp_path / "claims.csv").read_text() == ",".join(CLAIMS.names) + "\n"


def test_more_resamples_leave_the_value_as_it_is(tmp_path):
    runs = claim_runs.table(lambda scenario, cca, ip_version: [1, 2, 3, 4, len(cca)])
    file = claim_runs.loaded(tmp_path, {"kind": "threshold", "pick": "highest", "requirement": {"above": 3}})
    few, many = check(runs, file, 50).iloc[0], check(runs, file, 500).iloc[0]
    assert few["value"] == many["value"]
    assert many["low"] <= few["value"] <= many["high"]


@pytest.mark.parametrize(
    ("bounds", "value", "low", "high", "text"),
    [
        ("1 1.0207", 1.002341, 1.00131, 1.00316, "1.0023 times (1.0013 to 1.0032)"),
        ("1.0174 1.0374", 1.013992, 1.013989, 1.014, "1.0140 times (1.0140 to 1.0140)"),
        # What isn't equal to a bound doesn't look so, and what is equal does.
        ("1", 1.000036, 1.0, 1.000074, "1.00004 times (1.00000 to 1.00007)"),
        ("1", 0.99994, 0.99993, 0.999944, "0.9999 times (0.9999 to 0.9999)"),
        ("342 378", 375.7777, 375.7694, 375.8773, "376 times (376 to 376)"),
        ("", 1.013992, 1.013989, 1.014, "1.01 times (1.01 to 1.01)"),
    ],
)
def test_values_have_the_digits_by_which_they_can_be_checked(bounds, value, low, high, text):
    assert value_text({"value": value, "low": low, "high": high, "unit": "times", "bounds": bounds}) == text


def test_bounds_stand_beside_the_value(tmp_path):
    claim = {"kind": "threshold", "pick": "mean", "requirement": {"above": 9, "at_most": 10.25}}
    assert claim_runs.check(tmp_path, lambda *cell: [10, 10], claim)["bounds"] == "9 10.25"
