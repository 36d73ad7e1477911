"""Conclusions that changed: turned, lost and won are distinguished, and counted against the unchanged scenario."""

import math

import pandas as pd

from topics.sensitivity.conclusions import cca_conclusions, compared, ip_conclusions, sensitivity
from topics.sensitivity.section import sensitivity_sentence
from topics.sensitivity.tables import OF_CCAS, SENSITIVITY


def ip_row(scenario, verdict, effect, equivalent="no", cca="reno", metric="goodput_mbps", pairs=6):
    return {
        "scenario": scenario, "cca": cca, "metric": metric, "verdict": verdict, "equivalent": equivalent, "effect": effect,
        "pairs": pairs,
    }  # fmt: skip


def pair_row(scenario, p, effect, metric="goodput_mbps"):
    return {
        "scenario": scenario, "cca_a": "reno", "cca_b": "cubic", "ip_version": "ipv4", "metric": metric, "p_holm": p,
        "effect": effect, "pairs": 6,
    }  # fmt: skip


def test_verdicts_are_conclusions():
    table = pd.DataFrame(
        [
            ip_row("a.as-is", "differs, beyond the margin", 7), ip_row("a.as-is", "differs, within the margin", -1, "yes"),
            ip_row("a.as-is", "equivalent", -1, "yes"), ip_row("a.as-is", "undecided", -1), ip_row("a.as-is", "no test", math.nan, pairs=0),
        ]
    )  # fmt: skip
    assert ip_conclusions(table)["conclusion"].tolist() == ["higher", "lower", "equivalent", "open", "open"]
    pairs = pd.DataFrame(
        [pair_row("a", 0.01, 3), pair_row("a", 0.01, -3), pair_row("a", 0.2, 3), pair_row("a", math.nan, 3)]
    )
    assert cca_conclusions(pairs, 0.05)["conclusion"].tolist() == ["higher", "lower", "open", "open"]


def test_each_move_is_counted_as_what_it_is():
    metrics = ("goodput_mbps", "rtt_mean_ms", "loss_percent", "retransmits")
    before = [(0.01, 10.0), (0.01, 5.0), (0.5, 1.0), (0.01, 2.0)]
    after = [(0.01, -4.0), (0.5, 5.0), (0.01, 1.0), (0.01, 2.0)]
    rows = [
        pair_row(f"net.10ms.{name}", p, effect, metric)
        for name, values in (("as-is", before), ("rtt-up", after), ("again", before))
        for metric, (p, effect) in zip(metrics, values, strict=True)
    ]
    again, moved = compared(cca_conclusions(pd.DataFrame(rows), 0.05), OF_CCAS)
    assert moved["scenario"] == "net.10ms" and moved["perturbation"] == "rtt-up"
    counts = {name: moved[name] for name in ("conclusions", "shown", "same", "turned", "lost", "won")}
    assert counts == {"conclusions": 4, "shown": 3, "same": 1, "turned": 1, "lost": 1, "won": 1}
    assert moved["largest_shift"] == 14
    assert moved["moved"] == (
        "reno against cubic over IPv4, goodput_mbps: higher -> lower; "
        "reno against cubic over IPv4, rtt_mean_ms: higher -> open; "
        "reno against cubic over IPv4, loss_percent: open -> higher"
    )
    assert again["same"] == 4 and again["moved"] == ""


def test_the_sentence_names_what_turned_and_what_chance_moves():
    rows = [
        pair_row(f"a.{name}", p, effect)
        for name, p, effect in (("as-is", 0.01, 1), ("again", 0.4, 1), ("rtt-up", 0.01, 1), ("offload", 0.01, -1))
    ]
    table = sensitivity(None, pd.DataFrame(rows), 0.05)
    assert list(table.columns) == SENSITIVITY.names
    text = sensitivity_sentence(table)
    assert text == (
        "Conclusions were reversed under segmentation offload the other way (1 conclusion); on average over 2 perturbations, "
        "0 % were lost or gained; with only the seeds changed, 100 % were lost or gained."
    )
    quiet = sensitivity_sentence(table[table["perturbation"] == "rtt-up"])
    assert quiet.startswith("No conclusion was reversed under any perturbation")


def test_without_a_scenario_as_it_is_nothing_is_compared():
    table = sensitivity(None, pd.DataFrame([pair_row("a.rtt-up", 0.01, 1)]), 0.05)
    assert table.empty
    assert sensitivity_sentence(table) == "No scenario could be run both unchanged and perturbed."


def test_a_perturbation_without_a_valid_run_moves_nothing_and_says_so():
    rows = [pair_row("a.as-is", 0.01, 1), pair_row("a.offload", math.nan, math.nan) | {"pairs": 0}]
    (row,) = compared(cca_conclusions(pd.DataFrame(rows), 0.05), OF_CCAS)
    assert [row[name] for name in ("conclusions", "same", "turned", "lost", "won")] == [0] * 5
    assert row["moved"] == "no valid run to compare with"
