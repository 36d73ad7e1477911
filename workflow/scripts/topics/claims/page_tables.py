"""Tables of the page on a paper's claims: the values from both studies, and the origin of each conclusion."""

import math

from report_parts.cells_table import IP_KEY, SCENARIO, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, minus, shared_decimals
from report_parts.hypothesis_cells import shown_scenario
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE, REPRODUCED
from wording.number_format import NONE, count, is_missing, number
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed, short

STYLES = {
    REPRODUCED: "verdict good", NOT_REPRODUCED: "verdict bad", NOT_SHOWN: "verdict open", NOT_TESTABLE: "verdict open",
}  # fmt: skip
# Verdicts with the sound method and with the published method -> what the claim's conclusion is due to, and the style of the cell.
OWNERS = {
    (REPRODUCED, REPRODUCED): ("TCP's: both methods", "verdict good"),
    (NOT_REPRODUCED, REPRODUCED): ("the emulation's: published method only", "verdict bad"),
    (REPRODUCED, NOT_REPRODUCED): ("the sound method only", "verdict alike"),
    (NOT_REPRODUCED, NOT_REPRODUCED): ("neither", "verdict bad"),
}
#: Largest number of decimals shown. A value that differs from a bound only in later decimals is shown as equal to the bound.
MOST_DECIMALS = 6
# Kinds of claims about the result of a test on all runs pooled. Even if both methods agree on such a claim, they show nothing about TCP.
TEST_KINDS = ("normality",)
TESTS_OWN = "the test's: pooling gives it with both methods"
OWNER_MEANINGS = {
    "TCP's: both methods": (
        "Reproduced with both the sound and the published method: the conclusion doesn't depend on how the network was emulated."
    ),
    TESTS_OWN: (
        "The paper's own test on all runs pooled gives this result with both methods, because pooling mixes scenarios and CCAs: "
        "the result is a property of the test, not of TCP."
    ),
    "the emulation's: published method only": (
        "Reproduced with the published method, but refuted with the sound one: the conclusion is due to the way the network was "
        "emulated."
    ),
    "the sound method only": "Refuted with the published method, reproduced with the sound one.",
    "neither": "Not reproduced with either method.",
    "open": "The runs of one or both methods can't decide the claim.",
}


def follows_published_method(scenarios) -> bool:
    """Return whether all scenarios place netem at both ends of a link.

    This is how Mininet, and therefore the published script, emulates a path.
    """
    return bool((scenarios["netem"] == "both-ends").all())


def owner(sound, published, kind="") -> tuple[str, str]:
    """Return the origin of a claim's conclusion (TCP, emulation or test), and the style of the table's cell.

    The origin follows from the verdicts with both methods.
    """
    if kind in TEST_KINDS and (sound, published) == (REPRODUCED, REPRODUCED):
        return TESTS_OWN, "verdict alike"
    return OWNERS.get((sound, published), ("open", "verdict open"))


def value_text(row) -> str:
    """Return our value, its unit and its interval as one line of text."""
    if is_missing(row["value"]):
        return NONE
    has_interval = not (is_missing(row["low"]) and is_missing(row["high"]))
    decimals, unit = _claim_decimals(row), f" {row['unit']}" if row["unit"] else ""
    if row["value"] != 0 and abs(row["value"]) < 0.0005 and not has_interval:  # such as the p-value of a test
        return f"{row['value']:.2g}{unit}"
    text = minus(number(row["value"], decimals)) + unit
    if not has_interval:
        return text
    low, high = (minus(number(row[end], decimals)) for end in ("low", "high"))
    return f"{text} ({f'{low} to {high}' if high != NONE else f'{low} or more'})"


def _claim_decimals(row):
    """Return the number of decimals with which our value and its interval are shown.

    Readers compare these numbers with the bounds, so the numbers have at least as many decimals as the bounds. More decimals are used if a
    value would otherwise appear equal to a bound from which it differs.
    """
    ours = [row[name] for name in ("value", "low", "high") if not is_missing(row[name])]
    bounds = row.get("bounds", "").split()
    decimals = max([shared_decimals(*ours), *(len(bound.partition(".")[2]) for bound in bounds)])
    apart = [(value, float(bound)) for value in ours for bound in bounds if not math.isclose(value, float(bound))]
    while decimals < MOST_DECIMALS and any(round(value, decimals) == bound for value, bound in apart):
        decimals += 1
    return decimals


