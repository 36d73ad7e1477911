"""Compare each run's readings with exact values: one row of `CALIBRATION` for each quantity at each point."""

import math
from collections.abc import Iterator

import pandas as pd

from run_tables.run_keys import CELL
from tcp_models.wire_theory import CLOCK_STEP_US, frame_bytes
from topics.calibration.exact_values import (
    MOST_SOLICITATIONS,
    SOLICITATION_BYTES,
    burst_bytes,
    echo_us,
    full_queue_bytes,
    longer_message_us,
    loss_error,
    round_trip_error_ms,
    shaper_known_ppm,
    spread_error_ms,
    spread_ms,
)
from topics.calibration.tables import CALIBRATION
from wording.number_format import is_missing, number, plain, rounded
from wording.scenario_words import rate_words

#: Quantities, in the order in which the table and the page show them.
QUANTITIES = ("rate", "delay", "serialisation", "loss", "queue", "jitter", "burst")
#: Resolution of ping, which records the times of a request and its reply in whole us.
ECHO_STEP_US = 1
#: Shortest time, in us, that ping can measure to within 1 %, given its resolution of 1 us.
LEAST_ECHO_US = 100
#: Limit on the standardised error of a random quantity. With an accurate instrument, 1 of 1,000 values exceeds this limit.
Z_LIMIT = 3.29
#: A loss rate is compared only if at least this many losses are expected. With fewer, the number of losses isn't close to normal, and an
#: accurate instrument would exceed `Z_LIMIT` up to 10 times as often.
LEAST_LOSSES = 10
#: Samples show the full queue only if at most this many packets leave between two samples.
SLOW_PACKETS = 2
#: A burst can be measured only if the uncertainty of a sample, in packets, is at most this value.
COARSEST_BURST = 0.25


def calibration(readings: pd.DataFrame, scenarios: pd.DataFrame) -> pd.DataFrame:
    """Return `CALIBRATION`, sorted by quantity.

    ``readings`` is the table `READINGS`. Within a quantity, rows follow its order, except that rows for longer messages come last. Runs
    that failed a check are included, because an instrument must not select its own readings; the note names the check.
    """
    points = readings.merge(scenarios, on="scenario").to_dict("records")
    all_rows = [row for point in points for row in _rows_of_point(point)] + list(_longer_messages(points))
    rows = [_judged(row) for quantity in QUANTITIES for row in all_rows if row["quantity"] == quantity]
    return pd.DataFrame(rows, columns=CALIBRATION.names)


def _row(point, quantity, unit, set_to, expected, measured, *, what="", known_ppm=0.0, note="", **more):
    """Return a row without a verdict; ``more`` contains the uncertainty, or the standard error and the number of trials."""
    names = {name: point[name] for name in CELL} | {"scenario_label": point["label"]}
    if point["failed_checks"]:
        note += f"; the run failed the check {point['failed_checks']}"
    return {
        **names, "quantity": quantity, "what": what, "unit": unit, "point": set_to, "expected": expected,
        "measured": measured, "known_ppm": known_ppm, "note": note, **more,
    }  # fmt: skip


def _judged(row):
    """Add the error, the error in ppm and the verdict to a row; without a measured value, only the verdict is added."""
    if is_missing(row["measured"]):
        return row | {"verdict": "not measured"}
    expected, error = row["expected"], row["measured"] - row["expected"]
    # Sums of decimal fractions aren't exact in the last digit.
    last_digits = 1e-9 * abs(expected)
    row |= {"error": error if abs(error) > last_digits else 0.0}
    if expected:
        row["error_ppm"] = row["error"] / expected * 1e6
    if row.get("standard_error"):
        row["z"] = error / row["standard_error"]
        return row | {"verdict": "expected" if abs(row["z"]) <= Z_LIMIT else "off"}
    within = row.get("uncertainty", 0) + last_digits
    if expected:
        row["uncertainty_ppm"] = row["uncertainty"] / expected * 1e6
    if abs(error) <= within:
        return row | {"verdict": "exact"}
    explained = row["known_ppm"] and abs(error - row["known_ppm"] / 1e6 * expected) <= within
    return row | {"verdict": "explained" if explained else "off"}


def _rows_of_point(point) -> Iterator[dict]:
    yield from _rate(point)
    yield from _delay(point)
    yield from _loss(point)
    yield from _queue(point)
    yield from _jitter(point)
    yield from _burst(point)


