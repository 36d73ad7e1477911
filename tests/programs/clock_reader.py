#!/usr/bin/python3 -IS
"""A program, as test material, that reads the clock with and without system calls and writes into the page from which it reads.

The client prints JSON: ``steps``, the usual ns between readings (both by system calls, the second without, the first without); ``found``, what
another process left in the page; ``misled``, by how many ns a reading without the kernel is wrong after 1 s was written into the page;
``moved``, by how many ns the kernel's clock moved after wrong times were written.
"""

import collections
import ctypes
import json
import socket
import sys
import time

CLOCK_GETTIME, MONOTONIC = 228, 1  # x86-64
libc = ctypes.CDLL(None)
#: Places in the page with the guest's patch 0010: the current time, the next event, two offsets.
NOW, UNTIL, MONOTONIC_AHEAD, REST = 0, 1, 2, 4


def by_system_call():
    """Return the monotonic clock in ns, as the kernel reads it."""
    read = (ctypes.c_int64 * 2)()
    libc.syscall(CLOCK_GETTIME, MONOTONIC, ctypes.byref(read))
    return read[0] * 10**9 + read[1]


def usual_step(first, second):
    """Return the most frequent difference of two readings."""
    pairs = [(first(), second()) for _ in range(50)]
    return collections.Counter(later - earlier for earlier, later in pairs).most_common(1)[0][0]


def moved_by(place, value):
    """Write into the page, and return the amount by which the kernel's clock then moves."""
    before = by_system_call()
    page[place] = value
    return by_system_call() - before


def misled_by(ns):
    """Return the error of a reading without a system call after ``ns`` was added to an offset in the page."""
    before = time.monotonic_ns()
    page[MONOTONIC_AHEAD] += ns
    return time.monotonic_ns() - before - 256


(line,) = (line for line in open("/proc/self/maps") if line.endswith("[vvar]\n"))
page = (ctypes.c_uint64 * 512).from_address(int(line.partition("-")[0], 16))
what, address, port = sys.argv[1:4]
if what == "serve":
    page[REST] = 2**40
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, int(port)))
    while True:
        page[REST] = 2**40
        time.sleep(0.01)
time.sleep(0.5)
found = sum(page[REST:])
clocks = (by_system_call, by_system_call), (by_system_call, time.monotonic_ns), (time.monotonic_ns, by_system_call)
steps = [usual_step(*pair) for pair in clocks]
moved = [moved_by(NOW, 2**62), moved_by(NOW, 0), moved_by(UNTIL, 2**63)]
misled_by(0)
print(json.dumps({"steps": steps, "found": found, "misled": misled_by(10**9), "moved": moved}))
print("bytes 1")
