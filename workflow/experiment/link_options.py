"""The options of a link: each is declared once, here.

A declaration determines:

- the key of a study's `link` and its error messages (`study_files.link_keys`, `study_link_options`);
- netem's arguments for tc and the values to be read back (`emulation`);
- the position in the network (`topology`);
- the check (`link_option_checks`);
- the kernel features that a host needs;
- the error message for ns-3.

A specification contains the key only if the option is used. The descriptions are in `wording.link_option_words`, where an edit doesn't
make any run stale.
Sources: net/sched/sch_netem.c and include/uapi/linux/pkt_sched.h of Linux 7.2, tc/q_netem.c of iproute2 7.3.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from experiment.delay_tables import LARGEST, MOST_NUMBERS, NAME
from experiment.loss_models import FourStates, GilbertElliott, LossModel
from experiment.netem_correlation import correlated_share
from experiment.packet_sizes import LARGEST_MTU_BYTES, MTU_BYTES
from experiment.timeline import DIRECTIONS, directions_of

#: Positions of an option. ``PATH`` is the netem for the path's delay and loss. ``ARRIVALS`` is a separate netem on a dumbbell, the first
#: one that packets pass after the bottleneck.
PATH, ARRIVALS = "path", "arrivals"
#: Requirements on other keys of the scenario (key -> allowed values): for each position, and for options that keep packets in order.
NEEDS_OF_PLACE = {PATH: {}, ARRIVALS: {"topology": ("dumbbell",), "transport.segmentation_offload": (False,)}}
IN_ORDER = {
    "link.netem": ("receiving-side",),
    "transport.segmentation_offload": (False,),
    "topology": ("dumbbell", "cable"),
}

#: Requirements of options that change the shaper or its bucket.
SHAPED = {"topology": ("dumbbell",), "link.timeline": ([],), "link.trace": (None,), "link.reverse_trace": (None,)}


#: Minimum probability in percent; percentages are passed to tc with seven decimal places (`LossModel.words`).
LEAST_CHANCE_PERCENT = 1e-6
#: netem's arguments for slots: equally spaced instants at which packets leave.
SLOT = "slot {0:.6f}ms {0:.6f}ms"
#: Arguments of `LinkOption` shared by all loss models: one value per direction, and requirements.
OF_LOSS = {"by_direction": True, "needs": {"link.netem": ("receiving-side",), "topology": ("dumbbell", "cable")}}

#: Effects that netem can correlate. tc accepts a correlation for duplicates too, but doesn't pass it to the kernel (tc/q_netem.c of
#: iproute2 7.3).
CORRELATED = ("loss", "delay", "corrupt", "reorder")


@dataclass(frozen=True, eq=False)
class LinkOption:
    """An option of a link: its key, values, requirements, arguments for tc, read-back and check."""

    name: str  # the option's key in a study's `link`
    value: dict  # JSON Schema of the value, without descriptions
    default: object = None  # the value that has no effect
    by_direction: bool = False  # whether a study may give one value for each direction
    behind: str = ""  # key of `link` after which the option is listed; empty if it is listed last
    place: str = PATH  # `PATH` or `ARRIVALS`
    # Values that the option requires of other keys in the scenario, in addition to `NEEDS_OF_PLACE`: key -> allowed values.
    needs: dict = field(default_factory=dict)
    words: str = ""  # format of the arguments for tc(8); empty if the option needs no separate argument of netem
    key: tuple = ()  # keys that lead to the option's number in tc's JSON
    factor: float = 100  # factor by which the number in tc's JSON is multiplied
    told: str = ""  # name of the value read back; empty if it is the option's name
    given: Callable = lambda value: value  # value -> number passed to netem
    delay_ms: Callable = lambda value: 0  # value -> delay that the option's netem needs
    idle_ms: Callable = lambda value: 0  # value -> maximum delay in ms of a packet on an idle path
    check: str = ""  # name of the check on the packet count (`link_option_counts`); empty if nothing is counted
    column: str = ""  # column in the table of runs for the packet count in the direction of the data
    percent: Callable = lambda value: value  # value -> percentage of packets that the option affects
    only: str = ""  # the only direction to which the option can apply; empty if it can apply to both
    correlated: str = ""  # name of the option's effect in `CORRELATED`
    more_words: Callable = lambda value: ""  # value -> further arguments for tc(8), after the correlation
    of_jitter: bool = False  # whether the option only modifies jitter

    @property
    def all_needs(self) -> dict[str, tuple]:
        """All values that the option requires of other keys in the scenario: key -> allowed values."""
        return NEEDS_OF_PLACE[self.place] | self.needs

    @property
    def none(self) -> object:
        """The value of the option's key in a resolved study that doesn't use the option."""
        return dict.fromkeys(DIRECTIONS, self.default) if self.by_direction else self.default

    def used(self, link) -> bool:
        """Return whether the link of a resolved scenario or a specification uses the option."""
        return link.get(self.name, self.none) != self.none

    def of(self, link, direction) -> object:
        """Return the option's value in a direction, or None if the option has no effect in this direction."""
        if not self.used(link) or (self.of_jitter and not link["jitter_ms"][direction]):
            return None
        value = link[self.name]
        if self.by_direction:
            return None if value[direction] == self.default else value[direction]
        if self.only:
            return value if direction == self.only else None
        of_all = not isinstance(value, dict) or "direction" not in value
        return value if of_all or direction in directions_of(value) else None

    def written(self, value, correlation=0) -> str:
        """Return the arguments of tc(8) that set a value; ``correlation`` is in percent."""
        correlated = f" {correlation:.7f}%" if correlation else ""
        return self.words.format(self.given(value)) + correlated + self.more_words(value)

    def expected(self, value) -> dict[str, float]:
        """Return the expected read-back of a value, by name; empty if the kernel doesn't report the option."""
        return {} if not self.key else {self.told or self.name: self.given(value)}

    def read(self, options) -> dict[str, float]:
        """Return the value read back from netem's options in tc's JSON, by name; empty if tc doesn't report the option."""
        for step in self.key:
            options = options.get(step, {})
        return {self.told or self.name: options * self.factor} if isinstance(options, (int, float)) else {}


