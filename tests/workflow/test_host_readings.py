"""Host values that the testbed reads and sets without a program equal those that the programs report and would set."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.readings.probes import BYTES

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("host_readings.py")
NAMES = {
    "packets": "packets",
    "bytes": "bytes",
    "drops": "drops",
    "overlimits": "overlimits",
    "qlen": "backlog_packets",
}


@pytest.fixture(scope="module")
def both_ways():
    """The output of the script."""
    program, image = Path(sys.executable).with_name("apptainer"), ROOT / "envs/testbed.sif"
    command = [
        program,
        "--silent",
        "exec",
        "--userns",
        "--cleanenv",
        "--bind",
        ROOT,
        "--env",
        f"PYTHONPATH={ROOT / 'workflow'}",
        image,
    ]
    namespaces = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    done = subprocess.run([*command, *namespaces, "python3", "-B", SCRIPT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def readings(both_ways):
    """Host -> the testbed's readings and the tools' output, after more packets than a queue holds."""
    return {host: (both_ways["read"][host], both_ways["printed"][host]) for host in ("a1", "b1")}


@pytest.mark.parametrize("host", ["a1", "b1"])
def test_devices_as_ip_says_them(readings, host):
    read, printed = readings[host]
    assert read["devices"] == {
        link["ifname"]: {
            "index": link["ifindex"],
            "address": link["address"],
            "mtu_bytes": link["mtu"],
            "gso_max_segs": link["gso_max_segs"],
            "gso_max_size": link["gso_max_size"],
            "tx_packets": link["stats64"]["tx"]["packets"],
            "rx_packets": link["stats64"]["rx"]["packets"],
            "device_drops": link["stats64"]["rx"]["dropped"]
            + link["stats64"]["rx"]["errors"]
            + link["stats64"]["tx"]["errors"],
        }
        for link in printed["links"]
    }
    assert read["devices"][f"{host}-eth0"]["gso_max_segs"] == (1 if host == "a1" else 65535)
    assert min(read["devices"][f"{host}-eth0"][count] for count in ("tx_packets", "rx_packets")) > 0


@pytest.mark.parametrize("host", ["a1", "b1"])
def test_queues_as_tc_says_them(readings, host):
    read, printed = readings[host]
    assert read["qdiscs"] == [
        [qdisc["dev"], qdisc["kind"], {ours: qdisc[theirs] for theirs, ours in NAMES.items()}]
        for qdisc in printed["qdiscs"]
    ]
    if host == "a1":
        counted = {kind: counts for device, kind, counts in read["qdiscs"] if device == "a1-eth0"}
        # One of 40 packets at once is under way and ten wait; the others are lost there and nowhere else.
        assert counted["pfifo"]["drops"] == counted["htb"]["drops"] >= 25
        assert counted["htb"]["overlimits"] > 0


@pytest.mark.parametrize("host", ["a1", "b1"])
def test_counters_as_nstat_says_them(readings, host):
    read, printed = readings[host]
    # Bytes are left out: those of iperf3's messages are not the traffic's.
    assert read["nstat"] == {name: count for name, count in printed["nstat"].items() if not name.endswith(BYTES)}
    assert read["nstat"]["IcmpInEchoReps" if host == "a1" else "IcmpInEchos"] == 1


def test_listeners_as_ss_says_them(readings):
    assert [(read["listening"], printed["sockets"].split()[3:4]) for read, printed in readings.values()] == [
        ([], []),
        ([5201], ["10.9.0.2:5201"]),
    ]


def test_settings_and_offloads_are_those_of_the_host(readings):
    assert [read["no_metrics_save"]["net.ipv4.tcp_no_metrics_save"] for read, _ in readings.values()] == ["1", "0"]
    assert [printed["no_metrics_save"] for _, printed in readings.values()] == ["1", "0"]
    assert [set(read["offloads"].values()) for read, _ in readings.values()] == [{False}, {False}]


@pytest.mark.parametrize(
    "question, lines",
    [("address show dev eth0", 7), ("neighbour show", 2), ("-4 -d route show", 4), ("-6 -d route show", 3)],
)
def test_addresses_neighbours_and_routes_as_ip_sets_them(both_ways, question, lines):
    ours, theirs = ([line for line in answer if "link/ether" not in line] for answer in both_ways["alike"][question])
    # Numbers and names of the two ends of a cable differ in the first line.
    skip = question.startswith("address")
    assert ours[skip:] == theirs[skip:]
    assert len(ours) == lines


def test_metrics_of_routes_as_ip_was_told_them(both_ways):
    every = "rto_min 5ms quickack 1 congctl cubic"
    assert both_ways["metrics"] == {
        "10.10.0.0/16": [""], "2001:db8:a::/48": ["rto_min 1000ms"], "0.0.0.0/0": [every], "::/0": ["quickack 1 congctl reno"],
        "10.9.2.7": [""], "10.9.1.0/24": [every], "2001:db8:9::/64": [every],
    }  # fmt: skip
