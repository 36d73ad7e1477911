"""The phases of congestion control agree with the samples."""

import numpy as np
import pandas as pd
import pytest

from topics.time_series.find_phases import phase_time
from topics.time_series.phases import phase_of_samples, phase_table
from window_flows import identified, recorded


def samples(cca="reno", **columns):
    table = pd.DataFrame({"state": "open", "cwnd_packets": 10.0, "ssthresh_packets": np.nan} | columns)
    return identified(table.assign(time_s=table.index / 10), cca)


def names(table):
    return list(phase_of_samples(table).astype(str))


def test_infinite_ssthresh_and_a_window_below_it_are_slow_start():
    table = samples(cwnd_packets=[10.0, 10, 9, 10, 11], ssthresh_packets=[np.nan, 10, 10, 20, 10])
    assert names(table) == ["slow start", "congestion avoidance", "slow start", "slow start", "congestion avoidance"]


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        ("open", "congestion avoidance"), ("disorder", "congestion avoidance"), ("cwr", "fast recovery"),
        ("recovery", "fast recovery"), ("loss", "loss recovery"), (None, "congestion avoidance"),
    ],
)  # fmt: skip
def test_state_tells_recovery(state, phase):
    assert names(samples(state=[state], ssthresh_packets=[5.0])) == [phase]


@pytest.mark.parametrize(
    ("pacing", "window", "phase"),
    [
        (739 / 256, 739 / 256, "Startup"), (88 / 256, 739 / 256, "Drain"), (1.25, 2.0, "ProbeBW"), (0.75, 2.0, "ProbeBW"),
        (1.0, 2.0, "ProbeBW"), (1.0, 1.0, "ProbeRTT"), (0.0, 0.0, "unknown"),
    ],
)  # fmt: skip
def test_gains_of_the_kernel_tell_bbrs_phases(pacing, window, phase):
    known = {"bbr_pacing_gain": [pacing], "bbr_cwnd_gain": [window], "state": ["recovery"], "cwnd_packets": [4.0]}
    assert names(samples("bbr", **known)) == [phase]
    # A program over TCP and a copy under another name report the same gains; before the first packet, nothing tells that it is BBR.
    assert pacing == 0 or names(samples("nginx:bbr", **known)) == names(samples("mine", **known)) == [phase]
    assert names(samples("bbr3", **known, bbr_version=[3])) == ["fast recovery"]


def test_without_gains_only_the_smallest_window_is_told():
    assert names(samples("bbr", cwnd_packets=[40.0, 4.0, 40.0])) == ["unknown", "ProbeRTT", "unknown"]


def test_phases_end_where_the_next_begins_and_flows_are_kept_apart():
    first = samples(cwnd_packets=[1.0, 2, 8, 8], ssthresh_packets=[5.0, 5, 5, 5])
    second = samples(cwnd_packets=[9.0, 9], ssthresh_packets=[5.0, 5]).assign(flow=1)
    table = phase_table(pd.concat([first, second], ignore_index=True))
    assert list(table["flow"]) == [0, 0, 1]
    assert list(table["phase"]) == ["slow start", "congestion avoidance", "congestion avoidance"]
    assert table[["begin_s", "end_s"]].to_numpy().tolist() == pytest.approx(np.array([[0, 0.2], [0.2, 0.3], [0, 0.1]]))


def test_recorded_reno_goes_through_its_phases():
    table = phase_table(recorded("reno"))
    first = ["slow start", "loss recovery", "slow start", "fast recovery", "congestion avoidance"]
    assert list(table["phase"][:5]) == first
    assert (table["phase"] == "fast recovery").sum() == 6
    assert (table["begin_s"].iloc[1:].to_numpy() == table["end_s"].iloc[:-1].to_numpy()).all()


def test_recorded_bbr_starts_drains_and_probes():
    table = phase_table(recorded("bbr"))
    assert list(table["phase"]) == ["Startup", "Drain", *["ProbeBW", "ProbeRTT"] * 3, "ProbeBW"]


def test_shares_of_a_run_are_those_of_its_flows_together():
    first = samples(cwnd_packets=[1.0] * 3 + [8.0] * 8, ssthresh_packets=[5.0] * 11)  # 0.3 s and 0.7 s
    second = samples(cwnd_packets=[8.0] * 11, ssthresh_packets=[5.0] * 11).assign(flow=1)
    shares = phase_time(phase_table(pd.concat([first, second], ignore_index=True))).set_index("phase")
    assert shares.loc["slow start", "share_percent"] == pytest.approx(15)
    assert shares.loc["congestion avoidance", "share_percent"] == pytest.approx(85)
    assert shares.loc["slow start", "spells"] == 0.5


def test_phase_that_a_run_lacks_has_no_share_but_a_row():
    first = samples(cwnd_packets=[8.0, 8], ssthresh_packets=[5.0, 5])
    second = samples(cwnd_packets=[1.0, 8, 8], ssthresh_packets=[5.0, 5, 5]).assign(replication=2)
    shares = phase_time(phase_table(pd.concat([first, second], ignore_index=True)))
    slow_start = shares[shares["phase"] == "slow start"][["replication", "share_percent"]]
    assert slow_start.to_numpy().tolist() == [[1, 0], [2, 50]]


def test_no_sample_no_phase():
    assert phase_table(pd.DataFrame()).empty
    assert "phase" in phase_table(pd.DataFrame())
