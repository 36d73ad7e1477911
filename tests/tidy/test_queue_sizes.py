"""The bottleneck's queue in packets of the run's own size, in bytes and in bandwidth-delay products."""

import gzip
import json

import numpy as np
import pytest

from drawn_documents import Cell
from drawn_run import Run
from run_tables.queue_sizes import queue_bdp, queue_words, queues_of
from run_tables.reading import read_runs, read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import TIDY_TABLES
from run_tables.tidying import tidy
from study_files import study as studies


@pytest.mark.parametrize(
    ("queue", "held_bytes", "bdps"),
    [("0.25 BDP", None, 0.25), ("100000 bytes", 100_000, 400.0), ("33 packets", 33 * 1514, 199.8), ("33 packets", 33 * 322, 42.5),
     ("33 packets", None, None), ("33 packets", float("nan"), None)],
)  # fmt: skip
def test_queue_in_bdps(queue, held_bytes, bdps):
    # 1 Mbit/s and 2 ms hold 250 bytes.
    assert queue_bdp(queue, held_bytes, 1, 2) == (pytest.approx(bdps, rel=1e-3) if bdps else None)


def test_no_bdp_without_rate_or_rtt():
    assert queue_bdp("33 packets", 49_962, None, 2) is queue_bdp("33 packets", 49_962, 1, 0) is None


def test_queue_in_words():
    words = [queue_words(queue) for queue in ({"bdp": 0.5}, {"packets": 33}, {"bytes": 100000})]
    assert words == ["0.5 BDP", "33 packets", "100000 bytes"]


def test_small_packets_of_both_ip_versions(tmp_path):
    """With segments of 256 bytes a packet has 322 bytes with IPv4 and 342 with IPv6, so a queue in BDPs has more of the smaller ones."""
    config = {
        "study": "small-packets", "ccas": ["reno"], "replications": 1, "ip_versions": ["ipv4", "ipv6"],
        "defaults": {"link": {"rate_mbps": 10, "delay_ms": 10}, "transport": {"segment_bytes": 256}},
        "scenarios": [{"id": "bdp"}, {"id": "packets", "queue": {"packets": 100}}, {"id": "bytes", "queue": {"bytes": 32000}}],
    }  # fmt: skip
    study = studies.resolve(config, "small-packets.yaml")
    cell, paths = Cell(0.9, 0.5, 0.0, 0.0, 0.0, 0.0, False, 0.0), []
    for scenario, cca, ip_version, replication in studies.runs(study):
        of_run = scenario, cca, ip_version, replication
        document = Run(studies.run_specification(study, *of_run), cell, np.random.default_rng(1)).document()
        path = tmp_path / "documents" / scenario / cca / ip_version / f"{replication}.json.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(document, default=float).encode()))
        paths.append(str(path))
    names = [table.name for table in TIDY_TABLES] + ["runs_parquet", "provenance"]
    outputs = {name: tmp_path / name for name in names}
    tidy({key: value for key, value in study.items() if key != "analysis"}, paths, outputs, {})
    runs, scenarios = read_runs(outputs["runs"]), read_table(outputs["scenarios"], SCENARIOS)
    columns = ["queue_packets", "packet_bytes", "queue_bytes", "queue_bdp"]
    known = {(row["scenario"], row["ip_version"]): [row[name] for name in columns] for row in runs.to_dict("records")}
    # 10 Mbit/s x 20 ms = 25,000 bytes: 77.6 packets of 322 bytes, 73.1 of 342.
    assert known["bdp", "ipv4"] == [78, 322, 78 * 322, 1] and known["bdp", "ipv6"] == [74, 342, 74 * 342, 1]
    assert known["packets", "ipv4"] == [100, 322, 32200, 1.288] and known["packets", "ipv6"] == [100, 342, 34200, 1.368]
    assert known["bytes", "ipv4"][1:] == [322, 32000, 1.28] and np.isnan(known["bytes", "ipv4"][0])
    assert list(scenarios["queue_packets"]) == ["78 74", "100", ""]
    assert list(queues_of(runs).loc[("bdp", "ipv6")]) == [342, 74 * 342]
