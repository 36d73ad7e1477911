"""Serve a file with nginx: ``serve.py ADDRESS PORT BYTES CCA LOGS VERSION``.

nginx takes over a listening socket with the CCA (through its variable NGINX); connections that it accepts inherit the CCA.
The file has BYTES bytes, or 32 MiB if BYTES is empty; in that case, a client requests it repeatedly.
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
#: Folders that nginx creates when it starts.
BODIES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def main() -> None:
    """Create the file, listen, and execute nginx."""
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
