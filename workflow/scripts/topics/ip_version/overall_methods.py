"""How both IP versions are compared over the whole study, and with what."""

POOLED = "Mann-Whitney, pooled"
VAN_ELTEREN = "van Elteren, by cell"
ALIGNED = "aligned ranks, by pair and cell"
EQUAL = "equal"
MSS_RATIO = "ratio of the MSSs"
# What `statistic` is, and what the test takes for independent.
METHODS = {
    POOLED: "U of the IPv4 values; every run counts as independent, whatever its scenario and CCA",
    VAN_ELTEREN: (
        "z, positive where IPv6 ranks higher; runs of a cell count as independent, so with common "
        "seeds it rejects less often than it may"
    ),
    ALIGNED: ("z, positive where IPv6 ranks higher; compares runs of the same seed, as the experiment was designed"),
}
