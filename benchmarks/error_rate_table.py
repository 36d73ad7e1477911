"""Print the error rates of tests, intervals and verdicts on data with known true values, and the bound on each rate.

    python benchmarks/error_rate_table.py [--samples 1000] [--seed 1] [--only coverage] [--document]

A subject is a module with a function `rates(rng, samples)` that yields `rates.Rate` objects. The table is followed by a Markdown summary
with one row for all cases of the same kind. With ``--document``, the summary is also written to docs/error-rates.md.
"""

import argparse
import sys
from collections.abc import Iterable
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
from rates import Rate

#: Name of a subject -> module.
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


PAGE, BEGIN, END = (
    ROOT / "docs/error-rates.md",
    "<!-- made by make bench-statistics ARGS=--document -->\n",
    "<!-- end -->\n",
)


def summary(counted: Iterable[Rate]) -> str:
    """Return a Markdown table of the number of cases and the range of rates, with one row per kind of error and bound.

    >>> print(summary([Rate("false alarms", "a", 6, 1, 100, (0, 0.05)), Rate("false alarms", "b", 6, 4, 100, (0, 0.05))]))
    | what | cases | rates | bound |
    | --- | ---: | --- | --- |
    | false alarms | 2 | 1 to 4 % | 0 to 5 % |
    """
    kinds: dict[tuple, list[Rate]] = {}
    for rate in counted:
        kinds.setdefault((rate.what, rate.bound), []).append(rate)
    lines = ["| what | cases | rates | bound |", "| --- | ---: | --- | --- |"]
    for (what, (low, high)), rates in kinds.items():
        shares = [100 * rate.share for rate in rates if rate.samples]
        seen = f"{min(shares):.3g} to {max(shares):.3g} %" if shares else "no sample"
        bound = "none, for comparison" if (low, high) == (0, 1) else f"{100 * low:g} to {100 * high:.3g} %"
        lines.append(f"| {what} | {len(rates)} | {seen} | {bound} |")
    return "\n".join(lines)


def document(table: str) -> None:
    """Replace the summary in docs/error-rates.md."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table + "\n\n" + END + rest.partition(END)[2], encoding="utf-8")


def main() -> None:
    """Print the table, and exit with status 1 if a rate is outside its bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--samples", type=int, default=1000, help="data sets per rate; rates that take long have a quarter"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=SUBJECTS, help="measure only one subject")
    parser.add_argument("--document", action="store_true", help="write the summary into docs/error-rates.md")
    options = parser.parse_args()
    print(f"{'what':<44}{'case':<58}{'n':>5}{'samples':>9}{'rate':>9}   bound           inside")
    beyond, counted = 0, []
    for subject in [options.only] if options.only else SUBJECTS:
        for rate in SUBJECTS[subject].rates(np.random.default_rng(options.seed), options.samples):
            low, high = rate.bound
            beyond += not rate.inside
            counted.append(rate)
            bound = f"{100 * low:g} to {100 * high:.3g} %"
            print(
                f"{rate.what:<44}{rate.case:<58}{rate.n:>5}{rate.samples:>9}{100 * rate.share:>8.1f} %  "
                f"{bound:<16}{'yes' if rate.inside else 'NO'}",
                flush=True,
            )
    print(f"\n{summary(counted)}")
    if options.document:
        document(summary(counted))
    raise SystemExit(f"{beyond} rates are beyond their bounds" if beyond else 0)


if __name__ == "__main__":
    main()
