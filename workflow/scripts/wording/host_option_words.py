"""Descriptions of host options for tables, the report and the documentation of studies.

The descriptions aren't next to the declarations in `experiment.host_options`, because any change to that module makes existing runs stale.
"""

from experiment.host_options import HOST_OPTIONS

#: Option -> description.
OPTION_WORDS = {
    "initial_window_packets": (
        "Initial congestion window (RFC 6928) of the senders' connections, as set by CDNs. `null`: the kernel's default, 10 packets."
    ),
    "initial_receive_window_packets": (
        "Initial receive window that the receivers advertise, in segments. `null`: as large as their buffer allows."
    ),
    "slow_start_after_idle": (
        "Whether a connection that has been idle for a retransmission timeout restarts with the initial window (RFC 2861, RFC 5681 section 4.1)."
    ),
    "notsent_lowat_bytes": "Unsent bytes in a send buffer above which the program is not woken to write more (`TCP_NOTSENT_LOWAT`). `null`: no limit.",
    "timestamps": (
        "Whether TCP's timestamps (RFC 7323) are negotiated. Without them a full packet has 12 more bytes of payload, and an RTT is measured "
        "once per flight. Not with `topology: cable`."
    ),
    "window_scaling": (
        "Whether receive windows are scaled (RFC 7323). Without it a connection has at most 65,535 bytes in flight, regardless of its buffer sizes."
    ),
    "selective_acks": "Whether selective acknowledgements (RFC 2018) are negotiated. Without them Linux recovers as NewReno does (RFC 6582).",
    "duplicate_selective_acks": "Whether a receiver reports duplicate segments (RFC 2883).",
    "sack_compression": "Whether a receiver may acknowledge several out-of-order packets with one acknowledgement, as Linux has done since 4.18.",
    "tail_loss_probe": "Whether a sender probes for the loss of the last packets of a flight before its timeout (RFC 8985, section 7).",
    "rack_window": (
        "Time by which a packet may be overtaken before RACK (RFC 8985) considers it lost. `adaptive`: until reordering has been seen, the time is 0 after three duplicate "
        "acknowledgements; from then on, the time grows with each D-SACK. `static`: the time doesn't grow. `without-threshold`: the time also applies after three duplicate acknowledgements."
    ),
    "frto": "Whether a sender detects spurious timeouts (F-RTO, RFC 5682).",
    "reordering_packets": "Initial number of packets by which a packet may be overtaken before a sender considers it lost. `null`: the kernel's default, 3.",
    "pacing_slow_start_percent": "Pacing rate of TCP in slow start, relative to cwnd / RTT, for CCAs without their own pacing rate. `null`: the kernel's default, 200.",
    "pacing_percent": "Pacing rate of TCP after slow start, relative to cwnd / RTT, for CCAs without their own pacing rate. `null`: the kernel's default, 120.",
    "limit_output_bytes": "Bytes of a connection that may wait in the sender's queueing discipline and device (TCP small queues). `null`: the kernel's default.",
    "min_tso_segments": "Smallest number of segments in a super-packet, regardless of the pacing rate. `null`: the kernel's default, 2.",
    "tso_rtt_log": (
        "On short paths, super-packets may be larger than the pacing rate makes them (BIG TCP). The extra size halves with every 2^`tso_rtt_log` µs of the connection's minimum RTT. "
        "`null`: the kernel's default, 9."
    ),
    "gso_max_segments": "Largest number of segments in a super-packet (TSO, GSO). `null`: the kernel's default. Only with `transport.segmentation_offload: true` and `topology: dumbbell`.",
    "gso_max_bytes": "Largest size of a super-packet. `null`: the kernel's default, 65,536. Only with `transport.segmentation_offload: true` and `topology: dumbbell`.",
    "max_pacing_rate_mbps": (
        "Largest pacing rate of each long flow (`SO_MAX_PACING_RATE`); it also makes TCP pace flows whose CCA doesn't. `null`: no limit. "
        "Only with `traffic.application: iperf3` over TCP."
    ),
    "max_rto_ms": "Largest retransmission timeout; Linux 6.15 or later. `null`: the kernel's default, 120,000.",
}
#: Option -> description of a non-default value.
OPTION_EFFECTS = {
    "initial_window_packets": "initial window {} packets",
    "initial_receive_window_packets": "initial receive window {} packets",
    "slow_start_after_idle": "no slow start after idle",
    "notsent_lowat_bytes": "at most {:,} bytes unsent",
    "timestamps": "no timestamps",
    "window_scaling": "no window scaling",
    "selective_acks": "no SACK",
    "duplicate_selective_acks": "no D-SACK",
    "sack_compression": "no compression of SACKs",
    "tail_loss_probe": "no tail loss probe",
    "rack_window": "RACK's window {}",
    "frto": "no F-RTO",
    "reordering_packets": "reordering of {} packets assumed",
    "pacing_slow_start_percent": "pacing in slow start {} %",
    "pacing_percent": "pacing {} %",
    "limit_output_bytes": "at most {:,} bytes queued below TCP",
    "min_tso_segments": "super-packets of at least {} segments",
    "tso_rtt_log": "TSO's RTT log {}",
    "gso_max_segments": "super-packets of up to {} segments",
    "gso_max_bytes": "super-packets of up to {:,} bytes",
    "max_pacing_rate_mbps": "pacing up to {:g} Mbit/s",
    "max_rto_ms": "maximum retransmission timeout {} ms",
}


def queue_of_hosts(hosts) -> list[str]:
    """Return a list with one description of the queues on the senders' interfaces, or an empty list if no such queue is configured."""
    return [] if hosts["qdisc"] == "none" else [f"{hosts['qdisc']} at the senders"]


def effects_of(transport) -> list[str]:
    """Return one description for each option in a resolved scenario's `transport` whose value isn't the default.

    Examples
    --------
    >>> effects_of({"initial_window_packets": 30, "selective_acks": False, "frto": True})
    ['initial window 30 packets', 'no SACK']
    """
    used = [option.name for option in HOST_OPTIONS if option.used(transport)]
    return [OPTION_EFFECTS[name].format(transport[name]) for name in used]
