"""Compare transfers over several paths with the same over one, and say what each path carried.

A transfer over n paths is expected to be n times as fast and to take an n-th of the time (Szilágyi and Bordán,
2020, equations 3.1 and 3.2). The runs of two scenarios are independent samples, so their ratio has Welch's interval on
logarithms. What headers allow is exact: beside each ratio stands that of the two ceilings.
"""

from image_libraries import require_image_libraries
from script_log import keep_log

if "snakemake" in globals():  # before the imports, which this is about
    keep_log(snakemake.log[0])
    require_image_libraries("numpy", "scipy", "pandas", "pingouin")

import pandas as pd
from describe_cells import mean_interval
from hypothesis_tests.independent_comparison import difference
from path_environments import environment_of, with_paths
from run_tables.tidy_columns import CELL, RUN, SCENARIOS, read_runs, read_table

#: "n times" and "an n-th" are taken as within so much of it: tunnels' headers take up to 4.6 % of plain TCP's goodput.
EQUATION_MARGIN_PERCENT = 5
HOLDS, FAILS, OPEN = "as the equation", "not as the equation", "open"
#: Means over the valid runs of a cell.
MEANS = (
    "goodput_mbps", "transfer_s", "rtt_mean_ms", "packets_sent", "queue_drops", "retransmits", "out_of_order_segments",
    "out_of_order_mptcp", "reordering_events", "recoveries", "recoveries_undone", "spurious_retransmits",
    "cwnd_packets", "cpu_busy_percent", "cpu_seconds_per_gbyte",
)  # fmt: skip
PLACE = [
    "scenario_label", "environment", "joined", "by", "distribution", "application", "rate_mbps", "paths", "even",
    "path_delay_ms", "platform", "conditions",
]  # fmt: skip
AGGREGATION = [
    *CELL, *PLACE, "n", *MEANS, "goodput_low", "goodput_high", "goodput_sd_percent", "transfer_low", "transfer_high",
    "cpu_busy_low", "cpu_busy_high", "ceiling_mbps", "ceiling_percent", "baseline", "factor", "factor_low", "factor_high",
    "ceiling_factor", "time_factor", "time_factor_low", "time_factor_high", "equation", "note",
]  # fmt: skip
OF_A_PATH = ("packets", "bytes", "queue_drops", "subflow_rtt_ms")
PATH_SHARES = [*CELL, *PLACE, "path", "n", *OF_A_PATH, "share_percent", "share_lowest", "share_highest"]
RUN_NUMBERS = dict.fromkeys(
    (*MEANS[5:], "paths", "transfer_s", "ideal_goodput_mbps"), "number"
)  # not among the columns that every study's analysis needs
PATHS = dict.fromkeys((*RUN[:3],), "text") | {"valid": "truth"} | dict.fromkeys(
    (RUN[3], "path", "share_percent", *OF_A_PATH), "number"
)  # fmt: skip
SCENARIO_COLUMNS = SCENARIOS | dict.fromkeys(
    ("multipath", "tunnel_ip_version", "distribution", "path_delay_ms", "application"), "text"
) | {"paths": "number"}  # fmt: skip


def ratio(first, second, confidence):
    """Return the ratio of two samples' means (of logarithms) with its interval, None for what isn't known.

    Parameters
    ----------
    first, second : pandas.Series of float
    confidence : float

    Returns
    -------
    ratio, low, high : float or None
    """
    first, second = first.dropna(), second.dropna()
    if first.empty or second.empty or (first <= 0).any() or (second <= 0).any():
        return None, None, None
    found = difference(first, second, "ratio")
    ends = found.interval(confidence) or (None, None)
    return (1 + found.effect / 100, *(None if end is None else 1 + end / 100 for end in ends))


def equation_verdict(factor, low, high, paths):
    """Say whether a ratio's whole interval is within `EQUATION_MARGIN_PERCENT` of the paths' number.

    Without an interval, as after a single run, nothing is said for or against it: `OPEN`.
    """
    if factor is None:
        return ""
    if low is None or high is None:
        return OPEN
    margin = EQUATION_MARGIN_PERCENT / 100 * paths * (1 + 1e-9)  # bounds take in what differs by rounding
    inside = [abs(value - paths) <= margin for value in (factor, low, high)]
    if all(inside):
        return HOLDS
    spans = low < paths - margin and high > paths + margin
    return OPEN if any(inside) or spans else FAILS


def place_of(scenario, ip_version):
    """Return the columns `PLACE` of a cell; ``scenario`` is a row of `with_paths`."""
    environment = environment_of(scenario | {"ip_version": ip_version})
    names = {"scenario_label": scenario["label"], "environment": environment}
    return names | {name: scenario[name] for name in PLACE[2:]}


