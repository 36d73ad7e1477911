"""Compare measurements with TCP theory: with models in each cell, and with theoretical exponents across scenarios.

A cell is compared with these models:

- with configured loss: the square-root law, which describes Reno and is a yardstick for other CCAs; for CUBIC, also CUBIC's
  response function. Both describe the steady state, so goodput, RTT and losses are measured after start-up: slow start ends
  with a burst of losses, and the congestion window doesn't respond to each loss in a burst;
- without configured loss: the goodput of a saturated link. The response functions don't apply, because they assume independent
  losses, and a full queue drops packets in bursts;
- always: the delay of a full queue, compared with the mean time that packets spent in queues.

A cell that doesn't meet a model's assumptions (`preconditions`) isn't comparable with this model; the row gives the reason.

`runs` and `scenarios` are ``tidy/runs.csv`` and ``tidy/scenarios.csv``. A row is a dict with columns of `MODELS`.
"""

import numpy as np
import pandas as pd
from scipy import stats

from inference.collapses import kinds_words, other_kind
from inference.mean_interval import LEAST_RUNS, repeats_one_measurement, too_few_words
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from run_tables.waiting import ABOVE, drain_rates_mbps, waiting
from tcp_models import throughput_models as theory
from tcp_models.model_names import CUBIC, FULL_LINK, FULL_QUEUE, SQUARE_ROOT
from topics.theory.preconditions import OF_PROGRAM, unlike_runs
from topics.theory.response_exponents import few_round_trips, fit_exponents
from topics.theory.tables import MODELS
from wording.number_format import count

GOODPUT, STEADY_GOODPUT = "goodput", "goodput after start-up"
#: Columns added to the runs: goodput without the data that was in flight before the measured period, and the time that packets spent
#: in queues.
WITHIN, WAITING = "goodput of the window", "waiting"
_LOSSES = (STEADY_GOODPUT, "Mbit/s", "goodput_steady_mbps", "goodput_steady_mbps", "loss after start-up")
#: Model -> quantity, unit, column with the measured value, metric that determines the resolution, and inputs of the model in words.
COMPARED = {
    SQUARE_ROOT: _LOSSES,
    CUBIC: _LOSSES,
    FULL_LINK: (GOODPUT, "Mbit/s", WITHIN, "goodput_mbps", "rate or sender's limit"),
    FULL_QUEUE: (ABOVE, "ms", WAITING, "rtt_mean_ms", "rate limit with a drop-tail queue"),
}


def ratio_interval(measured, modelled, confidence, resolution=0.0) -> tuple[float, float | None, float | None]:
    """Return the ratio of two means over replications, and both ends of its t interval.

    The ratio is linearised (Cochran, 1977, Sampling Techniques, section 6.4): with d = measured - ratio * modelled for each run, the
    standard error of the ratio is the standard error of the mean of d, divided by the mean of `modelled`. The interval is calculated for
    the logarithm of the ratio, so that both ends are above 0. If the ratio isn't above 0, the interval is calculated for the ratio itself.

    The ends are None if there are fewer than `LEAST_RUNS` runs, or if all runs have the same ratio within the resolution.

    Parameters
    ----------
    measured, modelled : array_like of float, shape (n,)
        Values of the same runs. The mean of `modelled` is positive.
    confidence : float
    resolution : float
        Resolution of `measured`.
    """
    measured, modelled = np.asarray(measured, float), np.asarray(modelled, float)
    n, ratio = len(measured), measured.mean() / modelled.mean()
    if n < LEAST_RUNS or np.ptp(measured - ratio * modelled) <= resolution:
        return float(ratio), None, None
    error = np.std(measured - ratio * modelled, ddof=1) / np.sqrt(n) / modelled.mean()
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * error
    if ratio <= 0:
        return float(ratio), float(ratio - half), float(ratio + half)
    # The exponent is capped, so that a ratio near 0 with a large error doesn't lead to an infinite end.
    factor = np.exp(min(half / ratio, 50))
    return float(ratio), float(ratio / factor), float(ratio * factor)


def add_models(runs) -> pd.DataFrame:
    """Return the runs with an additional column for each model: the modelled value, in Mbit/s (ms for the queue).

    The response functions use measurements taken after start-up; their values are summed over the flows under test. A value is missing if
    an input is missing or nothing was retransmitted after start-up. If the ideal goodput is known, it is an upper limit on the values; the
    column `<model>, capped` is True where this limit replaced a larger value.
    """
    inputs = ("mss_bytes", "rtt_steady_ms", "retransmit_steady_percent", "flows_under_test")
    # The inputs of all other runs are set to missing, so their modelled values are missing too.
    known = runs.where((runs[list(inputs)] > 0).all(axis=1))
    ideal = runs["ideal_goodput_mbps"].where(runs["ideal_goodput_mbps"] > 0)
    columns = {}
    for model, law in ((SQUARE_ROOT, theory.square_root_law_mbps), (CUBIC, theory.cubic_response_mbps)):
        loss = known["retransmit_steady_percent"] / 100
        of_flow = law(known["mss_bytes"], known["rtt_steady_ms"], loss)
        summed = known["flows_under_test"] * of_flow
        columns[model] = summed.clip(upper=ideal.fillna(np.inf))
        columns[f"{model}, capped"] = summed > ideal
    columns[FULL_LINK] = ideal
    columns[WITHIN] = ideal * runs["ideal_percent"] / 100
    bounded = (runs["queue_bytes"] > 0) & (runs["discipline"] == "drop-tail")
    columns[FULL_QUEUE] = theory.full_queue_delay_ms(
        runs["queue_bytes"].where(bounded), drain_rates_mbps(runs).where(bounded)
    )
    columns[WAITING] = waiting(runs)[1]
    return runs.assign(**columns)


