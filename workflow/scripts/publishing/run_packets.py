"""Capture the packets of a finished run afterwards: ``python -m publishing.run_packets results/<study>/runs/<run>.json.gz``.

The run is repeated while packets are captured at its interfaces. The captures are kept only if the run document is byte-identical, which
shows that they contain the packets of the finished run. So are the logs (qlog) that the run's programs write.
"""

import argparse
import os
import shutil
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path

from experiment.programs import has_programs
from experiment.specification import RunSpecification
from publishing.packet_files import flows_of
from publishing.result_checks import reruns
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import temporary_folder
from publishing.run_again import (
    FORM,
    OtherDocumentError,
    disk_words,
    finished_run,
    keep,
    own_kernels,
    record,
    repeat,
    run_of,
    target_of,
)
from publishing.tls_secrets import SECRETS, Secrets, add_secrets, secrets_of
from session.run_cost import run_time_s
from testbed.machine.messages import tell
from testbed.readings.packet_capture import BLOCK_BYTES as RING_BLOCK_BYTES
from testbed.readings.packet_capture import HEAD_BYTES
from wording.number_format import count

#: Number of bytes to keep of each packet. The first number is enough for all headers, including TCP and MPTCP options; the second also
#: for a tunnel's headers. With FULL=1, the third is enough for entire packets, and the fourth for packets with segmentation offload.
HEADER_BYTES, TUNNELLED_BYTES, FULL_BYTES, OFFLOADED_BYTES = 128, 192, 1600, RING_BLOCK_BYTES - HEAD_BYTES
#: Maximum number of flows that are printed for a capture.
MOST_FLOWS = 20
#: Patterns of the names of captures, and of programs' logs.
CAPTURES, LOGS = "*.pcapng", ("client-*", "server-*")
#: Overhead in the file for each packet's block, in bytes.
BLOCK_BYTES = 44
#: Core-seconds needed to capture one packet.
PACKET_S = 8e-6


def main(arguments=None) -> int:
    """Repeat the run that the command line names, and print the paths of the captures; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_packets", description=__doc__.splitlines()[0])
    parser.add_argument("document", type=Path, help=FORM)
    parser.add_argument(
        "--at", nargs="*", default=[], help="interfaces, such as h1-eth0; all in the network under test if not given"
    )
    parser.add_argument("--full", action="store_true", help="keep whole packets instead of their headers")
    parser.add_argument("--build", action="store_true", help="build and start the run's own kernel, if it has one")
    parser.add_argument("--check", action="store_true", help="only check the values, which needs no images")
    options = parser.parse_args(arguments)
    try:
        return _capture(options)
    except ReceivedError as error:
        tell(str(error))
    except OSError as error:
        tell(f"{disk_words(error)}; no captures were kept.")
    except KeyboardInterrupt:
        tell("interrupted; no captures were kept.")
    return 1


def _capture(options):
    if options.check:
        run_of(options.document)
        return 0
    run = finished_run(options.document, "packets")
    interfaces = chosen_interfaces(run.document, options.at)
    kept = kept_bytes(run.specification, options.full)
    packets, size = expected_size(run.document, interfaces, kept)
    target = target_of(run, "packets")
    require_space(run.folder, size)
    print(f"run {run.name}: {packets:,} packets at {count(len(interfaces), 'interface')}, about {_megabytes(size)}; {reruns.about(run_time_s(run.specification) + PACKET_S * packets)}", flush=True)  # fmt: skip

    asked = ["--packet-bytes", str(kept), "--at", *interfaces]
    with temporary_folder() as place:
        kernels = own_kernels(run, place, options.build)
        captures = _record(run, place, kernels, asked)
        secrets = (
            _secrets(run, place, kernels, asked, captures)
            if options.full and has_programs(run.specification)
            else Secrets()
        )
        for file in captures.glob(CAPTURES):
            add_secrets(file, secrets.lines)
        kept = keep(captures, target, CAPTURES, *LOGS)
    files = [file for file in kept if file.match(CAPTURES)]
    print("the document was reproduced byte for byte, so these are the run's packets:")
    specification = RunSpecification(run.specification)
    segment_bytes = specification.segment_bytes if specification.transport.segmentation_offload else None
    for file in files:
        _say(file, _counted(run.document, file.stem), segment_bytes)
    for log in sorted({*kept} - {*files}):
        print(f"  {os.path.relpath(log)}: log (qlog) of the program, {_megabytes(log.stat().st_size)}")
    if has_programs(run.specification):
        _say_secrets(secrets, files[0].with_name(SECRETS), options.full)
    return 0


def _record(run, place, kernels, asked):
    """Capture the packets of a run; return the folder with the captures."""

    def arguments(folder, step_s):
        return ["--packets", str(folder), *asked, *(["--packet-step-s", str(step_s)] if step_s else [])]

    try:
        return record(run, place, kernels, "packets", arguments, _lost)
    except OtherDocumentError as error:
        raise ReceivedError(
            f"{error}; AT=<interface> captures fewer packets, which may leave the document unchanged"
        ) from None


def _secrets(run, place, kernels, asked, captures):
    """Return the TLS secrets of a run's programs, which log them in an additional repetition.

    A program that logs its secrets may send packets about a microsecond earlier or later. Its random numbers don't change, so if the
    handshake's packets are the same, the secrets are the same too.
    """
    print("the run's programs log their TLS secrets in an additional repetition", flush=True)
    folder = place / "secrets"
    folder.mkdir()
    difference = repeat(run, folder, kernels, ["--packets", str(folder), "--packet-keys", *asked])
    if difference and difference.startswith("NOT "):
        return Secrets(problem=difference)
    secrets = secrets_of(folder, captures)
    shutil.rmtree(folder)  # these captures need as much space as those that are kept
    return secrets


def _say_secrets(secrets, file, is_full):
    """Write the TLS secrets of a run's programs to a file and print the file's path, or print why packets can't be decrypted."""
    if secrets.lines:
        file.write_bytes(b"".join(secrets.lines))
        print(f"  {os.path.relpath(file)}: TLS secrets of the run's programs, which are also in each capture, so that Wireshark decrypts the packets")  # fmt: skip
    if secrets.problem:
        print(f"  no TLS secrets, because the additional repetition failed: {secrets.problem}")
    elif secrets.other:
        print(
            f"  no TLS secrets for {', '.join(secrets.other[:MOST_FLOWS])}: each repetition has a different handshake"
        )
    elif is_full and not secrets.lines:
        print("  the run's programs logged no TLS secrets (SSLKEYLOGFILE), so their packets can't be decrypted")
    elif not is_full:
        print(
            "  FULL=1 keeps whole packets. It also keeps the TLS secrets of programs that log them, so that the packets can be decrypted"
        )


