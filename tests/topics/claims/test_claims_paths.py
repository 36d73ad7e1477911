"""Claims about several paths: spreads over replications, quantities that only some runs have, conditions of the paths."""

import numpy as np
import pandas as pd
import pytest

import claim_runs
from experiment.specification import RunSpecification
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_rows import application_columns
from run_tables.tidy_tables import RUNS
from study_files import study
from tidy_tables import completed
from topics.claims.check_claims import check_claims
from topics.claims.claim_measures import Measure
from topics.claims.claim_samples import Samples
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions
from topics.claims.claims_file import load_claims

GOODPUT = Measure("goodput_mbps")


def verdicts(runs, tmp_path, *claims):
    """Check completed claims against runs; return the rows by name."""
    return check_claims(runs, claim_runs.loaded(tmp_path, *claims), 0.95, 0.05).set_index("claim")


def spread(requirement):
    return {"quantity": "goodput_mbps", "kind": "threshold", "pick": "spread_percent", "requirement": requirement}


def test_spreads_are_standard_deviations_in_percent(tmp_path):
    rng = np.random.default_rng(3)
    values = {}
    runs = claim_runs.table(lambda *cell: values.setdefault(cell, list(rng.uniform(90, 110, 4))))
    spreads = Samples(runs, claim_runs.loaded(tmp_path, spread({"above": 1}))).spreads(GOODPUT)
    assert spreads.shape == (2, 3, 2)
    drawn = np.array(values["2", "bbr", "ipv6"])
    assert spreads[1, 2, 1] == pytest.approx(100 * drawn.std(ddof=1) / drawn.mean())


def test_claims_about_spreads(tmp_path):
    runs = claim_runs.table(lambda scenario, cca, ip_version: [100, 100.01, 99.99] if cca != "bbr" else [100, 104, 96])
    rows = verdicts(runs, tmp_path, spread({"at_most": 1}) | {"ccas": ["reno", "cubic"]}, spread({"at_most": 1}))
    assert rows.loc["claim-1", "verdict"] == "reproduced"
    assert rows.loc["claim-1", "value"] == pytest.approx(0.01)
    assert rows.loc["claim-2", "value"] == pytest.approx(4)
    assert rows.loc["claim-2", "unit"] == "%"
    assert "The bound is met in 8 of 12" in rows.loc["claim-2", "because"]


def test_quantities_that_runs_lack_are_named(tmp_path):
    runs = claim_runs.table(lambda *cell: [1, 2, 3])
    quarter = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}
    rows = verdicts(runs, tmp_path, quarter | {"quantity": "transfer_s"})
    assert "No value of the duration of the file transfer" in rows.loc["claim-1", "because"]
    runs["cpu_busy_percent"] = 12.5
    rows = verdicts(runs, tmp_path, quarter | {"quantity": "cpu_busy_percent"})
    assert rows.loc["claim-1", "value"] == 12.5
    runs["cpu_busy_percent"] = np.nan
    rows = verdicts(runs, tmp_path, quarter | {"quantity": "cpu_busy_percent"})
    assert rows.loc["claim-1", "verdict"] == "not testable"


def test_the_papers_environments_are_found_among_the_shipped_studies(root):
    claims = load_claims(root / "config/claims/szilagyi-multipath.yaml")
    emulated = {"mptcp", "tun-path4", "tun-path6", "ftp-single", "ftp-mptcp", "ftp-tun-path4", "ftp-tun-path6"}
    of_cpu = {"mptcp", "cpu-mptcp-1", "cpu-mptcp-2", "cpu-mptcp-4"}
    for name, environments in (("multipath", emulated), ("multipath-full", emulated), ("multipath-cpu", of_cpu)):
        path = root / "config/studies" / f"{name}.yaml"
        resolved = study.resolve(study.load(path), str(path))
        runs = pd.DataFrame(
            {
                "scenario": s["id"], "scenario_label": s["label"], "platform": s["platform"], "rate_mbps": float(s["link"]["rate_mbps"]),
                "rtt_path_ms": RunSpecification({"scenario": s}).rtt_path_ms, **application_columns(s),
            }
            for s in resolved["scenarios"]
        )  # fmt: skip
        scenarios = pd.DataFrame(
            {"scenario": s["id"], "queue": "1000 packets", "distribution": s["multipath"]["distribution"]}
            for s in resolved["scenarios"]
        )
        matches, _ = match_scenarios(
            scenario_conditions(completed(runs, RUNS), completed(scenarios, SCENARIOS)), claims["scenarios"]
        )
        assert set(matches) == environments
