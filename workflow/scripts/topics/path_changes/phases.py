"""The phases of a changing path. A phase lasts from one change to the next; its base RTT is constant."""

from dataclasses import asdict, dataclass, field
from itertools import pairwise

from experiment.specification import RunSpecification
from experiment.timeline import DIRECTIONS, LOST_ALL
from study_files.study_variation import drawn
from wording.number_format import plain

#: Kinds of changes that always begin a phase. In a ramp, only the last step begins a phase; in a trace, only the first step does.
ALONE = ("step", "down", "up")
_WORDS = {"rate_mbps": "rate {} Mbit/s", "delay_ms": "delay {} ms", "loss_percent": "loss {} %"}


@dataclass(frozen=True)
class Phase:
    """A phase of a changing path.

    ``longer`` states whether the base RTT is longer than in the previous phase, ``down`` whether the forward direction is down, and
    ``traced`` whether a trace begins.
    """

    number: int
    change: str
    begin_s: float
    end_s: float
    rtt_path_ms: float
    longer: bool
    down: bool
    traced: bool
    run: RunSpecification = field(repr=False)

    @property
    def rate_mbps(self) -> float | None:
        """Average capacity of the path in Mbit/s during the phase; None if unlimited."""
        return self.run.capacity.mean_mbps(*_ns(self.begin_s, self.end_s))


def specification_of(run, changing) -> RunSpecification:
    """Return the specification of a run, which is a row of ``tidy/runs.csv``.

    ``changing`` maps the name of each scenario with a changing path to the resolved scenario.
    """
    factors = {name: run[name] for name in ("cca", "ip_version", "replication")}
    return RunSpecification(factors | {"scenario": drawn(changing[run["scenario"]], run["seed"])})


def phases_of(run) -> list[Phase]:
    """Return the phases of the path during a run's traffic; ``run`` is a `RunSpecification`."""
    moments = moments_of([asdict(change) for change in run.timeline.changes])
    # No phase precedes a change at the beginning of the traffic.
    begins = [0.0, *(at_s for at_s in moments if at_s > 0), float(run.traffic.duration_s)]
    constant_ms = run.rtt_path_ms - sum(run.link.delay_ms.values())
    phases, before_ms = [], run.rtt_path_ms
    for number, (begin_s, end_s) in enumerate(pairwise(begins), 1):
        begin_ns, _ = _ns(begin_s, end_s)
        rtt_ms = constant_ms + sum(run.timeline.value_at(way, "delay_ms", begin_ns) for way in DIRECTIONS)
        changes = moments.get(begin_s, [])
        phases.append(
            Phase(
                number, change_words(changes) or "begin", begin_s, end_s, rtt_ms, rtt_ms > before_ms,
                run.timeline.value_at("forward", "loss_percent", begin_ns) == LOST_ALL,
                any(change["kind"] == "trace" for change in changes), run,
            )
        )  # fmt: skip
        before_ms = rtt_ms
    return phases


def moments_of(changes) -> dict[float, list[dict]]:
    """Return the changes that begin a phase, as a mapping from time in s to the changes at this time.

    ``changes`` are rows of ``tidy/changes.csv``, or dicts with the fields of `Change`.
    """
    moments = {}
    for change in changes:
        if _begins_phase(change, changes):
            moments.setdefault(change["at_ns"] / 1e9, []).append(change)
    return dict(sorted(moments.items()))


def marks_of(moments) -> list[tuple[float, str]]:
    """Return (time in s, description in words) of a path's changes, except those at the beginning of the traffic."""
    return [(at_s, change_words(changes)) for at_s, changes in moments.items() if at_s > 0]


def _ns(*times_s):
    return tuple(round(1e9 * at_s) for at_s in times_s)


def _begins_phase(change, changes):
    """Return whether a change begins a separate phase."""
    if change["kind"] == "trace":
        return change["at_ns"] == next(c["at_ns"] for c in changes if c["kind"] == "trace")
    return change["kind"] in ALONE or _is_last(change, changes)


def _is_last(change, changes):
    """Return whether a change is the last step of its ramp, which means that no later step continues the ramp."""
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


def change_words(changes) -> str:
    """Return simultaneous changes in words: "rate 100 Mbit/s", "forward delay 50 ms", "down"."""
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
