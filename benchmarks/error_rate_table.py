"""Print how often tests, intervals and verdicts are wrong on data whose truth is known, beside the bound of each.

    python benchmarks/error_rate_table.py [--samples 1000] [--seed 1] [--only coverage]

A subject is a module with a function `rates(rng, samples)` that yields `rates.Rate`.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
import cca_rates
import compare_error_rates
import coverage
import exam_error_rates
import finding_error_rates
import overall_rates
import paired_rates
import sequential_rates

#: Name -> module.
SUBJECTS = {
    "coverage": coverage,
    "pairs": paired_rates,
    "all cells": overall_rates,
    "ccas": cca_rates,
    "looks": sequential_rates,
    "compare": compare_error_rates,
    "exam": exam_error_rates,
    "findings": finding_error_rates,
}


def main() -> None:
    """Print the table; end with 1 if a rate is beyond its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, help="data sets of a rate; slow ones have a quarter")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=SUBJECTS, help="one subject")
    options = parser.parse_args()
    print(f"{'what':<44}{'case':<46}{'n':>5}{'samples':>9}{'rate':>9}   bound           inside")
    beyond = 0
    for subject in [options.only] if options.only else SUBJECTS:
        for rate in SUBJECTS[subject].rates(np.random.default_rng(options.seed), options.samples):
            low, high = rate.bound
            beyond += not rate.inside
            bound = f"{100 * low:g} to {100 * high:.3g} %"
            print(
                f"{rate.what:<44}{rate.case:<46}{rate.n:>5}{rate.samples:>9}{100 * rate.share:>8.1f} %  "
                f"{bound:<16}{'yes' if rate.inside else 'NO'}",
                flush=True,
            )
    raise SystemExit(f"{beyond} rates are beyond their bounds" if beyond else 0)


if __name__ == "__main__":
    main()
