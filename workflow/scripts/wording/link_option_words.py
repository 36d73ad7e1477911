"""Descriptions of link options for tables, the report and the documentation of studies.

The descriptions aren't next to the declarations in `experiment.link_options`, because any change to that module makes existing runs stale.
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


#: Option, or a key within an option -> description.
OPTION_WORDS = {
    "reverse_rate_mbps": (
        "Rate of the bottleneck in the acknowledgements' direction, as on an asymmetric access line. In this direction, a queue in BDPs is based on this rate; "
        "a queue in packets or bytes has the same size in both directions. `null`: `rate_mbps`."
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
        "Distribution of the delays, like netem's `distribution`. `uniform`: uniform up to `jitter_ms` from the mean. The other distributions have `jitter_ms` as "
        "standard deviation and reach up to four standard deviations from the mean. The mean delay should therefore be at least four times `jitter_ms`; otherwise short delays are cut off at 0."
    ),
    "jitter_table": (
        "Delays drawn from a file, like netem's `distribution` with a custom table. The file sets the shape of the distribution, `delay_ms` sets the mean, and `jitter_ms` sets the "
        "standard deviation. The mean delay must be long enough that the shortest delay isn't below 0."
    ),
    "jitter_table.file": (
        "Path of a file next to the study's file: measured delays in any unit, one per line. A file whose name ends with `.dist` is a table of netem, whose "
        "numbers are used unchanged."
    ),
    "jitter_table.sha256": "SHA-256 of the file, filled in.",
    "jitter_table.numbers": (
        "The table in units of 1/8,192 of `jitter_ms` relative to `delay_ms`, filled in. If there are more than 4,096 delays, the table contains 4,096 quantiles. Values reach up to four standard deviations from the mean."
    ),
    "jitter_order": (
        "Whether packets with different delays may overtake each other. `any`: yes. `kept`: no; each packet waits for "
        "the previous packet, so the mean delay of packets at short intervals is longer."
    ),
    "ack_slot_ms": (
        "Time between bunches of acknowledgements, as on links on which senders take turns. In the reverse direction, packets leave only at "
        "this interval, and all packets that are due leave together (netem's `slot`). `null`: each packet leaves when it is due."
    ),
    "data_slot_ms": "Time between bunches of data packets, as over a radio link that sends at intervals (netem's `slot`). `null`: each packet leaves when it is due.",
    "loss_burst_packets": (
        "Mean length of a burst of losses (Gilbert 1960, Elliott 1963): the path is good or bad and loses all packets while it is bad. "
        "On average, the path loses `loss_percent` of the packets. `null`: each packet is lost independently."
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
        "netem's correlations: each random number is mixed with the previous random number. Losses, damage and late packets therefore become rarer than configured if "
        "their probability is below one half: a loss of 1 % with a correlation of 25 % loses one packet in 400,000. The actual share is calculated and checked. A correlation of "
        "delays has hardly any effect."
    ),
    "correlation.loss_percent": "Correlation of random losses, as in netem's `loss 1% 25%`.",
    "correlation.delay_percent": "Correlation of delays, as in `delay 10ms 5ms 25%`. It is set and read back, but has hardly any effect unless `jitter_ms` is in the hundreds.",
    "correlation.corrupt_percent": "Correlation of damaged packets, as in `corrupt 1% 25%`.",
    "correlation.reorder_percent": "Correlation of packets that pass at once, as in `reorder 25% 50%`.",
    "correlation.direction": "Direction in which numbers are correlated: data (`forward`), acknowledgements (`reverse`), or both.",
    "reordering": (
        "Late packets: packets that are drawn independently and held back behind the bottleneck, so that later packets overtake them. Nothing is "
        "lost. If packets follow each other within `late_ms`, these are the reordered packets of RFC 4737: `percent` is their share, `late_ms` is their late time, "
        "and the number of packets that the link carries in this time is their reordering extent."
    ),
    "reordering.percent": "Share of late packets. netem's `reorder 25%`, with which 25 % of the packets pass at once and overtake the others, is a `percent` of 75.",
    "reordering.late_ms": "Extra delay of late packets.",
    "reordering.gap_packets": (
        "netem's `gap`: after a packet that passed at once, at least the next `gap_packets` - 1 packets are late. Each further packet is late with probability `percent`."
    ),
    "reordering.direction": "Direction in which packets are late: data (`forward`), acknowledgements (`reverse`), or both.",
    "duplicate_percent": (
        "Share of packets that are duplicated behind the bottleneck. Each packet is drawn independently, whatever its protocol."
    ),
    "corrupt_percent": (
        "Share of packets in which one random bit is flipped behind the bottleneck. Each packet is drawn independently, whatever its protocol. "
        "Hosts and routers drop packets with a wrong checksum. A flipped bit in the Ethernet header has no effect."
    ),
}
#: Option -> description of a value, for use in a table.
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
#: Option -> meaning and source of the number of packets that the option affected in a run, and a word for these packets.
COUNT_WORDS = {
    "reordering": (
        "Packets in the data's direction made late by `link.reordering`; packets that arrived in the meantime overtook the late packets.",
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
#: Key of a scenario, or option and key -> reason why the option requires a certain value for the key.
REASONS = {
    "transport.segmentation_offload": "a super-packet is many packets",
    "duplicate_percent traffic.protocol": "{application} mistakes a packet's second copy for a late packet",
    "corrupt_percent transport.ecn": "a bit of a packet's mark may flip",
}


def effects_of(link) -> list[str]:
    """Return descriptions of the link options that a resolved scenario uses: one text per option and direction.

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
