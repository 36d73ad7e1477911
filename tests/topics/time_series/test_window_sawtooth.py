"""Teeth of windows have the given height, length and growth, or those that recorded samples show."""

import numpy as np
import pandas as pd
import pytest

from topics.time_series.delay_keeping import bbr_measures, is_settled, probe_rtts, vegas_measures
from topics.time_series.phases import phase_of_samples
from topics.time_series.sawtooth import reductions, teeth
from topics.time_series.tables import SAWTOOTH
from topics.time_series.window_measures import tooth_measures
from topics.time_series.window_series import FLOW
from topics.time_series.window_theory import TheoryPath, steady_tooth
from window_flows import aimd, identified, lone_flow, recorded


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
    assert table["round_trips"].tolist() == pytest.approx([12] * 3, rel=0.02)
    # 0.2 s at 12 packets, then 0.2 s each at 12 to 24.
    assert table["mean_packets"].tolist() == pytest.approx([(12 + sum(range(12, 25))) / 14] * 3, rel=0.01)


def test_growth_of_half_a_packet_a_round_trip_is_half_of_renos():
    table = teeth_of_flow(aimd(growth=0.5))
    assert (table["growth_packets"] / table["round_trips"]).to_numpy() == pytest.approx(0.5, rel=0.02)


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


def test_recorded_cubic_leaves_seven_tenths():
    table = teeth(recorded("cubic"))
    assert ((table["left_packets"] - 717 / 1024 * table["peak_packets"]).between(-1, 0.5)).all()


@pytest.mark.parametrize(("cca", "steady"), [("reno", [False, True, True]), ("cubic", [False, False, True])])
def test_teeth_after_slow_start_are_not_steady(cca, steady):
    samples = aimd(teeth=5)
    # Slow start up to the first loss, with a window far above the later ones.
    start = pd.DataFrame({"time_s": np.arange(-1, -1e-9, 0.02), "state": "open", "cwnd_packets": 48, "rtt_ms": 200.0})
    table = teeth_of_flow(pd.concat([start, samples], ignore_index=True), cca)
    assert table["steady"].tolist()[:3] == steady
    assert table["steady"].tolist()[3:] == [True] * (len(table) - 3)


def test_timeout_makes_the_next_tooth_unsteady():
    samples = aimd(teeth=8)
    middle = samples.index[samples["state"] == "recovery"][35]
    samples.loc[middle, "state"] = "loss"
    table = teeth_of_flow(samples)
    assert table["steady"].tolist() == [False, True, False, True, True][: len(table)]


def test_means_are_of_steady_teeth_and_cubics_of_pairs():
    path = TheoryPath(10, 40, 33, 1514, 1448)
    key = {"scenario": "s", "cca": "cubic", "ip_version": "ipv4", "replication": 1, "flow": 0, "flow_cca": "cubic"}
    table = pd.DataFrame(
        {
            "steady": [False, False, True, True, True], "period_s": [25.7, 71.5, 9.0, 5.0, 7.0],
            "mean_packets": [90.0, 80.0, 10.0, 50.0, 50.0], "peak_packets": 60.0, "left_ratio": 0.7,
            "growth_packets": np.nan, "round_trips": np.nan,
        }
    )  # fmt: skip

    def measured(table, path=path):
        return pd.DataFrame(tooth_measures(key, table, path), columns=SAWTOOTH.names).set_index("quantity")

    teeth = measured(table)
    assert teeth.loc["time between losses", ["n", "measured"]].tolist() == [2, 6.0]
    assert teeth.loc["mean over a tooth", "measured"] == 50
    assert teeth.loc["time between losses", "theory_low"] == steady_tooth("cubic", path).period_s
    few = measured(table[:3])
    assert few.loc["time between losses", "note"] == "too few steady teeth: 0 of 3; at least 2 are needed"
    assert few[["measured", "theory_low"]].isna().all(axis=None)
    several = measured(table, "several flows")
    assert several.loc["peak", ["n", "note"]].tolist() == [2, "several flows"]
    assert several.loc["peak", "measured"] == 60
    # What a loss leaves is the algorithm's, whoever else is there: 42 or, of a packet more, 42 of 60.
    assert several.loc["left by a loss", ["theory_low", "theory_high"]].tolist() == [0.7, 0.7]
    short = measured(table, TheoryPath(100, 5, 21, 1514, 1448))
    assert (
        short.loc["peak", "note"] == "a buffer of 21 packets is shorter than 3 bursts: Linux sends 9.8 packets at once"
    )