def number_schema(unit, least, most, null=False, above=False, below=False) -> dict:
    """Return the JSON Schema of a number with a unit.

    ``above`` excludes the lower limit, ``below`` excludes the upper limit, and ``null`` allows null.
    """
    limits = {"exclusiveMinimum" if above else "minimum": least, "exclusiveMaximum" if below else "maximum": most}
    return {"type": ["number", "null"] if null else "number", "unit": unit, **limits}


def _chances(above=(), **defaults) -> dict:
    """Return the JSON Schema of a loss model with the given probabilities.

    Probabilities with the default None are required. Probabilities named in ``above`` must exceed 0.
    """
    keys = {
        f"{name}_percent": number_schema("percent", LEAST_CHANCE_PERCENT if name in above else 0, 100)
        | ({} if default is None else {"default": default})
        for name, default in defaults.items()
    }
    required = [f"{name}_percent" for name, default in defaults.items() if default is None]
    example = ", ".join(f"{key}: {10 if key.startswith('r') or key == 'p31_percent' else 1}" for key in required)
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "required": required,
        "allowed": f"a mapping such as {{{example}}}, or null",
        "properties": keys,
    }


def late_percent(value) -> float:
    """Return the percentage of packets that `reordering` delays.

    If a gap is set, at least ``gap_packets`` - 1 late packets follow each packet that isn't late.
    """
    at_once = 1 - value["percent"] / 100
    return 100 * (1 - 1 / (value.get("gap_packets", 1) - 1 + 1 / at_once))


#: Delay distribution -> maximum deviation from the mean delay, in units of the jitter. netem's tables end at four standard deviations.
JITTER_REACH = {"uniform": 1, "normal": 4, "pareto": 4, "paretonormal": 4}

