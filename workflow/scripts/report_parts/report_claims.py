"""A paper's claims as the page shows them: ours, the other method's, and whose conclusion each is."""

from number_format import NONE, count, is_missing, number
from report_parts.report_data_tables import Cell, Column, data_table, minus, number_cell, shared_decimals
from report_parts.report_results import Scenarios
from scenario_words import ip_words

REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE = "reproduced", "not reproduced", "not testable"
STYLES = {
    REPRODUCED: "verdict good",
    NOT_REPRODUCED: "verdict bad",
    NOT_TESTABLE: "verdict open",
}
# Whose conclusion a claim is, by the verdicts of the sound method and of the published one.
OWNERS = {
    (REPRODUCED, REPRODUCED): ("TCP's: both methods", "verdict good"),
    (NOT_REPRODUCED, REPRODUCED): ("the emulation's: published method only", "verdict bad"),
    (REPRODUCED, NOT_REPRODUCED): ("the sound method only", "verdict alike"),
    (NOT_REPRODUCED, NOT_REPRODUCED): ("neither", "verdict bad"),
}
OWNER_MEANINGS = {
    "TCP's: both methods": (
        "Reproduced with the sound and with the published method: it doesn't hang on how the network was emulated."
    ),
    "the emulation's: published method only": (
        "Reproduced with the published method, and refuted with the sound one: it comes from how the network was "
        "emulated."
    ),
    "the sound method only": "Refuted with the method by which it was published, reproduced with the sound one.",
    "neither": "Not reproduced with either method.",
    "open": "One of the methods, or both, can't decide it with its runs.",
}


def follows_published_method(scenarios):
    """Return whether a study emulates as the published script does.

    Its mark is netem with delay and loss on both ends of one link, as Mininet places it.
    """
    return bool((scenarios["netem"] == "both-ends").all())


def owner(sound, published):
    """Return whose conclusion a claim is and how that looks, from both methods' verdicts."""
    return OWNERS.get((sound, published), ("open", "verdict open"))


def value_text(row):
    """Return our value with its unit and interval in one line."""
    if is_missing(row["value"]):
        return NONE
    if row["value"] != 0 and abs(row["value"]) < 0.0005:
        return f"{row['value']:.2g}"
    decimals = max(0, shared_decimals(row["value"], row["low"], row["high"]))
    unit = f" {row['unit']}" if row["unit"] else ""
    text = minus(number(row["value"], decimals)) + unit
    if is_missing(row["low"]) and is_missing(row["high"]):
        return text
    low, high = (minus(number(row[end], decimals)) for end in ("low", "high"))
    return f"{text} ({f'{low} to {high}' if high != NONE else f'{low} or more'})"


def claims_table(claims, other=None, swapped=False):
    """Return the table of claims.

    Parameters
    ----------
    claims : pandas.DataFrame
        ``analysis/claims.csv``.
    other : tuple of (str, pandas.DataFrame), optional
        Name and claims of the study of the other method.
    swapped : bool
        Whether this study is the one that follows the published method.

    Returns
    -------
    dict
        As `data_table`.
    """
    columns = [
        Column("Claim", "words", header=True),
        Column("Verdict", filtered=True),
        Column("The paper", "short"),
        Column("Ours, with interval", "short"),
    ]
    if other:
        columns += [
            Column(f"In {other[0]}", "short"),
            Column(f"Verdict in {other[0]}", filtered=True),
            Column("Whose conclusion", "short", filtered=True),
        ]
    columns += [
        Column("Required", "words"),
        Column("Why", "words"),
        Column("Section", "short"),
        Column("Runs (n)", "number"),
    ]
    theirs = {row["claim"]: row for row in other[1].to_dict("records")} if other else {}
    rows = []
    for row in claims.to_dict("records"):
        cells = [row["statement"], verdict_cell(row["verdict"]), row["published"], value_text(row)]
        if other:
            cells += other_cells(row, theirs.get(row["claim"]), swapped)
        why = " ".join(filter(None, [row["because"], row.get("remark", "")]))
        rows.append([*cells, row["requirement"], why, row["section"], number_cell(row["runs"], 0)])
    return data_table("claims-table", "Claims of the paper, one by one", columns, rows)


