"""The queueing disciplines of a bottleneck: each is declared once, here.

A declaration determines:

- the keys of a study's `queue` and their error messages (`study_files`);
- the arguments of tc and the expected read-back (`emulation`);
- the counters (`queue_information`);
- the features that a machine's kernel must provide (`session.host_needs`).

The descriptions are in `wording.discipline_words`, where an edit doesn't make any run stale. Parameters have their usual names and
units. The defaults are the kernel's, and every specification states them.
Sources: net/sched/sch_*.c and include/uapi/linux/pkt_sched.h of Linux 7.2, tc(8) of iproute2 7.3.
"""

import math
import struct
import time

from experiment.qdisc import DROP_TAIL, Counters, Discipline, Parameter

#: CLOCK_MONOTONIC_COARSE advances with the tick, so its resolution is one tick (clock_getres(2)).
CLOCK_MONOTONIC_COARSE = 6
#: Keys of a queue for its size; a qdisc counts in one of the first two units.
MEASURES = ("packets", "bytes", "bdp")
#: Attribute TCA_CAKE_STATS_TIN_STATS, and the attributes to read for each tin (TCA_CAKE_TIN_STATS_*): column -> attribute.
CAKE_TINS = 10
CAKE_TIN = {"enqueued_packets": 2, "drops": 4, "ack_drops": 6, "marks": 8, "waiting_bytes": 11, "delay_us": 19}


def _in_ticks(value_ms):
    """Round a time in ms up to whole ticks, as the running kernel stores it (usecs_to_jiffies)."""
    tick_ms = round(1e3 * time.clock_getres(CLOCK_MONOTONIC_COARSE), 6)
    return math.ceil(round(value_ms / tick_ms, 6)) * tick_ms


def _codel_ms(value):
    """Return a time in ms as CoDel reports it: CoDel stores times in units of 1,024 ns, and reports them in whole microseconds."""
    return (round(value * 1e6) >> 10 << 10) // 1000 / 1e3


def _times(target_ms, interval_ms):
    """Return CoDel's parameters `target_ms` and `interval_ms` with the given defaults."""
    return (
        Parameter("target_ms", "target", "target", target_ms, "ms", 0.01, 1000, kept=_codel_ms),
        Parameter("interval_ms", "interval", "interval", interval_ms, "ms", 0.1, 10_000, kept=_codel_ms),
    )  # fmt: skip


def _ecn(default, off_word="noecn"):
    return Parameter(
        "ecn", "ecn", "ecn", default, off_word=off_word
    )  # fmt: skip


_STEP = Parameter(
    "ce_threshold_ms", "ce_threshold", "ce_threshold", None, "ms", 0.01, 1000, kept=_codel_ms,
)  # fmt: skip


_OF_PIE = (
    Parameter("target_ms", "target", "target", 15, "ms", 1, 1000, whole=True),
    Parameter("tupdate_ms", "tupdate", "tupdate", 15, "ms", 1, 1000, whole=True, kept=_in_ticks),
)  # fmt: skip
_GAINS = (
    # The minimum is 1, because tc doesn't pass a 0 to the kernel, which would keep its default.
    Parameter("alpha", "alpha", "alpha", 2, "", 1, 32, whole=True),
    Parameter("beta", "beta", "beta", 20, "", 1, 32, whole=True),
)
_FLOW_QUEUES = (
    Parameter("flow_queues", "flows", "flows", 1024, "", 1, 65_536, whole=True),
    Parameter("quantum_bytes", "quantum", "quantum", 1514, "bytes", 256, 1_000_000, whole=True),
    Parameter("memory_limit_bytes", "memory_limit", "memory_limit", 33_554_432, "bytes", 65_536, 2_000_000_000, whole=True),
)  # fmt: skip


def red_ewma(least_packets, burst_packets) -> int:
    """Return the exponent n of the weight 2^-n in RED's moving average, as tc computes n (tc_red_eval_ewma in tc/tc_red.c)."""
    a = burst_packets + 1 - least_packets
    return next((n for n in range(1, 32) if a <= (1 - (1 - 0.5**n) ** burst_packets) / 0.5**n), 0) if a >= 1 else 0


def _red_thresholds(queue, packet_bytes):
    """Return RED's two thresholds in bytes."""
    return [round(queue[name] * packet_bytes) for name in ("min_packets", "max_packets")]


