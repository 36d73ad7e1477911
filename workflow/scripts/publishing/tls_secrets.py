"""Read the TLS secrets of a run's programs from their logs, and add the secrets to captures so that Wireshark can decrypt the packets.

The lines of the logs are in the format of ``SSLKEYLOGFILE`` (draft-ietf-tls-keylogfile). Secrets are added as Decryption Secrets Blocks
(draft-ietf-opsawg-pcapng).
"""

import os
import re
import shutil
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from publishing.packet_files import packets_of, udp_payload
from testbed.machine.confined import MOST_SECRETS
from testbed.machine.given_file import given_bytes
from testbed.readings.packet_capture import INTERFACE, block

#: Name of the file, next to a run's captures, that contains all secrets of the run.
SECRETS = "tls-secrets.txt"
DECRYPTION_SECRETS, TLS_KEY_LOG = 0x0000000A, 0x544C534B
#: Form of a line: the label of the secret, the client's random value, and the secret.
LINE = re.compile(rb"[A-Z][A-Z0-9_]{1,63} [0-9a-f]{64} [0-9a-f]{64,128}\n", re.IGNORECASE)
#: Bit set in the first byte of QUIC packets with a long header, and maximum number of such packets that are compared per flow.
LONG_HEADER, MOST_PACKETS = 0x80, 32
#: Maximum total size of the lines in one block, in bytes.
MOST_IN_BLOCK = 2**19


@dataclass
class Secrets:
    """TLS secrets: the lines that programs logged, the flows whose secrets are missing, and why the programs couldn't log anything."""

    lines: list[bytes] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    problem: str = ""


def secrets_of(folder: Path, captures: Path) -> Secrets:
    """Return the secrets that programs logged in a repetition of a run.

    Parameters
    ----------
    folder : pathlib.Path
        Folder with the programs' logs and the captures of the repetition. A program can log anything, so lines in any other format are
        ignored. Client and server log the same lines, so duplicates are removed.
    captures : pathlib.Path
        The captures of the run.
    """
    lines = {}
    for file in sorted(folder.glob("*.txt")):
        lines |= dict.fromkeys(LINE.findall(given_bytes(file, MOST_SECRETS, os.O_NOFOLLOW)))
    if not lines:
        return Secrets()
    same, other = set(), {}
    for capture in sorted(captures.glob("*.pcapng")):
        begun, again = handshakes(capture), handshakes(folder / capture.name)
        same |= {flow for flow, packets in begun.items() if packets == again.get(flow)}
        other |= dict.fromkeys(flow for flow in begun if flow not in same)
    return Secrets([*lines] if same or not other else [], [*other])


def handshakes(capture: Path) -> dict[str, list[bytes]]:
    """Return the UDP payloads of a capture's QUIC packets with a long header, which include the handshake: flow -> payloads.

    Long headers are defined in RFC 9000, section 17.2. Only the first `MOST_PACKETS` packets of each flow are returned.
    """
    found = {}
    for _, content, length in packets_of(capture):
        source, destination, protocol, payload = udp_payload(content, length)
        if protocol == "UDP" and payload[:1] and payload[0] & LONG_HEADER:
            packets = found.setdefault(f"{source} > {destination}", [])
            packets += [payload] * (len(packets) < MOST_PACKETS)
    return found


def add_secrets(capture: Path, lines: Iterable[bytes]) -> None:
    """Insert secrets into a capture file in front of the packets."""
    partial = capture.with_suffix(".partial")
    with capture.open("rb") as file, partial.open("wb") as copy:
        while True:
            head = file.read(8)
            kind, length = struct.unpack("=II", head)
            copy.write(head + file.read(length - 8))
            if kind == INTERFACE:
                break
        for content in _parts(lines):
            copy.write(block(DECRYPTION_SECRETS, struct.pack("=II", TLS_KEY_LOG, len(content)) + content))
        shutil.copyfileobj(file, copy)
    partial.replace(capture)


def _parts(lines) -> Iterator[bytes]:
    """Join the lines into texts that each fit into a block, and yield these texts."""
    part = b""
    for line in lines:
        if len(part) + len(line) > MOST_IN_BLOCK:
            yield part
            part = b""
        part += line
    if part:
        yield part