def _frame(point):
    return frame_bytes(point["payload_bytes"], "tcp", point["ip_version"], point["frame_overhead_bytes"])


def _rate(point):
    """Yield the row for the bottleneck's rate, computed from the frames delivered between two readings.

    The rate counts as not measured if a sample found the queue empty or if segments were retransmitted. There is no row if the queue was
    not sampled or if it dropped packets.
    """
    # If the queue overflows, a packet may be sent twice but delivered once.
    if is_missing(point["queue_least_packets"]) or point["drops"]:
        return
    frame, rate = _frame(point), point["rate_mbps"]
    set_to = f"{rate_words(rate)}, frames of {plain(frame)} bytes"
    why = "the queue was empty at a sample" if not point["queue_least_packets"] else ""
    if point["retransmits"]:
        why = "segments were retransmitted"
    if why:
        yield _row(point, "rate", "Mbit/s", set_to, rate, math.nan, note=why)
        return
    packets, lasted_ns = point["delivered_bytes"] / point["payload_bytes"], point["end_ns"] - point["begin_ns"]
    # Share of other traffic's frames: half of its maximum, with an uncertainty of the same size.
    others = MOST_SOLICITATIONS / 2 * (SOLICITATION_BYTES + point["frame_overhead_bytes"]) / (packets * frame)
    yield _row(
        point, "rate", "Mbit/s", set_to, rate, packets * frame * 8e3 / lasted_ns,
        uncertainty=rate * (1 / packets + others), known_ppm=shaper_known_ppm(int(frame), rate) - 1e6 * others,
        note=f"one packet of {number(packets, 0)}, and up to {MOST_SOLICITATIONS} Router Solicitations",
    )  # fmt: skip


def _both(point, name):
    return point[f"{name}_forward_ms"] + point[f"{name}_reverse_ms"]


def _delay(point):
    """Yield the row for an echo request's round trip over the idle path.

    If the emulated cable adds no serialisation delay, the row compares the round-trip time with the configured delays. If it adds one, the
    row compares the round-trip time minus the configured delays with the expected serialisation delay, unless this delay is too short for
    ping. There is no row if delays are random, because there are too few requests.
    """
    if _both(point, "jitter"):
        return
    delays_ms, note = _both(point, "delay"), "ping's times are in whole µs"
    if point["serialisation"] == "never":
        set_to = f"{plain(point['delay_forward_ms'])} + {plain(point['delay_reverse_ms'])} ms"
        yield _row(point, "delay", "ms", set_to, delays_ms, point["echo_ms"], uncertainty=ECHO_STEP_US / 1e3, note=note)
        return
    on_wire_us = echo_us(point["rate_mbps"], point["ip_version"], point["frame_overhead_bytes"])
    if on_wire_us >= LEAST_ECHO_US:
        yield _row(
            point, "serialisation", "µs", f"{rate_words(point['rate_mbps'])}, an echo request", on_wire_us,
            1e3 * (point["echo_ms"] - delays_ms), what="echo", uncertainty=ECHO_STEP_US, note=note,
        )  # fmt: skip


def _longer_messages(points) -> Iterator[dict]:
    """Yield the rows for longer messages.

    A row compares the increase in round-trip time, relative to the shortest message on the same cable, with its exact value.
    """
    shortest = {}
    for point in sorted(points, key=lambda point: point["message_bytes"]):
        if is_missing(point["round_trip_us"]) or _both(point, "jitter"):
            continue
        cable = tuple(point[name] for name in ("rate_mbps", "frame_overhead_bytes", "protocol", "delay_forward_ms"))
        shorter = shortest.setdefault(cable, point)
        if shorter is point:
            continue
        sizes, rate = (shorter["message_bytes"], point["message_bytes"]), point["rate_mbps"]
        # In either run, the last exchange may be cut off.
        ends = sum(run["round_trip_us"] / run["exchanges"] for run in (shorter, point))
        yield _row(
            point, "serialisation", "µs", f"{rate_words(rate)}, messages of {' and '.join(map(plain, sizes))} bytes",
            longer_message_us(*sizes, rate), point["round_trip_us"] - shorter["round_trip_us"], what="longer message",
            uncertainty=ends + CLOCK_STEP_US, note="the last exchange of each run, and one step of the guest's clock",
        )  # fmt: skip


