#!/usr/bin/python3 -IS
"""A program, as test material, that reads the processor's time stamp counter, with RDTSC and RDTSCP.

The client prints JSON: ``ahead``, the numbers of ns that readings are ahead of the monotonic clock; ``steps``, the differences between
successive readings; and ``masked``, the processor's features that cryptographic libraries are told not to use.
"""

import ctypes
import itertools
import json
import mmap
import os
import socket
import sys
import time

#: Each is followed by: shl rdx, 32; or rax, rdx; ret.
RDTSC, RDTSCP = "0f31", "0f01f9"


def reader(instruction):
    """Return a function that reads the counter with an instruction."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    # At the end of the page, so that no byte can be read beyond the code.
    code = bytes.fromhex(instruction + "48c1e2204809d0c3")
    page[-len(code) :] = code
    pages.append(page)
    return ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page, 4096 - len(code))))


pages = []
what, address, port = sys.argv[1:4]
if what == "serve":
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, int(port)))
    while True:
        time.sleep(1)
time.sleep(0.5)
readers = [reader(RDTSC), reader(RDTSCP)]
ahead = [read() - time.monotonic_ns() for read in readers for _ in range(5)]
counts = [readers[number % 2]() for number in range(20)]
steps = [later - earlier for earlier, later in itertools.pairwise(counts)]
print(json.dumps({"ahead": ahead, "steps": steps, "masked": os.environ["OPENSSL_ia32cap"]}, separators=(",", ":")))  # noqa: SIM112
print("bytes 1")
