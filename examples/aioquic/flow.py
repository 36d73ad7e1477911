"""A QUIC flow by aioquic, as a program that a study declares (docs/programs.md).

python3 flow.py serve ADDRESS PORT SECONDS BYTES CCA [LOGS]    sends for SECONDS, or BYTES if SECONDS is empty
python3 flow.py get ADDRESS PORT SECONDS                       receives, and prints the number of bytes received

If $BURSTS is BYTES/SECONDS, such as 250000/2, the server sends that many bytes each time that many seconds have passed.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

# The packages are beside this file.
sys.path.insert(0, str(Path(__file__).parent / "packages"))

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived, StreamReset
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

#: Flow-control windows in bytes, so large that only congestion control limits a flow.
WINDOW = 64 << 20
#: Largest number of bytes handed to the connection but not yet sent.
AHEAD = 1 << 18
#: Seconds that a client waits for the end after the server stops sending; on a dead path, the end never arrives.
PATIENCE = 3.0
ZEROS = bytes(1 << 16)


def settings(**more) -> QuicConfiguration:
    """Return the settings for both sides, which log TLS secrets to the file $SSLKEYLOGFILE if that variable is set."""
    secrets = open(os.environ["SSLKEYLOGFILE"], "a", buffering=1) if "SSLKEYLOGFILE" in os.environ else None
    return QuicConfiguration(
        alpn_protocols=["flow"],
        idle_timeout=300.0,
        max_data=WINDOW,
        max_stream_data=WINDOW,
        secrets_log_file=secrets,
        **more,
    )


class Sender(QuicConnectionProtocol):
    """The server's side of a connection, which sends after it has received a byte."""

    seconds, amount = "", ""

    def quic_event_received(self, event) -> None:
        if isinstance(event, StreamDataReceived) and event.stream_id == 0 and not hasattr(self, "_left"):
            self._left = int(self.amount) if self.amount else None
            self._end = None if self.amount else self._loop.time() + float(self.seconds)
            self._sent = self._allowed = 0
            if self._end is not None:
                self._loop.call_at(self._end, self._stop)
            self._allow_burst(self._loop.time())
        if isinstance(event, ConnectionTerminated):
            self._left = 0

    def transmit(self) -> None:
        """Hand the connection as much data as it may send soon, and make it send."""
        if getattr(self, "_left", 0) != 0:
            stream = self._quic._streams[0].sender
            while self._left != 0 and self._sent < self._allowed and self._sent - stream.highest_offset < AHEAD:
                size = min(len(ZEROS), self._allowed - self._sent, len(ZEROS) if self._left is None else self._left)
                self._left = None if self._left is None else self._left - size
                self._sent += size
                self._quic.send_stream_data(0, ZEROS[:size], end_stream=self._left == 0)
        super().transmit()

    def _allow_burst(self, now) -> None:
        """Allow the connection another burst; without $BURSTS, the first one has no end."""
        size, every = os.environ.get("BURSTS", f"{1 << 62}/3600").split("/")
        self._allowed += int(size)
        self._loop.call_at(now + float(every), self._begin_burst, now + float(every))

    def _begin_burst(self, now) -> None:
        if self._left != 0:
            self._allow_burst(now)
            self.transmit()

    def _stop(self) -> None:
        """Stop sending; data that were not sent are discarded."""
        if self._left is None:
            self._left = 0
            self._quic.reset_stream(0, 0)
            self.transmit()


class Receiver(QuicConnectionProtocol):
    """The client's side."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.received, self.ended = 0, asyncio.Event()

    def quic_event_received(self, event) -> None:
        if isinstance(event, StreamDataReceived):
            self.received += len(event.data)
        if isinstance(event, (StreamReset, ConnectionTerminated)) or getattr(event, "end_stream", False):
            self.ended.set()


async def send(address, port, seconds, amount, cca, logs=None) -> None:
    """Serve until the process is terminated."""
    Sender.seconds, Sender.amount = seconds, amount
    logger, ended = QuicFileLogger(logs) if logs else None, asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    configuration = settings(is_client=False, congestion_control_algorithm=cca, quic_logger=logger)
    configuration.certificate, configuration.private_key = own_certificate()
    await serve(address, int(port), configuration=configuration, create_protocol=Sender)
    await ended.wait()
    # aioquic writes a connection's log when it discards the connection, some time after the connection's end.
    for trace in [*logger._traces] if logger else ():
        logger.end_trace(trace)


async def get(address, port, seconds) -> None:
    """Receive until the stream ends or the time is over."""
    configuration = settings(is_client=True, verify_mode=0, server_name="flow")
    async with connect(address, int(port), configuration=configuration, create_protocol=Receiver) as connection:
        connection._quic.send_stream_data(0, b"\0")
        connection.transmit()
        with suppress(TimeoutError):
            await asyncio.wait_for(connection.ended.wait(), float(seconds) + PATIENCE if seconds else None)
        print("bytes", connection.received, flush=True)


def own_certificate() -> tuple:
    """Return a self-signed certificate and its key; the server's identity doesn't matter here."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "flow")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=365))
    return builder.sign(key, hashes.SHA256()), key


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    asyncio.run({"serve": send, "get": get}[kind](*words))
