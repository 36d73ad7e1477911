"""Changes in ns-3 releases that may affect BBR, CUBIC or Reno, from ns-3's RELEASE_NOTES.md, with issue numbers."""

CHANGES = {
    (3, 40): "nothing in TCP",
    (3, 41): (
        "BBR: a wrong update of the delivery rate's samples (#1026, TcpRateLinux); TCP: several fixes of retransmission "
        "(!1812); CUBIC: as friendly as Reno by default (#1001)"
    ),
    (3, 42): (
        "BBR: invalid samples are dropped (#735), pacing 1 % below the estimate (#580); CUBIC and Reno: cwnd doesn't "
        "grow while the application is the limit (#966); CUBIC: a timeout no longer resets W_max (#1085)"
    ),
    (3, 43): (
        "BBR: the lowest RTT (#1043); TCP: choice of the next segment during recovery (#805, NextSeg), bytes "
        "acknowledged (#1126), HyStart's first round (#1113); PRR as in the newer draft (!2059)"
    ),
    (3, 44): "nothing in TCP",
}


def changes_between(older: tuple[int, ...], newer: tuple[int, ...]) -> list[str]:
    """Return the changes since ``older``, up to and including ``newer``, one text per release: "3.41: ..."."""
    between = [version for version in CHANGES if older < version <= newer]
    return [f"{'.'.join(map(str, version))}: {CHANGES[version]}" for version in between] or ["not known"]
