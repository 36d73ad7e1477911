"""Claims that quote their paper are complete, agree with the paper's own numbers, and can be evaluated on any study."""

import pandas as pd
import pytest

import claim_runs
from topics.claims import check_claims
from topics.claims import claims_file as claims
from topics.claims.claim_measures import FLOW, meets_requirement
from topics.claims.claim_quantities import SIDES
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED

QUOTED = ["geni-cwnd-fairness", "kato-bbr-ns3"]
#: What the text prints; of message sizes not where it contradicts the printed percentage.
PUBLISHED = {
    "geni-cwnd-fairness": {
        "cubic-more-retransmissions": 119 / 97, "cubic-119-retransmissions": 119, "reno-97-retransmissions": 97,
        "vegas-29-retransmissions": 29, "vegas-far-fewer-retransmissions": 29 / 97, "vegas-121-kbps": 0.121,
        "reno-957-kbps": 0.957, "reno-unfair-to-vegas": 100 * 957 / (957 + 121), "bbr-beside-reno-500-kbps": 0.5,
        "reno-beside-bbr-500-kbps": 0.5,
    },
    "kato-bbr-ns3": {
        "ten-flows-high-100": 10, "six-flows-low-100": 6, "nine-or-ten-flows-high-500": 9, "rest-extremely-low-1000": 7, "figure9-nine-flows-high": 9,
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
    "windows-packet-size": {
        "tcp-p2p-1152-difference": 87.48 / 85.27, "tcp-cs-384-difference": 82.56 / 78.91, "udp-p2p-384-difference": 73.29 / 69.13,
        "udp-cs-384-difference": 73.31 / 64.92, "tcp-p2p-over-cs-128-ipv4": 74.1 / 73.31, "tcp-p2p-over-cs-128-ipv6": 71.96 / 70.62,
        "tcp-p2p-over-cs-1408-ipv4": 88.05 / 87.44, "tcp-p2p-over-cs-1408-ipv6": 86.77 / 86.39, "udp-ipv6-p2p-over-cs": 69.13 / 64.92,
        "udp-ipv4-p2p-equals-cs": 73.29 / 73.31, "tcp-rtt-cs-1408-difference": 30 / 28.97, "tcp-rtt-p2p-640-difference": 37.6 / 35.3,
        "tcp-rtt-cs-lower-ipv4": 28.97 / 41.57, "tcp-rtt-cs-lower-ipv6": 30 / 39.03, "udp-rtt-cs-384-difference": 1.18 / 13.58,
        "udp-rtt-p2p-384-difference": 2.28 / 14.43, "tcp-grows-with-size": 88.05 / 74.1,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "ip_versions", "least"),
    [(QUOTED[0], ["ipv4"], 30), (QUOTED[1], ["ipv4"], 30), ("windows-packet-size", ["ipv4", "ipv6"], 50)],
)
def test_quoted_claims_are_complete(root, name, ip_versions, least):
    file = claims.load_claims(root / f"config/claims/{name}.yaml")
    assert file["paper"]["statements"] == "quoted"
    assert file["ip_versions"] == ip_versions
    assert len(file["claims"]) >= least
    for claim in file["claims"]:
        assert claim["tolerance"].endswith("."), claim["id"]
        assert len(claim["statement"]) < (260 if name in QUOTED else 300), claim["id"]
    sides = [claim[side] if side else claim for claim in file["claims"] for side in SIDES.get(claim["kind"], ("",))]
    levels = {"scenarios": [s["id"] for s in file["scenarios"]], "ccas": file["ccas"], "ip_versions": ip_versions}
    for key, names in levels.items():
        assert {name for side in sides for name in side[key]} == set(names)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers_of_quoted_claims_lie_in_their_tolerance(root, name):
    """Otherwise a claim would contradict its own paper."""
    file = claims.load_claims(root / f"config/claims/{name}.yaml")
    requirements = {claim["id"]: claim["requirement"] for claim in file["claims"] if "requirement" in claim}
    for claim, value in PUBLISHED[name].items():
        requirement = requirements[claim]
        if "replicates" in requirement:
            assert abs(value - requirement["replicates"]) < requirement["standard_error"], (claim, value)
        else:
            assert meets_requirement([value], requirement).all(), (claim, value)


def test_counts_of_flows_have_the_error_of_a_binomial_count(root):
    claims_of = claims.load_claims(root / "config/claims/kato-bbr-ns3.yaml")["claims"]
    counted = [
        claim
        for claim in claims_of
        if claim.get("flows", {}).get("take") == "count" and "replicates" in claim["requirement"]
    ]
    assert len(counted) == 9
    for claim in counted:
        number = claim["requirement"]["replicates"]
        error = (16 * number / 16 * (1 - number / 16)) ** 0.5
        assert claim["requirement"]["standard_error"] == pytest.approx(error, abs=0.005), claim["id"]


def test_what_no_run_can_tell_says_why(root):
    """Claims that measure something other than the paper did, name a cause, or can't fail where programs take no time."""
    reasons = {}
    for path in sorted((root / "config/claims").glob("*.yaml")):
        for claim in claims.load_claims(path)["claims"]:
            for key in ("untestable", "needs_real_clock"):
                assert claim[key] == "" or claim[key].endswith("."), claim["id"]
                if claim[key]:
                    reasons.setdefault((path.stem, key), []).append(claim["id"])
    sizes = claims.load_claims(root / "config/claims/windows-packet-size.yaml")["claims"]
    loaded = {claim["id"] for claim in sizes if claim["quantity"] == "rtt_mean_ms"}
    assert loaded < set(reasons["windows-packet-size", "untestable"]) and len(loaded) == 29
    paths = claims.load_claims(root / "config/claims/szilagyi-multipath.yaml")["claims"]
    tunnels = {
        claim["id"]
        for claim in paths
        for side in ([claim[name] for name in SIDES.get(claim["kind"], ())] or [claim])
        if any("tun-" in name for name in side["scenarios"])
    }
    assert set(reasons["szilagyi-multipath", "untestable"]) == tunnels | {"mptcp-ipv6-more-stable"}
    assert set(reasons["kato-bbr-ns3", "untestable"]) == {
        "difference-not-from-3.42", "difference-not-from-3.43", "difference-not-from-3.44", "figure9-nine-flows-high",
        "figure9-seven-flows-low", "figure9-total-worse",
    }  # fmt: skip


def test_durations_are_asked_of_all_values_of_table_3(root):
    printed = [
        claim
        for claim in claims.load_claims(root / "config/claims/lima-ccas-ipv4-ipv6.yaml")["claims"]
        if claim["section"].endswith("table 3") and claim["kind"] == "threshold"
    ]
    assert [claim["duration_s"] for claim in printed] == [30] * 6


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", QUOTED)
def test_claims_on_flows_and_time_series_get_a_verdict(root, name):
    """No values are missing, so a claim can be open only because its interval lies on both sides."""
    file = claims.load_claims(root / f"config/claims/{name}.yaml")
    untestable = {claim["id"]: claim["untestable"] for claim in file["claims"]}
    runs, flows, scenarios, sockets = claim_runs.study_of(file)
    table = check_claims.check_claims(runs, file, 0.95, 0.05, flows, scenarios, sockets)
    assert table["claim"].tolist() == [claim["id"] for claim in file["claims"]]
    for row in table.to_dict("records"):
        assert row["requirement"] and pd.notna(row["value"]) and row["runs"] > 0, row
        # Runs that are copies of one are one measurement, and that has no interval.
        assert pd.isna(row["low"]) or row["low"] <= row["value"], row
        assert not row["high"] < row["value"], row
        assert row["verdict"] != NOT_TESTABLE or untestable[row["claim"]], row
    assert set(table["verdict"]) >= {REPRODUCED, NOT_REPRODUCED, NOT_SHOWN}


@pytest.mark.slow
def test_time_series_are_read_from_their_file_and_only_if_a_scenario_is_there(root, tmp_path):
    file = claims.load_claims(root / "config/claims/geni-cwnd-fairness.yaml")
    runs, flows, scenarios, sockets = claim_runs.study_of(file)
    measured = ["state", "bytes_acked", "cwnd_packets", "ssthresh_packets", "pacing_mbps"]
    columns = [*FLOW, "flow_cca", "time_s", *measured]
    sockets(columns, ["experiment-1", "experiment-2"]).to_parquet(tmp_path / "s.parquet")

    def check(runs, reader):
        return check_claims.check_claims(runs, file, 0.95, 0.05, flows, scenarios, reader)

    reader = check_claims.reader_of(tmp_path / "s.parquet")
    assert check(runs, reader).equals(check(runs, sockets))
    elsewhere = check(runs.assign(rate_mbps=7.0), reader)
    assert set(elsewhere["verdict"]) == {NOT_TESTABLE}
    because = "No scenario of this study has the conditions of scenario experiment-"
    assert elsewhere["because"].str.startswith(because).all()
