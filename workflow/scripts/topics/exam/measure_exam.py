"""Compute the measures of the criteria of RFC 9743 for each valid run."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from run_tables.group_tables import GROUPS
from run_tables.run_keys import RUN
from run_tables.series_of_runs import series_of_runs
from topics.exam import measures
from topics.exam.criteria import NEVER, wanted_measures
from topics.exam.tables import EXAM_VALUES
from topics.path_changes.phases import specification_of

#: Prefixes of scenario names: scenarios in which a flow runs alone, and scenarios in which the harm to that flow is measured.
SOLO, HARMED = "5.2.1-solo", ("5.2.1-before", "5.2.1-after", "5.2.1-beside", "5.2.1-near", "5.2.1-far")
#: Columns that identify a lone flow and its path: the flow's CCA and RTT, the bottleneck's rate and queue, and the replication.
PATH = ["other", "rtt_path_ms", "rate_mbps", "queue_bytes", "ip_version", "replication"]
#: Measures that are columns of ``tidy/runs.csv``.
COLUMNS = {"queueing_p50_ms": "queueing_p50_ms", "queueing_p95_ms": "queueing_p95_ms", "loss_percent": "loss_percent"}
#: Measures that are computed by the function of the same name in `measures`.
SINGLE = {
    "packets_per_rtt", "jain_index", "least_percent", "rtt_exponent", "dip_percent", "crowd_percent", "subflows_percent",
}  # fmt: skip
#: Measures that are defined only for flows with equal RTTs (whose shares should be equal), and only for flows with different RTTs.
ALIKE, UNLIKE = {"jain_index", "least_percent"}, {"rtt_exponent"}
AFTER = ("after_utilisation_percent", "after_queueing_p95_ms", "recovery_s")
FAILOVER = ("during_percent", "standstill_s")


def values_of(run: measures.RunData, limits) -> Iterator[tuple[str, str, float]]:
    """Yield each measure of a run except harm, as a tuple (measure, CCA of the other flow or "", value)."""
    row = run.row
    wanted = wanted_measures(row["scenario"]) - (UNLIKE if run.flows["rtt_path_ms"].nunique() == 1 else ALIKE)
    for name in wanted & COLUMNS.keys():
        yield name, "", row[COLUMNS[name]]
    if "utilisation_percent" in wanted:
        # If nothing was delivered, the goodput is missing; the measure is then 0.
        is_silent = not measures.lifetime_mbps(run).any() and not np.isnan(row["ideal_goodput_mbps"])
        share = row["ideal_percent"]
        yield "utilisation_percent", "", 0.0 if np.isnan(share) and is_silent else share
    if "convergence_s" in wanted:
        left = row["duration_s"] - run.flows["start_offset_ms"].max() / 1e3
        yield "convergence_s", "", left if np.isnan(row["convergence_s"]) else row["convergence_s"]
    if "starved_s" in wanted and len(run.flows) > 1:
        yield "starved_s", "", max(measures.starved_s(run, limits["starved_share"]).values())
    if "other_starved_s" in wanted:
        of_group = run.flows.assign(mbps=measures.lifetime_mbps(run)).set_index("group")
        goodput, other = of_group["mbps"], of_group.at["other", "flow_cca"]
        yield "own_share_percent", other, 100 * goodput["own"] / goodput.sum() if goodput.any() else 0.0
        yield "other_fair_percent", other, 100 * goodput["other"] / (row["ideal_goodput_mbps"] / 2)
        starved_s = measures.starved_s(run, limits["starved_share"])
        for name in ("own", "other"):
            yield f"{name}_starved_s", other, starved_s[of_group.at[name, "flow"]]
    if "breaker_s" in wanted:
        yield "breaker_s", "", measures.breaker_s(run, limits["breaker_loss_percent"])
    for name in SINGLE & wanted:
        yield name, "", getattr(measures, name)(run)
    for names, measure in ((AFTER, measures.after_change), (FAILOVER, measures.failover)):
        if wanted & set(names):
            yield from ((name, "", value) for name, value in measure(run).items() if name in wanted)
    yield from _of_groups(run, wanted)


def _of_groups(run, wanted):
    """Yield the measures of a run's short flows and of its call (the real-time stream)."""
    if "slowdown_p50" in wanted:
        web = run.group("web")
        for name, share in (("slowdown_p50", 0.5), ("slowdown_p95", 0.95)):
            # As in `ended_quantile`, the k-th of n values is the quantile (k - 1) / (n - 1).
            is_unfinished = web["members"] and web["complete"] - 1 < share * (web["members"] - 1)
            yield name, "", NEVER if np.isnan(web[name]) and is_unfinished else web[name]
    if "call_jitter_ms" in wanted:
        call = run.group("real-time")
        yield "call_lost_percent", "", call["lost_percent"]
        # Queueing times are also unknown on paths with jitter. Jitter is unknown only if fewer than two packets of a stream arrived.
        for name, is_lost in (
            ("queueing_p95_ms", call["lost_percent"] == 100),
            ("jitter_ms", call["lost_percent"] > 0),
        ):
            yield f"call_{name}", "", NEVER if np.isnan(call[name]) and is_lost else call[name]


