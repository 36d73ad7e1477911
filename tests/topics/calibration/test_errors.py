"""Each quantity against its exact number: an exact instrument passes, one with a small error doesn't."""

import itertools
import math
import random

import numpy as np
import pytest

from calibration_points import points, scenario, tables
from experiment.loss_models import FourStates, GilbertElliott
from topics.calibration.errors import QUANTITIES, calibration
from topics.calibration.exact_values import loss_error, packets_of_one, shaper_time_ns, spread_error_ms, spread_ms


def judged(changes=(), **scenario_changes):
    """Return the rows of the exact instrument with changes: (scenario, reading, value)."""
    scenarios, readings = points()
    for name, key, value in changes:
        readings[name] = readings[name] | {key: value}
    for name, more in scenario_changes.items():
        scenarios[name] |= more
    return calibration(*tables(scenarios, readings))


def verdicts(table):
    """Return (scenario, quantity, what) -> verdict."""
    return {(row.scenario, row.quantity, row.what): row.verdict for row in table.itertuples()}


def test_an_exact_instrument_is_found_exact():
    table = judged()
    assert set(table["quantity"]) == set(QUANTITIES)
    of_quantities = verdicts(table)
    assert of_quantities.pop(("fast", "rate", "")) == "explained"
    random = {key: verdict for key, verdict in of_quantities.items() if key[1] in ("loss", "jitter")}
    assert len(random) == 4 and set(random.values()) == {"expected"}
    assert {verdict for key, verdict in of_quantities.items() if key not in random} == {"exact"}
    errors = table[table["scenario"] != "fast"]["error_ppm"].dropna().abs()
    assert errors.max() < 1e-3


def test_the_error_of_a_share_is_that_of_the_model_by_which_packets_are_lost():
    """Over 1,000 draws of a chain the shares vary as the fundamental matrix predicts, and its rows are judged by that."""
    draw = random.Random(2)
    for model in (
        GilbertElliott(0.02, 0.2),
        GilbertElliott(0.05, 0.1, 0.5, 0.02),
        FourStates(0.02, 0.3, 0.3, 0.4, 0.02),
    ):
        shares = [np.mean(list(itertools.islice(model.fates(lambda: draw.getrandbits(32)), 2_000))) for _ in range(600)]
        assert np.std(shares) == pytest.approx(loss_error(model.share, 2_000, packets_of_one(model)), rel=0.12)
    # 4 % more lost than set is off of single packets, and expected of bursts as long as 40.
    more = [("lossy", "lost_forward", 10_400)]
    assert verdicts(judged(more))[("lossy", "loss", "forward")] == "off"
    assert verdicts(judged([*more, ("lossy", "of_one_forward", 80.0)]))[("lossy", "loss", "forward")] == "expected"


def test_delays_from_a_table_are_not_held_against_the_formula_of_even_ones():
    left = judged([("spread", "even", False)])
    assert not [row for row in left.itertuples() if (row.scenario, row.quantity) == ("spread", "jitter")]
    moved = judged([("trips", "drawn_forward_ms", 1.0)])
    assert verdicts(moved)[("trips", "jitter", "mean round trip")] == "off"


@pytest.mark.parametrize(
    "where, scenario, reading, value",
    [
        # 1 % less delivered, and 30 ppm (three packets of 100,000).
        (("rate", "rate", ""), "rate", "delivered_bytes", 99_000 * 1448),
        (("rate", "rate", ""), "rate", "delivered_bytes", 99_997 * 1448),
        # What a shaper of exact frames would give, where whole nanoseconds are known.
        (("fast", "rate", ""), "fast", "end_ns", 600_000 * 1209),
        (("rate", "delay", ""), "rate", "echo_ms", 40.0021),
        (("fast", "delay", ""), "fast", "echo_ms", 0.0021),
        (("wire", "serialisation", "echo"), "wire", "echo_ms", 20 + 97.6 * 1.01),
        (("long", "serialisation", "longer message"), "long", "round_trip_us", 236.24 + 2.048),
        (("lossy", "loss", "forward"), "lossy", "lost_forward", 10_400),
        (("lossy", "loss", "reverse"), "lossy", "lost_reverse", 2_200),
        (("full", "queue", "longest"), "full", "queue_most_packets", 34),
        (("full", "queue", "longest"), "full", "queue_most_packets", 32),
        (("full", "queue", "first drop"), "full", "first_drop_packets", 30),
        (("full-bytes", "queue", "longest"), "full-bytes", "queue_most_bytes", 65 * 1514),
        (("full-bytes", "queue", "longest"), "full-bytes", "queue_most_bytes", 67 * 1514),
        (("spread", "jitter", "difference of two delays"), "spread", "spread_ms", 10 / 3 * 1.05),
        (("trips", "jitter", "mean round trip"), "trips", "round_trip_us", 40_400.0),
        # One packet more at once.
        (("full", "burst", ""), "full", "burst_packets", 4),
    ],
)
def test_an_instrument_that_is_off_is_found_out(where, scenario, reading, value):
    of_quantities = verdicts(judged([(scenario, reading, value)]))
    assert of_quantities.pop(where) == "off"
    assert "off" not in of_quantities.values()


