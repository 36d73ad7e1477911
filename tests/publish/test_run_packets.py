"""Interfaces, sizes and space of captures follow from a run's document; a folder that can't be written is named in a sentence."""

import errno
import os
import shutil
from types import SimpleNamespace

import pytest

from experiment.packet_sizes import ETHERNET_HEADER_BYTES, IP_HEADER_BYTES, TUNNEL_HEADER_BYTES
from publishing import run_again, run_packets, run_trace
from publishing.result_checks.received_errors import ReceivedError
from publishing.run_again import FinishedRun, finished_run, keep, target_of
from publishing.run_packets import chosen_interfaces, expected_size, kept_bytes, require_space
from study_files import study as studies

#: Longest header of TCP in bytes.
LONGEST_TCP = 60
CABLE = {"id": "a", "topology": "cable", "link": {"rate_mbps": 100, "delay_ms": 0}, "queue": {"packets": 100}}
DUMBBELL = {"id": "a", "link": {"rate_mbps": 100, "delay_ms": 5}, "queue": {"packets": 100}}
TUNNEL = CABLE | {"multipath": {"by": "gre", "paths": 2, "tunnel_ip_version": "ipv6"}}
JUMBO = DUMBBELL | {"link": DUMBBELL["link"] | {"mtu_bytes": 9000}}
OFFLOAD = DUMBBELL | {"transport": {"segmentation_offload": True}}


def specification(scenario):
    study = {"study": "a", "seed": 1, "replications": 1, "ccas": ["reno"], "ip_versions": ["ipv6"], "scenarios": [scenario]}  # fmt: skip
    return studies.run_specification(studies.resolve(study, "a"), "a", "reno", "ipv6", 1)


def test_headers_are_whole_in_tunnels():
    plain = ETHERNET_HEADER_BYTES + IP_HEADER_BYTES["ipv6"] + LONGEST_TCP
    assert plain <= kept_bytes(specification(DUMBBELL), False) == 128
    assert plain + IP_HEADER_BYTES["ipv6"] + TUNNEL_HEADER_BYTES <= kept_bytes(specification(TUNNEL), False) == 192


@pytest.mark.parametrize("scenario, least", [(DUMBBELL, 1514), (JUMBO, 9014), (OFFLOAD, 65_226)])
def test_whole_packets_are_kept_whole(scenario, least):
    assert kept_bytes(specification(scenario), True) >= least


def test_captures_are_made_at_the_links_and_not_at_other_devices(recorded):
    document = recorded("transfer-ipv4")
    assert {"h1-in0", "h2-in0"} < document["links"]["after"].keys()
    assert chosen_interfaces(document, []) == ["h1-eth0", "h2-eth0"]
    with pytest.raises(ReceivedError, match=r"^AT names h2-in0; this run has h1-eth0, h2-eth0 \(nearest: h2-eth0\)\.$"):
        chosen_interfaces(document, ["h2-in0"])


def test_packets_of_an_interface_without_a_queue_are_as_large_as_the_others(recorded):
    document = recorded("slow-vegas-ipv6")
    packets, size = expected_size(document, ["h1-eth0"], 1600)
    assert packets > 100 and 700 < size / packets < 1100


@pytest.mark.parametrize("small", ["temporary", "results"])
def test_space_is_needed_in_both_folders(tmp_path, monkeypatch, small):
    places = {name: tmp_path / name for name in ("temporary", "results")}
    monkeypatch.setattr(run_packets.tempfile, "gettempdir", lambda: str(places["temporary"]))
    monkeypatch.setattr(run_packets.shutil, "disk_usage", lambda place: SimpleNamespace(free=9 if place == places[small] else 20))  # fmt: skip
    require_space(places["results"], 4)
    with pytest.raises(ReceivedError, match=rf"captures of .* need .* in {places[small]}, which has 0\.0 MB free; AT="):
        require_space(places["results"], 10)


def test_a_simulated_run_is_refused_by_its_platform_also_without_its_image(root, tmp_path, monkeypatch):
    document = tmp_path / "runs/simulated/reno+bbr/ipv4/1.json.gz"
    document.parent.mkdir(parents=True)
    shutil.copy(root / "tests/data/simulated-mix-ipv4.json.gz", document)
    monkeypatch.setattr(run_again, "testbeds_here", lambda: {"testbed": ("image", "program")})
    with pytest.raises(
        ReceivedError,
        match=r"its platform is ns3; packets can only be recorded on uml, because .* ns3 has no kernel\.$",
    ):
        finished_run(document, "packets")


@pytest.fixture
def run(tmp_path):
    """A run whose results folder has a file where the folder ``logs`` should be, so that nobody can write there."""
    (tmp_path / "logs").write_bytes(b"")
    return FinishedRun(tmp_path, "a/reno/ipv6/1", {}, {})


def test_a_folder_that_can_t_be_written_is_named_before_the_run(run):
    with pytest.raises(ReceivedError, match=r"logs/packets can't be written \(Not a directory\)\.$"):
        target_of(run, "packets")


def test_captures_that_can_t_be_kept_are_named_after_the_run(run, tmp_path):
    (tmp_path / "a.pcapng").write_bytes(b"a")
    with pytest.raises(ReceivedError, match=r"logs/packets/a can't be written \(Not a directory\)\.$"):
        keep(tmp_path, run.folder / "logs/packets/a", "*.pcapng")


def test_the_check_leaves_nothing_but_the_folder(tmp_path):
    assert target_of(FinishedRun(tmp_path, "a/reno/ipv6/1", {}, {}), "trace") == tmp_path / "logs/trace/a/reno/ipv6/1"
    assert os.listdir(tmp_path / "logs/trace") == []


@pytest.mark.parametrize("module, step, kept", [(run_packets, "_capture", "captures"), (run_trace, "_trace", "events")])
def test_a_full_disk_is_said_in_a_sentence(module, step, kept, monkeypatch, capsys):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/a")

    monkeypatch.setattr(module, step, full)
    assert module.main(["a.json.gz"]) == 1
    assert capsys.readouterr().err == f"sawtooth: /tmp/a: No space left on device; no {kept} were kept.\n"


def test_a_failed_repetition_is_not_taken_for_programs_without_secrets(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run_packets, "repeat", lambda *_: "NOT REPEATED: the rerun left no document: exit status 1")
    secrets = run_packets._secrets(None, tmp_path, None, [], tmp_path)
    run_packets._say_secrets(secrets, tmp_path / "tls-secrets.txt", True)
    said = capsys.readouterr().out
    assert "the additional repetition failed: NOT REPEATED: the rerun left no document: exit status 1" in said
    assert "logged no TLS secrets" not in said
