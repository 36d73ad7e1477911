"""Hold what was measured against TCP's theory: cell by cell, and as exponents over scenarios.

Which model a cell is held against:

- configured loss: the square-root law, which is Reno's own and for other CCAs a yardstick;
  for CUBIC its response function too. Both take the measured RTT and the realised loss;
- no configured loss: the full link. Losses then come in bursts, when the queue is full, so that their
  share is no rate of independent losses and the response functions don't apply;
- always: the full queue, against the mean time that packets waited.

`runs` and `scenarios` are ``tidy/runs.csv`` and ``tidy/scenarios.csv``; a row is a dict of `MODELS`' columns.
"""

import numpy as np
import pandas as pd
from scipy import stats

from inference.collapses import collapse_words, collapsed
from inference.mean_interval import repeats_one_measurement
from run_tables.resolution import resolution_of
from run_tables.run_keys import CELL
from tcp_models import throughput_models as theory
from tcp_models.throughput_models import CUBIC, FULL_LINK, FULL_QUEUE, SQUARE_ROOT
from topics.theory.response_exponents import few_round_trips, fit_exponents
from topics.theory.tables import MODELS
from wording.number_format import count

GOODPUT = "goodput"
QUEUEING = "queueing delay"


def ratio_interval(measured, modelled, confidence, resolution=0.0) -> tuple[float, float | None, float | None]:
    """Return the ratio of two means and its t interval, over replications.

    With d = measured - ratio * modelled of each run the standard error is that of the mean of d, over
    the mean of `modelled` (linearisation: Cochran, 1977, Sampling Techniques, section 6.4). The
    interval is taken on the logarithm of the ratio, which keeps it above 0; on the ratio itself
    if that isn't above 0.

    Returns the ratio and both ends, None of a single run, and of runs that repeat one measurement.

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
    if n < 2 or repeats_one_measurement(measured - ratio * modelled, resolution):
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

    Response functions are summed over the flows and no more than the ideal goodput, where
    there is one; `<model>, capped` says where they were. They are missing where an input is missing
    or nothing was lost.
    """
    positive = (runs["rtt_mean_ms"] > 0) & (runs["loss_percent"] > 0) & (runs["mss_bytes"] > 0) & (runs["flows"] > 0)
    known = runs.where(positive)  # the rest is missing, and stays so
    inputs = known["mss_bytes"], known["rtt_mean_ms"], known["loss_percent"] / 100
    ideal = runs["ideal_goodput_mbps"].where(runs["ideal_goodput_mbps"] > 0)
    columns = {}
    for model, law in ((SQUARE_ROOT, theory.square_root_law_mbps), (CUBIC, theory.cubic_response_mbps)):
        summed = known["flows"] * law(*inputs)
        columns[model] = summed.clip(upper=ideal.fillna(np.inf))
        columns[f"{model}, capped"] = summed > ideal
    columns[FULL_LINK] = ideal
    bounded = (runs["rate_mbps"] > 0) & (runs["queue_bytes"] > 0) & (runs["discipline"] == "drop-tail")
    columns[FULL_QUEUE] = theory.full_queue_delay_ms(
        runs["queue_bytes"].where(bounded), runs["rate_mbps"].where(bounded)
    )
    columns[QUEUEING] = runs["rtt_mean_ms"] - runs["rtt_path_ms"]
    return runs.assign(**columns)


def _cell_models(runs, cell, confidence, loss_caution, queue_caution):
    """Return the rows of one cell: what its valid runs were held against, and the ratio; `cell` is any of its runs."""
    if cell["loss_configured_percent"] > 0:
        law = _model_row(runs, SQUARE_ROOT, confidence, loss_caution, "loss")
        if cell["cca"] != "reno":
            law["note"] = _joined("a yardstick: the law is Reno's, not this CCA's", law["note"])
        yield law
        if cell["cca"] == "cubic":
            response = _model_row(runs, CUBIC, confidence, loss_caution, "loss")
            if response["modelled"] is not None:
                region = theory.cubic_region(runs["rtt_mean_ms"].mean(), runs["loss_percent"].mean() / 100)
                response["note"] = _joined(region, response["note"])
            yield response
    else:
        yield _model_row(runs, FULL_LINK, confidence, "", "rate or sender's limit")
    yield _model_row(runs, FULL_QUEUE, confidence, queue_caution, "rate limit with a drop-tail queue")


