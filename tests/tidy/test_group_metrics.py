"""Results of flow groups, and the use of a run's bottleneck, against numbers worked out by hand."""

import math

import pytest

from experiment.specification import RunSpecification
from experiment.web_objects import NOT_COMPLETE
from run_tables.flows_under_test import numbers_under_test
from run_tables.group_metrics import groups_of_run, jitter_ms, waits_ms
from run_tables.load_metrics import convergence_s, load_metrics
from run_tables.program_deliveries import with_program_deliveries
from run_tables.program_intervals import interval_columns, program_intervals
from run_tables.program_metrics import program_flows
from run_tables.reordering_counts import cwnd_packets, reordering_counts
from run_tables.run_metrics import flow_metrics, run_metrics
from study_files import study as studies
from study_files.study_groups import counted_flows
from tcp_models.completion_time import ideal_completion_s, last_departure_s
from testbed.readings.deliveries import windows

KEYS = {"scenario": "s", "cca": "reno", "ip_version": "ipv4", "replication": 1}
#: At 10 Mbit/s: a packet of 1,250 bytes takes a millisecond.
MILLISECOND_BYTES = 1250


def departures_ms(segments, rtt_ms=100, acknowledgement_bytes=0):
    return 1e3 * last_departure_s(segments, MILLISECOND_BYTES, acknowledgement_bytes, 10, rtt_ms / 1e3)


def test_packets_leave_by_the_bucket_and_the_window():
    # Two at once, as the bucket holds a packet; then one a millisecond: the tenth after 8 ms.
    assert [departures_ms(n) for n in (1, 2, 3, 10)] == pytest.approx([0, 0, 1, 8])
    # A second round of twenty from the first acknowledgements on: two at once, which come in separate pairs.
    assert [departures_ms(n) for n in (11, 12, 13)] == pytest.approx([100, 100, 101])
    # Packets 11 to 14 are let go by two acknowledgements at 100 ms, 15 and 16 by one at 101 ms, by when two have left.
    assert departures_ms(30) == pytest.approx(100 + 18)
    assert departures_ms(31) == pytest.approx(200)
    # Once the window is more than the path holds, the bottleneck alone says when.
    assert departures_ms(2000) - departures_ms(1000) == pytest.approx(1000)
    # An acknowledgement of a tenth of a packet took its part of the bucket.
    assert departures_ms(10, acknowledgement_bytes=125) == pytest.approx(8.1)


def test_an_ideal_completion_has_two_round_trips_before_its_packets():
    assert ideal_completion_s(1, 1200, MILLISECOND_BYTES, 50, 10, 0.1) == pytest.approx(0.2)
    assert ideal_completion_s(12_000, 1200, MILLISECOND_BYTES, 0, 10, 0.1) == pytest.approx(0.208)
    assert ideal_completion_s(12_001, 1200, MILLISECOND_BYTES, 0, 10, 0.1) == pytest.approx(0.3)
    # A window of 3 needs another round trip for the fourth packet, a window of 50 none for the eleventh.
    assert ideal_completion_s(3601, 1200, MILLISECOND_BYTES, 0, 10, 0.1, 3) == pytest.approx(0.3)
    assert ideal_completion_s(12_001, 1200, MILLISECOND_BYTES, 0, 10, 0.1, 50) == pytest.approx(0.209)


def test_jitter_is_that_of_rfc_3550():
    # D is 16 ms, 0 and 8 ms: J = 1, then 15/16, then 15/16 + (8 - 15/16) / 16.
    wanted = [1, 15 / 16, 15 / 16 + (8 - 15 / 16) / 16]
    assert jitter_ms([10_000_000, None, 26_000_000, 26_000_000, 18_000_000]) == pytest.approx(sum(wanted) / 3)
    assert jitter_ms([10_000_000, None]) is None


@pytest.fixture
def document(recorded):
    return recorded("lossy-reno-ipv4")


def grouped(document, *groups):
    scenario = document["specification"]["scenario"]
    scenario |= counted_flows({"flows": [{"stop_s": 10, **group} for group in groups], "groups": []})
    return RunSpecification(document["specification"])


