"""Teeth of windows have the height, the length and the growth that were put in, or that the recorded samples show."""

import numpy as np
import pandas as pd
import pytest

from topics.time_series.delay_keeping import probe_measures, probe_rtts, vegas_measures
from topics.time_series.phases import phase_of_samples
from topics.time_series.sawtooth import reductions, teeth
from topics.time_series.tables import SAWTOOTH
from window_flows import aimd, identified, recorded


def teeth_of_flow(samples, cca="reno"):
    return teeth(identified(samples, cca))


def test_teeth_are_those_that_were_put_in():
    table = teeth_of_flow(aimd(peak=24, rtt_s=0.2, recovery_s=0.2, teeth=5))
    assert len(table) == 3  # the first recovery is there from the beginning, the last tooth isn't over
    assert set(table["peak_packets"]) == {24}
    assert set(table["trough_packets"]) == set(table["left_packets"]) == {12}
    assert table["left_ratio"].tolist() == [0.5] * 3
    assert table["period_s"].tolist() == pytest.approx([13 * 0.2 + 0.2] * 3, abs=0.021)
    assert table["growth_packets"].tolist() == [12] * 3
    assert table["growth_least_packets"].tolist() == pytest.approx([12] * 3, rel=0.02)
    assert table["growth_most_packets"].tolist() == table["growth_least_packets"].tolist()


def test_growth_of_half_a_packet_a_round_trip_is_half_of_renos():
    table = teeth_of_flow(aimd(growth=0.5))
    assert (table["growth_packets"] / table["growth_least_packets"]).to_numpy() == pytest.approx(0.5, rel=0.02)


def test_round_trips_follow_an_rtt_that_grows():
    samples = aimd(rtt_s=0.2)
    samples["rtt_ms"] = np.where(samples["cwnd_packets"] < 18, 200.0, 400.0)
    table = teeth_of_flow(samples)
    # 6 round trips of 200 ms, and the rest took half as many as before.
    assert table["round_trips"].tolist() == pytest.approx([6 + 6 / 2] * len(table), rel=0.03)


def test_timeout_and_slow_start_are_no_teeth():
    samples = aimd(teeth=4)
    middle = samples.index[samples["state"] == "recovery"][25]
    samples.loc[middle, "state"] = "loss"
    assert len(teeth_of_flow(samples)) == 1
    slow = aimd(teeth=4)
    assert len(teeth_of_flow(slow)) == 2
    begin = slow.index[(slow["state"] == "open") & (slow["time_s"] > 3.2)][0]
    slow.loc[begin : begin + 3, "ssthresh_packets"] = 1000
    assert len(teeth_of_flow(slow)) == 1


def test_reduction_between_two_samples_is_seen_by_ssthresh():
    phase = np.array(["congestion avoidance"] * 6)
    assert reductions(np.array([10.0, 11, 12, 6, 7, 8]), np.array([5.0, 5, 5, 6, 6, 6]), phase).tolist() == [3]
    # A higher threshold without a smaller window, as Vegas and others set it, is none.
    assert reductions(np.array([10.0, 11, 12, 12, 13, 14]), np.array([5.0, 5, 5, 6, 6, 6]), phase).tolist() == []


@pytest.mark.parametrize("thresholds", [(12,), (11, 12)])
def test_platform_without_states_gives_the_same_teeth(thresholds):
    samples = aimd(recovery_s=0.0, teeth=5, peak=24)
    tooth = (samples["cwnd_packets"].diff() < 0).cumsum()
    table = teeth_of_flow(samples.assign(state=None, ssthresh_packets=np.take(thresholds, tooth, mode="wrap")))
    assert table["peak_packets"].tolist() == [24] * 3
    assert table["growth_packets"].tolist() == [12] * 3


def test_ccas_without_teeth_have_none():
    assert teeth_of_flow(aimd(), "vegas").empty and teeth_of_flow(aimd(), "bbr").empty


def test_teeth_of_flows_are_kept_apart():
    both = pd.concat([identified(aimd(peak=24), "reno"), identified(aimd(peak=12), "reno", flow=1)], ignore_index=True)
    table = teeth(both)
    assert table.groupby("flow")["peak_packets"].agg(set).to_dict() == {0: {24}, 1: {12}}


