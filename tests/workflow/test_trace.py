"""Kernel events of a finished run: the same document, and the same content as the run states."""

import csv
import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from own_commands import own_command

#: A kernel with tracing is built by set-up, which only a whole checkout has.
ROOT = Path(__file__).resolve().parents[2]
SLOW, LOSSY = "10mbit-20ms-0pct-1flow/reno/ipv4/1", "100mbit-10ms-1pct-4flows/reno/ipv6/2"


@pytest.fixture
def trace(smoke, tmp_path):
    """A function that traces a run of a copy of the smoke study; it returns exit status, output, folder, document."""
    results = tmp_path / "smoke"
    shutil.copytree(smoke.folder / "results/smoke", results, ignore=shutil.ignore_patterns("logs", ".lock"))

    def record(name, *arguments):
        path = results / "runs" / f"{name}.json.gz"
        command = own_command(ROOT, "publishing.run_trace", path, *arguments)
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3600)  # fmt: skip
        return done.returncode, done.stdout, results / "logs/trace" / name, json.loads(gzip.decompress(path.read_bytes()))  # fmt: skip

    return record


def table(folder, name):
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--events", "tcp_probe"], "EVENTS names tcp_probe; allowed: names with * and ?"),
        (["--functions", "a,b"], "FUNCTIONS names a,b; allowed: names with * and ?"),
    ],
)
def test_what_is_no_name_is_said_at_once(trace, arguments, sentence):
    status, output, folder, _ = trace(SLOW, *arguments)
    assert status == 1 and sentence in output and not folder.exists()


@pytest.mark.long
@pytest.mark.parametrize("name", [SLOW, LOSSY])
def test_events_say_what_the_run_says(trace, name):
    status, output, folder, document = trace(name, "--events", "tcp:*", "qdisc:qdisc_dequeue", "--functions", "cca")
    assert status == 0, output
    assert "the document was reproduced byte for byte, except for the digest of the kernel's configuration" in output
    probes = table(folder, "tcp_probe")
    assert [float(row["time_s"]) for row in probes] == sorted(float(row["time_s"]) for row in probes)
    looked = 0
    for look in document["sockets"]:
        for socket in look["sockets"]:
            # The next packet that arrives finds the window that the look saw.
            after = (row for row in probes if float(row["time_s"]) > look["time_s"] and port_of(row["src"]) == socket["local_port"])  # fmt: skip
            assert int(next(after)["snd_cwnd"]) == socket["cwnd_packets"]
            looked += 1
    assert looked >= 3
    streams = [stream["sender"] for entry in document["traffic"] for stream in entry["client"]["end"]["streams"]]
    retransmits = sum(stream["retransmits"] for stream in streams)
    (sender,) = (row for row in table(folder, "nstat") if row["host"] == "h1")
    assert int(sender["TcpRetransSegs"]) >= retransmits > 0
    functions = {row["function"] for row in table(folder, "functions")}
    assert {"tcp_reno_cong_avoid", "tcp_reno_ssthresh"} <= functions
    assert "tcp_reno_cong_avoid()" in (folder / "functions.txt").read_text()
    assert "Linux version" in (folder / "kernel.log").read_text()


def port_of(address):
    return int(address.rpartition(":")[2])


@pytest.mark.long
def test_an_event_that_the_kernel_lacks_is_answered_with_the_nearest(trace):
    status, output, folder, _ = trace(SLOW, "--events", "tcp:tcp_prob")
    assert status == 1 and not folder.exists()
    assert "EVENTS names tcp:tcp_prob, which this kernel doesn't have (nearest: tcp:tcp_probe, " in output
