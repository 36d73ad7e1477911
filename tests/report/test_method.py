"""The section on the method: tests, power, definitions, slow start, threats."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from path_studies import scenario
from report_page import study_facts, tests_and_power
from report_page.metric_definitions import definitions
from report_page.statements import Facts
from report_page.study_facts import startup
from run_tables.metrics import METRICS
from study_files import study as studies

FACTS = Facts(
    tidy_tables.least_study()["scenarios"],
    {
        "several_ccas": True,
        "programs_tested": "",
        "udp_programs_tested": "",
        "tcp_programs_tested": "",
        "kernel_tested": True,
    },
)


def test_tests_taken_are_counted(real_shape):
    names = ("ip_versions", "ccas", "cca_pairs")
    tables = [pd.read_csv(real_shape.table(name), keep_default_na=False) for name in names]
    for row, table in zip(tests_and_power.tests_taken(*tables), tables, strict=True):
        for metric, column in zip(row["metrics"], dict.fromkeys(table["metric"]), strict=True):
            of_metric = table[table["metric"] == column]
            assert sum(number for _, number in metric["counts"]) == len(of_metric)
            assert sum(number for _, number in metric["why"]) == (of_metric["test"] == "").sum()


def test_reasons_without_what_differs_from_cell_to_cell():
    notes = ["in all 4 pairs the same: 13.0 %", "in all 4 pairs the same: 2 %", "1 of 5 pairs is incomplete; no pair"]
    assert tests_and_power.reasons(notes) == [("in all 4 pairs the same", 2), ("no pair", 1)]
    assert tests_and_power.reasons(["a", "b", "c", "d", "e"])[-1] == ("other reasons", 2)


def test_start_up_is_slow_start_from_ten_segments():
    scenarios = tidy_tables.grid(delays_ms=(100,), losses_percent=(0,), flows=(1,))
    # 1 Gbit/s x 200 ms = 25 MB = 16,513 frames; ten of them doubled eleven times are more (RFC 6928, RFC 5681).
    runs = pd.DataFrame({"scenario": scenarios["scenario"], "packet_bytes": 1514.0})
    facts = startup(scenarios, runs)
    assert (facts["trips"], facts["seconds"], facts["percent"]) == (11, "2.2", pytest.approx(22))
    # They are 77,640 of 322 bytes: thirteen doublings.
    assert startup(scenarios, runs.assign(packet_bytes=322.0))["trips"] == 13
    # A label that is a number doesn't look like one in a sentence.
    assert facts["scenario"] == "scenario 1"
    assert startup(scenarios.assign(capacity_most_mbps=float("nan")), runs) is None
    # 16,513 frames from a window of 1,000 need five doublings; a scenario without long TCP flows has no slow start of them.
    name = scenarios["scenario"].iloc[0]
    assert startup(scenarios, runs, {name: 1000})["trips"] == 5
    assert startup(scenarios, runs, {}) is None


def test_initial_windows_of_long_flows_of_tcp():
    link = {"link": {"rate_mbps": 10}}
    scenarios = [
        {"id": "usual"} | link, {"id": "cdn", "transport": {"initial_window_packets": 32}} | link,
        {"id": "udp", "traffic": {"protocol": "udp", "bitrate_mbps": 5, "block_bytes": 1000}} | link,
    ]  # fmt: skip
    study = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": scenarios}, "s.yaml")
    assert study_facts.initial_windows(study["scenarios"]) == {"usual": 10, "cdn": 32}


def test_cells_that_need_too_many_pairs_count_among_those_without_enough():
    cells = pd.DataFrame(
        {
            "metric": "goodput_mbps", "pairs": 6, "detectable": 1.0, "pairs_needed": pd.array([6, 6, None, None], "Int64"),
            "pairs_needed_high": pd.array([20, 6, None, None], "Int64"),
            "note": ["", "", "more than 10,000 pairs needed to show 1 %", "one pair: no spread to judge a difference by"],
        }
    )  # fmt: skip
    sizes = {metric.column: 1.0 for metric in METRICS}
    row = tests_and_power.power_rows(cells, sizes, sizes)[0]
    assert row["needed"] == "6 (more than 10,000)" and row["enough"].startswith("2 of 3 cells, 1 of them")
    row = tests_and_power.power_rows(cells[2:3], sizes, sizes)[0]
    assert row["enough"].startswith("0 of 1 cell,")


def test_both_families_of_tests_are_named_even_if_they_are_equally_large():
    tables = SimpleNamespace(ip_versions=pd.DataFrame(index=range(72)), cca_pairs=pd.DataFrame(index=range(72)))
    words = tests_and_power.mean_test_words(tables, 0.05)
    assert "12 for the 72 cells of all metrics and 12 for the 72 pairs of CCAs" in words


def test_threats_name_the_study(one_of_each, real_shape):
    html = one_of_each.page.read_text()
    assert "<dt>1 replication</dt>" in html and "All runs used Linux 7.2.13" in html
    assert "In 6 of 12 scenarios, replications differ only in the start times of flows" in real_shape.page.read_text()


def test_reason_of_the_margins_is_shown_where_there_is_one(small):
    margin = small.analysis["equivalence_margin"]
    reason = "Less is within what\n  one path differs from the next\n"
    assert "reason for them" not in small.page.read_text()
    try:
        small.write_page(analysis=small.study["analysis"] | {"equivalence_margin": margin | {"reason": reason}})
        html = small.page.read_text()
        assert "The study's reason for them: Less is within what one path differs from the next. <i>" in html
    finally:
        small.write_page()


def test_definitions_name_the_source_of_each_kind_of_traffic():
    plain = tidy_tables.grid((10,), (0,), (1,))
    goodput, rtt, loss, again = (row["ours"].source for row in definitions(plain, FACTS))
    assert goodput.startswith("the senders' kernels at two times (TCP_INFO): bytes acknowledged")
    assert again == "iperf3, sender side (the kernel's TCP_INFO)"
    joined = [scenario("b", "gre", 4), scenario("c", "mptcp", 4), scenario("d", "mptcp", 4, application="ftp")]
    mixed = pd.concat([scenario("a"), *joined])
    goodput, rtt, loss, again = (row["ours"].source for row in definitions(mixed, FACTS))
    assert goodput.startswith("TCP: the senders' kernels at two times (TCP_INFO): ")
    assert (
        ". MPTCP: the senders' kernels: acknowledged data of the connection" in goodput
        and ". FTP: size of the file divided by " in goodput
    )
    assert rtt.startswith("TCP: iperf3, mean over the reporting intervals of each stream")
    assert ". MPTCP and FTP: the kernel's TCP_INFO, unweighted mean" in rtt
    assert again.startswith("TCP: iperf3, sender side") and ". MPTCP: TcpRetransSegs of the sending host" in again
    assert loss == "counters of the queueing disciplines"
    # Traffic that has no such metric has no source of it either.
    udp = scenario("udp").assign(protocol="udp")
    assert [row["ours"].source for row in definitions(udp, FACTS)][1::2] == ["none", "none"]
    both = pd.concat([plain, plain.assign(platform="ns3:3.44")])
    assert ". ns-3: " in definitions(both, FACTS)[1]["ours"].source
