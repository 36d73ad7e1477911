"""The checks of link options: each option must affect the configured share of packets."""

import math
from collections.abc import Callable
from functools import partial

from experiment.link_options import LINK_OPTIONS, LinkOption, expected_percent
from experiment.netem_correlation import packets_of_one
from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.link_option_counts import COUNTED
from testbed.checks.loss_checks import LOSS_FALSE_ALARM, loss_words, relative_entropy


def checks_of(specification) -> tuple[Callable, ...]:
    """Return the checks of the link options that a run uses."""
    link = specification.scenario["link"]
    return tuple(partial(check_option, option) for option in LINK_OPTIONS if option.check and option.used(link))


def check_option(option: LinkOption, specification, document) -> Check:
    """In each direction in which the option applies and packets flow, the share of affected packets agrees with the configured share."""
    judged = {}
    for direction in DIRECTIONS if specification.answers else DIRECTIONS[:1]:
        if specification.option(option.name, direction):
            counted = COUNTED[option.name](specification, document, direction)
            expected = expected_percent(option, specification.scenario["link"], direction) / 100
            of_one = packets_of_one(specification.correlation(option.correlated, direction))
            judged[direction] = judge_share(option.check, expected, *counted, of_one=of_one)
    expected, observed = (
        "; ".join(f"{way} {getattr(check, side)}" for way, check in judged.items()) for side in ("expected", "observed")
    )
    nothing = "not checked, because no packets are sent in that direction"
    return Check(option.check, all(check.ok for check in judged.values()), expected or nothing, observed or nothing)


def judge_share(name, configured, count, of, seen=(1, 1), of_one=1) -> Check:
    """Return the `Check` that compares a share of packets with the configured share.

    The statistical test is the same as for random loss (`loss_checks.judge_loss`).

    Parameters
    ----------
    name : str
        Name of the check.
    configured : float
        Configured share of affected packets, as a fraction.
    count, of : int
        Number of affected packets according to the counters, and number of all packets.
    seen : tuple of float
        Minimum and maximum share of the affected packets that can be detected (`COUNTED`). The test uses the value in the resulting range
        that is closest to the observed share.
    of_one : float
        Number of packets that give as much information as one independent packet.
    """
    least, most = (configured * share for share in seen)
    expected = f"{100 * configured:g} %"
    if least < most:
        expected += f", of which checksums detect {100 * seen[0]:.4g} to {100 * seen[1]:.4g} %"
    if of == 0:
        return Check(name, False, expected, "no packet passed")
    nearest = min(max(count / of, least), most)
    ok = of / of_one * relative_entropy(count / of, nearest) <= math.log(2 / LOSS_FALSE_ALARM)
    return Check(name, ok, expected, loss_words(count, of))
