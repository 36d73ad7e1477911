"""Claims that quote their paper are complete, agree with the paper's own numbers, and evaluate on any study."""

import pandas as pd
import pytest

import claim_runs
from run_tables.tidy_tables import RUN
from topics.claims import check_claims
from topics.claims import claims_file as claims
from topics.claims.claim_measures import meets_requirement
from topics.claims.tables import NOT_TESTABLE

QUOTED = ["geni-cwnd-fairness", "kato-bbr-ns3"]


@pytest.mark.parametrize("name", QUOTED)
def test_quoted_claims_are_complete(request, name):
    file = claims.load_claims(request.config.rootpath / f"config/claims/{name}.yaml")
    assert file["paper"]["statements"] == "quoted"
    assert file["ip_versions"] == ["ipv4"]
    assert len(file["claims"]) >= 30
    for claim in file["claims"]:
        assert claim["ip_versions"] == ["ipv4"], claim["id"]
        assert claim["tolerance"].endswith("."), claim["id"]
        assert len(claim["statement"]) < 260, claim["id"]
    chosen = {
        cca for claim in file["claims"] for side in (claim, claim.get("numerator", {})) for cca in side.get("ccas", ())
    }
    assert chosen == set(file["ccas"])
    sides = [claim.get(side, claim) for claim in file["claims"] for side in ("numerator", "denominator")]
    named = {name for side in sides for name in side["scenarios"]}
    assert named == {scenario["id"] for scenario in file["scenarios"]}


def test_published_numbers_of_quoted_claims_lie_in_their_tolerance(request):
    """Else a claim would contradict its own paper."""
    published = {
        "geni-cwnd-fairness": {
            "cubic-more-retransmissions": 119 / 97, "cubic-119-retransmissions": 119, "reno-97-retransmissions": 97,
            "vegas-29-retransmissions": 29, "vegas-far-fewer-retransmissions": 29 / 97, "vegas-121-kbps": 0.121,
            "reno-957-kbps": 0.957, "reno-unfair-to-vegas": 100 * 957 / (957 + 121), "bbr-beside-reno-500-kbps": 0.5,
            "reno-beside-bbr-500-kbps": 0.5,
        },
        "kato-bbr-ns3": {
            "ten-flows-high-100": 10, "six-flows-low-100": 6, "nine-or-ten-flows-high": 9, "rest-extremely-low": 7,
            "distribution-shrinks": (28.5 / 36.1) / (12.7 / 53.1), "efficiency-small-buffers": 60, "efficiency-large-buffers": 90,
            "starved-pacing-rate": 0.1 / 0.625, "recovered-pacing-rate": 87 / 0.625, "lowest-flow-3.44": 32 / 0.625,
            "highest-flow-3.44": 47 / 0.625, "pacing-rate-3.44": 70 / 0.625,
        } | {
            f"table2-{what}-{packets}": value
            for packets, sd, total in (
                (100, 31.0, 632.0), (500, 32.0, 574.8), (1000, 28.5, 577.9), (2000, 12.7, 850.3), (5000, 3.3, 900.2)
            )
            for what, value in (("sd", sd / 0.625), ("total", total / 10))
        },
    }  # fmt: skip
    for name, values in published.items():
        file = claims.load_claims(request.config.rootpath / f"config/claims/{name}.yaml")
        requirements = {claim["id"]: claim["requirement"] for claim in file["claims"]}
        for claim, value in values.items():
            assert meets_requirement([value], requirements[claim]).all(), (claim, value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", QUOTED)
def test_claims_on_flows_and_time_series_get_a_verdict(request, name):
    """Whatever the values, nothing is missing, so only an interval on both sides leaves a claim open."""
    file = claims.load_claims(request.config.rootpath / f"config/claims/{name}.yaml")
    runs, flows, scenarios, sockets = claim_runs.study_of(file)
    table = check_claims.check_claims(runs, file, 0.95, 0.05, 100, 1, flows, scenarios, sockets)
    assert table["claim"].tolist() == [claim["id"] for claim in file["claims"]]
    for row in table.to_dict("records"):
        assert row["requirement"] and pd.notna(row["value"]) and row["runs"] > 0, row
        assert row["low"] <= row["value"] <= row["high"], row
        assert row["verdict"] != NOT_TESTABLE or "reaches both sides" in row["because"], row
    assert table["verdict"].nunique() == 3


def test_time_series_are_read_from_their_file_and_only_if_a_scenario_is_there(request, tmp_path):
    file = claims.load_claims(request.config.rootpath / "config/claims/geni-cwnd-fairness.yaml")
    runs, flows, scenarios, sockets = claim_runs.study_of(file)
    measured = ["state", "bytes_acked", "cwnd_packets", "ssthresh_packets", "pacing_mbps"]
    columns = [*RUN, "flow", "flow_cca", "time_s", *measured]
    sockets(columns, ["experiment-1", "experiment-2"]).to_parquet(tmp_path / "s.parquet")

    def check(runs, reader):
        return check_claims.check_claims(runs, file, 0.95, 0.05, 20, 1, flows, scenarios, reader)

    reader = check_claims.reader_of(tmp_path / "s.parquet")
    assert check(runs, reader).equals(check(runs, sockets))
    elsewhere = check(runs.assign(rate_mbps=7.0), reader)
    assert set(elsewhere["verdict"]) == {NOT_TESTABLE}
    because = "No scenario of this study has the conditions of scenario experiment-"
    assert elsewhere["because"].str.startswith(because).all()
