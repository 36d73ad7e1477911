"""Traffic over the guest kernel's paths, compared with their capacity, whatever limits it: a full path has 100 % of it, and none has
more."""

import pytest

from changing_run import change
from run_tables.load_metrics import load_metrics
from run_tables.run_metrics import flow_metrics, run_metrics

WAYS = {"forward": 10, "reverse": 10}
TRACE = {
    "file": None,
    "format": "csv",
    "direction": "forward",
    "step_ms": 500,
    "sha256": None,
    "rates_mbps": [2, 16, 8],
}
#: Name -> link, seconds, packets of queue, least share in percent that CUBIC gets of it.
PATHS = {
    "10 kbit/s": ({"rate_mbps": 0.01}, 120, 10, 97),
    "100 kbit/s": ({"rate_mbps": 0.1}, 30, 20, 98),
    "a rate step down": ({"rate_mbps": 40, "timeline": [change(4, rate_mbps=2)]}, 8, 100, 70),
    "a delay step": ({"rate_mbps": 10, "timeline": [change(3, "reverse", delay_ms=80)]}, 8, 100, 80),
    "acknowledgements that stop": ({"rate_mbps": 10, "timeline": [change(3, "reverse", down_for_s=0.3)]}, 8, 100, 60),
    "a policer": ({"rate_mbps": 100, "policer": {"rate_mbps": 5, "burst_bytes": 30_000}}, 8, 100, 80),
    "a trace": ({"rate_mbps": 100, "trace": TRACE}, 8, 100, 90),
    "jitter": ({"rate_mbps": 10, "jitter_ms": {"forward": 2, "reverse": 2}}, 8, 100, 80),
    "acknowledgements in slots": ({"rate_mbps": 10, "ack_slot_ms": 20}, 8, 100, 90),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_no_share_of_a_path_exceeds_100_percent(run, name):
    link, duration_s, packets, least = PATHS[name]
    traffic = {"duration_s": duration_s, "sample_interval_ms": 100}
    document = run(cca="cubic", link={"delay_ms": WAYS} | link, traffic=traffic, queue={"packets": packets})
    shares = (
        run_metrics(document, flow_metrics(document))["ideal_percent"],
        load_metrics(document)["utilisation_percent"],
    )
    assert all(least <= share <= 100 for share in shares), shares
    ceiling = next(check for check in document["verdict"]["checks"] if check["name"] == "goodput_ceiling")
    assert ceiling["ok"], ceiling


def test_an_idle_path_has_no_queueing_whatever_its_delay_does(run):
    """A flow of 0.5 Mbit/s on 10, whose path is 60 ms longer after a second: the RTT is above the path's shortest, but the queue is
    empty."""
    link = {"rate_mbps": 10, "delay_ms": WAYS, "timeline": [change(1, delay_ms=40)]}
    traffic = {"duration_s": 4, "bitrate_mbps": 0.5, "block_bytes": 1448, "sample_interval_ms": 50}
    document = run(link=link, traffic=traffic)
    load = load_metrics(document)
    assert load["queueing_mean_ms"] < 0.2 and load["queueing_p95_ms"] < 2
    assert run_metrics(document, flow_metrics(document))["rtt_above_ms"] > 30
