"""Compute a claim's quantity as one number per run: the run's own value, or an aggregate over the run's flows or over time."""

from dataclasses import dataclass

import numpy as np

from run_tables.run_keys import RUN
from topics.claims.claim_quantities import RELATIONS, STATES, quantities_of
from topics.claims.claim_words import requirement_words
from topics.claims.run_quantities import value_of_runs
from wording.number_format import plain

#: Columns that identify a flow.
FLOW = [*RUN, "flow"]
#: Derived quantity of a time series -> the columns from which the quantity is derived.
SOURCES = {"acked_mbps": ["bytes_acked"]} | {name: ["state", "cwnd_packets", "ssthresh_packets"] for name in STATES}
TAKE_WORDS = {
    "mean": "mean over", "sum": "sum over", "lowest": "lowest value over", "highest": "highest value over",
    "sd": "standard deviation over", "variation_percent": "coefficient of variation over",
}  # fmt: skip
TIME_WORDS = {
    "mean": "the mean {}", "median": "the median {}", "lowest": "the lowest {}", "highest": "the highest {}",
    "spread": "the interquartile range over time of {}",
    "spread_percent": "the interquartile range over time, in % of the median, of {}",
    "beginnings": "the number of entries into {}",
}  # fmt: skip
#: Aggregate -> its name in pandas, where it differs.
AGGREGATES = {"lowest": "min", "highest": "max", "sd": "std"}


@dataclass(frozen=True)
class Measure:
    """A quantity that has one value per run."""

    #: Name of a quantity in `claim_quantities`.
    quantity: str
    #: Aggregate over the run's flows: mean, sum, lowest, highest, sd, variation_percent or count; None for the run's own value.
    flows: str | None = None
    #: CCA of the flows that are included; None includes all flows.
    cca: str | None = None
    #: For `count`: the bounds that a flow must meet to be counted, as pairs of a key and a number.
    within: tuple = ()
    #: Reference for values in percent: link, fair_share or total; None for absolute values.
    relative_to: str | None = None
    #: Aggregate over a flow's time series, and the start and end of the included part as a percentage of the run's duration.
    over_time: tuple | None = None

    @property
    def name(self) -> str:
        """Name of the quantity in words."""
        return self._named()[0]

    @property
    def plain(self) -> bool:
        """Whether the measure is an absolute value of the run itself, not of its flows."""
        return self.flows is None and self.relative_to is None

    @property
    def unit(self) -> str:
        """Unit of a run's value."""
        if self.flows == "count":
            return "flows"
        return "%" if self.flows == "variation_percent" else self.flow_unit

    @property
    def flow_unit(self) -> str:
        """Unit of a flow's value."""
        if self.relative_to:
            return "%"
        return {"spread_percent": "%", "beginnings": "times"}.get((self.over_time or ("",))[0], self._named()[1])

    @property
    def words(self) -> str:
        """Description of the measure, such as "lowest value over the flows of goodput in % of the fair share"."""
        text = self.name
        if self.over_time:
            take, start, end = self.over_time
            part = "" if (start, end) == (0, 100) else f" (from {plain(start)} to {plain(end)} % of the time)"
            share = self.quantity in STATES and take == "mean"
            text = (f"the share of the time in {text}" if share else TIME_WORDS[take].format(text)) + part
        if self.relative_to:
            text += f" in % of {RELATIONS[self.relative_to][0]}"
        if self.flows is None:
            return text
        who = f"{self.cca} flows" if self.cca else "flows"
        if self.flows == "count":
            return f"number of {who} with {text} {requirement_words(dict(self.within), self.flow_unit)}"
        return f"{TAKE_WORDS[self.flows]} the {who} of {text}"

    def _named(self):
        return quantities_of({"flows": self.flows, "over_time": self.over_time})[self.quantity]


