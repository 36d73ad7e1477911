"""The effects of a link on packets, as settings for tc: a bottleneck, or delay and loss.

A `Bottleneck` or a `Netem` provides the commands that set up the effect and the values to be read back from the kernel. `parse_qdiscs`
converts tc's JSON to the same units.
"""

from dataclasses import dataclass, field, replace

from experiment.disciplines import OF_KIND, completed, discipline_of
from experiment.link_options import CORRELATED, LINK_OPTIONS
from experiment.loss_models import LossModel, read_model
from experiment.packet_sizes import PACKET_BYTES
from experiment.shaper_units import TICK_NS, rate_bps

#: netem's limit where netem only delays packets: more packets than any emulated path can hold.
NETEM_LIMIT_PACKETS = 1_000_000
#: Transmission time in ns of a byte at 1 bit/s.
NS_OF_A_BYTE = 8 * 10**9
#: Maximum quantum that htb accepts without a warning (sch_htb.c). It is also the limit of tbf's own queue, which is replaced anyway.
MOST_QUANTUM = 200_000
#: Limit of a host's own queue: fq's default.
HOST_QUEUE_PACKETS = 10_000
#: Number of decimals of a percentage that tc passes to the kernel (`LossModel.words`).
CHANCE_DIGITS = 7
#: A rate that makes netem keep packets in order, as any rate does. The serialisation delay at this rate is tiny (0.4 us for a full packet).
IN_ORDER_MBPS = 32_000


@dataclass(frozen=True)
class Bottleneck:
    """A rate limit with a queue: an htb class with the queueing discipline as its child.

    Exactly one of ``queue_packets`` and ``queue_bytes`` is set. ``queue`` is the scenario's queue, with the discipline and its
    parameters. ``packet_bytes`` is the size of a full packet. ``overhead_bytes`` is added to the size of each frame when the rate is
    applied.

    ``burst_bytes`` is the amount that htb may send at once after an idle period. By default it is one packet, because the guest's timers
    are exact. With segmentation offload it is one super-packet, and under a real clock at least the data of one millisecond.
    """

    #: Kind of the qdisc that limits the rate.
    shaper = "htb"

    rate_mbps: float
    queue_packets: int | None
    queue_bytes: int | None
    burst_bytes: int = PACKET_BYTES
    overhead_bytes: int = 0
    queue: dict = field(default_factory=dict)
    packet_bytes: int = PACKET_BYTES

    @property
    def kind_and_limit(self) -> tuple[str, int]:
        """Kind of the queue's qdisc, and the limit in the unit of that kind (packets or bytes)."""
        discipline, given = discipline_of(self.queue), "bytes" if self.queue_packets is None else "packets"
        counted = discipline.counts_in(given)
        limit = self.queue_bytes if self.queue_packets is None else self.queue_packets
        return discipline.kinds[counted], limit if counted == given else limit * self.packet_bytes

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        queue = discipline_of(self.queue).command(*self.kind_and_limit, self.queue, self.packet_bytes)
        return [*self.shaper_commands(device), f"qdisc replace dev {device} parent 1:1 handle 10: {queue}"]

    def shaper_commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch`` that set the rate."""
        burst = f"burst {self.burst_bytes} cburst {self.burst_bytes} quantum {max(PACKET_BYTES, min(self.burst_bytes, MOST_QUANTUM))}"
        return [
            f"qdisc replace dev {device} root handle 1: htb default 1",
            f"class replace dev {device} parent 1: classid 1:1 htb rate {self._rate} ceil {self._rate} {burst}{self._overhead}",
        ]

    @property
    def _rate(self):
        return f"{rate_bps(self.rate_mbps)}bit"

    @property
    def _overhead(self):
        return f" overhead {self.overhead_bytes}" if self.overhead_bytes else ""

    def commands_above(self, netem, device) -> list[str]:
        """Return the lines for ``tc -batch`` if the queue is a `Netem`."""
        return [*self.shaper_commands(device), *netem.commands(device, "parent 1:1")]

    def expected_above(self, netem) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back` if the queue is a `Netem`."""
        return self.expected_shaper() | netem.expected()

    def expected_shaper(self) -> dict[str, dict]:
        """Return the part of `expected` that concerns the rate."""
        return {"htb": {"rate_bps": rate_bps(self.rate_mbps), "overhead_bytes": self.overhead_bytes}}

    def expected(self) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back`."""
        kind, limit = self.kind_and_limit
        return self.expected_shaper() | {kind: discipline_of(self.queue).expected(limit, self.queue, self.packet_bytes)}


@dataclass(frozen=True)
class TokenBucket(Bottleneck):
    """A bottleneck implemented with tbf, as in Mininet's TCLink with ``use_tbf``: a token bucket with a queue below."""

    shaper = "tbf"

    def shaper_commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch`` that set the rate and replace tbf's own queue."""
        words = f"rate {self._rate} burst {self.burst_bytes} limit {MOST_QUANTUM}{self._overhead}"
        return [f"qdisc replace dev {device} root handle 1: tbf {words}"]

    def expected_shaper(self) -> dict[str, dict]:
        """Return the part of `expected` that concerns the rate and the bucket."""
        rate = rate_bps(self.rate_mbps)
        # The kernel stores the time that the bucket's bytes take at the rate, and reports this time in ticks.
        ticks = (self.burst_bytes + self.overhead_bytes) * NS_OF_A_BYTE // rate // TICK_NS
        return {"tbf": {"rate_bps": rate, "burst_bytes": ticks * TICK_NS * rate // NS_OF_A_BYTE}}


@dataclass(frozen=True)
class NetemRate(Bottleneck):
    """A bottleneck implemented with netem's own rate.

    Packets that wait because of the rate count towards netem's limit.
    """

    shaper = "netem"

    @property
    def kind_and_limit(self) -> tuple[str, int]:
        """The same as `Bottleneck.kind_and_limit`."""
        return "netem", self.queue_packets

    def _with_rate(self, netem):
        return replace(netem, rate_mbps=self.rate_mbps, overhead_bytes=self.overhead_bytes)

    @property
    def _alone(self):
        return self._with_rate(Netem(delay_ms=0, jitter_ms=0, loss_percent=0, seed=1, limit_packets=self.queue_packets))

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        return self._alone.commands(device)

    def expected(self) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back`."""
        return self._alone.expected()

    def commands_above(self, netem, device) -> list[str]:
        """Return the lines for ``tc -batch`` that set up a single netem with the rate, the queue, and the effects of ``netem``."""
        return self._with_rate(netem).commands(device)

    def expected_above(self, netem) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back` for the netem of `commands_above`."""
        return self._with_rate(netem).expected()


