"""Describe problems with the number of flows, and settings that `traffic.processes: per-side` doesn't support.

With `per-side`, two programs of the testbed carry all flows.
"""

from collections.abc import Iterator

#: `traffic.processes` -> maximum number of long flows in a run.
MOST_FLOWS = {"per-flow": 64, "single": 64, "per-side": 5000}


def most_flows(scenario) -> int:
    """Return the maximum number of long flows in a resolved scenario."""
    return MOST_FLOWS[scenario["traffic"]["processes"]]


def stream_problems(scenario) -> Iterator[str]:
    """Yield problems with the number of flows in a resolved scenario, and with settings that `per-side` doesn't support."""
    traffic, flows, most = scenario["traffic"], scenario["flows"], most_flows(scenario)
    if flows > most and not scenario["groups"]:
        yield f"flows is {flows}; allowed with traffic.processes {traffic['processes']}: up to {most}, with per-side up to {MOST_FLOWS['per-side']}."
    if traffic["processes"] != "per-side":
        return
    for key, value, allowed in (
        ("traffic.application", traffic["application"], "iperf3"),
        ("traffic.protocol", traffic["protocol"], "tcp"),
        ("traffic.messages", traffic["messages"], None),
        ("traffic.bitrate_mbps", traffic["bitrate_mbps"], None),
        ("traffic.control_connection", traffic["control_connection"], "automatic"),
        ("transport.receive_wait", scenario["transport"]["receive_wait"], "kernel"),
        ("multipath.by", scenario["multipath"]["by"], "none"),
        ("background", scenario["background"], "none"),
        ("platform", scenario["platform"], "uml"),
    ):
        if value != allowed:
            yield f"{key} is {value}; allowed with traffic.processes per-side: {'null' if allowed is None else allowed}."
    for group in scenario["groups"]:
        if group["rate_mbps"] is not None:
            yield f"flows[{group['name']}].rate_mbps is {group['rate_mbps']}; allowed with traffic.processes per-side: null."
