"""Networks of many hosts and bottlenecks in the guest: every address is reachable, and every check passes."""

import gzip
import json

import pytest

from run_tables.chain_metrics import bottleneck_rows
from run_tables.run_metrics import flow_metrics

#: More than have their number in one byte of an IPv4 address.
PAIRS = 270
MANY = {
    "flows": PAIRS,
    "hosts": {"pairs": PAIRS, "access_delay_ms": [5] * (PAIRS - 1) + [10]},
    "link": {"rate_mbps": 2 * PAIRS},
    "queue": {"packets": 5000},
    "traffic": {"processes": "per-side", "duration_s": 2, "start_within_ms": 200},
}
ONE = {"rate_mbps": 5, "delay_ms": {"forward": 1, "reverse": 1}, "queue": {"packets": 20}}
TEN = {
    "topology": "chain",
    "chain": {"bottlenecks": [ONE] * 10, "cross_flows": 1, "cross_cca": None},
    "hosts": {"pairs": 11, "access_delay_ms": [0] * 11},
}


@pytest.mark.long
@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_pairs_beyond_a_byte_of_the_address(run, ip_version):
    document = run(ip_version=ip_version, **MANY)
    idle = document["idle_rtt"]
    assert len(idle) == PAIRS and all(pair["received"] == pair["sent"] for pair in idle)
    # The last pair has its own delay.
    assert idle[-1]["min_ms"] - idle[-2]["min_ms"] == pytest.approx(20, abs=0.1)
    flows = flow_metrics(document)
    assert {flow["pair"] for flow in flows} == set(range(1, PAIRS + 1))
    assert all(entry["stream"]["received_bytes"] > 0 for entry in document["traffic"])


@pytest.mark.slow
@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_ten_bottlenecks(specification, testbed, tmp_path, ip_version):
    asked = specification(ip_version=ip_version, traffic={"duration_s": 3})
    asked["scenario"] |= TEN
    done = testbed(asked, tmp_path / "run.json.gz")
    assert done.returncode == 0, done.stderr[-2000:]
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    assert [check for check in document["verdict"]["checks"] if not check["ok"]] == []
    assert document["idle_rtt"][0]["min_ms"] == pytest.approx(20, abs=0.1)
    assert [row["bottleneck"] for row in bottleneck_rows(document)] == list(range(1, 11))