LINK_OPTIONS = (
    LinkOption(
        "reverse_rate_mbps", number_schema("Mbit/s", 0.01, 20_000, null=True), behind="rate_mbps", only="reverse",
        needs={"topology": ("dumbbell",), "link.netem": ("receiving-side",)},
    ),
    LinkOption("shaper", {"enum": ["htb", "tbf", "netem"]}, default="htb", behind="reverse_rate_mbps", needs=SHAPED),
    LinkOption(
        "shaper_burst_bytes", {**number_schema("bytes", 1514, 100_000_000, null=True), "type": ["integer", "null"]}, behind="shaper",
        needs=SHAPED | {"link.shaper": ("htb", "tbf"), "link.policer": (None,)},
    ),
    LinkOption(
        "mtu_bytes", {**number_schema("bytes", 576, LARGEST_MTU_BYTES), "type": "integer"}, default=MTU_BYTES, behind="shaper_burst_bytes",
        needs={
            "topology": ("dumbbell", "cable"), "link.trace": (None,), "link.reverse_trace": (None,), "multipath.by": ("none",),
            "hosts.qdisc": ("none",), "transport.segmentation_offload": (False,), "background": ("none",),
        },
    ),
    # The kernel doesn't report the table from which netem draws. Only the probe packets' delays show the distribution.
    LinkOption(
        "jitter_distribution", {"enum": list(JITTER_REACH)}, default="uniform", behind="loss_percent", of_jitter=True,
        needs={"link.netem": ("receiving-side",), "topology": ("dumbbell", "cable")}, words="distribution {}",
    ),
    LinkOption(
        "jitter_table",
        {
            "type": ["object", "null"],
            "additionalProperties": False,
            "allowed": "a mapping such as {file: delays.txt}, or null",
            "properties": {
                "file": {"type": ["string", "null"], "maxLength": 200, "default": None},
                "sha256": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$", "maxLength": 64, "default": None},
                "numbers": {
                    "type": ["array", "null"], "minItems": 2, "maxItems": MOST_NUMBERS, "default": None, "allowed": "a list of whole numbers, or null",
                    "items": {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST},
                },
            },
        },
        behind="jitter_distribution", of_jitter=True,
        needs={
            "link.netem": ("receiving-side",), "topology": ("dumbbell", "cable"), "link.jitter_distribution": ("uniform",),
            "link.reordering": (None,), "link.ack_slot_ms": (None,), "link.data_slot_ms": (None,),
        },
        words=f"distribution {NAME}",
    ),
    LinkOption("jitter_order", {"enum": ["any", "kept"]}, default="any", behind="jitter_table", needs=IN_ORDER),
    LinkOption(
        "ack_slot_ms", number_schema("ms", 0.1, 1000, null=True), behind="jitter_order", only="reverse",
        needs=IN_ORDER | {"traffic.application": ("iperf3", "ftp")},
        words=SLOT, key=("slot", "min-delay"), factor=1e3, told="slot_ms",
        # On an idle path a packet may arrive before its slot begins, and wait for the slot.
        idle_ms=lambda value: value,
    ),
    LinkOption(
        "data_slot_ms", number_schema("ms", 0.1, 1000, null=True), behind="ack_slot_ms", only="forward",
        needs=IN_ORDER | {"traffic.application": ("iperf3", "ftp")},
        words=SLOT, key=("slot", "min-delay"), factor=1e3, told="slot_ms", idle_ms=lambda value: value,
    ),
    LinkOption("loss_burst_packets", number_schema("packets", 1, 10_000, null=True), behind="data_slot_ms", **OF_LOSS),
    LinkOption("loss_gemodel", _chances(("p", "r"), p=None, r=None, bad_loss=100, good_loss=0), behind="loss_burst_packets", **OF_LOSS),
    LinkOption("loss_state", _chances(("p31",), p13=None, p31=None, p32=0, p23=100, p14=0), behind="loss_gemodel", **OF_LOSS),
    LinkOption(
        "correlation",
        {
            "type": ["object", "null"],
            "additionalProperties": False,
            "allowed": "a mapping such as {loss_percent: 25}, or null",
            "properties": {f"{what}_percent": number_schema("percent", 0, 99) | {"default": 0} for what in CORRELATED}
            | {"direction": {"enum": ["forward", "reverse", "both"], "default": "both"}},
        },
        behind="loss_state",
        needs={
            "topology": ("dumbbell",), "link.netem": ("receiving-side",), "link.timeline": ([],), "multipath.by": ("none",),
            "transport.segmentation_offload": (False,),
        },
    ),
    # netem's `reorder` is the share of packets that pass without delay. The option's percentage is the share of late packets.
    LinkOption(
        "reordering",
        {
            "type": ["object", "null"],
            "additionalProperties": False,
            "allowed": "a mapping such as {percent: 1, late_ms: 5}, or null",
            "properties": {
                "percent": number_schema("percent", LEAST_CHANCE_PERCENT, 100, below=True) | {"default": 1},
                "late_ms": number_schema("ms", 0.01, 1000) | {"default": 5},
                "gap_packets": {**number_schema("packets", 1, 10_000), "type": "integer", "default": 1},
                "direction": {"enum": ["forward", "reverse", "both"], "default": "forward"},
            },
        },
        place=ARRIVALS,
        words="reorder {:.7f}%", key=("reorder", "reorder"), told="at_once_percent",
        given=lambda value: 100 - value["percent"], delay_ms=lambda value: value["late_ms"],
        check="reordering", column="late_packets", percent=late_percent,
        correlated="reorder", more_words=lambda value: f" gap {value['gap_packets']}" if value.get("gap_packets", 1) > 1 else "",
    ),
    LinkOption(
        "duplicate_percent", number_schema("percent", 0, 100, below=True), default=0, by_direction=True,
        place=ARRIVALS, needs={"traffic.protocol": ("tcp",)},
        words="duplicate {:.7f}%", key=("duplicate", "duplicate"), check="duplicates", column="duplicate_packets",
    ),
    LinkOption(
        "corrupt_percent", number_schema("percent", 0, 10), default=0, by_direction=True,
        place=ARRIVALS, needs={"link.netem": ("receiving-side",), "transport.ecn": ("off",)},
        words="corrupt {:.7f}%", key=("corrupt", "corrupt"), correlated="corrupt", check="corruption", column="damaged_packets",
    ),
)  # fmt: skip
#: Name of an option -> option.
OF_NAME = {option.name: option for option in LINK_OPTIONS}