def _lost(folder):
    """Return the number of packets missing from the captures in a folder."""
    return sum(flows_of(file)[1] for file in folder.glob(CAPTURES))


def chosen_interfaces(document: dict, at: list[str]) -> list[str]:
    """Return the interfaces at which packets are captured: the requested ones, by default all interfaces of the network under test.

    Raises ReceivedError, with the allowed names, if ``at`` contains a name that isn't one of the run's interfaces.
    """
    links = document["network"]["set"]  # also counted: ifbs, bonds and tunnels, at which nothing is captured
    known = [name for name in document["links"]["after"] if name in links["qdiscs"] and name not in links.get("arrivals", {})]  # fmt: skip
    for name in at:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0)
            raise ReceivedError(f"AT names {shown(name)}; this run has {', '.join(known)} (nearest: {near[0]}).")
    return list(dict.fromkeys(at)) or [name for name in known if not name.endswith("-control")]


def kept_bytes(specification: dict, full: bool) -> int:
    """Return how many bytes of each packet must be kept so that no header or, if ``full``, no packet is truncated."""
    run = RunSpecification(specification)
    if not full:
        return TUNNELLED_BYTES if run.multipath.by == "gre" else HEADER_BYTES
    return OFFLOADED_BYTES if run.transport.segmentation_offload else max(FULL_BYTES, run.largest_packet_bytes)


def _counted(document, interface):
    """Return the number of packets that an interface counted in both directions during the traffic."""
    before, after = (document["links"][when].get(interface, {}) for when in ("before", "after"))
    return sum(after[way] - before.get(way, 0) for way in ("tx_packets", "rx_packets"))


def expected_size(document: dict, interfaces: list[str], kept: int) -> tuple[int, int]:
    """Return the number of packets that passed through the given interfaces, and the approximate size of the captures in bytes.

    ``kept`` is the number of bytes kept of each packet.
    """
    packets = sum(_counted(document, name) for name in interfaces)
    mean = _mean_bytes(document, interfaces)
    if not mean and kept < OFFLOADED_BYTES:
        # Interfaces without a queue count no bytes; without segmentation offload, their packets are as large as at the other interfaces.
        mean = _mean_bytes(document, document["links"]["after"])
    mean = mean or kept
    return packets, round(packets * (min(kept, mean) + BLOCK_BYTES))


def _mean_bytes(document, interfaces):
    """Return the mean size in bytes of the packets that left the queues of interfaces; 0 if no packet left."""
    qdiscs = [document["links"]["after"][name].get("qdiscs", {}).values() for name in interfaces]
    sent = [(each["packets"], each["bytes"]) for of_one in qdiscs for each in of_one if each["packets"]]
    return sum(size for _, size in sent) / max(sum(number for number, _ in sent), 1)


def require_space(folder: Path, size: int) -> None:
    """Raise ReceivedError unless captures of ``size`` bytes fit into the results folder, and two such captures into the temporary folder."""
    for place, needed in ((Path(tempfile.gettempdir()), 2 * size), (folder, size)):
        free = shutil.disk_usage(place).free
        if free < needed:
            raise ReceivedError(f"captures of {_megabytes(size)} need {_megabytes(needed)} in {shown(place)}, which has {_megabytes(free)} free; AT=<interface> captures at one interface, and TMPDIR sets another temporary folder.")  # fmt: skip


def _megabytes(size):
    return f"{size / 1e6:,.1f} MB"


def _say(file, counted, segment_bytes):
    """Print the packet count of a capture next to the interface's counter; for a host, also print one line per flow with payload."""
    flows, lost = flows_of(file, segment_bytes)
    total = sum(flow.packets for flow in flows)
    held = "as many as the interface counted" if total == counted else f"but the interface counted {counted:,}"
    if lost:
        held = f"{lost:,} of {counted:,} did not fit into the guest's memory: capture at fewer interfaces (AT=...)"
    print(f"  {os.path.relpath(file)}: {count(total, 'packet')}, {held}; {_megabytes(file.stat().st_size)}")
    if file.name.startswith("h"):
        with_data = [flow for flow in flows if flow.payload_bytes]
        for flow in with_data[:MOST_FLOWS]:
            print(f"    {flow.words()}")
        if len(with_data) > MOST_FLOWS:
            print(f"    and {count(len(with_data) - MOST_FLOWS, 'flow')} more")


if __name__ == "__main__":
    sys.exit(main())
