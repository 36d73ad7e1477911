"""The check of a policer: is it what was asked for, and did no more pass than its rate and burst allow?"""

from testbed.checks.check import Check
from testbed.checks.network_checks import same
from testbed.network.policer import drops
from testbed.readings.deliveries import windows

#: Packets that acknowledgements say of at a time: so much more may have been delivered in a time than passed.
UNSAID_PACKETS = 2
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
    if of_flows := windows(document):
        most_bytes = sum(window.delivered_bytes[flow] for flow, window in of_flows.items())
        length_s = max(window.end_ns for window in of_flows.values()) - min(
            window.begin_ns for window in of_flows.values()
        )
        bucket = policer["rate_mbps"] * 1e6 / 8 * length_s / 1e9 + policer["burst_bytes"]
        # All that is on the way at the window's begin passed before.
        share = specification.payload_bytes / specification.packet_bytes
        allowed = (bucket + under_way_bytes(specification)) * share
        observed = f"{most_bytes} bytes delivered of {allowed:.0f} at most, "
        if most_bytes > allowed:
            wrong.append("more was delivered")
    expected = f"{policer['rate_mbps']:g} Mbit/s, a burst of {policer['burst_bytes']} bytes, shared by all senders"
    return Check("policer", not wrong, expected, "; ".join([*wrong, f"{observed}{dropped} packets dropped"]))


def under_way_bytes(specification) -> float:
    """Return what may have passed the policer and not be known as delivered yet: the bottleneck's queue, the path, unsaid packets."""
    queue = (specification.queue_packets or 0) * specification.packet_bytes + (specification.queue_bytes or 0)
    rate_mbps, least_mbps = (
        specification.link.policer["rate_mbps"],
        specification.timeline.least("forward", "rate_mbps"),
    )
    if least_mbps is None or rate_mbps <= least_mbps:
        # What passes faster than the bottleneck takes it is a burst at most.
        queue = min(queue, specification.link.policer["burst_bytes"])
    path = rate_mbps * 1e6 / 8 * specification.rtt_most_ms / 1e3
    return queue + path + UNSAID_PACKETS * (1 + specification.flows) * specification.packet_bytes
