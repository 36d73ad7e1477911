"""The time at which a difference between platforms arises, from series with a known start-up."""

import math

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

import tidy_tables
from run_tables.parquet import schema_of
from run_tables.run_keys import RUN
from run_tables.series_tables import INTERVALS, SOCKETS
from run_tables.tidy_tables import RUNS
from topics.platforms.compare_platforms import placed
from topics.platforms.platform_starts import (
    ALWAYS,
    NO_DIFFERENCE,
    START,
    UNKNOWN,
    platform_starts,
    start_of_flow,
    starts_of_runs,
    when_it_arises,
)
from topics.platforms.start_words import start_sentences

PLATFORMS = ("uml", "ns3:3.44")
#: A window doubles in each round trip of 0.1 s from 10 on; here it is left at 40, before losses.
STEP_S = 0.1


def samples(peak, lossless, silent_s=0.0):
    """Return a flow's samples over 10 s: slow start up to ``peak``, then ``silent_s`` without acknowledgements."""
    times = np.arange(0, 10, STEP_S).round(6)
    grown = 10 * 2 ** np.arange(len(times))
    end = int(np.argmax(grown >= peak))
    threshold = np.where(np.arange(len(times)) >= end, peak / 2, np.nan)
    acked = np.where((times > times[end]) & (times < times[end] + silent_s), 0.0, 1000.0).cumsum()
    again = np.zeros(len(times)) if lossless else np.where(np.arange(len(times)) >= end, 50.0, 0.0)
    window = np.where(np.arange(len(times)) <= end, np.minimum(grown.astype(float), peak), peak / 2)
    return pd.DataFrame(
        {
            "time_s": times,
            "cwnd_packets": window,
            "ssthresh_packets": threshold,
            "retransmits": again,
            "bytes_acked": acked,
        }
    )


def test_start_of_a_flow():
    left = start_of_flow(samples(40, True), 2.5)
    assert left == pytest.approx({"slow_start_peak_packets": 40, "lossless_percent": 100, "silence_s": 0.1})
    overshot = start_of_flow(samples(160, False, 1.0), 2.5)
    assert overshot == pytest.approx({"slow_start_peak_packets": 160, "lossless_percent": 0, "silence_s": 1.0})


def test_samples_without_windows_say_nothing():
    known = start_of_flow(samples(40, True).assign(cwnd_packets=np.nan, retransmits=np.nan, bytes_acked=np.nan), 2.5)
    assert all(math.isnan(value) for value in known.values())


@pytest.mark.parametrize(
    ("whole", "steady", "expected"),
    [
        ((-1.9, -1.9, -1.9), (-0.01, -0.01, -0.01), START), ((-1.9, -2.5, -1.3), (0.1, -0.5, 0.7), START),
        ((-1.9, -2.5, -1.3), (-0.5, -3.0, 2.0), UNKNOWN), ((-9.0, -10.0, -8.0), (-8.0, -9.0, -7.0), ALWAYS),
        ((-1.0, -3.0, 1.0), (0.0, -1.0, 1.0), NO_DIFFERENCE), ((-1.0, None, None), (0.0, None, None), UNKNOWN),
        ((-9.0, -10.0, -8.0), (-6.0, -13.0, 1.0), UNKNOWN),
    ],
)  # fmt: skip
def test_when_a_difference_arises(whole, steady, expected):
    assert when_it_arises(whole, steady) == expected


@pytest.fixture
def study(tmp_path):
    """Runs of 10 s on two platforms: in ns-3 a second without acknowledgements, after slow start to 160 packets."""
    scenarios = tidy_tables.buffers(PLATFORMS, (10,), 100, pairs=1).assign(flows=1)
    scenarios["scenario"] = scenarios["platform"].str.replace(":", "-")
    runs, intervals, sockets = [], [], []
    for row in scenarios.to_dict("records"):
        simulated = row["platform"] != "uml"
        for replication in (1, 2, 3):
            run = {"scenario": row["scenario"], "cca": "cubic", "ip_version": "ipv4", "replication": replication}
            goodput = (9.0 if simulated else 10.0) + 0.001 * replication
            steady = 10.0 + 0.001 * replication
            runs.append(run | {"platform": row["platform"], "goodput_mbps": goodput, "goodput_steady_mbps": steady,
                               "retransmits": 60, "duration_s": 10, "flows": 1, "valid": replication < 3})  # fmt: skip
            again = [50, 10, 0] if simulated else [0, 10, 50]
            times = pd.DataFrame({"start_s": [0, 1, 2], "end_s": [1, 2, 3], "retransmits": again})
            intervals.append(times.assign(flow=0, **run))
            sockets.append(
                (samples(160, False, 1.0) if simulated else samples(40, True)).assign(flow=0, flow_cca="cubic", **run)
            )
    for name, table, parts in (("intervals", INTERVALS, intervals), ("sockets", SOCKETS, sockets)):
        with pyarrow.parquet.ParquetWriter(tmp_path / name, schema_of(table)) as writer:
            for part in parts:
                rows = part.reindex(columns=table.names)
                writer.write_table(pyarrow.Table.from_pandas(rows, schema_of(table), preserve_index=False))
    return tidy_tables.completed(pd.DataFrame(runs), RUNS), scenarios, tmp_path


def test_difference_of_start_up_is_told_from_the_data(study):
    runs, scenarios, folder = study
    starts = starts_of_runs(folder / "intervals", folder / "sockets", runs)
    assert len(starts) == 4 and starts.index.names == RUN
    # An interval that ends at 3 s is not within the first quarter of 10 s.
    assert starts.loc[("ns3-3.44", "cubic", "ipv4", 1)].tolist() == pytest.approx([60, 160, 0, 1.0])
    assert starts.loc[("uml", "cubic", "ipv4", 2)].tolist() == pytest.approx([10, 40, 100, 0.1])
    place = placed(runs, scenarios)
    pairs = place.head(1).assign(platform_a="uml", platform_b="ns3:3.44")
    (row,) = platform_starts(pairs, place, starts, 0.95).to_dict("records")
    assert row["arises"] == START
    assert (row["goodput_percent"], row["steady_percent"]) == pytest.approx((-10, 0), abs=0.01)
    assert (row["early_retransmits_a"], row["early_retransmits_b"]) == (10, 60)
    (sentence,) = start_sentences(pd.DataFrame([row]), {"10 packets": 10})
    assert "is 9.999 % lower than the goodput of Linux (by as much as Linux delivers in 1.0 s), but" in sentence
    assert "acknowledged data is, on average over flows, 1.00 s on ns-3 3.44 and 0.10 s on Linux." in sentence
    assert "160 packets on ns-3 3.44 (with losses); 40 packets on Linux (before any loss)." in sentence
    assert sentence.endswith(
        "In the first quarter ns-3 3.44 retransmits 60 segments, and Linux retransmits 10 segments."
    )


def test_studies_without_time_series_know_when_and_not_why(study):
    runs, scenarios, folder = study
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([], schema_of(SOCKETS)), folder / "sockets")
    starts = starts_of_runs(folder / "intervals", folder / "sockets", runs)
    place = placed(runs, scenarios)
    pairs = place.head(1).assign(platform_a="uml", platform_b="ns3:3.44")
    (row,) = platform_starts(pairs, place, starts, 0.95).to_dict("records")
    assert row["arises"] == START and math.isnan(row["silence_s_a"])
    (sentence,) = start_sentences(pd.DataFrame([row]), {})
    assert "acknowledged" not in sentence and "Slow start" not in sentence and "retransmits 60 segments" in sentence
