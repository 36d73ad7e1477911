"""The check of losses in bursts, by a bound on their number."""

import math

from experiment.loss_bursts import chances
from testbed.checks.check import Check

#: Tilts of Chernoff's bound that are tried, from the least to the largest, each so many times the one before.
LEAST_TILT, TILT_STEP, TILTS = 1e-6, 1.5, 45


def judge_bursty_loss(name, configured, burst_packets, dropped, offered, false_alarm) -> Check:
    """Return the `Check` of a share of packets lost in bursts against the configured one, a fraction.

    Chernoff's bound on the number that the two-state chain drops of so many packets: a smaller chance than `false_alarm` for
    so few or so many is a failure. Bursts make that number vary more than packets that are lost each on its own.
    """
    expected = f"{100 * configured:g} % in bursts of {burst_packets:g} packets"
    if offered == 0:
        return Check(name, False, expected, "no packet passed")
    p, r = chances(configured, burst_packets)
    ok = math.exp(_log_bound(p, r, dropped, offered)) >= false_alarm / 2
    observed = f"{dropped} of {offered} packets, {100 * dropped / offered:.4f} %"
    return Check(name, ok, expected, observed)


def _log_bound(p, r, dropped, offered):
    """Return the logarithm of Chernoff's bound on the chance of so few, or so many, lost packets: whichever tail it lies in."""
    sign = 1 if dropped > offered * p / (p + r) else -1
    tilts = (sign * LEAST_TILT * TILT_STEP**number for number in range(TILTS))
    return min(0.0, *(_log_generating(p, r, tilt, offered) - tilt * dropped for tilt in tilts if abs(tilt) < 50))


def _log_generating(p, r, tilt, packets):
    """Return ln E[exp(tilt x lost)] of a stationary chain over so many packets: its matrix's power, by squaring."""
    # From state (row) to state (column); a packet that finds the path bad is lost.
    weight = math.exp(tilt)
    matrix, scale = ((1 - p, p), (r * weight, (1 - r) * weight)), 0.0
    row, row_scale = (r / (p + r), p / (p + r)), 0.0
    while packets:
        if packets & 1:
            row = tuple(sum(row[i] * matrix[i][j] for i in range(2)) for j in range(2))
            largest = max(row)
            row, row_scale = tuple(value / largest for value in row), row_scale + scale + math.log(largest)
        matrix = tuple(tuple(sum(matrix[i][k] * matrix[k][j] for k in range(2)) for j in range(2)) for i in range(2))
        largest = max(map(max, matrix))
        matrix, scale = tuple(tuple(v / largest for v in line) for line in matrix), 2 * scale + math.log(largest)
        packets >>= 1
    return row_scale + math.log(sum(row))
