"""The checks of packets that come late or twice: is their share the one that was asked for?"""

from collections.abc import Callable

from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.network_checks import judge_loss
from testbed.network.reordering import counts


def check_reordering(specification, document) -> Check:
    """The share of late packets agrees with the configured one, in each direction that has some; see `judge_loss`."""
    shares = {}
    for direction in DIRECTIONS:
        if percent := specification.late_percent(direction):
            _, left, late = counts(document, direction)
            shares[direction] = (percent, late, left)
    return _judge("reordering", shares)


def check_duplicates(specification, document) -> Check:
    """The share of packets that came twice agrees with the configured one, in each direction that has some; see `judge_loss`."""
    shares = {}
    for direction, percent in specification.link.duplicate_percent.items():
        if percent:
            came, left, _ = counts(document, direction)
            shares[direction] = (percent, left - came, came)
    return _judge("duplicates", shares)


def _judge(name, shares):
    """Return the `Check` of what happened to a share of packets: ``shares`` are direction -> (percent, how many, of how many)."""
    judged = {way: judge_loss(name, percent / 100, count, of) for way, (percent, count, of) in shares.items()}
    expected, observed = (
        "; ".join(f"{way} {getattr(check, side)}" for way, check in judged.items()) for side in ("expected", "observed")
    )
    return Check(name, all(check.ok for check in judged.values()), expected, observed)


def checks_of(specification) -> tuple[Callable, ...]:
    """Return the checks that a run has of packets that come late or twice."""
    late = (check_reordering,) if specification.link.reordering else ()
    return late + ((check_duplicates,) if any(specification.link.duplicate_percent.values()) else ())
