"""The options of a link: each is declared once, here.

From a declaration follow the key of a study's `link` and what is refused of it (`study_files.link_keys`, `study_link_options`),
that specifications which do without have no such key, netem's words for tc and what the kernel must say afterwards (`emulation`),
where it stands (`topology`) and what of it is judged (`link_option_checks`), what a machine's kernel needs and what ns-3 refuses.
Their descriptions are in `wording.link_option_words`, where another word makes no run stale.
Sources: net/sched/sch_netem.c and include/uapi/linux/pkt_sched.h of Linux 7.2, tc/q_netem.c of iproute2 7.3.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from experiment.timeline import DIRECTIONS, directions_of

#: Where an option stands: in the netem that has the path's delay and loss, or in a netem before it, which packets pass when they
#: arrive behind the bottleneck of a dumbbell.
PATH, ARRIVALS = "path", "arrivals"
#: Values that an option in a place, or one that keeps an order, requires of other keys of the scenario: key -> allowed values.
NEEDS_OF_PLACE = {PATH: {}, ARRIVALS: {"topology": ("dumbbell",), "transport.segmentation_offload": (False,)}}
IN_ORDER = {
    "link.netem": ("receiving-side",),
    "transport.segmentation_offload": (False,),
    "topology": ("dumbbell", "cable"),
}


@dataclass(frozen=True, eq=False)
class LinkOption:
    """An option of a link.

    ``value`` is the JSON Schema of its value, without descriptions; ``default`` the value that is none. With ``by_direction``
    a study may give one value for each direction. ``behind`` is the key of `link` that it follows; the last one if empty.
    ``needs`` says what the rest of a scenario must be besides what its place needs. An option that netem carries out by itself has ``words``, those of tc(8) for a
    value, and ``key``, the path to its number in tc's JSON, which times ``factor`` is ``told`` (its name among what is read
    back). ``given`` is what netem is given of a value, ``delay_ms`` the delay of netem that it needs,
    ``idle_ms`` what a packet on an idle path may wait for it.
    ``check`` names the check of what is counted of it (`link_option_counts`), which expects ``percent`` of the packets; ``column`` is what
    was counted in the data's direction, in the table of runs.
    """

    name: str
    value: dict
    default: object = None
    by_direction: bool = False
    behind: str = ""
    place: str = PATH
    needs: dict = field(default_factory=dict)
    words: str = ""
    key: tuple = ()
    factor: float = 100
    told: str = ""
    given: Callable = lambda value: value
    delay_ms: Callable = lambda value: 0
    idle_ms: Callable = lambda value: 0
    check: str = ""
    column: str = ""
    percent: Callable = lambda value: value
    #: Direction that it has, where a value holds for one only; a mapping may name its ``direction``.
    only: str = ""

    @property
    def all_needs(self) -> dict[str, tuple]:
        """Values that the option requires of other keys of the scenario: key -> allowed values."""
        return NEEDS_OF_PLACE[self.place] | self.needs

    @property
    def none(self) -> object:
        """The value of a resolved study that has no use for it."""
        return dict.fromkeys(DIRECTIONS, self.default) if self.by_direction else self.default

    def used(self, link) -> bool:
        """Return whether a link makes use of it; ``link`` is that of a resolved scenario or of a specification."""
        return link.get(self.name, self.none) != self.none

    def of(self, link, direction) -> object:
        """Return the value that a direction has, None where it has none."""
        if not self.used(link):
            return None
        value = link[self.name]
        if self.by_direction:
            return None if value[direction] == self.default else value[direction]
        if self.only:
            return value if direction == self.only else None
        return value if not isinstance(value, dict) or direction in directions_of(value) else None

    def written(self, value) -> str:
        """Return the words of tc(8) that set a value."""
        return self.words.format(self.given(value))

    def expected(self, value) -> dict[str, float]:
        """Return what must be read back of a value."""
        return {self.told or self.name: self.given(value)}

    def read(self, options) -> dict[str, float]:
        """Return the option's value in netem's options as tc's JSON prints them, by its name; empty if it is missing there."""
        for step in self.key:
            options = options.get(step, {})
        return {self.told or self.name: options * self.factor} if isinstance(options, (int, float)) else {}


def number(unit, least, most, null=False, above=False, below=False) -> dict:
    """Return the JSON Schema of a number with a unit; ``above`` and ``below`` exclude the ends, ``null`` allows that there is none."""
    limits = {"exclusiveMinimum" if above else "minimum": least, "exclusiveMaximum" if below else "maximum": most}
    return {"type": ["number", "null"] if null else "number", "unit": unit, **limits}


LINK_OPTIONS = (
    LinkOption("jitter_order", {"enum": ["any", "kept"]}, default="any", behind="loss_percent", needs=IN_ORDER),
    LinkOption(
        "ack_slot_ms", number("ms", 0.1, 1000, null=True), behind="jitter_order", only="reverse",
        needs=IN_ORDER | {"traffic.application": ("iperf3", "ftp")},
        words="slot {0:.6f}ms {0:.6f}ms", key=("slot", "min-delay"), factor=1e3, told="slot_ms",
        # On an idle path a packet finds that its slot has not begun.
        idle_ms=lambda value: value,
    ),
    LinkOption(
        "loss_burst_packets", number("packets", 1, 10_000, null=True), by_direction=True, behind="ack_slot_ms",
        needs={"link.netem": ("receiving-side",), "topology": ("dumbbell", "cable")},
    ),
    # netem's `reorder` lets a share of packets pass at once and delays the others: here the others are the late ones.
    LinkOption(
        "reordering",
        {
            "type": ["object", "null"],
            "additionalProperties": False,
            "allowed": "a mapping such as {percent: 1, late_ms: 5}, or null",
            "properties": {
                "percent": number("percent", 0, 50, above=True) | {"default": 1},
                "late_ms": number("ms", 0.01, 1000) | {"default": 5},
                "direction": {"enum": ["forward", "reverse", "both"], "default": "forward"},
            },
        },
        place=ARRIVALS,
        words="reorder {:.7f}%", key=("reorder", "reorder"), told="at_once_percent",
        given=lambda value: 100 - value["percent"], delay_ms=lambda value: value["late_ms"],
        check="reordering", column="late_packets", percent=lambda value: value["percent"],
    ),
    LinkOption(
        "duplicate_percent", number("percent", 0, 100, below=True), default=0, by_direction=True,
        place=ARRIVALS, needs={"traffic.protocol": ("tcp",)},
        words="duplicate {:.7f}%", key=("duplicate", "duplicate"), check="duplicates", column="duplicate_packets",
    ),
    LinkOption(
        "corrupt_percent", number("percent", 0, 10), default=0, by_direction=True,
        place=ARRIVALS, needs={"link.netem": ("receiving-side",), "transport.ecn": ("off",)},
        words="corrupt {:.7f}%", key=("corrupt", "corrupt"), check="corruption", column="damaged_packets",
    ),
)  # fmt: skip
#: Name -> option.
OF_NAME = {option.name: option for option in LINK_OPTIONS}


def options_at(link, place, direction) -> dict[LinkOption, object]:
    """Return the options that netem carries out in a place of a direction, each with its value."""
    values = {option: option.of(link, direction) for option in LINK_OPTIONS if option.place == place and option.words}
    return {option: value for option, value in values.items() if value is not None}
