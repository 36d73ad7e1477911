"""Relations between columns that hold for every run of every study; a violation means that a column has wrong values."""

import pandas as pd

from run_tables.group_tables import GROUPS
from run_tables.reading import read_runs, read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import FLOWS

#: Relative error allowed for rounding.
ROUNDING = 1e-9


def _ordered(table, *names):
    """Return the rows in which the known values are in ascending order."""
    holds = pd.Series(True, index=table.index)
    for low, high in zip(names, names[1:], strict=False):
        holds &= ~(table[low] > table[high] + ROUNDING)
    return holds


def _equal(one, other):
    return ~((one - other).abs() > ROUNDING * (1 + other.abs()))


def _link_drops(runs):
    return runs[["queue_drops", "link_drops"]].sum(axis=1, skipna=False)


def _policed(runs):
    return runs["policer_drops"].fillna(0)


def _lost(runs):
    return 100 * (_link_drops(runs) + _policed(runs)) / (runs["packets_sent"] + _policed(runs))


def _alone(runs):
    """Return the runs in which the hosts' counters cover only the flows under test, and a few segments of iperf3's control connection."""
    return (runs["flows"] == runs["flows_under_test"]) & (runs["groups"] == "")


#: Relation in words -> function that returns whether each valid run satisfies it; missing values satisfy all.
RUNS = {
    "flows under test are some of the flows": lambda runs: runs["flows_under_test"] <= runs["flows"],
    "what came twice is spurious, or nobody knows": lambda runs: (
        runs["spurious_retransmits"].isna() | (runs["spurious_retransmits"] == runs["duplicate_segments"])
    ),
    "what the path duplicates is no retransmission": lambda runs: (
        runs["duplicate_packets"].isna() | runs["spurious_retransmits"].isna()
    ),
    "no more is spurious than was retransmitted": lambda runs: (
        ~_alone(runs) | ~(runs["spurious_retransmits"] > runs["retransmits"] + 5)
    ),
    "no more is delivered than the path carries": lambda runs: (
        ~(runs["utilisation_percent"] > 100 + ROUNDING) & ~(runs["ideal_percent"] > 100 + ROUNDING)
    ),
    "Jain's index lies between 1/n and 1": lambda runs: (
        ~(runs["jain_index"] > 1 + ROUNDING) & ~(runs["jain_index"] < 1 / runs["flows_under_test"] - ROUNDING)
    ),
    "the least RTT is the least": lambda runs: _ordered(runs, "rtt_min_ms", "rtt_mean_ms"),
    "loss is drops over what was offered": lambda runs: _equal(runs["loss_percent"], _lost(runs)),
    "a full queue's drops are some of the queue's": lambda runs: _ordered(runs, "overflow_drops", "queue_drops"),
    "percentiles of the queue rise": lambda runs: _ordered(
        runs, "queueing_p50_ms", "queueing_p95_ms", "queueing_p99_ms"
    ),
    "goodput is what was delivered over the window": lambda runs: _equal(
        runs["goodput_mbps"], 8e3 * runs["delivered_bytes"] / (runs["window_end_ns"] - runs["window_begin_ns"])
    ),
    "start-up is at the window's start": lambda runs: _ordered(
        runs, "window_begin_ns", "steady_begin_ns", "window_end_ns"
    ),
    "a share of time is a share": lambda runs: ~(runs["window_limited_percent"] > 100 + ROUNDING),
    # A packet that the path duplicates arrives with its mark twice.
    "no more marks arrive than the queue makes": lambda runs: (
        ~(runs["ce_received"] > runs["queue_marks"] + runs["duplicate_packets"].fillna(0))
    ),
    "late packets are some of those sent": lambda runs: _ordered(runs, "late_packets", "packets_sent"),
}
GROUP_ROWS = {
    "no more is complete than was asked for": lambda groups: _ordered(groups, "complete", "members"),
    "completion times rise": lambda groups: _ordered(
        groups, "completion_p50_ms", "completion_p95_ms", "completion_p99_ms"
    ),
    "delays rise": lambda groups: _ordered(groups, "delay_p50_ms", "delay_p95_ms", "delay_p99_ms"),
}


def broken(folder):
    """Return the relations that valid runs in a study's tidy tables violate, each as a text with the run."""
    scenarios = read_table(folder / "scenarios.csv", SCENARIOS)[["scenario", "groups"]].fillna("")
    runs = read_runs(folder / "runs.csv").merge(scenarios, on="scenario")
    runs, texts = runs[runs["valid"]], []
    flows = read_table(folder / "flows.csv", FLOWS)
    tables = [(runs, RUNS)]
    if (folder / "groups.csv").exists():
        tables.append((read_table(folder / "groups.csv", GROUPS).query("valid"), GROUP_ROWS))
    keys = ["scenario", "cca", "ip_version", "replication"]
    for table, relations in tables:
        for words, holds in relations.items():
            for row in table[~holds(table).fillna(True).astype(bool)].to_dict("records"):
                texts.append(f"{'/'.join(str(row[key]) for key in keys)}: {words}")
    of_all = flows[flows["valid"]].groupby(keys)["goodput_mbps"].sum(min_count=1).rename("sum").reset_index()
    alone = runs[_alone(runs)].merge(of_all, on=keys)
    wrong = alone[~_equal(alone["goodput_mbps"], alone["sum"])]
    return texts + [f"{row['scenario']}: a run's goodput is the sum of its flows'" for row in wrong.to_dict("records")]
