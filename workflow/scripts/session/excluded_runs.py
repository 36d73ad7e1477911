"""Write the sentence about excluded runs that a finished call prints last."""

import csv
from pathlib import Path

from wording.number_format import count
from wording.terminal_text import shown

#: Maximum length, in characters, of the text about a run's failed checks.
MOST_CHARACTERS = 400


def excluded_words(folder: Path) -> str:
    """Return a sentence about the invalid runs in ``folder``, or an empty string if all runs are valid or there is no table of runs."""
    try:
        with (folder / "tidy" / "runs.csv").open(encoding="utf-8", newline="") as file:
            runs = list(csv.DictReader(file))
    except OSError:
        return ""
    excluded = [run for run in runs if run["valid"] == "False"]
    if not excluded:
        return ""
    first = "/".join(excluded[0][key] for key in ("scenario", "cca", "ip_version", "replication"))
    because = shown(excluded[0]["invalid_because"], MOST_CHARACTERS)
    valid = len(runs) - len(excluded)
    if not valid:
        return f"no run of {folder.name} is valid, so there are no results; {first}: {because}"
    return f"{valid:,} of {count(len(runs), 'run')} of {folder.name} {'is' if valid == 1 else 'are'} valid, and results leave out the rest; {first}: {because}"