#: Name of an option -> function that returns its loss model; the arguments are the option's value and the link's loss as a fraction.
LOSS_MODELS = {
    "loss_burst_packets": lambda packets, loss: GilbertElliott.of_bursts(loss, packets),
    "loss_gemodel": lambda chances, _: GilbertElliott(**_fractions(chances)),
    "loss_state": lambda chances, _: FourStates(**_fractions(chances)),
}


def _fractions(chances):
    return {name.removesuffix("_percent"): percent / 100 for name, percent in chances.items()}


def loss_model_of(link, direction) -> LossModel | None:
    """Return the loss model of a direction; None if packets are lost independently or not at all."""
    values = ((made, OF_NAME[name].of(link, direction)) for name, made in LOSS_MODELS.items())
    return next(
        (made(value, link["loss_percent"][direction] / 100) for made, value in values if value is not None), None
    )


def correlation_of(link, what, direction) -> float:
    """Return netem's correlation of an effect in a direction, in percent; ``what`` is one of `CORRELATED`."""
    correlation = OF_NAME["correlation"].of(link, direction) or {}
    return correlation.get(f"{what}_percent", 0)


def correlations_at(link, place, direction) -> dict[str, float]:
    """Return the correlations in percent that the netem at ``place`` applies in a direction, by effect (`CORRELATED`).

    Effects without a correlation are omitted.
    """
    there = {option.correlated for option in options_at(link, place, direction)}
    if place == PATH:
        there |= {"loss"} if link["loss_percent"][direction] else set()
        there |= {"delay"} if link["jitter_ms"][direction] else set()
    found = {what: correlation_of(link, what, direction) for what in CORRELATED if what in there}
    return {what: percent for what, percent in found.items() if percent}


def expected_percent(option, link, direction) -> float:
    """Return the expected percentage of packets that a link's option affects in a direction."""
    correlation = correlation_of(link, option.correlated, direction) / 100 if option.correlated else 0
    return 100 * correlated_share(option.percent(option.of(link, direction)) / 100, correlation)


def options_at(link, place, direction) -> dict[LinkOption, object]:
    """Return the options that the netem at ``place`` implements in a direction, and their values."""
    values = {option: option.of(link, direction) for option in LINK_OPTIONS if option.place == place and option.words}
    return {option: value for option, value in values.items() if value is not None}
