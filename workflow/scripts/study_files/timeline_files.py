"""Read a link's timeline from a CSV file with one row per change (`link.timeline: {file: path.csv}`).

`with_timelines` also generates timelines from patterns (`timeline_patterns`).
"""

import codecs
import csv
import math

from experiment.timeline import DIRECTIONS, QUANTITIES
from study_files.study_schema import allowed_text, keys_of, scenario_schema, study_schema
from study_files.study_traces import TraceError, file_beside
from study_files.timeline_patterns import MOST_ENTRIES, entries_of
from wording.terminal_text import shown

#: Columns of a file other than the quantities. The time and at least one quantity must be given.
TIME, DIRECTION = "time_s", "direction"
COLUMNS = (TIME, *QUANTITIES, DIRECTION)
KEYS = ("file", "direction")


def with_timelines(config, source) -> tuple[dict, list[str]]:
    """Replace the files and patterns of timelines in an unvalidated study with lists of changes.

    Changes after the end of a scenario's traffic are discarded. Timelines that are already lists stay unchanged.

    Returns
    -------
    study : dict
        Study with timelines as lists.
    problems : list of str
        One sentence about each invalid file or pattern.
    """
    defaults, scenarios = config.get("defaults"), config.get("scenarios")
    shared = _timeline(defaults)
    if not isinstance(scenarios, list) or not any(map(_is_made, _timelines(config))):
        return config, []
    made, problems = [], []
    for scenario in scenarios:
        timeline = _timeline(scenario)
        timeline = shared if timeline is None else timeline
        if isinstance(scenario, dict) and _is_made(timeline):
            link = scenario.get("link") if isinstance(scenario.get("link"), dict) else {}
            until_s, is_file = _duration_s(scenario, defaults), "file" in timeline
            try:
                rows = rows_of(timeline, source, until_s) if is_file else entries_of(timeline, until_s)
            except TraceError as error:
                rows = []
                where = f"scenarios[{scenario.get('id')}].link.timeline"
                where += f".file {shown(str(timeline['file']), 200)} " if is_file else ""
                problems.append(f"{where}{error}")
            scenario = scenario | {"link": link | {"timeline": rows}}
        made.append(scenario)
    if _is_made(shared):
        link = {key: value for key, value in defaults["link"].items() if key != "timeline"}
        config = config | {"defaults": defaults | {"link": link}}
    return config | {"scenarios": made}, problems


def has_timeline_file(config) -> bool:
    """Return whether an unvalidated study names a file with a timeline."""
    return any("file" in timeline for timeline in _timelines(config) if _is_made(timeline))


def rows_of(timeline, source, until_s) -> list[dict]:
    """Read the entries of `link.timeline` from a file; raise `TraceError` if the file is invalid.

    Parameters
    ----------
    timeline : dict
        Timeline with the key ``file`` and, optionally, ``direction``, the default direction of the rows.
    source : str
        Path of the study file; the path of the timeline's file is relative to the study file's folder.
    until_s : float
        Time in s at which the traffic ends; later entries are discarded.
    """
    if unknown := [key for key in timeline if key not in KEYS]:
        raise TraceError(f"has the key {shown(str(unknown[0]), 40)} in addition; allowed: {' and '.join(KEYS)}.")
    try:
        text = file_beside(timeline["file"], source).removeprefix(codecs.BOM_UTF8).decode("ascii")
    except UnicodeDecodeError as error:
        raise TraceError(f"can't be read: byte {error.start + 1} is not text; allowed: a table with commas.") from None
    read = _lines(text)
    columns = f"{TIME}, then at least one of {', '.join(COLUMNS[1:])}"
    if (first := next(read, None)) is None:
        raise TraceError(f"is empty; allowed: a table with the columns {columns}.")
    _, header = first
    if (
        header[:1] != [TIME]
        or not set(header) & set(QUANTITIES)
        or set(header) - set(COLUMNS)
        or len(set(header)) < len(header)
    ):
        raise TraceError(f"begins with {shown(','.join(header), 80)}; allowed: {columns}.")
    rows = []
    for number, cells in read:
        row = _row(number, header, cells, timeline.get("direction", "both"))
        if row["at_s"] < until_s:
            _check_ranges(number, row)
            rows.append(row)
    if not rows:
        raise TraceError(f"has no row before {until_s:g} s, the end of the traffic.")
    if len(rows) > MOST_ENTRIES:
        raise TraceError(f"has {len(rows):,} rows before {until_s:g} s; allowed: up to {MOST_ENTRIES:,}.")
    return rows


def _lines(text):
    """Yield the lines of a CSV file that aren't blank, as (line number, stripped cells)."""
    read = csv.reader(text.splitlines())
    try:
        for cells in read:
            if len(cells) > 1 or "".join(cells).strip():
                yield read.line_num, list(map(str.strip, cells))
    except csv.Error as error:
        raise TraceError(f"can't be read: {error} in line {read.line_num}; allowed: a table with commas.") from None


def _row(number, header, cells, direction):
    if len(cells) != len(header):
        raise TraceError(f"has {len(cells)} values in line {number}; allowed: {len(header)}, as in the header.")
    row = {"direction": direction}
    for name, cell in zip(header, cells, strict=True):
        if name == DIRECTION:
            if cell not in (*DIRECTIONS, "both"):
                raise TraceError(
                    f"has {name} {shown(cell, 40)} in line {number}; allowed: one of both, {', '.join(DIRECTIONS)}."
                )
            row[name] = cell
        elif cell or name == TIME:
            row["at_s" if name == TIME else name] = _number(number, name, cell)
    return row


def _check_ranges(number, row):
    """Raise a TraceError if a row's values aren't allowed in a change."""
    for name in (name for name in QUANTITIES if name in row):
        node = keys_of(study_schema()["$defs"]["change"])[name]
        if not node["minimum"] <= row[name] <= node["maximum"]:
            raise TraceError(f"has {name} {row[name]:g} in line {number}; allowed: {allowed_text(node)}.")


def _number(number, name, cell):
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise TraceError(f"has {name} {shown(cell, 40)} in line {number}; allowed: a number of at least 0.")
    return int(value) if value.is_integer() else value


def _duration_s(scenario, defaults) -> float:
    for section in (scenario, defaults):
        traffic = section.get("traffic") if isinstance(section, dict) else None
        value = traffic.get("duration_s") if isinstance(traffic, dict) else None
        if isinstance(value, (int, float)):
            return value
    return keys_of(keys_of(scenario_schema())["traffic"])["duration_s"]["default"]


def _timeline(section):
    link = section.get("link") if isinstance(section, dict) else None
    return link.get("timeline") if isinstance(link, dict) else None


def _timelines(config) -> list:
    scenarios = config.get("scenarios") if isinstance(config.get("scenarios"), list) else []
    return list(map(_timeline, (config.get("defaults"), *scenarios)))


def _is_made(timeline) -> bool:
    return isinstance(timeline, dict) and any(isinstance(timeline.get(key), str) for key in ("file", "pattern"))
