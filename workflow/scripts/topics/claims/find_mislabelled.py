"""Find runs in which a CCA other than the requested one ran, and compare them with correctly labelled runs.

If a host silently refuses a setting and a script doesn't read the setting back, the results of one CCA are published under the name of
another CCA. Runs with the wrong CCA fail the check `cca` and are excluded from all other analyses. Here these invalid runs are the evidence
of the problem.
"""

import json

import numpy as np
import pandas as pd

from run_tables.run_keys import CELL, RUN
from topics.claims.tables import MISLABELLED, MISLABELLED_METRICS


def _observed_ccas(flows, programs):
    """Return the CCA that iperf3 reports for each run; several CCAs are joined by `+`.

    A flow is ignored if there is no report for it, if it belongs to a group for which the scenario requests a CCA other than
    the run's, or if it belongs to one of the ``programs`` under test, whose names aren't names of CCAs.
    """
    asked = (flows["flow_cca"] == flows["cca"]) & ~flows["cca"].isin(programs)
    known = flows[(flows["cca_observed"] != "") & asked]
    joined = known.groupby(RUN, sort=False)["cca_observed"].agg(lambda names: "+".join(sorted(set(names))))
    return joined.rename("observed").reset_index()


def _reference_scenarios(scenarios):
    """Return, for each scenario that refuses CCAs, its reference scenario, or None if the study doesn't include one.

    The reference scenario allows the CCAs and is otherwise identical.
    """
    allowed = {_conditions(s): s["id"] for s in reversed(scenarios) if _restricted(s) == "allowed"}
    return {s["id"]: allowed.get(_conditions(s)) for s in scenarios if _restricted(s) == "refused"}


def _restricted(scenario):
    return scenario.get("transport", {}).get("restricted_ccas")


def _conditions(scenario):
    """Return a key for comparing scenarios: all settings except the names and `restricted_ccas`."""
    transport = scenario.get("transport", {}) | {"restricted_ccas": ""}
    return json.dumps(scenario | {"id": "", "label": "", "transport": transport}, sort_keys=True)


def mislabelled_cells(runs, flows, scenarios, programs=()) -> pd.DataFrame:
    """Describe each cell in which a CCA other than the requested one ran.

    ``scenarios`` are the study's resolved scenarios, and ``programs`` its CCAs that are programs. Returns `MISLABELLED`, with one row per
    cell and wrong CCA; there are no rows if the requested CCA ran in all runs.
    """
    runs = runs.merge(_observed_ccas(flows, programs), on=RUN, how="left", validate="one_to_one")
    wrong = runs[runs["observed"].notna() & (runs["observed"] != runs["cca"])]
    valid = runs[runs["valid"]]
    references = _reference_scenarios(scenarios)
    rows = [
        _describe(group, valid, references.get(key[0]), dict(zip(CELL, key, strict=False)))
        | {"same_as": ", ".join(_namesakes(group, wrong))}
        for key, group in wrong.groupby([*CELL, "observed"], sort=False)
    ]
    return pd.DataFrame(rows, columns=MISLABELLED.names)


def _describe(group, valid, reference, cell):
    """Describe the runs of a cell in which one particular wrong CCA ran; see `MISLABELLED`.

    These runs are compared with valid runs of the CCA that ran. If the same scenario includes valid runs of that CCA, they are used,
    because their seeds are the same; otherwise, valid runs in the reference scenario are used. Runs of the requested CCA in the reference
    scenario are also described.
    """
    observed, notes = group["observed"].iloc[0], []
    row = {**cell, "scenario_label": group["scenario_label"].iloc[0], "observed": observed, "runs": len(group)}
    row |= _means(group)
    row["reference_scenario"] = reference or ""
    # Runs share a seed only within one scenario and replication.
    twins = _of_cell(valid, cell["scenario"], observed, cell["ip_version"])
    if twins.empty:
        notes.append(f"no valid run of {observed} in the same scenario to compare with run by run")
    else:
        row["identical_runs"], row["difference_percent"] = _compare_runs(group, twins)
    beside = {"observed": twins} if len(twins) else {}
    if reference is None:
        notes.append("no scenario of the study differs from this one in restricted_ccas only")
    else:
        there = {"asked": cell["cca"]} | ({} if beside else {"observed": observed})
        beside |= {side: _of_cell(valid, reference, cca, cell["ip_version"]) for side, cca in there.items()}
        notes += [f"no valid run of {cca} in {reference}" for side, cca in there.items() if beside[side].empty]
    for side, runs in beside.items():
        row |= {f"{name}_{side}": value for name, value in _means(runs).items()}
    return row | {"note": "; ".join(notes)}


def _namesakes(group, wrong):
    """Return the other CCAs whose mislabelled runs, in the same scenario and over the same IP version, have the same results as `group`.

    If the runs under two names agree to the last digit of every metric for every seed, they are runs of the same CCA.
    """
    first = group.iloc[0]
    others = wrong[(wrong["scenario"] == first["scenario"]) & (wrong["ip_version"] == first["ip_version"])]
    numbers = ["replication", *MISLABELLED_METRICS]
    own = group[numbers].reset_index(drop=True)
    return [
        cca
        for cca, runs in others.groupby("cca", sort=False)
        if cca != first["cca"] and runs[numbers].reset_index(drop=True).equals(own)
    ]


def _compare_runs(runs, twins):
    """Compare runs, metric by metric, with another CCA's runs in the same replications.

    Returns the number of replications in which every metric is equal, and the largest difference of a metric as a percentage of
    the larger value. The difference is None if there is no replication with both runs.
    """
    columns = ["replication", *MISLABELLED_METRICS]
    both = runs[columns].merge(twins[columns], on="replication").dropna()
    if both.empty:
        return 0, None
    values, of_twins = (both[[f"{metric}_{side}" for metric in MISLABELLED_METRICS]].to_numpy() for side in "xy")
    greater = np.maximum(np.abs(values), np.abs(of_twins))
    apart = np.divide(100 * np.abs(values - of_twins), greater, out=np.zeros(greater.shape), where=greater > 0)
    return int((values == of_twins).all(axis=1).sum()), float(apart.max())


def _of_cell(runs, scenario, cca, ip_version):
    return runs[runs[CELL].eq([scenario, cca, ip_version]).all(axis=1)]


def _means(runs):
    return {metric: runs[metric].mean() for metric in MISLABELLED_METRICS}


def find_mislabelled(provenance, flows, runs, programs=()) -> pd.DataFrame:
    """Return `MISLABELLED`; ``programs`` are the study's CCAs that are programs."""
    table = mislabelled_cells(runs, flows, provenance["study"].get("scenarios", []), programs)
    table["identical_runs"] = table["identical_runs"].astype("Int64")
    return table
