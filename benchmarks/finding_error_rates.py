"""Rates at which a study's findings report a difference due to chance, and at which they report a real difference."""

import math
from collections.abc import Callable, Iterator

import numpy as np

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
#: Means and standard deviations of three measures, for runs that depend on the seed.
BASE, SPREAD = np.array([80.0, 100.0, 2.0]), np.array([5.0, 25.0, 0.6])


def found(runs, pairs=()) -> set[tuple[str, str]]:
    """Return the measure and the kind of evidence of each finding; if pairs of scenarios are given, of findings about scenarios only."""
    comparisons = compare_levels(runs, list(pairs), MARGIN_OF, SIGNIFICANCE, CONFIDENCE)[1]
    rows = comparisons[comparisons["verdict"].isin(["more", "less"])]
    rows = rows[rows["factor"] == ("scenario" if pairs else "cca")]
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


def _of_seeds(share) -> Callable:
    """Return a function that draws values without true differences; the seed accounts for the given share of their variance."""
    drawn: dict[tuple, np.ndarray] = {}

    def values(scenario, cca, replication, ip_version, rng):
        of_seed = drawn.setdefault((scenario, replication), rng.standard_normal(3))
        away = math.sqrt(share) * of_seed + math.sqrt(1 - share) * rng.standard_normal(3)
        nothing = {"goodput_mbps": math.nan, "rtt_mean_ms": math.nan, "loss_percent": math.nan, "jain_index": math.nan}
        return nothing | dict(zip(("ideal_percent", "rtt_above_ms", "retransmit_percent"), BASE + SPREAD * away, strict=True))  # fmt: skip

    return values


def _shorter(share, spread) -> Callable:
    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": 60 * (1 - share * (cca == "b")) * (1 + spread * rng.standard_normal())}

    return values


def _scenario_rates(rng, few) -> Iterator[Rate]:
    """Yield the rates of false findings about scenarios; within a scenario, all CCAs run with the same seeds."""
    scenarios = [str(place) for place in range(8)]
    pairs = [
        {"level_a": scenarios[0], "level_b": other, "scenario_a": scenarios[0], "scenario_b": other}
        for other in scenarios[1:]
    ]
    for share in (0.0, 0.95):
        studies_of_seeds = (
            runs_of(_of_seeds(share), tuple("abcdef"), scenarios, 6, seed=int(rng.integers(2**31))) for _ in range(few)
        )
        alarms = sum(bool(found(runs, pairs)) for runs in studies_of_seeds)
        case = f"8 scenarios compared, 6 CCAs, {100 * share:g} % of variance by seed"
        yield Rate("studies with a false finding", case, 6, alarms, few, ALARMS)


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates and powers that this module simulates, with a tenth of the samples, because a sample is an entire study."""
    few = max(1, samples // 10)
    yield from _scenario_rates(rng, few)
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