def _loss(point):
    """Yield the rows for the share of packets lost, one for each direction with loss."""
    for direction in ("forward", "reverse"):
        percent, offered = point[f"loss_{direction}_percent"], point[f"offered_{direction}"]
        if percent and offered:
            share, of_one = point[f"share_{direction}_percent"], point[f"of_one_{direction}"]
            how = (
                "each lost independently"
                if of_one == 1
                else f"{rounded(of_one, 3)} of which carry as much information as one packet with independent losses"
            )
            measured = 100 * point[f"lost_{direction}"] / offered
            if (expected := offered / of_one * share / 100) < LEAST_LOSSES:
                measured, how = (
                    math.nan,
                    f"{how}: fewer than {LEAST_LOSSES} losses are expected ({number(expected, 1)})",
                )
            yield _row(
                point, "loss", "%", f"{plain(percent)} %", share, measured, what=direction,
                standard_error=100 * loss_error(share / 100, offered, of_one), trials=offered,
                note=f"{number(offered, 0)} packets, {how}",
            )  # fmt: skip


def _queue(point):
    """Yield the rows for a queue that overflowed: its maximum length, and its length when drops began."""
    if is_missing(point["drops"]) or not point["drops"]:
        return
    frame = _frame(point) - point["frame_overhead_bytes"]
    if point["queue_packets"]:
        unit, limit = "packets", float(point["queue_packets"])
    else:
        unit, limit = "bytes", full_queue_bytes(float(point["queue"].split()[0]), frame)
    each = frame if unit == "bytes" else 1
    where = f"{point['queue']}, {rate_words(point['rate_mbps'])}"
    # Number of packets that may leave between two samples, plus one from the shaper's bucket.
    left = math.ceil(point["rate_mbps"] * point["sample_ms"] * 125 / frame) + 1
    longest = point[f"queue_most_{unit}"]
    # If packets leave slowly, samples show the full queue. If packets leave fast, the queue may be full only between samples, but no sample
    # may exceed the limit.
    missed = left * each if left > SLOW_PACKETS and longest < limit else 0.0
    yield _row(
        point, "queue", unit, where, limit, longest, what="longest", uncertainty=missed,
        note=f"up to {left} packets leave between two samples" if missed else "the longest of all samples",
    )  # fmt: skip
    if left < limit / each:
        yield _row(
            point, "queue", unit, where, limit, point[f"first_drop_{unit}"], what="first drop", uncertainty=left * each,
            note=f"up to {left} packets leave between drop and sample",
        )  # fmt: skip


def _jitter(point):
    """Yield the rows for jitter: the mean round-trip time, and the mean difference between two packets' delays in the data's direction."""
    forward = point["jitter_forward_ms"]
    delays = f"{plain(point['delay_forward_ms'])} ± {plain(forward)} ms"
    drawn_ms = _both(point, "drawn")
    if _both(point, "jitter") and not any(map(is_missing, (point["round_trip_us"], drawn_ms))):
        error_ms = round_trip_error_ms(point["deviation_forward_ms"], point["deviation_reverse_ms"], point["exchanges"])
        yield _row(
            point, "jitter", "ms", f"{delays}, both ways", _both(point, "delay") + drawn_ms, point["round_trip_us"] / 1e3,
            what="mean round trip", standard_error=error_ms, trials=point["exchanges"],
            note=f"{number(point['exchanges'], 0)} exchanges, delays drawn {'uniformly' if point['even'] else 'from a table'}",
        )  # fmt: skip
    if forward and point["even"] and not is_missing(point["spread_ms"]):
        yield _row(
            point, "jitter", "ms", f"{delays}, one way", spread_ms(forward), point["spread_ms"],
            what="difference of two delays", standard_error=spread_error_ms(forward, point["spread_seconds"]),
            trials=point["spread_seconds"], note="mean of the smoothed differences at the end of each second",
        )  # fmt: skip


def _burst(point):
    """Yield the row for the burst after idle time.

    The row's value is the number of bytes that had left after ``burst_ms``, minus the number that the rate allows in this time.
    """
    if is_missing(point["burst_packets"]):
        return
    frame, per_ms = _frame(point), 125 * point["rate_mbps"]
    uncertainty = per_ms * point["sample_ms"]
    if uncertainty > COARSEST_BURST * frame:
        return
    left = (point["burst_packets"] - 1) * frame - per_ms * point["burst_ms"]
    yield _row(
        point, "burst", "bytes", rate_words(point["rate_mbps"]), burst_bytes(point["ip_version"]), left,
        uncertainty=uncertainty, note=f"samples every {plain(point['sample_ms'])} ms",
    )  # fmt: skip
