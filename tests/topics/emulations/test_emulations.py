"""One nominal path implemented in several ways: the scenarios that count, their comparison, and the text about them."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from drawn_figure import drawing_alike
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.emulations.compare_emulations import compare_emulations
from topics.emulations.plot_emulations import plot_emulations
from topics.emulations.section import findings
from topics.emulations.topic import TOPIC, settings

WAYS = {
    "apart": {}, "tclink": {"link": {"netem": "both-ends", "shaper_burst_bytes": 15000}},
    "alone": {"link": {"netem": "both-ends", "shaper": "netem"}}, "hosts": {"link": {"netem": "sending-host", "shaper": "netem"}},
}  # fmt: skip
PATH = {"link": {"rate_mbps": 20, "delay_ms": 20}, "queue": {"packets": 67}}


def design_of(**scenarios):
    base = {"study": "ways", "ccas": ["reno", "bbr"], "ip_versions": ["ipv4"], "replications": 6, "defaults": PATH}
    rows = [{"id": name, **changes} for name, changes in scenarios.items()]
    return StudyDesign(studies.resolve(base | {"scenarios": rows}, "ways.yaml"))


def test_scenarios_that_differ_in_the_way_only_are_one_path():
    other = {"link": {"delay_ms": 30, "netem": "both-ends"}}
    found = settings(design_of(**WAYS, other=other))
    assert list(found) == list(WAYS) and len({one["setting"] for one in found.values()}) == 1
    assert TOPIC.applies(design_of(**WAYS)) and TOPIC.leads(design_of(**WAYS))
    assert not TOPIC.applies(design_of(apart={}, other=other))
    # Offload counts only beside one of the other ways.
    assert not TOPIC.applies(design_of(apart={}, offload={"transport": {"segmentation_offload": True}}))


@pytest.fixture
def cells():
    """Return the table of a study in which the last implementation has a tenth less goodput and twice the RTT."""
    grid = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=20)
    names = list(WAYS)
    table = pd.concat([grid.iloc[:1].assign(scenario=name, label=name) for name in names], ignore_index=True)
    study = tidy_tables.synthetic_study(table, ["reno", "bbr"], replications=6)
    runs = study["runs"]
    last = runs["scenario"] == names[-1]
    base = runs.groupby(["cca", "ip_version", "replication"])[["goodput_mbps", "rtt_mean_ms"]].transform("first")
    runs["goodput_mbps"], runs["rtt_mean_ms"] = base["goodput_mbps"], base["rtt_mean_ms"]
    runs.loc[last, "goodput_mbps"] *= 0.9
    runs.loc[last, "rtt_mean_ms"] *= 2
    common = {name: {"setting": 1, "conditions": "20 Mbit/s"} for name in names}
    return compare_emulations(runs, study["scenarios"], common, 0.95)


def test_each_way_is_compared_with_the_first(cells):
    rows = cells[cells["cca"] == "reno"].set_index(["scenario", "ip_version"])
    assert rows["compared_with"].unique().tolist() == ["apart"]
    assert rows.loc["apart"]["goodput_difference_percent"].isna().all()
    assert rows.loc["tclink"]["rtt_difference_percent"].abs().max() == pytest.approx(0, abs=1e-9)
    assert rows.loc["hosts"]["goodput_difference_percent"].tolist() == pytest.approx([-10] * 2)
    assert rows.loc["hosts"]["rtt_difference_percent"].tolist() == pytest.approx([100] * 2)
    assert (rows.loc["hosts"]["rtt_difference_percent_low"] < 100).all()


def test_the_finding_names_both_ends_and_every_way_is_drawn(cells, tmp_path):
    material = type("Material", (), {"tables": type("Tables", (), {"emulation_cells": cells})})
    (finding,) = findings(material)
    assert (
        finding.text.startswith("The same path, implemented in 4 ways, gives ")
        and "ms (hosts), and a goodput of" in finding.text
    )
    drawing = plot_emulations(cells)
    assert len(drawing.panels) == 3 * cells["ip_version"].nunique() and drawing_alike(drawing, tmp_path) == []


def test_the_finding_counts_the_ways_of_its_cca():
    """BBR has no valid run in one of three ways, in which Reno has some."""
    row = {"setting": 1, "ip_version": "ipv4", "goodput_mbps": 19.0}
    rtts_ms = {"reno": (50.0, 51.0, 52.0), "bbr": (50.0, 100.0, None)}
    rows = [
        row | {"cca": cca, "scenario": way, "scenario_label": way, "rtt_mean_ms": rtt_ms}
        for cca, of_cca in rtts_ms.items() for way, rtt_ms in zip(WAYS, of_cca, strict=False)
    ]  # fmt: skip
    material = SimpleNamespace(tables=SimpleNamespace(emulation_cells=pd.DataFrame(rows)))
    (finding,) = findings(material)
    assert finding.text.startswith("The same path, implemented in 2 ways, gives BBR a mean RTT from 50.0 ms")
