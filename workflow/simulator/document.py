"""Compose run documents (``workflow/schemas/run.schema.json``) from the simulation program's output."""

import json

from experiment.specification import DOCUMENT_VERSION
from simulator.disciplines import counterpart_of
from simulator.limits import CCAS
from simulator.network import MBPS, MS, as_set, links, read_back, timeline
from simulator.plan import deliveries_ns, looks_ns, starts_ns
from simulator.verdict import judge
from testbed.machine.environment import IMAGE_DESCRIPTION

NAMES = {type_id: cca for cca, type_id in CCAS.items()}
#: Linux's names for the states in ns-3's TcpSocketState::TcpCongState_t, in the order of their numbers.
STATES = ("open", "disorder", "cwr", "recovery", "loss")
#: Name in the program's output -> (name in the document, conversion factor). If the factor is None, bytes are converted to segments.
COLUMNS = {
    "cwnd": ("cwnd_packets", None),
    "ssthresh": ("ssthresh_packets", None),
    "srtt_ns": ("rtt_ms", MS),
    "rttvar_ns": ("rttvar_ms", MS),
    "min_rtt_ns": ("rtt_min_ms", MS),
    "rto_ns": ("rto_ms", MS),
    "pacing_bps": ("pacing_mbps", MBPS),
    "delivery_bps": ("delivery_mbps", MBPS),
    "unacked": ("unacked_packets", None),
    "sacked": ("sacked_packets", None),
    "lost": ("lost_packets", None),
    "retransmits": ("retransmits", 1),
    "sent": ("bytes_sent", 1),
    "acked": ("bytes_acked", 1),
    "sent_again": ("bytes_retransmitted", 1),
    "bbr_bps": ("bbr_bw_mbps", MBPS),
    "bbr_min_rtt_ns": ("bbr_rtt_min_ms", MS),
    "vegas_base_rtt_ns": ("vegas_rtt_ms", MS),
    "vegas_min_rtt_ns": ("vegas_rtt_min_ms", MS),
}
GAINS = ("bbr_pacing_gain", "bbr_cwnd_gain")


def compose(specification, counted, wheel, digest) -> dict:
    """Return the run document.

    Parameters
    ----------
    counted : dict
        Output of the simulation program.
    wheel : str
        Release and SHA-256 of the wheel with which the program was compiled.
    digest : str
        Digest of the modules that execute the run.
    """
    document = {
        "schema_version": DOCUMENT_VERSION,
        "specification": specification.document,
        "environment": environment(specification, wheel, digest),
        "network": {"set": as_set(specification), "read_back": read_back(specification, counted)},
        "idle_rtt": idle_rtt(specification, counted["flows"]),
        "traffic": traffic(specification, counted["flows"]),
        "sockets": looks(specification, of_times(counted["looks"], looks_ns(specification))),
        "links": links(counted["counters"], counterpart_of(specification)),
        "stack": None,
    }
    if specification.timeline:
        document["timeline"] = timeline(specification, counted["changes"])
    if times_ns := deliveries_ns(specification):
        document["delivered"] = delivered(specification, of_times(counted["looks"], times_ns))
    if specification.traffic.sample_interval_ms is not None:
        document["series"] = series(specification, counted["series"])
    document["verdict"] = judge(specification, document)
    return document


def environment(specification, wheel, digest) -> dict:
    """Return the section ``environment``, which depends neither on the time nor on the machine."""
    image = json.loads(IMAGE_DESCRIPTION.read_text())
    release, wheel_digest = wheel.split()
    return {
        "platform": specification.platform,
        "simulator": {
            "version": specification.platform.partition(":")[2],
            "wheel": release,
            "wheel_sha256": wheel_digest,
            "build": "release, with assertions and logging compiled in",
        },
        "clock": "simulated",
        "tools": image["packages"],
        "image_digest": image["content_digest"],
        "testbed_digest": digest,
    }


def idle_rtt(specification, flows) -> list[dict] | None:
    """Return the section ``idle_rtt``: the time that the first flow of each pair took to connect.

    A pair is omitted if none of its flows connected, or if its first flow's SYN reaches the bottleneck after the first data packet, because
    the path is no longer idle then. The result is None if all pairs are omitted.
    """
    starts, pairs = starts_ns(specification), specification.pairs
    # Time at which the first data packet reaches the bottleneck.
    busy_ns = min(
        starts[flow] + (pair.rtt_ms + pair.access_delay_ms) * 1e6
        for flow in range(len(flows))
        for pair in [specification.flow_pair(flow)]
    )
    measured = []
    for pair in pairs:
        first = min((f for f in range(len(flows)) if specification.flow_pair(f) == pair), key=starts.get, default=None)
        if (
            first is None
            or flows[first]["handshake_ns"] is None
            or starts[first] + pair.access_delay_ms * 1e6 >= busy_ns
        ):
            continue
        ms = flows[first]["handshake_ns"] * MS
        measured.append(
            {
                "sender": pair.sender, "receiver": pair.receiver, "sent": 1, "received": 1,
                "min_ms": ms, "mean_ms": ms, "max_ms": ms,
            }
        )  # fmt: skip
    return measured or None


