"""The shipped claims evaluate on any study, to one of three verdicts with a reason."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

import claim_runs
import tidy_tables
from run_tables.reading import read_table
from topics.claims import check_claims
from topics.claims.tables import CLAIMS, NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED, VERDICTS


def check(runs, file):
    return check_claims.check_claims(runs, file, 0.95, 0.05)


def written(study, folder, claims):
    """Return the path of the rule's output; no shipped claim needs time series."""
    tidy = tidy_tables.write_tidy(study, folder)
    inputs = {name: tidy / f"{name}.csv" for name in ("runs", "flows", "scenarios")} | {
        "sockets": tidy / "sockets.parquet",
        "record": folder / "record.json",
    }
    inputs["record"].write_text(json.dumps([{"runs": 0, "sha256": "ab", "claims": {}, "rest": "cd"}]))
    params = {"claims": claims, "confidence": 0.95, "significance": 0.05}
    path = folder / "claims.csv"
    outputs = SimpleNamespace(claims=path, claim_versions=folder / "claim_versions.csv")
    check_claims.main(SimpleNamespace(**inputs), outputs, SimpleNamespace(**params))
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"replications": 3},
        {"replications": 6, "invalid_share": 0.1},
        {"spread": 0.0},
        {"ccas": tidy_tables.ALL_CCAS},
    ],
)
def test_every_shipped_claim_gets_a_verdict(shipped, options):
    table = check(tidy_tables.synthetic_study(**options)["runs"], shipped)
    assert table["claim"].tolist() == [claim["id"] for claim in shipped["claims"]]
    assert set(table["verdict"]) <= set(VERDICTS)
    for row in table.to_dict("records"):
        assert row["because"].endswith(".") and row["because"][0].isupper(), row["claim"]
        if row["verdict"] != NOT_TESTABLE:
            assert row["requirement"] and pd.notna(row["value"]) and row["runs"] > 0, row["claim"]
            assert pd.isna(row["low"]) or row["low"] <= row["value"] <= row["high"], row["claim"]
    if "replications" not in options:
        assert (table["verdict"] == NOT_TESTABLE).sum() < len(table) / 2


def test_what_was_put_in_comes_out(shipped):
    """The generator's BBR is far ahead under loss, Vegas never keeps a queue, IPv6 has 1.4 % less goodput."""
    table = check(tidy_tables.synthetic_study(replications=10)["runs"], shipped).set_index("claim")
    for name in ("throughput-bbr-under-loss", "throughput-ip-versions-alike", "conclusion-cca-matters-throughput"):
        assert table["verdict"][name] == REPRODUCED
    for name in ("rtt-vegas-highest", "loss-bbr-scenario-12"):
        assert table["verdict"][name] == NOT_REPRODUCED
    assert table["verdict"]["table5-throughput"] == REPRODUCED
    assert "finds IPv6 lower" in table["because"]["table5-throughput"]


def test_a_cause_stands_beside_what_does_not_hold_alone(shipped):
    file = shipped | {"claims": [claim | {"cause": "It is known."} for claim in shipped["claims"]]}
    table = check(tidy_tables.synthetic_study(replications=6)["runs"], file)
    open_or_not = table["verdict"].isin([NOT_REPRODUCED, NOT_SHOWN])
    assert set(VERDICTS) == set(table["verdict"])
    assert (table["cause"] == "It is known.").equals(open_or_not) and set(table["cause"]) == {"", "It is known."}


def in_question(runs):
    return (runs["scenario_label"] == "5") & (runs["cca"] == "vegas") & (runs["ip_version"] == "ipv4")


