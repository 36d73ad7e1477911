"""Capture the packets of a finished run afterwards: ``python -m publishing.run_packets results/<study>/runs/<run>.json.gz``.

The run is repeated while packets are captured at its interfaces. The captures are kept only if the run document is byte-identical, which
shows that they contain the packets of the finished run.
"""

import argparse
import os
import shutil
import sys
from difflib import get_close_matches
from pathlib import Path

from experiment.programs import has_programs
from experiment.specification import RunSpecification
from publishing.packet_files import flows_of
from publishing.result_checks import reruns
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import temporary_folder
from publishing.run_again import FORM, OtherDocumentError, finished_run, keep, own_kernels, record, repeat
from publishing.tls_secrets import SECRETS, Secrets, add_secrets, secrets_of
from session.run_cost import run_time_s
from testbed.machine.messages import tell
from wording.number_format import count

#: Number of bytes kept of each packet. The first is enough for all headers, including TCP and MPTCP options; the others, for FULL=1, are
#: enough for entire packets without and with segmentation offload.
HEADER_BYTES, FULL_BYTES, OFFLOADED_BYTES = 128, 1600, 65_000
#: Maximum number of flows that are printed for a capture.
MOST_FLOWS = 20
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
    options = parser.parse_args(arguments)
    try:
        return _capture(options)
    except ReceivedError as error:
        tell(str(error))
    except KeyboardInterrupt:
        tell("interrupted; no captures were kept.")
    return 1


def _capture(options):
    run = finished_run(options.document, "packets")
    interfaces = _interfaces(run.document, options.at)
    kept = _kept_bytes(run.specification) if options.full else HEADER_BYTES
    packets, size = _size(run.document, interfaces, kept)
    _require_space(run.folder, size)
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
        for file in captures.glob("*.pcapng"):
            add_secrets(file, secrets.lines)
        files = keep(captures, run.folder / "logs" / "packets" / run.name, "*.pcapng")
    print("the document was reproduced byte for byte, so these are the run's packets:")
    for file in files:
        _say(file, _counted(run.document, file.stem))
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
        return Secrets()
    return secrets_of(folder, captures)


def _say_secrets(secrets, file, is_full):
    """Write the TLS secrets of a run's programs to a file and print the file's path, or print why packets can't be decrypted."""
    if secrets.lines:
        file.write_bytes(b"".join(secrets.lines))
        print(f"  {os.path.relpath(file)}: TLS secrets of the run's programs, which are also in each capture, so that Wireshark decrypts the packets")  # fmt: skip
    if secrets.other:
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
    return sum(flows_of(file)[1] for file in folder.glob("*.pcapng"))


def _interfaces(document, at):
    """Return the interfaces at which packets are captured: the requested ones, by default all interfaces of the network under test."""
    known = [name for name, counts in document["links"]["after"].items() if "tx_packets" in counts]
    for name in at:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0)
            raise ReceivedError(f"AT names {shown(name)}; this run has {', '.join(known)} (nearest: {near[0]}).")
    return list(dict.fromkeys(at)) or [name for name in known if not name.endswith("-control")]


def _kept_bytes(specification):
    """Return how many bytes of each packet must be kept so that no packet is truncated."""
    return OFFLOADED_BYTES if RunSpecification(specification).transport.segmentation_offload else FULL_BYTES


def _counted(document, interface):
    """Return the number of packets that an interface counted in both directions during the traffic."""
    before, after = (document["links"][when].get(interface, {}) for when in ("before", "after"))
    return sum(after[way] - before.get(way, 0) for way in ("tx_packets", "rx_packets"))


def _size(document, interfaces, kept):
    """Return the number of packets that passed through the given interfaces, and the approximate size of the captures in bytes."""
    after = document["links"]["after"]
    packets = sum(_counted(document, name) for name in interfaces)
    qdiscs = [after[name].get("qdiscs", {}).values() for name in interfaces]
    sent = [(each["packets"], each["bytes"]) for of_one in qdiscs for each in of_one if each["packets"]]
    mean = sum(size for _, size in sent) / max(sum(number for number, _ in sent), 1) or kept
    return packets, round(packets * (min(kept, mean) + BLOCK_BYTES))


def _require_space(folder, size):
    free = shutil.disk_usage(folder).free
    if free < 2 * size:
        raise ReceivedError(f"captures of {_megabytes(size)} temporarily need twice that space, and {folder} has {_megabytes(free)} free; AT=<interface> captures at one interface.")  # fmt: skip


def _megabytes(size):
    return f"{size / 1e6:,.1f} MB"


def _say(file, counted):
    """Print the packet count of a capture next to the interface's counter; for a host, also print one line per flow with payload."""
    flows, lost = flows_of(file)
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
