"""Packets of a finished run, afterwards: ``python -m publishing.run_packets results/<study>/runs/<run>.json.gz``.

The run is carried out again with captures at its interfaces. Only if its document comes out the same to the byte are the captures kept:
then they are the packets of that run.
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
from publishing.result_checks import kernels_again, reruns
from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.received_documents import check_document
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, read_file, temporary_folder
from publishing.result_checks.received_study import ReceivedStudy
from publishing.result_checks.testbeds_here import ROOT, testbeds_here
from session.run_cost import run_time_s
from testbed.machine.messages import tell
from wording.missing_files import absence
from wording.number_format import count

#: So much of each packet is kept: all headers, and the options of TCP and MPTCP. With FULL=1 whole packets, of which offload makes large ones.
HEADER_BYTES, FULL_BYTES, OFFLOADED_BYTES = 128, 1600, 65_000
#: Flows of a capture that are named.
MOST_FLOWS = 20
#: How often the guest's program reads the captures besides, in s; the next one is tried if the document is another, or packets had no place.
STEPS_S = (None, 0.1, 0.02, 0.05, 0.01)
#: What a packet takes besides its bytes: its block in the file.
BLOCK_BYTES = 44
#: Seconds of a core that it takes to keep one.
PACKET_S = 8e-6


def main(arguments=None) -> int:
    """Read the command line, repeat the run and say where its packets are; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_packets", description=__doc__.splitlines()[0])
    parser.add_argument(
        "document", type=Path, help="results/<study>/runs/<scenario>/<cca>/<ip version>/<replication>.json.gz"
    )
    parser.add_argument(
        "--at", nargs="*", default=[], help="interfaces, such as h1-eth0; by default all of the network under test"
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
    folder, name = _run_of(options.document)
    specification, document = _specification(folder, name, options.document)
    interfaces = _interfaces(document, options.at)
    kept = _kept_bytes(specification) if options.full else HEADER_BYTES
    packets, size = _size(document, interfaces, kept)
    target = folder / "logs" / "packets" / name
    _require_space(folder, size)
    print(f"run {name}: {packets:,} packets at {count(len(interfaces), 'interface')}, about {_megabytes(size)}; {reruns.about(run_time_s(specification) + PACKET_S * packets)}", flush=True)  # fmt: skip
    with temporary_folder() as place:
        kernels = _kernels(specification, folder, place, options.build)
        tries = {}
        for step_s in STEPS_S:
            captures = place / f"try-{len(tries)}"
            captures.mkdir()
            difference = _repeat(specification, folder, name, captures, kernels, interfaces, kept, step_s)
            lost = sum(flows_of(file)[1] for file in captures.glob("*.pcapng"))
            tries[captures] = difference, lost
            if difference is None and not lost:
                break
            if difference and step_s is None and not lost:
                break  # it would be so with any other step
        captures, (difference, lost) = min(tries.items(), key=lambda one: (one[1][0] is not None, one[1][1]))
        if difference and difference.startswith("NOT "):
            raise ReceivedError(f"run {name}: {difference}")
        if difference:
            raise ReceivedError(f"run {name} has another document when its packets are captured, so these would not be its packets: {difference}; AT=<interface> captures less, which may leave it as it is")  # fmt: skip
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for file in sorted(captures.glob("*.pcapng")):
            shutil.move(file, target / file.name)
    print("its document came out the same to the byte, so these are its packets:")
    for file in sorted(target.glob("*.pcapng")):
        _say(file, _counted(document, file.stem))
    return 0


def _run_of(path):
    """Return the results folder and the name of a run's document."""
    if why := absence(path):
        raise ReceivedError(f"RUN={shown(path)}: {why}; it is results/<study>/runs/<scenario>/<cca>/<ip version>/<replication>.json.gz.")  # fmt: skip
    parts = Path(os.path.abspath(path)).parts
    if len(parts) < 6 or parts[-5] != "runs" or not parts[-1].endswith(".json.gz"):
        raise ReceivedError(f"RUN={shown(path)} is no run document: results/<study>/runs/<scenario>/<cca>/<ip version>/<replication>.json.gz is one.")  # fmt: skip
    return Path(*parts[:-5]), "/".join(parts[-4:]).removesuffix(".json.gz")


def _specification(folder, name, path):
    """Return the specification by which a run is repeated, validated, and its document."""
    here, study = list(testbeds_here().values()), ReceivedStudy(folder)
    checked = check_document(folder, name, study, here)
    if checked.made_by and checked.made_by not in here:
        remedy = f"check out its commit {study.commit}" if study.commit else "run the study again"
        raise ReceivedError(f"{shown(path)} was made by another testbed than the one here, so its bytes can't be had: {remedy}.")  # fmt: skip
    if checked.problems:
        raise ReceivedError(f"{shown(path)}: {checked.problems[0]}.")
    document = parse(decompress(read_file(folder, f"runs/{name}.json.gz", DOCUMENT_LIMIT)))
    platform = checked.specification["scenario"]["platform"]
    if platform != "uml":
        raise ReceivedError(f"{shown(path)}: its platform is {platform}; packets can be had of runs of the platform uml, whose bytes are the same again.")  # fmt: skip
    if "links" not in document:
        raise ReceivedError(f"{shown(path)}: the run failed before its end ({document.get('failure', {}).get('cause', 'no links')}), so nothing says what its packets were.")  # fmt: skip
    return checked.specification, document


def _interfaces(document, at):
    """Return the interfaces at which packets are captured."""
    known = [name for name, counts in document["links"]["after"].items() if "tx_packets" in counts]
    for name in at:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0)
            raise ReceivedError(f"AT names {shown(name)}; this run has {', '.join(known)} (nearest: {near[0]}).")
    return list(dict.fromkeys(at)) or [name for name in known if not name.endswith("-control")]