def measure_of(claim, side=None) -> Measure:
    """Return the measure of a claim, or of one of the two groups that the claim compares.

    ``side`` is the name of the group (see `claim_quantities.SIDES`), or None.
    """
    group = {**claim, **claim[side]} if side else claim
    over_time, flows = group.get("over_time"), group.get("flows")
    if flows is None and not over_time:
        return Measure(claim["quantity"], relative_to=claim.get("relative_to"))
    flows = flows or {}
    return Measure(
        quantity=claim["quantity"],
        flows=flows.get("take", "mean"),
        cca=flows.get("cca"),
        within=tuple(flows.get("within", {}).items()),
        relative_to=claim.get("relative_to"),
        over_time=(over_time["take"], over_time["from_percent"], over_time["to_percent"]) if over_time else None,
    )


def run_values(measure, runs, flows=None, sockets=None) -> np.ndarray:
    """Return the measure of each run, shape (runs,); nan where the measure is unknown.

    Parameters
    ----------
    measure : Measure
    runs, flows : pandas.DataFrame
        Rows of ``tidy/runs.csv`` and ``tidy/flows.csv``. Flows are needed only for measures of flows.
    sockets : callable, optional
        Function that takes a tuple of columns and a tuple of scenarios, and returns this part of ``tidy/sockets.parquet``.
    """
    if runs.empty:
        return np.empty(0)
    if measure.flows is None:
        return relative_to_capacity(value_of_runs(runs, measure.quantity), measure, runs)
    if measure.over_time:
        values = _series_values(measure, runs, sockets)
    else:
        values = flows[[*FLOW, "flow_cca"]].assign(value=flows[measure.quantity])
    values = values.merge(runs[[*RUN, "capacity_mbps", "flows"]], on=RUN)
    values["value"] = _relative(values, measure.relative_to)
    if measure.cca:
        values = values[values["flow_cca"] == measure.cca]
    taken = _taken_of_flows(values, measure)
    return runs[RUN].merge(taken.rename("value").reset_index(), on=RUN, how="left")["value"].to_numpy(float)


def relative_to_capacity(of_runs, measure, runs) -> np.ndarray:
    """Return runs' values as a percentage of the path's capacity if the measure is relative, and unchanged if it isn't."""
    values = np.asarray(of_runs, float)
    return 100 * values / runs["capacity_mbps"].to_numpy(float) if measure.relative_to else values


def _relative(values, to):
    """Return the flows' values as a percentage of `to`: the path's capacity, the fair share or the sum over all flows.

    Values are unchanged if `to` is None.
    """
    if to is None:
        return values["value"]
    if to == "total":
        whole = values.groupby(RUN)["value"].transform("sum")
    else:
        whole = values["capacity_mbps"] / (values["flows"] if to == "fair_share" else 1)
    return 100 * values["value"] / whole.where(whole > 0)


def _taken_of_flows(values, measure):
    """Return each run's aggregate over its flows; nan if the value of any of these flows is unknown."""
    groups = values.groupby(RUN)["value"]
    if measure.flows == "count":
        counted = meets_requirement(values["value"], dict(measure.within)).astype(float)
        taken = values.assign(value=counted).groupby(RUN)["value"].sum()
    elif measure.flows == "variation_percent":
        mean = groups.mean()
        taken = 100 * groups.std() / mean.where(mean > 0)
    else:
        taken = groups.agg(AGGREGATES.get(measure.flows, measure.flows))
    return taken.where(groups.count() == groups.size())


