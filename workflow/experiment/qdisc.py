"""Classes that describe a queueing discipline: parameters, counters, tc command, and the values that the kernel must report.

The disciplines themselves are declared in `disciplines`.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

DROP_TAIL = "drop-tail"
#: RED's values that tc reports under names different from the study's.
RED_TOLD = ("min", "max", "ewma")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a discipline: a key of a study's `queue`, with its name in tc's arguments and output.

    The value is a number, a bool, or one of the words in ``choices``. If ``default`` is None, the parameter is optional. ``kept`` converts
    a value to the form in which the kernel stores and reports it, such as a rounded number.
    """

    name: str
    word: str  # name in tc(8)
    key: str  # key in tc's JSON
    default: float | bool | str | None
    unit: str = ""
    least: float | None = None
    most: float | None = None
    whole: bool = False
    choices: tuple = ()
    kept: Callable | None = None
    off_word: str = ""  # tc's argument for the value False; empty if none is needed

    @property
    def is_switch(self) -> bool:
        return isinstance(self.default, bool)

    def written(self, value) -> str:
        """Return the arguments of tc(8) that set a value."""
        if self.is_switch:
            return self.word if value else self.off_word
        if self.choices:
            return str(value)
        return f"{self.word} {round(value * 1e3)}us" if self.unit == "ms" else f"{self.word} {value}"

    def read_back_of(self, value) -> float | bool | str | None:
        """Return the value that the kernel must report for a given value; times are passed to the kernel in whole microseconds."""
        if self.unit == "ms" and isinstance(value, float):
            value = round(value * 1e3) / 1e3
        return self.kept(value) if self.kept and value is not None else value

    def read(self, options) -> float | bool | str | None:
        """Return the parameter's value, read from the options in tc's JSON; times are in ms."""
        if self.is_switch:
            return options.get(self.key) not in (None, False, "disabled")
        value = options.get(self.key)
        return value / 1e3 if self.unit == "ms" and value is not None else value

    def schema(self) -> dict:
        """Return the parameter's JSON Schema, which `study_files.queue_keys` merges with the schemas of other disciplines' parameters."""
        if self.is_switch:
            return {"type": "boolean"}
        if self.choices:
            return {"enum": list(self.choices)}
        kind = "integer" if self.whole else "number"
        limits = {"minimum": self.least, "maximum": self.most}
        return {"type": [kind, "null"] if self.default is None else kind, "unit": self.unit, **limits}


@dataclass(frozen=True)
class Counters:
    """Counters specific to a discipline, in the kernel's struct tc_*_xstats.

    ``names`` are the kernel's names in the order of the struct; "" skips a counter. ``marks`` are the counters whose sum is the number of
    CE marks. ``overflow`` are the counters of packets dropped because the queue was full, or None if there are no such counters.
    ``delays_us`` maps a column of the time series to the counter of the delay in us.

    ``second_mark`` is the counter of marks caused by a threshold. A packet that has already been marked may be marked again because of the
    threshold, and then counts twice, because INET_ECN_set_ce also succeeds for packets that are already marked.
    """

    layout: struct.Struct | None = None
    names: tuple = ()
    marks: tuple = ()
    overflow: tuple | None = None
    second_mark: str = ""
    delays_us: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Discipline:
    """A queueing discipline.

    ``kinds`` maps the unit of the limit (packets or bytes) to the kind of qdisc. ``size`` is the default limit. ``fixed`` contains further
    values that tc must report.

    The discipline marks packets if at least one of the parameters in ``marks_with`` is set. If ``marks_with`` is empty, the discipline
    always marks ECN-capable packets; if it is None, the discipline never marks packets.
    """

    name: str
    kinds: dict
    size: dict
    parameters: tuple = ()
    marks_with: tuple | None = None
    counters: Counters = field(default_factory=Counters)
    fixed: dict = field(default_factory=dict)
    limit_word: str = "limit"
    least_packets: int = 1  # the smallest limit, in full packets
    #: Functions that return further arguments for tc, and the values that tc must report for them. The functions' arguments are the queue's
    #: parameters and the size of a full packet in bytes.
    more_words: Callable | None = None
    more_expected: Callable | None = None

    @property
    def limited_only(self) -> bool:
        """Whether the discipline is drop-tail, which does nothing but drop packets while the queue is full."""
        return self.name == DROP_TAIL

    def marked_twice(self, counted) -> int:
        """Return an upper bound on the number of packets that were marked twice.

        ``counted`` contains the queue's counters from a run document.
        """
        second = counted.get("counted", {}).get(self.counters.second_mark, 0)
        return min(second, counted.get("marks", 0) - second)

    def parameter(self, name) -> Parameter | None:
        """Return the parameter with the given name, or None if the discipline doesn't have it."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def counts_in(self, measure) -> str:
        """Return the unit of the qdisc's limit: the study's unit ``measure`` if it is supported, otherwise the first of `kinds`."""
        return measure if measure in self.kinds else next(iter(self.kinds))

    def marks(self, queue) -> bool:
        """Return whether the discipline marks packets of ECN flows, given the queue of a resolved scenario."""
        if self.marks_with is None:
            return False
        return not self.marks_with or any(queue[name] not in (None, False) for name in self.marks_with)

    def command(self, kind, limit, queue, packet_bytes) -> str:
        """Return the arguments of tc(8) that follow ``qdisc replace ...``."""
        words = [kind, f"{self.limit_word} {limit}"]
        words += [
            p.written(value)
            for p in self.parameters
            if p.word and (value := queue.get(p.name, p.default)) is not None and p.written(value)
        ]
        return " ".join(words + (self.more_words(queue, packet_bytes) if self.more_words else []))

    def expected(self, limit, queue, packet_bytes) -> dict:
        """Return the values that tc must report, by parameter name; times are in ms."""
        values = {p.name: p.read_back_of(queue.get(p.name, p.default)) for p in self.parameters if p.key}
        more = self.more_expected(queue, packet_bytes) if self.more_expected else {}
        return {"limit": limit} | values | self.fixed | more

    def parsed(self, qdisc) -> dict:
        """Return the values that tc reports for a qdisc in its JSON output, in the same form as `expected`."""
        options = qdisc.get("options", {})
        values = {p.name: p.read(options) for p in self.parameters if p.key}
        limit = options.get("limit", qdisc.get("memory_limit"))
        more = {key: options.get(key) for key in (*self.fixed, *RED_TOLD) if key in options}
        return {"limit": limit} | values | more