def _kept_bytes(specification):
    """Return how long the longest packet of a run may be."""
    return OFFLOADED_BYTES if RunSpecification(specification).transport.segmentation_offload else FULL_BYTES


def _counted(document, interface):
    """Return how many packets an interface's own counters have of the traffic."""
    before, after = (document["links"][when].get(interface, {}) for when in ("before", "after"))
    return sum(after[way] - before.get(way, 0) for way in ("tx_packets", "rx_packets"))


def _size(document, interfaces, kept):
    """Return how many packets passed some interfaces, and about what their files take in bytes."""
    after = document["links"]["after"]
    packets = sum(_counted(document, name) for name in interfaces)
    qdiscs = [after[name].get("qdiscs", {}).values() for name in interfaces]
    sent = [(each["packets"], each["bytes"]) for of_one in qdiscs for each in of_one if each["packets"]]
    mean = sum(size for _, size in sent) / max(sum(number for number, _ in sent), 1) or kept
    return packets, round(packets * (min(kept, mean) + BLOCK_BYTES))


def _require_space(folder, size):
    free = shutil.disk_usage(folder).free
    if free < 2 * size:
        raise ReceivedError(f"captures of {_megabytes(size)} need twice that for a moment, and {folder} has {_megabytes(free)} free; AT=<interface> captures at one.")  # fmt: skip


def _megabytes(size):
    return f"{size / 1e6:,.1f} MB"


def _kernels(specification, folder, place, build):
    """Return a folder with the kernel of the run's own, None if it has the image's."""
    if has_programs(specification) and not build:
        raise ReceivedError("the run has programs of the study's own: BUILD=1 starts them, confined as in the run.")
    if kernels_again.kernel_name(specification, ROOT) is None:
        return None
    if not build:
        raise ReceivedError("the run has a kernel of the study's own, which is a program: BUILD=1 builds it again from the published sources, and starts it.")  # fmt: skip
    if why := kernels_again.build(specification, folder, ROOT, place):
        raise ReceivedError(f"its kernel: {why}.")
    return place / "kernels"


def _repeat(specification, folder, name, captures, kernels, interfaces, kept, step_s):
    """Carry the run out with captures; return how its document differs, None if it doesn't."""
    output = captures / "document.json.gz"
    programs = {"testbed": testbeds_here()["testbed"][1]}
    command = reruns.run_command(ROOT, specification, output, programs, kernels, folder)
    command += ["--packets", str(captures), "--packet-bytes", str(kept), "--at", *interfaces]
    command += ["--packet-step-s", str(step_s)] if step_s else []
    process = reruns.start(command, captures)
    try:
        status = process.wait()
    finally:
        reruns.end([process])
    return reruns.finding(folder, name, output, status)


def _say(file, counted):
    """Say what a capture holds, held against the interface's own counters, and of a host each flow in a line."""
    flows, lost = flows_of(file)
    total = sum(flow.packets for flow in flows)
    held = "as many as the interface counted" if total == counted else f"the interface counted {counted:,}"
    if lost:
        held = f"{lost:,} of {counted:,} had no place in the guest's memory: capture at fewer interfaces (AT=...)"
    print(f"  {os.path.relpath(file)}: {count(total, 'packet')}, {held}; {_megabytes(file.stat().st_size)}")
    if file.name.startswith("h"):
        with_data = [flow for flow in flows if flow.payload_bytes]
        for flow in with_data[:MOST_FLOWS]:
            print(f"    {flow.words()}")
        if len(with_data) > MOST_FLOWS:
            print(f"    and {count(len(with_data) - MOST_FLOWS, 'flow')} more")


if __name__ == "__main__":
    sys.exit(main())
