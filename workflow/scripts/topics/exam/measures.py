"""Measures of a run for the criteria of RFC 9743, with one function for each measure that isn't a column of a tidy table."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS
from topics.failover.path_series import acked_by_path, path_ideal_mbps
from topics.failover.path_series import measure_run as measure_failover
from topics.path_changes.phases import Phase, phases_of
from topics.path_changes.responses import delivered_bytes, share_percent, used_s, utilisation_percent

#: Columns to read from the tidy time series.
SOCKET_COLUMNS = [
    "flow", "flow_cca", "path", "time_s", "bytes_sent", "bytes_acked", "sacked_packets", "retransmits", "bbr_rtt_min_ms",
    "vegas_rtt_ms",
]  # fmt: skip
QUEUE_COLUMNS = ["time_s", "packets", "drops", "delay_ms"]
#: Time in s within which a flow should have noticed that the path loses its packets.
NOTICED_S = 3
#: A flow counts as started no later than this time in s after its planned start. This allows for a lost SYN, which is retransmitted after
#: 1 s (RFC 6298).
STARTED_S = 3
#: Averaging interval in s for the flows' shares and for loss.
BIN_S = 1.0


@dataclass(frozen=True)
class RunData:
    """All data read for a run."""

    row: dict  # row of ``tidy/runs.csv``
    scenario: dict  # row of ``tidy/scenarios.csv``
    flows: pd.DataFrame  # rows of ``tidy/flows.csv``
    groups: pd.DataFrame  # rows of ``tidy/groups.csv``
    specification: RunSpecification | None  # only for a run with a changing path
    sockets: pd.DataFrame  # `SOCKET_COLUMNS`
    queue: pd.DataFrame  # `QUEUE_COLUMNS`

    @property
    def phases(self) -> list[Phase]:
        """Phases of the run's changing path."""
        return phases_of(self.specification)

    def group(self, application) -> dict:
        """Return the row of the run's only group that uses the given application; not meant for groups of long flows."""
        return self.groups[self.groups["application"] == application].iloc[0].to_dict()

    def starts(self) -> dict[int, float]:
        """Return, for each flow, the time in s of the first sample in which more than one segment has been acknowledged."""
        sending = self.sockets[self.sockets["bytes_acked"].fillna(0) > self.row["mss_bytes"]]
        return sending.groupby("flow")["time_s"].min().to_dict()


def packets_per_rtt(run: RunData) -> float:
    """Return the number of packets that the fastest flow sends per base RTT.

    The mean is taken from `NOTICED_S` after the path's last change (or after the start, if the path never changes) until the end of the
    run.
    """
    begin_s = NOTICED_S + (run.phases[-1].begin_s if run.specification else 0)
    within = run.sockets[run.sockets["time_s"] >= begin_s]
    spans = within.groupby("flow")
    sent = spans["bytes_sent"].max() - spans["bytes_sent"].min()
    length_s = spans["time_s"].max() - spans["time_s"].min()
    return float((sent / run.row["mss_bytes"] / (1e3 * length_s / run.row["rtt_path_ms"])).max())


def _delivered(run: RunData, edges) -> dict[int, np.ndarray]:
    """Return the bytes that each flow had delivered by the given times."""
    table = run.sockets
    delivered = (table["bytes_acked"].fillna(0) + table["sacked_packets"].fillna(0) * run.row["mss_bytes"]).to_numpy()
    times, of_flows = table["time_s"].to_numpy(), {}
    for flow, rows in table.groupby("flow").indices.items():
        of_flows[flow] = np.interp(edges, times[rows], np.maximum.accumulate(delivered[rows]), left=0.0)
    return of_flows


def starved_s(run: RunData, share) -> dict[int, float]:
    """Return, for each flow, the longest time in s for which it got less than a given fraction of its fair share of the total goodput.

    Time is divided into steps of `BIN_S`. The first step begins one RTT of the longest path after the last flow has started, because a flow
    can't starve before its initial window has been acknowledged. A flow counts as started no later than `STARTED_S` after its planned
    start. If flows stop at different times, the last step ends at the first of these times. All flows starve in a step in which nothing is delivered, unless the path lets nothing through in the entire step.

    Parameters
    ----------
    run : RunData
    share : float
        A flow with less than this fraction of its fair share starves; between 0 and 1.
    """
    starts = run.starts()
    planned = zip(run.flows["flow"], run.flows["start_offset_ms"] / 1e3, strict=True)
    last_s = max(min(max(starts.get(flow, np.inf), at_s), at_s + STARTED_S) for flow, at_s in planned)
    edges = np.arange(last_s + run.flows["rtt_path_ms"].max() / 1e3, _first_stop_s(run) + 1e-9, BIN_S)
    got = {flow: np.diff(delivered) for flow, delivered in _delivered(run, edges).items()}
    fair = sum(got.values()) / len(got)
    nothing = (fair == 0) & ~_is_blocked(run, edges)
    return {flow: longest_s((of_flow < share * fair) | nothing) for flow, of_flow in got.items()}


