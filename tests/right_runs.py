"""Drawn scenarios in which all is as it was asked for, near the bounds of the checks: every run of them must be valid."""

import random
from pathlib import Path

from study_files import study as studies

CCAS = ("reno", "cubic", "bbr", "vegas", "westwood", "dctcp")


def losses(draw):
    """Much loss in both directions, alone or in bursts, from the first packet on."""
    bursts = draw.choice([None, None, 3, 30, 200])
    most = 60 if bursts is None else 30
    return {
        "link": {
            "rate_mbps": draw.choice([0.5, 5, 50]), "delay_ms": draw.choice([1, 20, 150]), "loss_burst_packets": bursts,
            "loss_percent": {way: round(draw.uniform(0, most), 2) for way in ("forward", "reverse")},
        },
        "queue": {"packets": draw.choice([5, 100])},
        "flows": draw.randint(1, 4),
        "traffic": {
            "duration_s": draw.choice([2, 5]), "processes": draw.choice(["single", "per-flow"]),
            "sample_interval_ms": draw.choice([None, 50]),
        },
    }  # fmt: skip


def datagrams(draw):
    """UDP far below and far above what the link takes, with queues that hold a part of it, or of the run."""
    rate_mbps = draw.choice([0.5, 3, 20])
    return {
        "link": {
            "rate_mbps": rate_mbps, "delay_ms": draw.choice([0, 5, 100]),
            "loss_percent": {way: draw.choice([0, 0, 10, 40]) for way in ("forward", "reverse")},
        },
        "queue": draw.choice(
            [{"packets": 1}, {"packets": 400}, {"bytes": 20_000}, {"discipline": "fq_codel", "packets": 100}, {"discipline": "pie", "packets": 50}]
        ),
        "flows": draw.randint(1, 5),
        "traffic": {
            "protocol": "udp", "block_bytes": draw.choice([64, 700, 1440]), "duration_s": draw.choice([1, 3]),
            "bitrate_mbps": round(rate_mbps * draw.choice([0.2, 0.9, 1, 4]), 3),
        },
    }  # fmt: skip


def slow(draw):
    """A link on which a packet takes long, below queues that take seconds to drain."""
    return {
        "link": {"rate_mbps": draw.choice([0.03, 0.1, 0.4]), "delay_ms": draw.choice([0, 50, 300])},
        "queue": draw.choice([{"packets": 2}, {"packets": 60}, {"bytes": 15_000}]),
        "flows": draw.randint(1, 6),
        "traffic": {"duration_s": draw.choice([5, 20])},
    }


def far(draw):
    """Runs of some round trips."""
    return {
        "link": {"rate_mbps": draw.choice([10, 200]), "delay_ms": draw.choice([200, 400])},
        "queue": {"bdp": draw.choice([0.1, 1, 4])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": draw.choice([2, 4, 8]), "sample_interval_ms": draw.choice([None, 100])},
    }


def marking(draw):
    """Queues that drop or mark early, with ECN and without."""
    discipline = draw.choice(["codel", "fq_codel", "pie", "fq_pie", "cake", "red", "sfq"])
    return {
        "link": {
            "rate_mbps": draw.choice([2, 30]),
            "delay_ms": draw.choice([2, 40]),
            "loss_percent": draw.choice([0, 3]),
        },
        "queue": {"discipline": discipline, "packets": draw.choice([30, 300])},
        "flows": draw.randint(1, 4),
        "traffic": {"duration_s": 4},
        "transport": {"ecn": draw.choice(["off", "classic"])},
    }


def arrivals(draw):
    """Packets that come late, twice or damaged, or with jitter."""
    link = {"rate_mbps": draw.choice([5, 40]), "delay_ms": 20}
    link |= draw.choice(
        [
            {"reordering": {"percent": draw.choice([0.1, 5, 30]), "late_ms": draw.choice([1, 50])}},
            {"duplicate_percent": draw.choice([0.1, 20])}, {"corrupt_percent": draw.choice([0.1, 5])},
            {"jitter_ms": draw.choice([0.1, 15])}, {"jitter_ms": 10, "jitter_order": "kept"},
        ]
    )  # fmt: skip
    return {
        "link": link | {"loss_percent": draw.choice([0, 2])},
        "queue": {"packets": 100},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 3},
    }


