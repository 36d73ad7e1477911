"""Packets of a finished run: the same document, as many as the kernel counted, and the same content as the run states."""

import gzip
import json
import shutil
import subprocess

import pytest

from own_commands import own_command
from publishing.packet_files import flows_of, packets_of
from publishing.run_again import finished_run, record

#: A path with a queue that drops, one with random loss over IPv6.
RUNS = ("10mbit-20ms-0pct-1flow/reno/ipv4/1", "100mbit-10ms-1pct-4flows/reno/ipv6/2")


@pytest.fixture
def packets(smoke, tmp_path):
    """A function that captures the packets of a run of a copy of the smoke study; it returns exit status, output, captures, document."""
    results = tmp_path / "smoke"
    shutil.copytree(smoke.folder / "results/smoke", results, ignore=shutil.ignore_patterns("logs", ".lock"))

    def capture(name, *arguments, change=None, within=results, to=None):
        path = within / "runs" / f"{name}.json.gz"
        document = json.loads(gzip.decompress(path.read_bytes()))
        if change:
            change(document)
            path = results / "runs" / f"{to or name}.json.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode() + b"\n", mtime=0))
        command = own_command(smoke.folder, "publishing.run_packets", path, *arguments)
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)  # fmt: skip
        captures = {file.stem: file for file in (results / "logs/packets" / name).glob("*.pcapng")}
        return done.returncode, done.stdout, captures, document

    capture.results = results
    return capture


def counts(document, interface, way):
    before, after = (document["links"][when][interface] for when in ("before", "after"))
    return after[f"{way}_packets"] - before[f"{way}_packets"]


def data_of(capture):
    """Return the flows of a capture that carry data to iperf3's servers."""
    return [flow for flow in flows_of(capture)[0] if flow.destination.rpartition(":")[2].startswith("52")]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_a_run_s_packets_are_those_that_it_counted(packets, name):
    status, output, captures, document = packets(name)
    assert status == 0, output
    assert "the document was reproduced byte for byte" in output
    assert sorted(captures) == ["h1-eth0", "h2-eth0", "r1-eth0", "r1-eth1", "r2-eth0", "r2-eth1"]
    for interface, file in captures.items():
        times = [at_ns for at_ns, _, _ in packets_of(file)]
        assert len(times) == sum(counts(document, interface, way) for way in ("tx", "rx")) > 1000
        assert times == sorted(times)
        assert flows_of(file)[1] == 0  # none had no place
    assert output.count("as many as the interface counted") == 6
    # Data that came to the bottleneck and didn't leave were dropped by its queue, or wait there.
    came, left = (sum(flow.packets for flow in data_of(captures[name])) for name in ("r1-eth0", "r1-eth1"))
    before, after = (document["links"][when]["r1-eth1"]["qdiscs"]["pfifo"] for when in ("before", "after"))
    assert came - left == after["drops"] - before["drops"] + after["backlog_packets"]
    sent, arrived = ({flow.source: flow for flow in data_of(captures[host])} for host in ("h1-eth0", "h2-eth0"))
    streams = [stream["sender"] for entry in document["traffic"] for stream in entry["client"]["end"]["streams"]]
    assert sum(flow.repeated for flow in sent.values()) == sum(stream["retransmits"] for stream in streams)
    assert len(sent) == len(streams) and sent.keys() == arrived.keys()
    assert all(0.9 * sent[source].payload_bytes < arrived[source].payload_bytes <= sent[source].payload_bytes for source in sent)  # fmt: skip


def table(command):
    """Return the lines that a program prints, each as its words."""
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} isn't on this machine (apt-get install tshark tcptrace)")
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_wireshark_and_tcptrace_find_in_a_capture_what_the_run_counted(packets):
    status, output, captures, document = packets(RUNS[0], "--at", "h1-eth0", "r1-eth1")
    assert status == 0, output
    file, (stream,) = (
        captures["h1-eth0"],
        [one["sender"] for entry in document["traffic"] for one in entry["client"]["end"]["streams"]],
    )
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.packet_flags_direction"]
    seen = {name: table(["tshark", "-r", path, *fields]) for name, path in captures.items()}
    for name, lines in seen.items():
        for way, flag in (("tx", 2), ("rx", 1)):
            assert sum(int(direction, 16) & 3 == flag for _, _, direction in lines) == counts(document, name, way)
    before, after = (document["links"][when]["r1-eth1"]["qdiscs"]["htb"] for when in ("before", "after"))
    sent = [int(size) for _, size, direction in seen["r1-eth1"] if int(direction, 16) & 3 == 2]
    assert sum(sent) == after["bytes"] - before["bytes"]
    assert [int(at.replace(".", "")) for at, _, _ in seen["h1-eth0"]] == [at_ns for at_ns, _, _ in packets_of(file)]
    # Wireshark calls retransmitted segments so, or out of order, by their distance in time.
    again = "tcp.dstport == 5201 && (tcp.analysis.retransmission || tcp.analysis.out_of_order)"
    assert len(table(["tshark", "-r", file, "-Y", again])) == stream["retransmits"] > 0
    assert not table(["tshark", "-r", file, "-Y", "_ws.malformed || _ws.expert.severity == error"])
    assert ["Strict", "time", "order:", "True"] in table(["capinfos", "-o", file])
    (line,) = [line for line in table(["tcptrace", "-l", file]) if line[:3] == ["rexmt", "data", "pkts:"]]
    assert int(line[3]) == stream["retransmits"]


