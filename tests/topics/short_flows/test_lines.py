"""Scenarios that differ in one key each have one line, slot and row each, whatever the key."""

from types import SimpleNamespace

import pandas as pd
import pytest

from experiment.specification import RunSpecification
from one_key_apart import base, one_key_apart
from run_tables.group_metrics import _who
from run_tables.group_tables import GROUPS, SHORT_FLOWS
from study_files.study import resolve
from study_files.study_design import StudyDesign
from tidy_tables import completed
from topics.real_time import plot_real_time
from topics.real_time.describe_real_time import describe_real_time
from topics.short_flows import plot_completion_times, plot_slowdown
from topics.short_flows.beside import LINE, lines_of
from topics.short_flows.describe_short_flows import describe_short_flows
from topics.short_flows.section import findings
from topics.short_flows.topic import settings_params

CCAS = ("reno", "cubic")
#: Keys of a group that make another group of it, or that need a second one beside them.
OTHERS = (".name", ".application", ".on_s", ".pair", "groups", ".topology", "topology")


def tables_of(scenarios, folder):
    """Return ``tidy/groups.csv`` with one run of each cell, and the file of its web objects."""
    rows, objects = [], []
    for scenario in scenarios:
        for cca in CCAS:
            run = RunSpecification({"scenario": scenario, "cca": cca, "ip_version": "ipv4", "replication": 1})
            for group in run.groups:
                known = {**run.factors, **_who(run, group), "application": group.application, "valid": True}
                rows.append(
                    known
                    | {
                        "members": 6,
                        "complete": 6,
                        "completion_p95_ms": 90.0,
                        "completion_p50_ms": 60.0,
                        "queueing_p95_ms": 3.0,
                        "lost_percent": 0.0,
                    }
                )
                if group.application == "web":
                    objects += [
                        {**run.factors, **_who(run, group), "object": n, "bytes": 20_000, "completion_ms": 50.0 + n, "watched_ms": 50.0 + n, "slowdown": 2.0 + n, "valid": True}
                        for n in range(6)
                    ]  # fmt: skip
    completed(pd.DataFrame(objects), SHORT_FLOWS).to_parquet(folder / "short_flows.parquet")
    return completed(pd.DataFrame(rows), GROUPS), folder / "short_flows.parquet"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A base with web objects, a call and long flows, and a scenario for each key that may differ with the same groups."""
    apart = [one for key, one in one_key_apart("groups").items() if not key.endswith(OTHERS)]
    scenarios = [base("groups"), *apart]
    groups, short_flows = tables_of(scenarios, tmp_path_factory.mktemp("lines"))
    settings = settings_params(StudyDesign({"scenarios": scenarios}))["settings"]
    return scenarios, groups, short_flows, settings


def test_findings_leave_out_cells_without_a_valid_run():
    """Nothing is known of BBR's: neither was a share of its objects reached, nor was it not."""
    row = {
        "scenario": "s",
        "scenario_label": "S",
        "ip_version": "ipv4",
        "setting": 1,
        "conditions": "10 Mbit/s",
        "group": "web",
        "group_cca": "cubic",
    }
    beside = (("reno", 6, 90.0), ("cubic", 6, 120.0), ("bbr", 0, None))
    cells = pd.DataFrame(
        [
            row | {"cca": cca, "beside": cca, "n": n, "members": 20.0, "completion_p95_ms": late}
            for cca, n, late in beside
        ]
    )
    (finding,) = findings(material_of(cells))
    assert finding.text.endswith("is 90 ms (against Reno) and 120 ms (against CUBIC).")
    assert not findings(material_of(cells.assign(members=19.0)))  # too few objects for a 95th percentile


def material_of(cells):
    return SimpleNamespace(tables=SimpleNamespace(short_flow_cells=cells), ranked=lambda cells: cells)


def test_groups_with_other_objects_or_packets_are_not_compared():
    """The web objects of the second scenario are larger, and the stream of the third has other packets."""
    web, call = ({"name": "web", "application": "web", "cca": "own", "count": 30, "bytes": 10_000}, {"name": "call", "application": "real-time", "stop_s": 9})  # fmt: skip
    long = {"name": "long", "cca": "bbr", "stop_s": 9}
    groups = {
        "alone": [web, call], "beside": [web, call, long], "large": [web | {"bytes": 100_000}, call, long],
        "dense": [web, call | {"interval_ms": 3}, long],
    }  # fmt: skip
    scenarios = [
        {"id": name, "link": {"rate_mbps": 10, "delay_ms": 9}, "flows": flows} for name, flows in groups.items()
    ]
    design = StudyDesign(resolve({"study": "s", "ccas": ["reno"], "scenarios": scenarios}, "s.yaml"))
    for application, apart in (("web", "large"), ("real-time", "dense")):
        settings = settings_params(design, application)["settings"]
        number = {name: one["setting"] for name, one in settings.items()}
        assert {name for name in number if number[name] == number["alone"]} == {*groups} - {apart}


def web_groups(scenario):
    return [group for group in scenario["groups"] if group["application"] == "web"]


def cells_with(scenarios, application):
    return {
        (s["id"], cca) for s in scenarios for cca in CCAS if any(g["application"] == application for g in s["groups"])
    }


@pytest.mark.slow
def test_each_scenario_is_a_line_of_completion_times_and_slowdowns(study):
    scenarios, groups, short_flows, settings = study
    cells, sizes = describe_short_flows(groups, short_flows, settings, 0.95)
    wanted = cells_with(scenarios, "web")
    assert set(cells[LINE].itertuples(index=False, name=None)) == wanted and len(cells) == len(wanted)
    times = plot_completion_times.plot_completion_times(short_flows, cells)
    slowdowns = plot_slowdown.plot_slowdown(sizes)
    for drawing in (times, slowdowns):
        assert set(drawing.data[LINE].itertuples(index=False, name=None)) == wanted
    panels = ["setting", "conditions", "ip_version", "group", "group_cca"]
    for _, panel in times.data.groupby(panels):
        names = [line.name for line in lines_of(panel).values()]
        assert len(set(names)) == len(names) == len(panel.drop_duplicates(LINE))
    # What differs only in long flows or calls shares a panel with the base.
    beside = {name for name, one in settings.items() if one["setting"] == settings["base"]["setting"]}
    assert beside == {
        "base",
        *(
            s["id"]
            for s in scenarios
            if (s["groups"] != base("groups")["groups"] or s["flows"] != base("groups")["flows"])
            and web_groups(s) == web_groups(base("groups"))
        ),
    }


@pytest.mark.long
def test_each_scenario_is_a_slot_of_a_call(study):
    scenarios, groups, _, settings = study
    cells = describe_real_time(groups, settings, 0.95)
    wanted = cells_with(scenarios, "real-time")
    assert set(cells[LINE].itertuples(index=False, name=None)) == wanted and len(cells) == len(wanted)
    drawing = plot_real_time.plot_real_time(cells)
    assert set(drawing.data[LINE].itertuples(index=False, name=None)) == wanted
