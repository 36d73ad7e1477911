"""Goodputs of flows: Jain's index, spread, starving flows, and intervals over replications."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from run_tables.run_keys import RUN
from run_tables.tidy_tables import FLOWS
from topics.buffers.describe_flows import describe_replications, describe_run, describe_runs, over_replications
from topics.buffers.flow_counts import flows_words
from topics.buffers.section import findings
from topics.buffers.tables import FLOW_GOODPUT
from wording import scenario_series


def buffers(sizes=(10, 500), platforms=("uml",), **more):
    """Return scenarios at a tenth of the paper's rate."""
    return tidy_tables.buffers(platforms, sizes, 100, **more)


def test_ten_of_sixteen_flows():
    # Ten share evenly and six starve: the shape of the paper's smallest buffer.
    values = [6.0] * 10 + [0.09] * 6
    row = describe_run(values, 100)
    assert row["flows"] == 16 and row["starved"] == 6
    assert row["total_mbps"] == pytest.approx(60.54) and row["total_percent"] == pytest.approx(60.54)
    assert row["sd_mbps"] == pytest.approx(np.std(values, ddof=1))
    quartiles = tuple(np.percentile(values, [25, 50, 75]))
    assert (row["q1_mbps"], row["median_mbps"], row["q3_mbps"]) == pytest.approx(quartiles)


def test_jain_is_the_share_of_flows_that_get_something():
    assert describe_run([5.0] * 4 + [0.0] * 12, 100)["jain_index"] == pytest.approx(0.25)
    assert describe_run([0.0, 0.0], 100)["jain_index"] is None


@pytest.mark.parametrize(
    ("slowest", "others", "rate", "starved"), [(0.099, 5, 100, 1), (0.101, 5, 100, 0), (0.99, 50, 1000, 1)]
)
def test_starving_scales_with_the_fair_share(slowest, others, rate, starved):
    # 1 Mbit/s of 62.5: 0.1 of 6.25.
    assert describe_run([slowest, *[others] * 15], rate)["starved"] == starved


def test_without_a_rate_nothing_is_a_share_of_it():
    row = describe_run([4.0, 2.0], None)
    assert "total_percent" not in row and row["fair_share_mbps"] == 3


def study(replications=3, **more):
    return tidy_tables.synthetic_study(buffers(**more), ["bbr", "reno"], ["ipv4"], replications=replications)


def with_flows(made):
    flows = made["flows"][[*RUN, "flow"]].merge(made["runs"][[*RUN, "goodput_mbps", "flows"]], on=RUN)
    goodputs = flows["goodput_mbps"] / flows["flows"] * (1 + 0.02 * (flows["flow"] - 7.5))
    return tidy_tables.completed(flows.assign(goodput_mbps=goodputs), FLOWS)


def described(made):
    """Return the described runs and cells of a study."""
    runs = describe_runs(made["runs"], with_flows(made), made["scenarios"])
    return runs, describe_replications(made["runs"], runs, made["scenarios"], 0.95)


def test_an_unknown_goodput_is_no_goodput_of_zero():
    assert describe_run([1.0, float("nan")], 10) == {"flows": 2}


def test_cells_hold_the_mean_of_the_replications():
    made = study()
    cells = described(made)[1]
    cell = cells.query("scenario == 'uml-10' and cca == 'reno' and statistic == 'total_mbps'").iloc[0]
    values = made["runs"].query("scenario == 'uml-10' and cca == 'reno'")["goodput_mbps"]
    assert cell["n"] == 3 and cell["mean"] == pytest.approx(values.mean())
    assert (cell["lowest"], cell["highest"]) == pytest.approx((values.min(), values.max()))
    assert cell["ci_low"] is None or np.isnan(cell["ci_low"])
    assert cell["note"] == "3 runs: an interval needs 6"
    # 10 frames of 1,448 and 66 bytes of 1.5 MB.
    assert cell["bdp_percent"] == pytest.approx(100 * 15140 / 1.5e6)


@pytest.mark.parametrize(("name", "ends"), [("jain_index", (1 / 16, 1.0)), ("starved", (0.0, 16.0))])
def test_intervals_hold_only_what_can_be(name, ends):
    runs = pd.DataFrame({"flows": 16, "jain_index": np.linspace(0.1, 1.0, 6), "starved": np.linspace(0.0, 16.0, 6)})
    row = over_replications(FLOW_GOODPUT[name], runs, 6, 0.95)
    assert ends[0] <= row["ci_low"] < row["mean"] < row["ci_high"] <= ends[1]


def test_one_replication_has_no_interval_and_says_so():
    cells = described(study(replications=1))[1]
    assert (cells["n"] == 1).all() and cells["ci_low"].isna().all()
    assert set(cells["note"]) == {"one run: an interval needs 6"}


def test_cells_without_a_valid_run_stay_and_say_so():
    made = study()
    made["runs"].loc[made["runs"]["scenario"] == "uml-10", "valid"] = False
    runs, cells = described(made)
    assert set(runs["scenario"]) == {"uml-500"}
    empty = cells[cells["scenario"] == "uml-10"]
    assert (empty["n"] == 0).all() and empty["mean"].isna().all()
    assert set(empty["note"]) == {"no valid run among 3"}


