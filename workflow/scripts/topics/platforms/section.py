"""The section on platforms: Linux against a simulator, and the simulator's versions against each other."""

from report_parts.data_tables import Cell, Column, data_table, effect_cells, number_cell, signed
from report_parts.material import Finding
from topics.buffers.kato_table import KATO_PAPER
from topics.platforms.ns3_releases import changes_between
from topics.platforms.platform_causes import ALIKE, BOTH, NEW_VERSION, OLD_VERSION, SIMULATOR, UNKNOWN
from wording.number_format import NONE, count, is_missing
from wording.scenario_series import compared_platforms, main_pairs, platform_name, platforms_of, version_of
from wording.scenario_words import ip_words
from wording.sentence_words import cca_name, listed

METRIC_NAMES = {
    "goodput_mbps": "Goodput",
    "jain_index": "Jain's index",
    "rtt_mean_ms": "Mean RTT",
    "loss_percent": "Loss",
    "retransmits": "Retransmissions",
}
STYLES = {"agree": "verdict alike", "differ": "verdict differs", "not shown": "verdict open"}
CAUSE_MEANINGS = {
    ALIKE: "All three comparisons agree within the tolerance.",
    OLD_VERSION: "The newest version agrees with Linux, the oldest with neither: it was mended between them.",
    NEW_VERSION: "The oldest version agrees with Linux, the newest with neither: it came in between them.",
    SIMULATOR: "Both versions agree with each other, neither with Linux.",
    BOTH: "All three are further apart than the tolerance.",
    UNKNOWN: "A comparison shows neither agreement nor difference, or the three don't fit together.",
}
# Columns of platform_causes.csv: each step, and what its comparison shows.
STEPS = (
    ("kernel_to_newest", "verdict_newest"),
    ("newest_to_oldest", "verdict_versions"),
    ("kernel_to_oldest", "verdict_oldest"),
)
# CCAs that follow standards which Linux and the simulator both implement: their agreement is what is expected.
STANDARD_CCAS = ("cubic", "reno")


def section(material) -> dict | None:
    """Return what the template needs, None if no conditions have two platforms."""
    table, causes = material.tables.platforms, material.tables.platform_causes
    if table.empty:
        return None
    return {
        "names": listed([platform_name(platform) for platform in platforms_of(material.tables.scenarios)]),
        "tolerances": tolerance_words(table),
        "reason": material.params["analysis"]["agreement"]["reason"],
        "summary": summary_rows(table, main_pairs(compared_platforms(table))),
        "metrics": list(METRIC_NAMES.values()),
        "table": comparison_table(table, material.design),
        "causes": causes_table(causes, material.design) if len(causes) else None,
        "cause_meanings": [(cause, CAUSE_MEANINGS[cause]) for cause in CAUSE_MEANINGS if cause in set(causes["cause"])],
        "steps": step_rows(table),
        "of_the_paper": material.design.claims == KATO_PAPER,
        "has_kernel": any(":" not in platform for platform in material.design.platforms),
        "has_simulator": any(":" in platform for platform in material.design.platforms),
        "standard": listed([cca_name(cca) for cca in STANDARD_CCAS if cca in material.design.ccas] or ["none"]),
        "has_standard": any(cca in material.design.ccas for cca in STANDARD_CCAS),
    }


def pair_name(pair) -> str:
    """Return "ns-3 3.44 against Linux" for (uml, ns3:3.44)."""
    return f"{platform_name(pair[1])} against {platform_name(pair[0])}"


def tolerance_words(table) -> str:
    """Return the tolerance of each metric: "goodput within -10 to +10 %"."""
    words = []
    for metric, name in METRIC_NAMES.items():
        rows = table[(table["metric"] == metric) & table["tolerance_low"].notna() & (table["scale"] != "relative")]
        if len(rows):
            row = rows.iloc[0]
            ends = f"{signed(row['tolerance_low'])} to {signed(row['tolerance_high'])}"
            words.append(f"{name} {ends} {row['effect_unit']}".strip())
    return "; ".join(words)


def summary_rows(table, pairs) -> list[dict]:
    """Return, for pairs of platforms and each CCA, in how many conditions they agree, differ, or show neither."""
    rows = []
    for pair in pairs:
        here = table[(table["platform_a"] == pair[0]) & (table["platform_b"] == pair[1])]
        ccas = list(here["cca"].unique())
        for cca in ccas:
            of_cca = here[here["cca"] == cca]
            cells = [verdict_counts(of_cca.loc[of_cca["metric"] == metric, "verdict"]) for metric in METRIC_NAMES]
            rows.append(
                {
                    "pair": pair_name(pair) if cca == ccas[0] else None,
                    "span": len(ccas),
                    "cca": cca_name(cca),
                    "cells": cells,
                }
            )
    return rows


