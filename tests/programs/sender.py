#!/usr/bin/python3 -IS
"""A flow over UDP or TCP, as test material: a server that sends for a time or an amount, and a client that counts.

Over UDP it sends at a fixed rate, numbers its packets, and ends with a packet without a number. ``MISBEHAVE`` names its misbehaviour.

sender.py serve udp|tcp ADDRESS PORT SECONDS BYTES MISBEHAVE
sender.py get udp|tcp ADDRESS PORT MISBEHAVE

After ``sender.py random`` it first waits for up to 1.02 s, according to a random number of the processor.
"""

import ctypes
import mmap
import os
import socket
import sys
import time

PACKET, MBPS = 1200, 8


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def misbehave(how):
    if how == "crash":
        sys.stderr.write("panic: \x1b[31mout of ideas\n")
        sys.stderr.flush()
        os.abort()
    if how == "hang":
        time.sleep(10_000)
    if how == "flood":
        while True:
            print("x" * 1000)
    if how == "leave":
        sys.exit(0)
    if how == "memory":
        bytearray(2**30)
    if how == "spin":
        while True:
            pass


def serve(protocol, address, port, seconds, size, how):
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    listening = socket.socket(family(address), kind)
    listening.bind((address, int(port)))
    if protocol == "tcp":
        listening.listen()
    print("listening", flush=True)
    if how == "early":
        sys.exit(3)
    while True:
        if protocol == "udp":
            _, client = listening.recvfrom(100)
            send_packets(listening, client, seconds, size, 4000 if how == "large" else PACKET)
        else:
            connection, _ = listening.accept()
            send_stream(connection, seconds, size)


def send_packets(one, client, seconds, size, packet):
    count = int(size) // packet + 1 if size else int(float(seconds) * MBPS * 1e6 / 8 / packet)
    begin = time.monotonic()
    for number in range(count):
        time.sleep(max(0, begin + number * packet * 8 / MBPS / 1e6 - time.monotonic()))
        one.sendto(b"%08d" % number + bytes(packet - 8), client)
    for _ in range(3):
        one.sendto(b"end", client)
        time.sleep(0.1)


def send_stream(connection, seconds, size):
    end, left, block = time.monotonic() + float(seconds or 0), int(size or 0), bytes(16_384)
    while left > 0 if size else time.monotonic() < end:
        left -= connection.send(block[:left] if size else block)
    connection.close()


def get(protocol, address, port, how):
    one = socket.socket(family(address), socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM)
    one.connect((address, int(port)))
    misbehave(how)
    got = 0
    if protocol == "udp":
        one.send(b"go")
    while (received := one.recv(65_536)) and received != b"end":
        got += len(received)
    if how == "kilobytes":
        got //= 1000
    if how != "silent":
        print("bytes", got, flush=True)
    if how == "verbose":
        print("statistics " * 1000, flush=True)


def random_number():
    """Return a random number of the processor below 2^64."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("480fc7f0c3"))  # rdrand rax; ret
    return ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "random":
        time.sleep(random_number() % 1024 / 1000)
        what, *arguments = arguments
    {"serve": serve, "get": get}[what](*arguments)
