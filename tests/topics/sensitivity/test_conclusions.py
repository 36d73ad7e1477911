"""Conclusions that changed: turned, lost and won are distinguished, and counted against the unchanged scenario."""

import math

import pandas as pd
import pytest

from study_files.perturbed_study import WORDS
from topics.sensitivity.conclusions import cca_conclusions, compared, ip_conclusions, sensitivity
from topics.sensitivity.section import sensitivity_sentence
from topics.sensitivity.tables import OF_CCAS, SENSITIVITY


def ip_row(scenario, verdict, effect, equivalent="no", cca="reno", metric="goodput_mbps", pairs=6, p=0.5):
    return {
        "scenario": scenario, "cca": cca, "metric": metric, "verdict": verdict, "equivalent": equivalent, "effect": effect,
        "pairs": pairs, "p": p,
    }  # fmt: skip


def pair_row(scenario, p, effect, metric="goodput_mbps"):
    return {
        "scenario": scenario, "cca_a": "reno", "cca_b": "cubic", "ip_version": "ipv4", "metric": metric, "p": p,
        "effect": effect, "pairs": 6,
    }  # fmt: skip


def test_verdicts_are_conclusions():
    table = pd.DataFrame(
        [
            ip_row("a.as-is", "differs, beyond the margin", 7), ip_row("a.as-is", "differs, within the margin", -1, "yes"),
            ip_row("a.as-is", "equivalent", -1, "yes"), ip_row("a.as-is", "undecided", -1), ip_row("a.as-is", "no test", math.nan, pairs=0),
            ip_row("a.as-is", "undecided", -1, p=0.03),
        ]
    )  # fmt: skip
    assert ip_conclusions(table, 0.05)["conclusion"].tolist() == [
        "higher",
        "equivalent",
        "equivalent",
        "open",
        "open",
        "lower",
    ]
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


VERDICTS = {
    "beyond": ("differs, beyond the margin", "no"), "perhaps": ("differs, perhaps beyond the margin", "no"),
    "within": ("differs, within the margin", "yes"), "equivalent": ("equivalent", "yes"),
    "one beyond": ("one measurement, beyond the margin", ""), "one within": ("one measurement, within the margin", ""),
    "open": ("undecided", "no"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "counted"),
    [
        (("within", -1), ("equivalent", -1), "same"), (("perhaps", 4), ("equivalent", 1), "lost"),
        (("equivalent", 1), ("perhaps", 4), "lost"), (("beyond", 9), ("equivalent", 1), "turned"),
        (("one within", 1), ("one beyond", 9), "turned"), (("one beyond", 9), ("one beyond", -9), "turned"),
        (("perhaps", 9), ("perhaps", -9), "turned"), (("one beyond", 9), ("beyond", 9), "same"),
        (("open", 1), ("one beyond", 9), "won"), (("one beyond", 9), ("open", 1), "lost"),
    ],
)  # fmt: skip
def test_only_a_contradiction_reverses_a_conclusion(before, after, counted):
    rows = [
        ip_row(f"a.{name}", VERDICTS[verdict][0], effect, VERDICTS[verdict][1])
        for name, (verdict, effect) in (("as-is", before), ("rtt-up", after))
    ]
    (row,) = sensitivity(pd.DataFrame(rows), None, 0.05).to_dict("records")
    kinds = ("same", "turned", "lost", "won")
    assert {name: row[name] for name in kinds} == {name: int(name == counted) for name in kinds}


def test_the_sentence_does_not_claim_that_conclusions_stand_where_there_are_none():
    def sentence_of(verdict, after, pairs=3):
        rows = [ip_row(f"a.{name}", verdict, 1.0, pairs=pairs) for name in ("as-is", "again")]
        rows.append(ip_row("a.rtt-up", verdict, -1.0, pairs=after))
        return sensitivity_sentence(sensitivity(pd.DataFrame(rows), None, 0.05))

    assert sentence_of("no test", 0, 0) == (
        "No conclusion could be compared, because no scenario has valid runs both unchanged and perturbed."
    )
    assert sentence_of("too few pairs", 3) == (
        "No comparison shows a result, whether unchanged or perturbed, so no conclusion could change."
    )
    assert sentence_of("differs, beyond the margin", 0).endswith(
        f"; nothing is known about {WORDS['rtt-up']}, because no scenario has valid runs to compare."
    )
