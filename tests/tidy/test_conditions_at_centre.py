"""Statements about a scenario use its centre if its runs' conditions are drawn, and the tables unchanged otherwise."""

import pandas as pd
import pytest

from experiment.specification import RunSpecification
from run_tables.conditions_at_centre import flows_at_centre, path_factors, runs_at_centre
from run_tables.queue_sizes import queue_bdp
from run_tables.tidy_rows import scenario_row
from run_tables.tidy_tables import FLOWS, RUNS
from study_files import study as studies
from tidy_tables import completed
from topics.claims.claim_scenarios import scenario_conditions
from topics.fairness.measure_shares import shares_of_flows
from topics.validity.sentences import rtt_words, trust_sentence

HOSTS = {"pairs": 2, "access_delay_ms": [1, 4]}


def tables_of(queue, hosts=HOSTS, variation=None):
    """Return runs, flows and scenarios of a varied scenario and an exact one, as made by tidying."""
    varied = {"rtt_percent": 10, "rate_percent": 5} if variation is None else variation
    scenarios = [
        {"id": "varied", "variation": varied, "queue": queue, "hosts": hosts, "flows": 2},
        {"id": "exact", "queue": queue, "hosts": hosts, "flows": 2},
    ]
    config = {"study": "small", "ccas": ["reno+cubic"], "replications": 5, "scenarios": scenarios}
    study = studies.resolve(config | {"defaults": {"link": {"rate_mbps": 20, "delay_ms": 10}}}, "small.yaml")
    runs, flows = [], []
    for of_run in studies.runs(study):
        run = RunSpecification(studies.run_specification(study, *of_run))
        keys = dict(zip(("scenario", "cca", "ip_version", "replication"), of_run, strict=True))
        held = run.queue_bytes or run.queue_packets * 1514
        runs.append(
            keys | {
                "scenario_label": of_run[0], "valid": True, "rate_mbps": run.rate_mbps, "delay_ms": run.link.delay_ms["forward"],
                "rtt_path_ms": run.rtt_path_ms, "background": run.background, "capacity_mbps": run.rate_mbps, "policer_drops": None, "packet_bytes": 1514.0,
                "queue_packets": run.queue_packets, "queue_bytes": held, "rtt_min_ms": run.pairs[0].rtt_ms + 0.25,
                "queue_bdp": queue_bdp(next(f"{size:g} {'BDP' if unit == 'bdp' else unit}" for unit, size in run.scenario["queue"].items()), held, run.rate_mbps, run.rtt_path_ms),
            }
        )  # fmt: skip
        flows += [
            keys | {
                "flow": flow, "flow_cca": run.flow_cca(flow), "pair": flow + 1, "rtt_path_ms": run.flow_pair(flow).rtt_ms,
                "goodput_mbps": 5.0, "start_offset_ms": float(flow), "valid": True,
            }
            for flow in range(2)
        ]  # fmt: skip
    scenarios = pd.DataFrame([scenario_row(scenario, ()) for scenario in study["scenarios"]])
    return pd.DataFrame(runs).astype({"queue_packets": float}), pd.DataFrame(flows), scenarios


@pytest.mark.parametrize("queue", [{"bdp": 1}, {"packets": 30}, {"bytes": 45_000}], ids=["BDP", "packets", "bytes"])
def test_all_runs_of_a_scenario_get_its_own_conditions(queue):
    runs, _, scenarios = tables_of(queue)
    assert runs.loc[runs["scenario"] == "varied", "rtt_path_ms"].nunique() == 5
    names = [
        "rate_mbps",
        "capacity_mbps",
        "delay_ms",
        "rtt_path_ms",
        "queue_packets",
        "queue_bytes",
        "queue_bdp",
        "background",
    ]
    at_centre = runs_at_centre(runs, scenarios)
    assert at_centre.loc[at_centre["scenario"] == "varied", names].drop_duplicates().shape[0] == 1
    # Those of an exact scenario are those of the varied one's centre.
    of_both = [
        at_centre.loc[at_centre["scenario"] == name, names].reset_index(drop=True) for name in ("varied", "exact")
    ]
    pd.testing.assert_frame_equal(*of_both, check_dtype=False)
    exact = runs["scenario"] == "exact"
    pd.testing.assert_frame_equal(at_centre[exact], runs[exact], check_dtype=False)


def test_where_nothing_is_drawn_the_tables_are_as_they_were():
    runs, flows, scenarios = tables_of({"bdp": 1}, variation={})
    assert runs_at_centre(runs, scenarios) is runs
    assert flows_at_centre(flows, runs, scenarios) is flows
    assert (path_factors(runs, scenarios) == 1).all()


def test_flows_get_the_rtt_of_their_own_pair():
    runs, flows, scenarios = tables_of({"bdp": 1})
    at_centre = flows_at_centre(flows, runs, scenarios)
    assert at_centre.groupby(["scenario", "flow"])["rtt_path_ms"].unique().map(list).tolist() == [[24], [36]] * 2
    shares = shares_of_flows(completed(runs, RUNS), completed(at_centre, FLOWS))
    assert set(shares["rtt_path_ms"]) == {24, 36}


def test_a_varied_scenario_is_found_by_its_own_conditions():
    runs, _, scenarios = tables_of({"bdp": 1})
    columns = ["flows", "platform", "topology", "application", "protocol", "multipath", "paths"]
    rows = runs.merge(scenarios[["scenario", *columns]], on="scenario")
    by_scenario = {row["scenario"]: row for row in scenario_conditions(rows, scenarios)}
    for name in ("rate_mbps", "delay_ms", "rtt_path_ms", "queue_packets", "queue_bdp"):
        assert by_scenario["varied"][name] == by_scenario["exact"][name], name
    assert by_scenario["varied"]["rtt_path_ms"] == 30


def test_the_lowest_rtt_is_held_against_the_path_that_the_run_had():
    runs, _, scenarios = tables_of({"bdp": 1})
    rows = runs.assign(loss_configured_percent=0.0, packets_sent=1000, queue_drops=0, link_drops=0, invalid_because="")
    checks = pd.DataFrame({"check": ["x"], "passed": [20], "failed": [0]})
    # Each run saw 0.25 ms more than its own nearest pair's empty path.
    assert "at most 0.25 ms above the base RTT" in trust_sentence(rows, checks, scenarios)
    assert "differs from" in rtt_words(runs.assign(rtt_path_ms=24.0))[0]