def traffic(specification, flows) -> list[dict]:
    """Return the section ``traffic``: the hosts, CCA, start time and counters of each flow."""
    starts = starts_ns(specification)
    entries = []
    for flow, counted in enumerate(flows):
        pair = specification.flow_pair(flow)
        entries.append(
            {
                "flows": [flow],
                "sender": pair.sender,
                "receiver": pair.receiver,
                "cca": specification.flow_cca(flow),
                "start_offset_ms": starts[flow] * MS,
                "simulated": {"flows": [simulated(specification, flow, counted)]},
            }
        )
    return entries


def simulated(specification, flow, counted) -> dict:
    """Return the counters of a flow.

    If the flow didn't start, its start time is None; if it didn't end, its end time is None and its duration is 0. Missing byte counts and
    retransmit counts are reported as 0.
    """
    begin, end = counted["begin_ns"], counted["end_ns"]
    duration_s = (end - begin) * 1e-9 if end is not None else 0.0
    result = {
        "flow": flow,
        "start_s": None if begin is None else begin * 1e-9,
        "end_s": None if end is None else end * 1e-9,
        "seconds": duration_s,
        "bytes_sent": counted["sent"] or 0,
        "bytes_received": counted["received"] or 0,
        "retransmits": counted["retransmits"] or 0,
        "cwnd_max_bytes": counted["cwnd_max"],
        "intervals": intervals(specification.traffic.interval_s, counted["intervals"]),
    }
    if counted["rtt_count"]:
        result |= {
            "rtt_mean_ms": counted["rtt_sum_ns"] * MS / counted["rtt_count"],
            "rtt_min_ms": counted["rtt_min_ns"] * MS,
            "rtt_max_ms": counted["rtt_max_ns"] * MS,
        }
    return result


def intervals(interval_s, rows) -> list[dict]:
    """Return a flow's reporting intervals, with times in s since the flow's start.

    At the receiver an interval begins and ends one path delay later than at the sender.
    """
    listed = []
    before = [0, 0, 0]
    for number, (sent, received, retransmits, cwnd, srtt_ns) in enumerate(rows):
        now = [sent, before[1] if received is None else received, retransmits]
        difference = [a - b for a, b in zip(now, before, strict=True)]
        listed.append(
            {
                "start_s": round(number * interval_s, 9),
                "end_s": round((number + 1) * interval_s, 9),
                "bytes_sent": difference[0],
                "bytes_received": difference[1],
                "retransmits": difference[2],
                "cwnd_bytes": cwnd,
                "rtt_ms": None if srtt_ns is None else srtt_ns * MS,
            }
        )
        before = now
    return listed


def converted(name, value, segment_bytes) -> int | float | None:
    """Convert a value from the program's output to the document's unit; ``name`` is the value's name in the output. None stays None."""
    factor = COLUMNS[name][1]
    if value is None or factor == 1:
        return value
    return round(value / segment_bytes, 3) if factor is None else round(value * factor, 6)


def of_times(taken, times_ns) -> list[dict]:
    """Return the readings that the program took at the given times."""
    return [look for look in taken if look["time_ns"] in times_ns]


def delivered(specification, taken) -> dict:
    """Return the section ``delivered``: each flow's number of delivered bytes over time.

    Bytes count as delivered when they have been acknowledged to the sender, cumulatively or selectively.
    """
    acked = [{socket["flow"]: socket["acked"] + socket["sacked"] for socket in look["sockets"]} for look in taken]
    return {
        "time_ns": [look["time_ns"] for look in taken],
        "flows": [{"flow": flow, "bytes": [of.get(flow) for of in acked]} for flow in range(specification.flows)],
    }


def looks(specification, taken) -> list[dict]:
    """Return the section ``sockets``: the readings of the sockets; keys without a value are omitted."""
    listed = []
    for look in taken:
        sockets = []
        for of_socket in look["sockets"]:
            socket = {
                "host": specification.flow_pair(of_socket["flow"]).sender,
                "flow": of_socket["flow"],
                "local_port": of_socket["local_port"],
                "remote_port": of_socket["remote_port"],
                "cca": NAMES.get(of_socket["cca"], of_socket["cca"]),
                "mss_bytes": of_socket["segment_bytes"],
                "state": STATES[of_socket["congestion_state"]],
            }
            values = {
                key: converted(name, of_socket[name], of_socket["segment_bytes"]) for name, (key, _) in COLUMNS.items()
            }
            socket |= {key: value for key, value in values.items() if value is not None}
            sockets.append(socket)
        listed.append({"time_s": look["time_ns"] * 1e-9, "sockets": sockets})
    return listed


def series(specification, counted) -> dict:
    """Return the section ``series``: the time series; columns without any value are omitted."""
    segment = specification.segment_bytes
    sockets = []
    for flow, socket in enumerate(counted["sockets"]):
        columns = {
            "flow": flow,
            "time_s": [round(ns * 1e-9, 9) for ns in socket["time_ns"]],
            "state": [STATES[state] for state in socket["congestion_state"]],
        }
        for name, (key, _) in COLUMNS.items():
            values = [converted(name, value, segment) for value in socket[name]]
            if any(value is not None for value in values):
                columns[key] = values
        if specification.flow_cca(flow) == "bbr":
            columns |= {key: [round(value, 6) for value in socket[key]] for key in GAINS}
        sockets.append(columns)
    queue = counted["queue"]
    return {
        "interval_ms": specification.traffic.sample_interval_ms,
        "sockets": sockets,
        "queue": {
            "time_s": [round(ns * 1e-9, 9) for ns in queue["time_ns"]],
            **{key: queue[key] for key in ("packets", "bytes", "drops")},
        },
    }