def harms(others) -> pd.DataFrame:
    """Return the harm to the other flow of each run, relative to the same flow alone in the same replication on the same path.

    ``others`` contains one row per run of the scenarios `SOLO` and `HARMED`, with the run's factors, the columns `PATH`, and the
    flow's ``throughput``, ``delay`` and ``loss`` as `measures.other_flow` returns them. Returns `EXAM_VALUES` for those runs in `HARMED`
    for which the other flow's CCA also ran alone. The variation between replications thus includes the variation of the lone flow.
    """
    solo = others[others["scenario"].str.startswith(SOLO)]
    alone = solo.groupby(PATH)[["throughput", "delay", "loss"]].mean()
    rows = []
    for row in others[others["scenario"].str.startswith(HARMED)].to_dict("records"):
        if (key := tuple(row[name] for name in PATH)) not in alone.index:
            continue
        had = alone.loc[key]
        found = {
            f"harm_{name}": measures.harm(had[name], row[name], name == "throughput")
            for name in ("throughput", "delay")
        }
        found["loss_added_percent"] = row["loss"] - had["loss"]
        about = {k: row[k] for k in RUN} | {"other": row["other"]}
        rows += [{**about, "measure": name, "value": value} for name, value in found.items()]
    return pd.DataFrame(rows, columns=EXAM_VALUES.names)


def measure_runs(runs, scenarios, flows, groups, changing, sockets, queues, limits) -> pd.DataFrame:
    """Return `EXAM_VALUES` for the valid runs; ``sockets`` and ``queues`` are files of time series."""
    known = {tuple(run[name] for name in RUN): run for run in runs[runs["valid"]].to_dict("records")}
    of_scenario = {row["scenario"]: row for row in scenarios.to_dict("records")}
    flows_of, groups_of = (dict(list(table.groupby(RUN, sort=False))) for table in (flows, groups))
    queue_of, rows, others = dict(series_of_runs(queues, measures.QUEUE_COLUMNS, known.keys())), [], []
    for key, samples in series_of_runs(sockets, measures.SOCKET_COLUMNS, known.keys()):
        if key not in known:
            continue
        run = measures.RunData(
            known[key], of_scenario[key[0]], flows_of[key], groups_of.get(key, groups.iloc[:0]),
            specification_of(known[key], changing) if key[0] in changing else None, samples, queue_of[key],
        )  # fmt: skip
        factors = dict(zip(RUN, key, strict=True))
        of_run = sorted(values_of(run, limits))
        rows += [{**factors, "measure": name, "other": other, "value": value} for name, other, value in of_run]
        if key[0].startswith((SOLO, *HARMED)):
            named = run.flows[run.flows["group"] == "other"]
            flow = (named if len(named) else run.flows).iloc[0]
            about = {"other": flow["flow_cca"], "rtt_path_ms": flow["rtt_path_ms"]}
            about |= {name: run.row[name] for name in ("rate_mbps", "queue_bytes")}
            others.append(factors | about | measures.other_flow(run))
    table = pd.DataFrame(rows, columns=EXAM_VALUES.names)
    if others:
        table = pd.concat([table, harms(pd.DataFrame(others))], ignore_index=True)
    return table.dropna(subset="value")


def measure_exam(runs, scenarios, flows, sockets, queue, limits, changing, groups=None) -> pd.DataFrame:
    """Return `EXAM_VALUES`."""
    groups = pd.DataFrame(columns=GROUPS.names) if groups is None else groups
    groups = groups.assign(replication=groups["replication"].astype(int))
    return measure_runs(runs, scenarios, flows, groups, changing, sockets, queue, limits)
