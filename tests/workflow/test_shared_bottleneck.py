"""Subflows of MPTCP over one bottleneck, on the guest kernel."""

import pytest

from experiment.specification import RunSpecification
from run_tables.run_metrics import flow_metrics, ideal_shares


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_subflows_of_one_pair_share_the_bottleneck_with_another(run, ip_version):
    document = run(
        ip_version=ip_version, flows=2, hosts={"pairs": 2, "access_delay_ms": [0, 0]},
        multipath={"by": "mptcp", "paths": 3, "path_delay_ms": [0] * 3},
        link={"rate_mbps": 10}, queue={"packets": 40}, traffic={"duration_s": 8, "sample_interval_ms": 200},
    )  # fmt: skip
    asked = RunSpecification(document["specification"])
    assert (asked.connections, asked.total_rate_mbps) == (4, 10)
    subflows = {(series["flow"], series["subflow"]) for series in document["series"]["sockets"]}
    assert subflows == {(0, 0), (0, 1), (0, 2), (1, 0)}
    # One bottleneck: all of them together get what it passes, 20 bytes of MPTCP's option less in each packet, but for what
    # subflows sent twice. Three paths of a cable would give three times as much.
    goodput, ideal = (
        sum(flow["goodput_mbps"] for flow in flow_metrics(document)),
        ideal_shares(document, None)["ideal_goodput_mbps"],
    )
    payload = {"ipv4": 1428, "ipv6": 1408}[ip_version]
    assert ideal == pytest.approx(10 * payload / 1514)
    assert 0.9 * ideal < goodput <= ideal
    addresses = [endpoint["address"] for endpoint in document["network"]["read_back"]["multipath"]["h2"]["endpoints"]]
    wanted = {"ipv4": ["10.2.1.3", "10.2.1.4"], "ipv6": ["2001:db8:2:1::3", "2001:db8:2:1::4"]}
    assert addresses == wanted[ip_version]
