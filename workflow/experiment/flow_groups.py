"""Groups of flows: application, hosts, start and end.

A study's ``flows`` is either a list of such groups, or the number of flows that last for the entire run. Long flows (``iperf3``) are
numbered consecutively across the groups; web objects, real-time streams and programs are in separate sections of the run document.
"""

from dataclasses import dataclass

#: Values of a group's `application`.
LONG, WEB, REAL_TIME, PROGRAM = "iperf3", "web", "real-time", "program"
#: Value of `direction` for a group that sends data in the opposite direction.
REVERSE = "reverse"
#: Value of a group's `cca` that stands for the CCA of the run.
OWN = "own"
#: TCP port of the first group's web server, UDP port of the first group's first stream, and number of UDP ports reserved for each group.
WEB_PORT, REAL_TIME_PORT, STREAMS_OF_A_GROUP = 8001, 9001, 64


@dataclass(frozen=True)
class FlowGroup:
    """A flow group of a resolved scenario (``workflow/schemas/study.schema.yaml``, ``flow_group``)."""

    name: str
    application: str
    cca: str
    count: int
    pair: int | None
    ecn: str | None
    start_s: float
    stop_s: float | None
    rate_mbps: float | None
    on_s: int | None
    off_s: float | None
    arrivals_per_s: float | None
    sizes: str
    bytes: int | None
    packet_bytes: int
    interval_ms: float
    #: A specification omits the following fields if they have their default values.
    direction: str = "forward"
    program: dict | None = None

    @property
    def on_times_s(self) -> list[tuple[float, float]]:
        """Start and end times in s of the group's long flows: one period, or several periods separated by pauses."""
        if self.on_s is None:
            return [(self.start_s, self.stop_s)]
        # Decimal fractions, so that ten times 0.1 is exactly 1.
        # Imported here because runs without groups don't need the module.
        from fractions import Fraction

        begin, on, off, stop = (Fraction(str(value)) for value in (self.start_s, self.on_s, self.off_s, self.stop_s))
        times = []
        while begin + on <= stop:
            times.append((float(begin), float(begin + on)))
            begin += on + off
        return times


@dataclass(frozen=True)
class LongFlow:
    """An iperf3 flow.

    ``number`` and ``pair`` count from 0. ``group`` is the group's name, or None in a run without groups. ``rate_mbps`` is the limit on the
    client's sending rate.
    """

    number: int
    group: str | None
    cca: str
    pair: int
    start_s: float
    stop_s: float
    rate_mbps: float | None
    direction: str = "forward"

    @property
    def length_s(self) -> float:
        """Sending time in s."""
        return self.stop_s - self.start_s


def long_flows(groups, flows, ccas, pairs, duration_s, bitrate_mbps) -> list[LongFlow]:
    """Return the long flows of a run.

    Parameters
    ----------
    groups : list of FlowGroup
        The run's groups. If the list is empty, the run has ``flows`` identical flows of ``duration_s`` each, with the rate limit
        ``bitrate_mbps`` (None: no limit).
    ccas : list of str
        The run's CCAs, which are assigned to the flows in turn.
    pairs : int
        Number of host pairs per direction. Flows are assigned to the pairs in turn. The numbers of the ``reverse`` pairs follow those of
        the ``forward`` pairs.
    """
    if not groups:
        return [
            LongFlow(number, None, ccas[number % len(ccas)], number % pairs, 0, duration_s, bitrate_mbps)
            for number in range(flows)
        ]
    long_ones, own = [], 0
    for group in (group for group in groups if group.application == LONG):
        for member in range(group.count):
            cca = ccas[own % len(ccas)] if group.cca == OWN else group.cca
            own += group.cca == OWN
            pair = (len(long_ones) if group.on_s is None else member) % pairs if group.pair is None else group.pair - 1
            pair += pairs * (group.direction == REVERSE)
            for start_s, stop_s in group.on_times_s:
                number = len(long_ones)
                long_ones.append(
                    LongFlow(number, group.name, cca, pair, start_s, stop_s, group.rate_mbps, group.direction)
                )
    return long_ones
