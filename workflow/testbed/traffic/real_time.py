"""Real-time streams: UDP packets of one size at one rate, as calls and games have them, and what becomes of each.

Both programs are of ours, one process a side for all streams of a group: each packet carries its stream, its number and the
moment it was sent, by the clock of the kernel that both hosts share, so that a one-way delay is exact. Streams are apart by
equal parts of the interval.

``python3 -m testbed.traffic.real_time receive PLAN RESULT`` and ``... send PLAN RESULT``.
"""

import selectors
import socket
import struct
import sys

from testbed.traffic.clocked import address_family, allow_open_files, begin, read_plan, write_result

#: What a packet begins with: its number, and when it was sent, in ns from the origin.
HEAD = struct.Struct("!Iq")
#: How long the receiver waits for what may still be under way, beyond the path's own time.
PATIENCE_S = 5.0
MOST_BYTES = 2048


def send_times_ns(group) -> list[int]:
    """Return the send times of a group's first stream, in ns from the origin; those of the others lie in between."""
    begin_ns, end_ns, interval_ns = (
        round(at) for at in (group.start_s * 1e9, group.stop_s * 1e9, group.interval_ms * 1e6)
    )
    return list(range(begin_ns, end_ns, interval_ns))


def stream_offset_ns(group, stream) -> int:
    """Return the offset of a stream's send times from those of the first stream."""
    return round(stream * group.interval_ms * 1e6 / group.count)


def send(plan, clock) -> dict:
    """Send all packets of a plan, each at its time; return ``sent_ns``: of each stream when each packet was sent."""
    events = sorted((at, stream) for stream, times in enumerate(plan["time_ns"]) for at in times)
    sockets = []
    for stream in range(len(plan["time_ns"])):
        one = socket.socket(address_family(plan["address"]), socket.SOCK_DGRAM)
        one.connect((plan["address"], plan["port"] + stream))
        sockets.append(one)
    sent_ns, padding = [[] for _ in sockets], bytes(plan["packet_bytes"] - HEAD.size)
    with selectors.EpollSelector() as selector:
        selector.register(clock, selectors.EVENT_READ)
        for at_ns, stream in events:
            clock.ring_at(at_ns)
            selector.select()
            clock.quiet()
            now_ns = clock.now_ns()
            sockets[stream].send(HEAD.pack(len(sent_ns[stream]), now_ns) + padding)
            sent_ns[stream].append(now_ns)
    return {"sent_ns": sent_ns}


def receive(plan, sockets, clock) -> dict:
    """Take packets until all have come or the deadline has; return columns of each stream.

    Returns ``delay_ns``: of each stream a list, an entry a packet by its number: the one-way delay of the first copy,
    None if none came; ``duplicates``, ``damaged``: packets in all.
    """
    delay_ns = [[None] * len(times) for times in plan["time_ns"]]
    left, duplicates, damaged = sum(map(len, delay_ns)), 0, 0
    with selectors.EpollSelector() as selector:
        selector.register(clock, selectors.EVENT_READ, None)
        for stream, one in enumerate(sockets):
            selector.register(one, selectors.EVENT_READ, stream)
        clock.ring_at(plan["deadline_ns"])
        while left:
            for key, _ in selector.select():
                if key.data is None:
                    return {"delay_ns": delay_ns, "duplicates": duplicates, "damaged": damaged}
                packet = key.fileobj.recv(MOST_BYTES)
                now_ns = clock.now_ns()
                number, sent_ns = HEAD.unpack_from(packet)
                of_stream = delay_ns[key.data]
                if len(packet) != plan["packet_bytes"] or number >= len(of_stream):
                    damaged += 1
                elif of_stream[number] is None:
                    of_stream[number] = now_ns - sent_ns
                    left -= 1
                else:
                    duplicates += 1
    return {"delay_ns": delay_ns, "duplicates": duplicates, "damaged": damaged}


def listening(plan) -> list[socket.socket]:
    """Return a socket for each stream that packets can arrive at."""
    sockets = []
    for stream in range(len(plan["time_ns"])):
        one = socket.socket(address_family(plan["address"]), socket.SOCK_DGRAM)
        one.bind((plan["address"], plan["port"] + stream))
        sockets.append(one)
    return sockets


if __name__ == "__main__":
    what, plan_file, result_file = sys.argv[1:]
    allow_open_files()
    asked = read_plan(plan_file)
    if what == "send":
        result = send(asked, begin())
    else:
        places = listening(asked)
        result = receive(asked, places, begin())
    write_result(result_file, result)