def verdict_counts(verdicts) -> str:
    """Return "all 5 agree", or "3 agree, 2 not shown"."""
    counts = [(verdict, int((verdicts == verdict).sum())) for verdict in STYLES]
    known = [(verdict, n) for verdict, n in counts if n]
    if len(known) == 1 and known[0][1] > 1:
        return f"all {known[0][1]} {known[0][0]}"
    return ", ".join(f"{n} {verdict}" for verdict, n in known)


def comparison_table(table, design) -> dict:
    """Return the table of all comparisons."""
    both = design.ip_versions_compared
    columns = [
        Column("Platforms", filtered=True),
        Column("CCA", filtered=True),
        *([Column("IP version", filtered=True)] if both else []),
        Column("Buffer", filtered=True, header=True),
        Column("Metric", filtered=True),
        Column("First", "number"),
        Column("Second", "number"),
        Column("Difference", "number"),
        Column("Interval", "short"),
        Column("n", "short"),
        Column("Verdict", filtered=True),
        Column("Remark", "note"),
    ]
    rows = []
    for row in table.to_dict("records"):
        shown, ends = effect_cells(row)
        setting = f" ({row['setting']})" if row["setting"] else ""
        rows.append(
            [
                pair_name((row["platform_a"], row["platform_b"])),
                cca_name(row["cca"]),
                *([ip_words(row["ip_version"])] if both else []),
                row["buffer"] + setting,
                METRIC_NAMES[row["metric"]],
                number_cell(row["mean_a"]),
                number_cell(row["mean_b"]),
                shown,
                ends,
                f"{row['n_a']:.0f} and {row['n_b']:.0f}",
                Cell(row["verdict"], None, STYLES[row["verdict"]]),
                row["note"],
            ]
        )
    return data_table(
        "platform-comparisons",
        "Each two platforms in the same conditions: second against first",
        columns,
        rows,
        {"Platforms": pair_name(main_pairs(compared_platforms(table))[0]), "Metric": METRIC_NAMES["goodput_mbps"]},
    )


def causes_table(causes, design) -> dict:
    """Return the table of what differences come from."""
    first, both = causes.iloc[0], design.ip_versions_compared
    old, new, kernel = (platform_name(first[name]) for name in ("oldest", "newest", "kernel"))
    columns = [
        Column("CCA", filtered=True),
        *([Column("IP version", filtered=True)] if both else []),
        Column("Buffer", header=True),
        Column("Metric", filtered=True),
        Column(f"{kernel} to {new}", "number"),
        Column(f"{new} to {old}", "number"),
        Column(f"{kernel} to {old}", "number"),
        Column("The difference is", filtered=True),
    ]
    rows = []
    for row in causes.to_dict("records"):
        steps = [step_of_cause(row, *names) for names in STEPS]
        setting = f" ({row['setting']})" if row["setting"] else ""
        ip = [ip_words(row["ip_version"])] if both else []
        rows.append(
            [cca_name(row["cca"]), *ip, row["buffer"] + setting, METRIC_NAMES[row["metric"]], *steps, cause_words(row)]
        )
    initial = {"Metric": METRIC_NAMES["goodput_mbps"]}
    return data_table("platform-causes", "What differences between platforms come from", columns, rows, initial)


def step_of_cause(row, step, verdict) -> Cell:
    """Return a cell with one of the steps that a difference is made of, styled as its comparison's verdict."""
    if is_missing(row[step]):
        return Cell(NONE)
    return Cell(f"{signed(row[step])} {row['effect_unit']}".strip(), row[step], STYLES[row[verdict]])


def cause_words(row) -> str:
    """Return whose a difference is: "the old version's", "both"."""
    return f"{row['cause']}'s" if row["cause"] in (OLD_VERSION, NEW_VERSION) else row["cause"]


def step_rows(table) -> list[dict]:
    """Return the steps from version to version, where most versions ran the same conditions.

    Returns
    -------
    list of dict
        step, changes (list of str) and rows (CCA, buffer, goodput, Jain's index, both with verdict); empty if no
        conditions have two versions.
    """
    versions = table[table["platform_a"].str.contains(":") & table["platform_b"].str.contains(":")]
    if versions.empty:
        return []
    places = versions.groupby(["conditions", "buffer"], sort=False)
    here = max((group for _, group in places), key=lambda group: group["platform_a"].nunique())
    names = sorted({*here["platform_a"], *here["platform_b"]}, key=version_of)
    steps = []
    for older, newer in zip(names, names[1:], strict=False):
        step = here[(here["platform_a"] == older) & (here["platform_b"] == newer)]
        rows = []
        for cca in step["cca"].unique():
            cells = [
                step_cell(step[(step["cca"] == cca) & (step["metric"] == metric)])
                for metric in ("goodput_mbps", "jain_index")
            ]
            rows.append({"cca": cca_name(cca), "cells": cells})
        name = f"{platform_name(older)} to {newer.partition(':')[2]}"
        changes = changes_between(version_of(older), version_of(newer))
        steps.append({"step": name, "changes": changes, "rows": rows, "buffer": step["buffer"].iloc[0]})
    return steps


