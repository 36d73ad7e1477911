"""Drawn scenarios that the testbed emulates correctly, near the bounds of the checks: every run of them must be valid."""

import random
from pathlib import Path

from study_files import study as studies

CCAS = ("reno", "cubic", "bbr", "vegas", "westwood", "dctcp")


def losses(draw):
    """High loss in both directions, of single packets or in bursts, from the first packet on."""
    bursts = draw.choice([None, None, 3, 30, 200])
    most = 60 if bursts is None else 30
    correlation = draw.choice([None, None, 5, 25, 80]) if bursts is None else None
    most = 50 if correlation else most
    return {
        "link": {
            "rate_mbps": draw.choice([0.5, 5, 50]), "delay_ms": draw.choice([1, 20, 150]), "loss_burst_packets": bursts, "correlation": correlation and {"loss_percent": correlation},
            "loss_percent": {way: round(draw.uniform(0, most), 2) for way in ("forward", "reverse")},
        },
        "queue": {"packets": draw.choice([5, 100])},
        "flows": draw.randint(1, 4),
        "traffic": {
            "duration_s": draw.choice([2, 5]), "processes": draw.choice(["single", "per-flow"]),
            "sample_interval_ms": draw.choice([None, 50]),
        },
    }  # fmt: skip


def persistent(draw):
    """Heavy loss that begins later and stays: windows and pacing rates fall to their minimum, and most retransmissions wait for a timer."""
    return {
        "link": {
            "rate_mbps": draw.choice([2, 20]), "delay_ms": draw.choice([5, 20, 50]),
            "timeline": [{"at_s": 3, "loss_percent": draw.choice([40, 50, 60]), "direction": "forward"}],
        },
        "queue": {"bdp": draw.choice([1, 4])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 25},
    }  # fmt: skip


def models(draw):
    """Losses from netem's probability models, with jitter from tables, and packets in bunches."""
    gemodel = {
        "p_percent": draw.choice([0.1, 2, 20]),
        "r_percent": draw.choice([1, 30, 90]),
        "bad_loss_percent": draw.choice([10, 70, 100]),
        "good_loss_percent": draw.choice([0, 0.5]),
    }
    state = {
        "p13_percent": draw.choice([0, 0.5, 5]),
        "p31_percent": draw.choice([5, 40]),
        "p32_percent": draw.choice([0, 20]),
        "p23_percent": draw.choice([10, 100]),
        "p14_percent": draw.choice([0.1, 2]),
    }
    model = {"loss_gemodel": gemodel} if draw.random() < 0.5 else {"loss_state": state}
    table = [{}, {"jitter_table": {"numbers": draw.choice([[-9000, 0, 9000], [-4000] * 9 + [32767], [-8192, 8192]])}}]
    at_times = draw.choice([*table, {"data_slot_ms": draw.choice([0.5, 4, 30])}, {"data_slot_ms": 5, "ack_slot_ms": 2}])
    link = {"rate_mbps": draw.choice([1, 10, 100]), "delay_ms": draw.choice([5, 60])}
    return {
        "link": link | model | at_times | ({"jitter_ms": 3} if "jitter_table" in at_times else {}),
        "queue": {"packets": draw.choice([10, 100])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 3},
    }  # fmt: skip


def sending(draw):
    """Senders whose super-packets or pacing rates are limited."""
    offload = draw.choice([True, False])
    sizes = (
        {"gso_max_segments": draw.choice([1, 3, 40])}
        if draw.random() < 0.5
        else {"gso_max_bytes": draw.choice([2000, 9000, 65_536])}
    )
    paced = draw.choice([{}, {"max_pacing_rate_mbps": draw.choice([0.7, 5, 300])}])
    return {
        "link": {"rate_mbps": draw.choice([20, 50, 400]), "delay_ms": draw.choice([1, 20])},
        "queue": {"packets": draw.choice([50, 100])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 3},
        "transport": {"segmentation_offload": offload, "min_tso_segments": draw.choice([1, 9]), "tso_rtt_log": draw.choice([0, 12])} | paced | (sizes if offload else {}),
    }  # fmt: skip


def datagrams(draw):
    """UDP far below and far above the link's rate, with queues for a part of the excess or for the whole run."""
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
    """A link on which a packet takes long, with queues that take seconds to drain."""
    return {
        "link": {"rate_mbps": draw.choice([0.03, 0.1, 0.4]), "delay_ms": draw.choice([0, 50, 300])},
        "queue": draw.choice([{"packets": 2}, {"packets": 60}, {"bytes": 15_000}]),
        "flows": draw.randint(1, 6),
        "traffic": {"duration_s": draw.choice([5, 20])},
    }


