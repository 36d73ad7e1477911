"""The lines that are shown to the user when a study fails as a gate, one for each failure in the table of expectations.

Each line states the value, the interval, the expectation, and a run to repeat. Only the standard library is used.
"""

import csv
import shlex
import sys
from pathlib import Path

TABLE = "analysis/expectations.csv"
#: File with the lines of the last call that failed, for `show_failures`.
FAILED = "logs/gate.failed"
#: Largest number of lines shown for one expectation, which may apply to a thousand rows.
MOST_LINES = 10


def failures(folder, configfile, platform=None) -> list[str]:
    """Return the lines about all unmet expectations in a results folder.

    For an expectation about a table, there is one line for each of the first `MOST_LINES` rows that don't pass, and a line that counts the
    others. The command that repeats a run uses ``configfile``, the study's file, and ``platform`` if the study ran on a platform other than
    the one in its file.
    """
    call = f"snakemake --cores 1 --use-apptainer --configfile {shlex.quote(configfile)}"
    call += f" --config platform={shlex.quote(platform)}" if platform else ""
    with Path(folder, TABLE).open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["passed"] != "True"]
    lines, counts = [], {}
    for row in rows:
        counts[row["expectation"]] = number = counts.get(row["expectation"], 0) + 1
        if number <= MOST_LINES:
            lines.append(line_of(row, f"{call} --force {folder}/runs/{row['run']}.json.gz"))
    more = {name: number - MOST_LINES for name, number in counts.items() if number > MOST_LINES}
    return lines + [
        f"{name}: and {number} more row{'s' * (number > 1)} of {folder}/{TABLE}" for name, number in more.items()
    ]


def line_of(row, call) -> str:
    """Return the line about a row of `EXPECTATIONS` that doesn't pass; ``call`` is the command that repeats the row's run."""
    value = row["found"] or _number(row["value"])
    if row["found"] and row["value"]:
        value += f" ({_with_interval(row)})"
    elif row["value"]:
        value = _with_interval(row)
    line = (
        f"{row['expectation']} is {row['outcome']}: {row['subject']}: {value or 'no value'}, expected {row['expected']}"
    )
    if row["because"]:
        line += f" ({row['because'].rstrip('.')})"
    return line + (f"; repeat: {call}" if row["run"] else "")


def _with_interval(row):
    unit = f" {row['unit']}" if row["unit"] else ""
    text = _number(row["value"]) + unit
    if row["low"] or row["high"]:
        text += f", interval {_number(row['low']) or '?'} to {_number(row['high']) or 'infinity'}"
    return text


def _number(text):
    return f"{float(text):.5g}" if text else ""


def forget_failures(folder) -> None:
    """Delete the stored failures of an earlier call."""
    Path(folder, FAILED).unlink(missing_ok=True)


def show_failures(folder) -> None:
    """Print the failures that this call stored, if the gate has failed."""
    if Path(folder, FAILED).exists():
        text = Path(folder, FAILED).read_text(encoding="utf-8")
        print(
            f"{text}sawtooth: gate: report and tables are complete: {folder}/report.html", file=sys.stderr, flush=True
        )
