"""The queueing disciplines of a bottleneck: each is declared once, here.

From a declaration follow the keys of a study's `queue` and what is refused of them (`study_files`), the line for tc and
what the kernel must say afterwards (`emulation`), what is counted (`queue_information`), what a machine's kernel needs
(`session.host_needs`) and the documentation. Parameters have the field's names and units; their defaults are the
kernel's, written out in every specification. Sources: net/sched/sch_*.c and include/uapi/linux/pkt_sched.h of Linux 7.2,
tc(8) of iproute2 7.3.
"""

import math
import struct
import time

from .environment import CLOCK_MONOTONIC_COARSE
from .qdisc import DROP_TAIL, Counters, Discipline, Parameter

#: Keys of a queue that say how much it holds; the first two are what a qdisc counts in.
MEASURES = ("packets", "bytes", "bdp")
#: TCA_CAKE_STATS_TIN_STATS, and of its tins (TCA_CAKE_TIN_STATS_*) what is read: column -> attribute.
CAKE_TINS = 10
CAKE_TIN = {"enqueued_packets": 2, "drops": 4, "ack_drops": 6, "marks": 8, "waiting_bytes": 11, "delay_us": 19}


def _in_ticks(value_ms):
    """Return a time in ms as this kernel keeps it where it counts ticks, rounded up (usecs_to_jiffies)."""
    tick_ms = round(1e3 * time.clock_getres(CLOCK_MONOTONIC_COARSE), 6)
    return math.ceil(round(value_ms / tick_ms, 6)) * tick_ms


def _codel_ms(value):
    """Return a time as CoDel keeps it, in units of 1,024 ns, and tells it, in whole us."""
    return (round(value * 1e6) >> 10 << 10) // 1000 / 1e3


def _times(target_ms, interval_ms):
    """Return CoDel's two times."""
    return (
        Parameter("target_ms", "Standing delay that it allows.", "target", "target", target_ms, "ms", 0.01, 1000, kept=_codel_ms),
        Parameter("interval_ms", "How long the delay may be above it: about the longest usual RTT.", "interval", "interval", interval_ms, "ms", 0.1, 10_000, kept=_codel_ms),
    )  # fmt: skip


def _ecn(default, off_word="noecn"):
    return Parameter(
        "ecn", "Whether it marks packets of flows with ECN instead of dropping them.", "ecn", "ecn", default, off_word=off_word
    )  # fmt: skip


_STEP = Parameter(
    "ce_threshold_ms", "Packets of flows with ECN that waited longer are marked, whatever else it does; `null`: none for that alone.",
    "ce_threshold", "ce_threshold", None, "ms", 0.01, 1000, kept=_codel_ms,
)  # fmt: skip


_OF_PIE = (
    Parameter("target_ms", "Delay that it holds.", "target", "target", 15, "ms", 1, 1000, whole=True),
    Parameter("tupdate_ms", "How often it computes its probability; PIE in ticks of the kernel.", "tupdate", "tupdate", 15, "ms", 1, 1000, whole=True, kept=_in_ticks),
)  # fmt: skip
_GAINS = (
    Parameter("alpha", "Weight of the delay's distance from the target.", "alpha", "alpha", 2, "", 0, 32, whole=True),
    Parameter("beta", "Weight of the delay's change.", "beta", "beta", 20, "", 0, 32, whole=True),
)
_FLOW_QUEUES = (
    Parameter("flow_queues", "Queues among which it divides flows by a hash.", "flows", "flows", 1024, "", 1, 65_536, whole=True),
    Parameter("quantum_bytes", "What a queue may send in its turn.", "quantum", "quantum", 1514, "bytes", 256, 1_000_000, whole=True),
    Parameter("memory_limit_bytes", "Memory that its packets may take, each with what the kernel keeps of it.", "memory_limit", "memory_limit", 33_554_432, "bytes", 65_536, 2_000_000_000, whole=True),
)  # fmt: skip


