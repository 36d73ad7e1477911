"""The check of policers: their settings, and the amount of data that passed them."""

from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.flow_checks import spans_at_most
from testbed.checks.read_back_checks import same
from testbed.network.policer import drops

FORWARD, _ = DIRECTIONS
#: Maximum rounding error of a burst size in bytes, at 1 Gbit/s; tc and the kernel store burst sizes in ticks.
BURST_STEP_BYTES = 16


def check_policer(specification, document) -> Check:
    """Each direction's policer was set up as configured, and passed no more data than its rate and burst size allow."""
    wrong = []
    for name, wanted in document["network"]["set"]["policer"].items():
        settings = document["network"]["read_back"]["interfaces"][name].get("policer") or {}
        wrong += [
            f"{name}: {key} {settings.get(key)} instead of {value}"
            for key, value in wanted.items()
            if not (
                same(settings.get(key), value)
                if key != "burst_bytes"
                else abs(settings.get(key, 0) - value) <= BURST_STEP_BYTES
            )
        ]
    expected, observed = [], []
    for direction, policer in specification.policers.items():
        way = "" if specification.policers.keys() == {FORWARD} else f"{direction} "
        expected.append(
            f"{way}{policer['rate_mbps']:g} Mbit/s with a burst of {policer['burst_bytes']} bytes, shared by all senders"
        )
        delivered, allowed = delivered_of_allowed(specification, document, direction)
        if delivered > allowed:
            wrong.append(f"{way}more data delivered than allowed")
        got = f"{delivered} bytes delivered, at most {allowed:.0f} allowed, " if allowed else ""
        observed.append(f"{way}{got}{drops(document, direction)} packets dropped")
    return Check("policer", not wrong, "; ".join(expected), "; ".join([*wrong, *observed]))


def delivered_of_allowed(specification, document, direction) -> tuple[int, float]:
    """Return the number of bytes delivered in a direction, and the maximum number allowed in the same time.

    Both numbers are 0 if no long flow sends data in this direction.
    """
    spans = spans_at_most(specification, document)
    got = [span for flow, span in spans if specification.flow_pair(flow).direction == direction]
    if not got:
        return 0, 0
    begin_ns, end_ns = min(begin for begin, _, _ in got), max(end for _, end, _ in got)
    return sum(count for _, _, count in got), specification.capacity_in(direction).most_bytes(begin_ns, end_ns)
