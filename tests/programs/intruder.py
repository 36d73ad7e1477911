#!/usr/bin/python3 -IS
"""A program that tries what a declared program must not do, as test material: its last line lists what it could reach."""

import ctypes
import os
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
reached = []


def attempt(name, act):
    """Record a name if an action succeeds."""
    try:
        if act():
            reached.append(name)
    except OSError:
        pass


def writes(path):
    with open(path, "w") as file:
        file.write("x")
    return True


def fills_memory_disk():
    with open("/tmp/large", "wb") as file:
        for _ in range(200):
            file.write(bytes(2**20))
    return True


what, protocol, address, port, *_ = sys.argv[1:]
if what == "serve":
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((address, int(port)))
    time.sleep(1000)
attempt("root", lambda: os.setuid(0) or True)
attempt("job", lambda: os.path.exists("/mnt/job"))
attempt("home", lambda: os.path.exists("/root") or os.path.exists("/home"))
attempt("passwords", lambda: open("/etc/passwd").read())
attempt("image", lambda: writes("/usr/bin/x"))
attempt("itself", lambda: writes("/program/x"))
attempt("top folder", lambda: writes("/x"))
attempt("disk", fills_memory_disk)
attempt("settings", lambda: writes("/proc/sys/net/ipv4/tcp_congestion_control"))
attempt(
    "others",
    lambda: any(name.isdigit() and os.stat(f"/proc/{name}").st_uid != os.getuid() for name in os.listdir("/proc")),
)
attempt("signal", lambda: os.kill(1, 0) is None)
attempt("mount", lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0)
attempt(
    "namespace",
    lambda: (
        libc.unshare(0x10000000) == 0
        and libc.unshare(0x00020000) == 0
        and libc.mount(b"none", b"/usr", b"tmpfs", 0, None) == 0
    ),
)
attempt("raw packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("clock", lambda: libc.settimeofday(ctypes.create_string_buffer(16), None) == 0)
attempt("reboot", lambda: libc.reboot(0x4321FEDC) == 0)
attempt("outside", lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))
print("reached:", ", ".join(reached) or "nothing")
sys.exit(1)
