"""Fail if a study doesn't pass as a gate, and store the lines about its failures for the Snakefile's `onerror` handler."""

import sys
from pathlib import Path

from rule_script import run_rule
from topics.expectations.gate import FAILED, failures


def main(inputs, outputs, params) -> None:
    """Read the expectations and fail if any isn't met."""
    folder = Path(inputs.expectations).parents[1]
    lines = [f"sawtooth: gate: {line}\n" for line in failures(folder, params.configfile, params.platform)]
    if lines:
        (folder / FAILED).write_text("".join(lines), encoding="utf-8")
        sys.exit(1)


if "snakemake" in globals():
    run_rule(main, snakemake)
