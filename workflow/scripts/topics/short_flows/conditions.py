"""What scenarios are besides their groups of flows, in words."""

import pandas as pd

from wording.number_format import plain
from wording.scenario_words import rate_words


def conditions_of_scenarios(scenarios) -> pd.DataFrame:
    """Return ``scenario_label`` and ``conditions`` of each scenario, by its name: "20 Mbit/s, RTT 40 ms, drop-tail of 1 BDP"."""
    rows = {
        row["scenario"]: {"scenario_label": row["label"], "conditions": _words(row)}
        for row in scenarios.to_dict("records")
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _words(row):
    lossy = f", loss {plain(row['loss_forward_percent'])} %" if row["loss_forward_percent"] else ""
    return f"{rate_words(row['rate_mbps'])}, RTT {plain(row['rtt_path_ms'])} ms{lossy}, {row['discipline']}, {row['queue']}"