def _cell_models(runs, cell, confidence, cautions, unlike):
    """Yield one row for each model with which a cell's valid runs are compared.

    `runs` are the valid runs of the cell, and `cell` is any run of the cell. `cautions` maps models to notes for the reader. `unlike` maps
    models to reasons why the cell isn't comparable with them.
    """
    if cell["loss_configured_percent"] > 0:
        law = _model_row(runs, SQUARE_ROOT, confidence, cautions, unlike)
        if cell["cca"] != "reno" and OF_PROGRAM not in unlike.get(SQUARE_ROOT, ()):
            law["note"] = _joined("a yardstick: the law is Reno's, not this CCA's", law["note"])
        yield law
        if cell["cca"] == "cubic":
            response = _model_row(runs, CUBIC, confidence, cautions, unlike)
            if response["modelled"] is not None:
                loss = runs["retransmit_steady_percent"].mean() / 100
                response["note"] = _joined(theory.cubic_region(runs["rtt_steady_ms"].mean(), loss), response["note"])
            yield response
    else:
        yield _model_row(runs, FULL_LINK, confidence, cautions, unlike)
    yield _model_row(runs, FULL_QUEUE, confidence, cautions, unlike)


def _model_row(runs, model, confidence, cautions, unlike):
    """Return a cell's row for one model."""
    quantity, unit, column, metric, needed = COMPARED[model]
    if model == FULL_QUEUE:
        quantity = waiting(runs)[0]
    row = {"model": model, "quantity": quantity, "unit": unit, "modelled": None}
    if runs.empty:
        return row | {"n": 0, "note": "no valid run"}
    if reasons := [*unlike.get(model, ()), *unlike_runs(runs, model)]:
        return row | {"n": 0, "measured": runs[column].mean(), "note": f"not comparable: {', '.join(reasons)}"}
    used = runs[runs[column].notna() & runs[model].notna()]
    row["n"], notes = len(used), [cautions.get(model, "")]
    if len(used) < len(runs):
        notes.append(f"{len(runs) - len(used)} of {count(len(runs), 'valid run')} without {needed} or measurement")
    if used.empty:
        return row | {"note": _joined(*notes)}
    row["measured"], row["modelled"] = used[column].mean(), used[model].mean()
    resolution = resolution_of(used, metric)
    row["ratio"], row["ratio_low"], row["ratio_high"] = ratio_interval(
        used[column], used[model], confidence, resolution
    )
    other = other_kind(used[column], resolution)
    if model in (SQUARE_ROOT, CUBIC):
        if capped := int(used[f"{model}, capped"].sum()):
            link = f"more than the link carries in {capped} of {count(len(used), 'run')}"
            notes.append(f"{link}: the ideal goodput is used")
        notes.append(few_round_trips((1000 * used["duration_s"] / used["rtt_steady_ms"]).mean()))
    same = repeats_one_measurement(used[column], resolution)
    if len(used) < LEAST_RUNS and not same:
        notes.append(too_few_words(len(used)))
    elif row["ratio_low"] is None:
        notes.append(f"all {len(used)} runs {'repeat one measurement' if same else 'have the same ratio'}: no interval")
    elif other.any():
        row |= {"ratio_low": None, "ratio_high": None}
        notes.append(kinds_words(other))
    return row | {"note": _joined(*notes)}


def _cautions(scenario):
    """Return model -> note about the scenario for the reader of the report; "" if no note is needed."""
    lost = "acknowledgements are lost too, which the law ignores" if scenario["loss_reverse_percent"] > 0 else ""
    long = "the queue holds super-packets, which are longer than the full packets of the model"
    return {SQUARE_ROOT: lost, CUBIC: lost, FULL_QUEUE: long if scenario["segmentation_offload"] else ""}


def _joined(*parts):
    return "; ".join(filter(None, parts))


def _fit_models(runs, scenarios, confidence, unlike, programs):
    """Return `MODELS`, in which each cell is compared with the models that apply; ``runs`` come from `add_models`."""
    cautions = {row["scenario"]: _cautions(row) for row in scenarios.to_dict("records")}
    rows = []
    for key, group in runs.groupby(CELL, sort=False):
        cell = group.iloc[0]
        names = dict(zip(CELL, key, strict=True)) | {"scenario_label": cell["scenario_label"]}
        reasons = unlike.get(cell["scenario"], {})
        if cell["cca"] in programs:
            reasons = reasons | {model: [*reasons.get(model, ()), OF_PROGRAM] for model in (SQUARE_ROOT, CUBIC)}
        of_cell = cautions[cell["scenario"]], reasons
        rows += [names | row for row in _cell_models(group[group["valid"]], cell, confidence, *of_cell)]
    return pd.DataFrame(rows, columns=MODELS.names)


def fit_models(runs, scenarios, confidence, unlike, programs=()) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `MODELS` and `REGRESSIONS`.

    ``unlike`` maps each scenario to the result of `preconditions.unlike`; ``programs`` are the CCAs that are programs.
    """
    runs = add_models(runs)
    models = _fit_models(runs, scenarios, confidence, unlike, programs)
    others = [name for name, reasons in unlike.items() if reasons[SQUARE_ROOT]]
    comparable = ~(runs["scenario"].isin(others) | runs["cca"].isin(programs))
    regressions = fit_exponents(runs[comparable], scenarios, confidence)
    return models, regressions