def test_a_valid_run_without_flows_is_an_error():
    made = study()
    with pytest.raises(ValueError, match="no flow of the valid run uml-10/bbr/ipv4/1"):
        describe_runs(made["runs"], with_flows(made).query("scenario != 'uml-10'"), made["scenarios"])


def test_series_hold_what_differs_in_the_buffer_alone():
    both = buffers(platforms=("ns3:3.44", "uml", "ns3:3.39"), recovery="classic")
    both.loc[both["platform"] == "uml", "recovery"] = "prr"
    slow = buffers(platforms=("uml",), recovery="prr").assign(
        rate_mbps=10, conditions="10 Mbit/s, RTT 120 ms, no loss, 16 flows"
    )
    slow["scenario"] = slow["label"] = ["slow-10", "slow-500"]
    table = scenario_series.with_series(pd.concat([both, slow], ignore_index=True))
    assert table["conditions"].tolist() == [1] * 6 + [2] * 2
    assert table["series"].iloc[2] == "Linux, 100 Mbit/s, RTT 120 ms, no loss, 16 flows"
    assert scenario_series.platforms_of(table) == ["uml", "ns3:3.39", "ns3:3.44"]
    assert scenario_series.with_series(both)["series"].tolist() == ["ns-3 3.44"] * 2 + ["Linux"] * 2 + ["ns-3 3.39"] * 2


def test_buffers_are_ordered_by_size():
    table = scenario_series.with_series(buffers(sizes=(500, 1, 100)))
    ordered = ["1 packet", "100 packets", "500 packets"]
    assert scenario_series.buffers_of(table)["buffer"].tolist() == ordered
    rows = buffers(platforms=("uml",), sizes=(1000, 10, 9, 40, 400))
    rows["queue"] = ["1000 packets", "50000 bytes", "0.1 BDP", "5000 bytes", "4 BDP"]
    # Packets of 1,514 bytes, or of 310 bytes with small segments.
    rows["queue_packets"], rows["segment_bytes"] = ["1000", None, "9 10", None, "400"], [None, None, None, 256, None]
    ordered = ["0.1 BDP", "5,000 bytes", "50,000 bytes", "4 BDP", "1,000 packets"]
    assert scenario_series.buffers_of(scenario_series.with_series(rows))["buffer"].tolist() == ordered
    with pytest.raises(ValueError, match="a queue is '10 trains'"):
        scenario_series.buffer_size("10 trains")


def test_versions_are_ordered_by_number():
    table = pd.DataFrame({"platform": ["ns3:3.10", "ns3:3.9"]})
    assert scenario_series.platforms_of(table) == ["ns3:3.9", "ns3:3.10"]


def test_the_finding_states_the_flows_of_its_own_cells():
    """The first setting has 4 flows, the second 16; the study's largest number isn't that of every scenario."""
    scenarios = pd.concat([buffers(), buffers()], ignore_index=True)
    scenarios["flows"] = [4, 4, 16, 16]
    scenarios["scenario"] = scenarios["label"] = ["few-10", "few-500", "many-10", "many-500"]
    scenarios["conditions"] = [f"100 Mbit/s, RTT 120 ms, no loss, {flows} flows" for flows in scenarios["flows"]]
    made = tidy_tables.synthetic_study(scenarios, ["bbr", "reno"], ["ipv4", "ipv6"], replications=3)
    runs, cells = described(made)
    tables = SimpleNamespace(flow_goodput=runs, flow_goodput_cells=cells, scenarios=scenarios, runs=made["runs"])
    design = SimpleNamespace(ccas=["bbr", "reno"], flows=16)
    (finding,) = findings(SimpleNamespace(tables=tables, design=design))
    assert "4 flows, IPv4: with a buffer of 10 packets" in finding.text and "16" not in finding.text
    assert flows_words(made["runs"]) == "4 to 16 flows"


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_only_flows_under_test_are_described(direction):
    """Flows of other CCAs, or of the other direction, are left out; those of the same direction also use the link's capacity."""
    made = study()
    flows = with_flows(made)
    others = flows.assign(flow=100 + flows["flow"], goodput_mbps=99.0, under_test=False, direction=direction)
    alone = describe_runs(made["runs"], flows, made["scenarios"])
    beside = describe_runs(made["runs"], pd.concat([flows, others]), made["scenarios"])
    of_link = [name for name in alone if name.endswith("_percent") and name != "bdp_percent"]
    of_fair_share = ["fair_share_mbps", "starved"]
    left = [*of_link, *of_fair_share] if direction == "forward" else []
    pd.testing.assert_frame_equal(beside.drop(columns=left), alone.drop(columns=left))
    if direction == "forward":
        assert beside[of_link].isna().all(axis=None)
        assert beside["fair_share_mbps"].to_numpy() == pytest.approx(beside["mean_mbps"].to_numpy())
