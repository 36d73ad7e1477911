"""Published statements about the exam's measures, each with its CCA, its scenarios, and the bounds that it implies for our mean.

The bounds are set here in advance, just as a study sets its margins in advance. They allow for conditions that differ from the source's or
that the source leaves open, such as the rate or whether start-up is included; `words` mentions such conditions. A statement is used in
every exam in which its CCA runs, whether the CCA is examined or not. So each exam is itself checked against known results.
"""

from dataclasses import dataclass
from math import inf, log, nextafter

from experiment.packet_sizes import PACKET_BYTES
from tcp_models.share_models import bbr_share
from tcp_models.throughput_models import aimd_window


@dataclass(frozen=True)
class Published:
    """A published statement."""

    cca: str  # CCA that the statement is about
    scenarios: tuple[str, ...]  # full names of the scenarios that meet the statement's conditions
    measure: str  # one of the criterion's measures
    words: str  # the statement, with its conditions
    source: str  # source of the statement
    at_least: float = -inf  # inclusive bounds that the statement implies for the measure's mean, in the measure's unit
    at_most: float = inf
    minus: str = ""  # CCA whose value with the same seeds is subtracted; if empty, nothing is subtracted


#: Exclusive bounds ("more than", "less than") become the next representable number.
def _more_than(bound):
    return nextafter(bound, inf)


def _less_than(bound):
    return nextafter(bound, -inf)


#: Scenarios of the shipped exams with a buffer below 1.5 BDP.
_SHALLOW = ("5.1.3-0.1bdp", "5.1.3-1bdp") + tuple(
    f"5.1.3-{flows}flows-{bdp}bdp" for flows in (2, 8) for bdp in (0.1, 0.25, 0.5, 1)
)
HIGH_LOSS = tuple(
    Published(
        "bbr", _SHALLOW, "loss_percent",
        f"several BBRv1 flows with a buffer of less than about 1.5 BDP lose packets constantly, and therefore lose more than {name}",
        "RFC 9743, section 5.1.3, after Hock, Bless, Zitterbart, Experimental Evaluation of BBR Congestion Control, ICNP 2017",
        at_least=_more_than(0), minus=cca,
    )
    for cca, name in (("reno", "Reno"), ("cubic", "CUBIC"))
)  # fmt: skip

#: A queue of 0 to 40 ms changes the ratio of the paths' RTTs (40 and 160 ms) to a value between 4 and 2.5, and thus the exponent.
_LEAST_POWER = log(200 / 80) / log(160 / 40)
_SECTION_3_3 = "RFC 9438, section 3.3, after Xu, Harfoush, Rhee, Binary Increase Congestion Control, INFOCOM 2004"
_EITHER = "the inverse of the RTT, or with its inverse square if both flows lose packets together"
BETWEEN_RTTS = (
    *(
        Published(
            cca, scenarios, "rtt_exponent",
            f"the goodputs of two flows {where}vary with {powers}; the queue of 40 ms that both share lowers the smallest exponent from 1 to {_LEAST_POWER:.2f}",
            _SECTION_3_3, at_least=_LEAST_POWER, at_most=most,
        )
        for cca, scenarios, where, powers, most in (
            ("reno", ("5.1.4-rtts", "5.1.4-rtts-40-160ms", "5.1.4-rtts-100mbit"), "", _EITHER, 2),
            ("cubic", ("5.1.4-rtts", "5.1.4-rtts-40-160ms"), "of CUBIC in its Reno-friendly region ", _EITHER, 2),
            ("cubic", ("5.1.4-rtts-100mbit",), "of CUBIC outside its Reno-friendly region ", "the inverse of the RTT", 1),
        )
    ),
    Published(
        "scalable", ("5.1.4-rtts-100mbit",), "rtt_exponent",
        "Scalable TCP is less fair than Reno between flows with different RTTs, because its window grows faster the larger it is",
        "Xu, Harfoush, Rhee, Binary Increase Congestion Control, INFOCOM 2004", at_least=_more_than(0), minus="reno",
    ),
)  # fmt: skip