def far(draw):
    """Runs that last only a few round trips."""
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
    """Packets that arrive late, duplicated or damaged, or with jitter."""
    link = {"rate_mbps": draw.choice([5, 40]), "delay_ms": 20}
    link |= draw.choice(
        [
            {"reordering": {"percent": draw.choice([0.1, 5, 30]), "late_ms": draw.choice([1, 50])}},
            {"duplicate_percent": draw.choice([0.1, 20])}, {"corrupt_percent": draw.choice([0.1, 5])},
            {"jitter_ms": draw.choice([0.1, 15])}, {"jitter_ms": 10, "jitter_order": "kept"},
            {"jitter_ms": 9, "correlation": {"delay_percent": 60}},
            {"corrupt_percent": 9, "correlation": {"corrupt_percent": draw.choice([5, 50])}},
            {"reordering": {"percent": draw.choice([20, 75]), "gap_packets": draw.choice([2, 9]), "late_ms": 8}},
            {"reordering": {"percent": draw.choice([20, 75]), "late_ms": 8}, "correlation": {"reorder_percent": draw.choice([5, 50]), "direction": "forward"}},
        ]
    )  # fmt: skip
    return {
        "link": link | {"loss_percent": draw.choice([0, 2])},
        "queue": {"packets": 100},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 3},
    }


def changes(draw):
    """A path whose rate, delay and loss change, including a temporary loss of all packets."""
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


def backwards(draw):
    """Queues and policers of the reverse path, for acknowledgements and for data in that direction, with packets of all sizes."""
    back = draw.choice(
        [
            {"link": {"reverse_policer": {"rate_mbps": draw.choice([0.1, 2, 25]), "burst_bytes": draw.choice([9014, 100_000])}}},
            {"reverse_queue": draw.choice([{"packets": 3}, {"discipline": "fq_codel"}, {"bytes": 40_000}, {"discipline": "cake", "bytes": 300_000, "ack_filter": "filter"}])},
            {},
        ]
    )  # fmt: skip
    both = [{"name": "down", "stop_s": 3, "count": 2}, {"name": "up", "stop_s": 3, "direction": "reverse"}]
    link = {
        "rate_mbps": draw.choice([8, 40]),
        "delay_ms": draw.choice([2, 30]),
        "mtu_bytes": draw.choice([1280, 1500, 4000, 9000]),
    }
    return {
        "link": link | back.get("link", {}),
        "queue": {"packets": 30},
        "flows": draw.choice([2, both]),
        "traffic": {"duration_s": 3},
        "transport": {"window_scaling": draw.choice([True, True, False])},
    } | {key: value for key, value in back.items() if key != "link"}


def shaped(draw):
    """Shapers with buckets of all sizes, separate from the delay or above it."""
    return {
        "link": {
            "rate_mbps": draw.choice([1, 20, 200]), "delay_ms": draw.choice([2, 30]), "loss_percent": draw.choice([0, 2]),
            "shaper": draw.choice(["htb", "tbf"]), "shaper_burst_bytes": draw.choice([1514, 15_000, 100_000]),
            "netem": draw.choice(["receiving-side", "both-ends", "sending-host"]),
        },
        "queue": {"packets": draw.choice([20, 100])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 3},
    }  # fmt: skip


