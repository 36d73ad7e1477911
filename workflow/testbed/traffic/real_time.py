"""Real-time streams as in calls and games: UDP packets of equal size at a constant rate.

The delay or loss of each packet is recorded. Sender and receiver are programs of this module, with one process per side for all streams of
a group. Each packet contains its number and its sending time. Both hosts share the kernel's clock, so one-way delays are exact. The streams
of a group are offset from each other by equal fractions of the interval.

``python3 -m testbed.traffic.real_time receive PLAN RESULT`` is the receiver, and ``... send PLAN RESULT`` is the sender.
"""

import selectors
import socket
import struct
import sys

from testbed.traffic.clocked import address_family, allow_open_files, begin, read_plan, write_result

#: Header of a packet: number, and sending time in ns since the origin.
HEAD = struct.Struct("!Iq")
#: Time in s that the receiver waits for packets in transit, in addition to the path's delay.
PATIENCE_S = 5.0
MOST_BYTES = 2048


def send_times_ns(group) -> list[int]:
    """Return the sending times of a group's first stream, in ns since the origin; other streams have an offset (`stream_offset_ns`)."""
    begin_ns, end_ns, interval_ns = (
        round(at) for at in (group.start_s * 1e9, group.stop_s * 1e9, group.interval_ms * 1e6)
    )
    return list(range(begin_ns, end_ns, interval_ns))


def stream_offset_ns(group, stream) -> int:
    """Return the offset in ns between a stream's sending times and those of the first stream."""
    return round(stream * group.interval_ms * 1e6 / group.count)


def send(plan, clock) -> dict:
    """Send each packet of a plan at its time, and return ``sent_ns``: for each stream, the list of its sending times."""
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
    """Receive packets until all have arrived or the deadline has passed.

    Return ``delay_ns``, ``duplicates`` and ``damaged``. ``delay_ns`` contains a list for each stream, with one entry per packet in the
    order of packet numbers. An entry is the one-way delay of the packet's first copy, or None if no copy arrived. ``duplicates`` and
    ``damaged`` are packet counts over all streams.
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
    """Return one receiving socket per stream."""
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
