"""Goodputs of groups of long flows, by hand; and the section's text about them."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from run_tables.group_tables import GROUPS
from topics.flow_groups.describe_groups import describe_groups
from topics.flow_groups.section import findings, section
from topics.flow_groups.tables import GROUP_CELLS
from topics.flow_groups.topic import TOPIC

SCENARIOS = pd.DataFrame({"scenario": ["a"], "label": ["A"]})


def groups(*goodputs, late=False, valid=True):
    """Return the groups of runs of scenario a: one BBR flow and four of CUBIC, with goodputs by run."""
    rows = []
    for replication, (one, many) in enumerate(goodputs, 1):
        shared = {
            "scenario": "a",
            "cca": "cubic",
            "ip_version": "ipv4",
            "replication": replication,
            "application": "iperf3",
            "direction": "forward",
            "stop_s": 60.0,
            "valid": valid,
        }
        rows += [
            {**shared, "group": "one", "group_cca": "bbr", "beside": "cubic", "start_s": 10.0 * late, "members": 1, "goodput_mbps": one},
            {**shared, "group": "many", "group_cca": "cubic", "beside": "bbr", "start_s": 0.0, "members": 4, "goodput_mbps": many},
            {**shared, "group": "call", "group_cca": "", "beside": "bbr+cubic", "application": "real-time", "start_s": 0.0, "members": 1},
        ]  # fmt: skip
    return pd.DataFrame(rows).reindex(columns=GROUPS.names)


def test_goodput_and_share_by_hand():
    table = describe_groups(groups((3.0, 6.0), (5.0, 5.0)), SCENARIOS, [], 0.95)
    assert list(table.columns) == GROUP_CELLS.names and list(table["group"]) == ["one", "many"]
    one, many = table.to_dict("records")
    assert (one["n"], one["goodput_mbps"], many["goodput_mbps"], many["flow_mbps"]) == (2, 4.0, 5.5, 5.5 / 4)
    # Of 3 of 9 and 5 of 10; two runs have no interval.
    assert one["share_percent"] == pytest.approx((100 / 3 + 50) / 2) and math.isnan(one["share_percent_low"])
    assert many["share_percent"] == pytest.approx(100 - one["share_percent"])


def test_groups_at_different_times_have_no_shares():
    table = describe_groups(groups((3.0, 6.0), late=True), SCENARIOS, [], 0.95)
    assert table["share_percent"].isna().all() and table["goodput_mbps"].notna().all()
    table = describe_groups(groups((3.0, None)), SCENARIOS, [], 0.95)
    assert table["share_percent"].isna().all()


def test_a_group_that_pauses_has_no_share():
    """Its goodput is that of its on-times: 9.5 Mbit/s for a tenth of the time isn't half of the link."""
    table = describe_groups(groups((9.5, 9.0)), SCENARIOS, [("a", "one")], 0.95)
    assert table["share_percent"].isna().all() and table["goodput_mbps"].notna().all()


def test_a_cell_without_a_valid_run_has_no_numbers():
    table = describe_groups(groups((3.0, 6.0), valid=False), SCENARIOS, [], 0.95)
    assert table["n"].eq(0).all() and table["goodput_mbps"].isna().all()


def scenario(*given):
    usual = {"application": "iperf3", "on_s": None}
    return {"groups": [usual | group for group in given]}


def test_the_section_says_what_each_group_gets():
    cells = describe_groups(groups((3.0, 6.0), (5.0, 5.0)), SCENARIOS, [], 0.95)
    design = SimpleNamespace(scenarios=[scenario({}, {"on_s": 2})])
    material = SimpleNamespace(tables=SimpleNamespace(group_cells=cells), design=design)
    assert [finding.text for finding in findings(material)] == [
        "In A, one (BBR) gets 4 Mbit/s and many (4 flows of CUBIC) gets 5.5 Mbit/s."
    ]
    assert section(material) == {"pausing": True, "apart": False}
    other = cells.assign(cca="mine:cubic", group_cca=["mine:cubic", "cubic"])
    material.tables.group_cells = pd.concat([cells, other], ignore_index=True)
    assert findings(material)[1].text.startswith("In A with mine:cubic, one (mine:cubic) gets 4 Mbit/s and many (")


def test_the_topic_is_of_studies_with_groups_of_long_flows():
    for given, has in (((), False), (({},), True), (({"application": "web"},), False)):
        assert TOPIC.applies(SimpleNamespace(scenarios=[scenario(*given)])) is has