#: Rate of the exam's link in packets per second, and its RTT in seconds.
_RATE_PACKETS_S, _RTT_S = 20e6 / 8 / PACKET_BYTES, 0.04


def _modelled_percent(queue_packets):
    """Return the modelled share, in %, of a BBR flow that competes with a loss-based flow behind one of the exam's queues."""
    return 100 * bbr_share(_RATE_PACKETS_S, _RTT_S, queue_packets)


_FABRIC = "Sarpkaya, Srivastava, Fund, Panwar, BBR's Sharing Behavior with CUBIC and Reno, IFIP 2025, figure {}"
SHARES = (
    *(
        Published(
            "bbr", (f"5.2.1-before-{other}{queue}", f"5.2.1-after-{other}{queue}"), "own_share_percent",
            f"one BBRv1 flow against one {name} flow at 40 ms and {bdp} BDP gets {share} % (in the source at 10 Mbit/s, over the last 400 of 1,000 s; tolerance 5 points)",
            _FABRIC.format(figure), at_least=share - 5, at_most=share + 5,
        )
        for other, name, figure, queue, bdp, share in (
            ("cubic", "CUBIC", "2a", "", 1, 81.4), ("cubic", "CUBIC", "2a", "-4bdp", 4, 48.1),
            ("reno", "Reno", "2c", "", 1, 83.6), ("reno", "Reno", "2c", "-4bdp", 4, 46.1),
        )
    ),
    *(
        Published(
            "bbr", (f"5.2.1-before-{other}{queue}", f"5.2.1-after-{other}{queue}"), "own_share_percent",
            f"a model of one BBRv1 flow against one {name} flow: {share:.1f} % with a queue of {packets} packets; its median error in the source's experiments is {error} % (tolerance {error} points)",
            "Ware, Mukerjee, Seshan, Sherry, Modeling BBR's Interactions with Loss-Based Congestion Control, IMC 2019, equations 9 to 11",
            at_least=share - error, at_most=share + error,
        )
        for other, name, error in (("cubic", "CUBIC", 5), ("reno", "Reno", 8))
        for queue, packets, share in (("", 66, _modelled_percent(66)), ("-4bdp", 264, _modelled_percent(264)))
    ),
    # Linux's TCP-LP doesn't behave like this; see UPSTREAM.md for the reason.
    Published(
        "lp", ("5.2.1-after-reno", "5.2.1-after-cubic"), "own_share_percent",
        "TCP-LP takes only what TCP leaves, which with a queue of one BDP is next to nothing (a tenth is allowed for its start-up)",
        "Kuzmanovic, Knightly, TCP-LP: A Distributed Algorithm for Low Priority Data Transfer, INFOCOM 2003", at_most=10,
    ),
    Published(
        "vegas", ("5.2.1-before-reno", "5.2.1-after-reno"), "own_share_percent",
        "Vegas gets less than its fair share against Reno, because Reno fills the queue and Vegas gives way",
        "Mo, La, Anantharam, Walrand, Analysis and Comparison of TCP Reno and Vegas, INFOCOM 1999", at_most=_less_than(50),
    ),
)  # fmt: skip

#: A burst of four packets is one loss event. The tolerance of a quarter allows for effects that the law ignores: random variation of
#: losses, bursts that extend into the next window of data, and timeouts.
_RENO_PERCENT = 100 * aimd_window(0.01 / 4, 1, 0.5) / (_RATE_PACKETS_S * _RTT_S)
RESPONSE = (
    Published(
        "reno", ("6.4-bursts", "6.4-bursts-1pct"), "utilisation_percent",
        f"Reno's mean window is the square root of 1.5 / p, with p loss events per packet: {_RENO_PERCENT:.1f} % of this path's capacity with "
        "1 % of loss in bursts of 4 packets (tolerance a quarter)",
        "Mathis, Semke, Mahdavi, Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997",
        at_least=0.75 * _RENO_PERCENT, at_most=1.25 * _RENO_PERCENT,
    ),
)  # fmt: skip
