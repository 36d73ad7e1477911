"""Results folders of small studies and exams with known goodputs, as `make compare` reads them."""

import copy

import numpy as np
import pandas as pd

import claim_runs
from session.comparable_results import Results
from study_files import study as studies

CONFIG = {
    "study": "base", "replications": 8, "ccas": ["reno", "mine"], "ip_versions": ["ipv4"],
    "cca_definitions": {"mine": {"base": "cubic", "parameters": {"hystart": 0}}},
    "scenarios": [{"id": "10ms", "link": {"rate_mbps": 10, "delay_ms": 10}}],
}  # fmt: skip


RENO = np.linspace(8.0, 8.7, 8)


NOISE = np.array([0.05, -0.1, 0.02, 0.08, -0.04, 0.01, -0.06, 0.04])


def results(folder="results/a", cubic=RENO, seeds=0, reno=RENO, **changes):
    study = studies.resolve(copy.deepcopy(CONFIG) | changes, "base.yaml")
    of = dict(zip(study["ccas"], (reno, cubic), strict=True))
    options = {"delays_ms": (10,), "ccas": study["ccas"], "ip_versions": ("ipv4",)}
    runs = claim_runs.table(lambda scenario, cca, ip_version: of[cca], **options)
    runs["seed"], runs["excluded_by"] = runs["replication"] + seeds, ""
    for constant in ("rtt_mean_ms", "loss_percent", "retransmits"):
        runs[constant] = 20.0
    return Results(folder, study, runs)


def goodput_of(table, cca="mine"):
    return table[(table["measure"] == "Goodput") & (table["cca"] == cca)].iloc[0]


SCORE = {
    "rfc_section": "5.1.2", "criterion": "short queues", "scenario": "10ms", "measure": "queueing_p95_ms", "unit": "ms",
    "better": "lower", "margin": 2.0, "limit": np.nan, "verdict": "like",
}  # fmt: skip


def exam(folder="results/a", values=RENO, cca="mine", **score):
    first = results(folder)
    study = first.study | {"exam": {"cca": cca, "margins": {"index": 0.05}}}
    runs = first.runs[first.runs["cca"] == cca]
    table = runs[["scenario", "cca", "ip_version", "replication"]].assign(measure="queueing_p95_ms", value=values)
    return Results(folder, study, first.runs, pd.DataFrame([SCORE | score]), table)


def both_ip_versions(folder):
    made = results(folder, ip_versions=["ipv4", "ipv6"])
    return Results(folder, made.study, pd.concat([made.runs, made.runs.assign(ip_version="ipv6")], ignore_index=True))