def changes(draw):
    """A path whose rate, delay and loss change, also to losing all and back."""
    timeline = [
        {"at_s": round(draw.uniform(0.2, 4.5), 2), "direction": draw.choice(["forward", "reverse", "both"])}
        | draw.choice([{"rate_mbps": draw.choice([0.5, 3, 30])}, {"loss_percent": draw.choice([0, 5, 60, 100])}, {"delay_ms": draw.choice([1, 60])}])
        for _ in range(draw.randint(1, 6))
    ]  # fmt: skip
    return {
        "link": {"rate_mbps": 10, "delay_ms": 10, "timeline": sorted(timeline, key=lambda change: change["at_s"])},
        "queue": {"packets": 60},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 5},
    }


def policed(draw):
    """A policer below, at and above the link's rate, for TCP and UDP."""
    protocol = draw.choice([{}, {"protocol": "udp", "block_bytes": 1200, "bitrate_mbps": draw.choice([1, 8])}])
    return {
        "link": {
            "rate_mbps": 20, "delay_ms": draw.choice([2, 30]),
            "policer": {"rate_mbps": draw.choice([0.5, 5, 20, 25]), "burst_bytes": draw.choice([3000, 100_000])},
        },
        "queue": {"packets": 100},
        "flows": draw.randint(1, 4),
        "traffic": {"duration_s": 3} | protocol,
    }  # fmt: skip


def groups(draw):
    """Web objects, streams and long flows over a path that loses much, or little."""
    loss = draw.choice([0, 5, 40])
    return {
        "link": {"rate_mbps": 10, "delay_ms": 15, "loss_percent": {"forward": loss, "reverse": draw.choice([0, loss])}},
        "queue": {"packets": 80},
        "traffic": {"duration_s": 6},
        "flows": [
            {"name": "web", "application": "web", "count": 8, "bytes": draw.choice([1000, 60_000]), "start_s": 1},
            {
                "name": "call",
                "application": "real-time",
                "count": 2,
                "packet_bytes": 200,
                "interval_ms": draw.choice([20, 1000]),
                "stop_s": 5,
            },
            {
                "name": "long",
                "start_s": draw.choice([0, 2]),
                "stop_s": draw.choice([4, 6]),
                "count": draw.randint(1, 3),
            },
        ],
    }


def paths(draw):
    """MPTCP and tunnels over several paths that lose packets, or are slow or long."""
    by = draw.choice(["mptcp", "gre"])
    return {
        "topology": "cable", "multipath": {"by": by, "paths": draw.choice([2, 3])},
        "link": {
            "rate_mbps": draw.choice([1, 20]), "delay_ms": draw.choice([1, 30]), "loss_percent": draw.choice([0, 1, 10]),
        },
        "queue": {"packets": 100},
        "traffic": {"duration_s": 6},
    }  # fmt: skip


FAMILIES = {
    family.__name__: family
    for family in (losses, datagrams, slow, far, marking, arrivals, changes, policed, groups, paths)
}


def specification_of(family, number) -> dict:
    """Return the specification of a drawn run; a scenario that a study may not have is drawn again."""
    draw = random.Random(f"{family} {number}")
    for _ in range(100):
        scenario, cca = FAMILIES[family](draw), draw.choice(CCAS)
        config = {
            "study": "right", "title": family, "seed": draw.randint(1, 10**6), "replications": 1, "ccas": [cca],
            "ip_versions": [draw.choice(["ipv4", "ipv6"])], "scenarios": [{"id": f"{family}-{number}"} | scenario],
        }  # fmt: skip
        try:
            study = studies.resolve(config, Path("right.yaml"))
        except studies.StudyError:
            continue
        return studies.run_specification(study, *next(iter(studies.runs(study))))
    raise AssertionError(f"{family}: a study may have none of a hundred drawn scenarios")