def test_objects_that_were_not_complete_at_the_end_were_waited_for(document):
    """The last object is requested 9 s after the others, so the run waits 9 s less for it: its completion time is only known to be
    longer."""
    run = grouped(document, {"name": "web", "application": "web", "cca": "vegas", "bytes": 1000})
    document["web"] = [{
        "bytes": [1000] * 4, "start_ns": [0, 0, 0, 9 * 10**9], "header_bytes": [200] * 4,
        "failures": {"2": NOT_COMPLETE, "3": NOT_COMPLETE}, "completion_ns": [10**9, 65 * 10**9, None, None],
    }]  # fmt: skip
    document.pop("delivered", None)
    ((web,), objects) = groups_of_run(document, KEYS)
    until_s = run.traffic.duration_s + 60
    assert objects.column("watched_ms").to_pylist() == [1000, 65_000, 1e3 * until_s, 1e3 * (until_s - 9)]
    # 1/4 are complete after 1 s, and after 65 s one of the two that are still waited for: 1 - 3/4 x 1/2 = 5/8. Were all that were
    # not complete the slowest, only half would ever be.
    assert (web["completion_p50_ms"], web["completion_worst_p50_ms"]) == (65_000, None)
    assert (web["complete"], web["watched_ms"], web["completion_p99_ms"]) == (2, 1e3 * until_s, None)


def test_objects_and_packets_of_groups(document):
    run = grouped(
        document, {"name": "web", "application": "web", "cca": "vegas", "bytes": 1000}, {"name": "call", "application": "real-time"},
        {"name": "long"}, {"name": "more", "cca": "bbr"},
    )  # fmt: skip
    rtt_ms = run.rtt_path_ms
    path_ns = round(run.link.delay_ms["forward"] * 1e6)
    document["web"] = [{
        "bytes": [1000] * 4, "start_ns": [0, 10**9, 2 * 10**9, 3 * 10**9], "header_bytes": [200] * 4, "failures": {"3": "ETIMEDOUT"},
        "completion_ns": [*(round(2e6 * rtt_ms * factor) for factor in (1, 2, 3)), None],
    }]  # fmt: skip
    document["real_time"] = [{"sent_ns": [[0] * 5], "delay_ns": [[path_ns + 10**6 * n for n in (0, 1, 2, 3)] + [None]]}]
    document.pop("delivered", None)
    rows, objects = groups_of_run(document, KEYS)
    web, call, long, more = rows
    assert (web["group_cca"], web["beside"], web["members"], web["complete"]) == ("vegas", "reno+bbr", 4, 3)
    # One of four gave up: it counts as the slowest, so the median is between the second and the third.
    assert (web["slowdown_p50"], web["slowdown_p95"], web["slowdown_p99"]) == (pytest.approx(2.5), None, None)
    assert web["completion_p50_ms"] == web["completion_worst_p50_ms"] == pytest.approx(5 * rtt_ms)
    assert (web["completion_p95_ms"], web["watched_ms"]) == (None, pytest.approx(6 * rtt_ms))
    assert [row["failure"] for row in objects.to_pylist()] == ["", "", "", "ETIMEDOUT"]
    assert objects.to_pylist()[1]["ideal_ms"] == pytest.approx(2 * rtt_ms)
    assert (call["packets"], call["lost_percent"], call["group_cca"]) == (5, 20, "")
    assert (call["queueing_p50_ms"], call["delay_p50_ms"]) == pytest.approx((1.5, path_ns / 1e6 + 1.5))
    assert (long["group_cca"], long["beside"], more["beside"]) == ("reno", "bbr", "reno")


def test_a_packet_waits_what_the_path_of_its_time_does_not_explain(document):
    """A delay that steps from 10 to 60 ms at 1 s, and back at 2 s, is no queueing; jitter can't be distinguished from it."""
    link = document["specification"]["scenario"]["link"]
    link |= {"delay_ms": {"forward": 10, "reverse": 10}, "jitter_ms": {"forward": 0, "reverse": 0}}
    nothing = dict.fromkeys(("rate_mbps", "loss_percent", "down_for_s"))
    link["timeline"] = [nothing | {"at_s": at_s, "direction": "both", "over_s": 0, "step_ms": 100, "delay_ms": delay_ms} for at_s, delay_ms in ((1, 60), (2, 10))]  # fmt: skip
    run = grouped(document, {"name": "call", "application": "real-time"})
    sent_ms, delay_ms = [500, 995, 996, 1500, 1990, 1995], [10, 12, 70, 75, 60, 20]
    streams = {"sent_ns": [[at * 10**6 for at in sent_ms]], "delay_ns": [[at * 10**6 for at in delay_ms]]}
    assert waits_ms(run, run.pairs[0], streams) == [0, 2, 10, 15, 0, 10]
    link["jitter_ms"] = {"forward": 1, "reverse": 0}
    assert waits_ms(RunSpecification(document["specification"]), run.pairs[0], streams) == []


