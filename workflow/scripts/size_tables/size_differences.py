"""What differs between cells of the same traffic and size: IP versions, environments, platforms."""

import math

import pandas as pd
from describe_cells import mean_interval
from number_format import is_missing
from run_tables.tidy_columns import CELL
from scipy import special
from size_tables.size_columns import DIFFERENCE_COLUMNS

IP_VERSION, ENVIRONMENT, PLATFORM = "IP version", "environment", "platform"
#: Question -> column that differs, its first value, and its second, which is held against the first.
QUESTIONS = {IP_VERSION: ("ip_version", "ipv4", "ipv6"), ENVIRONMENT: ("background", "none", "server")}
PLACE = ("traffic", "background", "ip_version", "platform", "message_bytes", "cca", "rate_mbps")


def size_differences(runs, cells, others, confidence):
    """Return a row for each two cells that are compared.

    Parameters
    ----------
    runs : pandas.DataFrame
        As `size_cells.runs_by_size` gives it.
    cells : pandas.DataFrame
        As `size_cells.size_cells` gives it.
    others : pandas.DataFrame or None
        Those of the study that carried the same scenarios on another platform.
    confidence : float

    Raises
    ------
    ValueError
        If two scenarios are alike in all that cells are compared by.
    """
    rows = []
    for question, (column, first, second) in QUESTIONS.items():
        for a, b in pairs(cells, cells, column, first, second):
            # Both IP versions of a replication have its seed; environments are other scenarios, with seeds of their own.
            values = paired_values(runs, a, b) if question == IP_VERSION else None
            rows.append(compared(question, column, a, b, values, confidence))
    if others is not None and len(others):
        names = {"first": cells["platform"].iloc[0], "second": others["platform"].iloc[0]}
        (own, real), (virtual, clock) = sorted(((cells, names["first"]), (others, names["second"])), key=lambda item: item[1] == "uml")
        if (own["platform"] == real).all() and real != clock:
            for a, b in pairs(virtual, own, "platform", clock, real):
                rows.append(compared(PLATFORM, "platform", a, b, None, confidence))
    return pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS)


def pairs(firsts, seconds, column, first, second):
    """Yield cells (as dicts) that differ in one column alone."""
    keys = [name for name in PLACE if name != column]
    known = by_place(seconds[seconds[column] == second], keys)
    for key, row in by_place(firsts[firsts[column] == first], keys).items():
        if key in known:
            yield row, known[key]


def by_place(cells, keys):
    """Return place -> cell (as a dict); two cells in one place could only be mistaken for each other."""
    found = {}
    for row in cells.to_dict("records"):
        place = tuple(None if is_missing(row[key]) else row[key] for key in keys)
        if place in found:
            names, alike = f"{found[place]['scenario']} and {row['scenario']}", ", ".join(keys)
            raise ValueError(f"the scenarios {names} are alike in {alike}; expected is one of each to compare sizes")
        found[place] = row
    return found


def paired_values(runs, first, second):
    """Return the differences within replications of two cells, second less first; incomplete pairs are left out."""
    valid = runs[runs["valid"]]
    sides = [
        valid[(valid[CELL] == [cell[name] for name in CELL]).all(axis=1)].set_index("replication")["measured"]
        for cell in (first, second)
    ]
    return (sides[1] - sides[0]).dropna()


def compared(question, column, a, b, values, confidence):
    """Return the row of two cells; ``values`` are differences of pairs, None if the cells are independent."""
    row = dict.fromkeys(DIFFERENCE_COLUMNS) | {name: a[name] for name in (*PLACE, "unit")}
    row |= {"question": question, "first": a[column], "second": b[column], column: "", "note": ""}
    row |= {"cpu_us": b["cpu_us"]} if question == PLATFORM else {}
    for name, cell in (("first", a), ("second", b)):
        row |= {f"n_{name}": cell["n"], f"mean_{name}": cell["mean"]}
    if is_missing(a["mean"]) or is_missing(b["mean"]):
        failed = " ".join(cell["failed_checks"] for cell in (a, b) if is_missing(cell["mean"]))
        return row | {"note": "no valid run on one side", "failed_checks": failed}
    difference = b["mean"] - a["mean"] if values is None or values.empty else values.mean()
    row |= {"difference": difference, "percent": 100 * difference / a["mean"]}
    if values is not None and len(values) >= 2:
        equal = values.min() == values.max()
        row |= dict(zip(("ci_low", "ci_high"), (values.iloc[0],) * 2 if equal else mean_interval(values, confidence)[1:], strict=True))
    elif values is None:
        row |= welch(a, b, confidence)
    if question != PLATFORM and not (is_missing(a["calculated"]) or is_missing(b["calculated"])):
        expected = b["calculated"] - a["calculated"]
        row |= {"expected": expected, "expected_percent": 100 * expected / a["calculated"]}
    if not (is_missing(a["printed_mean"]) or is_missing(b["printed_mean"])):
        row["printed_percent"] = 100 * (b["printed_mean"] / a["printed_mean"] - 1)
    return row


def welch(a, b, confidence):
    """Return Welch's interval (1947) of the difference of two cells' means from their n, means and standard deviations."""
    if min(a["n"], b["n"]) < 2:
        return {"note": "one run on a side: no interval"}
    parts = [cell["sd"] ** 2 / cell["n"] for cell in (a, b)]
    difference, error = b["mean"] - a["mean"], math.sqrt(sum(parts))
    if not error:
        return {"ci_low": difference, "ci_high": difference}
    df = sum(parts) ** 2 / sum(part**2 / (cell["n"] - 1) for part, cell in zip(parts, (a, b), strict=True))
    half = error * float(special.stdtrit(df, (1 + confidence) / 2))
    return {"ci_low": difference - half, "ci_high": difference + half}
