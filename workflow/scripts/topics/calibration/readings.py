"""Extract a run document's readings of the path: rate, queue, loss, delay, jitter and the burst after idle time."""

from itertools import pairwise
from statistics import fmean, pstdev

from experiment.delay_tables import SCALE
from experiment.netem_correlation import packets_of_one as correlated_packets_of_one
from experiment.run_document import specification_of
from experiment.timeline import DIRECTIONS
from testbed.checks.loss_checks import netem_counts
from testbed.readings.deliveries import START_UP, common_window
from topics.calibration.exact_values import EVEN, packets_of_one
from topics.calibration.tables import READINGS

#: The burst leaves within this number of samples after the first sample with queued packets. Packets that leave later were queued first.
SETTLED = 3


def readings(document) -> dict:
    """Return a run document's row of `READINGS`."""
    run = specification_of(document)
    (echo,) = document["idle_rtt"]
    row = dict.fromkeys(READINGS.names) | {
        **run.factors,
        "failed_checks": " ".join(check["name"] for check in document["verdict"]["checks"] if not check["ok"]),
        "echo_ms": echo["min_ms"],
        **loss_counts(document),
        **settings(run),
    }
    if run.traffic.application == "round-trip":
        trip = document["traffic"][0]["round_trip"]
        return row | {"round_trip_us": trip["rtt_us"], "exchanges": trip["exchanges"]}
    if run.udp:
        return row | datagram_spread(document["traffic"][0]["server"]["intervals"])
    row |= deliveries(document)
    if "series" in document:
        row |= queue_samples(document["series"], row["begin_ns"], row["end_ns"])
        row |= burst(document["series"])
    return row


def settings(run) -> dict:
    """Return the statistics of random loss and jitter that the run's specification implies."""
    row = {"even": not any(run.option("jitter_table", way) for way in DIRECTIONS)}
    for way in DIRECTIONS:
        effect, table, model = run.direction(way), run.option("jitter_table", way), run.direction(way).loss_model
        row |= {
            f"share_{way}_percent": 100 * (model.share if model else run.loss_share(way)),
            f"of_one_{way}": packets_of_one(model)
            if model
            else correlated_packets_of_one(run.correlation("loss", way)),
        }
        numbers = [one / SCALE for one in table["numbers"]] if table else []
        mean, deviation = (fmean(numbers), pstdev(numbers)) if table else (0, EVEN)
        row |= {f"drawn_{way}_ms": mean * effect.jitter_ms, f"deviation_{way}_ms": deviation * effect.jitter_ms}
    return row


def loss_counts(document) -> dict:
    """Return, for each direction, how many packets the random loss could drop, and how many it dropped."""
    counts = {}
    for direction, places in document["network"]["set"]["netem"].items():
        if places:
            counts[f"offered_{direction}"], counts[f"lost_{direction}"] = netem_counts(document, direction)
    return counts


def datagram_spread(intervals) -> dict:
    """Return the mean of iperf3's jitter over whole seconds.

    The first second is left out because the jitter starts from 0, and the last because it is incomplete.
    """
    jitters = [interval["sum"]["jitter_ms"] for interval in intervals[1:-1]]
    return {"spread_ms": sum(jitters) / len(jitters), "spread_seconds": len(jitters)} if jitters else {}


def deliveries(document) -> dict:
    """Return the payload of a full segment, the bytes delivered between two readings, and the times of both readings.

    The first reading is taken after a quarter of the period that all flows have in common. The result is empty if there is no such period.
    """
    window = common_window(document["delivered"], START_UP)
    if window is None:
        return {}
    sizes = [socket["mss_bytes"] for look in document["sockets"] for socket in look["sockets"]]
    return {
        "payload_bytes": max(sizes),
        "delivered_bytes": sum(window.delivered_bytes.values()),
        "begin_ns": window.begin_ns,
        "end_ns": window.end_ns,
    }


def queue_samples(series, begin_ns, end_ns) -> dict:
    """Return statistics of the samples: queue lengths, drops and retransmitted segments.

    The shortest queue is the minimum over the samples between ``begin_ns`` and ``end_ns``; the longest queue is the maximum over all
    samples. If the queue dropped packets, the result also contains the queue length at the first sample after a drop. Retransmissions are
    counted from the last sample at or before ``begin_ns``. If ``begin_ns`` is None, the shortest queue and the retransmissions are left
    out.
    """
    queue = series["queue"]
    samples = list(zip(queue["time_s"], queue["packets"], queue["bytes"], queue["drops"], strict=True))
    row = {
        "queue_most_packets": max(queue["packets"]),
        "queue_most_bytes": max(queue["bytes"]),
        "drops": queue["drops"][-1],
        "sample_ms": series["interval_ms"],
    }
    if begin_ns is not None:
        between = [packets for time_s, packets, *_ in samples if begin_ns <= time_s * 1e9 <= end_ns]
        row["queue_least_packets"] = min(between, default=None)
        (socket,) = series["sockets"]
        again = zip(socket["time_s"], socket["retransmits"], strict=True)
        before = [count for time_s, count in again if time_s * 1e9 <= begin_ns]
        row["retransmits"] = socket["retransmits"][-1] - before[-1]
    dropped = next((sample for sample in samples if sample[3]), None)
    if dropped:
        row["first_drop_packets"], row["first_drop_bytes"] = dropped[1:3]
    return row


def burst(series) -> dict:
    """Return the number of data packets that had left when the first queued packet left, and the time of this event.

    The time is measured from the first sample with queued packets. Until the first acknowledgement or drop, the packets that have left are
    the unacknowledged packets that aren't in the queue. The result is empty if an acknowledgement or a drop comes earlier.
    """
    queue, (socket, *_) = series["queue"], series["sockets"]
    unacked = dict(zip(socket["time_s"], socket["unacked_packets"], strict=True))
    samples = [
        (time_s, unacked.get(time_s), packets, drops)
        for time_s, packets, drops in zip(queue["time_s"], queue["packets"], queue["drops"], strict=True)
    ]
    first = next((place for place, sample in enumerate(samples) if sample[2] > 1 and sample[1]), None)
    if first is None:
        return {}
    sent = samples[first][1]
    # Start from sample number `SETTLED`, because part of the burst may still leave before it.
    for number, (before, after) in enumerate(pairwise(samples[first:])):
        if after[1] != sent or after[3]:
            return {}
        if number >= SETTLED and after[2] < before[2]:
            return {"burst_packets": sent - after[2], "burst_ms": (after[0] - samples[first][0]) * 1e3}
    return {}