def red_ewma(least_packets, burst_packets) -> int:
    """Return the weight of RED's mean as tc computes it (tc_red_eval_ewma of tc/tc_red.c): 2^-n for each packet that comes."""
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
        DROP_TAIL, "Drops what comes while it is full.",
        {"packets": "pfifo", "bytes": "bfifo"}, {"bdp": 1},
    ),
    Discipline(
        "red", "Random early detection (Floyd and Jacobson 1993): marks or drops at random between two thresholds of its mean length. "
        "`step_packets` makes it DCTCP's step (RFC 8257): every packet above.",
        {"bytes": "red"}, {"bdp": 1},
        (
            Parameter("min_packets", "Mean length from which it marks or drops, in full packets.", "", "", 5, "packets", 0.5, 1_000_000),
            Parameter("max_packets", "Mean length from which it marks or drops all.", "", "", 15, "packets", 0.5, 1_000_000),
            Parameter("probability", "Of a mark or drop just below `max_packets`.", "probability", "probability", 0.02, "", 0.0001, 1),
            Parameter("burst_packets", "From which tc computes the weight of its mean.", "", "", 9, "packets", 1, 1_000_000, whole=True),
            Parameter("step_packets", "One threshold for both, with a mean over about two packets.", "", "", None, "packets", 1, 1_000_000, whole=True),
            _ecn(False, ""),
        ),
        ("ecn",),
        Counters(struct.Struct("=4I"), ("early", "pdrop", "other", "marked"), ("marked",), ("pdrop", "other")),
        {"harddrop": False, "adaptive": False, "nodrop": False},
        more_words=_red_words, more_expected=_red_expected,
    ),
    Discipline(
        "codel", "Controlled delay (RFC 8289): drops or marks while packets have waited longer than `target_ms` for `interval_ms`.",
        {"packets": "codel"}, {"packets": 1000},
        (*_times(5, 100), _ecn(False), _STEP),
        ("ecn", "ce_threshold_ms"),
        Counters(
            struct.Struct("=4Ii4I"), ("", "count", "", "ldelay", "", "drop_overlimit", "ecn_mark", "", "ce_mark"),
            ("ecn_mark", "ce_mark"), ("drop_overlimit",), "ce_mark", {"discipline_delay_ms": "ldelay"},
        ),
    ),
    Discipline(
        "fq_codel", "Flow queues by a hash, each with CoDel, served in turn (RFC 8290).",
        {"packets": "fq_codel"}, {"packets": 10_240},
        (
            *_FLOW_QUEUES, *_times(5, 100), _ecn(True), _STEP,
            Parameter("drop_batch_packets", "Dropped at once from the longest queue when all is full.", "drop_batch", "drop_batch", 64, "packets", 1, 65_536, whole=True),
        ),
        ("ecn", "ce_threshold_ms"),
        Counters(
            struct.Struct("=10I"),
            ("", "", "drop_overlimit", "ecn_mark", "new_flow_count", "", "", "ce_mark", "", "drop_overmemory"),
            ("ecn_mark", "ce_mark"), ("drop_overlimit",), "ce_mark",
        ),
    ),
    Discipline(
        "pie", "Proportional integral controller enhanced (RFC 8033): drops or marks at random, with a probability that holds the delay at `target_ms`.",
        {"packets": "pie"}, {"packets": 1000},
        (*_OF_PIE, *_GAINS, _ecn(False)),
        ("ecn",),
        Counters(
            struct.Struct("=Q8I"), ("", "delay", "", "", "packets_in", "dropped", "overlimit", "", "ecn_mark"),
            ("ecn_mark",), ("overlimit",), "", {"discipline_delay_ms": "delay"},
        ),
    ),
    Discipline(
        "fq_pie", "Flow queues by a hash, each with PIE, served in turn.",
        {"packets": "fq_pie"}, {"packets": 10_240},
        (
            *_FLOW_QUEUES, *_OF_PIE, *_GAINS, _ecn(False),
            Parameter("ecn_prob_percent", "Up to this probability it marks; above, it drops.", "ecn_prob", "ecn_prob", 10, "percent", 1, 100, whole=True),
        ),
        ("ecn",),
        Counters(
            struct.Struct("=9I"), ("packets_in", "dropped", "overlimit", "overmemory", "ecn_mark", "new_flow_count", "", "", ""),
            ("ecn_mark",), ("overlimit", "overmemory"),
        ),
    ),
    Discipline(
        "cake", "Common applications kept enhanced (Høiland-Jørgensen, Täht and Morton 2018): flows in turn, three tins by priority, COBALT in each. "
        "Always marks packets of flows with ECN. The rate stays the link's own.",
        {"bytes": "cake"}, {"bytes": 15_503_360},
        (
            Parameter("rtt_ms", "Its interval; the target is a twentieth of it.", "rtt", "rtt", 100, "ms", 0.1, 10_000),
            Parameter("isolation", "What is served in turn.", "flowmode", "flowmode", "triple-isolate", choices=("triple-isolate", "flows", "flowblind")),
            Parameter("tins", "Queues by priority.", "diffserv", "diffserv", "diffserv3", choices=("besteffort", "diffserv3", "diffserv4")),
        ),
        (),
        Counters(),
        {"bandwidth": "unlimited", "ack-filter": "disabled", "ingress": False, "overhead": 0},
        limit_word="memlimit",
    ),
    Discipline(
        "dualpi2", "Dual queue, coupled (RFC 9332): a queue for flows that say so by ECT(1), marked above `step_threshold_ms`, and PI2 for all others. "
        "Always marks packets of flows with ECN.",
        {"packets": "dualpi2"}, {"packets": 10_000},
        (
            Parameter("target_ms", "Delay of the classic queue that it holds.", "target", "target", 15, "ms", 1, 1000, whole=True),
            Parameter("tupdate_ms", "How often it computes its probability.", "tupdate", "tupdate", 16, "ms", 1, 1000, whole=True),
            Parameter("step_threshold_ms", "Delay above which packets of the low-latency queue are marked.", "step_thresh", "step-thresh-us", 1, "ms", 0.01, 100),
            Parameter("low_latency", "Which packets its low-latency queue takes: ECT(1), as L4S has it, or all of flows with ECN, such as DCTCP's.", "ecn", "ecn-mask", "l4s_ect", choices=("l4s_ect", "any_ect"), kept=lambda value: value.replace("_", "-")),
            Parameter("coupling", "How many times the classic queue's base probability the other one's is.", "coupling_factor", "coupling", 2, "", 1, 255, whole=True),
            Parameter("classic_protection_percent", "Share of the turns that the classic queue always has.", "classic_protection", "c-protection", 10, "percent", 0, 99, whole=True),
            Parameter("memory_limit_bytes", "Memory that its packets may take, each with what the kernel keeps of it.", "memlimit", "memory-limit", 30_280_000, "bytes", 65_536, 2_000_000_000, whole=True),
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
        "sfq", "Stochastic fairness queueing (McKenney 1990): flow queues by a hash, drop-tail, served in turn.",
        {"packets": "sfq"}, {"packets": 127},
        (
            Parameter("depth_packets", "Limit of each flow's queue.", "depth", "depth", 127, "packets", 1, 127, whole=True),
            Parameter("quantum_bytes", "What a queue may send in its turn.", "quantum", "quantum", 1514, "bytes", 256, 1_000_000, whole=True),
        ),
        counters=Counters(overflow=("drops",)),
    ),
    Discipline(
        "fq", "Fair queueing: a queue for each flow, served in turn. It paces only connections of its own host, so none behind a router.",
        {"packets": "fq"}, {"packets": 10_000},
        (
            Parameter("flow_limit_packets", "Limit of each flow's queue.", "flow_limit", "flow_limit", 100, "packets", 1, 1_000_000, whole=True),
            Parameter("quantum_bytes", "What a queue may send in its turn.", "quantum", "quantum", 3028, "bytes", 256, 1_000_000, whole=True),
            Parameter("initial_quantum_bytes", "What a new flow may send in its first turn.", "initial_quantum", "initial_quantum", 15_140, "bytes", 256, 10_000_000, whole=True),
        ),
        counters=Counters(struct.Struct("=7Q"), ("", "", "", "throttled", "flows_plimit", "", ""), (), ("drops",)),
        # It can mark too, but counts as marked what it can't mark.
        fixed={"ce_threshold": None},
    ),
)  # fmt: skip
DISCIPLINES = {discipline.name: discipline for discipline in _DISCIPLINES}
#: Kind of qdisc -> the discipline that it is.
OF_KIND = {kind: discipline for discipline in _DISCIPLINES for kind in discipline.kinds.values()}


