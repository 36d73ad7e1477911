"""Loss in bursts: the model of Gilbert (1960) and Elliott (1963), given by its mean loss and the mean length of a burst.

A packet is lost while the path is bad, and passes while it is good; before each packet the path becomes bad with a chance p
and good with a chance r. So a share p / (p + r) is lost, in bursts of 1 / r packets in the mean (netem's `loss gemodel`).
"""


def chances(loss, burst_packets) -> tuple[float, float]:
    """Return the chances p and r of a mean loss (a fraction) and a mean burst in packets.

    Examples
    --------
    >>> chances(0.02, 5)
    (0.004081632653061225, 0.2)
    """
    r = 1 / burst_packets
    return r * loss / (1 - loss), r
