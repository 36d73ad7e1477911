"""Fit goodput as a power law in RTT and loss, by linear regression of logarithms across scenarios.

The unit of analysis is the cell. A cell's runs share all conditions, and treating them as separate points would make a line through three
scenarios look certain. The degrees of freedom are therefore the number of cells minus the number of coefficients, so few cells give a wide
interval. Few cells can also lie on a line by chance, so the interval is never narrower than the variation between replications allows.

`runs` are ``tidy/runs.csv`` with the columns of ``fit_models.add_models``. `scenarios` are ``tidy/scenarios.csv``. `cells` are
rows of `cell_means`.
"""

import numpy as np
import pandas as pd
from scipy import stats

from run_tables.conditions_at_centre import runs_at_centre
from run_tables.run_keys import CELL
from tcp_models import throughput_models as theory
from tcp_models.model_names import CUBIC, SQUARE_ROOT
from topics.theory.preconditions import unlike_runs
from topics.theory.tables import REGRESSIONS
from wording.number_format import count

# A line through fewer scenarios would leave no degrees of freedom.
MIN_SCENARIOS = 3
# The effects of RTT and loss can't be separated if they are correlated this closely.
SAME_DIRECTION = 0.999
# The interval of an exact fit has width 0, so rounding matters: an interval may exceed the margin by this amount and still count as inside.
EXACT = 1e-9
#: Margin: an exponent agrees with theory if it differs from the theoretical exponent by at most this much. The margin is half the
#: difference between Reno's and CUBIC's exponents (-1 and -0.25 for RTT, -0.5 and -0.75 for loss), so that an interval within the
#: margin excludes the other law.
MARGINS = {"rtt_ms": 0.375, "loss_percent": 0.125}
# Conditions that must be equal in all scenarios through which a line is fitted.
CONDITIONS = {
    "rate_mbps": "rate",
    "segmentation_offload": "segmentation offload",
    "netem": "place of the emulated link",
    "loss_reverse_percent": "loss of acknowledgements",
    "jitter_forward_ms": "jitter",
}


def cell_means(runs, scenarios) -> pd.DataFrame:
    """Return one row per cell, with the means of goodput per flow, RTT and loss after start-up.

    The means are over the valid runs for which all three values are known. `comparable` is False for a cell with random loss whose valid
    runs violate an assumption of the response functions.
    """
    runs = runs_at_centre(runs, scenarios)
    measured = runs[["goodput_steady_mbps", "rtt_steady_ms", "retransmit_steady_percent"]].notna().all(axis=1)
    means = runs[runs["valid"] & measured].groupby(CELL, sort=False).agg(
        runs=("valid", "size"),
        flows=("flows_under_test", "first"),
        loss_configured_percent=("loss_configured_percent", "first"),
        rtt_path_ms=("rtt_path_ms", "first"),
        goodput_mbps=("goodput_steady_mbps", "mean"),
        goodput_error=("goodput_steady_mbps", "sem"),
        rtt_ms=("rtt_steady_ms", "mean"),
        loss_percent=("retransmit_steady_percent", "mean"),
        duration_s=("duration_s", "first"),
        reno_capped=(f"{SQUARE_ROOT}, capped", "any"),
        cubic_capped=(f"{CUBIC}, capped", "any"),
    )  # fmt: skip
    lossy = runs[runs["valid"] & (runs["loss_configured_percent"] > 0)]
    unlike = {cell for cell, of_cell in lossy.groupby(CELL, sort=False) if unlike_runs(of_cell, SQUARE_ROOT)}
    comparable = [cell not in unlike for cell in means.index]
    means = means.reset_index().merge(scenarios[["scenario", *CONDITIONS]], on="scenario", how="left")
    return means.assign(
        comparable=comparable,
        per_flow_mbps=means["goodput_mbps"] / means["flows"],
        # Standard error of the logarithm, to first order; 0 for a single run, for which it is unknown.
        log_error=(means["goodput_error"] / means["goodput_mbps"].where(means["goodput_mbps"] > 0)).fillna(0.0),
    )