def shares(document, *flows, starts_ms=(0, 0)):
    """A run's readings every 100 ms, with the data of each flow until then; the two RTTs are 10 ms."""
    document["specification"]["scenario"]["flows"] = len(flows)
    for pair in ("delay_ms", "jitter_ms"):
        document["specification"]["scenario"]["link"][pair] = {"forward": 5, "reverse": 5}
    document["traffic"] = [{"flows": [n], "start_offset_ms": start} for n, start in enumerate(starts_ms)]
    document["delivered"] = {
        "time_ns": [10**8 * n for n in range(1, 1 + len(flows[0]))],
        "flows": [{"flow": n, "bytes": counts} for n, counts in enumerate(flows)],
    }
    return convergence_s(document)


def test_convergence_is_the_first_fair_step_after_the_last_start(document):
    # From 200 ms on both flows are there: shares of 80, 56 and 54 % in the steps to 300, 400 and 500 ms.
    first, second = [1000, 2000, 10_000, 15_600, 21_000], [None, 2000, 4000, 8400, 13_000]
    assert shares(document, first, second, starts_ms=(0, 150)) == pytest.approx(0.35)
    assert shares(document, first[:4], second[:4], starts_ms=(0, 150)) is None
    assert shares(document, first, starts_ms=(0,)) is None


def test_how_full_the_bottleneck_was_and_how_long_packets_waited(document):
    run = RunSpecification(document["specification"])
    delivered = round(run.goodput_limit_mbps * 1e6 / 8 / 4 / run.flows)
    document["delivered"] = {
        "time_ns": [10**9, 2 * 10**9],
        "flows": [{"flow": flow, "bytes": [1000, 1000 + delivered]} for flow in range(run.flows)],
    }
    assert load_metrics(document)["utilisation_percent"] == pytest.approx(25, rel=1e-5)
    document["series"] = {"queue": {"time_s": [0, 1, 2, 99], "bytes": [0, 2500, 5000, 10**9]}}
    per_byte_ms = 8e-3 / run.rate_mbps
    assert load_metrics(document)["queueing_p50_ms"] == pytest.approx(2500 * per_byte_ms)
    assert load_metrics(document)["queueing_p95_ms"] == pytest.approx(4750 * per_byte_ms)


def test_a_runs_own_columns_are_those_of_the_cca_under_test(document):
    grouped(document, {"name": "long"}, {"name": "other", "cca": "bbr"})
    assert numbers_under_test(RunSpecification(document["specification"])) == {0}
    del document["specification"]["scenario"]["groups"]
    run = RunSpecification(document["specification"])
    assert numbers_under_test(run) == set(range(run.flows)) and run.flows > 1


def test_a_run_without_long_flows_has_no_goodput(document):
    grouped(document, {"name": "web", "application": "web", "bytes": 1000})
    document |= {"traffic": [], "sockets": []}
    document.pop("delivered", None)
    flows = flow_metrics(document)
    metrics = run_metrics(document, flows)
    assert flows == []
    assert all(
        metrics[name] is None for name in ("goodput_mbps", "rtt_mean_ms", "retransmits", "jain_index", "rtt_steady_ms")
    )
    assert metrics["packets_sent"] > 0 and not math.isnan(metrics["loss_percent"])


