"""The ranges of an exam's path parameters, and the effects that none of the exam's cases could have shown."""

import pandas as pd

from wording.number_format import plain, rounded

#: Time in s after a flow's start. Only the exam's long cases can show effects that begin later.
LONG_S = 60


def population_rows(runs: pd.DataFrame, scenarios: pd.DataFrame, study) -> list[dict[str, str]]:
    """Return one row for each path parameter: its name, its range in the runs, and the source of the range."""
    sources = study["exam"]["population"]
    return [
        {"name": name, "range": words, "source": sources.get(name, "")}
        for name, words in _ranges(runs, scenarios, study["scenarios"]).items()
        if words
    ]


def _ranges(runs, scenarios, of_study):
    tail_drop = scenarios.loc[scenarios["discipline"] == "drop-tail", "scenario"]
    return {
        "rates": _from_to(runs["rate_mbps"], "Mbit/s"),
        "RTTs": _from_to(runs["rtt_path_ms"], "ms"),
        "drop-tail queues": _from_to(runs.loc[runs["scenario"].isin(tail_drop), "queue_bdp"], "BDP")
        if "queue_bdp" in runs
        else "",
        "loss": _losses(scenarios, of_study),
        "kinds of queue": ", ".join(sorted(set(scenarios["discipline"]))),
        "IP versions": ", ".join({"ipv4": "IPv4", "ipv6": "IPv6"}[name] for name in sorted(set(runs["ip_version"]))),
        "durations": _from_to(runs["duration_s"], "s"),
    }


def _losses(scenarios, of_study):
    """Return the range of random loss in words; cases whose loss begins or changes during a run are counted separately."""
    largest = {
        scenario["id"]: max((entry["loss_percent"] or 0 for entry in scenario["link"]["timeline"] or ()), default=0)
        for scenario in of_study
    }
    changing = pd.Series({name: loss for name, loss in largest.items() if loss}, dtype=float)
    constant = scenarios[~scenarios["scenario"].isin(changing.index)]
    lossy = constant[constant["loss_forward_percent"] > 0]
    words = [f"none in {len(constant) - len(lossy)} of {len(scenarios)} cases"]
    if len(lossy):
        words.append(f"{_from_to(lossy['loss_forward_percent'], '%')} in {len(lossy)}")
    if len(changing):
        words.append(f"{_from_to(changing, '%')} for a part of the time in {len(changing)}")
    return ", ".join(words)


def _from_to(values, unit):
    known = values.dropna()
    if known.empty:
        return ""
    low, high = (rounded(one, 3) for one in (known.min(), known.max()))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def blind_spots(runs: pd.DataFrame, scenarios: pd.DataFrame) -> list[str]:
    """Return the effects that no case could have shown, judged by the cases' IP versions, durations, rates and RTTs."""
    spots = []
    versions = set(runs["ip_version"])
    if missing := [name for name in ("IPv4", "IPv6") if name.lower() not in versions]:
        spots.append(f"effects that occur only over {missing[0]}")
    longest = runs["duration_s"].max()
    spots.append(f"effects that begin more than {plain(longest)} s after a flow's start")
    long_ones = scenarios[scenarios["duration_s"] > LONG_S] if "duration_s" in scenarios else scenarios.iloc[:0]
    if len(long_ones) < len(scenarios):
        spots.append(f"in all but {len(long_ones)} of the {len(scenarios)} cases, effects that begin after {LONG_S} s")
    spots += [
        f"paths with rates other than {_from_to(runs['rate_mbps'], 'Mbit/s')}, or RTTs other than {_from_to(runs['rtt_path_ms'], 'ms')}",
        "more simultaneous flows than in these cases, receivers that don't run Linux, and hardware offloads",
    ]
    return spots
