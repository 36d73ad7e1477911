"""Checks of declared programs: how they ended, which packets they sent, and how much data arrived."""

from collections.abc import Callable
from signal import SIGXFSZ

from experiment.timeline import DIRECTIONS
from testbed.checks.check import SENDER, Check
from testbed.machine.confined import WRITTEN_MIB
from testbed.network.transport import LINUX_DEFAULT, tcp_programs_on
from testbed.traffic.program_process import AT_END, AT_LIMIT, ITSELF, NOT_STARTED, READY_S, TOO_MUCH

#: How a side ends according to its declaration (`server_ends`, `client_ends`) -> the actual ends that agree with the declaration.
ENDINGS = {"itself": (ITSELF,), "killed": (AT_END, AT_LIMIT)}
#: How a side actually ended -> the problem description if this disagrees with the declaration.
FOUND = {
    AT_LIMIT: "had not ended in time",
    AT_END: "still ran at the end",
    TOO_MUCH: "printed more than is allowed",
    NOT_STARTED: "could not be started",
    ITSELF: "ended early",
}


def check_programs(specification, document) -> Check:
    """Each program became ready, ended as its declaration states, and reported what its declaration requires."""
    wrong = []
    for flow, entry in zip(specification.program_flows, document["programs"], strict=True):
        wrong += [f"{flow.who}: {finding}" for finding in findings(flow, entry, is_cut_off(specification, flow))]
    expected = "each program became ready, ended and reported as declared"
    return Check("programs", not wrong, expected, "; ".join(wrong) or expected, SENDER)


#: Minimum loss in percent at which a program may never learn that its peer has ended.
CUT_OFF_PERCENT = 50
#: Minimum share of the sending time for which a client must run if it ends by itself.
LEAST_SHARE = 0.9


def is_cut_off(specification, flow) -> bool:
    """Return whether at least half of the packets are lost in any direction at the planned end of a flow."""
    if flow.seconds is None:
        return False
    timeline, end_ns = specification.timeline, round(1e9 * (flow.start_s + flow.seconds))
    return any(timeline.value_at(way, "loss_percent", end_ns) >= CUT_OFF_PERCENT for way in DIRECTIONS)


def findings(flow, entry, cut_off=False) -> list[str]:
    """Return a problem description, with the program's output, for each deviation of a flow's program from its declaration.

    If ``cut_off`` is true (`is_cut_off`), a client may run until its time limit and a server until the end of the run, and the number of
    bytes needn't be reported.
    """
    found, sides = [], {"server": flow.program.server_ends, "client": flow.program.client_ends}
    if not entry["ready"]:
        # The client's failure would be a consequence.
        return [f"the server {unready(flow, entry['server'])}{quoted_output(entry['server'])}"]
    for side, ends in sides.items():
        one = entry[side]
        if cut_off and one["ended_by"] in (AT_LIMIT, AT_END):
            continue
        if one["ended_by"] not in ENDINGS[ends]:
            found.append(f"the {side} {FOUND[one['ended_by']]}{how(one)}{quoted_output(one)}")
        elif one["ended_by"] == ITSELF and one["status"]:
            found.append(f"the {side} failed{how(one)}{quoted_output(one)}")
    if not found and not cut_off and (ran_s := early_end_s(flow, entry["client"])) is not None:
        found.append(f"the client ended after {ran_s:.3g} of {flow.seconds:.3g} s{quoted_output(entry['client'])}")
    if not found and not cut_off and flow.program.reports_bytes and reported_bytes(flow, entry) is None:
        receiver = entry[receiving_side(flow)]
        found.append(
            f"it reported no number in plain digits after {flow.program.reports_bytes!r}{quoted_output(receiver)}"
        )
    return found


