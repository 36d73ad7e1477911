"""Identify the packets that a netem with a loss model dropped, by replaying netem's random numbers.

netem (net/sched/sch_netem.c) gets its random numbers from prandom_u32_state; the seed has been configurable since Linux 6.7. For each
packet, netem draws the numbers that the loss model needs (`experiment.loss_models`). With jitter, it draws another number for each packet
that isn't dropped. The seed and the number of packets therefore determine all losses, so the replay must yield as many drops as the kernel
counted.
"""

import math
from collections.abc import Iterator

from experiment.loss_models import CERTAIN, GilbertElliott
from experiment.timeline import DIRECTIONS
from testbed.checks.check import Check
from testbed.checks.loss_checks import LOSS_FALSE_ALARM, relative_entropy


def random_numbers(seed) -> Iterator[int]:
    """Yield the random numbers that prandom_u32_state returns (lib/random32.c, Tausworthe 113) after prandom_seed_state with the seed."""
    low = ((seed >> 32) ^ (seed << 10) ^ seed) & CERTAIN
    a, b, c, d = (low + least if low < least else low for least in (2, 8, 16, 128))
    while True:
        a = ((a & 4294967294) << 18 & CERTAIN) ^ (((a << 6 & CERTAIN) ^ a) >> 13)
        b = ((b & 4294967288) << 2 & CERTAIN) ^ (((b << 2 & CERTAIN) ^ b) >> 27)
        c = ((c & 4294967280) << 7 & CERTAIN) ^ (((c << 13 & CERTAIN) ^ c) >> 21)
        d = ((d & 4294967168) << 13 & CERTAIN) ^ (((d << 3 & CERTAIN) ^ d) >> 12)
        yield a ^ b ^ c ^ d


def losses(seed, model, jitter) -> Iterator[bool]:
    """Yield, for each packet in order, whether netem drops the packet.

    ``model`` is a `LossModel`, and ``jitter`` states whether netem's delay has jitter.
    """
    number = random_numbers(seed).__next__
    for lost in model.fates(number):
        yield lost
        if jitter and not lost:
            number()


def loss_bursts(specification, document) -> dict[str, dict[str, int]]:
    """Return packet, drop and burst counts during the traffic, for each direction with a loss model.

    Returns
    -------
    dict
        Direction -> counts for all pairs or paths together: ``packets``, the packets that reached netem; ``dropped``, the drops that the
        kernel counted; ``replayed_drops``, the drops in the replay; ``bursts``, the bursts that ended; and ``longest_packets``, the length
        of the longest burst.
    """
    bursts = {}
    for direction in DIRECTIONS:
        effect = specification.direction(direction)
        if effect.loss_model:
            devices = [_of_device(document, name, effect) for name in document["network"]["set"]["netem"][direction]]
            longest = max((one.pop("longest_packets") for one in devices), default=0)
            bursts[direction] = {name: sum(one[name] for one in devices) for name in devices[0]} | {
                "longest_packets": longest
            }
    return bursts


def _of_device(document, name, effect):
    """Return the counts of `loss_bursts` for one device."""
    before, after = (document["links"][when][name] for when in ("before", "after"))
    # Passed packets are counted by the device, because with segmentation offload netem counts the segments of a super-packet.
    came = [at["tx_packets"] + _netem(at)["backlog_packets"] + _netem(at)["drops"] for at in (before, after)]
    seed = document["network"]["set"]["qdiscs"][name]["netem"]["seed"]
    fate = losses(seed, effect.loss_model, bool(effect.jitter_ms))
    for _ in range(came[0]):
        next(fate)
    bursts = longest = length = drops = 0
    for _ in range(came[1] - came[0]):
        if next(fate):
            drops, length = drops + 1, length + 1
        elif length:
            bursts, longest, length = bursts + 1, max(longest, length), 0
    return {
        "packets": came[1] - came[0],
        "dropped": _netem(after)["drops"] - _netem(before)["drops"],
        "replayed_drops": drops,
        "bursts": bursts,
        "longest_packets": max(longest, length),
    }


def _netem(device):
    return device["qdiscs"]["netem"]


def check_loss_bursts(specification, document) -> Check:
    """The loss bursts have the configured mean length, and the replay yields as many drops as the kernel counted.

    Each lost packet is the last of its burst with probability r = 1 / (mean length). If b of n lost packets end a burst, n D(b/n||r)
    exceeds ln(2/a) with a probability of at most a, where D is the relative entropy (`judge_loss`). The length is checked only if all
    packets are lost in the model's bad state and none in its good state.
    """
    wrong, expected, observed = False, [], []
    for direction, seen in document["loss_bursts"].items():
        model, dropped, bursts = specification.direction(direction).loss_model, seen["dropped"], seen["bursts"]
        length = model.burst_packets
        # In other models the probability that a lost packet ends its burst isn't constant.
        geometric = dropped and isinstance(model, GilbertElliott) and model.is_of_bursts
        unlikely = geometric and dropped * relative_entropy(bursts / dropped, 1 / length) > math.log(
            2 / LOSS_FALSE_ALARM
        )
        wrong |= unlikely or dropped != seen["replayed_drops"]
        expected.append(f"{direction} bursts of {length:.6g} packets on average, all drops as determined by the seed")
        mean = f"{bursts} bursts of {dropped / bursts:.4g} packets on average" if bursts else "no completed burst"
        by_seed = "" if dropped == seen["replayed_drops"] else f", but {seen['replayed_drops']} according to the seed"
        observed.append(f"{direction} {mean}, {dropped} packets dropped{by_seed}")
    return Check("loss_bursts", not wrong, "; ".join(expected), "; ".join(observed))
