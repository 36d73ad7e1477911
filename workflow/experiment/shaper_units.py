"""Rates and bucket sizes in the units in which tc and Linux's shapers and policers store them.

Sources: include/uapi/linux/pkt_sched.h of Linux 7.2, tc/tc_core.c of iproute2 7.3. This module uses only the standard library.
"""

#: Resolution of a rate: one byte per second, in bit/s.
RATE_STEP_BPS = 8
#: Duration in ns of the packet scheduler's tick (PSCHED_SHIFT). A bucket's size is stored as the ticks that it takes to fill, in 32 bits.
TICK_NS, MOST_TICKS = 64, 2**32 - 1
#: Kind of shaper or policer -> maximum time in ns that its bucket takes to fill. After an idle period, HTB adds the tokens of at most one
#: minute (`mbuffer` in net/sched/sch_htb.c).
MOST_NS = {"htb": 60 * 10**9, "tbf": MOST_TICKS * TICK_NS, "policer": MOST_TICKS * TICK_NS}


def rate_bps(rate_mbps) -> int:
    """Return a rate in bit/s, rounded to whole bytes per second.

    Examples
    --------
    >>> rate_bps(0.133333)
    133336
    """
    return round(rate_mbps * 1e6 / RATE_STEP_BPS) * RATE_STEP_BPS


def most_burst_bytes(shaper, rate_mbps, overhead_bytes=0) -> int:
    """Return the size of the largest bucket of a shaper (a key of `MOST_NS`); the overhead of a packet counts towards the bucket.

    Examples
    --------
    >>> most_burst_bytes("tbf", 1)
    34359738
    """
    return MOST_NS[shaper] * rate_bps(rate_mbps) // (8 * 10**9) - overhead_bytes
