"""Nominal conditions of scenarios whose runs use randomly drawn conditions (`variation` in a study).

``tidy/runs.csv`` and ``flows.csv`` contain the actual conditions of each run; measurements are compared with these conditions. Code that
describes a scenario, compares it with other scenarios, or finds it by its conditions uses the nominal conditions, called the scenario's
centre. If no conditions were drawn at random, the functions return tables unchanged.
"""

import math

import pandas as pd

from experiment.specification import RunSpecification
from run_tables.queue_sizes import queue_bdp
from study_files.study_variation import is_varied
from wording.number_format import is_missing

#: Column of runs -> column of scenarios that contains the nominal value.
OF_SCENARIO = {
    "rate_mbps": "rate_mbps", "delay_ms": "delay_forward_ms", "rtt_path_ms": "rtt_path_ms", "background": "background",
}  # fmt: skip
#: Delays are drawn with six digits, so dividing a flow's base RTT by the run's factor gives the nominal RTT to the microsecond.
DIGITS_MS = 3


def queue_at_centre(scenario, run) -> float | None:
    """Return the nominal queue limit of a resolved scenario in packets, or None if the limit is in bytes.

    If no conditions are drawn, this is the limit in ``run``.
    """
    if not is_varied(scenario):
        return run["queue_packets"]
    return RunSpecification({"scenario": scenario, "ip_version": run["ip_version"]}).queue_packets


def runs_at_centre(runs: pd.DataFrame, scenarios: pd.DataFrame) -> pd.DataFrame:
    """Return ``tidy/runs.csv`` with drawn conditions replaced by nominal conditions.

    The replaced columns are the keys of `OF_SCENARIO`, capacity_mbps, queue_packets, queue_bytes and queue_bdp.
    """
    centres = _varied(scenarios)
    if not centres:
        return runs
    rows = runs.to_dict("records")
    changed = pd.DataFrame(
        [_at_centre(row, centres[row["scenario"]]) if row["scenario"] in centres else {} for row in rows], runs.index
    )
    return runs.assign(
        **{name: changed[name].where(runs["scenario"].isin(centres.keys()), runs[name]) for name in changed}
    )


def _at_centre(run, scenario):
    columns = {name: scenario[source] for name, source in OF_SCENARIO.items()}
    rate, rtt = columns["rate_mbps"], columns["rtt_path_ms"]
    amount, _, unit = scenario["queue"].partition(" ")
    packets, packet_bytes = math.nan, run["packet_bytes"]
    if unit == "packets":
        packets = float(amount)
    elif unit == "BDP" and packet_bytes > 0:
        packets = max(1.0, math.ceil(float(amount) * rate * 125 * rtt / packet_bytes))
    held = float(amount) if unit == "bytes" else packets * packet_bytes
    # The rate of a policer is never drawn at random.
    drawn = run["rate_mbps"] > 0 and is_missing(run["policer_drops"])
    return columns | {
        "capacity_mbps": run["capacity_mbps"] * rate / run["rate_mbps"] if drawn else run["capacity_mbps"],
        "queue_packets": packets, "queue_bytes": held, "queue_bdp": queue_bdp(scenario["queue"], held, rate, rtt),
    }  # fmt: skip


def flows_at_centre(flows: pd.DataFrame, runs: pd.DataFrame, scenarios: pd.DataFrame) -> pd.DataFrame:
    """Return ``tidy/flows.csv`` with randomly drawn base RTTs replaced by nominal base RTTs."""
    if not _varied(scenarios):
        return flows
    factors = path_factors(runs, scenarios).reindex(pd.MultiIndex.from_frame(flows[["scenario", "replication"]]))
    own = flows["rtt_path_ms"]
    of_flow = (own / factors.to_numpy()).groupby([flows["scenario"], flows["flow"]]).transform("median")
    return flows.assign(rtt_path_ms=of_flow.round(DIGITS_MS).where(flows["scenario"].isin(_varied(scenarios)), own))


def path_factors(runs: pd.DataFrame, scenarios: pd.DataFrame) -> pd.Series:
    """Return the ratio of actual to nominal base RTT, by scenario and replication; it is 1 if no conditions were drawn."""
    own = runs.groupby(["scenario", "replication"], sort=False)["rtt_path_ms"].first()
    centres = own.index.get_level_values("scenario").map(
        {name: row["rtt_path_ms"] for name, row in _varied(scenarios).items()}
    )
    return (own / pd.Series(centres, own.index).astype(float)).fillna(1.0)


def _varied(scenarios):
    """Return the rows of the scenarios with randomly drawn conditions, by scenario."""
    drawn = scenarios["variation"].fillna("") != ""
    return {row["scenario"]: row for row in scenarios[drawn].to_dict("records")}
