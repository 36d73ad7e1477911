"""Describe problems with settings that don't fit the MTU of a link, in sentences that start with the affected key."""

from collections.abc import Iterator

from experiment.conditions import POLICERS, policers_of
from experiment.disciplines import QUEUES
from experiment.flow_groups import REAL_TIME
from experiment.packet_sizes import (
    ETHERNET_HEADER_BYTES,
    HEADER_BYTES,
    IP_HEADER_BYTES,
    TCP_TIMESTAMP_OPTION_BYTES,
    UDP_HEADER_BYTES,
)

#: Minimum MTU for IPv6, in bytes (RFC 8200, section 5).
LEAST_IPV6_MTU_BYTES = 1280


def udp_payload_bytes(scenario) -> int:
    """Return the maximum UDP payload of an IPv6 packet on a scenario's link, in bytes."""
    return scenario["link"]["mtu_bytes"] - IP_HEADER_BYTES["ipv6"] - UDP_HEADER_BYTES


def mtu_problems(scenario) -> Iterator[str]:
    """Yield problems with payloads that exceed a resolved scenario's MTU, and with queues, policers and shapers too small for a packet."""
    mtu_bytes = scenario["link"]["mtu_bytes"]
    here = f"allowed with link.mtu_bytes {mtu_bytes}:"
    for group in scenario["groups"]:
        if group["application"] == REAL_TIME and group["packet_bytes"] > udp_payload_bytes(scenario):
            yield f"flows[{group['name']}].packet_bytes is {group['packet_bytes']}; {here} up to {udp_payload_bytes(scenario)}."
    yield from _too_small(scenario, mtu_bytes + ETHERNET_HEADER_BYTES, here)


def _too_small(scenario, packet_bytes, here):
    """Yield problems with queues, policers and shapers that are too small for a full packet."""
    link = scenario["link"]
    held = {f"{key}.bytes": queue.get("bytes") for key in QUEUES if (queue := scenario[key])}
    held |= {f"link.{POLICERS[way]}.burst_bytes": one["burst_bytes"] for way, one in policers_of(link).items()}
    held |= {"link.shaper_burst_bytes": link["shaper_burst_bytes"]}
    for key, size in held.items():
        if size and size < packet_bytes:
            yield f"{key} is {size}; {here} at least {packet_bytes}, a full packet."


def ip_version_problems(study) -> Iterator[str]:
    """Yield problems with MTUs that are too small for IPv6, and with segments that are too large for the MTU and the IP versions."""
    headers = max(HEADER_BYTES[version] for version in study["ip_versions"]) + TCP_TIMESTAMP_OPTION_BYTES
    for scenario in study["scenarios"]:
        segment, most = scenario["transport"]["segment_bytes"], scenario["link"]["mtu_bytes"] - headers
        if segment and segment > most:
            yield (
                f"scenarios[{scenario['id']}].transport.segment_bytes is {segment}; allowed with link.mtu_bytes "
                f"{scenario['link']['mtu_bytes']} and {' and '.join(study['ip_versions'])}: up to {most}."
            )
        if "ipv6" in study["ip_versions"] and scenario["link"]["mtu_bytes"] < LEAST_IPV6_MTU_BYTES:
            yield (
                f"scenarios[{scenario['id']}].link.mtu_bytes is {scenario['link']['mtu_bytes']}; allowed with ipv6 in ip_versions: "
                f"{LEAST_IPV6_MTU_BYTES} or more (RFC 8200, section 5)."
            )
