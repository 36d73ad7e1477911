"""CPU times of the cores from recorded readings of /proc/stat, and the delay with which the reader woke."""

import json

import pytest

from testbed.readings.cpu import PARTS, parse, shares_of, summary

ROLES = {0: ["senders"], 1: ["receivers", "program"]}


@pytest.fixture
def readings(root):
    recorded = json.loads((root / "tests/data/proc-stat.json").read_text())
    return [(reading["due_ns"], reading["made_ns"], parse(reading["stat"])) for reading in recorded]


@pytest.fixture
def section(readings):
    return summary(readings, ROLES, origin_ns=0, interval_ms=100)


def test_only_the_lines_of_single_cores_are_read(readings):
    assert list(readings[0][2]) == ["0", "1"]
    # user, nice, system, idle, iowait, irq, softirq, steal: proc_stat(5).
    assert readings[0][2]["0"] == [1870012, 257022, 926095, 1503980, 7747, 0, 7852, 4499]


def test_each_interval_has_the_ticks_of_every_part(readings, section):
    assert len(section["time_s"]) == len(readings) == 23
    for core in ("0", "1"):
        assert set(section["cores"][core]) == {"roles", *PARTS}
        assert {len(section["cores"][core][part]) for part in PARTS} == {22}
        first, last = readings[0][2][core], readings[-1][2][core]
        assert sum(sum(section["cores"][core][part]) for part in PARTS) == sum(last) - sum(first)


def test_a_core_that_a_loop_kept_busy_is_seen_so(section):
    busy = shares_of(section, "1", "busy", window_s=1.0)
    assert len(busy) == 13
    assert busy[-1] > 0.98
    # The ticks are whole, so a second of them may be one too many or too few.
    assert max(busy) <= 1.0
    (steal,) = shares_of(section, "1", "steal")
    assert steal == pytest.approx(sum(section["cores"]["1"]["steal"]) * 0.01 / 2.2, rel=0.01)


def test_a_time_shorter_than_the_window_is_one_window(section):
    assert len(shares_of(section, "1", "busy", window_s=60.0)) == 1


def test_lateness_is_that_of_the_wake_ups():
    ticks = {"0": [0] * 8}
    readings = [(i * 10**8, i * 10**8 + (7_000_000 if i == 50 else 100_000), ticks) for i in range(200)]
    late = summary(readings, {0: ["senders"]}, origin_ns=0, interval_ms=100)["late_ms"]
    assert late == {"max": 7.0, "p99": 0.1}


def test_what_was_before_the_traffic_is_left_out_but_for_the_last_reading():
    ticks = [{"0": [0, 0, n, 10 * n, 0, 0, 0, 0]} for n in range(6)]
    readings = [
        (None, 0, ticks[0]),
        *((10**8 * n, 10**8 * n, ticks[n]) for n in range(1, 5)),
        (None, 45 * 10**7, ticks[5]),
    ]
    section = summary(readings, {0: ["senders"]}, origin_ns=25 * 10**7, interval_ms=100)
    assert section["time_s"] == pytest.approx([-0.05, 0.05, 0.15, 0.2])
    assert section["cores"]["0"]["system"] == [1, 1, 1]
    # Neither the first nor the last reading was due at a time.
    assert section["late_ms"] == {"max": 0.0, "p99": 0.0}
