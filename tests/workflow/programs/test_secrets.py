"""Captures of a QUIC stack that logs its TLS secrets, which Wireshark decrypts."""

import gzip
import json
import shutil
import subprocess

import pytest
import yaml

from own_commands import own_command
from program_runs import put_stack
from study_files import study as studies
from testbed.readings import qlog

pytestmark = pytest.mark.long

RUN = "results/secrets/runs/a/cubic/ipv4/1.json.gz"


@pytest.fixture
def finished_run(root, fresh):
    """A checkout with a run of quic-go beside TCP."""
    put_stack("quic-go", root, fresh.folder / "my")
    study = {
        "study": "secrets", "title": "secrets", "description": "QUIC beside TCP.", "seed": 3, "replications": 1, "ccas": ["cubic"], "ip_versions": ["ipv4"],
        "programs": {"quic-go": studies.load(root / "examples/quic.yaml")["programs"]["quic-go"]},
        "scenarios": [{
            "id": "a", "link": {"rate_mbps": 20, "delay_ms": 20}, "queue": {"bdp": 1}, "traffic": {"duration_s": 2, "sample_interval_ms": 50},
            "flows": [{"name": "quic", "program": "quic-go:reno", "stop_s": 2}, {"name": "tcp", "stop_s": 2}],
        }],
    }  # fmt: skip
    (fresh.folder / "secrets.yaml").write_text(yaml.safe_dump(study))
    fresh.snakemake("--cores", "1", "--configfile", "secrets.yaml", "--until", "emulate_run")
    return fresh.folder


def tshark(*arguments):
    """Return the lines that tshark prints."""
    if not shutil.which("tshark"):
        pytest.skip("tshark isn't on this machine (apt-get install tshark)")
    done = subprocess.run(["tshark", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def captured(folder, *arguments):
    """Capture the run's packets; return the output and the folder with the captures."""
    command = own_command(folder, "publishing.run_packets", folder / RUN, "--build", "--at", "h1-eth0", "h2-eth0", *arguments)  # fmt: skip
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return done.stdout, folder / "results/secrets/logs/packets/a/cubic/ipv4/1"


def test_wireshark_decrypts_every_packet_of_quic(finished_run):
    output, captures = captured(finished_run, "--full")
    assert "the document was reproduced byte for byte" in output and "different handshake" not in output
    names = {line.split()[0] for line in (captures / "tls-secrets.txt").read_text().splitlines()}
    assert {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"} <= names
    document = json.loads(gzip.decompress((finished_run / RUN).read_bytes()))
    (flow,) = document["program_packets"]["flows"]
    for capture, number in (("h1-eth0", flow["packets_sent"]), ("h2-eth0", flow["packets_arrived"])):
        file, data = captures / f"{capture}.pcapng", "udp.srcport == 14001"
        assert len(tshark("-r", file, "-Y", data)) == number
        short = len(tshark("-r", file, "-Y", f"{data} && quic.short"))
        # All packets but the few of the handshake.
        assert number - 6 < short == len(tshark("-r", file, "-Y", f"{data} && quic.short && quic.frame"))
        streams = len(tshark("-r", file, "-Y", f"{data} && quic.stream.stream_id == 0"))
        assert 0.9 * number < streams < number
        assert not tshark("-r", file, "-Y", "quic.decryption_failed")
    acks = tshark("-r", captures / "h1-eth0.pcapng", "-Y", "udp.dstport == 14001 && quic.ack.largest_acknowledged")
    assert len(acks) > 0.2 * number


def test_headers_have_no_secrets(finished_run):
    output, captures = captured(finished_run)
    assert "FULL=1 keeps whole packets" in output
    *pcaps, log = sorted(captures.iterdir())
    assert [file.name for file in pcaps] == ["h1-eth0.pcapng", "h2-eth0.pcapng"]
    assert f"{log.name}: log (qlog) of the program" in output
    # The log is the one whose values are in the run's document.
    document = json.loads(gzip.decompress((finished_run / RUN).read_bytes()))
    read = document["programs"][0]["server"]["qlog"]
    copy = qlog.series_of(log.read_text("latin-1"), 0, read["step_ns"])
    assert copy["readings"] == read["readings"] > 100
    assert not tshark("-r", captures / "h1-eth0.pcapng", "-Y", "quic.short && quic.frame")