def test_captures_at_one_interface_with_whole_packets(packets):
    status, output, captures, _ = packets(RUNS[0], "--full", "--at", "r1-eth1")
    assert status == 0, output
    assert list(captures) == ["r1-eth1"]
    assert all(len(content) == length for _, content, length in packets_of(captures["r1-eth1"]))


def test_packets_of_another_run_are_not_kept(packets):
    def change(document):
        document["links"]["after"]["h1-eth0"]["tx_packets"] += 1

    status, output, captures, _ = packets(RUNS[0], change=change)
    assert status == 1 and captures == {}
    assert "has a different document when its packets are recorded, so these would not be its packets" in output
    assert '"tx_packets"' in output or "tx_packets" in output


@pytest.mark.parametrize("arguments, sentence", [(["--at", "h9-eth0"], "AT names h9-eth0; this run has ")])
def test_what_can_t_be_captured_is_said(packets, arguments, sentence):
    status, output, captures, _ = packets(RUNS[0], *arguments)
    assert status == 1 and captures == {}
    assert f"sawtooth: {sentence}" in output and "(nearest: " in output


def test_a_results_folder_may_be_a_link(packets, tmp_path):
    (tmp_path / "link").symlink_to(packets.results)
    status, output, captures, _ = packets(RUNS[0], "--at", "r1-eth1", within=tmp_path / "link")
    assert status == 0 and list(captures) == ["r1-eth1"], output


def test_a_run_that_the_tables_don_t_have_yet_is_known_by_its_document(packets):
    """A changed study that was interrupted has new runs, and the tables of its earlier version."""
    added = RUNS[0].replace("10mbit", "11mbit")

    def change(document):
        document["specification"]["scenario"]["id"] = added.partition("/")[0]

    status, output, _, _ = packets(RUNS[0], "--at", "h9-eth0", change=change, to=added)
    assert status == 1 and "AT names h9-eth0; this run has " in output
    # A document at another run's place is still refused.
    status, output, _, _ = packets(RUNS[0], "--at", "h9-eth0", change=change)
    assert status == 1 and f"has the specification of the run {added}" in output


def test_a_folder_that_can_t_be_written_is_named_before_the_run(packets):
    (packets.results / "logs").write_bytes(b"")
    status, output, captures, _ = packets(RUNS[0])
    assert status == 1 and captures == {}
    (line,) = output.splitlines()
    assert line.startswith("sawtooth: ") and line.endswith("/logs/packets can't be written (Not a directory).")


def test_only_the_best_attempt_keeps_its_space(packets, tmp_path):
    """Each attempt reports fewer lost packets than the one before."""
    run, losses = finished_run(packets.results / "runs" / f"{RUNS[0]}.json.gz", "packets"), iter((3, 2, 0))
    place = tmp_path / "place"
    place.mkdir()

    def lost(folder):
        assert folder in place.iterdir() and len(list(place.iterdir())) <= 2
        return next(losses)

    def arguments(folder, step_s):
        return ["--packets", str(folder), "--packet-bytes", "128", "--at", "r1-eth1", *(["--packet-step-s", str(step_s)] if step_s else [])]  # fmt: skip

    best = record(run, place, None, "packets", arguments, lost)
    assert best == place / "try-2" and list(place.iterdir()) == [best]


def test_another_testbed_s_run_is_refused(packets):
    def change(document):
        document["environment"]["testbed_digest"] = "sha256:" + "0" * 64

    status, output, captures, _ = packets(RUNS[0], change=change)
    assert status == 1 and captures == {}
    assert "was made by a testbed other than the one here, so its bytes can't be reproduced: " in output