def unready(flow, server) -> str:
    """Return what happened to a server that was never ready, as text for a message."""
    if server["ended_by"] == ITSELF:
        return f"ended before it was ready{how(server)}"
    if server["ended_by"] in (NOT_STARTED, TOO_MUCH):
        return FOUND[server["ended_by"]]
    awaited = (
        f"print {flow.program.ready_line!r}"
        if flow.program.ready_line
        else f"open {flow.program.protocol.upper()} port {flow.port}"
    )
    return f"did not {awaited} within {READY_S:g} s"


def early_end_s(flow, client) -> float | None:
    """Return for how long, in s, a client ran if it ended by itself much too early; None if it ran long enough.

    A flow with a given number of bytes has no minimum time.
    """
    if flow.seconds is None or client["ended_by"] != ITSELF:
        return None
    ran_s = (client["ended_ns"] - client["started_ns"]) / 1e9
    return ran_s if ran_s < LEAST_SHARE * flow.seconds else None


def receiving_side(flow) -> str:
    """Return the side of a flow that receives the data, ``client`` or ``server``."""
    return "client" if flow.program.data_from == "server" else "server"


def reported_bytes(flow, entry) -> int | None:
    """Return the number of bytes that a flow's receiving side reported, or None if it reported none."""
    return entry[receiving_side(flow)]["reported"]


def how(side) -> str:
    """Return a side's signal or exit status as text for a message; the text is empty unless the side ended by itself."""
    if side["ended_by"] != ITSELF:
        return ""
    if side["status"] >= 0:
        return f" (exit status {side['status']})"
    number = -side["status"]
    limit = f": its files exceeded {WRITTEN_MIB} MiB" if number == SIGXFSZ else ""
    return f" (signal {number}{limit})"


def quoted_output(side) -> str:
    """Return the quoted output of a side's program as text for a message."""
    return f", output: {side['last']}" if side["last"] else ", no output"


def check_program_packets(specification, document) -> Check:
    """All of the programs' packets were counted, none exceeds the links' maximum packet size, and no more arrived than were sent.

    More packets may arrive than were sent if the path duplicates packets.
    """
    counted, wrong = document["program_packets"], []
    largest_bytes = specification.largest_packet_bytes
    if counted["missed"]:
        wrong.append(f"{counted['missed']} packets not counted")
    for flow, packets in zip(specification.program_flows, counted["flows"], strict=True):
        if packets["packets_arrived"] > packets["packets_sent"] and not may_repeat(specification, flow):
            wrong.append(
                f"{flow.who}: {packets['packets_arrived']} packets arrived, but only {packets['packets_sent']} were sent"
            )
        if packets["largest_packet_bytes"] > largest_bytes:
            wrong.append(f"{flow.who}: a packet of {packets['largest_packet_bytes']} bytes")
    expected = f"all packets counted, each of up to {largest_bytes} bytes, no more arrived than sent"
    return Check("program_packets", not wrong, expected, "; ".join(wrong) or expected)


#: The byte count that a program reports is too small if more bytes arrived than this multiple of the count, plus this number of bytes for
#: handshakes.
MOST_ABOVE, LEAST_ABOVE_BYTES = 4, 30_000


def may_repeat(specification, flow) -> bool:
    """Return whether the path duplicates the packets of a flow."""
    return bool(specification.option("duplicate_percent", flow.pair.direction))


