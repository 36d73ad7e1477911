"""Checks of flows that two programs of the testbed, instead of iperf3, send and receive (`traffic.streams`)."""

import math

from testbed.checks.check import INSTRUMENT, SENDER, Check, words
from testbed.checks.lost_packets import packets_lost
from testbed.traffic.client_plan import plan_clients

#: Number of bytes by which SYN and FIN increase the kernel's count of acknowledged bytes (RFC 9293, section 3.4).
SYN_AND_FIN = 2
#: Maximum time that a connection takes to be established on a path without loss, in RTTs of the longest path.
MOST_RTTS = 4


def check_duration(specification, document) -> Check:
    """Every flow connected soon after its planned start, and no flow ended before its planned stop.

    A flow may take a few RTTs to connect, plus the time to drain a full queue. If packets were lost, a flow may connect later or not at
    all.
    """
    planned = plan_clients(specification)
    early, waits_ms = [], []
    for client, entry in zip(planned, document["traffic"], strict=True):
        stream, (number,) = entry["stream"], client.flows
        start_ns = round(client.start_offset_s * 1e9)
        stop_ns = start_ns + round(specification.long_flows[number].length_s * 1e9)
        if stream["connected_ns"] is not None:
            waits_ms.append((stream["connected_ns"] - start_ns) / 1e6)
        if stream["ended_ns"] is not None and stream["ended_ns"] < stop_ns:
            early.append(number)
    most_ms = MOST_RTTS * specification.rtt_most_ms + full_queue_ms(specification)
    late = [wait for wait in waits_ms if not 0 <= wait <= most_ms]
    missing = len(planned) - len(waits_ms)
    ok = not early and (not (late or missing) or packets_lost(document) > 0)
    observed = f"connected {min(waits_ms, default=0):.3f} to {max(waits_ms, default=0):.3f} ms after the planned start"
    observed += f", {missing} without a connection" if missing else ""
    return Check(
        "duration",
        ok,
        f"every flow connected within {most_ms:.0f} ms of the planned start unless packets were lost, "
        f"none ended early (flows: {len(planned)})",
        observed + (f", {len(early)} ended early" if early else ""),
    )


def full_queue_ms(specification) -> float:
    """Return the time in ms that the bottleneck takes to drain its full queues."""
    rate_mbps = specification.rate_mbps
    return sum(specification.queues_bytes) * 8e-3 / rate_mbps if rate_mbps else 0.0


def check_bytes(specification, document) -> Check:
    """All bytes that each connected flow wrote were acknowledged and received."""
    wrong = [
        entry["flows"][0]
        for entry in document["traffic"]
        if (stream := entry["stream"])["connected_ns"] is not None
        and not (
            "failure" not in stream
            and stream["written_bytes"] == stream["received_bytes"] == stream["bytes_acked"] - SYN_AND_FIN
        )
    ]
    failures = [
        entry["stream"]["failure"]
        for entry in document["traffic"]
        if "failure" in entry["stream"] and entry["stream"]["connected_ns"] is not None
    ]
    total = sum(entry["stream"]["received_bytes"] or 0 for entry in document["traffic"])
    observed = f"{total} bytes received, flows with differing counts: {len(wrong)}"
    return Check(
        "bytes",
        not wrong,
        "all bytes that each flow wrote were acknowledged and received",
        observed + (f", {len(failures)} failed ({words(failures)})" if failures else ""),
    )


def check_streams(specification, document) -> Check:
    """There are as many streams as flows, and each stream sent data unless losses prevented it."""
    streams = [entry["stream"] for entry in document["traffic"]]
    silent = sum(1 for stream in streams if not stream["bytes_sent"])
    return Check(
        "streams",
        len(streams) == specification.flows and (silent == 0 or packets_lost(document) > 0),
        f"{specification.flows}, all sending unless packets were lost",
        f"{len(streams)}, of which {silent} never sent",
        SENDER if len(streams) == specification.flows else INSTRUMENT,
    )


def check_series(specification, document) -> Check:
    """The time series of each sampled flow contains a reading for every sampling interval from its connection to its planned stop."""
    interval_ms = specification.traffic.sample_interval_ms
    if interval_ms is None:
        return Check("series", True, "no time series requested", "none")
    wanted = {}
    for number in specification.sampled_flows:
        entry = document["traffic"][number]
        connected_ns = entry["stream"]["connected_ns"]
        if connected_ns is not None:
            stop_ms = entry["start_offset_ms"] + 1e3 * specification.long_flows[number].length_s
            wanted[number] = max(0, math.floor((stop_ms - connected_ns / 1e6) / interval_ms))
    counts = {one["flow"]: len(one["time_s"]) for one in document.get("series", {}).get("sockets", ())}
    return Check(
        "series",
        all(counts.get(number, 0) >= least for number, least in wanted.items()) and counts.keys() <= wanted.keys(),
        f"at least {min(wanted.values(), default=0)} to {max(wanted.values(), default=0)} readings per flow (flows: {len(wanted)})",
        f"{min(counts.values(), default=0)} to {max(counts.values(), default=0)} readings (flows: {len(counts)})",
    )


CHECKS = (check_duration, check_bytes, check_streams)