def expected_exponents(cells, cca) -> tuple[dict[str, float], str, str]:
    """Return the exponents that a CCA's model predicts for cells with this CCA, as (exponents, source, reason).

    ``exponents`` contains the keys "rtt_ms" and "loss_percent", or is empty if no model predicts the same exponents for all cells.
    ``source`` cites the model. ``reason`` states why there are no exponents although a model of the CCA exists. Both texts may be empty.
    """
    if cca not in ("reno", "cubic"):
        return {}, "", ""
    if (cells["loss_configured_percent"] <= 0).any() or (cells["loss_percent"] <= 0).any():
        return {}, "", "no exponent expected: without random loss the link sets the rate"
    capped = int(cells[f"{cca}_capped"].sum())
    if capped:
        return {}, "", f"no exponent expected: the link is full in {capped} of {count(len(cells), 'scenario')}"
    reno = {"rtt_ms": -1.0, "loss_percent": -0.5}
    if cca == "reno":
        return reno, "Mathis et al. (1997)", ""
    regions = {theory.cubic_region(cell.rtt_ms, cell.loss_percent / 100) for cell in cells.itertuples()}
    if len(regions) > 1:
        return {}, "", "no exponent expected: the scenarios lie in both regions of CUBIC"
    region = regions.pop()
    # In the cubic region, cwnd is proportional to (RTT / p)^(3/4), and goodput is one cwnd per RTT.
    exponents = reno if region == theory.RENO_REGION else {"rtt_ms": -0.25, "loss_percent": -0.75}
    return exponents, f"RFC 9438, section 5: {region}", ""


def power_law(cells, terms, confidence) -> dict[str, float]:
    """Fit goodput per flow as a product of powers, by least squares of the logarithms.

    The exponent is a linear combination of the cells' means, so the standard errors of these means imply an interval based on the normal
    distribution. The wider of this interval and the regression's t interval is returned.

    Returns estimate, ci_low and ci_high for the exponent of the first term, and r2.

    Parameters
    ----------
    cells : pandas.DataFrame
        Rows of `cell_means`: more rows than coefficients, and all values above 0.
    terms : list of str
        Columns whose exponents are fitted.
    confidence : float
        Confidence level of the interval.
    """
    import pingouin  # imported here, because the import takes a second

    logarithms = np.log(cells[["per_flow_mbps", *terms]])
    fit = pingouin.linear_regression(logarithms[terms], logarithms["per_flow_mbps"], as_dataframe=False)
    share = np.linalg.pinv(np.column_stack((np.ones(len(cells)), logarithms[terms])))[1]
    replications = np.sqrt((share**2 * cells["log_error"].to_numpy() ** 2).sum())
    upper = (1 + confidence) / 2
    half = float(max(stats.t.ppf(upper, fit["df_resid"]) * fit["se"][1], stats.norm.ppf(upper) * replications))
    estimate = float(fit["coef"][1])
    return {"estimate": estimate, "ci_low": estimate - half, "ci_high": estimate + half, "r2": float(fit["r2"])}


def agrees(expected, fit, margin) -> str:
    """Return "yes" if a fit's entire interval lies within the margin around `expected`, and "no" if it lies entirely outside.

    Return "" if the interval crosses an edge of the margin: such an interval is too wide for a verdict.
    """
    low, high = fit["ci_low"], fit["ci_high"]
    if expected - margin - EXACT <= low and high <= expected + margin + EXACT:
        return "yes"
    return "no" if high < expected - margin or low > expected + margin else ""


def few_round_trips(number_of) -> str:
    """Return a caution if a run lasts for too few round trips for a response function; "" if it lasts long enough."""
    words = f"{number_of:.0f} round trips per run: start-up matters, but the law is for the steady state"
    return words if number_of < theory.FEW_ROUND_TRIPS else ""