def claims_table(claims, other=None, swapped=False, quoted=False) -> dict:
    """Return the page's table of `CLAIMS`.

    Parameters
    ----------
    other : tuple of (str, pandas.DataFrame), optional
        Name and claims of the study that uses the other method.
    swapped : bool
        Whether this study, rather than the other one, follows the published method.
    quoted : bool
        Whether the statements are the paper's own words, which are put in quotation marks.
    """
    shown = (
        shown_text("Claim", "statement", "\u201c{}\u201d".format if quoted else None, kind="words", header=True),
        shown_cell("Verdict", lambda row: _verdict_cell(row["verdict"]), filtered=True),
        shown_text("The paper", "published", kind="short"),
        shown_cell("Ours, with interval", value_text, "short"),
        *(_of_other(*other, swapped) if other else ()),
        shown_text("Kind of interval", "interval", empty=NONE, filtered=True),
        shown_text("Required", "requirement", kind="words"),
        shown_text("Our tolerance", "tolerance", kind="words"),
        shown_text("Why", "because", kind="words"),
        shown_text("Cause", "cause", kind="words"),
        shown_text("Remark", "remark", kind="words"),
        shown_text("Section", "section", kind="short"),
        shown_number("Runs (n)", "runs", 0),
    )
    return cells_table("claims-table", "Claims of the paper, one by one", claims, shown)


def _of_other(study, claims, swapped):
    """Return the columns with the other study's value and verdict for each claim, and the origin of the conclusion."""
    partners = {row["claim"]: row for row in claims.to_dict("records")}

    def value(row):
        return value_text(partners[row["claim"]]) if row["claim"] in partners else NONE

    def verdict(row):
        return _verdict_cell(partners[row["claim"]]["verdict"]) if row["claim"] in partners else "not checked"

    def whose(row):
        if row["claim"] not in partners:
            return Cell("open", style="verdict open")
        verdicts = row["verdict"], partners[row["claim"]]["verdict"]
        text, style = owner(*(reversed(verdicts) if swapped else verdicts), row["kind"])
        return Cell(text, style=style)

    return (
        shown_cell(f"In {study}", value, "short"),
        shown_cell(f"Verdict in {study}", verdict, filtered=True),
        shown_cell("Whose conclusion", whose, "short", filtered=True),
    )


def _verdict_cell(verdict):
    return Cell(verdict, style=STYLES.get(verdict, "verdict open"))


def chance_words(claims, confidence) -> str:
    """Report the number of claims and the number of verdicts expected to be wrong by chance."""
    decided = int(claims["verdict"].isin([REPRODUCED, NOT_REPRODUCED]).sum())
    tail = (1 - confidence) / 2
    text = f"{count(len(claims), 'claim')} of the paper {'was' if len(claims) == 1 else 'were'} checked"
    if not decided:
        return f"{text}, and none was decided."
    return (
        f"{text}, and {decided:,} could be decided. An interval lies entirely above the true value in {100 * tail:g} % of studies, and "
        f"entirely below it equally often. If each decided claim lay exactly at the edge of its requirement, chance would decide "
        f"{number(tail * decided, 1)} of the {decided:,} wrongly on average. The verdicts aren't corrected for the number of claims, "
        f"because each claim is judged by itself."
    )


def version_words(versions) -> str:
    """Report the number of runs that had been recorded when the claims were fixed, and later changes to the claims."""
    first, later = versions.iloc[0], versions.iloc[1:]
    when = "before the first run" if first["runs"] == 0 else f"when {count(int(first['runs']), 'run')} had been made"
    text = f"The claims were fixed {when} (SHA-256 {first['sha256'][:16]}…)"
    if later.empty:
        return f"{text} and haven't been changed since."
    parts = []
    for _, rows in later.groupby("version", sort=True):
        runs = int(rows["runs"].iloc[0])
        words = [
            f"{change} {listed(list(of['claim']))}" if of["claim"].iloc[0] else change
            for change, of in rows.groupby("change", sort=False)
        ]
        parts.append(
            f"after {count(runs, 'run')}, {', '.join(words)}" if runs else f"before any run, {', '.join(words)}"
        )
    return f"{text}. Later changes: {'; '.join(parts)}."


