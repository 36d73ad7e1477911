"""QUIC stacks as the examples declare them, in the guest: the same bytes each time, also under load and captured."""

import gzip
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from program_runs import documents_of_three_tries, findings, put_stack
from publishing.packet_files import packets_of
from run_tables.program_deliveries import with_program_deliveries
from run_tables.tidy_rows import rows_of_run
from study_files import study as studies
from testbed.machine.program_files import digest_of, files_of, write_archive


@pytest.fixture
def quic_go(root, tmp_path):
    """A function that returns the programs of an example; quic-go is in ``my``."""
    put_stack("quic-go", root, tmp_path / "my")
    return lambda example: {"quic-go": studies.load(root / "examples" / example)["programs"]["quic-go"]}


@pytest.mark.long
def test_quic_beside_tcp_is_the_same_each_time(quic_go, made, testbed, tmp_path):
    """By the example's declaration: it fills the path with TCP, and its packets are single ones."""
    programs = quic_go("quic-go.yaml")
    groups = ({"name": "quic", "program": "quic-go:reno", "stop_s": 5}, {"name": "tcp", "stop_s": 5})
    (content,) = documents_of_three_tries(made(*groups, programs=programs, duration_s=5), testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
    (packets,) = document["program_packets"]["flows"]
    assert 0.95 < document["programs"][0]["client"]["reported"] / packets["bytes_arrived"] < 1
    assert packets["largest_packet_bytes"] <= 1514 and packets["packets_sent"] > packets["packets_arrived"]
    run, flows, _, _ = rows_of_run(document, "a", "0" * 64)
    assert 0.9 * run["ideal_goodput_mbps"] < sum(flow["goodput_mbps"] for flow in flows) <= run["ideal_goodput_mbps"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("example", "kept_bytes"), [("quic.yaml", 128), ("quic-go.yaml", 128), ("quic-go.yaml", 65_536)]
)
def test_a_run_is_the_same_when_it_is_captured(example, kept_bytes, quic_go, made, testbed, tmp_path):
    """With a log of each reading of the clock or without, with whole packets or headers: the capture doesn't change when the program reads it."""
    groups = ({"name": "quic", "program": "quic-go:reno", "stop_s": 5}, {"name": "tcp", "stop_s": 5})
    asked = made(*groups, programs=quic_go(example), duration_s=5, traffic={"duration_s": 5, "sample_interval_ms": 50})
    documents, captures = [], tmp_path / "captures"
    captures.mkdir()
    for number, more in enumerate([(), ("--packets", captures, "--packet-bytes", kept_bytes, "--at", "h1-eth0", "h2-eth0", "r1-eth0", "r1-eth1")]):  # fmt: skip
        done = testbed(asked, tmp_path / f"{number}.json.gz", "--programs", *map(str, (tmp_path / "programs", *more)))
        assert done.returncode == 0, done.stderr[-2000:]
        documents.append((tmp_path / f"{number}.json.gz").read_bytes())
    assert documents[0] == documents[1]
    document = json.loads(gzip.decompress(documents[0]))
    assert document["verdict"]["valid"], findings(document)
    if example == "quic.yaml":
        assert document["programs"][0]["server"]["qlog"]["readings"] > 1000
    assert len([*packets_of(captures / "r1-eth0.pcapng")]) > 5000


@pytest.mark.long
@pytest.mark.parametrize("stack", ["quinn", "s2n-quic", "quiche"])
def test_a_stack_in_rust_is_the_same_each_time_with_each_of_its_ccas(stack, root, made, testbed, tmp_path):
    """By the example's declaration, with crates of its lock: a flow of each CCA beside TCP; another seed gives other packets."""
    put_stack(stack, root, tmp_path / "my")
    programs = {stack: studies.load(root / f"examples/{stack}.yaml")["programs"][stack]}
    ccas = programs[stack]["ccas"]
    groups = [{"name": cca, "program": f"{stack}:{cca}", "stop_s": 4} for cca in ccas]
    asked = made(*groups, {"name": "tcp", "stop_s": 4}, programs=programs)
    (content,) = documents_of_three_tries(asked, testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
    for entry, packets in zip(document["programs"], document["program_packets"]["flows"], strict=True):
        assert 0.9 < entry["client"]["reported"] / packets["bytes_arrived"] < 1
        assert packets["largest_packet_bytes"] <= 1514 and packets["packets_sent"] > 100
    run, flows, _, _ = rows_of_run(document, "a", "0" * 64)
    assert [flow["flow_cca"] for flow in flows] == ["reno", *(f"{stack}:{cca}" for cca in ccas)]
    assert 0.85 * run["ideal_goodput_mbps"] < sum(flow["goodput_mbps"] for flow in flows) <= run["ideal_goodput_mbps"]
    done = testbed(
        asked | {"seed": asked["seed"] + 1}, tmp_path / "other.json.gz", "--programs", str(tmp_path / "programs")
    )
    assert done.returncode == 0, done.stderr[-2000:]
    other = json.loads(gzip.decompress((tmp_path / "other.json.gz").read_bytes()))
    assert other["program_packets"] != document["program_packets"]


@pytest.mark.long
def test_quiche_logs_windows_round_trips_and_losses(root, made, testbed, tmp_path):
    """By the declaration with a log; losses are compared with the packets that didn't arrive, because quiche only counts them."""
    put_stack("quiche", root, tmp_path / "my")
    programs = {"quiche": studies.load(root / "examples/quic.yaml")["programs"]["quiche"]}
    groups = [{"name": cca, "program": f"quiche:{cca}", "stop_s": 3} for cca in programs["quiche"]["ccas"]]
    traffic = {"duration_s": 3, "sample_interval_ms": 50}
    (content,) = documents_of_three_tries(made(*groups, programs=programs, traffic=traffic), testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
    for entry, packets in zip(document["programs"], document["program_packets"]["flows"], strict=True):
        log = entry["server"]["qlog"]
        assert log["complete"] and log["aligned"] and log["readings"] > 500
        # The last of them may not be known yet when the flow ends.
        missing = packets["packets_sent"] - packets["packets_arrived"]
        assert missing > 0 and missing - 5 <= log["lost_packets"][-1] <= missing
        assert 40 <= log["rtt_min_ms"][-1] < 42
        windows, flights = ([one for one in log[name] if one is not None] for name in ("cwnd_bytes", "flight_bytes"))
        assert min(windows) >= 2 * 1200 and 0 < max(flights) <= max(windows) + 1500


@pytest.mark.long
@pytest.mark.parametrize("stack", ["quic-go", "quinn", "s2n-quic", "quiche", "aioquic", "tcp"])
def test_a_sender_that_pauses_sends_whole_bursts_on_one_connection(stack, root, made, testbed, tmp_path):
    """By the study's declaration: 500 kB every two seconds, which take less than a second."""
    if stack == "tcp":
        shutil.copytree(root / "examples/tcp", tmp_path / "examples/tcp")
    else:
        put_stack(stack, root, tmp_path / "my")
    programs = {stack: studies.load(root / "examples/quic-idle.yaml")["programs"][stack]}
    groups = [{"name": "bursts", "program": f"{stack}:{programs[stack]['ccas'][0]}", "stop_s": 5}]
    traffic = {"duration_s": 5, "sample_interval_ms": 50}
    asked = made(*groups, programs=programs, duration_s=5, traffic=traffic)
    done = testbed(asked, tmp_path / "run.json.gz", "--programs", str(tmp_path / "programs"))
    assert done.returncode == 0, done.stderr[-2000:]
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    assert document["verdict"]["valid"], findings(document)
    (packets,) = document["program_packets"]["flows"]
    times_s = np.arange(len(packets["sent_bytes_by_step"])) * packets["step_ns"] / 1e9
    sent = pd.Series(packets["sent_bytes_by_step"]).groupby(times_s // 1).sum()
    assert sent[[0.0, 2.0, 4.0]].between(500_000, 700_000).all(), sent
    assert sent[[1.0, 3.0]].max() < 5000, sent
    assert document["programs"][0]["client"]["reported"] == 1_500_000
    assert packets["last_arrived_ns"] < 5.5e9, "it ends with the group, not with the next burst"


@pytest.mark.long
def test_a_known_bug_of_quiche_is_found_and_its_fix_is_not_blamed(root, testbed, tmp_path, monkeypatch):
    """The first four replications of the example: in two of them, the window stays at its minimum after the losses."""
    put_stack("quiche", root, tmp_path / "my")
    monkeypatch.chdir(tmp_path)
    study = studies.resolve(studies.load(root / "examples/quiche-idle-bug.yaml"), "quiche-idle-bug.yaml")
    files = files_of("my/quiche")
    write_archive(files, tmp_path / f"{digest_of(files)[:16]}.tar")
    goodputs = {"quiche:cubic": [], "quiche:cubic-without-idle-fix": []}
    for cca, of_cca in goodputs.items():
        for replication in range(1, 5):
            asked = studies.run_specification(study, "early-loss", cca, "ipv4", replication)
            done = testbed(asked, tmp_path / "run.json.gz", "--programs", str(tmp_path))
            assert done.returncode == 0, done.stderr[-2000:]
            document = with_program_deliveries(json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes())))
            run, *_ = rows_of_run(document, "a", "0" * 64)
            assert run["valid"], findings(document)
            of_cca.append(run["goodput_mbps"])
    assert min(goodputs["quiche:cubic"]) > 15
    assert [goodput < 2 for goodput in goodputs["quiche:cubic-without-idle-fix"]] == [False, True, False, True]


@pytest.mark.long
def test_a_stack_of_another_language_is_one_of_same_bytes_and_logs(made, testbed, tmp_path, root):
    """aioquic from PyPI: its log, which it writes at its end, is read."""
    put_stack("aioquic", root, tmp_path / "my")
    programs = {"aioquic": studies.load(root / "examples/quic.yaml")["programs"]["aioquic"]}
    groups = ({"name": "quic", "program": "aioquic:reno", "stop_s": 3}, {"name": "tcp", "stop_s": 3})
    traffic = {"duration_s": 3, "sample_interval_ms": 50}
    (content,) = documents_of_three_tries(made(*groups, programs=programs, traffic=traffic), testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
    (packets,), (entry,) = document["program_packets"]["flows"], document["programs"]
    log = entry["server"]["qlog"]
    assert log["complete"] and log["aligned"] and log["readings"] > 500
    # An RTT of the empty path, and more in flight than the window allows only by a packet.
    assert (
        40 <= log["rtt_min_ms"][-1] < 42
        and log["lost_packets"][-1] >= packets["packets_sent"] - packets["packets_arrived"] > 0
    )
    windows, flights = ([value for value in log[name] if value is not None] for name in ("cwnd_bytes", "flight_bytes"))
    assert min(windows) >= 2 * 1200 and 0 < max(flights) <= max(windows) + 1500


@pytest.mark.long
def test_downloads_by_http_are_the_same_each_time(made, testbed, tmp_path, root):
    """nginx and curl: each version of HTTP for a time, and a file beside; over TCP, the CCA is that of the server's socket."""
    put_stack("http", root, tmp_path / "my")
    programs = studies.load(root / "examples/http.yaml")["programs"]
    groups = [
        {"name": "one", "program": "http1:reno", "stop_s": 4},
        {"name": "two", "program": "http2:bbr", "stop_s": 4},
        {"name": "three", "program": "http3:reno", "stop_s": 4},
        {"name": "file", "program": "http2:cubic", "bytes": 300_000, "start_s": 1},
    ]
    (content,) = documents_of_three_tries(made(*groups, programs=programs), testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
    run, flows, _, _ = rows_of_run(document, "a", "0" * 64)
    assert (
        0.85 * run["ideal_goodput_mbps"] < sum(flow["goodput_mbps"] for flow in flows[:3]) < run["ideal_goodput_mbps"]
    )
    file = document["program_packets"]["flows"][3]
    assert 300_000 < file["distinct_bytes"] < 302_000


@pytest.mark.long
def test_a_program_of_another_distribution_runs_with_its_own_libraries(made, testbed, tmp_path, root):
    """The machine's curl, copied and started as on the page, fetches from Python's server."""
    if not shutil.which("curl"):
        pytest.skip("This machine has no curl.")
    page = (root / "docs/programs.md").read_text()
    (command,) = re.findall(r"^mkdir -p my/curl/lib .*$", page, re.M)
    (loader,) = re.findall(r"`(\{folder\}/lib/ld-linux[^`]*)`", page)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    serve = "import http.server, sys; open('object', 'wb').truncate(int(sys.argv[2])); http.server.test(http.server.SimpleHTTPRequestHandler, http.server.ThreadingHTTPServer, port=int(sys.argv[1]))"
    program = {
        "path": "my/curl", "protocol": "tcp", "server": ["python3", "-c", serve, "{port}", "{bytes}"],
        "client": [*" ".join(loader.split()).split(), "--silent", "--fail", "--output", "/dev/null", "http://{server}/object"],
    }  # fmt: skip
    asked = made({"name": "file", "program": "web", "bytes": 300_000}, programs={"web": program})
    (content,) = documents_of_three_tries(asked, testbed, tmp_path)
    document = json.loads(gzip.decompress(content))
    assert document["verdict"]["valid"], findings(document)