def _regression_row(cells, cca, terms, confidence):
    """Return the row of one regression, without the columns that identify the group of cells.

    The first of `terms` is the column whose exponent is reported; the other terms are fitted too.
    """
    known, cells = len(cells), cells[cells["comparable"]]
    notes = [
        f"the scenarios differ in {words}"
        for column, words in CONDITIONS.items()
        if cells[column].nunique(dropna=False) > 1
    ]
    if len(cells) < known:
        notes.append(f"{count(known - len(cells), 'scenario')} left out: not comparable with the {SQUARE_ROOT}")
    usable = cells[(cells[["per_flow_mbps", *terms]] > 0).all(axis=1)]
    if len(usable) < len(cells):
        notes.append(f"{count(len(cells) - len(usable), 'scenario')} left out: a value of 0 has no logarithm")
    row = {"n": int(usable["runs"].sum()), "scenarios": len(usable), "agrees": "", "expected_source": ""}
    if reason := _why_no_line(usable, terms):
        return row | {"note": "; ".join([reason, *notes])}
    exponents, row["expected_source"], why = expected_exponents(usable, cca)
    fit = power_law(usable, terms, confidence)
    notes = [*filter(None, [why]), *notes]
    notes.append(f"the interval rests on {count(len(usable) - 1 - len(terms), 'degree')} of freedom")
    caution = few_round_trips((1000 * usable["duration_s"] / usable["rtt_ms"]).min())
    notes += [f"down to {caution}"] * bool(exponents and caution)
    if terms[0] in exponents:
        row["expected"] = exponents[terms[0]]
        row["margin"] = MARGINS[terms[0]]
        row["agrees"] = agrees(row["expected"], fit, row["margin"])
        if row["agrees"] == "":
            notes.insert(0, "too imprecise to say: the interval extends beyond the margin around the expected exponent")
    return row | fit | {"note": "; ".join(notes)}


def _why_no_line(cells, terms):
    """Return the reason why a regression on these cells is impossible; "" if it is possible."""
    conditions = {"rtt_ms": "rtt_path_ms", "loss_percent": "loss_configured_percent"}
    different = cells[conditions[terms[0]]].nunique()
    if terms == ["rtt_ms"] and different < MIN_SCENARIOS:
        return f"{count(different, 'scenario')} with different RTTs: a line needs {MIN_SCENARIOS}"
    if different < 2 or len(cells) < MIN_SCENARIOS + len(terms) - 1:
        return (
            f"{count(len(cells), 'scenario')} with {count(different, 'loss rate')}: an exponent of loss needs "
            f"{MIN_SCENARIOS + len(terms) - 1} scenarios and 2 loss rates"
        )
    if np.ptp(cells["per_flow_mbps"]) == 0:
        return "goodput is the same in every scenario: nothing to explain"
    if len(terms) > 1:
        together = np.corrcoef(np.log(cells["rtt_ms"]), np.log(cells["loss_configured_percent"]))[0, 1]
        if abs(together) > SAME_DIRECTION:
            return "RTT and loss change together: their exponents are indistinguishable"
    return ""


def fit_exponents(runs, scenarios, confidence) -> pd.DataFrame:
    """Return `REGRESSIONS`: the exponent of RTT for each configured loss, and the exponent of loss if several losses are configured."""
    rows, cells = [], cell_means(runs, scenarios)
    for (cca, ip_version, flows), group in cells.groupby(["cca", "ip_version", "flows"], sort=False):
        names = {
            "response": "goodput per flow after start-up",
            "cca": cca,
            "ip_version": ip_version,
            "flows": int(flows),
        }
        for loss, same_loss in group.groupby("loss_configured_percent", sort=False):
            row = _regression_row(same_loss, cca, ["rtt_ms"], confidence)
            rows.append(names | {"loss_configured_percent": loss, "term": "RTT"} | row)
        lossy = group[group["loss_configured_percent"] > 0]
        if lossy["loss_configured_percent"].nunique() > 1:
            beside = ["rtt_ms"] if lossy["rtt_path_ms"].nunique() > 1 else []
            row = _regression_row(lossy, cca, ["loss_percent", *beside], confidence)
            rows.append(names | {"term": "loss"} | row)
    return pd.DataFrame(rows, columns=REGRESSIONS.names)
