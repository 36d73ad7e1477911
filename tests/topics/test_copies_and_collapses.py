"""Every topic's tables, for runs that repeat one measurement and runs with one collapse: no interval, no p."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import path_studies
import share_studies
import size_studies
import tidy_tables
from run_tables.queue_sizes import queues_of
from run_tables.resolution import resolutions
from run_tables.run_keys import CELL, RUN
from run_tables.tidy_tables import FLOWS, RUNS
from topics.buffers.describe_flows import describe_replications, describe_runs
from topics.fairness.compare_factors import compare_levels
from topics.fairness.compare_shares import describe_shares
from topics.fairness.flow_shares import pairs_of
from topics.fairness.measure_shares import shares_of_flows
from topics.fairness.pair_shares import compare_pairs
from topics.fairness.share_theory import MARGIN, compare_with_theory
from topics.multipath.compare_paths import aggregation
from topics.multipath.equations import HOLDS
from topics.multipath.path_environments import with_paths
from topics.platforms.compare_platforms import AGREE, DIFFER, NOT_SHOWN, platform_differences
from topics.theory.fit_models import ratio_interval
from topics.time_series.compare_flows import compare_flows

PARAMS = SimpleNamespace(confidence=0.95, significance=0.05, seed=1)
AGREEMENT = {"goodput_percent": 10, "jain_index": 0.1, "rtt_percent": 10, "loss_factor": 2, "retransmits_factor": 2}
#: Ends of the names of columns that hold an interval or a p.
PRINTED = ("_low", "_high")
#: What columns of those names hold that is neither: bounds that were set, ends that were calculated.
BOUNDS = ("tolerance_low", "tolerance_high", "theory_low", "theory_high")


def printed(table):
    """Return the columns of a table that contain intervals and p-values."""
    names = [name for name in table if name == "p" or name.startswith(("p_", "order_p")) or name.endswith(PRINTED)]
    return table[[name for name in names if name not in BOUNDS]]


def copied(frame, by, column, step, seed=0):
    """Return a table whose rows with the same `by` have one value of a column, with 0.4 of its resolution added by chance."""
    values = frame.groupby(by)[column].transform("first")
    return frame.assign(**{column: values + 0.4 * step * np.random.default_rng(seed).random(len(frame))})


def copied_runs(runs, *columns):
    """Return runs in which those of a cell repeat one measurement."""
    for column in columns:
        runs = copied(runs, CELL, column, resolutions(runs, column))
    return runs


def platform_runs(factor=1.0, replications=10):
    """Return runs of two platforms, the second's goodput being a multiple of the first's, and their scenarios."""
    scenarios = tidy_tables.buffers(("uml", "ns3:3.44"), (10,), 100)
    scenarios["scenario"] = scenarios["platform"].str.replace(":", "-")
    rng, rows = np.random.default_rng(4), []
    for name, platform in zip(scenarios["scenario"], scenarios["platform"], strict=True):
        for replication in range(1, replications + 1):
            rows.append(
                {"scenario": name, "cca": "bbr", "ip_version": "ipv4", "replication": replication, "platform": platform,
                 "valid": True, "flows": 16, "duration_s": 40.0, "mss_bytes": 1448.0, "packets_sent": 20_000,
                 "goodput_mbps": 40 * (factor if platform != "uml" else 1) * (1 + 0.01 * rng.standard_normal()),
                 "jain_index": 0.9, "rtt_mean_ms": 70.0, "loss_percent": 1.0, "retransmits": 200.0}
            )  # fmt: skip
    return tidy_tables.completed(pd.DataFrame(rows), RUNS), scenarios


METRICS = ("goodput_mbps", "jain_index", "rtt_mean_ms", "loss_percent")


@pytest.mark.parametrize(("factor", "verdict"), [(1.02, AGREE), (1.3, DIFFER)])
def test_platforms_that_repeat_one_measurement_each_have_no_test(factor, verdict):
    runs, scenarios = platform_runs(factor)
    table = platform_differences(copied_runs(runs, *METRICS), scenarios, AGREEMENT, PARAMS)
    assert printed(table).isna().all(axis=None) and table["tost_low"].isna().all()
    assert table["note"].str.contains("repeat one measurement: n = 1, no test").all()
    verdicts = table.set_index("metric")["verdict"]
    assert verdicts.pop("goodput_mbps") == verdict and set(verdicts) == {AGREE}


def test_a_platform_of_which_one_run_collapsed_is_not_said_to_agree_or_differ():
    runs, scenarios = platform_runs()
    runs.loc[3, "goodput_mbps"] *= 0.3
    row = platform_differences(runs, scenarios, AGREEMENT, PARAMS).set_index("metric").loc["goodput_mbps"]
    assert row["verdict"] == NOT_SHOWN and printed(row.to_frame().T).isna().all(axis=None)
    assert row["note"] == "1 of 20 runs is an outlier: no interval of the mean"


def test_joined_paths_that_repeat_one_measurement_have_a_factor_and_no_interval():
    study = path_studies.paths_study(replications=4)
    runs = copied_runs(study["runs"].assign(jain_index=1.0), "goodput_mbps")
    runs["transfer_s"] = runs.groupby(CELL)["transfer_s"].transform("first")
    table = aggregation(runs, with_paths(study["scenarios"]), 0.95)
    assert printed(table).isna().all(axis=None)
    assert table["note"].str.contains("one measurement repeated, so no interval").all()
    judged = table.set_index(CELL)
    assert judged.loc[("mptcp-4", "cubic", "ipv4"), "equation"] == HOLDS and judged["factor"].notna().any()


def test_a_path_of_which_one_run_collapsed_has_no_interval():
    study = path_studies.paths_study(replications=8)
    runs = study["runs"]
    cell = runs[CELL].eq(["mptcp-4", "cubic", "ipv4"]).all(axis=1)
    runs.loc[runs[cell].index[0], "goodput_mbps"] *= 0.3
    row = aggregation(runs, with_paths(study["scenarios"]), 0.95).set_index(CELL).loc[("mptcp-4", "cubic", "ipv4")]
    assert np.isnan(row["goodput_low"]) and np.isnan(row["factor_low"]) and row["equation"] == "open"
    assert "goodput: 1 of 8 runs is an outlier" in row["note"]


def buffer_cells(change):
    """Return the cells of a study of buffers whose flows come from `change`."""
    made = tidy_tables.synthetic_study(tidy_tables.buffers(("uml",), (10, 500), 100), ["bbr"], ["ipv4"], replications=6)
    runs = made["runs"]
    flows = made["flows"][[*RUN, "flow"]].assign(goodput_mbps=4 + 0.1 * made["flows"]["flow"])
    flows = flows.assign(under_test=True, direction="forward")
    flows = change(flows.merge(runs[[*RUN, "duration_s", "mss_bytes"]], on=RUN))
    described = describe_runs(runs, flows, made["scenarios"])
    return describe_replications(runs, described, made["scenarios"], 0.95)


def test_buffers_that_repeat_one_measurement_have_no_interval():
    rng = np.random.default_rng(2)

    def change(flows):
        step = 2 * 8e-6 * flows["mss_bytes"] / flows["duration_s"]
        return flows.assign(goodput_mbps=flows["goodput_mbps"] + 0.4 * step * rng.random(len(flows)))

    cells = buffer_cells(change)
    assert printed(cells).isna().all(axis=None) and cells["note"].str.contains("one measurement repeated").all()


def test_a_buffer_in_which_one_run_collapsed_has_no_interval():
    rng = np.random.default_rng(2)

    def change(flows):
        spread = 1 + 0.01 * rng.standard_normal(len(flows))
        lost = np.where(flows["replication"] == 3, 0.3, 1.0)
        return flows.assign(goodput_mbps=flows["goodput_mbps"] * spread * lost)

    totals = buffer_cells(change).query("statistic == 'total_mbps'")
    assert totals["ci_low"].isna().all() and totals["note"].str.contains("1 of 6 runs is an outlier").all()


def test_sizes_that_repeat_one_measurement_are_worth_one(tmp_path):
    study = size_studies.sizes_study(sizes=(128, 1408))
    runs = study["runs"]
    for metric in ("goodput_mbps", "rtt_mean_ms"):
        runs = copied_runs(runs, metric)
    cells, differences = size_studies.measure(tmp_path, study | {"runs": runs})
    assert printed(cells).isna().all(axis=None) and printed(differences).isna().all(axis=None)
    assert (cells["measurements"] == 1).all() and (cells["n"] == 6).all()
    assert differences["difference"].notna().all() and set(differences["note"]) == {
        "runs repeat one measurement: n = 1, no interval"
    }


def sharing(change, replications=6):
    """Return shares and pairs of a study of two flows, its scenarios and queues; `change` is applied to its flows."""
    study = share_studies.sharing_study(replications=replications, noise=0.0)
    runs = study["runs"].assign(mss_bytes=1448.0)
    flows = change(tidy_tables.completed(study["flows"], FLOWS).merge(runs[[*RUN, "duration_s"]], on=RUN))
    shares = shares_of_flows(runs, flows.drop(columns="duration_s"))
    return shares, pairs_of(shares), queues_of(runs)


@pytest.mark.slow
def test_shares_that_repeat_one_measurement_have_no_interval_and_no_p():
    rng = np.random.default_rng(5)

    def change(flows):
        step = 2 * 8e-6 * 1448 / flows["duration_s"]
        return flows.assign(goodput_mbps=flows["goodput_mbps"] + 0.2 * step * rng.random(len(flows)))

    shares, pairs, queues = sharing(change)
    scenarios = share_studies.scenarios()
    for table in (
        describe_shares(shares, PARAMS),
        compare_pairs(pairs, PARAMS),
        compare_levels(pairs, scenarios, queues, PARAMS),
        compare_with_theory(pairs, scenarios, queues, PARAMS),
    ):
        assert len(table) and printed(table).isna().all(axis=None), printed(table).dropna(how="all")
    # The share is known all the same, and is or isn't the model's.
    assert set(compare_with_theory(pairs, scenarios, queues, PARAMS)["agrees"]) <= {"yes", "no"}


def test_a_pair_of_which_one_run_starved_has_no_interval_of_the_share():
    rng = np.random.default_rng(6)

    def change(flows):
        spread = 1 + 0.01 * rng.standard_normal(len(flows))
        starved = (
            (flows["replication"] == 2)
            & (flows["flow_cca"] == "cubic")
            & flows["cca"].isin(["cubic+reno", "reno+cubic"])
        )
        return flows.assign(goodput_mbps=flows["goodput_mbps"] * spread * np.where(starved, 0.1, 1))

    _, pairs, _ = sharing(change)
    table = compare_pairs(pairs, PARAMS)
    of_pair = table[table["row_cca"].isin(["cubic", "reno"]) & table["column_cca"].isin(["cubic", "reno"])]
    of_pair = of_pair[(of_pair["row_cca"] != of_pair["column_cca"]) & (of_pair["orders"] == "both")]
    assert len(of_pair) and of_pair["share_low"].isna().all()
    assert of_pair["note"].str.contains("1 of 6 runs is an outlier").all()
    assert table.drop(of_pair.index)["share_low"].notna().any()


def test_agreement_with_theory_is_not_a_matter_of_imprecision():
    # The same shares, spread more and more: a wide interval holds the model's value, and shows nothing.
    scenarios = share_studies.scenarios()
    verdicts = []
    for noise in (0.02, 3.0):
        study = share_studies.sharing_study(replications=8, noise=noise)
        shares = shares_of_flows(study["runs"], tidy_tables.completed(study["flows"], FLOWS))
        table = compare_with_theory(pairs_of(shares), scenarios, queues_of(study["runs"]), PARAMS)
        for row in table[table["predicted"].notna() & table["share_low"].notna()].to_dict("records"):
            inside = row["predicted"] - MARGIN < row["share_low"] and row["share_high"] <= row["predicted"] + MARGIN
            assert (row["agrees"] == "yes") == inside
            verdicts.append(row["agrees"])
    assert "" in verdicts


def test_flows_of_a_run_that_repeat_one_measurement_have_no_interval():
    study = share_studies.sharing_study(mixes=["reno", "cubic"], replications=4, noise=0.0)
    flows = study["flows"].assign(
        goodput_mbps=study["flows"].groupby([*CELL, "flow"])["goodput_mbps"].transform("first")
    )
    runs = study["runs"].assign(rtt_mean_ms=50.0, retransmits=20, jain_index=0.9)
    flows = flows.assign(under_test=True)
    table = compare_flows(runs, flows, 0.95)
    assert len(table) and table[["ci_low", "ci_high"]].isna().all(axis=None)
    flows.loc[flows["replication"] == 2, "goodput_mbps"] *= 0.3
    lost = compare_flows(runs, flows, 0.95).query("quantity == 'goodput'")
    assert lost["ci_low"].isna().all()


def test_a_model_is_not_held_against_copies():
    assert ratio_interval([40.0, 40.001, 40.0005], [50.0] * 3, 0.95, 0.002)[1:] == (None, None)
    assert ratio_interval([40.0, 40.1, 40.2, 40.05, 40.15, 40.1], [50.0] * 6, 0.95, 0.002)[1] is not None
