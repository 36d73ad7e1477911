"""Synthetic readings of a calibration with known truth: those of an error-free instrument."""

import pandas as pd

import tidy_tables
from run_tables.scenario_table import SCENARIOS
from topics.calibration.tables import READINGS

RUN = {"cca": "reno", "ip_version": "ipv4", "replication": 1, "failed_checks": ""}


def scenario(name, rate_mbps, delay_ms=0.0, **more):
    """Return a row of scenarios.csv."""
    usual = {
        "scenario": name, "label": name, "rate_mbps": rate_mbps, "delay_forward_ms": delay_ms, "delay_reverse_ms": delay_ms,
        "jitter_forward_ms": 0.0, "jitter_reverse_ms": 0.0, "loss_forward_percent": 0.0, "loss_reverse_percent": 0.0,
        "queue": "100 packets", "queue_packets": "100", "flows": 1, "duration_s": 10, "netem": "receiving-side",
        "processes": "per-flow", "segmentation_offload": False, "message_bytes": 14480, "topology": "dumbbell",
        "serialisation": "never", "frame_overhead_bytes": 0, "application": "iperf3", "protocol": "tcp",
    }  # fmt: skip
    return usual | more


def points():
    """Return scenarios and readings, both as a dict by name, of an instrument that is exact to the last digit."""
    cable = {"topology": "cable", "serialisation": "virtual-clock", "frame_overhead_bytes": 24}
    trips = cable | {"application": "round-trip", "protocol": "udp"}
    jitter = {"topology": "cable", "protocol": "udp", "jitter_forward_ms": 5.0, "jitter_reverse_ms": 5.0}
    scenarios = {
        row["scenario"]: row
        for row in (
            scenario("rate", 10, 20.0),
            scenario("fast", 10_000),
            scenario("full", 1, 50.0, queue="33 packets", queue_packets="33"),
            scenario("full-bytes", 10, 2.0, queue="100000 bytes", queue_packets=""),
            scenario("lossy", 100, 1.0, loss_forward_percent=1.0, loss_reverse_percent=20.0),
            scenario("wire", 0.02, 10.0, **cable),
            scenario("short", 100, message_bytes=128, **trips),
            scenario("long", 100, message_bytes=1408, **trips),
            scenario("spread", 100, 20.0, **jitter),
            scenario("trips", 100, 20.0, **jitter | {"application": "round-trip"}),
        )
    }
    tcp = {"payload_bytes": 1448, "retransmits": 0, "drops": 0, "queue_least_packets": 10, "sample_ms": 10}
    lasted_ns = 100_000 * 1514 * 800  # 0.8 us per byte at 10 Mbit/s
    readings = {
        "rate": tcp | {"echo_ms": 40.0, "delivered_bytes": 100_000 * 1448, "begin_ns": 5, "end_ns": 5 + lasted_ns},
        # A frame of 1,211.2 ns lasts 1,211 ns in a shaper that counts whole nanoseconds.
        "fast": tcp | {"echo_ms": 0.0, "delivered_bytes": 600_000 * 1448, "begin_ns": 0, "end_ns": 600_000 * 1211},
        "full": tcp | {
            "echo_ms": 100.0, "retransmits": 7, "drops": 7, "queue_most_packets": 33, "first_drop_packets": 33, "sample_ms": 1,
            # Two at once, the third when the bucket's missing tokens have arrived: 2 x 1514 - 1382 bytes at 8 us each.
            "burst_packets": 3, "burst_ms": 13.168,
        },
        "full-bytes": tcp | {
            "echo_ms": 4.0, "retransmits": 7, "drops": 7, "queue_most_bytes": 66 * 1514, "first_drop_bytes": 66 * 1514, "sample_ms": 1,
        },
        "lossy": {"echo_ms": 2.0, "offered_forward": 1_000_000, "lost_forward": 10_000, "offered_reverse": 10_000, "lost_reverse": 2_000},
        "wire": {"echo_ms": 20 + 97.6},
        "short": {"echo_ms": 0.02, "round_trip_us": 31.04 + 0.4, "exchanges": 31_000},
        "long": {"echo_ms": 0.02, "round_trip_us": 235.84 + 0.4, "exchanges": 4_200},
        "spread": {"spread_ms": 10 / 3, "spread_seconds": 120},
        "trips": {"round_trip_us": 40_000.0, "exchanges": 15_000},
    }  # fmt: skip
    return scenarios, readings


def _of_settings(scenario):
    """Return the readings that follow from the settings of a scenario with single losses and uniform jitter."""
    ways = ("forward", "reverse")
    return {
        **{f"share_{way}_percent": scenario[f"loss_{way}_percent"] for way in ways},
        **{f"of_one_{way}": 1.0 for way in ways},
        **{f"drawn_{way}_ms": 0.0 for way in ways},
        **{f"deviation_{way}_ms": scenario[f"jitter_{way}_ms"] / 3**0.5 for way in ways},
        "even": True,
    }


def tables(scenarios, readings):
    """Return both in the form in which the analysis reads them."""
    rows = [RUN | {"scenario": name} | _of_settings(scenarios[name]) | read for name, read in readings.items()]
    readings = pd.DataFrame(rows).reindex(columns=READINGS.names)
    return readings, tidy_tables.completed(pd.DataFrame(scenarios.values()), SCENARIOS)
