"""The names of CCAs, places and numbers in sentences."""

import pytest

import tidy_tables
from wording import scenario_words, sentence_words

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))
LOSSY, CLEAN = list(SCENARIOS["scenario"][:2]), list(SCENARIOS["scenario"][2:])


@pytest.mark.parametrize(
    "kernel, reader",
    [("bbr", "BBR"), ("reno", "Reno"), ("htcp", "H-TCP"), ("cubic+vegas", "CUBIC+Vegas"), ("bbr3", "bbr3")],
)
def test_ccas_are_named_as_readers_write_them(kernel, reader):
    assert sentence_words.cca_name(kernel) == reader


def test_a_place_is_named_with_its_conditions():
    row = {"scenario": LOSSY[1], "ip_version": "ipv6"}
    named = SCENARIOS.assign(label=[str(number) for number in range(1, 5)])
    assert sentence_words.place_words(row, named) == "scenario 2 over IPv6 (RTT 100 ms, 1 % loss)"
    assert sentence_words.place_words(row, named, one_ip_version=True) == "scenario 2 (RTT 100 ms, 1 % loss)"
    one = named[named["scenario"] == row["scenario"]]
    assert sentence_words.place_words(row, one) == "scenario 2 over IPv6"


@pytest.mark.parametrize(
    "value, shown",
    [(21.618, "21.6"), (0.8722, "0.872"), (348.72, "349"), (20.0, "20"), (8756.8, "8,757"), (0, "0"),
     (0.00001234, "0.000012"), (999.6, "1,000"), (-5000.4, "-5,000")],
)  # fmt: skip
def test_numbers_in_sentences_have_three_digits(value, shown):
    assert sentence_words.short(value) == shown


@pytest.mark.parametrize("label, shown", [("7", "Scenario 7"), ("pie, 4, ECN", "pie, 4, ECN"), ("100", "100")])
def test_a_heading_is_the_label_and_a_number_is_told(label, shown):
    assert scenario_words.heading({"label": label, "scenario": "100"}) == shown