def described(values, confidence):
    """Return (mean, low, high) of values; the ends are None for fewer than two."""
    known = values.dropna()
    if len(known) < 2:
        return (known.iloc[0] if len(known) else None), None, None
    return mean_interval(known, confidence)


def aggregation(runs, scenarios, confidence):
    """Return a row a cell with `AGGREGATION`.

    Parameters
    ----------
    runs : pandas.DataFrame
        ``tidy/runs.csv``.
    scenarios : pandas.DataFrame
        As `path_environments.with_paths` gives.
    confidence : float
        Of all intervals.
    """
    known = {row["scenario"]: row for row in scenarios.to_dict("records")}
    groups = {cell: group[group["valid"]] for cell, group in runs.groupby(CELL, sort=False)}
    return pd.DataFrame([cell_row(cell, groups, known, confidence) for cell in groups], columns=AGGREGATION)


def cell_row(cell, groups, scenarios, confidence):
    """Return the row of a cell; ``groups`` are the valid runs of all cells."""
    scenario, mine = scenarios[cell[0]], groups[cell]
    row = dict(zip(CELL, cell, strict=True)) | place_of(scenario, cell[2]) | {"n": len(mine), "equation": "", "note": ""}
    row |= {name: mine[name].mean() if name in mine else None for name in MEANS}
    if mine.empty:
        return row | {"note": "no valid run"}
    for prefix, name in (("goodput", "goodput_mbps"), ("transfer", "transfer_s"), ("cpu_busy", "cpu_busy_percent")):
        _, row[f"{prefix}_low"], row[f"{prefix}_high"] = described(mine[name], confidence)
    goodput, ceiling = mine["goodput_mbps"], mine["ideal_goodput_mbps"].mean()
    row |= {
        "goodput_sd_percent": 100 * goodput.std(ddof=1) / goodput.mean() if len(mine) > 1 else None,
        "ceiling_mbps": ceiling,
        "ceiling_percent": 100 * goodput.mean() / ceiling,
        "baseline": scenario["baseline"],
    }
    if scenario["by"] == "none":
        return row
    base = groups.get((scenario["baseline"], *cell[1:]))
    if base is None:
        return row | {"note": scenario["baseline_note"]}
    if base.empty:
        return row | {"note": "no valid run over a single path to compare with"}
    factor = ratio(goodput, base["goodput_mbps"], confidence)
    time = ratio(base["transfer_s"], mine["transfer_s"], confidence)
    row |= dict(zip(("factor", "factor_low", "factor_high"), factor, strict=True))
    row |= dict(zip(("time_factor", "time_factor_low", "time_factor_high"), time, strict=True))
    row["ceiling_factor"] = ceiling / base["ideal_goodput_mbps"].mean()
    return row | {"equation": equation_verdict(*(factor if time[0] is None else time), scenario["paths"])}


def path_shares(paths, scenarios):
    """Return a row a cell and path with `PATH_SHARES`: means over the valid runs, and the range of the share.

    ``packets`` and ``bytes`` are what left the sender from before the traffic until all of it had arrived. That is
    longer than the traffic's duration by a time that the runs don't tell, so there is no rate.
    """
    known = {row["scenario"]: row for row in scenarios.to_dict("records")}
    rows = []
    for (*cell, path), group in paths[paths["valid"]].groupby([*CELL, "path"], sort=False):
        row = dict(zip(CELL, cell, strict=True)) | place_of(known[cell[0]], cell[2])
        row |= {"path": int(path), "n": len(group)}
        row |= {name: group[name].mean() for name in (*OF_A_PATH, "share_percent")}
        shares = {"share_lowest": group["share_percent"].min(), "share_highest": group["share_percent"].max()}
        rows.append(row | shares)
    return pd.DataFrame(rows, columns=PATH_SHARES)


def read_all_runs(path):
    """Read ``tidy/runs.csv`` with the columns that only this analysis needs."""
    runs, more = read_runs(path), read_table(path, RUN_NUMBERS)
    return runs.assign(**{name: more[name] for name in RUN_NUMBERS})


def main(inputs, outputs, params):
    """Read runs, paths and scenarios, write both tables."""
    runs, scenarios = read_all_runs(inputs.runs), with_paths(read_table(inputs.scenarios, SCENARIO_COLUMNS))
    paths = read_table(inputs.paths, PATHS).astype({"replication": int})
    aggregation(runs, scenarios, params.confidence).to_csv(outputs.aggregation, index=False, lineterminator="\n")
    path_shares(paths, scenarios).to_csv(outputs.path_shares, index=False, lineterminator="\n")


if "snakemake" in globals():
    main(snakemake.input, snakemake.output, snakemake.params)