def run_of_programs(cca, protocol="udp"):
    """Return the document of a run of a program or of a CCA of the kernel, in which a group of another program sends from 2 to 4 s.

    The flow under test delivers 1 MB/s for 10 s, or half of this while the other program's flow is active. Over TCP, a tenth of a MB is
    also sent repeatedly.
    """
    program = {
        "server": "serve {server} {seconds} {bytes}", "client": "get {server} {seconds}", "protocol": protocol, "ccas": ["mine"],
    }  # fmt: skip
    groups = [
        {"name": "own", "cca": "own", "stop_s": 10},
        {"name": "brief", "program": "other", "start_s": 2, "stop_s": 4},
    ]
    programs = {"p": program, "other": {key: value for key, value in program.items() if key != "ccas"}}
    study = {"study": "try", "ccas": ["reno", "p:mine"], "programs": programs}
    config = study | {"scenarios": [{"id": "a", "traffic": {"duration_s": 10}, "flows": groups}]}
    asked = studies.run_specification(studies.resolve(config, "try.yaml"), "a", cca, "ipv4", 1)
    own, brief = [500_000 if 20 <= step < 40 else 1_000_000 for step in range(100)], [0] * 20 + [500_000] * 20
    flows = [(0, own), (2, brief)] if cca == "p:mine" else [(2, brief)]
    side = {"started_ns": 0, "ended_ns": 10**10, "ended_by": "itself", "status": 0, "reported": None}
    document = {
        "specification": asked, "traffic": [], "stack": {"tcp": {"h1": {}, "h2": {}}},
        "programs": [{"start_ns": start_s * 10**9, "client": {**side}, "server": {**side}} for start_s, _ in flows],
        "program_packets": {
            "flows": [
                {
                    "first_sent_ns": start_s * 10**9, "last_arrived_ns": 10**8 * len(steps), "step_ns": 10**8,
                    "arrived_bytes_by_step": steps, "bytes_arrived": sum(steps), "distinct_bytes": None,
                    "bytes_sent": sum(steps) + 100_000 * (protocol == "tcp"), "repeated_packets": 80 if protocol == "tcp" else None,
                    "sent_bytes_by_step": steps, "packets_sent": sum(steps) // 1200, "largest_packet_bytes": 1242,
                }
                for start_s, steps in flows
            ]
        },
    }  # fmt: skip
    times_ns = [250_000_000 * step for step in range(1, 41)]
    count = [sum(own[: at // 10**8]) for at in times_ns]
    delivered = {"time_ns": times_ns, "flows": [{"flow": 0, "bytes": count}]}
    return document if cca == "p:mine" else document | {"delivered": delivered}


def test_other_programs_leave_the_window_of_a_program_as_that_of_the_kernels_ccas():
    """Otherwise the program's goodput would cover only the time in which the other program sends, and that of the kernel's CCA the entire run."""
    begins_s, ends_s = zip(
        *(
            (window.begin_ns / 1e9, window.end_ns / 1e9)
            for cca in ("reno", "p:mine")
            for window in windows(with_program_deliveries(run_of_programs(cca))).values()
        ),
        strict=True,
    )
    assert max(begins_s) < 0.5 and min(ends_s) > 9.5


def intervals_of_first(document):
    """Return the intervals of a run's first program flow, and the columns that are computed from them."""
    intervals = list(program_intervals(document))
    return [row for row in intervals if row["flow"] == 0], interval_columns(document, intervals)[0]


def log(seconds, **changes):
    """Return a log that covers the first seconds of a run."""
    steps = 10 * seconds + 1
    columns = {"rtt_ms": [50.0] * steps, "cwnd_bytes": [12_000] * steps, "lost_packets": [*range(steps)]}
    return {"from_ns": 0, "step_ns": 10**8, "aligned": True, "complete": True, "readings": steps} | columns | changes


def test_packets_that_a_log_declares_lost_are_no_retransmits():
    """The log counts the lost packets so far; added up over the intervals, a run with 100 losses had 490 retransmits after start-up."""
    document = with_program_deliveries(run_of_programs("p:mine"))
    document["programs"][0]["server"]["qlog"] = log(10)
    intervals, columns = intervals_of_first(document)
    assert (
        {row["retransmits"] for row in intervals}
        == {None}
        == {columns["retransmits_steady"], columns["bytes_sent_steady"]}
    )
    assert columns["rtt_mean_ms"] == columns["rtt_steady_ms"] == 50 and columns["cwnd_max_bytes"] == 12_000


def test_a_truncated_log_says_nothing_about_later_intervals():
    """Its last value isn't the RTT of the rest of the run; a complete log ends when nothing changes any more."""
    for is_complete, known in ((True, [50.0] * 10), (False, [50.0] * 5 + [None] * 5)):
        document = run_of_programs("p:mine")
        document["programs"][0]["server"]["qlog"] = log(4, complete=is_complete) | {"rtt_ms": [50.0] * 46}
        assert [row["rtt_ms"] for row in intervals_of_first(document)[0]] == known


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_intervals_contain_all_data_of_a_flow(protocol):
    """The flow begins and ends within a step of the packet counts, and a part of its data was in no interval."""
    document = run_of_programs("p:mine", protocol)
    document["programs"][0]["start_ns"] = 40_000_000
    document["program_packets"]["flows"][0]["last_arrived_ns"] = 9_920_000_000
    document["programs"][0]["client"]["ended_ns"] = 9_930_000_000
    intervals, _ = intervals_of_first(document)
    assert sum(row["sent_mbps"] * (row["end_s"] - row["start_s"]) for row in intervals) * 1e6 / 8 == pytest.approx(90e6)
    # The share of retransmits is relative to the data that the application sent, as for iperf3.
    assert program_flows(with_program_deliveries(document))[0]["bytes_sent"] == 90_000_000


def sockets(connections, every_s):
    """Return the readings of a program's main connection, with 40 retransmits by 10 s and an RTT of 40 ms plus the time in s."""
    times_s = [every_s * step for step in range(1, round(10 / every_s) + 1)]
    series = {
        "time_s": times_s,
        "retransmits": [round(4 * at) for at in times_s],
        "rtt_ms": [40 + at for at in times_s],
    }
    return {
        "program_sockets": [{"flow": 0, "connections": connections, "cca": "reno", "named_cca": None, "series": series}]
    }


@pytest.mark.parametrize(("connections", "repeated", "known"), [(1, 40, True), (2, 42, True), (2, 80, False)])
def test_retransmits_over_time_are_those_of_all_connections(connections, repeated, known):
    """With several connections, the retransmits of one were divided by the data of all."""
    document = with_program_deliveries(run_of_programs("p:mine", "tcp") | sockets(connections, 0.1))
    document["program_packets"]["flows"][0]["repeated_packets"] = repeated
    intervals, columns = intervals_of_first(document)
    assert [row["retransmits"] for row in intervals] == [4 if known else None] * 10
    assert (columns["retransmits_steady"] is not None) == known and columns["rtt_max_ms"] == 50


def test_an_interval_without_a_reading_has_the_latest():
    """Readings every 2 s, intervals of 1 s: without the RTT of every other interval, there was no RTT after start-up."""
    document = with_program_deliveries(run_of_programs("p:mine", "tcp") | sockets(1, 2))
    intervals, columns = intervals_of_first(document)
    assert [row["rtt_ms"] for row in intervals] == [None, 42, 42, 44, 44, 46, 46, 48, 48, 50]
    assert columns["rtt_steady_ms"] is not None


def test_counters_of_tcp_are_those_of_the_same_hosts_with_a_program():
    """Other flows on other hosts count in runs of the kernel's CCAs, too."""
    counts = {host: {"TcpExtTCPSackRecovery": number} for number, host in enumerate(("h2", "h1", "h3"))}
    of_hosts = {"traffic": [{"sender": "h3", "receiver": "h4"}], "stack": {"tcp": counts | {"h4": {}}}}
    assert reordering_counts(run_of_programs("p:mine", "tcp") | of_hosts)["recoveries"] == 3


def test_counters_of_tcp_dont_describe_a_program_over_udp():
    """A program over UDP under test, or no flow under test at all: 0 recoveries would look like a measurement."""
    of_hosts = {"traffic": [{"sender": "h1", "receiver": "h2"}]}
    assert set(reordering_counts(run_of_programs("p:mine") | of_hosts).values()) == {None}
    assert set(reordering_counts(run_of_programs("reno")).values()) == {None}
    assert set(reordering_counts(run_of_programs("reno") | of_hosts).values()) == {0}
    readings = {"sockets": [{"sockets": [{"flow": 1, "cwnd_packets": 10}]}]}
    found = [cwnd_packets(run_of_programs(cca) | readings) for cca in ("p:mine", "reno")]
    assert found == [None, 10]
