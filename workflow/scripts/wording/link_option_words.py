"""Descriptions of link options for tables, the report and the documentation of studies.

They stand here and not with the declarations (`experiment.link_options`), where another word would make runs stale.
"""

from experiment.link_options import LINK_OPTIONS
from experiment.timeline import DIRECTIONS

#: Option, or option and key, -> what it is.
OPTION_WORDS = {
    "jitter_order": (
        "Whether packets of different delay may overtake each other. `any`: they may. `kept`: none does; one that would waits for "
        "the one before, so that the mean delay of packets close behind one another is longer."
    ),
    "ack_slot_ms": (
        "Acknowledgements travel in bunches, as on links that give a sender its turn now and then: on the way back packets leave "
        "only so long after those before, all that are due at once (netem's `slot`). `null`: each when it is due."
    ),
    "loss_burst_packets": (
        "Mean length of a burst of losses (Gilbert 1960, Elliott 1963): the path is good or bad, and loses all while it is bad, so that "
        "`loss_percent` are lost on average. `null`: each packet is lost independently."
    ),
    "reordering": (
        "A share of the packets, each on its own, is held back for a time behind the bottleneck, so that those which come meanwhile "
        "overtake them; nothing is lost. Where packets come so close behind one another that `late_ms` has room for one, `percent` is "
        "the share of reordered packets of RFC 4737, `late_ms` their late time, and the packets that the link carries in it their "
        "reordering extent."
    ),
    "reordering.percent": "Packets that are late. With more than half the others would be those out of order.",
    "reordering.late_ms": "By how much they are late.",
    "reordering.direction": "Which way packets are late, data (`forward`), acknowledgements (`reverse`), or both.",
    "duplicate_percent": (
        "Packets that come twice, one behind the other, behind the bottleneck: each on its own, TCP's and all others."
    ),
    "corrupt_percent": (
        "Packets that come damaged, with one bit flipped at a random place behind the bottleneck: each on its own, TCP's and all others. "
        "Hosts and routers drop those whose checksum is wrong; what falls on the Ethernet header has no effect."
    ),
}
#: Option -> description of a value, for a row of a table.
OPTION_EFFECTS = {
    "jitter_order": "jitter keeps the order",
    "ack_slot_ms": "acknowledgements in slots of {:g} ms",
    "loss_burst_packets": "losses in bursts of {:g} packets ({way})",
    "reordering": "{0[percent]:g} % of packets {0[late_ms]:g} ms late ({0[direction]})",
    "duplicate_percent": "{:g} % of packets twice ({way})",
    "corrupt_percent": "{:g} % of packets damaged ({way})",
}
#: Option -> meaning and source of its count in a run, and the adverb of such packets.
COUNT_WORDS = {
    "reordering": (
        "Of the data's direction, late by `link.reordering`: those that came meanwhile overtook them.",
        "netem: those that left less those that passed at once",
        "late",
    ),
    "duplicate_percent": (
        "Of the data's direction, that came twice by `link.duplicate_percent`; random loss behind may take them again.",
        "netem: those that left less those that arrived",
        "twice",
    ),
    "corrupt_percent": (
        "Of the data's direction, that came damaged by `link.corrupt_percent`, as far as the receivers noticed.",
        "InCsumErrors of their TCP, UDP and ICMP",
        "damaged",
    ),
}
#: Key of a scenario, or option and key, -> why an option can't have another value of it.
REASONS = {
    "transport.segmentation_offload": "a super-packet is many packets",
    "duplicate_percent traffic.protocol": "{application} takes a packet's second copy for a late one",
    "corrupt_percent transport.ecn": "a bit of a packet's mark may flip",
}


def effects_of(link) -> list[str]:
    """Return what the options of a resolved scenario's link do, one text for each that it makes use of, and direction.

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
            texts += [effect.format(value, way=way) for way, value in values.items() if value is not None]
        else:
            texts.append(effect.format(link[option.name]))
    return texts