def tally(claims, other=None, swapped=False) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Count the claims by verdict and, if there is another study, by the origin of the conclusion (`owner`).

    Returns two lists of tuples: (verdict, style, number), and (origin, meaning, number). The second list is empty if there is no other
    study.
    """
    verdicts = [(verdict, STYLES[verdict], int((claims["verdict"] == verdict).sum())) for verdict in STYLES]
    if not other:
        return verdicts, []
    both = claims.merge(other[1], on="claim", suffixes=("", "_other"))
    counts = dict.fromkeys(OWNER_MEANINGS, 0)
    for row in both.to_dict("records"):
        pair = row["verdict"], row["verdict_other"]
        counts[owner(*(reversed(pair) if swapped else pair), row["kind"])[0]] += 1
    counts["open"] += len(claims) - len(both)
    return verdicts, [(name, OWNER_MEANINGS[name], number_of) for name, number_of in counts.items()]


MISLABELLED_VALUES = (
    ("goodput_mbps", "Goodput", "Mbit/s"),
    ("rtt_mean_ms", "RTT", "ms"),
    ("retransmits", "Retransmissions", "segments"),
)


def _same_as_words(same_as):
    return listed([cca_name(name) for name in same_as.split(", ")]) if same_as else NONE


def _identical_cell(row):
    if is_missing(row["identical_runs"]):
        return Cell(NONE)
    return Cell(f"{number(row['identical_runs'], 0)} of {number(row['runs'], 0)}", row["identical_runs"])


MISLABELLED = (
    IP_KEY, shown_text("Asked for", "cca", cca_name, filtered=True),
    shown_text("Ran", "observed", cca_name, filtered=True), shown_number("Runs (n)", "runs", 0),
    shown_text("Same means as", "same_as", _same_as_words, kind="short"),
    shown_cell("Identical to runs of the CCA that ran", _identical_cell, "number"),
    *( shown_number(f"{name} {words}", f"{column}{end}") for column, name, unit in MISLABELLED_VALUES for words, end in ( (f"under the wrong name, {unit}", ""), ("of the requested CCA", "_asked"), ("of the CCA that ran", "_observed"), ) ),
)  # fmt: skip


def mislabelled_table(table, scenarios=None) -> dict:
    """Return the table of cells in which a CCA other than the requested one ran."""
    scenario = SCENARIO if scenarios is None else shown_scenario(scenarios)
    caption = "Cells in which a CCA other than the requested one ran: means of the runs"
    return cells_table("mislabelled-table", caption, table, (scenario, *MISLABELLED))


def mislabelled_words(table, study) -> str:
    """Describe the requested CCAs, the CCAs that ran, and the wrong results that would have been published.

    ``study`` is the name of the study with these runs, or None if they are runs of the page's study.
    """
    runs = int(table["runs"].sum())
    asked, ran = (listed([cca_name(name) for name in dict.fromkeys(table[column])]) for column in ("cca", "observed"))
    where = f" of the study {study}" if study else ""
    words = [
        f"In {count(runs, 'run')}{where} the kernel refused the sysctl: "
        f"{asked} {'was' if table['cca'].nunique() == 1 else 'were'} requested, but iperf3's own report shows that {ran} ran.",
        _proof_words(table),
        _example_words(table),
    ]
    same = int(table["identical_runs"].fillna(0).sum())
    if same:
        verb = "is" if same == 1 else "are"
        words.append(
            f"{same:,} of the {count(runs, 'run')} {verb} identical to {ran}'s own run with the same seed in every digit "
            f"of goodput, RTT and retransmissions."
        )
    return " ".join(filter(None, words))


def _proof_words(table):
    """Describe the cases in which runs that agree to the last digit would have been published under the names of several CCAs."""
    twins = table[table["same_as"] != ""]
    if twins.empty:
        return ""
    groups = dict.fromkeys(
        (row["scenario"], row["ip_version"], frozenset([row["cca"], *row["same_as"].split(", ")]))
        for row in twins.to_dict("records")
    )
    largest = max((names for *_, names in groups), key=len)
    # In the order of the table, which is the study's order.
    names = [cca_name(name) for name in dict.fromkeys(table["cca"]) if name in largest]
    fewest, most = (number(end, 0) for end in (twins["runs"].min(), twins["runs"].max()))
    every = f"all {fewest if fewest == most else f'{fewest} to {most}'} replications" if most != "1" else "the only run"
    alike = all(names == largest for *_, names in groups)
    return (
        f"A script that doesn't read the setting back would have published {listed(names)} as "
        f"{count(len(names), 'CCA')} "
        f"that have the same goodput, RTT and retransmissions to the last digit in {every} of "
        f"{count(len(groups), 'combination')} of scenario and IP version"
        f"{'' if alike else ' (in some, only a few of these CCAs)'}, "
        f"because all of them are {listed(list(dict.fromkeys(map(cca_name, twins['observed']))))}."
    )


def _example_words(table):
    """Give an example: the goodput under a wrong name, and the true goodput of the requested CCA.

    The example is the cell with the most extreme ratio of the two.
    """
    known = table[(table["goodput_mbps"] > 0) & (table["goodput_mbps_asked"] > 0)].reset_index(drop=True)
    if known.empty:
        return ""
    row = known.loc[(known["goodput_mbps"] / known["goodput_mbps_asked"]).apply(math.log).abs().idxmax()]
    group = [row["cca"], *filter(None, row["same_as"].split(", "))]
    here = known[(known[["scenario", "ip_version"]] == row[["scenario", "ip_version"]]).all(axis=1)]
    true = {name: here.loc[here["cca"] == name, "goodput_mbps_asked"] for name in dict.fromkeys(here["cca"])}
    true = [f"true {cca_name(name)} has {short(values.iloc[0])}" for name, values in true.items() if name in group]
    names = "the name" if len(group) == 1 else f"all {len(group)} names"
    return (
        f"In scenario \u201c{row['scenario_label']}\u201d over {ip_words(row['ip_version'])}, for example, "
        f"{short(row['goodput_mbps'])} Mbit/s would be published under {names}; in the same conditions "
        f"{listed(true)} Mbit/s."
    )
