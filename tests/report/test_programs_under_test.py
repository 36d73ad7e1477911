"""The page of a study with a program among its CCAs: the programs that generate traffic, and the random parts."""

import pandas as pd

from report_page.method_statements import NETWORK
from report_page.metric_definitions import with_sources
from report_page.page_sections import short_figures
from report_page.repeated_run import capture_command, runs_foreign_code
from report_page.study_facts import as_run, facts_of_design, program_rows, programs_of, tcp_programs_of, without_chance
from run_tables.metrics import METRICS
from study_files import study as studies
from study_files.study_design import StudyDesign
from testbed.network.transport import LINUX_DEFAULT
from topics.delay_and_loss.topic import TOPIC as DELAY_AND_LOSS
from wording.sentence_words import cca_name


def design_of(*ccas, protocol="udp"):
    program = {
        "protocol": protocol,
        "server": "python3 serve {server} {seconds} --cc {cca}",
        "client": "python3 get {server}",
        "ccas": ["cubic"],
    }
    study = {
        "study": "s", "ccas": list(ccas), "ip_versions": ["ipv4"], "scenarios": [{"id": "a", "link": {"rate_mbps": 20, "delay_ms": 10}}],
        "programs": {"mine": program} if "mine:cubic" in ccas else {},
    }  # fmt: skip
    return StudyDesign(studies.resolve(study, "s.yaml"))


def test_a_program_among_the_ccas_is_named_beside_iperf3():
    assert programs_of(as_run(design_of("cubic", "mine:cubic"))) == "iperf3 and mine:cubic"
    assert programs_of(as_run(design_of("mine:cubic"))) == "mine:cubic"


def test_the_page_identifies_a_program_by_its_files_and_commands(tmp_path, monkeypatch):
    """A report that is sent to a stack's authors names the binary that ran."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flow").write_text("#!/bin/sh\n")
    (tmp_path / "flow").chmod(0o755)
    program = {
        "path": "flow", "server": "{folder}/flow {server} {seconds} {cca}", "client": ["sh", "-c", "{folder}/flow > x"], "ccas": ["cubic", "bbr"],
    }  # fmt: skip
    given = {
        "study": "s",
        "ccas": ["cubic", "mine:cubic", "mine:bbr"],
        "programs": {"mine": program},
        "scenarios": [{"id": "a"}],
    }
    (row,) = program_rows(as_run(StudyDesign(studies.resolve(given, "s.yaml"))))
    assert row["names"] == "mine:cubic and mine:bbr" and row["path"] == "flow"
    assert row["server"] == "{folder}/flow {server} {seconds} {cca}" and row["client"] == "sh -c '{folder}/flow > x'"
    assert len(row["sha256"]) == 64 and row["archive"] == f"{row['sha256'][:16]}.tar"
    assert program_rows(as_run(design_of("cubic"))) == []


def test_it_is_said_which_cca_a_program_over_tcp_uses():
    """Without this sentence, readers wouldn't know whether the program or the guest chose the CCA."""
    assert tcp_programs_of(as_run(design_of("cubic", "mine:cubic", protocol="tcp"))) == ["mine:cubic"]
    assert tcp_programs_of(as_run(design_of("cubic", "mine:cubic"))) == []
    (text,) = (one.text for one in NETWORK if "{tcp_programs}" in one.text)
    assert text.endswith(f"or {cca_name(LINUX_DEFAULT)}.")


def test_each_metric_names_what_it_is_read_from_for_programs_too():
    scenarios = pd.DataFrame([{"platform": "uml", "protocol": "tcp"}])
    goodput, rtt = METRICS[:2]
    (again,) = (metric for metric in METRICS if metric.slug == "retransmits")
    of_both, alone, kernels = (
        facts_of_design(design_of(*ccas)) for ccas in (("cubic", "mine:cubic"), ("mine:cubic",), ("cubic",))
    )
    both = with_sources(goodput, scenarios, of_both)
    assert (
        both.source.startswith("TCP: the senders' kernels at two times")
        and ". programs over UDP: the bytes that the program reports" in both.source
    )
    assert "For programs under test (mine:cubic), goodput counts the bytes that the program reports" in both.definition
    assert with_sources(goodput, scenarios, alone).source.startswith("the bytes that the program reports")
    assert with_sources(goodput, scenarios, kernels).source.startswith("the senders' kernels")
    assert "rograms" not in with_sources(goodput, scenarios, kernels).definition
    assert with_sources(rtt, scenarios, alone).source.startswith("the program's log")
    words = with_sources(rtt, scenarios, alone).definition
    assert words.startswith("For programs over UDP (mine:cubic)") and "only in scenarios with time series" in words
    assert "TCP" not in words
    assert with_sources(again, scenarios, alone).source == "none"
    assert (
        "Programs over UDP (mine:cubic) don't have this metric." in with_sources(again, scenarios, of_both).definition
    )
    over_tcp = facts_of_design(design_of("cubic", "mine:cubic", protocol="tcp"))
    assert "programs over TCP: the kernel's TCP_INFO" in with_sources(rtt, scenarios, over_tcp).source
    assert "programs over TCP: packets with data" in with_sources(again, scenarios, over_tcp).source
    assert not {"UDP", "don't have"} & {*with_sources(again, scenarios, over_tcp).definition.split()}


def test_a_program_is_chance():
    assert without_chance(design_of("cubic", "mine:cubic")) == set()


def test_the_capture_command_permits_what_make_packets_would_refuse(tmp_path, monkeypatch):
    """`make packets` doesn't start a study's own kernel or programs without ``BUILD=1``."""
    run = {"scenario": "a", "cca": "mine:cubic", "ip_version": "ipv4", "replication": 1}
    assert capture_command("s", run, runs_foreign_code(design_of("mine:cubic").study)).endswith("/1.json.gz BUILD=1")
    assert capture_command("s", run, runs_foreign_code(design_of("cubic").study)).endswith("/1.json.gz")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tcp_mine.c").write_text('struct tcp_congestion_ops mine = {.name = "mine"};\n')
    for definition, has in (({"base": "cubic", "parameters": {"hystart": 0}}, False), ({"source": "tcp_mine.c"}, True)):
        given = {"study": "s", "ccas": ["mine"], "cca_definitions": {"mine": definition}, "scenarios": [{"id": "a"}]}
        assert runs_foreign_code(studies.resolve(given, "s.yaml")) == has


def test_the_page_shows_the_loss_of_a_program_whose_retransmissions_are_unknown():
    figures = dict.fromkeys(("rtt", "loss", "retransmits"), {})
    shown = [
        short_figures(DELAY_AND_LOSS, design_of("cubic", *programs, protocol=protocol), figures, None)
        for programs, protocol in (((), "udp"), (("mine:cubic",), "tcp"), (("mine:cubic",), "udp"))
    ]
    assert shown == [["rtt", "retransmits"], ["rtt", "retransmits"], ["rtt", "loss"]]
