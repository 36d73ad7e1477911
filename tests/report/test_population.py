"""The page names the population that its intervals describe, and the drawn conditions."""

import pandas as pd
import pytest

from report_page.method import draws, population


def scenarios(*variations, background="none", platform="uml", loss=1):
    rows = [
        {
            "scenario": name,
            "label": name,
            "variation": variation,
            "background": background,
            "platform": platform,
            "loss_forward_percent": loss,
            "loss_reverse_percent": 0,
        }
        for name, variation in zip("abc", variations, strict=False)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (scenarios("", ""), "to the exact path of each scenario: replications differ only in random events, such as losses and start times of flows. They say nothing about similar paths."),
        (scenarios("", "", loss=0), "replications differ only in random events, such as start times of flows"),
        (scenarios("", background="server"), "replications differ only in random events, such as losses, start times of flows and background messages"),
        (scenarios("", platform="host"), "replications differ only in random events, such as losses, start times of flows and noise of the machine"),
        (scenarios("RTT ±1 %", "RTT ±1 %"), "apply to paths like the one that the scenario describes: each replication has its own path"),
        (scenarios("RTT ±1 %", ""), "apply, in scenario a, to paths like the one that the scenario describes"),
    ],
)  # fmt: skip
def test_the_population_is_named(table, sentence):
    text = population(table)
    assert sentence in text
    assert text.startswith("The intervals and tests of this study apply") and text.endswith(".")


def test_what_was_drawn_is_told_by_replication():
    runs = pd.DataFrame(
        {
            "scenario": ["a"] * 4 + ["b"] * 2, "replication": [1, 1, 2, 2, 1, 2], "rtt_path_ms": [19.8] * 2 + [20.3] * 2 + [5, 5],
            "rate_mbps": [10.01] * 2 + [9.99] * 2 + [1, 1], "queue_packets": [33, 34, 33, 34, 1, 1],
            "background": ["server"] * 2 + ["none"] * 4,
        }
    )  # fmt: skip
    (row,) = draws(runs, scenarios("RTT ±2 %", ""))
    assert row == {
        "scenario": "a", "asked": "RTT ±2 %", "rtt": "19.8 to 20.3 ms", "rate": "9.99 to 10.01 Mbit/s",
        "queue": "33 to 34 packets", "background": "1 of 2",
    }  # fmt: skip
    assert draws(runs, scenarios("", "")) == []
