"""Serve a file with nginx: ``serve.py ADDRESS PORT BYTES CCA LOGS VERSION``, where VERSION is 1, 2 or 3.

Up to HTTP/2, nginx takes over a listening socket with the CCA (through its variable NGINX); connections that it accepts inherit the CCA.
HTTP/3 uses nginx's own QUIC and its Reno. The file has BYTES bytes, or 32 MiB if BYTES is empty; in that case, a client requests it
repeatedly.
"""

import os
import socket
import subprocess
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
    server {{ listen {listen}; root {logs}; {more} }}
}}
"""
#: Configuration for HTTP/3. By default, nginx sends at most 64 KiB of a file in a round trip; this limit is 1 MiB.
QUIC = "ssl_certificate {logs}/certificate; ssl_certificate_key {logs}/key; http3_stream_buffer_size 1m;"
#: Command that makes a certificate.
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout key -out certificate"
)
#: Folders that nginx creates when it starts.
BODIES = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def main() -> None:
    """Create the file, listen, and execute nginx."""
    address, port, size, cca, logs, version = sys.argv[1:]
    os.truncate(os.open(f"{logs}/object", os.O_CREAT | os.O_WRONLY), int(size or 32 * 2**20))
    listen = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    more = "http2 on;" if version == "2" else ""
    if version == "3":
        subprocess.run(CERTIFICATE.split(), cwd=logs, check=True, capture_output=True)
        listen, more = f"{listen} quic", QUIC.format(logs=logs)
    else:
        os.environ["NGINX"] = f"{listening_socket(address, int(port), cca)};"
    configuration = Path(logs, "nginx.conf")
    paths = "\n    ".join(f"{name}_temp_path {logs}/{name};" for name in BODIES)
    configuration.write_text(CONFIGURATION.format(logs=logs, paths=paths, listen=listen, more=more))
    os.execv("/usr/sbin/nginx", ["nginx", "-p", logs, "-c", configuration])


def listening_socket(address, port, cca) -> int:
    """Return the file descriptor of a socket that listens on the port with a CCA and is inherited by nginx."""
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
    listening.bind((address, port))
    listening.listen()
    listening.set_inheritable(True)
    return listening.detach()


if __name__ == "__main__":
    main()
