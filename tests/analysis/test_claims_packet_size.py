"""The claims on message sizes: they quote the paper, agree with its own numbers, and find their scenarios."""

import math

import pandas as pd
import pytest
from claim_checks.claim_measures import meets_requirement
from claim_checks.claim_scenarios import match_scenarios, scenario_conditions
from run_tables.tidy_columns import RUNS, SCENARIOS, read_table
from study_files import claims

NAME = "config/claims/windows-packet-size.yaml"
#: Claims whose printed values contradict the printed percentage, or are about sizes that the text gives no values of.
RATIOS = {
    "tcp-p2p-1152-difference": 87.48 / 85.27, "tcp-cs-384-difference": 82.56 / 78.91, "udp-p2p-384-difference": 73.29 / 69.13,
    "udp-cs-384-difference": 73.31 / 64.92, "tcp-p2p-over-cs-128-ipv4": 74.1 / 73.31, "tcp-p2p-over-cs-128-ipv6": 71.96 / 70.62,
    "tcp-p2p-over-cs-1408-ipv4": 88.05 / 87.44, "tcp-p2p-over-cs-1408-ipv6": 86.77 / 86.39, "udp-ipv6-p2p-over-cs": 69.13 / 64.92,
    "udp-ipv4-p2p-equals-cs": 73.29 / 73.31, "tcp-rtt-cs-1408-difference": 30 / 28.97, "tcp-rtt-p2p-640-difference": 37.6 / 35.3,
    "tcp-rtt-cs-lower-ipv4": 28.97 / 41.57, "tcp-rtt-cs-lower-ipv6": 30 / 39.03, "udp-rtt-cs-384-difference": 1.18 / 13.58,
    "udp-rtt-p2p-384-difference": 2.28 / 14.43, "tcp-grows-with-size": 88.05 / 74.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def file(request):
    return claims.load_claims(request.config.rootpath / NAME)


def test_claims_are_complete(file):
    assert file["paper"]["statements"] == "quoted"
    assert len(file["claims"]) >= 50
    named = {
        name
        for claim in file["claims"]
        for side in ("numerator", "denominator")
        for name in claim.get(side, claim)["scenarios"]
    }
    assert named <= {scenario["id"] for scenario in file["scenarios"]}
    assert all(claim["tolerance"].endswith(".") for claim in file["claims"])


def test_the_papers_own_numbers_lie_in_what_is_allowed(file):
    """Else a claim would contradict its own paper."""
    by_id = {claim["id"]: claim for claim in file["claims"]}
    for name, value in RATIOS.items():
        assert meets_requirement([value], by_id[name]["requirement"]).all(), name
    thresholds = [claim for claim in file["claims"] if claim["kind"] == "threshold"]
    assert len(thresholds) == 18
    for claim in thresholds:
        printed = float(claim["published"].split()[0])
        assert meets_requirement([printed], claim["requirement"]).all(), claim["id"]


def test_printed_cells_are_as_many_as_the_sizes(file):
    cells = file["paper"]["cells"]
    assert len(cells["values"]) == 16
    for entry in cells["values"]:
        assert len(entry["mean"]) == len(entry["sd"]) == len(cells["message_bytes"]) == 6
        assert None not in entry["sd"]
    known = {(e["quantity"], e["protocol"], e["background"], e["ip_version"]): e for e in cells["values"]}
    assert known["goodput_mbps", "tcp", "none", "ipv4"]["sd"] == [1.97, 1.35, 1.13, 0.99, 0.81, 0.79]
    assert known["rtt_mean_ms", "udp", "server", "ipv6"]["sd"] == [0.04, 0, 0.51, 0.05, 0.05, 0.09]


def test_other_numbers_of_values_than_sizes_are_refused(file, tmp_path):
    import yaml

    text = yaml.safe_load((claims.SCHEMA_PATH.parents[2] / NAME).read_text(encoding="utf-8"))
    text["paper"]["cells"]["values"][0]["sd"].append(1)
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(text), encoding="utf-8")
    with pytest.raises(claims.ClaimsError, match=r"values\[0\]\.sd has 7 values; allowed are 6"):
        claims.load_claims(path)


def test_scenarios_are_found_by_traffic_size_and_environment(file, tmp_path):
    import size_studies
    import tidy_tables

    tidy = tidy_tables.write_tidy(size_studies.sizes_study(replications=2), tmp_path)
    runs, scenarios = read_table(tidy / "runs.csv", RUNS), read_table(tidy / "scenarios.csv", SCENARIOS)
    found, missing = match_scenarios(scenario_conditions(runs, scenarios), file["scenarios"])
    assert missing == {}
    assert found["p2p-tcp-128"] == "p2p-tcp-128" and found["cs-udp-rtt-1408"] == "cs-udp-rtt-1408"
    assert len(set(found.values())) == len(found) == 48


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"segment_bytes": [None]}, "whole"), ({"segment_bytes": [128]}, "short"), ({"message_bytes": [384]}, "large"),
        ({"protocol": ["udp"]}, "large"), ({"background": ["server"], "multipath": ["none"]}, "short"),
        ({"message_bytes": {"at_most": 128}, "background": ["none"]}, "whole"), ({"paths": [4]}, None), ({"application": ["ftp"]}, None),
    ],
)  # fmt: skip
def test_each_new_condition_tells_scenarios_apart(condition, found):
    rows = [
        {"scenario": "whole", "protocol": "tcp", "message_bytes": "128", "background": "none", "segment_bytes": ""},
        {"scenario": "short", "protocol": "tcp", "message_bytes": "128", "background": "server", "segment_bytes": "128"},
        {"scenario": "large", "protocol": "udp", "message_bytes": "384", "background": "none", "segment_bytes": "64"},
    ]
    shared = {"application": "iperf3", "multipath": "none", "paths": "1", "topology": "cable", "rate_mbps": 100.0, "rtt_path_ms": math.nan, "mss_bytes": math.nan}
    table = pd.DataFrame([{**row, **shared, "scenario_label": row["scenario"]} for row in rows])
    scenarios = table[["scenario", "segment_bytes"]].assign(queue="1000 packets")
    known = scenario_conditions(table.drop(columns="segment_bytes"), scenarios)
    assert match_scenarios(known, [{"id": "a", **condition}])[0] == ({"a": found} if found else {})