def path_of_flows(samples, path_ms):
    """Return the RTT of the empty path of each flow of each run, the same for all."""
    return dict.fromkeys(samples[FLOW].itertuples(index=False, name=None), path_ms)


def of_vegas(samples, path_ms, traffic_s):
    """Return the mean of each quantity of a Vegas flow, and the number of samples."""
    table = pd.DataFrame(
        vegas_measures(samples, path_of_flows(samples, path_ms), {"s": traffic_s}), columns=SAWTOOTH.names
    )
    return table.set_index("quantity")["measured"], set(table["n"])


def vegas_looks(seconds, traffic_s, **columns):
    """Return Vegas's measures from samples every 0.1 s at 20 packets and an RTT of 100 ms, with a smallest RTT of 80."""
    samples = pd.DataFrame({"time_s": np.arange(0, seconds, 0.1), "state": "open", "cwnd_packets": 20.0})
    samples = samples.assign(ssthresh_packets=10.0, rtt_ms=100.0, rtt_min_ms=80.0).assign(**columns)
    return of_vegas(identified(samples, "vegas"), 80.0, traffic_s)


def test_vegas_keeps_what_was_put_in():
    means, numbers = vegas_looks(20, 20.0, vegas_rtt_ms=85.0, vegas_rtt_min_ms=100.0)
    assert numbers == {197}  # it has settled when it has rested for three round trips, 0.3 s
    assert means["queued as believed"] == pytest.approx(20 * 15 / 100)
    assert means["queued"] == pytest.approx(20 * 20 / 100)
    assert means["Diff"] == 3  # 20 x 15 / 85 = 3.5, as a whole number
    assert means["RTT assumed for the empty path"] == pytest.approx(85 / 80)
    assert means["cwnd at its least"] == 0


def test_vegas_without_a_measurement_of_its_own_has_tcps():
    means, _ = vegas_looks(2, 2.0)
    assert (means["queued as believed"], means["Diff"]) == (pytest.approx(4), 5)


def test_samples_after_the_traffic_are_left_out():
    means, _ = vegas_looks(20, 10.0, cwnd_packets=lambda table: np.where(table["time_s"] > 10, 1000.0, 20.0))
    assert means["queued"] == pytest.approx(4)


def descent(seconds):
    """Return a Vegas window that decreases from 180 packets by one per round trip of 100 ms, and settles at 24."""
    return lambda table: np.maximum(180 - np.round(table["time_s"] / 0.1), 24.0)


def test_vegas_descent_is_left_out_however_long_it_takes():
    means, numbers = vegas_looks(20, 20.0, cwnd_packets=descent(20))
    # Down at 15.6 s of 20, far beyond the middle.
    assert means["queued"] == pytest.approx(24 * (1 - 80 / 100))
    assert numbers == {40}


def test_vegas_that_is_still_on_its_way_has_not_settled():
    samples = pd.DataFrame({"time_s": np.arange(0, 10, 0.1), "state": "open", "ssthresh_packets": 10.0})
    samples = samples.assign(cwnd_packets=descent(10), rtt_ms=100.0, rtt_min_ms=80.0)
    samples = identified(samples, "vegas")
    rows = vegas_measures(samples, path_of_flows(samples, 80.0), {"s": 10.0})
    table = pd.DataFrame(rows, columns=SAWTOOTH.names)
    assert table["measured"].isna().all() and (table["n"] == 0).all()
    assert table["note"].str.startswith("not settled").all()


def test_vegas_has_to_settle_again_after_a_loss_and_has_where_it_turns():
    samples = pd.DataFrame({"time_s": np.arange(0, 3, 0.1), "state": "open", "ssthresh_packets": 2.0, "rtt_ms": 100.0})
    samples["cwnd_packets"] = [20.0] * 10 + [10.0] * 2 + [*range(10, 19)] + [17.0, 18.0] * 4 + [17.0]
    samples.loc[10:11, "state"] = "recovery"
    settled = is_settled(identified(samples, "vegas"))
    assert np.flatnonzero(settled).tolist() == [*range(3, 10), *range(21, 30)]


