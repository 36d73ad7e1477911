"""Measures of a run's flows and their time series agree with hand calculations."""

import numpy as np
import pandas as pd
import pytest

import claim_runs
from topics.claims import check_claims
from topics.claims.claim_measures import Measure, measure_of, run_values
from topics.claims.claims_file import load_claims
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED

RUN = {"scenario": "a", "cca": "reno+vegas", "ip_version": "ipv4"}
# Two runs of four flows on a link of 20 Mbit/s: goodput, retransmissions.
GOODPUT = {1: [8.0, 1.0, 6.0, 3.0], 2: [4.0, 4.0, 4.0, 4.0]}
RETRANSMITS = {1: [30.0, 0.0, 10.0, 0.0], 2: [5.0, 5.0, 0.0, 0.0]}


def runs(replications=(1, 2), **columns):
    rows = [
        RUN | {"replication": number, "capacity_mbps": 20.0, "flows": 4.0, "duration_s": 10.0}
        for number in replications
    ]
    return pd.DataFrame(rows).assign(jain_index=[0.5, 1.0][: len(rows)], goodput_mbps=18.0, **columns)


def flows():
    return pd.DataFrame(
        [
            RUN | {
                "replication": replication, "flow": flow, "flow_cca": ("reno", "vegas")[flow % 2],
                "goodput_mbps": GOODPUT[replication][flow], "retransmits": RETRANSMITS[replication][flow],
            }
            for replication in GOODPUT
            for flow in range(4)
        ]
    )  # fmt: skip


def of_flows(take, quantity="goodput_mbps", **more):
    return run_values(Measure(quantity, take, **more), runs(), flows()).tolist()


@pytest.mark.parametrize(
    ("take", "more", "expected"),
    [
        ("mean", {}, [4.5, 4]),
        ("sum", {}, [18, 16]),
        ("lowest", {}, [1, 4]),
        ("highest", {}, [8, 4]),
        # Deviations from 4.5: 3.5, -3.5, 1.5, -1.5; squares 29 over n - 1 = 3.
        ("sd", {}, [(29 / 3) ** 0.5, 0]),
        ("variation_percent", {}, [100 * (29 / 3) ** 0.5 / 4.5, 0]),
        ("count", {"within": (("above", 3),)}, [2, 4]),
        ("count", {"within": (("at_least", 3), ("below", 8))}, [2, 4]),
        ("sum", {"cca": "vegas"}, [4, 8]),
        ("highest", {"cca": "vegas"}, [3, 4]),
        ("sum", {"cca": "vegas", "relative_to": "total"}, [100 * 4 / 18, 50]),
        ("sum", {"cca": "reno", "relative_to": "link"}, [70, 40]),
        ("lowest", {"relative_to": "fair_share"}, [20, 80]),
        ("count", {"within": (("above", 70),), "relative_to": "fair_share"}, [2, 4]),
    ],
)
def test_of_flows(take, more, expected):
    assert of_flows(take, **more) == pytest.approx(expected)


def test_of_other_columns_of_flows_and_of_the_run_itself():
    assert of_flows("sum", "retransmits") == [40, 10]
    assert of_flows("sum", "retransmits", cca="reno", relative_to="total") == pytest.approx([100, 50])
    assert run_values(Measure("jain_index"), runs()).tolist() == [0.5, 1]
    assert run_values(Measure("goodput_mbps", relative_to="link"), runs()).tolist() == [90, 90]


def test_rates_of_their_own_and_order_of_rows():
    turned = runs()[::-1].reset_index(drop=True).assign(capacity_mbps=[10.0, 20.0])
    lowest = Measure("goodput_mbps", "lowest", relative_to="fair_share")
    assert run_values(lowest, turned, flows().sample(frac=1, random_state=1)).tolist() == [160, 20]


def test_what_is_unknown_of_a_flow_is_unknown_of_the_run():
    table = flows()
    table.loc[1, "retransmits"] = np.nan
    values = run_values(Measure("retransmits", "sum"), runs(), table)
    assert np.isnan(values[0]) and values[1] == 10
    assert np.isnan(run_values(Measure("retransmits", "count", within=(("below", 50),)), runs(), table)[0])
    assert np.isnan(run_values(Measure("retransmits", "sum"), runs((1, 3)), flows())[1])


