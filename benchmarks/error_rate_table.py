"""Print how often tests, intervals and verdicts are wrong on data whose truth is known, beside the bound of each.

    python benchmarks/error_rate_table.py [--samples 1000] [--seed 1]

What the rates are stands in `error_rates.py`, and those of `make compare` in `compare_error_rates.py`.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
import error_rates
import exam_error_rates
from compare_error_rates import rates_of_compare
from known_truth import FACTORS


def all_rates(samples, seed) -> Iterator[error_rates.Rate]:
    """Yield every rate of the table; slow ones of fewer samples."""
    rng = np.random.default_rng(seed)
    few = max(100, samples // 4)
    for n in (10, 30, 100):
        yield from error_rates.false_equivalence(rng, few, n)
    for n in (4, 10, 30):
        yield from error_rates.collapse_alarms(rng, samples, n)
    for n in (3, 4, 10, 14):
        yield from error_rates.contradictions(rng, few // 2, n)
    for factor in FACTORS:
        for n in (2, 3, 4, 6, 8, 10, 14):
            yield from error_rates.false_alarms(rng, samples, n, factor)
        for n in (30, 100):
            yield from error_rates.false_alarms(rng, few, n, factor)
    for n in (4, 100):
        yield from error_rates.copied_cells(rng, few, n)
        yield from error_rates.copied_platforms(rng, few, n)
    for n in (1, 4, 100):
        yield from error_rates.overall_alarms(rng, few, n)
        yield from error_rates.claim_alarms(rng, samples, n)
    for n in (4, 10, 30):
        yield from error_rates.header_verdicts(rng, few, n)
    for n in (4, 10):
        yield from error_rates.planning(rng, few, n)
    for factor in FACTORS:
        for n in (2, 3, 4, 6, 8, 10):
            yield from error_rates.difference_coverage(rng, samples, n, factor)
        for n in (30, 100):
            yield from error_rates.difference_coverage(rng, few, n, factor)
    for factor in FACTORS:
        for n in (2, 3, 4, 6, 10, 30, 100):
            yield from error_rates.mean_coverage(rng, samples, n, factor)
    for n in (2, 4, 10, 30):
        yield from error_rates.other_coverage(rng, samples, n)
    for factor, n in itertools.product(("normal, 3 %", "collapses (1 in 10, to 30 %)"), (3, 4, 10, 30)):
        yield from error_rates.platform_coverage(rng, samples, n, factor)
    for n in (3, 4, 10, 30):
        yield from error_rates.platform_coverage(rng, samples, n, "collapses (1 in 10, to 30 %)", other="normal, 3 %")
    for n, spread in itertools.product((4, 10), (0.1, 0.5)):
        yield from error_rates.share_verdicts(rng, samples, n, spread)
    for factor, n in itertools.product(FACTORS, (4, 10)):
        yield from error_rates.cell_alarms(rng, few, n, factor)
    for n, step in itertools.product((4, 6), (0.3, 1.0)):
        yield from error_rates.spread_alarms(rng, samples, n, step)
    for n, levels in itertools.product((4, 5), (3, 4, 6)):
        yield from error_rates.level_alarms(rng, samples, n, levels)
    yield from error_rates.cca_alarms(rng, few, 4)
    yield from error_rates.cca_alarms(rng, few, 4, differing=0.5)
    for n in (2, 3, 4, 6, 8, 10, 14, 30, 100):
        yield from error_rates.power_of_test(rng, few, n)
    for factor, times in itertools.product((name for name in FACTORS if name != "exponential"), (0.7, 1.5, 5)):
        if "collapses" not in factor or times < 1:  # later hardly any sample is without one
            yield from error_rates.precision_coverage(rng, samples, factor, times)
    for factor in (name for name in FACTORS if name != "exponential"):
        yield from error_rates.precision_coverage(rng, samples, factor, 1.5, at_least=6)
    yield from error_rates.precision_coverage(rng, few, "normal, 3 %", 1.5, cells=12)
    yield from exam_error_rates.exam_rates(rng, few)
    yield from rates_of_compare(few, seed)


def main() -> None:
    """Print the table; end with 1 if a rate is beyond its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, help="data sets of a rate; slow ones have a quarter")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'row':>3}  {'what':<44}{'case':<40}{'n':>5}{'samples':>9}{'rate':>9}   bound           inside")
    beyond = 0
    for rate in all_rates(options.samples, options.seed):
        low, high = rate.bound
        beyond += not rate.inside
        bound = f"{100 * low:g} to {100 * high:.3g} %"
        print(
            f"{rate.row:>3}  {rate.what:<44}{rate.case:<40}{rate.n:>5}{rate.samples:>9}{100 * rate.share:>8.1f} %  "
            f"{bound:<16}{'yes' if rate.inside else 'NO'}",
            flush=True,
        )
    raise SystemExit(f"{beyond} rates are beyond their bounds" if beyond else 0)


if __name__ == "__main__":
    main()
