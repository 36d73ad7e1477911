"""The check of a policer: is it what was asked for, and did no more pass than its rate and burst allow?"""

from testbed.checks.check import Check
from testbed.checks.flow_checks import spans_at_most
from testbed.checks.network_checks import same
from testbed.network.policer import drops

#: What a burst loses where tc and kernel count it in ticks, at 1 Gbit/s.
BURST_STEP_BYTES = 16


def check_policer(specification, document) -> Check:
    """The kernel has the policer as it was set, and no more was delivered than its rate and burst allow."""
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
    policer, dropped, observed = specification.link.policer, drops(document), ""
    got = [delivered for _, delivered in spans_at_most(specification, document)]
    if got:
        begin_ns, end_ns = min(begin for begin, _, _ in got), max(end for _, end, _ in got)
        delivered, allowed = sum(count for _, _, count in got), specification.capacity.most_bytes(begin_ns, end_ns)
        observed = f"{delivered} bytes delivered of {allowed:.0f} at most, "
        if delivered > allowed:
            wrong.append("more was delivered")
    expected = f"{policer['rate_mbps']:g} Mbit/s, a burst of {policer['burst_bytes']} bytes, shared by all senders"
    return Check("policer", not wrong, expected, "; ".join([*wrong, f"{observed}{dropped} packets dropped"]))
