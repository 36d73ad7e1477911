"""A client and its busy server on one cable: requests are answered beside the traffic, and the same seed gives the same bytes."""

import gzip

import pytest

CABLE = {
    "topology": "cable", "queue": {"packets": 1000}, "cca": "cubic",
    "link": {"rate_mbps": 100, "delay_ms": {"forward": 0, "reverse": 0}, "frame_overhead_bytes": 24, "serialisation": "virtual-clock"},
}  # fmt: skip


@pytest.fixture
def served(run):
    """A function that executes a run over a cable between a client and its server."""
    return lambda **changes: run(**CABLE, background="server", **changes)


@pytest.mark.slow
@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
@pytest.mark.parametrize(
    "traffic",
    [
        {"duration_s": 1, "interval_s": 0.1, "sample_interval_ms": 10},
        {"duration_s": 1, "interval_s": 0.1, "protocol": "udp", "block_bytes": 1152},
        {"duration_s": 1, "application": "round-trip", "block_bytes": 384},
    ],
    ids=["tcp", "udp", "round-trip"],
)
def test_requests_are_answered_beside_the_traffic(served, traffic, ip_version):
    document = served(traffic=traffic, ip_version=ip_version)
    for counts in document["background"].values():
        assert counts["requests"] == counts["answers"] == counts["served"] >= 1
    assert document["background"]["dns"]["requests"] > 5
    # The directory's connection is none of the flows'.
    assert all(len(look["sockets"]) == 1 for look in document["sockets"])
    assert len(document.get("series", {"sockets": [None]})["sockets"]) == 1


def test_same_seed_same_bytes(testbed, specification, tmp_path):
    asked = specification(**CABLE, background="server", traffic={"duration_s": 1})
    first, second = (tmp_path / f"{name}.json.gz" for name in ("first", "second"))
    for path in (first, second):
        testbed(asked, path)
    assert first.read_bytes() == second.read_bytes()
    assert b'"directory"' in gzip.decompress(first.read_bytes())


def test_without_a_server_there_is_none(run):
    document = run(**CABLE, traffic={"duration_s": 1})
    assert "background" not in document
    assert "background" not in {check["name"] for check in document["verdict"]["checks"]}