def test_recorded_vegas_flow_that_started_into_a_queue_errs_about_the_path():
    means, _ = of_vegas(recorded("vegas"), 2.0, 60.0)
    assert 2.0 * means["RTT assumed for the empty path"] == pytest.approx(131.5, abs=0.1)
    assert 1.5 < means["queued as believed"] < 2.5
    assert means["cwnd at its least"] > 40


def test_recorded_lone_vegas_keeps_alpha_to_beta_once_it_has_come_down():
    samples, path = lone_flow("10m-100ms-2b", "vegas")
    rows = vegas_measures(samples, path_of_flows(samples, path.base_rtt_ms), {"s": 60.0})
    table = pd.DataFrame(rows, columns=SAWTOOTH.names).set_index("quantity")
    begin_s = samples["time_s"][is_settled(samples)].min()
    assert samples.loc[samples["time_s"] > begin_s, "cwnd_packets"].nunique() <= 3
    for quantity in ("queued as believed", "Diff", "RTT assumed for the empty path"):
        row = table.loc[quantity]
        assert 0.97 * row["theory_low"] <= row["measured"] <= 1.03 * row["theory_high"], quantity


def test_recorded_lone_bbr_is_as_theory():
    samples, path = lone_flow("100m-20ms-2b", "bbr")
    rows = bbr_measures(samples, {("s", "bbr", "ipv4", 1): path})
    table = pd.DataFrame(rows, columns=SAWTOOTH.names).set_index("quantity")
    assert len(table) == 6
    assert (table["measured"] >= 0.97 * table["theory_low"]).all()
    assert (table["measured"] <= 1.03 * table["theory_high"]).all()
    assert table.loc["cwnd in ProbeBW", "measured"] == pytest.approx(
        table.loc["cwnd in ProbeBW", "theory_low"], rel=0.01
    )


def test_recorded_bbr_looks_for_a_smaller_rtt_every_10_s():
    probes = probe_rtts(recorded("bbr"))
    assert len(probes) == 3
    assert (probes["begin_s"][1:].to_numpy() - probes["end_s"][:-1]).tolist() == pytest.approx([10.14, 10.04])
    assert set(probes["least_cwnd_packets"]) == {4}
    measures = of_bbr(recorded("bbr"), "three flows")
    assert measures.loc["time between ProbeRTTs", ["n", "measured"]].tolist() == [2, pytest.approx(10.09)]
    assert measures.loc["time in ProbeRTT", "note"] == "three flows"


def of_bbr(samples, path):
    """Return the measures of a BBR flow."""
    rows = bbr_measures(samples.assign(bbr_bw_mbps=9.6), {("s", "bbr", "ipv4", 1): path})
    return pd.DataFrame(rows, columns=SAWTOOTH.names).set_index("quantity")


def test_probe_that_isnt_over_is_left_out():
    samples = recorded("bbr")
    cut = samples[samples["time_s"] <= 31.5]
    assert (phase_of_samples(cut) == "ProbeRTT")[-1]
    assert len(probe_rtts(cut)) == 2


def test_recovery_is_left_out_of_bbrs_windows():
    samples = recorded("bbr")
    lossy = samples.copy()
    phase = np.asarray(phase_of_samples(samples))
    inside = np.flatnonzero(np.isin(phase, ("ProbeRTT", "ProbeBW")))[::7]
    lossy.loc[inside, ["state", "cwnd_packets"]] = ["recovery", 1.0]
    assert set(probe_rtts(lossy)["least_cwnd_packets"]) == {4}
    path = TheoryPath(1, 2, 66, 1514, 1448)
    same = of_bbr(samples, path).loc["cwnd in ProbeBW", "measured"]
    assert of_bbr(lossy, path).loc["cwnd in ProbeBW", "measured"] == pytest.approx(same, rel=0.05)


def test_short_buffer_has_no_theory_of_bbrs_window():
    measures = of_bbr(recorded("bbr"), TheoryPath(10, 5, 2, 1514, 1448))
    assert measures.loc["cwnd in ProbeBW", "note"].startswith("a buffer of 2 packets")
    assert pd.isna(measures.loc["cwnd in ProbeBW", "theory_low"])
