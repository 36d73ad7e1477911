"""Runs under a real clock: valid on a machine with time to spare, invalid on one without."""

import copy

import pytest

from testbed.checks.host_verification import CHECKS

IDLE = {"user": 0, "system": 0, "irq": 0, "softirq": 0, "steal": 0, "idle": 10}


def document(seconds=3, **late_ms):
    """Return the part of a run document that the checks read: two cores, half busy."""
    count = seconds * 10
    core = {part: [5 if part in ("system", "idle") else 0] * count for part in IDLE}
    return {
        "cpu": {
            "interval_ms": 100,
            "tick_ms": 10.0,
            "time_s": [0.1 * i for i in range(count + 1)],
            "cores": {"0": {"roles": ["senders"], **core}, "1": {"roles": ["receivers"], **copy.deepcopy(core)}},
            "late_ms": {"max": 1.0, "p99": 0.2} | late_ms,
        }
    }


def failed(document):
    return [check.name for check in (check(None, document) for check in CHECKS) if not check.ok]


def test_a_machine_with_time_to_spare_passes():
    assert failed(document()) == []


@pytest.mark.parametrize(("intervals", "expected"), [(range(10, 20), ["cpu_saturation"]), (range(12, 19), [])])
def test_a_core_that_is_busy_for_a_whole_second_fails(intervals, expected):
    run = document()
    for i in intervals:
        run["cpu"]["cores"]["1"]["idle"][i] = 0
    assert failed(run) == expected


def test_a_stolen_core_fails_and_is_named():
    run = document()
    run["cpu"]["cores"]["0"]["steal"] = [1] * 30
    (check,) = (check(None, run) for check in CHECKS[:1])
    assert not check.ok
    assert "core 0 (senders) up to 50.0 % busy, 10.0 % stolen" in check.observed


@pytest.mark.parametrize("late_ms", [{"max": 101.0}, {"p99": 11.0}])
def test_a_clock_that_ran_late_fails(late_ms):
    assert failed(document(**late_ms)) == ["clock"]