def reader(**columns):
    """Return a reader of the samples of one flow, every second from 1 to 10 s, with these columns."""
    rows = [RUN | {"replication": 1, "flow": 0, "flow_cca": "reno", "time_s": float(second)} for second in range(1, 11)]
    table = pd.DataFrame(rows).assign(**{name: list(values) for name, values in columns.items()})

    def read(names, scenarios):
        assert scenarios == ("a",)
        return table[list(names)]

    return read


def over_time(take, quantity, start=0, end=100, **columns):
    measure = Measure(quantity, "mean", over_time=(take, start, end))
    return run_values(measure, runs((1,)), sockets=reader(**columns))[0]


@pytest.mark.parametrize(
    ("take", "start", "end", "expected"),
    [
        ("mean", 0, 100, 5.5),
        ("median", 0, 50, 3),
        ("lowest", 50, 100, 5),
        ("highest", 0, 30, 3),
        # From 5 to 10: quartiles 6.25 and 8.75, median 7.5.
        ("spread", 50, 100, 2.5),
        ("spread_percent", 50, 100, 100 * 2.5 / 7.5),
    ],
)
def test_over_time(take, start, end, expected):
    assert over_time(take, "cwnd_packets", start, end, cwnd_packets=range(1, 11)) == pytest.approx(expected)


def test_acknowledged_rate_is_that_of_the_whole_window():
    """1 MB per second is 8 Mbit/s; a flow that began to deliver after 5 s has half of that over all 10."""
    steady = [1e6 * second for second in range(1, 11)]
    assert over_time("mean", "acked_mbps", bytes_acked=steady) == pytest.approx(8)
    late = [0.0] * 5 + [1e6 * second for second in range(1, 6)]
    assert over_time("mean", "acked_mbps", bytes_acked=late) == pytest.approx(4)
    assert over_time("mean", "acked_mbps", 51, 100, bytes_acked=late) == pytest.approx(8)
    # Wherever the window begins and ends among the looks.
    for window in ((60, 100), (33, 78), (5, 15)):
        assert over_time("mean", "acked_mbps", *window, bytes_acked=steady) == pytest.approx(8)
    assert over_time("median", "acked_mbps", bytes_acked=late) == pytest.approx(4)
    assert over_time("highest", "acked_mbps", bytes_acked=late) == pytest.approx(8)


STATES = ["open", "open", "recovery", "recovery", "open", "loss", "loss", "open", "recovery", "open"]
CWND = {
    "cwnd_packets": [10, 20, 20, 10, 10, 1, 2, 4, 4, 4],
    "ssthresh_packets": [None, None, 10, 10, 10, 5, 5, 5, 4, 4],
}


def test_states_of_a_flow():
    """Slow start in samples 1 and 2 (no ssthresh yet) and 8 (4 below 5); sample 10 is at ssthresh, which is past slow start."""
    columns = CWND | {"state": STATES}
    assert over_time("mean", "slow_start_percent", **columns) == 30
    assert over_time("mean", "slow_start_percent", 30, **columns) == 12.5
    assert over_time("mean", "fast_recovery_percent", **columns) == 30
    assert over_time("mean", "timeout_percent", **columns) == 20
    assert over_time("beginnings", "fast_recovery_percent", **columns) == 2
    assert over_time("beginnings", "timeout_percent", **columns) == 1
    # It went on at 40 % of the time, but began before.
    assert over_time("beginnings", "fast_recovery_percent", 40, 80, **columns) == 0


def test_states_that_nobody_looked_at_are_unknown():
    assert np.isnan(over_time("mean", "slow_start_percent", **CWND | {"state": [None] * 10}))
    assert np.isnan(over_time("beginnings", "timeout_percent", **CWND | {"state": [None] * 10}))


@pytest.mark.parametrize(
    ("claim", "unit", "words"),
    [
        (
            {"quantity": "goodput_mbps", "flows": {"cca": "vegas", "take": "sum"}, "relative_to": "total"},
            "%", "sum over the vegas flows of goodput in % of the sum over all flows",
        ),
        (
            {"quantity": "goodput_mbps", "flows": {"take": "count", "within": {"above": 50}}, "relative_to": "link"},
            "flows", "number of flows with goodput in % of the link's rate above 50 %",
        ),
        (
            {"quantity": "pacing_mbps", "over_time": {"take": "spread_percent", "from_percent": 20, "to_percent": 100}},
            "%", "mean over the flows of the interquartile range over time, in % of the median, of pacing rate "
            "(from 20 to 100 % of the time)",
        ),
        (
            {"quantity": "timeout_percent", "over_time": {"take": "beginnings", "from_percent": 0, "to_percent": 100}},
            "times", "mean over the flows of the number of entries into recovery from a timeout",
        ),
    ],
)  # fmt: skip
def test_words_name_what_is_measured(claim, unit, words):
    assert (measure_of(claim).unit, measure_of(claim).words) == (unit, words)


