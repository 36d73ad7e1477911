"""Generate tables of runs with known differences between levels of a factor, to test findings."""

import zlib

import numpy as np
import pandas as pd

#: Values of a run before noise is added.
USUAL = {
    "goodput_mbps": 9.5, "ideal_percent": 99.0, "rtt_mean_ms": 60.0, "queueing_mean_ms": np.nan, "rtt_above_ms": 20.0,
    "retransmit_percent": 0.1, "loss_percent": 0.1, "jain_index": 0.99, "transfer_s": np.nan, "cpu_seconds_per_gbyte": np.nan,
    "flows_under_test": 2, "packets_sent": 10_000, "duration_s": 10.0, "application": "iperf3", "protocol": "tcp", "mss_bytes": 1448,
    "message_bytes": 131_072, "window_begin_ns": 0, "window_end_ns": 10**10, "valid": True, "excluded_by": "", "invalid_because": "",
}  # fmt: skip


def runs_of(
    values, ccas=("reno", "cubic"), scenarios=("one",), n=6, ip_versions=("ipv4",), seed=1, spread=0.01
) -> pd.DataFrame:
    """Return a table of runs with the values in `USUAL`; noise is added to the measures of goodput, RTT, retransmits and loss.

    ``spread`` is the relative standard deviation of the noise. The function ``values(scenario, cca, replication, ip_version, rng)`` returns
    values that replace a run's values.
    """
    rng, rows = np.random.default_rng(seed), []
    for scenario in scenarios:
        for cca in ccas:
            for replication in range(1, n + 1):
                for ip_version in ip_versions:
                    row = dict(USUAL)
                    for name in (
                        "goodput_mbps",
                        "ideal_percent",
                        "rtt_mean_ms",
                        "rtt_above_ms",
                        "retransmit_percent",
                        "loss_percent",
                    ):
                        row[name] *= 1 + spread * rng.standard_normal()
                    row |= {
                        "scenario": scenario,
                        "scenario_label": scenario,
                        "cca": cca,
                        "ip_version": ip_version,
                        "replication": replication,
                        "seed": zlib.crc32(f"{scenario}/{replication}".encode()),
                    }
                    rows.append(row | values(scenario, cca, replication, ip_version, rng))
    return pd.DataFrame(rows)