def step_cell(rows) -> dict[str, str]:
    """Return a step's difference with interval and verdict, as text and style."""
    if rows.empty or is_missing(rows.iloc[0]["effect"]):
        return {"text": "no value", "style": "verdict open"}
    row = rows.iloc[0]
    shown, ends = effect_cells(row)
    text = shown.text.strip() if ends.text == NONE else f"{shown.text.strip()} ({ends.text})"
    return {"text": f"{text}: {row['verdict']}", "style": STYLES[row["verdict"]]}


def findings(material) -> list[Finding]:
    """Say how often the newest simulator agrees with Linux, and what the difference of versions is."""
    table, causes = material.tables.platforms, material.tables.platform_causes
    if table.empty:
        return []
    sentences = []
    order = platforms_of(material.tables.scenarios)
    kernels, versions = [name for name in order if ":" not in name], [name for name in order if ":" in name]
    if kernels and versions:
        pair = table[
            (table["platform_a"] == kernels[0])
            & (table["platform_b"] == versions[-1])
            & table["metric"].isin(("goodput_mbps", "jain_index", "rtt_mean_ms"))
        ]
        standard = [cca for cca in material.design.ccas if cca in STANDARD_CCAS]
        for ccas in (standard, [cca for cca in material.design.ccas if cca not in standard]):
            of_ccas = pair[pair["cca"].isin(ccas)]
            if ccas and len(of_ccas):
                sentences.append(agreement_sentence(of_ccas, ccas, kernels[0], versions[-1]))
    if len(versions) > 1:
        sentences += [versions_sentence(table, causes, versions), steps_sentence(step_rows(table))]
    return [Finding("Platforms", sentence, "platforms") for sentence in sentences if sentence]


def agreement_sentence(rows, ccas, kernel, version) -> str:
    """Say in how many comparisons two platforms agree, in goodput, Jain's index and mean RTT."""
    counts = {verdict: int((rows["verdict"] == verdict).sum()) for verdict in STYLES}
    names = listed([cca_name(cca) for cca in ccas])
    runs = f"{rows['n_a'].min():.0f} and {rows['n_b'].min():.0f}"
    worst = rows[rows["effect"].notna() & (rows["metric"] == "goodput_mbps")]
    ends = ""
    if len(worst):
        row = worst.loc[worst["effect"].abs().idxmax()]
        shown, interval = effect_cells(row)
        within = "" if interval.text == NONE else f", interval {interval.text}"
        where = f"with {cca_name(row['cca'])} and a buffer of {row['buffer']}"
        ends = f"; in goodput they are furthest apart {where}: {shown.text}{within}"
    return (
        f"{names}: {platform_name(version)} agrees with {platform_name(kernel)} within the study's tolerance in "
        f"{counts['agree']} of {count(len(rows), 'comparison')} of goodput, Jain's index and mean RTT, and differs by "
        f"more in {counts['differ']} (at least {runs} runs each){ends}."
    )


def versions_sentence(table, causes, versions) -> str | None:
    """Say in how many comparisons the oldest and newest version differ, and where that is the old one's."""
    pair = table[(table["platform_a"] == versions[0]) & (table["platform_b"] == versions[-1])]
    pair = pair[pair["metric"].isin(("goodput_mbps", "jain_index"))]
    if pair.empty:
        return None
    parts = []
    for cca in pair["cca"].unique():
        verdicts = pair.loc[pair["cca"] == cca, "verdict"]
        parts.append(f"{cca_name(cca)} in {int((verdicts == 'differ').sum())} of {len(verdicts)}")
    old = int((causes["cause"] == OLD_VERSION).sum()) if len(causes) else 0
    ending = ""
    if len(causes):
        cases = f"{old} of {count(len(causes), 'case')} of all metrics"
        ending = f"; in {cases} the newest agrees with Linux and the oldest with neither"
    names = f"{platform_name(versions[0])} and {versions[-1].partition(':')[2]}"
    return f"{names} differ in goodput or Jain's index by more than the tolerance: {listed(parts)} comparisons{ending}."


def steps_sentence(steps) -> str | None:
    """Say which releases made a difference beyond the tolerance, None for fewer than two steps.

    Parameters
    ----------
    steps : list of dict
        As `step_rows` gives.
    """
    if len(steps) < 2:
        return None
    parts, quiet = [], []
    for step in steps:
        changed = [
            f"{row['cca']} in {name} {cell['text'].rpartition(':')[0]}"
            for row in step["rows"]
            for name, cell in zip(("goodput", "Jain's index"), row["cells"], strict=True)
            if cell["style"] == STYLES["differ"]
        ]
        if changed:
            parts.append(f"{step['step']} changes {listed(changed)}")
        else:
            quiet.append(step["step"])
    if quiet:
        parts.append(f"no difference beyond the tolerance is shown from {listed(quiet)}")
    return f"Release by release, with a buffer of {steps[0]['buffer']}: {'; '.join(parts)}."