def mixed(reno_mbps, replications=6):
    """Return runs and flows of reno+bbr and bbr+reno on 10 Mbit/s: Reno's goodput is around a mean, and BBR has the rest of 9."""
    runs = claim_runs.table(lambda *cell: range(replications), (10,), ("reno+bbr", "bbr+reno"), ("ipv4",))
    runs = runs.assign(rate_mbps=10.0, capacity_mbps=10.0, flows=2.0)
    flows = []
    for run in runs[["scenario", "cca", "ip_version", "replication"]].to_dict("records"):
        reno = reno_mbps + 0.1 * (run["replication"] % 3 - 1)
        for place, name in enumerate(run["cca"].split("+")):
            flows.append(run | {"flow": place, "flow_cca": name, "goodput_mbps": reno if name == "reno" else 9 - reno})
    return runs, pd.DataFrame(flows)


def verdict(folder, reno_mbps, unknown=(), **claim):
    """Return the row of a claim on goodput in both orders of the mix, without the values of some mixes."""
    content = claim_runs.content({"quantity": "goodput_mbps", "ccas": ["reno+bbr", "bbr+reno"]} | claim)
    content |= {"ccas": ["reno+bbr", "bbr+reno", "bbr+bbr"], "ip_versions": ["ipv4"]}
    content["scenarios"] = [{"id": "1", "rate_mbps": 10, "flows": 2}]
    file = load_claims(claim_runs.written(folder / "claims.yaml", content))
    runs, flows = mixed(reno_mbps)
    flows.loc[flows["cca"].isin(unknown), "goodput_mbps"] = np.nan
    return check_claims.check_claims(runs, file, 0.95, 0.05, flows).iloc[0]


SHARE = {"kind": "threshold", "flows": {"cca": "bbr", "take": "sum"}, "relative_to": "total", "pick": "lowest"}


@pytest.mark.parametrize(("reno_mbps", "expected"), [(2, REPRODUCED), (6, NOT_REPRODUCED), (4.5, NOT_SHOWN)])
def test_share_of_a_cca_within_a_mix(tmp_path, reno_mbps, expected):
    row = verdict(tmp_path, reno_mbps, **SHARE, requirement={"above": 50})
    assert row["verdict"] == expected, row["because"]
    assert row["value"] == pytest.approx(100 * (9 - reno_mbps) / 9)
    assert row["runs"] == 12


def test_reasons_leave_out_an_ip_version_that_has_no_other(tmp_path):
    row = verdict(tmp_path, 2, **SHARE, requirement={"above": 50})
    requirement = "sum over the bbr flows of goodput in % of the sum over all flows; lowest mean of 2 cells: above 50 %"
    assert row["requirement"] == requirement
    assert row["because"] == (
        "The deciding cell is reno+bbr in scenario 1; the bound is met in 2 of 2; the whole interval meets the requirement."
    )


def test_flows_of_one_cca_over_those_of_the_other(tmp_path):
    sides = {side: {"flows": {"cca": cca}} for side, cca in (("numerator", "bbr"), ("denominator", "reno"))}
    row = verdict(tmp_path, 3, kind="ratio", **sides, requirement={"above": 1.5})
    assert row["verdict"] == REPRODUCED
    assert row["value"] == pytest.approx(2)
    requirement = "mean over the bbr flows of goodput divided by mean over the reno flows of goodput: above 1.5"
    assert row["requirement"] == requirement


def test_mix_that_the_study_lacks(tmp_path):
    claim = {"kind": "threshold", "ccas": ["bbr+bbr"], "pick": "mean", "flows": {"take": "sum"}}
    row = verdict(tmp_path, 3, **claim, requirement={"above": 1})
    assert (row["verdict"], row["because"]) == (NOT_TESTABLE, "This study has no bbr+bbr.")


def test_value_that_the_runs_lack_is_named(tmp_path):
    row = verdict(tmp_path, 3, ["reno+bbr"], **SHARE, requirement={"above": 50})
    assert row["because"] == "No value of the goodput in the runs of reno+bbr in scenario 1; 3 are needed."