def discipline_of(queue) -> Discipline:
    """Return the discipline of the queue of a scenario."""
    return DISCIPLINES[queue.get("discipline", DROP_TAIL)]


def measure_of(queue) -> tuple[str, float] | None:
    """Return (measure, amount) of a queue: what it holds in packets, bytes or BDPs; None if it says nothing of that."""
    return next(((measure, queue[measure]) for measure in MEASURES if measure in queue), None)


def completed(queue) -> dict:
    """Return a scenario's queue with all its defaults; one that is drop-tail as it always was, without a discipline."""
    discipline = discipline_of(queue)
    size = measure_of(queue)
    complete = dict([size]) if size else dict(discipline.size)
    if discipline.name == DROP_TAIL:
        return complete
    given = {p.name: queue.get(p.name, p.default) for p in discipline.parameters}
    if (step := given.get("step_packets")) is not None:
        given |= {"min_packets": step, "max_packets": step, "probability": 1, "burst_packets": step}
    return complete | {"discipline": discipline.name} | given


def keys() -> dict[str, dict]:
    """Return the keys of a queue besides `MEASURES`, as JSON Schema: name -> node, with the disciplines that have it."""
    nodes = {
        "discipline": {
            "description": " ".join(f"`{one.name}`: {one.meaning[0].lower()}{one.meaning[1:]}" for one in _DISCIPLINES),
            "enum": list(DISCIPLINES),
            "default": DROP_TAIL,
        }
    }
    having = {}
    for discipline in _DISCIPLINES:
        for parameter in discipline.parameters:
            having.setdefault(parameter.name, []).append((discipline, parameter))
    for name, owners in having.items():
        (_, first), *_ = owners
        of_all = {"minimum": min, "maximum": max}
        node = first.schema()
        for _, parameter in owners[1:]:
            other = parameter.schema()
            node |= {key: pick(node[key], other[key]) for key, pick in of_all.items() if key in node}
            if "number" in other.get("type", ()):
                node["type"] = other["type"]
        defaults = ", ".join(f"{one.name} {_default_words(parameter.default)}" for one, parameter in owners)
        node = {key: value for key, value in node.items() if (key, value) != ("unit", "")} | {
            "default_from": "discipline"
        }
        nodes[name] = node | {"description": f"{first.meaning} By default: {defaults}."}
    return nodes


def _default_words(value):
    """Return a default as a study would write it."""
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"
