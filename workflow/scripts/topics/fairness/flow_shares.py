"""The flows of all runs with their shares of the link, and values derived for runs in which two sides compete.

In this module, `shares` are rows of `FLOW_SHARES`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inference.share_intervals import logit
from run_tables.resolution import jain_resolution
from run_tables.run_keys import RUN
from study_files.study_design import MIX

PLACE = ["scenario", "ip_version"]


@dataclass(frozen=True)
class Pairs:
    """The runs in which two CCAs compete."""

    runs: pd.DataFrame  # result of `two_sided_runs`
    alike: dict[str, bool]  # result of `paths_alike`
    ccas: list[str]  # all CCAs in the study's order, whether or not they have valid runs


def numbered(shares) -> pd.DataFrame:
    """Return shares that were read from a file, with the replication, flow and position numbers as integers."""
    return shares.astype(dict.fromkeys(("replication", "flow", "position"), int))


def ccas_of(mix) -> list[str]:
    """Return the CCAs of a mix, such as ["reno", "cubic"] for "reno+cubic"."""
    return mix.split(MIX)


def mix_sizes(table) -> pd.Series:
    """Return the number of CCAs in the mix of each row."""
    return table["cca"].str.count(f"[{MIX}]") + 1


def pairs_of(shares) -> Pairs:
    """Return the runs of mixes of two CCAs."""
    shares = shares[mix_sizes(shares) == 2]
    ccas = dict.fromkeys(cca for mix in shares["cca"].unique() for cca in ccas_of(mix))
    return Pairs(two_sided_runs(shares), paths_alike(shares), list(ccas))


def matrix_cells(mixes, pooled, ccas) -> list[tuple[str, str]]:
    """Return the matrix cells (row, column) that mixes of two CCAs fill, in the order of `ccas`.

    If `pooled`, the mix ``a+b`` fills both (a, b) and (b, a).
    """
    filled = set(mixes) | ({(second, first) for first, second in mixes} if pooled else set())
    return [(row, column) for row in ccas for column in ccas if (row, column) in filled]


def position_of(shares) -> pd.Series:
    """Return the position of each flow in its mix, counted from 0: the i-th flow of a mix of k CCAs has position i mod k.

    If all flows use the same CCA, each flow has its own position. Flows of other groups, which have numbers too, aren't in `shares`.
    """
    sizes, places = mix_sizes(shares), shares.groupby(RUN)["flow"].rank(method="first") - 1
    return shares["flow"].where(sizes == 1, places % sizes).astype(int)


def paths_alike(shares) -> dict[str, bool]:
    """Return, for each scenario, whether the paths and the number of flows are the same at all positions.

    This depends only on the study's design, not on its results. If the positions are alike, the order of a mix's CCAs
    determines only the pair of hosts on which each CCA runs, and ``a+b`` and ``b+a`` are one condition.
    """
    alike = {}
    for (scenario, *_), run in shares.groupby(RUN, sort=False):
        paths = [tuple(sorted(rows)) for _, rows in run.groupby("position")["rtt_path_ms"]]
        alike[scenario] = alike.get(scenario, True) and len(set(paths)) == 1
    return alike


def two_sided_runs(shares) -> pd.DataFrame:
    """Return the valid runs whose flows are at two positions, with one row per run.

    The columns are `RUN`, scenario_label, flows, jain_index, first_rtt_path_ms, second_rtt_path_ms, and

    - first_cca and second_cca: the CCA at each position;
    - first_mbps and second_mbps: the mean goodput of a flow at each position;
    - balance: the logit of the first position's share, with each position counted as one flow;
    - start: 1 if a flow at the first position was scheduled to start first, -1 if a flow at the second position was, otherwise 0;
    - step and jain_step: the resolutions of balance and jain_index.
    """
    shares = shares[shares["valid"]]
    sides = shares.groupby([*RUN, "position"], sort=False)
    table = sides.agg(
        mbps=("goodput_mbps", "mean"), cca_there=("flow_cca", "first"), started=("first", "any"),
        path=("rtt_path_ms", "mean"), finely=("resolution_mbps", "mean"), known=("goodput_mbps", "count"), size=("goodput_mbps", "size"),
    ).unstack("position")  # fmt: skip
    if table.empty or not {0, 1} <= set(table["mbps"].columns):
        return pd.DataFrame(columns=[*RUN, "scenario_label", "first_cca", "second_cca", "flows", "balance", "step"])
    sizes = table["size"].fillna(0)
    table = table[(sizes.sum(axis=1) == sizes[0] + sizes[1]) & (sizes[0] > 0) & (sizes[1] > 0)]
    sizes, known = sizes.loc[table.index], table["known"]
    first, second = (table["mbps"][side].where(known[side] == sizes[side]) for side in (0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        balance = logit(first / (first + second))
        # Error of the ratio if each goodput is off by its resolution.
        step = table["finely"][0] / first + table["finely"][1] / second
    started = table["started"].fillna(False).astype(bool)
    result = pd.DataFrame(
        {
            "first_cca": table["cca_there"][0], "second_cca": table["cca_there"][1],
            "flows": (sizes[0] + sizes[1]).astype(int), "first_mbps": first, "second_mbps": second,
            "balance": balance, "start": started[0].astype(int) - started[1].astype(int),
            "first_rtt_path_ms": table["path"][0], "second_rtt_path_ms": table["path"][1], "step": step,
        }
    )  # fmt: skip
    names = {name: (name, "first") for name in ("scenario_label", "jain_index")}
    of_run = shares.groupby(RUN, sort=False).agg(
        **names, flow_mbps=("goodput_mbps", "mean"), finely=("resolution_mbps", "mean")
    )
    of_run["jain_step"] = jain_resolution(of_run["jain_index"], of_run.pop("finely") / of_run.pop("flow_mbps"))
    return result.join(of_run).reset_index()
