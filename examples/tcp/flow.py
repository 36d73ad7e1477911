"""A flow of the kernel's TCP, as a program that a study declares (docs/programs.md).

python3 flow.py serve ADDRESS PORT SECONDS BYTES CCA    sends for SECONDS, or BYTES if SECONDS is empty
python3 flow.py get ADDRESS PORT SECONDS                receives, and prints the number of bytes received

If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.
"""

import os
import signal
import socket
import struct
import sys
import time

#: Seconds that a client waits for the end after the server stops sending; on a dead path, the end never arrives.
PATIENCE = 3.0
ZEROS = bytes(1 << 16)


def serve(address, port, seconds, amount, cca) -> None:
    """Send to one client, then wait until the process is terminated."""
    listener = socket.create_server((address, int(port)), family=family_of(address))
    # An accepted connection has the CCA of the listening socket.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
    connection, _ = listener.accept()
    connection.recv(1)
    if amount:
        send(connection, int(amount))
        connection.shutdown(socket.SHUT_WR)
    else:
        send_for(connection, float(seconds))
        # Closing then resets the connection, and data that were not sent are discarded.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    signal.pause()


def send_for(connection, seconds) -> None:
    """Send for some seconds: bursts, or without $BURSTS a single one without end."""
    size, every = os.environ.get("BURSTS", f"{1 << 62}/3600").split("/")
    burst = time.monotonic()
    end = burst + seconds
    while time.monotonic() < end:
        send(connection, int(size), end)
        burst += float(every)
        time.sleep(max(0, min(burst, end) - time.monotonic()))


def send(connection, size, end=None) -> None:
    """Send a number of bytes, or as many as the kernel accepts before ``end``."""
    while size > 0:
        if end is not None:
            if (left_s := end - time.monotonic()) <= 0:
                return
            connection.settimeout(left_s)
        try:
            size -= connection.send(ZEROS[:size])
        except TimeoutError:
            return


def get(address, port, seconds) -> None:
    """Receive until the server ends the connection or the time is over."""
    received, end = 0, time.monotonic() + float(seconds or "inf") + PATIENCE
    with socket.create_connection((address, int(port))) as connection:
        connection.send(b"\0")
        while (left_s := end - time.monotonic()) > 0:
            connection.settimeout(left_s if seconds else None)
            try:
                data = connection.recv(1 << 20)
            except (TimeoutError, ConnectionResetError):
                break
            if not data:
                break
            received += len(data)
    print("bytes", received, flush=True)


def family_of(address) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    {"serve": serve, "get": get}[kind](*words)
