"""Serve a file by nginx: ``serve.py ADDRESS PORT BYTES CCA LOGS VERSION``.

The listening socket has the CCA, which nginx takes over (its variable NGINX), and so have the connections that it accepts.
A file has BYTES, or 32 MiB, which a client then asks for again and again.
"""

import os
import socket
import sys
from pathlib import Path

CONFIGURATION = """
daemon off;
pid {logs}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000;
    {paths}
    server {{ listen {listen}; http2 {http2}; root {logs}; }}
}}
"""
#: Folders that nginx makes when it starts.
BODIES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def main() -> None:
    """Make the file, listen, and become nginx."""
    address, port, size, cca, logs, version = sys.argv[1:]
    os.truncate(os.open(f"{logs}/object", os.O_CREAT | os.O_WRONLY), int(size or 32 * 2**20))
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
    listening.bind((address, int(port)))
    listening.listen()
    listening.set_inheritable(True)
    configuration = Path(logs, "nginx.conf")
    configuration.write_text(
        CONFIGURATION.format(
            logs=logs,
            paths="\n    ".join(f"{name}_temp_path {logs}/{name};" for name in BODIES),
            listen=f"[{address}]:{port}" if ":" in address else f"{address}:{port}",
            http2="on" if version == "2" else "off",
        )
    )
    os.environ["NGINX"] = f"{listening.fileno()};"
    os.execv("/usr/sbin/nginx", ["nginx", "-p", logs, "-c", configuration])


if __name__ == "__main__":
    main()
