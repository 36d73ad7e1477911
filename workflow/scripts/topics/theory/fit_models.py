"""Compare measurements with TCP's theory: cell by cell, and as exponents over scenarios.

Models with which a cell is compared:

- configured loss: the square-root law, which is Reno's own and for other CCAs a yardstick;
  for CUBIC its response function too. Both are of the steady state: goodput, RTT and losses are those after start-up,
  since slow start ends with a queue full of losses that no window answers one by one;
- no configured loss: the full link. Losses then come in bursts, when the queue is full, so that their
  share is no rate of independent losses and the response functions don't apply;
- always: the full queue, against the mean time that packets waited.

A cell that is not what the model presumes (`preconditions`) is not comparable with it, and its row says why.

`runs` and `scenarios` are ``tidy/runs.csv`` and ``tidy/scenarios.csv``; a row is a dict of `MODELS`' columns.
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
from topics.theory.preconditions import unlike_runs
from topics.theory.response_exponents import few_round_trips, fit_exponents
from topics.theory.tables import MODELS
from wording.number_format import count

GOODPUT, STEADY_GOODPUT = "goodput", "goodput after start-up"
#: Columns of runs: goodput less what was on its way before the window, and how long packets waited.
WITHIN, WAITING = "goodput of the window", "waiting"
_LOSSES = (STEADY_GOODPUT, "Mbit/s", "goodput_steady_mbps", "goodput_steady_mbps", "loss after start-up")
#: Model -> the quantity that it is of, its unit, the column that is measured, the metric whose resolution it has, and what the model needs.
COMPARED = {
    SQUARE_ROOT: _LOSSES,
    CUBIC: _LOSSES,
    FULL_LINK: (GOODPUT, "Mbit/s", WITHIN, "goodput_mbps", "rate or sender's limit"),
    FULL_QUEUE: (ABOVE, "ms", WAITING, "rtt_mean_ms", "rate limit with a drop-tail queue"),
}


def ratio_interval(measured, modelled, confidence, resolution=0.0) -> tuple[float, float | None, float | None]:
    """Return the ratio of two means and its t interval, over replications.

    With d = measured - ratio * modelled of each run the standard error is that of the mean of d, over
    the mean of `modelled` (linearisation: Cochran, 1977, Sampling Techniques, section 6.4). The
    interval is taken on the logarithm of the ratio, which keeps it above 0; on the ratio itself
    if that isn't above 0.

    Returns the ratio and both ends, None of fewer than `LEAST_RUNS` runs, and of those whose ratios are all the same within the
    resolution: these have no spread.

    Parameters
    ----------
    measured, modelled : array_like of float, shape (n,)
        Of the same runs; `modelled` has a positive mean.
    confidence : float
    resolution : float
        Of `measured`.
    """
    measured, modelled = np.asarray(measured, float), np.asarray(modelled, float)
    n, ratio = len(measured), measured.mean() / modelled.mean()
    if n < LEAST_RUNS or np.ptp(measured - ratio * modelled) <= resolution:
        return float(ratio), None, None
    error = np.std(measured - ratio * modelled, ddof=1) / np.sqrt(n) / modelled.mean()
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * error
    if ratio <= 0:
        return float(ratio), float(ratio - half), float(ratio + half)
    # Capped, lest a ratio near 0 with a large error makes an infinite limit.
    factor = np.exp(min(half / ratio, 50))
    return float(ratio), float(ratio / factor), float(ratio * factor)


def add_models(runs) -> pd.DataFrame:
    """Return the runs with each model's value: a column a model, in Mbit/s (ms for the queue).

    Response functions take what was measured after start-up, are summed over the flows under test, and no more than the ideal
    goodput, where there is one; `<model>, capped` says where they were. They are missing where an input is missing
    or nothing was retransmitted then.
    """
    inputs = ("mss_bytes", "rtt_steady_ms", "retransmit_steady_percent", "flows_under_test")
    known = runs.where((runs[list(inputs)] > 0).all(axis=1))  # the rest is missing, and stays so
    ideal = runs["ideal_goodput_mbps"].where(runs["ideal_goodput_mbps"] > 0)
    columns = {}
    for model, law in ((SQUARE_ROOT, theory.square_root_law_mbps), (CUBIC, theory.cubic_response_mbps)):
        # Of all segments sent, the retransmitted ones among them.
        loss = known["retransmit_steady_percent"] / (100 + known["retransmit_steady_percent"])
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
    """Return the rows of one cell: what its valid runs were held against, and the ratio.

    `cell` is any of its runs, `cautions` and `unlike` have for each model what a reader must know and why it is not comparable.
    """
    if cell["loss_configured_percent"] > 0:
        law = _model_row(runs, SQUARE_ROOT, confidence, cautions, unlike)
        if cell["cca"] != "reno":
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
    """Return the row of one model of a cell."""
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
    """Return model -> what a reader must know of a scenario that is comparable with it."""
    lost = "acknowledgements are lost too, which the law ignores" if scenario["loss_reverse_percent"] > 0 else ""
    long = "the queue holds super-packets, which are longer than the full packets of the model"
    return {SQUARE_ROOT: lost, CUBIC: lost, FULL_QUEUE: long if scenario["segmentation_offload"] else ""}


def _joined(*parts):
    return "; ".join(filter(None, parts))


def _fit_models(runs, scenarios, confidence, unlike):
    """Return `MODELS`: every cell of `add_models`' runs, held against the models that apply to it."""
    cautions = {row["scenario"]: _cautions(row) for row in scenarios.to_dict("records")}
    rows = []
    for key, group in runs.groupby(CELL, sort=False):
        cell = group.iloc[0]
        names = dict(zip(CELL, key, strict=True)) | {"scenario_label": cell["scenario_label"]}
        of_scenario = cautions[cell["scenario"]], unlike.get(cell["scenario"], {})
        rows += [names | row for row in _cell_models(group[group["valid"]], cell, confidence, *of_scenario)]
    return pd.DataFrame(rows, columns=MODELS.names)


def fit_models(runs, scenarios, confidence, unlike) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `MODELS` and `REGRESSIONS`; ``unlike`` is scenario -> `preconditions.unlike` of it."""
    runs = add_models(runs)
    models = _fit_models(runs, scenarios, confidence, unlike)
    others = [name for name, reasons in unlike.items() if reasons[SQUARE_ROOT]]
    regressions = fit_exponents(runs[~runs["scenario"].isin(others)], scenarios, confidence)
    return models, regressions