def test_an_error_within_what_cannot_be_measured_is_none():
    table = judged([("rate", "delivered_bytes", 100_001 * 1448), ("rate", "echo_ms", 40.001)])
    rows = table[table["scenario"] == "rate"].set_index("quantity")
    assert list(rows.loc[["rate", "delay"], "verdict"]) == ["exact", "exact"]
    assert rows.loc["rate", "error_ppm"] == pytest.approx(10)
    # A packet, and one of two solicitations of 70 bytes.
    assert rows.loc["rate", "uncertainty_ppm"] == pytest.approx(10 + 1e6 * 70 / (100_001 * 1514), rel=1e-4)
    assert rows.loc["delay", "error_ppm"] == pytest.approx(25)


def test_a_queue_of_fast_packets_may_be_missed_but_never_exceeded():
    fast = {"rate_mbps": 1000, "queue": "200 packets", "queue_packets": "200"}
    for longest, verdict in ((200, "exact"), (196, "exact"), (201, "off"), (100, "off")):
        changes = [("full", "queue_most_packets", longest), ("full", "first_drop_packets", 190)]
        assert verdicts(judged(changes, full=fast))["full", "queue", "longest"] == verdict


def test_a_rate_is_not_measured_where_the_link_was_idle_or_segments_were_sent_twice():
    for key, value, note in (
        ("queue_least_packets", 0, "the queue was empty at a sample"),
        ("retransmits", 1, "segments were retransmitted"),
    ):
        (row,) = (
            row
            for row in judged([("rate", key, value)]).itertuples()
            if (row.scenario, row.quantity) == ("rate", "rate")
        )
        assert (row.verdict, row.note) == ("not measured", note) and math.isnan(row.measured)


def test_a_run_that_failed_a_check_is_measured_and_says_so():
    table = judged([("fast", "failed_checks", "goodput_ceiling")])
    notes = table.loc[table["scenario"] == "fast", "note"]
    assert len(notes) == 2 and notes.str.endswith("; the run failed the check goodput_ceiling").all()
    assert not table.loc[table["scenario"] != "fast", "note"].str.contains("failed").any()


def test_time_of_a_frame_is_rounded_down_as_in_the_kernel():
    # A factor of 32 bits is a little too small, so that what would be whole nanoseconds is one less.
    assert [shaper_time_ns(size, 10_000) for size in (1510, 1514, 1538)] == [1207, 1211, 1230]
    for rate in (0.01, 0.02, 0.1, 1, 10, 100, 1000):
        assert shaper_time_ns(1514, rate) == round(1514 * 8e3 / rate)


def test_standard_error_of_the_spread_is_that_of_drawn_delays():
    rng, jitter_ms, seconds, packets = np.random.default_rng(7), 5.0, 4000, 100
    delays = rng.uniform(20 - jitter_ms, 20 + jitter_ms, seconds * packets)
    smoothed, ends = spread_ms(jitter_ms), []
    for number, difference in enumerate(np.abs(np.diff(delays)), start=1):
        smoothed += (difference - smoothed) / 16
        if number % packets == 0:
            ends.append(smoothed)
    error = spread_error_ms(jitter_ms, len(ends))
    assert abs(np.mean(ends) - spread_ms(jitter_ms)) < 3.3 * error
    # The sample's standard deviation is uncertain by 1 / sqrt(2 n).
    assert np.std(ends, ddof=1) == pytest.approx(spread_error_ms(jitter_ms, 1), rel=4 / math.sqrt(2 * len(ends)))


def test_a_rate_of_few_losses_is_not_compared():
    """With 0.01 expected losses, an accurate instrument loses one packet in 1 of 100 runs: z is 9.9."""
    reading = {"echo_ms": 2.0, "offered_forward": 10_000, "lost_forward": 1}
    rare = scenario("rare", 100, 1.0, loss_forward_percent=0.0001)
    table = calibration(*tables({"rare": rare}, {"rare": reading}))
    (loss,) = table[table["quantity"] == "loss"].to_dict("records")
    assert loss["verdict"] == "not measured" and "fewer than 10 losses are expected (0.0)" in loss["note"]