def check_program_data(specification, document) -> Check:
    """Each program sent unfragmented data packets over its declared protocol, and its report of received bytes, if any, is plausible.

    If a flow transfers a fixed amount of data and its client ended by itself, the entire amount arrived, according to the packets and to the
    report. Flows with a failed program are left to `check_programs`.
    """
    wrong = []
    flows = zip(specification.program_flows, document["programs"], document["program_packets"]["flows"], strict=True)
    for flow, entry, packets in flows:
        if findings(flow, entry, is_cut_off(specification, flow)):
            continue
        arrived = packets["bytes_arrived"] if packets["distinct_bytes"] is None else packets["distinct_bytes"]
        protocol, other = ("UDP", "TCP") if flow.program.protocol == "udp" else ("TCP", "UDP")
        if packets["other_packets"] > packets["packets_sent"]:
            wrong.append(
                f"{flow.who}: sent {packets['packets_sent']} packets with {protocol} data, its declared protocol, and "
                f"{packets['other_packets']} {other} packets"
            )
        elif packets["fragmented_packets"]:
            wrong.append(
                f"{flow.who}: sent {packets['fragmented_packets']} packets that were fragmented; allowed: packets of up to "
                f"{specification.largest_packet_bytes} bytes with all headers"
            )
        elif not packets["packets_sent"]:
            wrong.append(f"{flow.who}: sent no data from port {flow.port}{quoted_output(entry['server'])}")
        elif (said := reported_bytes(flow, entry)) is not None and said > arrived:
            wrong.append(f"{flow.who}: reported {said} bytes, but {arrived} arrived")
        elif (
            said is not None and arrived > MOST_ABOVE * said + LEAST_ABOVE_BYTES and not may_repeat(specification, flow)
        ):
            wrong.append(
                f"{flow.who}: reported {said} bytes, but {arrived} arrived; allowed: the number of all received bytes"
            )
        elif flow.bytes is not None and entry["client"]["ended_by"] == ITSELF:
            received, verb = (arrived, "arrived") if said is None else (min(said, arrived), "been reported")
            if received < flow.bytes:
                wrong.append(f"{flow.who}: ended when {received} of {flow.bytes} bytes had {verb}")
    expected = "each program sent data, and all reported or requested data arrived"
    return Check("program_data", not wrong, expected, "; ".join(wrong) or expected, SENDER)


def check_qlog(specification, document) -> Check:
    """Each program that should write a qlog left a readable qlog that contains congestion control events.

    Flows with a failed program are left to `check_programs`: a program that crashes may leave no log.
    """
    flows = [
        (flow, entry[flow.program.data_from]["qlog"])
        for flow, entry in zip(specification.program_flows, document["programs"], strict=True)
        if flow.program.qlog and not findings(flow, entry, is_cut_off(specification, flow))
    ]
    wrong = [f"{flow.who}: qlog: {log['problem']}" for flow, log in flows if "problem" in log]
    expected = "each log is readable and has congestion control events"
    return Check("qlog", not wrong, expected, "; ".join(wrong) or expected)


def check_program_cca(specification, document) -> Check:
    """Each flow of a program over TCP that is named after a CCA of the kernel (``nginx:bbr``) used this CCA, according to the kernel.

    A flow whose connections existed only between two readings is not judged.
    """
    by_number, wrong = {flow.number: flow for flow in specification.program_flows}, []
    for one in document["program_sockets"]:
        if None not in (one["named_cca"], one["cca"]) and one["cca"] != one["named_cca"]:
            flow = by_number[one["flow"]]
            wrong.append(f"{flow.who}: sent by {one['cca']}{why_default(specification, flow, one['cca'])}")
    expected = "each program named after a CCA of the kernel sent by this CCA"
    return Check("program_cca", not wrong, expected, "; ".join(wrong) or expected)


def why_default(specification, flow, cca) -> str:
    """Return, as text for a message, why a flow's host had a default CCA other than the one in the program's name; otherwise empty."""
    host = flow.pair.sender
    labels = dict.fromkeys(program.label for program in tcp_programs_on(specification, host))
    if cca != LINUX_DEFAULT or len({label.partition(":")[2] for label in labels}) < 2:
        return ""
    return f", the default of {host}, whose programs name different CCAs or none ({', '.join(labels)})"


def checks_of(specification) -> tuple[Callable, ...]:
    """Return the checks that apply to a run with programs."""
    logs = specification.traffic.sample_interval_ms and any(flow.program.qlog for flow in specification.program_flows)
    return (
        check_programs, check_program_packets, check_program_data,
        *((check_program_cca,) if specification.tcp_program_flows else ()), *((check_qlog,) if logs else ()),
    )  # fmt: skip
