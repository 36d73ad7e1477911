"""Small tables of runs with given values, and claims about them, for the tests of claims."""

import copy
import json
from string import Template

import numpy as np
import pandas as pd
import pytest
import yaml

from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from tidy_tables import completed
from topics.claims import check_claims
from topics.claims import claims_file as claims
from topics.claims.claim_measures import SOURCES
from topics.claims.claim_quantities import FLOW_QUANTITIES, SERIES_QUANTITIES, STATES

QUANTITIES = (
    "throughput_per_stream_mbps", "rtt_first_stream_ms", "published_loss_percent", "retransmit_percent", "retransmits",
    "goodput_mbps", "rtt_mean_ms", "loss_percent",
)  # fmt: skip
CCAS = ["reno", "cubic", "bbr"]
#: Text of a claims file -> the loaded claims, because many cases use the same hundreds of claims.
_LOADED = {}


def table(values, delays_ms=(10, 50), ccas=CCAS, ip_versions=("ipv4", "ipv6")):
    """Return runs.csv, with the same values for each quantity and a scenario ("1", "2", ...) for each delay.

    Given scenario, CCA, IP version, `values` returns those of the replications; None is an invalid run.
    """
    rows = [
        {
            "scenario": f"{delay_ms}ms", "scenario_label": str(place), "cca": cca,
            "ip_version": ip_version, "replication": replication, "valid": value is not None,
            "rate_mbps": 1000.0, "delay_ms": float(delay_ms), "loss_configured_percent": 0.0,
            "flows": 1.0, "duration_s": 10.0, "mss_bytes": 1448.0 if ip_version == "ipv4" else 1428.0,
            **dict.fromkeys(QUANTITIES, 99.0 if value is None else float(value)),
        }
        for place, delay_ms in enumerate(delays_ms, start=1)
        for cca in ccas
        for ip_version in ip_versions
        for replication, value in enumerate(values(str(place), cca, ip_version), start=1)
    ]  # fmt: skip
    return completed(pd.DataFrame(rows), RUNS)


def content(*given, delays_ms=(10, 50)):
    """Return the content of a claims file: scenarios by delay, and claims completed with the keys that all claims need."""
    shared = {
        "section": "1", "statement": "Something.", "published": "some", "tolerance": "none",
        "quantity": "throughput_per_stream_mbps",
    }  # fmt: skip
    return {
        "paper": {"title": "A title", "authors": "An author"},
        "ccas": CCAS,
        "scenarios": [
            {"id": str(place), "rate_mbps": [1000, None], "delay_ms": delay, "loss_configured_percent": 0, "flows": 1}
            for place, delay in enumerate(delays_ms, start=1)
        ],
        "claims": [{"id": f"claim-{place}"} | shared | claim for place, claim in enumerate(given, start=1)],
    }


def written(path, what):
    """Write a claims file and return its path."""
    path.write_text(
        what if isinstance(what, str) else yaml.dump(what, Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8"
    )
    return path


def loaded(folder, *given, **options):
    """Return claims after writing, reading, validating and completing them, as in the workflow; equal files are loaded once per process."""
    what = content(*given, **options)
    text = json.dumps(what)
    if text not in _LOADED:
        _LOADED[text] = claims.load_claims(written(folder / "claims.yaml", what))
    return copy.deepcopy(_LOADED[text])


def check(folder, values, claim, **options):
    """Return the row of a claim about runs with these values."""
    file = loaded(folder, claim, **options)
    return check_claims.check_claims(table(values, **options), file, 0.95, 0.05).iloc[0]


def study_of(file, replications=3, looks=40, seed=3):
    """Return randomly drawn runs, flows, scenarios and a reader of sockets with everything that a claims file needs.

    Scenarios have the first value of each condition in the file, or the lowest.
    """
    rng = np.random.default_rng(seed)
    runs, flows, series = [], [], []
    for scenario in file["scenarios"]:
        row = _conditions(scenario)
        for cca in file["ccas"]:
            for replication in range(1, replications + 1):
                key = {"scenario": scenario["id"], "cca": cca, "ip_version": "ipv4", "replication": replication}
                names = (cca.split("+") * int(row["flows"]))[: int(row["flows"])]
                drawn = {name: rng.uniform(5, 50) for name in QUANTITIES} | {"jain_index": rng.uniform(0.5, 1)}
                runs.append(row | key | drawn | {"valid": True, "duration_s": 60.0, "scenario_label": scenario["id"]})
                for flow, name in enumerate(names):
                    whose = key | {"flow": flow, "flow_cca": name}
                    flows.append(whose | {column: rng.uniform(1, 9) for column in FLOW_QUANTITIES})
                    series.append(_looks(whose, looks, rng))
    series = pd.concat(series, ignore_index=True)

    def read(columns, scenarios):
        return series.loc[series["scenario"].isin(scenarios), list(columns)]

    table = completed(pd.DataFrame(runs), RUNS)
    scenarios = completed(table[["scenario", "queue"]].drop_duplicates("scenario"), SCENARIOS)
    return table, pd.DataFrame(flows), scenarios, read


def _conditions(scenario):
    first = {
        key: value.get("at_least", 0) if isinstance(value, dict) else value[0]
        for key, value in scenario.items()
        if key != "id"
    }
    row = {"rate_mbps": 100.0, "delay_ms": 10.0, "rtt_path_ms": 20.0}
    row |= {"loss_configured_percent": 0.0, "flows": 1, "pairs": 1}
    row |= {key: value for key, value in first.items() if key not in ("queue_bytes", "queue_bdp")}
    row |= {"mss_bytes": 1448.0, "queue_packets": np.nan, "queue": "100 packets"}
    size = row["rate_mbps"] * row["rtt_path_ms"] * 125
    bytes_ = first.get("queue_bytes", first.get("queue_bdp", 1) * size * 1.0001)
    return row | {"queue": f"{bytes_} bytes", "queue_bytes": bytes_, "queue_bdp": bytes_ / size}


def _looks(whose, looks, rng):
    columns = {name: rng.uniform(1, 50, looks) for name in SERIES_QUANTITIES if name not in (*STATES, *SOURCES)}
    columns |= {"bytes_acked": np.cumsum(rng.uniform(1e4, 1e5, looks)), "ssthresh_packets": rng.uniform(1, 50, looks)}
    columns |= {"state": rng.choice(["open", "recovery", "loss"], looks), "time_s": np.linspace(0.5, 60, looks)}
    return pd.DataFrame(whose | columns)


def mistakes(text, **words):
    """Return one parameter set for every two lines of a text: the change, in YAML, and the message.

    $NAME in a line is replaced by the argument of that name.
    """
    lines = Template(text).substitute(words).strip().split("\n")
    pairs = zip(lines[::2], map(str.strip, lines[1::2]), strict=True)
    return [pytest.param(yaml.safe_load(change), message, id=message[:60]) for change, message in pairs]


def problem(folder, what):
    """Return the message of a broken claims file, without the file's name."""
    path = written(folder / "claims.yaml", what)
    with pytest.raises(claims.ClaimsError) as error:
        claims.load_claims(path)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")
