"""Results of each direction of a cell, for flows with known goodputs."""

import pandas as pd
import pytest

from topics.directions.describe_directions import describe_directions
from topics.directions.plot_directions import lines_of

CELL = {"scenario": "both", "cca": "cubic", "ip_version": "ipv4"}
SCENARIOS = pd.DataFrame([{"scenario": "both", "label": "Both"}, {"scenario": "one", "label": "One"}])
OFFERED = {"both": {"forward": 20.0, "reverse": 2.0}}


def flow(number, direction, mbps, replication=1, **other):
    row = {
        "flow": number,
        "direction": direction,
        "goodput_lifetime_mbps": mbps,
        "rtt_mean_ms": 50.0 + number,
        "rtt_path_ms": 40.0,
    }
    return CELL | {"replication": replication, "valid": True, "start_offset_ms": 10.0 * number} | row | other


def described(rows):
    return describe_directions(pd.DataFrame(rows), SCENARIOS, OFFERED, 0.95)


def test_goodputs_of_a_direction_are_added_and_its_rtts_are_averaged():
    cells = described([flow(0, "forward", 10), flow(1, "forward", 8), flow(2, "reverse", 1.5)])
    down, up = cells.to_dict("records")
    assert (down["direction"], down["flows"], down["goodput_mbps"], down["used_percent"]) == ("forward", 2, 18, 90)
    assert (up["direction"], up["flows"], up["goodput_mbps"], up["used_percent"]) == ("reverse", 1, 1.5, 75)
    assert (down["rtt_mean_ms"], up["rtt_mean_ms"], up["scenario_label"]) == (50.5, 52, "Both")


def test_a_direction_of_which_a_flow_has_no_goodput_has_none():
    (down,) = described([flow(0, "forward", 10), flow(1, "forward", None)]).to_dict("records")
    assert pd.isna(down["goodput_mbps"]) and pd.isna(down["used_percent"]) and down["rtt_mean_ms"] == 50.5


def test_scenarios_without_data_both_ways_and_invalid_runs_have_no_part():
    rows = [
        flow(0, "forward", 10),
        flow(0, "forward", 99, replication=2, valid=False),
        flow(0, "forward", 5, scenario="one"),
    ]
    (down,) = described(rows).to_dict("records")
    assert (down["scenario"], down["n"], down["goodput_mbps"]) == ("both", 1, 10)


def test_lines_are_sums_of_flows_and_means_of_valid_runs():
    flows = pd.DataFrame(
        [flow(n, way, 1, r) for r in (1, 2) for n, way in enumerate(("forward", "forward", "reverse"))]
    )
    intervals = pd.DataFrame(
        CELL | {"replication": r, "flow": n, "start_s": at, "end_s": at + 1, "sent_mbps": 2.0 * r * (n + 1), "rtt_ms": 40.0 + n}
        for r in (1, 2) for n in range(3) for at in (0.0, 1.0)
    )  # fmt: skip
    runs = pd.DataFrame([CELL | {"replication": r, "valid": True} for r in (1, 2)])
    lines = lines_of(runs, flows, intervals).set_index(["series", "time_s"])["value"]
    assert lines["forward", 0.5] == pytest.approx((2 + 4 + 4 + 8) / 2) and lines["reverse", 1.5] == pytest.approx(
        (6 + 12) / 2
    )
    assert lines["rtt", 0.5] == 41
    only = lines_of(runs.assign(valid=[True, False]), flows, intervals).set_index(["series", "time_s"])
    assert only.loc[("forward", 0.5), "value"] == 6 and (only["n"] == 1).all()
