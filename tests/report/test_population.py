"""The page says of which population its intervals speak, and what was drawn."""

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
        (scenarios("", ""), "of one exact path: a replication has losses and starts of its own, and nothing else of it is different. Of paths like it they say nothing."),
        (scenarios("", "", loss=0), "a replication has starts of its own, and nothing else"),
        (scenarios("", background="server"), "losses, starts and background messages of its own"),
        (scenarios("", platform="host"), "losses, starts and noise of the machine of its own"),
        (scenarios("RTT ±1 %", "RTT ±1 %"), "speak of paths like the one that the scenario names: each replication has a path of its own"),
        (scenarios("RTT ±1 %", ""), "speak, in a, of paths like the one that the scenario names"),
    ],
)  # fmt: skip
def test_the_population_is_named(table, sentence):
    text = population(table)
    assert sentence in text
    assert text.startswith("The intervals and tests of this study speak") and text.endswith(".")


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
