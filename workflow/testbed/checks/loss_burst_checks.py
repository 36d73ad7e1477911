"""The check of random losses in bursts, which uses a bound on the probability of the number of losses."""

import math

from testbed.checks.check import Check

#: Tilts of the Chernoff bound that are tried: the smallest tilt, the ratio of successive tilts, and the number of tilts.
LEAST_TILT, TILT_STEP, TILTS = 1e-6, 1.5, 45


def judge_bursty_loss(name, model, dropped, offered, false_alarm) -> Check:
    """Return the `Check` that compares the number of dropped packets with a `LossModel`.

    The Chernoff bound limits the probability of a number at least as extreme as the observed number. The check fails if the bound is below
    half of ``false_alarm``. The bound takes the model's Markov chain into account, because the number of losses varies more if they occur
    in bursts than if they are independent.
    """
    expected = f"{100 * model.share:.6g} % in bursts of {model.burst_packets:.6g} packets on average"
    if offered == 0:
        return Check(name, False, expected, "no packet passed")
    ok = math.exp(_log_bound(model, dropped, offered)) >= false_alarm / 2
    observed = f"{dropped} of {offered} packets, {100 * dropped / offered:.4f} %"
    return Check(name, ok, expected, observed)


def _log_bound(model, dropped, offered):
    """Return the logarithm of the Chernoff bound on the probability of a number of losses at least as extreme as ``dropped``.

    More extreme numbers are larger if ``dropped`` is above the mean, and smaller otherwise.
    """
    sign = 1 if dropped > offered * model.share else -1
    tilts = (sign * LEAST_TILT * TILT_STEP**number for number in range(TILTS))
    return min(0.0, *(_log_generating(model, tilt, offered) - tilt * dropped for tilt in tilts if abs(tilt) < 50))


def _log_generating(model, tilt, packets):
    """Return ln E[exp(tilt x losses)], where losses is the number of losses in ``packets`` packets of a stationary chain.

    The expectation is computed from a matrix power, by repeated squaring.
    """
    row, changes, losses = model.chain()
    states, scale, row_scale = range(len(row)), 0.0, 0.0
    # Probabilities of transitions from one state (row) to another (column), weighted by a packet's fate in the first state. States that
    # never occur have the weight 0.
    weights = [bool(share) * (1 - loss + loss * math.exp(tilt)) for share, loss in zip(row, losses, strict=True)]
    matrix = tuple(tuple(chance * weight for chance in line) for line, weight in zip(changes, weights, strict=True))
    while packets:
        if packets & 1:
            row = tuple(sum(row[i] * matrix[i][j] for i in states) for j in states)
            largest = max(row)
            row, row_scale = tuple(value / largest for value in row), row_scale + scale + math.log(largest)
        matrix = tuple(tuple(sum(matrix[i][k] * matrix[k][j] for k in states) for j in states) for i in states)
        largest = max(map(max, matrix))
        matrix, scale = tuple(tuple(v / largest for v in line) for line in matrix), 2 * scale + math.log(largest)
        packets >>= 1
    return row_scale + math.log(sum(row))
