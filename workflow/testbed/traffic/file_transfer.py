"""File transfer with passive FTP: vsftpd on the sender, and wget on the receiver. wget discards the downloaded file.

The file is sparse, so it needs no memory and causes no disk reads. The server is a single process and runs as the user that started
it, because the container may have no other user. It doesn't change its root directory, and uses no sandbox and no log.
"""

import re
from pathlib import Path

from testbed.errors import TrafficError
from testbed.network.multipath import command_prefix
from testbed.traffic.iperf3 import PATIENT_SERVER, waits_in_kernel

FILE_NAME = "file"
#: Command port and data port of the first client's server. Each further server uses the next command port and the next data port.
FIRST_PORT, FIRST_DATA_PORT = 21, 20_000
#: The client runs on the receiver, which requests the file.
CLIENT_ON = "receiver"
#: Whether a server ends by itself: vsftpd keeps waiting for further clients.
SERVER_ENDS = False
#: Library that hides MPTCP's refusal of an unnecessary socket option (envs/guest/urgent.c).
WITHOUT_URGENT_DATA = "/usr/lib/sawtooth/urgent.so"
#: wget's last line; units are powers of 1024: `2023-11-14 22:13:23 (44.6 MB/s) - '/dev/null' saved [100000000]`.
SAVED = re.compile(r"\(([\d.]+) ([KMGT]?)B/s\) - .* saved \[(\d+)\]")
UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def data_port(port) -> int:
    """Return the data port of the server that accepts commands at ``port``."""
    return FIRST_DATA_PORT + port - FIRST_PORT


def configuration(specification, port, folder) -> str:
    """Return the text of vsftpd.conf(5) for the server at ``port``; ``folder`` contains the file to transfer."""
    version = specification.ip_version
    values = {
        "listen": "YES" if version == "ipv4" else "NO",
        "listen_ipv6": "YES" if version == "ipv6" else "NO",
        "listen_port": port,
        "background": "NO",
        "anonymous_enable": "YES",
        "no_anon_password": "YES",
        "anon_root": folder,
        "pasv_min_port": data_port(port),
        "pasv_max_port": data_port(port),
        "one_process_model": "YES",
        "run_as_launching_user": "YES",
        "secure_chroot_dir": folder,
        "seccomp_sandbox": "NO",
        "session_support": "NO",
        "xferlog_enable": "NO",
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def server_command(client, specification, folder=Path("/tmp")) -> list[str]:
    """Write the file to transfer and the server's configuration, and return the server's command.

    The configuration is written to ``folder``, and the file to a folder ``served`` below it.
    """
    content, configured = folder / "served", folder / f"vsftpd-{client.port}.conf"
    content.mkdir(exist_ok=True)
    with (content / FILE_NAME).open("wb") as file:
        file.truncate(specification.traffic.file_bytes)
    configured.write_text(configuration(specification, client.port, content))
    library = WITHOUT_URGENT_DATA if specification.multipath.by == "mptcp" else None
    return [*command_prefix(specification, library), "vsftpd", str(configured)]


def client_command(client, specification, address) -> list[str]:
    """Return wget's command; ``address`` is the server's address."""
    host = f"[{address}]" if ":" in address else address
    # With the library `PATIENT_SERVER`, wget reads 64 KiB at a time. Without the library, wget reads the packets of a tunnel individually,
    # and a transfer of 1 GB takes 31 s instead of 5 s.
    return [
        *command_prefix(specification, PATIENT_SERVER if waits_in_kernel(specification) else None),
        "wget", "--no-config", "--no-hsts", "--tries=1", "--timeout=60", "--progress=dot:giga",
        "--output-document=/dev/null", f"ftp://{host}:{client.port}/{FILE_NAME}",
    ]  # fmt: skip


def parse(output, seconds) -> dict[str, int | float]:
    """Return a client's result: ``bytes``, ``seconds`` and ``wget_mbps``.

    ``wget_mbps`` is the rate in Mbit/s that wget reports. It is rounded to three digits, and computed over the duration of the data
    connection only. Raises `TrafficError` if the file was not saved.

    Parameters
    ----------
    output : str
        Output of wget.
    seconds : float
        Running time of wget in s of the run's clock.
    """
    line = SAVED.search(output)
    if not line:
        raise TrafficError(f"wget: {last_words(output)}")
    rate, unit, count = line.groups()
    return {"bytes": int(count), "seconds": seconds, "wget_mbps": float(rate) * 1024 ** UNITS[unit] * 8 / 1e6}


def last_words(output) -> str:
    """Return the last informative line of wget's output."""
    lines = [line for line in output.splitlines() if line.strip() not in ("", "Giving up.")]
    return lines[-1].strip() if lines else "no output"


def entry(client, specification, outputs) -> dict[str, dict]:
    """Return the key ``transfer`` of a client's entry in the run document, in the form of `parse`.

    Raises `TrafficError` with wget's own message.
    """
    output = outputs["client"]
    if output.status != 0:
        raise TrafficError(f"wget: exit status {output.status}: {last_words(output.errors or output.text)}")
    return {"transfer": parse(output.errors + "\n" + output.text, output.ended_s - client.start_offset_s)}


def connections(entries, seen) -> dict[tuple[str, int, int], int]:
    """Return the flow of each observed connection from a server's data port, by (sender, sender's port, receiver's port)."""
    data_ports = {data_port(entry["port"]): entry for entry in entries}
    return {
        key: data_ports[key[1]]["flows"][0]
        for key in seen
        if key[1] in data_ports and key[0] == data_ports[key[1]]["sender"]
    }