@pytest.mark.parametrize(
    ("options", "valid", "claim", "because", "answered"),
    [
        ({"ccas": ["reno", "vegas"]}, True, "throughput-bbr-highest", "This study has no cubic, bbr, veno, westwood.", None),
        ({"ip_versions": ["ipv6"]}, True, "throughput-bbr-highest", "This study has no IPv4.", None),
        (
            {"scenarios": tidy_tables.grid(delays_ms=(50,), losses_percent=(0,), flows=(1,)), "replications": 5}, True,
            "table3-rtt-mean", "No scenario of this study has the conditions of scenario 1 (11 scenarios have no match).",
            "throughput-veno-best-in-5",
        ),
        (
            {"replications": 3}, lambda runs: ~in_question(runs), "throughput-veno-best-in-5",
            "No valid run of vegas in scenario 5, IPv4; 3 are needed.", "throughput-bbr-under-loss",
        ),
        (
            {"replications": 4}, lambda runs: ~in_question(runs) | (runs["replication"] == 2), "throughput-veno-best-in-5",
            "A single valid run of vegas in scenario 5, IPv4; 3 are needed.", "throughput-bbr-under-loss",
        ),
        (
            {}, True, "table3-retransmits-mean", "The claim is about runs of 30 s, but this study's runs last 10 s.",
            "throughput-bbr-under-loss",
        ),
    ],
)  # fmt: skip
def test_what_a_study_lacks_is_named(shipped, options, valid, claim, because, answered):
    runs = tidy_tables.synthetic_study(**({"replications": 4} | options))["runs"]
    table = check(runs.assign(valid=valid), shipped).set_index("claim")
    assert table.loc[claim, ["verdict", "because"]].tolist() == [NOT_TESTABLE, because]
    assert answered is None or pd.notna(table.loc[answered, "value"])


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (
            {"scenarios": tidy_tables.grid(delays_ms=(7, 33), flows=(4,)), "replications": 2},
            "No scenario of this study has the conditions of scenario ",
        ),
        ({"replications": 1}, "A single valid run of "),
        ({"replications": 3, "invalid_share": 1}, "No valid run of "),
    ],
)
def test_studies_that_test_nothing(shipped, options, because):
    runs = tidy_tables.synthetic_study(**options)["runs"].assign(duration_s=30)
    table = check(runs, shipped)
    assert set(table["verdict"]) == {NOT_TESTABLE}
    assert table["because"].str.startswith(because).all()
    assert table[["value", "low", "high"]].isna().all(axis=None)


def test_counts_are_tested_with_runs_of_the_papers_duration(shipped):
    runs = tidy_tables.synthetic_study(replications=3)["runs"].assign(duration_s=30)
    assert check(runs, shipped).set_index("claim")["value"].notna()["table3-retransmits-mean"]


def test_scenario_that_refuses_ccas_takes_no_part(shipped):
    """A scenario with the conditions of number 4 but a different label, as in the study exbench."""
    study = tidy_tables.synthetic_study(replications=3)["runs"]
    extra = study[study["scenario_label"] == "4"].copy()
    extra["scenario"], extra["scenario_label"] = extra["scenario"] + "-refused", "4 refused"
    extra["throughput_per_stream_mbps"] = 1.0
    both = pd.concat([study, extra], ignore_index=True)
    assert check(both, shipped).equals(check(study, shipped))


def test_same_bytes_whatever_the_order_of_rows(shipped, tmp_path):
    study = tidy_tables.synthetic_study(replications=3, invalid_share=0.05)
    path = written(study, tmp_path / "1", shipped)
    shuffled = study | {"runs": study["runs"].sample(frac=1, random_state=3)}
    assert path.read_bytes() == written(shuffled, tmp_path / "2", shipped).read_bytes()
    for word in (b"nan,", b"inf,", b"\r"):
        assert word not in path.read_bytes()
    assert len(read_table(path, CLAIMS)) == len(shipped["claims"])


def test_no_claims_give_a_table_without_rows(tmp_path):
    path = written(tidy_tables.synthetic_study(replications=1), tmp_path, None)
    assert path.read_text() == ",".join(CLAIMS.names) + "\n"


def test_bounds_stand_beside_the_value(tmp_path):
    claim = {"kind": "threshold", "pick": "mean", "requirement": {"above": 9, "at_most": 10.25}}
    assert claim_runs.check(tmp_path, lambda *cell: [10, 10, 10], claim)["bounds"] == "9 10.25"
