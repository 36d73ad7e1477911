"""The phases of a path that changes: from one change to the next, with the rate and the RTT that it has then."""

from dataclasses import dataclass, field
from itertools import pairwise

import pandas as pd

from wording.number_format import plain

#: What is a phase of its own; of a ramp it is the last part, of a trace the first step.
ALONE = ("step", "down", "up")
_WORDS = {"rate_mbps": "rate {} Mbit/s", "delay_ms": "delay {} ms", "loss_percent": "loss {} %"}


@dataclass
class Phase:
    """A phase; ``rates``: (from when on in s, Mbit/s) of the data's direction within it, the first at its begin."""

    number: int
    change: str
    begin_s: float
    end_s: float
    rtt_path_ms: float
    longer: bool
    down: bool
    traced: bool
    rates: list = field(default_factory=list)

    def capacity_mbit(self, begin_s, end_s) -> float:
        """Return what the bottleneck lets pass between two moments of the phase, in Mbit."""
        ends = [*(at for at, _ in self.rates[1:]), self.end_s]
        return sum(
            rate * max(0.0, min(end, end_s) - max(begin, begin_s))
            for (begin, rate), end in zip(self.rates, ends, strict=True)
        )

    @property
    def rate_mbps(self) -> float | None:
        """The mean rate of the phase; None where nothing limits it."""
        if self.rates[0][1] is None:
            return None
        return self.capacity_mbit(self.begin_s, self.end_s) / (self.end_s - self.begin_s)


def with_delays(runs, scenarios) -> pd.DataFrame:
    """Return runs with the delay of each direction before any change, as `phases_of` wants them."""
    of_scenario = scenarios.set_index("scenario")
    names = ("delay_forward_ms", "delay_reverse_ms")
    return runs.assign(**{name: runs["scenario"].map(of_scenario[name]) for name in names})


def phases_of(run, changes, end_s) -> list[Phase]:
    """Return the phases of a run.

    Parameters
    ----------
    run : dict
        A row of ``tidy/runs.csv``.
    changes : list of dict
        The run's rows of ``tidy/changes.csv``, in order.
    end_s : float
        When the traffic ends.
    """
    moments = {0.0: []}
    for change in changes:
        if _begins_phase(change, changes):
            moments.setdefault(change["at_ns"] / 1e9, []).append(change)
    # A change at the traffic's begin makes no phase before it.
    begins = [*sorted(moments), end_s]
    base_ms = {"forward": run["delay_forward_ms"], "reverse": run["delay_reverse_ms"]}
    state = {("forward", "rate_mbps"): run["rate_mbps"], ("forward", "loss_percent"): 0.0}
    state |= {(way, "delay_ms"): delay for way, delay in base_ms.items()}
    waiting, phases, before_ms = list(changes), [], run["rtt_path_ms"]
    for number, (begin_s, phase_end_s) in enumerate(pairwise(begins), 1):
        while waiting and waiting[0]["at_ns"] / 1e9 <= begin_s:
            _apply(waiting.pop(0), state)
        rtt_ms = run["rtt_path_ms"] + sum(state[way, "delay_ms"] - delay for way, delay in base_ms.items())
        phase = Phase(
            number, change_words(moments[begin_s]) or "begin", begin_s, phase_end_s, rtt_ms, rtt_ms > before_ms,
            state["forward", "loss_percent"] == 100, any(change["kind"] == "trace" for change in moments[begin_s]),
            [(begin_s, state["forward", "rate_mbps"])],
        )  # fmt: skip
        while waiting and waiting[0]["at_ns"] / 1e9 < phase_end_s:
            change = waiting.pop(0)
            _apply(change, state)
            if (change["direction"], change["quantity"]) == ("forward", "rate_mbps"):
                phase.rates.append((change["at_ns"] / 1e9, _offered(change)))
        before_ms = rtt_ms
        phases.append(phase)
    return phases


def moments_of(phases) -> list[tuple[float, str]]:
    """Return when the path of a run changed, in s, and how, in words: what begins a phase, the traffic's begin aside."""
    return [(phase.begin_s, phase.change) for phase in phases if phase.begin_s > 0]


def _begins_phase(change, changes):
    """Tell whether a change begins a phase of its own."""
    if change["kind"] == "trace":
        return change["at_ns"] == next(c["at_ns"] for c in changes if c["kind"] == "trace")
    return change["kind"] in ALONE or _is_last(change, changes)


def _is_last(change, changes):
    """Tell whether a part of a ramp is its last: the next of the same kind goes on from it no further."""
    same = [
        c
        for c in changes
        if (c["direction"], c["quantity"], c["kind"]) == (change["direction"], change["quantity"], "ramp")
    ]
    place = same.index(change)
    if place + 1 == len(same):
        return True
    gap = same[place + 1]["at_ns"] - change["at_ns"]
    return place > 0 and gap > 1.5 * (change["at_ns"] - same[place - 1]["at_ns"])


def _apply(change, state):
    state[change["direction"], change["quantity"]] = _offered(change)


def _offered(change):
    """Return the value of a change; of a trace, whose shaper has other rates, what the link offers."""
    return change["offered_mbps"] if change["kind"] == "trace" else change["value"]


def change_words(changes) -> str:
    """Return changes at one time in words: "rate 100 Mbit/s", "forward delay 50 ms", "down"."""
    ways, words = {}, []
    for change in changes:
        if change["kind"] in ("down", "up"):
            what = {"down": "down", "up": "up again"}[change["kind"]]
        elif change["kind"] == "trace":
            what = "trace"
        else:
            what = _WORDS[change["quantity"]].format(plain(change["value"]))
        ways.setdefault(what, []).append(change["direction"])
    for what, directions in ways.items():
        words.append(what if len(set(directions)) == 2 or what == "trace" else f"{directions[0]} {what}")
    return ", ".join(words)
