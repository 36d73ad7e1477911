"""Describe problems with segment and buffer sizes that Linux can't honour, and with settings that exceed a guest's memory."""

from collections.abc import Iterator

from experiment.disciplines import measure_of
from study_files.study_platforms import LINUX
from study_files.study_queues import SUPER_FRAME_BYTES
from study_files.study_variation import run_of

# Minimum segment size for which Linux enlarges the receive window beyond its initial value (tcp_event_data_recv in net/ipv4/tcp_input.c),
# and this initial value. With segments of 88 bytes, at most 65,560 bytes are in flight (measured).
GROWING_SEGMENT_BYTES, FIRST_WINDOW_BYTES = 128, 65_535
#: Upper bound on the total data in flight of thousands of flows, in bandwidth-delay products.
MOST_FULL_WINDOWS = 4
# The guest has 6 GB of memory, and a packet takes up at most twice its size (socket buffers and bookkeeping).
PACKETS_LIMIT_BYTES = 3_000_000_000
# Minimum size of a receive buffer, in segments. Linux initially advertises half of a receive buffer as its window, and limits segments to
# half of the largest window that the peer has advertised (tcp_bound_to_half_wnd in include/net/tcp.h). Measured minima are 5,792 bytes for
# segments of 1,448 bytes, and 4,000 bytes for segments of 1,000 bytes.
SEGMENTS_OF_A_BUFFER = 4
# Maximum receive window that TCP can advertise (RFC 7323, section 2.3).
WINDOW_LIMIT_BYTES = 2**30


def segment_problems(scenario) -> Iterator[str]:
    """Yield a problem if segments are so small that the flows would be limited by the receive window."""
    segment, asked = (scenario["transport"][key] for key in ("segment_bytes", "receive_buffer_bytes"))
    small = segment is not None and segment < GROWING_SEGMENT_BYTES
    if not small or asked is not None or scenario["platform"] not in LINUX:
        return
    run = run_of(scenario)
    queued = run.queue_packets or run.queue_bytes / run.packet_bytes
    held_bytes = segment * ((_flow_bdp_bytes(scenario) or 0) / run.packet_bytes + queued) / max(1, scenario["flows"])
    if held_bytes > FIRST_WINDOW_BYTES:
        yield (
            f"transport.segment_bytes is {segment}, and path and queue hold {held_bytes:,.0f} bytes per flow; allowed: "
            f"at least {GROWING_SEGMENT_BYTES}, because with smaller segments Linux's receiver never opens its window "
            f"beyond {FIRST_WINDOW_BYTES:,} bytes; or set transport.receive_buffer_bytes, if such a window is intended."
        )


def buffer_problems(scenario) -> Iterator[str]:
    """Yield problems with the sizes of send and receive buffers that Linux can't honour."""
    transport, run = scenario["transport"], run_of(scenario)
    if scenario["platform"] not in LINUX or run.udp:
        return
    least = SEGMENTS_OF_A_BUFFER * run.segment_bytes
    if transport["receive_buffer_bytes"] is not None and transport["receive_buffer_bytes"] < least:
        yield (
            f"transport.receive_buffer_bytes is {transport['receive_buffer_bytes']}; allowed with segments of {run.segment_bytes} bytes: "
            f"at least {least}, because Linux advertises half of a buffer as a window, and cuts segments that are larger than half of the window."
        )
    if not run.limits_send_buffer:
        return
    asked = f"transport.send_buffer_bytes is {transport['send_buffer_bytes']}; allowed with"
    if transport["segmentation_offload"]:
        yield (
            f"{asked} transport.segmentation_offload: null, because Linux checks a send buffer only when a super-packet begins: a super-packet that is "
            "sent while being filled never ends."
        )
    if scenario["multipath"]["by"] == "mptcp":
        yield f"{asked} multipath.by mptcp: null, because the buffer belongs to the connection, and subflows have none."


def memory_problems(scenario) -> Iterator[str]:
    """Yield problems with settings that would exceed a guest's memory."""
    bdp_bytes = _flow_bdp_bytes(scenario) or 0
    if bdp_bytes > WINDOW_LIMIT_BYTES:
        yield (
            f"link.delay_ms makes a bandwidth-delay product of {bdp_bytes:,.0f} bytes; "
            f"allowed: up to {WINDOW_LIMIT_BYTES:,}, the largest window of TCP."
        )
        return
    # Hundreds of flows can't all fill the entire path at the same time.
    full_windows = scenario["flows"]
    if scenario["traffic"]["processes"] == "per-side":
        full_windows = min(full_windows, MOST_FULL_WINDOWS)
    total_bytes = full_windows * bdp_bytes + _queue_bytes(scenario)
    if total_bytes > PACKETS_LIMIT_BYTES:
        yield (
            f"flows is {scenario['flows']}, which with windows of one bandwidth-delay product and a full queue "
            f"makes {total_bytes:,.0f} bytes of packets; allowed: up to {PACKETS_LIMIT_BYTES:,}, "
            "the limit of the guest's memory."
        )


def _queue_bytes(scenario):
    """Return the total size of a scenario's full queues in bytes; both directions are counted only if they differ."""
    run = run_of(scenario)
    packet_bytes = SUPER_FRAME_BYTES if scenario["transport"]["segmentation_offload"] else run.largest_packet_bytes
    held = 0
    for way in run.ways_apart:
        measure, size = measure_of(run.queue_in(way))
        # A queue in BDPs without a rate has already been rejected.
        bdp_bytes = (run.rate_in(way) or 0) * 1e6 / 8 * run.rtt_path_ms / 1e3
        held += size * {"packets": packet_bytes, "bdp": bdp_bytes, "bytes": 1}[measure]
    return held


def _flow_bdp_bytes(scenario):
    """Return the bandwidth-delay product of a single flow in bytes, or None if its rate isn't limited.

    The rate of the flow is the lower of two limits: the rate of the link, and the rate of the sender.
    """
    limits_mbps = (scenario["link"]["rate_mbps"], scenario["traffic"]["bitrate_mbps"])
    rate_mbps = min((limit for limit in limits_mbps if limit is not None), default=None)
    run = run_of(scenario | {"link": scenario["link"] | {"rate_mbps": rate_mbps}})
    if not run.timeline or rate_mbps is None:
        return run.bdp_bytes
    return run.most_total_rate_mbps * 1e6 / 8 * run.rtt_most_ms / 1e3