def test_recorded_reno_halves_and_grows_by_a_packet_a_round_trip():
    table = teeth(recorded("reno"))
    # As one reads it off the samples: recovery begins at 1.38, 7.26, 16.04, 24.56, 31.86 and 40.76 s.
    assert table["begin_s"].tolist() == [1.38, 7.26, 16.04, 24.56, 31.86]
    assert table["peak_packets"].tolist() == [17, 20, 21, 18, 21]
    assert table["left_packets"].tolist() == [8, 10, 10, 9, 10]
    assert table["growth_packets"].sum() / table["round_trips"].sum() == pytest.approx(1, abs=0.02)


def test_recorded_cubic_leaves_seven_tenths_and_follows_its_curve():
    table = teeth(recorded("cubic"))
    assert ((table["left_packets"] - 717 / 1024 * table["peak_packets"]).between(-1, 0.5)).all()
    grown = table.dropna(subset=["growth_packets"])
    least, most = grown["growth_least_packets"].sum(), grown["growth_most_packets"].sum()
    assert 0.9 * least < grown["growth_packets"].sum() < 1.1 * most


def of_vegas(samples, path_ms, traffic_s):
    """Return the mean of each quantity of a Vegas flow, and in how many samples."""
    flow = samples["flow"].iloc[0]
    table = pd.DataFrame(vegas_measures(samples, {("s", flow): path_ms}, {"s": traffic_s}), columns=SAWTOOTH.names)
    return table.set_index("quantity")["measured"], set(table["n"])


def vegas_looks(seconds, traffic_s, **columns):
    """Return what Vegas keeps by looks every 0.1 s at 20 packets and an RTT of 100 ms, 80 at the least."""
    samples = pd.DataFrame({"time_s": np.arange(0, seconds, 0.1), "state": "open", "cwnd_packets": 20.0})
    samples = samples.assign(ssthresh_packets=10.0, rtt_ms=100.0, rtt_min_ms=80.0).assign(**columns)
    return of_vegas(identified(samples, "vegas"), 80.0, traffic_s)


def test_vegas_keeps_what_was_put_in():
    means, numbers = vegas_looks(20, 20.0, vegas_rtt_ms=85.0, vegas_rtt_min_ms=100.0)
    assert numbers == {100}  # the second half
    assert means["queued as believed"] == pytest.approx(20 * 15 / 100)
    assert means["queued"] == pytest.approx(20 * 20 / 100)
    assert means["Diff"] == 3  # 20 x 15 / 85 = 3.5, as a whole number
    assert means["RTT taken for the empty path's"] == pytest.approx(85 / 80)
    assert means["cwnd at its least"] == 0


def test_vegas_without_a_measurement_of_its_own_has_tcps():
    means, _ = vegas_looks(2, 2.0)
    assert (means["queued as believed"], means["Diff"]) == (pytest.approx(4), 5)


def test_samples_after_the_traffic_are_left_out():
    means, _ = vegas_looks(20, 10.0, cwnd_packets=lambda table: np.where(table["time_s"] > 10, 1000.0, 20.0))
    assert means["queued"] == pytest.approx(4)


def test_recorded_vegas_flow_that_started_into_a_queue_errs_about_the_path():
    means, _ = of_vegas(recorded("vegas"), 2.0, 60.0)
    assert 2.0 * means["RTT taken for the empty path's"] == pytest.approx(131.5, abs=0.1)
    assert 1.5 < means["queued as believed"] < 2.5
    assert means["cwnd at its least"] > 40


def test_recorded_bbr_looks_for_a_smaller_rtt_every_10_s():
    probes = probe_rtts(recorded("bbr"))
    assert len(probes) == 3
    assert (probes["begin_s"][1:].to_numpy() - probes["end_s"][:-1]).tolist() == pytest.approx([10.14, 10.04])
    assert set(probes["least_cwnd_packets"]) == {4}
    measures = pd.DataFrame(probe_measures(recorded("bbr")), columns=SAWTOOTH.names).set_index("quantity")
    assert measures.loc["time between ProbeRTTs", ["n", "measured"]].tolist() == [2, pytest.approx(10.09)]


def test_probe_that_isnt_over_is_left_out():
    samples = recorded("bbr")
    cut = samples[samples["time_s"] <= 31.5]
    assert (phase_of_samples(cut) == "ProbeRTT")[-1]
    assert len(probe_rtts(cut)) == 2
