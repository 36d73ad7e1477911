"""Quantities of runs used in claims that follow from several columns."""

import math
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from run_tables.reading import read_runs
from topics.claims.claim_quantities import RUN_QUANTITIES
from topics.claims.claims_file import claims_schema
from topics.claims.run_quantities import resolution_of_runs, value_of_runs, with_completions

#: One flow of 3.794 Mbit/s over 40 ms with segments of 1,448 bytes: 13.1 segments per RTT.
RUN = {
    "scenario": "a", "cca": "reno", "ip_version": "ipv4", "replication": 1, "goodput_mbps": 13.1 * 1448 * 8 / 40e3,
    "flows_under_test": 1, "rtt_mean_ms": 40.0, "mss_bytes": 1448.0, "packets_sent": 20_000, "queue_drops": 50,
    "link_drops": 150.0, "recoveries": 50, "policer_drops": math.nan, "application": "iperf3", "protocol": "tcp", "message_bytes": 131_072,
    "duration_s": 5.0, "window_begin_ns": 0, "window_end_ns": 5_000_000_000, "utilisation_percent": 50.0, "jain_index": 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded_runs(tmp_path_factory):
    """The runs of the study l4s, as recorded."""
    with tarfile.open(Path(__file__).parents[2] / "data/atlas.tar.gz") as archive:
        table = archive.extractfile("results/l4s/tidy/runs.csv").read()
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    path.write_bytes(table)
    return read_runs(path)


def value(quantity, **changes):
    return value_of_runs(pd.DataFrame([RUN | changes]), quantity)[0]


def test_constant_of_the_square_root_law():
    assert value("square_root_constant") == pytest.approx(13.1 * 0.1)
    assert value("square_root_constant_of_halvings") == pytest.approx(13.1 * 0.05)
    # Four flows with the same rate each.
    four = {"flows_under_test": 4, "goodput_mbps": 4 * RUN["goodput_mbps"]}
    assert value("square_root_constant", **four) == pytest.approx(1.31)


def test_losses_of_both_places_per_halving():
    assert value("losses_per_halving") == 4
    assert value("losses_per_halving", link_drops=math.nan) == 1


def test_a_policers_drops_are_losses():
    assert value("losses_per_halving", policer_drops=100.0) == 6
    policed = value("square_root_constant", policer_drops=600.0)
    assert policed == pytest.approx(13.1 * math.sqrt(800 / 20_600))


def resolution(quantity, **changes):
    return resolution_of_runs(pd.DataFrame([RUN | changes]), quantity)[0]


def test_printed_goodput_has_the_resolution_of_iperf3s_blocks():
    """Two packets of each flow, or a block of each that is in one run but not in another."""
    assert resolution("goodput_mbps") == pytest.approx(131_072 * 8e-6 / 5)
    assert resolution("goodput_mbps", flows_under_test=4) == pytest.approx(4 * 131_072 * 8e-6 / 5)
    packets = 2 * 1448 * 8e-6 / 5
    for other in ({"message_bytes": 1448}, {"application": "ftp"}, {"protocol": "udp", "message_bytes": 1448}):
        assert resolution("goodput_mbps", **other) == pytest.approx(packets)


def test_utilisation_has_the_resolution_of_two_packets():
    share = 2 * 1448 * 8e-6 / 5 / RUN["goodput_mbps"]
    assert resolution("utilisation_percent") == pytest.approx(50 * share)


@pytest.mark.parametrize("quantity", RUN_QUANTITIES)
def test_every_quantity_of_a_run_has_values_and_resolutions(quantity, recorded_runs):
    assert quantity in claims_schema()["$defs"]["common"]["quantity"]["enum"]
    assert len(value_of_runs(recorded_runs, quantity)) == len(recorded_runs)
    assert len(resolution_of_runs(recorded_runs, quantity)) == len(recorded_runs)


def test_what_is_not_known_has_no_value():
    assert math.isnan(value("losses_per_halving", recoveries=0))
    assert math.isnan(value("square_root_constant", packets_sent=0))
    assert math.isnan(value("completion_mean_ms"))


def test_completion_is_the_mean_of_all_web_objects():
    key = {name: RUN[name] for name in ("scenario", "cca", "ip_version", "replication")}
    objects = pd.DataFrame([key | {"group": "web", "object": n, "completion_ms": 100.0 + 20 * n} for n in range(3)])
    runs = pd.DataFrame([RUN, RUN | {"replication": 2}])
    objects.loc[2, "completion_ms"] = 170.0
    assert list(with_completions(runs, objects)["completion_mean_ms"].fillna(-1)) == [130, -1]
    assert list(with_completions(runs, objects)["completion_p50_ms"].fillna(-1)) == [120, -1]
    assert list(with_completions(runs, objects)["completion_longest_ms"].fillna(-1)) == [170, -1]
    never = objects.assign(completion_ms=[100.0, math.nan, 140.0])
    assert with_completions(runs, never)["completion_mean_ms"].isna().all()
    assert with_completions(runs)["completion_mean_ms"].isna().all()


def test_resolution_is_one_event():
    """One more fast recovery changes the constant by the resolution, as closely as a derivative does."""
    runs = pd.DataFrame([RUN])
    step = value("square_root_constant_of_halvings", recoveries=51) - value("square_root_constant_of_halvings")
    assert resolution_of_runs(runs, "square_root_constant_of_halvings")[0] == pytest.approx(step, rel=0.02)
    step = value("losses_per_halving", queue_drops=51) - value("losses_per_halving")
    assert resolution_of_runs(runs, "losses_per_halving")[0] == pytest.approx(step)
    assert resolution_of_runs(runs, "convergence_s").isna().all()
    assert resolution_of_runs(runs, "retransmits")[0] == 1