#: `link.shaper` -> class that limits the rate.
SHAPERS = {one.shaper: one for one in (Bottleneck, TokenBucket, NetemRate)}


@dataclass(frozen=True)
class Netem:
    """Delay, jitter and random loss of one direction, with a separate seed.

    ``options`` are the link's options that the netem implements (`link_options.options_at`). With a ``rate_mbps`` each packet is also
    delayed by its serialisation delay, as on a cable: its length plus ``overhead_bytes``, divided by the rate. Behind a bottleneck with
    the same rate, packets never queue in this netem.
    """

    delay_ms: float
    jitter_ms: float
    loss_percent: float
    seed: int
    limit_packets: int = NETEM_LIMIT_PACKETS
    rate_mbps: float | None = None
    overhead_bytes: int = 0
    loss_model: LossModel | None = None
    options: dict = field(default_factory=dict)
    #: Effect (`link_options.CORRELATED`) -> correlation in percent.
    correlations: dict = field(default_factory=dict)

    @property
    def does_something(self) -> bool:
        return bool(self.delay_ms or self.jitter_ms or self.loss_percent or self.rate_mbps is not None or self.options)

    def commands(self, device, parent="root") -> list[str]:
        """Return the lines for ``tc -batch``."""
        delay = f"delay {self.delay_ms:.6f}ms"
        if self.jitter_ms:
            delay += f" {self.jitter_ms:.6f}ms{self._correlated('delay')}"
        loss = f" loss random {self.loss_percent:.7f}%{self._correlated('loss')}" if self.loss_percent else ""
        if self.loss_model:
            loss = f" loss {self.loss_model.words}"
        if self.rate_mbps is not None:
            loss += f" rate {rate_bps(self.rate_mbps)}bit {self.overhead_bytes}"
        options = (
            option.written(value, self.correlations.get(option.correlated)) for option, value in self.options.items()
        )
        words = [f"{delay}{loss}", *options]
        return [
            f"qdisc replace dev {device} {parent} handle 20: netem limit {self.limit_packets} "
            f"{' '.join(words)} seed {self.seed}"
        ]

    def expected(self) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back`."""
        return {
            "netem": {
                "delay_ms": self.delay_ms,
                "jitter_ms": self.jitter_ms,
                "loss_percent": self.loss_percent,
                "limit": self.limit_packets,
                "seed": self.seed,
                **self._expected_model(),
                **self._expected_options(),
                **{f"{what}_correlation_percent": percent for what, percent in self.correlations.items()},
                **self._expected_rate(),
            }
        }

    def _correlated(self, what):
        return f" {self.correlations[what]:.7f}%" if what in self.correlations else ""

    def _expected_model(self):
        if not self.loss_model:
            return {}
        stored = self.loss_model.stored
        told = {"loss_percent": 100 * stored.share} | stored.told
        return {name: round(value, CHANCE_DIGITS) for name, value in told.items()}

    def _expected_options(self):
        return {name: value for option, asked in self.options.items() for name, value in option.expected(asked).items()}

    def _expected_rate(self):
        if self.rate_mbps is None:
            return {}
        return {"rate_bps": rate_bps(self.rate_mbps), "overhead_bytes": self.overhead_bytes}


@dataclass(frozen=True)
class ShapedNetem:
    """A rate limit with a netem as the queue, as in Mininet's TCLink, or a netem that also limits the rate.

    Delayed packets count towards netem's limit.
    """

    bottleneck: Bottleneck
    netem: Netem

    @property
    def kind_and_limit(self) -> tuple[str, int]:
        """The same as `Bottleneck.kind_and_limit`."""
        return "netem", self.netem.limit_packets

    @property
    def burst_bytes(self) -> int:
        """The same as `Bottleneck.burst_bytes`."""
        return self.bottleneck.burst_bytes

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        return self.bottleneck.commands_above(self.netem, device)

    def expected(self) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back`."""
        return self.bottleneck.expected_above(self.netem)


@dataclass(frozen=True)
class HostQueue:
    """A queueing discipline on a host's own interface, with the kernel's default parameters and without a rate."""

    discipline: str

    @property
    def kind_and_limit(self) -> tuple[str, int]:
        """The same as `Bottleneck.kind_and_limit`."""
        return OF_KIND[self.discipline].kinds["packets"], HOST_QUEUE_PACKETS

    def _queue(self):
        return completed({"discipline": self.discipline, "packets": HOST_QUEUE_PACKETS})

    def commands(self, device) -> list[str]:
        """Return the lines for ``tc -batch``."""
        words = OF_KIND[self.discipline].command(*self.kind_and_limit, self._queue(), PACKET_BYTES)
        return [f"qdisc replace dev {device} root handle 30: {words}"]

    def expected(self) -> dict[str, dict]:
        """Return the expected result of `links.EmulatedInterface.read_back`."""
        kind, limit = self.kind_and_limit
        return {kind: OF_KIND[self.discipline].expected(limit, self._queue(), PACKET_BYTES)}


def parse_qdiscs(qdiscs, classes) -> dict[str, dict]:
    """Convert tc's JSON to the units of a specification.

    ``qdiscs`` and ``classes`` are the output of ``tc -j qdisc show`` and ``tc -j class show`` for one device. Returns the parameters by
    the qdisc's kind: rates in bit/s, times in ms, loss in percent.
    """
    parsed = {}
    for qdisc in qdiscs:
        kind, options = qdisc["kind"], qdisc.get("options", {})
        if kind == "htb":
            # tc prints rates in bytes per second.
            parsed[kind] = (
                {"rate_bps": round(classes[0]["rate"] * 8), "overhead_bytes": classes[0].get("overhead", 0)}
                if classes
                else {}
            )
        elif kind == "tbf":
            # With -details, tc prints "1513b/1": the burst in bytes and the cell size in bytes.
            burst_bytes = int(f"{options['burst']}".partition("b")[0])
            parsed[kind] = {"rate_bps": round(options["rate"] * 8), "burst_bytes": burst_bytes}
        elif kind in OF_KIND:
            parsed[kind] = OF_KIND[kind].parsed(qdisc)
        elif kind == "netem":
            delay = options.get("delay", {})
            parsed[kind] = {
                "delay_ms": delay.get("delay", 0) * 1e3,
                "jitter_ms": delay.get("jitter", 0) * 1e3,
                **parse_loss(options),
                "limit": options["limit"],
                "seed": options.get("seed"),
                **{name: value for option in LINK_OPTIONS for name, value in option.read(options).items()},
                **parse_correlations(options),
                **parse_rate(options.get("rate")),
            }
        else:
            parsed[kind] = {}
    return parsed


def parse_loss(options) -> dict[str, float]:
    """Return the loss from netem's options: the mean loss in percent, and a loss model's other values."""
    if model := read_model(options):
        return {"loss_percent": 100 * model.share, **model.told}
    return {"loss_percent": options.get("loss-random", {}).get("loss", 0) * 100}


def parse_correlations(options) -> dict[str, float]:
    """Return the non-zero correlations from netem's options in percent, by their names in `Netem.expected`."""
    told = (
        (what, options.get("loss-random" if what == "loss" else what, {}).get("correlation")) for what in CORRELATED
    )
    return {f"{what}_correlation_percent": 100 * value for what, value in told if value}


def parse_rate(rate) -> dict[str, int]:
    """Return the rate and frame overhead from netem's options, with the names in `Netem.expected`; empty without a rate."""
    if not rate:
        return {}
    return {"rate_bps": round(rate["rate"] * 8), "overhead_bytes": rate["packetoverhead"]}