def _first_stop_s(run):
    """Return the planned time in s at which the first flow stops, or the time of the last sample if all flows stop together."""
    stops_s = run.flows["group"].map(run.groups.set_index("group")["stop_s"]) if len(run.groups) else pd.Series()
    return run.sockets["time_s"].max() if stops_s.nunique() < 2 else stops_s.min()


def _is_blocked(run: RunData, edges) -> np.ndarray:
    """Return, for each step between two times in s, whether at least one direction of the path lets nothing through."""
    if run.specification is None:
        return np.zeros(max(len(edges) - 1, 0), bool)
    ways = [run.specification.capacity_in(direction) for direction in DIRECTIONS]
    spans = pairwise(round(1e9 * at_s) for at_s in edges)
    return np.array([any(way.carried_bytes(*span) == 0 for way in ways) for span in spans], bool)


def longest_s(below) -> float:
    """Return the longest uninterrupted time in s for which a condition holds, given its value in each step of `BIN_S`.

    >>> longest_s([True, False, True, True])
    2.0
    """
    longest = length = 0
    for one in below:
        length = length + 1 if one else 0
        longest = max(longest, length)
    return longest * BIN_S


def breaker_s(run: RunData, loss_percent) -> float:
    """Return the longest time in s during which the queue dropped more than `loss_percent` of the packets in every step of `BIN_S`."""
    edges = np.arange(0.0, run.sockets["time_s"].max() + 1e-9, BIN_S)
    drops = np.diff(np.interp(edges, run.queue["time_s"], run.queue["drops"]))
    sent = np.zeros(len(edges))
    for _, samples in run.sockets.groupby("flow"):
        sent += np.interp(edges, samples["time_s"], samples["bytes_sent"].fillna(0), left=0.0) / run.row["mss_bytes"]
    offered = np.diff(sent)
    return longest_s(100 * drops > loss_percent * np.maximum(offered, 1))


def after_change(run: RunData) -> dict[str, float]:
    """Return utilisation, queueing delay and recovery time after the path's last change.

    The recovery time is the time until the path's new rate is used, or the rest of the run if the new rate is never used.
    """
    phase = run.phases[-1]
    series = delivered_bytes(run.sockets, phase.run.segment_bytes)
    waiting = run.queue[run.queue["time_s"] >= phase.begin_s]["delay_ms"]
    until_s = used_s(phase, *series)
    return {
        "after_utilisation_percent": utilisation_percent(phase, *series),
        "after_queueing_p95_ms": float(np.percentile(waiting, 95)),
        "recovery_s": phase.end_s - phase.begin_s if np.isnan(until_s) else until_s,
    }


def dip_percent(run: RunData) -> float:
    """Return the lowest total goodput in any step of `BIN_S` after the path's last change, as a percentage of the path's capacity.

    The first step after the change is ignored.
    """
    phase = run.phases[-1]
    edges = np.arange(phase.begin_s + BIN_S, phase.end_s + 1e-9, BIN_S)
    series = delivered_bytes(run.sockets, run.row["mss_bytes"])
    return min(share_percent(phase, *series, begin_s, begin_s + BIN_S) for begin_s in edges[:-1])


def lifetime_mbps(run: RunData) -> pd.Series:
    """Return the goodput of each flow over its lifetime in Mbit/s; 0 for a flow that delivered nothing, whose lifetime is unknown."""
    return run.flows["goodput_lifetime_mbps"].astype(float).fillna(0.0)


def steady_mbps(run: RunData) -> pd.Series:
    """Return the goodput of each flow in Mbit/s, excluding start-up; 0 for a flow that delivered nothing."""
    goodput = run.flows["goodput_steady_mbps"].astype(float)
    return goodput.mask(goodput.isna() & (lifetime_mbps(run) == 0), 0.0)


def jain_index(run: RunData) -> float:
    """Return Jain's index of the flows, excluding start-up; the worst index, 1/n, if no flow delivers anything after start-up."""
    return 1 / len(run.flows) if (steady_mbps(run) == 0).all() else run.row["jain_steady_index"]