def _red_words(queue, packet_bytes):
    low, high = _red_thresholds(queue, packet_bytes)
    return [f"min {low} max {high} avpkt {packet_bytes} burst {queue['burst_packets']}"]


def _red_expected(queue, packet_bytes):
    low, high = _red_thresholds(queue, packet_bytes)
    return {"min": low, "max": high, "ewma": red_ewma(low / packet_bytes, queue["burst_packets"])}


_DISCIPLINES = (
    Discipline(
        DROP_TAIL,
        {"packets": "pfifo", "bytes": "bfifo"}, {"bdp": 1},
    ),
    Discipline(
        "red",
        {"bytes": "red"}, {"bdp": 1},
        (
            Parameter("min_packets", "", "", 5, "packets", 0.5, 1_000_000),
            Parameter("max_packets", "", "", 15, "packets", 0.5, 1_000_000),
            Parameter("probability", "probability", "probability", 0.02, "", 0.0001, 1),
            Parameter("burst_packets", "", "", 9, "packets", 1, 1_000_000, whole=True),
            Parameter("step_packets", "", "", None, "packets", 1, 1_000_000, whole=True),
            _ecn(False, ""),
        ),
        ("ecn",),
        Counters(struct.Struct("=4I"), ("early", "pdrop", "other", "marked"), ("marked",), ("pdrop", "other")),
        {"harddrop": False, "adaptive": False, "nodrop": False},
        more_words=_red_words, more_expected=_red_expected,
    ),
    Discipline(
        "codel",
        {"packets": "codel"}, {"packets": 1000},
        (*_times(5, 100), _ecn(False), _STEP),
        ("ecn", "ce_threshold_ms"),
        Counters(
            struct.Struct("=4Ii4I"), ("", "count", "", "ldelay", "", "drop_overlimit", "ecn_mark", "", "ce_mark"),
            ("ecn_mark", "ce_mark"), ("drop_overlimit",), "ce_mark", {"discipline_delay_ms": "ldelay"},
        ),
    ),
    Discipline(
        "fq_codel",
        {"packets": "fq_codel"}, {"packets": 10_240},
        (
            *_FLOW_QUEUES, *_times(5, 100), _ecn(True), _STEP,
            Parameter("drop_batch_packets", "drop_batch", "drop_batch", 64, "packets", 1, 65_536, whole=True),
        ),
        ("ecn", "ce_threshold_ms"),
        Counters(
            struct.Struct("=10I"),
            ("", "", "drop_overlimit", "ecn_mark", "new_flow_count", "", "", "ce_mark", "", "drop_overmemory"),
            ("ecn_mark", "ce_mark"), ("drop_overlimit",), "ce_mark",
        ),
    ),
    Discipline(
        "pie",
        {"packets": "pie"}, {"packets": 1000},
        (*_OF_PIE, *_GAINS, _ecn(False)),
        ("ecn",),
        Counters(
            struct.Struct("=Q8I"), ("", "delay", "", "", "packets_in", "dropped", "overlimit", "", "ecn_mark"),
            ("ecn_mark",), ("overlimit",), "", {"discipline_delay_ms": "delay"},
        ),
    ),
    Discipline(
        "fq_pie",
        {"packets": "fq_pie"}, {"packets": 10_240},
        (
            *_FLOW_QUEUES, *_OF_PIE, *_GAINS, _ecn(False),
            Parameter("ecn_prob_percent", "ecn_prob", "ecn_prob", 10, "percent", 1, 99, whole=True),
        ),
        ("ecn",),
        Counters(
            struct.Struct("=9I"), ("packets_in", "dropped", "overlimit", "overmemory", "ecn_mark", "new_flow_count", "", "", ""),
            ("ecn_mark",), ("overlimit", "overmemory"),
        ),
    ),
    Discipline(
        "cake",
        {"bytes": "cake"}, {"bytes": 15_503_360},
        (
            Parameter("rtt_ms", "rtt", "rtt", 100, "ms", 0.1, 10_000),
            Parameter("isolation", "flowmode", "flowmode", "triple-isolate", choices=("triple-isolate", "flows", "flowblind")),
            Parameter("tins", "diffserv", "diffserv", "diffserv3", choices=("besteffort", "diffserv3", "diffserv4")),
            Parameter("ack_filter", "ack-filter", "ack-filter", False, off_word="no-ack-filter"),
        ),
        (),
        Counters(),
        {"bandwidth": "unlimited", "ingress": False, "overhead": 0},
        limit_word="memlimit",
        # CAKE counts the memory of packets, which is larger than the packets.
        least_packets=3,
    ),
    Discipline(
        "dualpi2",
        {"packets": "dualpi2"}, {"packets": 10_000},
        (
            Parameter("target_ms", "target", "target", 15, "ms", 1, 1000, whole=True),
            Parameter("tupdate_ms", "tupdate", "tupdate", 16, "ms", 1, 1000, whole=True),
            Parameter("step_threshold_ms", "step_thresh", "step-thresh-us", 1, "ms", 0.01, 100),
            Parameter("low_latency", "ecn", "ecn-mask", "l4s_ect", choices=("l4s_ect", "any_ect"), kept=lambda value: value.replace("_", "-")),
            Parameter("coupling", "coupling_factor", "coupling", 2, "", 1, 255, whole=True),
            Parameter("classic_protection_percent", "classic_protection", "c-protection", 10, "percent", 0, 99, whole=True),
            Parameter("memory_limit_bytes", "memlimit", "memory-limit", 30_280_000, "bytes", 65_536, 2_000_000_000, whole=True),
        ),
        (),
        Counters(
            struct.Struct("=8IiIII"),
            ("", "delay_c", "delay_l", "packets_in_c", "packets_in_l", "", "ecn_mark", "step_marks", "", "", "", ""),
            ("ecn_mark",), ("overlimits",), "step_marks", {"discipline_delay_ms": "delay_c", "l4s_delay_ms": "delay_l"},
        ),
        {"alpha": 0.15625, "beta": 3.19531, "drop-overload": "drop", "drop-early": "drop-dequeue"},
    ),
    Discipline(
        "sfq",
        {"packets": "sfq"}, {"packets": 127},
        (
            Parameter("depth_packets", "depth", "depth", 127, "packets", 1, 127, whole=True),
            Parameter("quantum_bytes", "quantum", "quantum", 1514, "bytes", 256, 1_000_000, whole=True),
        ),
        counters=Counters(overflow=("drops",)),
        least_packets=2,
    ),
    Discipline(
        "fq",
        {"packets": "fq"}, {"packets": 10_000},
        (
            Parameter("flow_limit_packets", "flow_limit", "flow_limit", 100, "packets", 1, 1_000_000, whole=True),
            Parameter("quantum_bytes", "quantum", "quantum", 3028, "bytes", 256, 1_000_000, whole=True),
            Parameter("initial_quantum_bytes", "initial_quantum", "initial_quantum", 15_140, "bytes", 256, 1_048_576, whole=True),
        ),
        counters=Counters(struct.Struct("=7Q"), ("", "", "", "throttled", "flows_plimit", "", ""), (), ("drops",)),
        # fq can also mark packets, but its counter of marks includes packets that can't be marked.
        fixed={"ce_threshold": None},
    ),
)  # fmt: skip
DISCIPLINES = {discipline.name: discipline for discipline in _DISCIPLINES}
#: Kind of qdisc -> its discipline.
OF_KIND = {kind: discipline for discipline in _DISCIPLINES for kind in discipline.kinds.values()}


#: Keys of a scenario for its queues. The first applies to both directions, or only to ``forward`` if the second sets the reverse queue.
QUEUES = ("queue", "reverse_queue")


def discipline_of(queue) -> Discipline:
    """Return the discipline of a scenario's queue."""
    return DISCIPLINES[queue.get("discipline", DROP_TAIL)]


def measure_of(queue) -> tuple[str, float] | None:
    """Return a queue's size as (unit, amount), where the unit is one of `MEASURES`; None if the queue doesn't state a size."""
    return next(((measure, queue[measure]) for measure in MEASURES if measure in queue), None)


def completed(queue) -> dict:
    """Return a scenario's queue with all defaults filled in; a drop-tail queue doesn't have the key ``discipline``."""
    discipline = discipline_of(queue)
    size = measure_of(queue)
    complete = dict([size]) if size else dict(discipline.size)
    if discipline.name == DROP_TAIL:
        return complete
    given = {p.name: queue.get(p.name, p.default) for p in discipline.parameters}
    if (step := given.get("step_packets")) is not None:
        given |= {"min_packets": step, "max_packets": step, "probability": 1, "burst_packets": step}
    return complete | {"discipline": discipline.name} | given
