"""Descriptions of link options for tables, the report and the documentation of studies.

They are not in `experiment.link_options` with the declarations, because any change to that module makes runs stale.
"""

from experiment.link_options import CORRELATED, LINK_OPTIONS, late_percent
from experiment.timeline import DIRECTIONS


def _correlation(value) -> str:
    named = (f"{what} {value[f'{what}_percent']:g} %" for what in CORRELATED if value[f"{what}_percent"])
    return f"correlation of {', '.join(named)} ({value['direction']})"


def _chances(model, value) -> str:
    return f"{model} {' '.join(f'{percent:g} %' for percent in value.values())}"


def _late(value) -> str:
    return f"{late_percent(value):.3g} % of packets {value['late_ms']:g} ms late ({value['direction']})"


#: Option, or option and key -> its description.
OPTION_WORDS = {
    "reverse_rate_mbps": (
        "Rate of the bottleneck in the acknowledgements' direction, as on an asymmetric access line. A queue in BDPs uses this rate there; "
        "a queue in packets or bytes is the same in both directions. `null`: `rate_mbps`."
    ),
    "shaper": (
        "Mechanism that limits the rate. `htb`: a class of htb, with the queue below it. `tbf`: a token bucket, with the queue below it. `netem`: netem's own "
        "`rate`; its `limit` is the length of the queue."
    ),
    "shaper_burst_bytes": (
        "Bytes that the shaper may send at once after being idle, like `burst` of tc-htb(8) and tc-tbf(8); Mininet's TCLink has 15,000. `null`: one packet."
    ),
    "mtu_bytes": (
        "Largest IP packet of all links (MTU) in bytes: 9,000 with jumbo frames, 1,492 on many DSL lines. IPv6 needs at least 1,280."
    ),
    "jitter_distribution": (
        "Distribution of the delays, like netem's `distribution`. `uniform`: uniform up to `jitter_ms` from the mean. The others have `jitter_ms` as standard "
        "deviation and reach up to four standard deviations, so the mean delay should be four times `jitter_ms`; otherwise short delays are cut off at 0."
    ),
    "jitter_table": (
        "Delays drawn from a file, like netem's `distribution` with a custom table. The file sets the shape of their distribution, `delay_ms` their mean and `jitter_ms` their "
        "standard deviation. The mean delay must be long enough that the shortest delay isn't below 0."
    ),
    "jitter_table.file": (
        "Path of a file next to the study's file: measured delays in any unit, one per line. A file whose name ends with `.dist` is a table of netem, whose "
        "numbers are used unchanged."
    ),
    "jitter_table.sha256": "SHA-256 of the file, filled in.",
    "jitter_table.numbers": (
        "The table in units of 1/8,192 of `jitter_ms` around `delay_ms`, filled in: if there are more than 4,096 delays, 4,096 quantiles, up to four standard deviations from the mean."
    ),
    "jitter_order": (
        "Whether packets with different delays may overtake each other. `any`: yes. `kept`: no; each packet waits for "
        "the one before, so the mean delay of packets at short intervals is longer."
    ),
    "ack_slot_ms": (
        "Time between bunches of acknowledgements, as on links on which senders take turns: in the reverse direction packets leave only at "
        "this interval, and all packets that are due leave together (netem's `slot`). `null`: each packet leaves when it is due."
    ),
    "data_slot_ms": "Time between bunches of data packets, as over a radio link that sends at intervals (netem's `slot`). `null`: each packet leaves when it is due.",
    "loss_burst_packets": (
        "Mean length of a burst of losses (Gilbert 1960, Elliott 1963): the path is good or bad and loses all packets while it is bad. "
        "On average, it loses `loss_percent` of the packets. `null`: each packet is lost independently."
    ),
    "loss_gemodel": (
        "netem's `loss gemodel`: probabilities of the model of Gilbert and Elliott. Before each packet, a good path becomes bad with probability `p_percent`, and a "
        "bad path becomes good with probability `r_percent`. `loss_percent` follows from these probabilities."
    ),
    "loss_gemodel.p_percent": "Probability that a good path becomes bad.",
    "loss_gemodel.r_percent": "Probability that a bad path becomes good.",
    "loss_gemodel.bad_loss_percent": "Share of packets lost while the path is bad (netem's 1-h).",
    "loss_gemodel.good_loss_percent": "Share of packets lost while the path is good (netem's 1-k).",
    "loss_state": (
        "netem's `loss state`: probabilities of a model of four states (Salsano and others 2009). Packets pass in gaps (state 1) and within bursts (2), and "
        "are lost within bursts (3) or singly (4). `loss_percent` follows from these probabilities."
    ),
    "loss_state.p13_percent": "Probability that a burst of losses begins.",
    "loss_state.p31_percent": "Probability that a burst ends after a lost packet.",
    "loss_state.p32_percent": "Probability that packets pass within a burst after a lost packet.",
    "loss_state.p23_percent": "Probability that packets are lost again, after packets have passed within a burst.",
    "loss_state.p14_percent": "Probability that a packet in a gap is lost singly.",
    "correlation": (
        "netem's correlations: each random number is mixed with the previous one, so losses, damage and late packets become rarer than configured if "
        "their probability is below one half: a loss of 1 % with 25 % loses one packet in 400,000. The share in effect is calculated and checked. A correlation of "
        "delays has hardly any effect."
    ),
    "correlation.loss_percent": "Correlation of random losses, as in netem's `loss 1% 25%`.",
    "correlation.delay_percent": "Correlation of delays, as in `delay 10ms 5ms 25%`; set and read back, with hardly any effect unless `jitter_ms` is in the hundreds.",
    "correlation.corrupt_percent": "Correlation of damaged packets, as in `corrupt 1% 25%`.",
    "correlation.reorder_percent": "Correlation of packets that pass at once, as in `reorder 25% 50%`.",
    "correlation.direction": "Direction in which numbers are correlated: data (`forward`), acknowledgements (`reverse`), or both.",
    "reordering": (
        "A share of the packets, drawn independently, is held back behind the bottleneck, so that later packets overtake them. Nothing is "
        "lost. If packets follow each other within `late_ms`, `percent` is RFC 4737's share of reordered packets, `late_ms` their late time, "
        "and the number of packets that the link carries in this time their reordering extent."
    ),
    "reordering.percent": "Share of late packets. Above half, the remaining packets are those that overtake: netem's `reorder 25%` is a `percent` of 75.",
    "reordering.late_ms": "Extra delay of late packets.",
    "reordering.gap_packets": (
        "netem's `gap`: after a packet that passed at once, at least `gap_packets` - 1 are late, and then each with probability `percent`."
    ),
    "reordering.direction": "Direction in which packets are late: data (`forward`), acknowledgements (`reverse`), or both.",
    "duplicate_percent": (
        "Share of packets that are duplicated behind the bottleneck, drawn independently; packets of TCP and all other protocols."
    ),
    "corrupt_percent": (
        "Share of packets in which one random bit is flipped behind the bottleneck, drawn independently; packets of TCP and all other protocols. "
        "Hosts and routers drop packets with a wrong checksum. A flipped bit in the Ethernet header has no effect."
    ),
}
#: Option -> description of a value, for a row of a table.
OPTION_EFFECTS = {
    "reverse_rate_mbps": "{:g} Mbit/s in reverse",
    "shaper": "rate by {}",
    "shaper_burst_bytes": "a shaper's burst of {:,} bytes",
    "mtu_bytes": "MTU of {:,} bytes",
    "jitter_distribution": "{} jitter",
    "jitter_table": lambda value: f"jitter from {value['file'] or 'a table'}",
    "jitter_order": "jitter keeps the order",
    "ack_slot_ms": "acknowledgements in slots of {:g} ms",
    "data_slot_ms": "data in slots of {:g} ms",
    "loss_burst_packets": "losses in bursts of {:g} packets ({way})",
    "loss_gemodel": lambda value, way: f"losses by {_chances('gemodel', value)} ({way})",
    "loss_state": lambda value, way: f"losses by {_chances('state', value)} ({way})",
    "correlation": _correlation,
    "reordering": _late,
    "duplicate_percent": "{:g} % of packets twice ({way})",
    "corrupt_percent": "{:g} % of packets damaged ({way})",
}
#: Option -> meaning and source of its count in a run, and the word for such packets.
COUNT_WORDS = {
    "reordering": (
        "Packets in the data's direction made late by `link.reordering`; packets that came in the meantime overtook the late ones.",
        "netem: packets that left minus packets that passed at once",
        "late",
    ),
    "duplicate_percent": (
        "Packets in the data's direction duplicated by `link.duplicate_percent`; random loss may later drop some of the copies.",
        "netem: packets that left minus packets that arrived",
        "twice",
    ),
    "corrupt_percent": (
        "Packets in the data's direction damaged by `link.corrupt_percent`, as far as the receivers detected the damage.",
        "InCsumErrors of the receivers' TCP, UDP and ICMP",
        "damaged",
    ),
}
#: Key of a scenario, or option and key -> reason why an option requires a certain value for the key.
REASONS = {
    "transport.segmentation_offload": "a super-packet is many packets",
    "duplicate_percent traffic.protocol": "{application} mistakes a packet's second copy for a late packet",
    "corrupt_percent transport.ecn": "a bit of a packet's mark may flip",
}


def effects_of(link) -> list[str]:
    """Return descriptions of a resolved scenario's link options: one text per used option and direction.

    Examples
    --------
    >>> effects_of({"duplicate_percent": {"forward": 0, "reverse": 0.5}, "ack_slot_ms": 5})
    ['acknowledgements in slots of 5 ms', '0.5 % of packets twice (reverse)']
    """
    texts = []
    for option in (option for option in LINK_OPTIONS if option.used(link)):
        effect = OPTION_EFFECTS[option.name]
        if option.by_direction:
            values = {way: option.of(link, way) for way in DIRECTIONS}
            write = effect if callable(effect) else effect.format
            texts += [write(value, way=way) for way, value in values.items() if value is not None]
        else:
            value = link[option.name]
            texts.append(effect(value) if callable(effect) else effect.format(value))
    return texts