def _model_row(runs, model, confidence, caution, needed):
    """Return the row of one model; `needed` is what must be there for it to have a value."""
    quantity, unit, column = (QUEUEING, "ms", QUEUEING) if model == FULL_QUEUE else (GOODPUT, "Mbit/s", "goodput_mbps")
    used = runs[runs[column].notna() & runs[model].notna()]
    row = {"model": model, "quantity": quantity, "unit": unit, "n": len(used)}
    if runs.empty:
        return row | {"modelled": None, "note": "no valid run"}
    notes = [caution]
    if len(used) < len(runs):
        notes.append(f"{len(runs) - len(used)} of {count(len(runs), 'valid run')} without {needed} or measurement")
    if used.empty:
        return row | {"modelled": None, "note": _joined(*notes)}
    row["measured"], row["modelled"] = used[column].mean(), used[model].mean()
    resolution = resolution_of(used, "rtt_mean_ms" if column == QUEUEING else column)
    row["ratio"], row["ratio_low"], row["ratio_high"] = ratio_interval(
        used[column], used[model], confidence, resolution
    )
    lost = collapsed(used[column]) if quantity == GOODPUT else np.zeros(len(used), bool)
    if model in (SQUARE_ROOT, CUBIC):
        if capped := int(used[f"{model}, capped"].sum()):
            link = f"more than the link carries in {capped} of {count(len(used), 'run')}"
            notes.append(f"{link}: the ideal goodput is taken")
        notes.append(few_round_trips((1000 * used["duration_s"] / used["rtt_mean_ms"]).mean()))
    if len(used) == 1:
        notes.append("one run: no interval")
    elif row["ratio_low"] is None:
        notes.append(f"all {len(used)} runs repeat one measurement: no interval")
    elif lost.any():
        row |= {"ratio_low": None, "ratio_high": None}
        notes.append(collapse_words(lost))
    return row | {"note": _joined(*notes)}


def _cautions(scenario):
    """Return what a reader must know of a scenario's loss, and of its queue."""
    loss = queue = ""
    if scenario["segmentation_offload"]:
        loss = "loss counts super-packets of several segments, the law counts segments"
        queue = "the queue holds super-packets, which are longer than the full packets of the model"
    if scenario["loss_reverse_percent"] > 0:
        loss = _joined(loss, "acknowledgements are lost too, which the law leaves out")
    return loss, queue


def _joined(*parts):
    return "; ".join(filter(None, parts))


def _fit_models(runs, scenarios, confidence):
    """Return `MODELS`: every cell of `add_models`' runs, held against the models that apply to it."""
    cautions = {row["scenario"]: _cautions(row) for row in scenarios.to_dict("records")}
    rows = []
    for key, group in runs.groupby(CELL, sort=False):
        cell = group.iloc[0]
        names = dict(zip(CELL, key, strict=True)) | {"scenario_label": cell["scenario_label"]}
        cell_rows = _cell_models(group[group["valid"]], cell, confidence, *cautions[cell["scenario"]])
        rows += [names | row for row in cell_rows]
    return pd.DataFrame(rows, columns=MODELS.names)


def fit_models(runs, scenarios, confidence) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `MODELS` and `REGRESSIONS`."""
    runs = add_models(runs)
    models = _fit_models(runs, scenarios, confidence)
    regressions = fit_exponents(runs, scenarios, confidence)
    return models, regressions
