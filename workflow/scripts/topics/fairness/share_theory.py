"""Measured and theoretical shares: BBR against loss-based flows, and CUBIC against Reno."""

import pandas as pd

from run_tables.queue_sizes import queue_bdp
from tcp_models.share_models import bbr_share, cubic_times_s
from topics.fairness.flow_shares import PLACE
from topics.fairness.pair_shares import mixes_of, pair_row, replication_balances
from topics.fairness.tables import SHARE_THEORY
from wording.number_format import is_missing

#: A measured share agrees with a modelled share if they differ by at most this amount.
MARGIN = 0.05
BBR_MODEL, CUBIC_MODEL = "BBR's window", "Reno-friendly region"


def models_of_scenario(scenario, rtt_ms) -> dict[tuple[str, str], dict]:
    """Return the models' predictions for a scenario in which both flows have the same base RTT.

    ``scenario`` is a row of ``tidy/scenarios.csv`` with ``packet_bytes`` and ``queue_bytes`` of the scenario's runs. Returns a dict:
    (row CCA, column CCA) -> columns of `SHARE_THEORY`. The dict is empty unless the models apply: two flows that nothing but
    the path limits, a known drop-tail queue at a router, a constant rate without a policer, and no random loss.
    """
    rate, lossless = scenario["rate_mbps"], scenario["loss_forward_percent"] == scenario["loss_reverse_percent"] == 0
    bdps, packet_bytes = (queue_bdp(scenario["queue"], scenario["queue_bytes"], rate, rtt_ms), scenario["packet_bytes"])
    if (
        is_missing(rate)
        or not scenario["capacity_least_mbps"] == scenario["capacity_most_mbps"] == rate
        or bdps is None
        or is_missing(packet_bytes)
        or not lossless
        or scenario["flows"] != 2
        or rtt_ms <= 0
        or scenario["discipline"] != "drop-tail"
        or (scenario["topology"], scenario["netem"]) != ("dumbbell", "receiving-side")
        or not is_missing(scenario["bitrate_mbps"])
        or scenario["groups"]
    ):
        return {}
    packets_s, rtt_s = rate * 1e6 / 8 / packet_bytes, rtt_ms / 1000
    queue = bdps * packets_s * rtt_s
    sizes = {"buffer_bdp": bdps, "queue_packets": queue}
    share = bbr_share(packets_s, rtt_s, queue)
    of_bbr = sizes | {"model": BBR_MODEL, "predicted": share, "expected": f"{share:.2f}"}
    # Each flow owns half of the packets on the path and in the full queue, and each packet waits behind a full queue.
    reno_s, cubic_s = cubic_times_s((packets_s * rtt_s + queue) / 2, rtt_s + queue / packets_s)
    friendly = reno_s <= cubic_s
    of_cubic = sizes | {
        "model": CUBIC_MODEL, "reno_s": reno_s, "cubic_s": cubic_s, "predicted": 0.5 if friendly else None,
        "expected": "0.50" if friendly else "above 0.50",
    }  # fmt: skip
    return {("bbr", "reno"): of_bbr, ("bbr", "cubic"): of_bbr, ("cubic", "reno"): of_cubic}


def _agreement(row):
    """Return the `agreement` of a row's interval with the expected share; "" if it can't be judged.

    If the runs repeat one measurement, there is no interval, but the share is known exactly. A single run isn't judged.
    """
    low, high = row["share_low"], row["share_high"]
    if is_missing(low):
        if row["replications"] < 2 or row["share_max"] - row["share_min"] > MARGIN / 2:
            return ""
        low, high = row["share_min"], row["share_max"]
    return agreement(low, high, row["predicted"])


def agreement(low, high, predicted) -> str:
    """Return "yes" if the entire interval agrees with the prediction, "no" if no part of the interval does, and "" otherwise.

    A share agrees if it is within `MARGIN` of the predicted share or, if no share is predicted, above one half.
    """
    least, most = (0.5, 1.0) if is_missing(predicted) else (predicted - MARGIN, predicted + MARGIN)
    if least < low and high <= most:
        return "yes"
    return "no" if high <= least or low > most else ""


def compare_with_theory(pairs, scenarios, queues, params) -> pd.DataFrame:
    """Return `SHARE_THEORY`: measured shares and the models' predictions.

    The parameters are the same as in `compare_factors.compare_levels`.
    """
    rows, conditions = [], {row["scenario"]: row for row in scenarios.to_dict("records")}
    sizes = queues.to_dict("index")
    for (name, ip_version), of_place in pairs.runs.groupby(PLACE, sort=False):
        if not pairs.alike[name]:
            continue
        mixes = mixes_of(of_place)
        scenario = conditions[name] | sizes[name, ip_version]
        models = models_of_scenario(scenario, of_place["first_rtt_path_ms"].iloc[0])
        for (row_cca, column_cca), modelled in models.items():
            values = replication_balances(mixes, row_cca, column_cca, True)
            if values.empty:
                continue
            row = {
                "scenario": name, "scenario_label": of_place["scenario_label"].iloc[0], "ip_version": ip_version,
                "row_cca": row_cca, "column_cca": column_cca, **modelled, **pair_row(values, 2, params),
            }  # fmt: skip
            row["off"] = None if row["predicted"] is None or row["share"] is None else row["share"] - row["predicted"]
            rows.append(row | {"agrees": _agreement(row)})
    return pd.DataFrame(rows, columns=SHARE_THEORY.names).sort_values("model", kind="stable")
