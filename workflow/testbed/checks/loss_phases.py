"""Random loss whose rate changes during a run: packet counts for each phase, and a check of all phases."""

from itertools import pairwise

from testbed.checks.check import Check, in_turn


def loss_phases(specification, document, direction) -> list[tuple[float, int, int]]:
    """Return (loss in percent, packets offered, packets dropped) for each phase of netem's loss in a direction.

    A phase lasts from one change in the loss rate to the next. Packets that left netem, are still in netem, or were dropped count as
    offered.
    """
    names = document["network"]["set"]["netem"][direction]
    before, after = (
        [document["links"][when][name]["qdiscs"]["netem"] for name in names] for when in ("before", "after")
    )
    changes = [
        entry
        for entry in document.get("timeline", [])
        if entry["direction"] == direction and entry["quantity"] == "loss_percent"
    ]
    readings = [before, *(list(entry["devices"].values()) for entry in changes), after]
    losses = [specification.direction(direction).loss_percent, *(entry["value"] for entry in changes)]
    counts = [
        (sum(q["packets"] + q["backlog_packets"] + q["drops"] for q in one), sum(q["drops"] for q in one))
        for one in readings
    ]
    return [
        (loss, until[0] - begin[0], until[1] - begin[1])
        for loss, (begin, until) in zip(losses, pairwise(counts), strict=True)
    ]


def check_phases(name, phases, judge) -> Check:
    """Return the `Check` of a loss that changes during the run or differs between paths.

    ``judge`` is a function that returns the `Check` of one phase or path. Phases without packets are ignored, but at least one phase must
    contain packets.
    """
    judged = [judge(name, loss / 100, dropped, offered) for loss, offered, dropped in phases]
    passed = [check.ok for check, (_, offered, _) in zip(judged, phases, strict=True) if offered]
    expected, observed = ([getattr(check, side) for check in judged] for side in ("expected", "observed"))
    return Check(name, bool(passed) and all(passed), in_turn(expected), in_turn(observed))