def _series_values(measure, runs, sockets):
    """Return a table with the columns `FLOW`, ``flow_cca`` and ``value``, the aggregate over the flow's time series."""
    take, start, end = measure.over_time
    columns = SOURCES.get(measure.quantity, [measure.quantity])
    series = sockets((*FLOW, "flow_cca", "time_s", *columns), tuple(sorted(set(runs["scenario"]))))
    series = series.merge(runs[[*RUN, "duration_s"]], on=RUN).sort_values([*FLOW, "time_s"], kind="stable")
    series["elapsed_s"] = series.groupby(FLOW)["time_s"].diff().fillna(series["time_s"])
    series["value"] = _at_each_look(series, measure.quantity)
    if take == "beginnings":
        before = series.groupby(FLOW)["value"].shift(1)
        series["value"] = ((series["value"] > 0) & ~(before > 0)).astype(float).where(series["value"].notna())
    if (take, measure.quantity) == ("mean", "acked_mbps"):
        return _acked_in_window(series, start / 100, end / 100).rename("value").reset_index()
    share = 100 * series["time_s"] / series["duration_s"]
    series = series[(share >= start) & (share <= end)]
    groups = series.groupby([*FLOW, "flow_cca"])["value"]
    if take in ("spread", "spread_percent"):
        values, middle = groups.quantile(0.75) - groups.quantile(0.25), groups.median()
        values = 100 * values / middle.where(middle > 0) if take == "spread_percent" else values
    elif take == "beginnings":
        values = groups.sum(min_count=1)
    else:
        values = groups.agg(AGGREGATES.get(take, take))
    return values.rename("value").reset_index()


def _acked_in_window(series, start, end):
    """Return each flow's mean rate of acknowledged data in Mbit/s, between two fractions of the run's duration.

    The mean is over the entire period, even if the flow began during the period. Data acknowledged between two samples is spread evenly
    over the time between the samples, because the period may include only part of this time.
    """
    begin_s, end_s = start * series["duration_s"], end * series["duration_s"]
    since_s = series["time_s"] - series["elapsed_s"]
    inside_s = (series["time_s"].clip(upper=end_s) - since_s.clip(lower=begin_s)).clip(lower=0)
    groups = series.assign(megabits=series["value"] * inside_s).groupby([*FLOW, "flow_cca"])
    return groups["megabits"].sum(min_count=1) / (groups["duration_s"].first() * (end - start))


def _at_each_look(series, quantity):
    """Return a quantity at each sample: a column, or a value derived from other columns.

    A flow is in slow start if its state in Linux is Open and cwnd is below ssthresh, which is infinite at first (RFC 5681, section 3.1). A
    flow is in fast recovery if its state is Recovery, and is recovering from a timeout if its state is Loss.
    """
    if quantity == "acked_mbps":  # since the previous sample or, for the first sample, since the start
        acked = series.groupby(FLOW)["bytes_acked"].diff().fillna(series["bytes_acked"])
        return 8e-6 * acked / series["elapsed_s"].where(series["elapsed_s"] > 0)
    if quantity not in STATES:
        return series[quantity]
    state = series["state"]
    if quantity == "slow_start_percent":
        below = series["ssthresh_packets"].isna() | (series["cwnd_packets"] < series["ssthresh_packets"])
        there = (state == "open") & below
    else:
        there = state == {"fast_recovery_percent": "recovery", "timeout_percent": "loss"}[quantity]
    return (100.0 * there).where(state.notna() & (state != ""))


def quotient(dividend, divisor, least=0.0) -> np.ndarray:
    """Return the element-wise quotients of two arrays; nan where the divisor doesn't exceed `least`."""
    values = np.full(np.broadcast_shapes(np.shape(dividend), np.shape(divisor)), np.nan)
    return np.divide(dividend, divisor, out=values, where=divisor > least)


# The last digits of a sum depend on the order of summation and must not decide anything.
DIGITS = 1e-9


def meets_requirement(values, requirement) -> np.ndarray:
    """Return a mask of the values that meet a requirement.

    A value that differs from a bound only by rounding counts as equal to the bound.
    """
    values = np.asarray(values, dtype=float)
    meets = ~np.isnan(values)
    for key, bound in requirement.items():
        slack = DIGITS * abs(bound)
        meets &= {
            "above": values > bound + slack,
            "at_least": values >= bound - slack,
            "below": values < bound - slack,
            "at_most": values <= bound + slack,
        }[key]
    return meets