def other_cells(row, partner, swapped):
    """Return the other method's value and verdict on a claim, and whose conclusion it is."""
    if partner is None:
        return [NONE, "not checked", Cell("open", style="verdict open")]
    verdicts = row["verdict"], partner["verdict"]
    text, style = owner(*(reversed(verdicts) if swapped else verdicts))
    return [value_text(partner), verdict_cell(partner["verdict"]), Cell(text, style=style)]


def verdict_cell(verdict):
    """Return a verdict's cell."""
    return Cell(verdict, style=STYLES.get(verdict, "verdict open"))


def tally(claims, other=None, swapped=False):
    """Return how many claims came out how: pairs of words and number; then whose they are."""
    verdicts = [
        (verdict, STYLES[verdict], int((claims["verdict"] == verdict).sum())) for verdict in STYLES
    ]
    if not other:
        return verdicts, []
    both = claims.merge(other[1], on="claim", suffixes=("", "_other"))
    counts = dict.fromkeys(OWNER_MEANINGS, 0)
    for row in both.to_dict("records"):
        pair = row["verdict"], row["verdict_other"]
        counts[owner(*(reversed(pair) if swapped else pair))[0]] += 1
    counts["open"] += len(claims) - len(both)
    return verdicts, [(name, OWNER_MEANINGS[name], number_of) for name, number_of in counts.items()]


MISLABELLED_VALUES = (
    ("goodput_mbps", "Goodput", "Mbit/s"),
    ("rtt_mean_ms", "RTT", "ms"),
    ("retransmits", "Retransmissions", "segments"),
)


def mislabelled_table(table, scenarios=None):
    """Return the table of cells in which another CCA ran than the one asked for."""
    columns = [
        Column("Scenario", filtered=True, header=True),
        Column("IP", filtered=True),
        Column("Asked for", filtered=True),
        Column("Ran", filtered=True),
        Column("Runs (n)", "number"),
        Column("Identical to what ran", "number"),
    ]
    for _, name, unit in MISLABELLED_VALUES:
        columns += [
            Column(f"{name} under the wrong name, {unit}", "number"),
            Column(f"{name} of the CCA asked for", "number"),
            Column(f"{name} of the CCA that ran", "number"),
        ]
    places = Scenarios(scenarios) if scenarios is not None else None
    rows = []
    for row in table.to_dict("records"):
        cells = [
            places.cell(row) if places else row["scenario_label"],
            ip_words(row["ip_version"]),
            row["cca"],
            row["observed"],
            number_cell(row["runs"], 0),
            Cell(f"{number(row['identical_runs'], 0)} of {number(row['runs'], 0)}", row["identical_runs"])
            if not is_missing(row["identical_runs"])
            else Cell(NONE),
        ]
        for column, *_ in MISLABELLED_VALUES:
            cells += [number_cell(row[f"{column}{end}"]) for end in ("", "_asked", "_observed")]
        rows.append(cells)
    caption = "Cells in which another CCA ran than the one asked for: means of the runs"
    return data_table("mislabelled-table", caption, columns, rows)


def listed(names):
    """Return "vegas, veno and westwood"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def mislabelled_words(table, study):
    """Return what the mislabelled cells show, in two sentences."""
    runs = int(table["runs"].sum())
    same = int(table["identical_runs"].fillna(0).sum())
    asked, ran = (listed(list(dict.fromkeys(table[column]))) for column in ("cca", "observed"))
    where = f" of the study {study}" if study else ""
    text = (
        f"In {count(runs, 'run')}{where} {asked} {'was' if table['cca'].nunique() == 1 else 'were'} asked for and "
        f"{ran} ran: the kernel refused the sysctl, and iperf3 named what it used."
    )
    if same:
        verb = "is" if same == 1 else "are"
        text += (
            f" In goodput, RTT and retransmissions {same:,} of them {verb} equal, digit by digit, "
            f"to {ran}'s own run with the same seed."
        )
    return text