def least_percent(run: RunData) -> float:
    """Return the lowest goodput of any flow as a percentage of the flows' mean, excluding start-up; 0 if no flow delivers anything."""
    goodput = steady_mbps(run).to_numpy()
    return float(100 * goodput.min() / goodput.mean()) if goodput.any() else 0.0


def rtt_exponent(run: RunData) -> float:
    """Return the absolute slope of a log-log fit of the flows' goodput against their base RTT.

    The slope is the exponent of the RTT. Start-up is excluded. A flow without goodput is treated as if it had delivered one packet. If no
    flow has any goodput, the flow with the shortest RTT is treated as if it had used the path's full capacity.
    """
    packet_mbps = 8e-6 * run.row["mss_bytes"] / run.row["duration_s"]
    goodput = steady_mbps(run)
    if (goodput == 0).all():
        goodput = goodput.mask(
            run.flows["rtt_path_ms"] == run.flows["rtt_path_ms"].min(), run.row["ideal_goodput_mbps"]
        )
    goodput = np.log(goodput.clip(lower=packet_mbps))
    return float(abs(np.polyfit(np.log(run.flows["rtt_path_ms"]), goodput, 1)[0]))


def failover(run: RunData) -> dict[str, float]:
    """Return the delivery rate while one path is down, and the longest time in s without any delivery.

    The rate is a percentage of the other paths' capacity.
    """
    measures = measure_failover(acked_by_path(run.sockets), run.scenario)
    rates = run.scenario["path_rate_mbps"]
    total = sum(map(float, rates.split())) if rates else run.scenario["capacity_most_mbps"]
    ideal = run.row["ideal_goodput_mbps"] / run.row["capacity_mbps"] * total - path_ideal_mbps(run.row, run.scenario)
    return {"during_percent": 100 * measures["during_mbps"] / ideal, "standstill_s": measures["standstill_s"]}


def subflows_percent(run: RunData) -> float:
    """Return the first flow's share (over all its subflows) of both flows' goodput, in percent; 100 if there is no goodput."""
    goodput = steady_mbps(run).loc[run.flows.sort_values("flow").index].to_numpy()
    return float(100 * goodput[0] / goodput.sum()) if goodput.any() else 100.0


def crowd_percent(run: RunData) -> float:
    """Return the goodput of the crowd's flows as a percentage of their fair share; a flow that delivered nothing has a goodput of 0."""
    crowd = run.groups[run.groups["group"] == "crowd"].iloc[0]
    fair = run.row["ideal_goodput_mbps"] * crowd["members"] / (crowd["members"] + 1)
    of_flows = lifetime_mbps(run)[run.flows["group"] == "crowd"]
    # The goodput of a group is averaged over its on-times, and each on-time uses new flows.
    goodput = (
        of_flows.sum() * crowd["members"] / len(of_flows) if np.isnan(crowd["goodput_mbps"]) else crowd["goodput_mbps"]
    )
    return float(100 * goodput / fair)


def other_flow(run: RunData) -> dict[str, float]:
    """Return the goodput (Mbit/s), RTT (ms) and retransmissions (% of packets) of the other flow, or of the only flow.

    The other flow is the flow in group ``other``. In competition, its goodput is 0 if it delivered nothing.
    """
    named = run.flows[run.flows["group"] == "other"]
    flow = (named if len(named) else run.flows).iloc[0]
    goodput = flow["goodput_mbps"] if np.isnan(flow["goodput_lifetime_mbps"]) else flow["goodput_lifetime_mbps"]
    goodput = 0.0 if len(named) and np.isnan(goodput) else goodput
    sent = flow["bytes_sent"] / run.row["mss_bytes"]
    return {
        "throughput": goodput,
        "delay": flow["rtt_mean_ms"],
        "loss": 100 * flow["retransmits"] / sent if sent else np.nan,
    }


def harm(alone, beside, more_is_better) -> float:
    """Return the harm to a flow (Ware and others, 2019, HotNets, section 4): at most 1, negative if the flow does better in competition.

    Harm is (alone - beside) / alone for a quantity that should be large, and (beside - alone) / beside for a quantity that should be small.
    Negative values are kept, because the mean of random values that are cut off at 0 would show harm where there is none.

    >>> harm(10, 4, True), harm(40, 50, False), harm(10, 12, True)
    (0.6, 0.2, -0.2)
    """
    base = alone if more_is_better else beside
    lost = alone - beside if more_is_better else beside - alone
    return lost / base if base > 0 else 0.0
