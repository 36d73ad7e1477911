"""Table II of Kato et al. (2025).

"Detailed Analysis of TCP BBR Implementation in Ns-3 Network Simulator under Heavy Traffic Loads".

The table is about sixteen BBR flows over a 1 Gbit/s bottleneck in ns-3 3.40, with one run per buffer size. Goodputs are compared as shares
of the link's rate, because a study's link rate may differ from the paper's.
"""

#: Name of the paper's claims file.
KATO_PAPER = "kato-bbr-ns3"
RATE_MBPS, FLOWS, VERSION = 1000, 16, "3.40"
# In the paper, a flow starves if its goodput is "less than 1 Mbps" (section III.B); the fair share is 62.5 Mbit/s.
STARVED_SHARE = 1 / 62.5
# Buffer as a percentage of the BDP (around 10,000 packets) -> mean, standard deviation and total in Mbit/s.
TABLE_2 = {
    1: (39.5, 31.0, 632.0),
    5: (35.9, 32.0, 574.8),
    10: (36.1, 28.5, 577.9),
    20: (53.1, 12.7, 850.3),
    50: (56.3, 3.3, 900.2),
}
# A study's buffer size counts as equal to the paper's if the two differ by at most this fraction, because the paper rounds BDPs.
NEAR = 0.1


def paper_row(bdp_percent: float) -> dict[str, float] | None:
    """Return the paper's values for a buffer, or None if the paper doesn't report on this buffer.

    The values are the mean, the standard deviation and the total as percentages of the link's rate, and Jain's index. The index follows
    from the mean and the standard deviation (with the divisor n): 1 / (1 + (sd / mean)^2).
    """
    for percent, (mean, sd, total) in TABLE_2.items():
        if abs(bdp_percent / percent - 1) <= NEAR:
            shares = {"mean_percent": mean, "sd_percent": sd, "total_percent": total}
            shares = {name: 100 * value / RATE_MBPS for name, value in shares.items()}
            return shares | {"jain_index": 1 / (1 + (sd / mean) ** 2)}
    return None