def groups(draw):
    """Web objects, streams and long flows over a path that loses many or few packets."""
    loss = draw.choice([0, 5, 40])
    return {
        "link": {"rate_mbps": 10, "delay_ms": 15, "loss_percent": {"forward": loss, "reverse": draw.choice([0, loss])}},
        "queue": {"packets": 80},
        "traffic": {"duration_s": 6},
        "flows": [
            {
                "name": "web",
                "application": "web",
                "count": 8,
                "bytes": draw.choice([1000, 60_000]),
                "start_s": 1,
                "direction": draw.choice(["forward", "reverse"]),
            },
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


def chains(draw):
    """Several bottlenecks in a row, some narrow, with loss behind each."""
    bottlenecks = [
        {"rate_mbps": draw.choice([1, 4, 10]), "delay_ms": draw.choice([1, 25])} for _ in range(draw.randint(2, 4))
    ]
    return {
        "topology": "chain", "chain": {"bottlenecks": bottlenecks, "cross_flows": draw.randint(0, 2)},
        "link": {"loss_percent": draw.choice([0, 1, 15])},
        "queue": {"packets": draw.choice([5, 60])},
        "flows": draw.randint(1, 2),
        "traffic": {"duration_s": 4, "sample_interval_ms": draw.choice([None, 50])},
    }  # fmt: skip


def amounts(draw):
    """Files, messages and exchanges instead of a duration, also over a path that loses packets."""
    traffic = draw.choice(
        [
            {"application": "ftp", "file_bytes": draw.choice([20_000, 2_000_000])},
            {"messages": draw.choice([20, 400]), "block_bytes": draw.choice([200, 8000])},
            {"messages": 300, "block_bytes": 1200, "protocol": "udp"},
            {"application": "round-trip", "duration_s": 6, "block_bytes": draw.choice([16, 4000])},
        ]
    )
    lossless = traffic.get("application") == "round-trip"
    return {
        "link": {"rate_mbps": draw.choice([2, 30]), "delay_ms": draw.choice([1, 12]), "loss_percent": 0 if lossless else draw.choice([0, 2, 10])},
        "queue": {"packets": draw.choice([10, 100])},
        "traffic": traffic,
    }  # fmt: skip


def outages(draw):
    """A path of MPTCP that goes down, and comes back before the end or not."""
    at_s = draw.choice([1, 2.5])
    return {
        "topology": "cable", "link": {"rate_mbps": draw.choice([2, 15]), "delay_ms": draw.choice([2, 30])},
        "multipath": {"by": "mptcp", "paths": 2, "outage": {"path": draw.choice([1, 2]), "at_s": at_s, "for_s": draw.choice([0.3, 2])}},
        "queue": {"packets": 100},
        "traffic": {"duration_s": 6},
    }  # fmt: skip


def services(draw):
    """Background traffic beside a flow on a cable."""
    return {
        "topology": "cable", "background": "server", "link": {"rate_mbps": draw.choice([2, 50]), "delay_ms": draw.choice([0, 10])},
        "queue": {"packets": draw.choice([20, 1000])},
        "traffic": {"duration_s": 4},
    }  # fmt: skip


def crowds(draw):
    """Dozens of flows carried by two programs, over paths that lose nothing, many packets, or SYNs for seconds."""
    loss = draw.choice([0, 1, 30])
    return {
        "link": {
            "rate_mbps": draw.choice([5, 50]), "delay_ms": draw.choice([1, 40]),
            "loss_percent": {"forward": loss, "reverse": draw.choice([0, loss])},
        },
        "queue": {"packets": draw.choice([20, 500])},
        "flows": draw.choice([40, 70, 200]),
        "traffic": {
            "processes": "per-side", "duration_s": draw.choice([2, 4]), "start_within_ms": draw.choice([0, 500]),
            "sample_interval_ms": draw.choice([None, 50]),
        },
    }  # fmt: skip


def settings(draw):
    """Non-default settings of TCP, over a path with or without loss."""
    asked = draw.choice(
        [
            {"delayed_acks": False}, {"min_rto_ms": draw.choice([5, 50, 1000])},
            {"receive_buffer_bytes": draw.choice([20_000, 200_000])}, {"send_buffer_bytes": draw.choice([20_000, 200_000])},
        ]
    )  # fmt: skip
    return {
        "link": {"rate_mbps": draw.choice([2, 30]), "delay_ms": draw.choice([2, 40]), "loss_percent": draw.choice([0, 2, 20])},
        "queue": {"packets": draw.choice([10, 200])},
        "flows": draw.randint(1, 3),
        "traffic": {"duration_s": 4},
        "transport": asked,
    }  # fmt: skip


FAMILIES = {
    family.__name__: family
    for family in (
        losses, persistent, models, datagrams, slow, far, marking, arrivals, changes, policed, backwards, shaped, groups, paths, chains, amounts, outages, services, crowds, settings, sending,
    )
}  # fmt: skip


#: Checks that no drawn run needs, and the reason: the compared values don't depend on the path's behaviour.
NOT_DRAWN = {
    "carried_out": "every run has it that fails at a step, and none of these may",
    "clock": "of a machine's own kernel", "cpu_saturation": "of a machine's own kernel",
    "programs": "of programs that a study declares", "program_cca": "likewise", "program_data": "likewise", "program_packets": "likewise", "qlog": "likewise",
    "kernel": "a kernel that was built for a study", "parameters": "parameters that a study defines",
}  # fmt: skip


def specification_of(family, number) -> dict:
    """Return the specification of a drawn run; if a study may not contain the scenario, another one is drawn."""
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
