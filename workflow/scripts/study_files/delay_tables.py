"""Read the table of delays in `link.jitter_table` from its file when a study is resolved, so that runs don't need the file."""

from experiment.delay_tables import LARGEST, MOST_NUMBERS, numbers_of
from study_files.study_traces import TraceError, file_of, has_content
from wording.terminal_text import shown

#: Suffix of netem's own tables (from iproute2, in /usr/lib/tc), whose numbers are used unchanged.
OF_NETEM = ".dist"
#: Minimum and maximum number of delays in a file.
LEAST_DELAYS, MOST_DELAYS = 2, 5_000_000


def completed_table(table, source) -> dict:
    """Return a `link.jitter_table` with the SHA-256 and the sorted numbers of its file.

    If the table already has numbers, they are sorted and the file isn't read.

    Parameters
    ----------
    table : dict
        Table with the keys ``file``, ``sha256`` and ``numbers``.
    source : str
        Path of the study file; the path of the table's file is relative to the study file's folder.

    Raises
    ------
    TraceError
        If the file can't be read or isn't a table of delays.
    """
    if has_content(table, "numbers"):
        if len(set(table["numbers"])) == 1:
            raise TraceError(f"has only one number, {table['numbers'][0]}; allowed: at least two different numbers.")
        return table | {"numbers": sorted(table["numbers"])}
    content, sha256 = file_of(table, source)
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        raise TraceError(f"can't be read: byte {error.start + 1} is not text; allowed: one delay per line.") from None
    words = [
        (number, word) for number, line in enumerate(text.splitlines(), 1) for word in line.partition("#")[0].split()
    ]
    if not LEAST_DELAYS <= len(words) <= MOST_DELAYS:
        raise TraceError(f"has {len(words):,} numbers; allowed: {LEAST_DELAYS} to {MOST_DELAYS:,}.")
    values = [_number(word, line) for line, word in words]
    if not max(values) - min(values) > 1e-9 * max(map(abs, values)):
        raise TraceError(f"has only one delay, {values[0]:g}; allowed: at least two different delays.")
    if table["file"].endswith(OF_NETEM):
        if len(values) > MOST_NUMBERS or any(abs(one) > LARGEST or one != int(one) for one in values):
            raise TraceError(
                f"is not a table of netem; allowed: up to {MOST_NUMBERS:,} whole numbers from -{LARGEST:,} to {LARGEST:,}."
            )
        numbers = sorted(map(int, values))
    else:
        # The delays are divided by the largest delay, so that the squares of small delays don't underflow.
        largest = max(map(abs, values))
        numbers = numbers_of([one / largest for one in values])
    return table | {"sha256": sha256, "numbers": numbers}


def _number(word, line):
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e12:
        raise TraceError(f"has {shown(word, 40)} in line {line}; allowed: numbers, one delay per line.")
    return value
