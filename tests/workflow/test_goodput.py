"""Goodput against the capacity of a full link, to the packet: the link's rate times the payload's share of a frame."""

import gzip
import json

import pytest

from testbed.readings.deliveries import START_UP, windows

FRAME, PAYLOAD = 1514, {"ipv4": 1448, "ipv6": 1428}


def full_link_mbps(rate_mbps, ip_version="ipv4"):
    return rate_mbps * PAYLOAD[ip_version] / FRAME


def packets_off(document, rate_mbps, ip_version="ipv4"):
    """Return the number of packets by which the flows exceed a link that is always full, after start-up."""
    of_flows = windows(document, START_UP)
    window = of_flows[0]
    assert all(other is window for other in of_flows.values())
    passed = full_link_mbps(rate_mbps, ip_version) * 1e6 / 8 * (window.end_ns - window.begin_ns) / 1e9
    return (sum(window.delivered_bytes.values()) - passed) / PAYLOAD[ip_version]


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
@pytest.mark.parametrize("cca", ["reno", "vegas"])
def test_one_flow_on_a_full_link(run, cca, ip_version):
    document = run(cca=cca, ip_version=ip_version, queue={"packets": 100}, traffic={"duration_s": 5})
    assert abs(packets_off(document, 10, ip_version)) <= 2


def test_flows_that_begin_apart_get_no_more_together_than_the_link_has(run):
    """Over each flow's own time they would: each has the link to itself for half a second."""
    document = run(cca="cubic", flows=4, queue={"packets": 50}, traffic={"duration_s": 5, "start_within_ms": 1000})
    assert abs(packets_off(document, 10)) <= 2 * 4
    printed = sum(p["client"]["end"]["streams"][0]["receiver"]["bits_per_second"] for p in document["traffic"]) / 1e6
    assert printed != pytest.approx(full_link_mbps(10), rel=1e-3)


def test_a_receive_buffer_that_was_asked_for_may_limit(run):
    """Linux offers at most half of the buffer as a window, so that amount arrives in a round trip of 40 ms."""
    document = run(transport={"receive_buffer_bytes": 16_384})
    assert 0.2 < windows(document, START_UP)[0].goodput_mbps(0) / (16_384 / 2 * 8 / 0.04 / 1e6) <= 1.05


def test_a_window_that_limits_unasked_makes_a_run_invalid(specification, testbed, tmp_path):
    """Linux opens no window beyond 64 KiB for segments below 128 bytes."""
    link, transport = {"rate_mbps": 20, "delay_ms": {"forward": 50, "reverse": 50}}, {"segment_bytes": 88}
    asked = specification(link=link, transport=transport, queue={"packets": 1000}, traffic={"duration_s": 4})
    done = testbed(asked, tmp_path / "run.json.gz")
    assert done.returncode == 0, done.stderr
    verdict = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))["verdict"]
    (failed,) = (check for check in verdict["checks"] if not check["ok"])
    assert failed["name"] == "buffers"
    assert failed["observed"].startswith("receiver's window ")
