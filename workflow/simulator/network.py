"""The network in a run document: the settings, read-back values, changes and counters of links and hosts."""

import re

from simulator.disciplines import attributes, counterpart_of
from simulator.plan import BOTTLENECK, GAP_BYTES, LOSS, gap_ns, queue_limit, socket_settings

MS, MBPS = 1e-6, 1e-6  # ms per ns, Mbit/s per bit/s


def as_set(specification) -> dict:
    """Return the configured settings of each interface and host, in a form comparable to `read_back`."""

    def last(direction, quantity):
        """Return a quantity's value at the end of the run, when settings are read back."""
        return specification.timeline.values(direction, quantity)[-1][1]

    limit, counterpart = queue_limit(specification), counterpart_of(specification)
    shared = {"DropTailQueue": queue_settings("1p" if counterpart else limit)}
    if counterpart:
        asked = {name: parsed(value) for name, value in attributes(specification, limit).items() if name != "MaxSize"}
        shared[kind_of(counterpart.type_id)] = queue_settings(limit) | asked
    interfaces = {}
    for direction, name in BOTTLENECK.items():
        rate_bps = round(last(direction, "rate_mbps") * 1e6)
        link = {"rate_bps": rate_bps, "gap_ns": gap_ns(rate_bps), "delay_ms": last(direction, "delay_ms")}
        interfaces[name] = {"link": link} | shared
    for direction, name in LOSS.items():
        if any(loss for _, loss in specification.timeline.values_with_first(direction, "loss_percent")):
            interfaces[name]["RateErrorModel"] = {"loss_percent": last(direction, "loss_percent")}
    settings = socket_settings(specification) | {"Recovery": specification.transport.recovery}
    return {
        "simulator": True,
        "qdiscs": interfaces,
        "bottleneck": {direction: [name] for direction, name in BOTTLENECK.items()},
        "loss": LOSS,
        "access_delay_ms": {
            f"{host}-eth0": pair.access_delay_ms
            for pair in specification.pairs
            for host in (pair.sender, pair.receiver)
        },
        "hosts": {host: settings for pair in specification.pairs for host in (pair.sender, pair.receiver)},
    }


def read_back(specification, counted) -> dict:
    """Return the values read from the simulator's objects, by interface and by host; a host's values are those of all its sockets."""
    interfaces = {}
    for name, device in counted["settings"].items():
        kinds = {
            "link": {
                "rate_bps": parsed(device["DataRate"]),
                "gap_ns": parsed(device["InterframeGap"]),
                "delay_ms": parsed(device["Delay"]) * MS,
            },
            kind_of(device["Queue"]): queue_settings(device["MaxSize"]),
        }
        if "ErrorRate" in device:
            kinds["RateErrorModel"] = {"loss_percent": device["ErrorRate"] * 100}
        if device["QueueDisc"] != "none":
            attributes_read = device.get("Attributes", {})
            limit = queue_settings(attributes_read["MaxSize"]) if attributes_read else {}
            kinds[kind_of(device["QueueDisc"])] = limit | {
                name: parsed(attributes_read[name]) for name in attributes_read if name != "MaxSize"
            }
        interfaces[name] = {"qdiscs": kinds}
    hosts = {}
    for flow, result in enumerate(counted["flows"]):
        pair = specification.flow_pair(flow)
        for host, side in ((pair.sender, "sender"), (pair.receiver, "receiver")):
            sockets = hosts.setdefault(host, {})
            for name, value in result[side].items():
                if name != "CongestionControl":
                    sockets.setdefault(name, set()).add(value)
    return {
        "interfaces": interfaces,
        "hosts": {
            host: {name: ", ".join(sorted(values)) for name, values in sockets.items()}
            for host, sockets in hosts.items()
        },
    }


def timeline(specification, changed) -> list[dict]:
    """Return the changes to the path during the traffic, in the form used by the testbed (`testbed.network.path_changes`)."""
    entries = []
    for change, counts_read in zip(specification.timeline.changes, changed, strict=False):
        place = (LOSS if change.quantity == "loss_percent" else BOTTLENECK)[change.direction]
        unit = {"rate_mbps": MBPS, "delay_ms": MS, "loss_percent": 100}[change.quantity]
        counts = {
            "packets": counts_read["packets"],
            # The gap after each packet stands for the rest of the Ethernet header.
            "bytes": counts_read["bytes"] + GAP_BYTES * counts_read["packets"],
            "drops": counts_read["drops"],
            "backlog_packets": counts_read["waiting"],
        }
        entries.append(
            {
                "at_ns": change.at_ns,
                "direction": change.direction,
                "quantity": change.quantity,
                "value": change.value,
                "kind": change.kind,
                "realised_ns": counts_read["realised_ns"],
                "devices": {place: {"value": round(parsed(counts_read["value"]) * unit, 9)} | counts},
            }
        )
    return entries


def links(counters, discipline) -> dict:
    """Return the counters of every interface before and after the traffic; all counters are 0 before the traffic.

    ``discipline`` is the `Counterpart` of the run's discipline, or None.
    """
    after = {}
    for name, counted in counters.items():
        queue = {
            "packets": counted["enqueued_packets"],
            "bytes": counted["enqueued_bytes"],
            "drops": counted["drops"],
            "overlimits": 0,  # a queue that doesn't shape has no such events
            "backlog_packets": counted["waiting_packets"],
        }
        kinds = {"DropTailQueue": queue}
        if "discipline" in counted:
            of = counted["discipline"]
            kinds[kind_of(discipline.type_id)] = {
                "packets": of["sent_packets"],
                "bytes": of["sent_bytes"],
                "drops": of["drops"],
                "marks": of["marks"],
                "overlimits": 0,
                "backlog_packets": of["waiting_packets"],
            }
        if name in LOSS.values():
            kinds["RateErrorModel"] = dict.fromkeys(queue, 0) | {"packets": counted["passed"], "drops": counted["lost"]}
        after[name] = {
            "qdiscs": kinds,
            "tx_packets": counted["enqueued_packets"] - counted["waiting_packets"],
            "rx_packets": counted["passed"],
            "device_drops": counted["unsent"],
        }
    return {"before": {name: zeros(interface) for name, interface in after.items()}, "after": after}


def zeros(counters) -> dict:
    """Return a copy of nested counters with every value set to 0."""
    return {key: zeros(value) if isinstance(value, dict) else 0 for key, value in counters.items()}


def kind_of(type_id) -> str:
    """Return the name that documents use for a class of ns-3: the TypeId without the namespace."""
    return type_id.removeprefix("ns3::").removesuffix("<Packet>")


def queue_settings(limit) -> dict[str, int]:
    """Return a queue's limit with a key that names the unit; ``limit`` is in ns-3's syntax, such as ``100p`` or ``150000B``."""
    return {"limit_packets" if limit.endswith("p") else "limit_bytes": parsed(limit)}


def parsed(text) -> int | float:
    """Return the number in a value printed by ns-3, such as ``100000000bps``, ``+1e+07ns``, ``100p`` or ``true`` (1)."""
    if text in ("true", "false"):
        return int(text == "true")
    number = float(re.match(r"[+-]?[\d.]+(?:e[+-]?\d+)?", text)[0])
    return int(number) if number.is_integer() else number
