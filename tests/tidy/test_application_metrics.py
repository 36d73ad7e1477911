"""The sources of the metrics of MPTCP and of file transfers agree with what the page states (metrics.py)."""

import pytest

from asked_run import asked
from run_tables.application_metrics import application_flows
from run_tables.run_metrics import retransmits_of_run

#: Host h1 has sent 9 segments again, of all its connections; the last look saw 4 and 2 of them.
LOOKS = [
    {"time_s": 1, "sockets": [{"flow": 0, "rtt_ms": 2.0, "cca": "reno"}]},
    {"time_s": 3, "sockets": [
        {"flow": 0, "subflow": path, "rtt_ms": rtt, "retransmits": again, "rtt_min_ms": 0.5, "cca": "reno"}
        for path, rtt, again in ((0, 3.0, 4), (1, 7.0, 2))
    ]},
]  # fmt: skip


def document(application, by="none", streams=1):
    """Return a run's document reduced to the parts that are read: one client with the given number of streams."""
    ends = [{"sender": {"bytes": 800, "retransmits": 1}, "receiver": {"bytes": 750, "bits_per_second": 6e6}}] * streams
    client = {"sender": "h1", "flows": list(range(streams)), "start_offset_ms": 0.0}
    if application == "ftp":
        client["transfer"] = {"bytes": 1_000_000, "seconds": 4.0, "wget_mbps": 2.5}
    else:
        client["client"] = {"end": {"streams": ends}}
    scenario = {"traffic": {"application": application, "protocol": "tcp"}, "multipath": {"by": by}}
    return {
        "specification": asked(scenario),
        "traffic": [client],
        "sockets": LOOKS,
        "stack": {"tcp": {"h1": {"TcpRetransSegs": 9}, "h2": {"TcpRetransSegs": 100}}},
    }


@pytest.mark.parametrize(("application", "by"), [("ftp", "none"), ("ftp", "mptcp"), ("iperf3", "mptcp")])
def test_rtt_is_the_plain_mean_of_the_looks_and_retransmissions_are_the_hosts(application, by):
    (flow,) = application_flows(document(application, by))
    assert (flow["rtt_mean_ms"], flow["rtt_min_ms"], flow["retransmits"]) == (4.0, 0.5, 9)


def test_goodput_of_a_file_is_its_size_over_wgets_time_and_of_mptcp_iperf3s():
    assert application_flows(document("ftp"))[0]["application_goodput_mbps"] == 2.0
    assert application_flows(document("iperf3", "mptcp"))[0]["application_goodput_mbps"] == 6.0


def test_of_several_flows_over_mptcp_each_has_what_its_subflows_counted_at_the_last_look():
    first, second = application_flows(document("iperf3", "mptcp", streams=2))
    assert (first["retransmits"], second["retransmits"]) == (6, 0)


def test_a_run_of_several_flows_over_mptcp_has_what_its_host_counted_to_the_end():
    """The sum of the readings of its flows, at three quarters of the time, was 6 of 9."""
    run = document("iperf3", "mptcp", streams=2)
    assert retransmits_of_run(run, application_flows(run)) == 9
    # A host with one flow has the flow's.
    run["traffic"] += [
        run["traffic"][0]
        | {"sender": "h3", "flows": [2], "client": document("iperf3", "mptcp")["traffic"][0]["client"]}
    ]
    run["stack"]["tcp"]["h3"] = {"TcpRetransSegs": 5}
    flows = application_flows(run)
    assert [flow["retransmits"] for flow in flows] == [6, 0, 5] and retransmits_of_run(run, flows) == 14
