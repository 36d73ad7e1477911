"""What a page says of a study with a program among its CCAs: which programs make the traffic, and what chance there is."""

from report_page.study_facts import as_run, programs_of, without_chance
from study_files import study as studies
from study_files.study_design import StudyDesign


def design_of(*ccas):
    program = {
        "server": "python3 serve {server} {seconds} --cc {cca}",
        "client": "python3 get {server}",
        "ccas": ["cubic"],
    }
    study = {
        "study": "s", "ccas": list(ccas), "ip_versions": ["ipv4"], "scenarios": [{"id": "a", "link": {"rate_mbps": 20, "delay_ms": 10}}],
        "programs": {"mine": program},
    }  # fmt: skip
    return StudyDesign(studies.resolve(study, "s.yaml"))


def test_a_program_among_the_ccas_is_named_beside_iperf3():
    assert programs_of(as_run(design_of("cubic", "mine:cubic"))) == "iperf3 and mine:cubic"
    assert programs_of(as_run(design_of("mine:cubic"))) == "mine:cubic"


def test_a_program_is_chance():
    assert without_chance(design_of("cubic", "mine:cubic")) == set()
