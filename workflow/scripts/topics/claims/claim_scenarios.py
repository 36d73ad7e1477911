"""Find a paper's scenarios among a study's scenarios by their conditions."""

import math

from run_tables.conditions_at_centre import runs_at_centre

#: Conditions by which a claims file describes a scenario: numbers, and texts. Only a study's expectations may use `scenario`, which is the
#: scenario's id.
NUMBERS = (
    "rate_mbps", "delay_ms", "rtt_path_ms", "loss_configured_percent", "flows", "pairs", "queue_packets", "queue_bytes",
    "queue_bdp", "message_bytes", "segment_bytes", "paths",
)  # fmt: skip
TEXTS = (
    "scenario", "platform", "topology", "background", "application", "protocol", "multipath", "tunnel_ip_version", "distribution",
    "discipline",
)  # fmt: skip
#: Conditions that only `tidy/scenarios.csv` contains.
OF_SCENARIOS = ("segment_bytes", "distribution", "discipline")


def scenario_conditions(runs, scenarios=None) -> list[dict]:
    """Return the conditions of the scenarios in `tidy/runs.csv`.

    Each dict contains ``scenario``, ``scenario_label``, and the known conditions among `NUMBERS` and `TEXTS`. ``queue_bytes`` is
    the queue limit if the scenario sets it in bytes. Without ``scenarios`` (``tidy/scenarios.csv``), ``queue_bytes`` and the conditions in
    `OF_SCENARIOS` are unknown.
    """
    if scenarios is not None:
        runs = runs_at_centre(runs, scenarios)
    rows = runs.drop_duplicates("scenario").copy()
    queues = {} if scenarios is None else dict(zip(scenarios["scenario"], scenarios["queue"], strict=True))
    rows["queue_bytes"] = [_bytes_of(queues.get(name, "")) for name in rows["scenario"]]
    rows["queue_bdp"] = rows["scenario"].map(runs.groupby("scenario")["queue_bdp"].first())
    if scenarios is not None:
        for name in OF_SCENARIOS:
            rows[name] = rows["scenario"].map(dict(zip(scenarios["scenario"], scenarios[name], strict=True)))
    return rows.to_dict("records")


def _bytes_of(queue):
    amount, _, unit = str(queue).partition(" ")
    return float(amount) if unit == "bytes" else math.nan


def match_scenarios(known, scenarios) -> tuple[dict[str, str], dict[str, str]]:
    """Find the scenarios of a claims file among a study's scenarios (``known``, from `scenario_conditions`).

    Returns two dicts with the paper's scenario numbers as keys. The first dict gives the matching scenario of the study. The second dict
    gives, for each scenario without a match, the reason as a sentence.
    """
    matches, missing = {}, {}
    for scenario in scenarios:
        number = scenario["id"]
        conditions = [(key, allowed) for key, allowed in scenario.items() if key in NUMBERS + TEXTS]
        matching = [row for row in known if all(_is_among(row.get(key), allowed) for key, allowed in conditions)]
        if len(matching) > 1:
            matching = [row for row in matching if row["scenario_label"] == number] or matching
        if not matching:
            missing[number] = f"no scenario of this study has the conditions of scenario {number}"
        elif len(matching) > 1:
            names = ", ".join(row["scenario"] for row in matching)
            missing[number] = (
                f"{names} all have the conditions of scenario {number}, and none of them is labelled {number}"
            )
        else:
            matches[number] = matching[0]["scenario"]
    return matches, missing


def _is_among(value, allowed):
    if isinstance(value, str):
        return value in allowed
    if value is None or math.isnan(value):
        return not isinstance(allowed, dict) and None in allowed
    if isinstance(allowed, dict):
        return allowed.get("at_least", -math.inf) <= value <= allowed.get("at_most", math.inf)
    return any(item is not None and value == item for item in allowed)
