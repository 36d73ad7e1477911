"""Rates at which a study's findings report a difference due to chance, and at which they report a real difference."""

from collections.abc import Callable, Iterator

from known_levels import runs_of
from known_truth import FACTORS
from rates import ALARMS, ANY, CONFIDENCE, SIGNIFICANCE, Rate
from study_files import study as studies
from topics.differences.compare_levels import compare_levels
from topics.differences.measures import margins_of
from topics.differences.tables import BY_REPEATS

MARGIN_OF = margins_of(studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a"}]}, "s.yaml"))
#: Lower and upper bound on the power to detect a difference of two margins.
POWER_AT_TWO = (0.85, 1.0)
SIZES = ((2, 2), (4, 6), (12, 6), (2, 20))


def found(runs) -> set[tuple[str, str]]:
    """Return the measure and the kind of evidence of each finding."""
    comparisons = compare_levels(runs, [], MARGIN_OF, SIGNIFICANCE, CONFIDENCE)[1]
    rows = comparisons[comparisons["verdict"].isin(["more", "less"])]
    return set(zip(rows["measure"], rows["evidence"], strict=True))


def _chance(draw: Callable, copied=False) -> Callable:
    """Return a function that draws values without true differences.

    If ``copied`` is true, all replications of a cell have the same values as the first one.
    """
    kept: dict[tuple, dict] = {}

    def values(scenario, cca, replication, ip_version, rng):
        drawn = {
            "goodput_mbps": 9 * draw(rng, ()),
            "rtt_mean_ms": 60 * draw(rng, ()),
            "retransmit_percent": 0.6 * draw(rng, ()),
        }
        return kept.setdefault((scenario, cca), drawn) if copied else drawn

    return values


def _shorter(share, spread) -> Callable:
    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": 60 * (1 - share * (cca == "b")) * (1 + spread * rng.standard_normal())}

    return values


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates and powers that this module simulates, with a tenth of the samples, because a sample is an entire study."""
    few = max(1, samples // 10)
    for places, n in SIZES:
        scenarios = [str(place) for place in range(places)]
        for kind, draw in FACTORS.items():
            alarms = sum(
                bool(
                    found(
                        runs_of(_chance(draw), ("a", "b", "c"), scenarios, n, seed=int(rng.integers(2**31)), spread=0)
                    )
                )
                for _ in range(few)
            )
            yield Rate("studies with a false finding", f"{places} scenarios, 3 CCAs, {kind}", n, alarms, few, ALARMS)
        copies = [
            found(
                runs_of(
                    _chance(FACTORS["normal, 3 %"], True),
                    ("a", "b", "c"),
                    scenarios,
                    n,
                    seed=int(rng.integers(2**31)),
                    spread=0,
                )
            )
            for _ in range(few)
        ]
        tested = sum(any(evidence != BY_REPEATS for _, evidence in one) for one in copies)
        yield Rate(
            "studies with a false finding", f"{places} scenarios, copies of one draw, tested", n, tested, few, ALARMS
        )
        yield Rate(
            "studies that report a difference of copies",
            f"{places} scenarios, called one measurement",
            n,
            sum(map(bool, copies)),
            few,
            ANY,
        )
        for spread in (0.01, 0.03):
            seen = sum(
                any(
                    measure == "rtt_mean_ms"
                    for measure, _ in found(
                        runs_of(_shorter(0.1, spread), ("a", "b"), scenarios, n, seed=int(rng.integers(2**31)))
                    )
                )
                for _ in range(few)
            )
            bound = POWER_AT_TWO if spread == 0.01 and n > 2 else ANY
            yield Rate(
                "differences of two margins found", f"{places} scenarios, sd {100 * spread:g} %", n, seen, few, bound
            )
