"""The section on platforms: Linux as a guest, the machine's own Linux, and a simulator in several versions."""

from report_parts.cells_table import CCA, IP_VERSION, cells_table, shown_cell, shown_number, shown_text
from report_parts.data_tables import Cell, effect_cells, signed
from report_parts.material import Finding
from topics.buffers.kato_table import KATO_PAPER
from topics.platforms.ns3_releases import changes_between
from topics.platforms.platform_causes import ALIKE, BOTH, NEW_VERSION, OLD_VERSION, SIMULATOR, UNKNOWN
from topics.platforms.start_words import STARTS, buffer_words, pair_words, start_sentences
from wording.number_format import NONE, count, is_missing
from wording.scenario_series import (
    KERNELS,
    compared_platforms,
    main_pairs,
    platform_name,
    platforms_of,
    version_of,
    with_series,
)
from wording.sentence_words import cca_name, listed

GOODPUT = "Goodput"
METRIC_NAMES = {
    "goodput_mbps": GOODPUT, "jain_index": "Jain's index", "rtt_mean_ms": "Mean RTT", "loss_percent": "Loss",
    "retransmits": "Retransmissions",
}  # fmt: skip
STYLES = {"agree": "verdict alike", "differ": "verdict differs", "not shown": "verdict open"}
CAUSE_MEANINGS = {
    ALIKE: "All three comparisons agree within the tolerance.",
    OLD_VERSION: "The newest version agrees with Linux, and the oldest version agrees with neither: a fix was made between the two versions.",
    NEW_VERSION: "The oldest version agrees with Linux, and the newest version agrees with neither: the difference was introduced between the two versions.",
    SIMULATOR: "Both versions agree with each other, but neither agrees with Linux.",
    BOTH: "All three comparisons show a difference beyond the tolerance.",
    UNKNOWN: "A comparison shows neither agreement nor difference, or the three results are inconsistent.",
}
#: Property in which two kernels' environments may differ -> name and possible effect of the property. Versions of the
#: image's tools (names with the suffix `_version`) are equal if the digests of the images are equal.
PROPERTIES = {
    "kernel": ("Kernel", "The code of TCP, of the queues and of the timers."),
    "kernel_build": ("Kernel's build", "SMP or a single processor, and the preemption model."),
    "kernel_config_sha256": ("Kernel's configuration (SHA-256)", "The kernel's options; those that affect results are read back in each run."),
    "tick_hz": ("Tick in Hz", "The granularity of TCP's timers for delayed acknowledgements and retransmissions."),
    "clock": ("Clock", "Time that programs, interrupts and late timers take; under a virtual clock, only the network takes time."),
    "cpu_model": ("Processor", "Duration of programs and interrupts."),
    "cpu_cores": ("Cores of the machine", "Execution of sender and receiver at the same time."),
    "image_digest": ("Container image", "The tools. Repeat the runs with the same image on both platforms."),
    "testbed_digest": ("Testbed program", "The network itself. Repeat the runs with the same program on both platforms."),
}  # fmt: skip
#: How many characters of a digest are shown.
DIGEST_SHOWN = 16
#: Metrics for which the steps from release to release are shown -> their names.
STEP_METRICS = {"goodput_mbps": "goodput", "jain_index": "Jain's index"}
# CCAs that both Linux and the simulator implement according to the same standards: the two are expected to agree.
STANDARD_CCAS = ("cubic", "reno")


METRIC = shown_text("Metric", "metric", METRIC_NAMES.__getitem__, filtered=True)
COMPARISONS = (
    shown_cell("Platforms", pair_words, filtered=True), CCA, IP_VERSION,
    shown_cell("Buffer", buffer_words, filtered=True, header=True), METRIC, shown_number("First", "mean_a"),
    shown_number("Second", "mean_b"), shown_cell("Difference", lambda row: effect_cells(row)[0], "number"),
    shown_cell("Interval", lambda row: effect_cells(row)[1], "short"),
    shown_cell("n", lambda row: f"{row['n_a']:.0f} and {row['n_b']:.0f}", "short"),
    shown_cell("Verdict", lambda row: Cell(row["verdict"], None, STYLES[row["verdict"]]), filtered=True),
    shown_text("Remark", "note", kind="note"),
)  # fmt: skip
STARTS_CAPTION = (
    "When differences in goodput arise: the second platform relative to the first, then the values on both platforms"
)


def section(material) -> dict | None:
    """Return the template's variables; None if no conditions were run on two platforms."""
    table, causes = material.tables.platforms, material.tables.platform_causes
    if table.empty:
        return None
    standard = [cca_name(cca) for cca in STANDARD_CCAS if cca in material.design.ccas]
    return {
        "names": listed([platform_name(platform) for platform in platforms_of(material.tables.scenarios)]),
        "tolerances": _tolerance_words(table),
        "reason": material.params["analysis"]["agreement"]["reason"],
        "summary": _summary_rows(table, main_pairs(compared_platforms(table))),
        "metrics": list(METRIC_NAMES.values()),
        "table": _comparison_table(table, material.design),
        "causes": _causes_table(causes, material.design) if len(causes) else None,
        "cause_meanings": [pair for pair in CAUSE_MEANINGS.items() if pair[0] in set(causes["cause"])],
        "steps": step_rows(table),
        "starts": cells_table(
            "platform-starts", STARTS_CAPTION, material.tables.platform_starts, STARTS, material.design
        ),
        "start_sentences": start_sentences(material.tables.platform_starts, _durations(material.tables)),
        "of_the_paper": material.design.claims == KATO_PAPER,
        "kernels": _kernel_rows(material.tables.kernel_environments),
        "kernel_names": list(KERNELS.values()),
        "has_kernel": any(":" not in platform for platform in material.design.platforms),
        "has_simulator": any(":" in platform for platform in material.design.platforms),
        "standard": listed(standard or ["none"]),
        "has_standard": bool(standard),
    }


def _kernel_rows(environments):
    """Return a row (name, values, meaning) for each property that differs between two kernels; empty unless there are two kernels."""
    rows = []
    for row in environments.to_dict("records"):
        name, meaning = PROPERTIES.get(row["property"], (row["property"].replace("_", " "), ""))
        # The first characters suffice to distinguish digests, and keep the table no wider than the page.
        length = DIGEST_SHOWN if any(part in row["property"] for part in ("digest", "sha256")) else None
        values = [NONE if is_missing(row[key]) else str(row[key])[:length] for key in ("value_a", "value_b")]
        rows.append({"name": name, "values": values, "meaning": meaning})
    return rows


def _tolerance_words(table):
    """Return the tolerance of each metric: "goodput within -10 to +10 %"."""
    words = []
    for metric, name in METRIC_NAMES.items():
        rows = table[(table["metric"] == metric) & table["tolerance_low"].notna() & (table["scale"] != "relative")]
        if len(rows):
            row = rows.iloc[0]
            ends = f"{signed(row['tolerance_low'])} to {signed(row['tolerance_high'])}"
            words.append(f"{name} {ends} {row['effect_unit']}".strip())
    return "; ".join(words)


def _summary_rows(table, pairs):
    """Return one row for each pair of platforms and each CCA; for each metric, a cell counts the conditions by verdict."""
    rows = []
    for pair in pairs:
        here = table[(table["platform_a"] == pair[0]) & (table["platform_b"] == pair[1])]
        ccas = list(here["cca"].unique())
        for cca in ccas:
            of_cca = here[here["cca"] == cca]
            cells = [_verdict_counts(of_cca.loc[of_cca["metric"] == metric, "verdict"]) for metric in METRIC_NAMES]
            name = pair_words({"platform_a": pair[0], "platform_b": pair[1]}) if cca == ccas[0] else None
            rows.append({"pair": name, "span": len(ccas), "cca": cca_name(cca), "cells": cells})
    return rows


def _verdict_counts(verdicts):
    """Return "all 5 agree", or "3 agree, 2 not shown"."""
    known = [(n, verdict) for verdict in STYLES if (n := int((verdicts == verdict).sum()))]
    all_of = "all " if len(known) == 1 and known[0][0] > 1 else ""
    return all_of + ", ".join(f"{n} {verdict}" for n, verdict in known)


def _comparison_table(table, design):
    """Return the table of all comparisons."""
    first, second = main_pairs(compared_platforms(table))[0]
    initial = {"Platforms": pair_words({"platform_a": first, "platform_b": second}), "Metric": GOODPUT}
    caption = "Pairs of platforms under the same conditions: second relative to first"
    return cells_table("platform-comparisons", caption, table, COMPARISONS, design, initial=initial)


def _causes_table(causes, design):
    """Return the table of the causes of differences."""
    old, new, kernel = (platform_name(causes.iloc[0][name]) for name in ("oldest", "newest", "kernel"))
    shown = (
        CCA,
        IP_VERSION,
        shown_cell("Buffer", buffer_words, header=True),
        METRIC,
        _step_of_cause(f"{kernel} to {new}", "kernel_to_newest", "verdict_newest"),
        _step_of_cause(f"{new} to {old}", "newest_to_oldest", "verdict_versions"),
        _step_of_cause(f"{kernel} to {old}", "kernel_to_oldest", "verdict_oldest"),
        shown_text("The difference is", "cause", _cause_words, filtered=True),
    )
    caption = "Origins of differences between platforms"
    return cells_table("platform-causes", caption, causes, shown, design, initial={"Metric": GOODPUT})


def _durations(tables):
    """Return buffer -> sending time of the flows in s; buffers whose scenarios have different sending times are omitted."""
    durations = with_series(tables.scenarios).groupby("buffer")["duration_s"].unique()
    return {buffer: float(values[0]) for buffer, values in durations.items() if len(values) == 1}


def _step_of_cause(heading, step, verdict):
    """Return the column with the change from one platform to another; the verdict on the change determines a cell's style."""

    def cell(row):
        if is_missing(row[step]):
            return Cell(NONE)
        return Cell(f"{signed(row[step])} {row['effect_unit']}".strip(), row[step], STYLES[row[verdict]])

    return shown_cell(heading, cell, "number")


def _cause_words(cause):
    """Return, in words, the cause of a difference: "the old version's", "both"."""
    return f"{cause}'s" if cause in (OLD_VERSION, NEW_VERSION) else cause


def step_rows(table) -> list[dict]:
    """Return the changes from each simulator version to the next.

    The changes are for the conditions and the buffer that were run with the largest number of versions. The list is empty if no two
    versions are compared.

    Each step is a dict with the keys ``step`` (name of the step), ``changes`` (list of str), ``buffer``, and ``rows``. Each row contains a
    CCA and the cells of goodput and Jain's index.
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
        rows = [
            {"cca": cca_name(cca), "cells": [_step_cell(of_cca[of_cca["metric"] == metric]) for metric in STEP_METRICS]}
            for cca, of_cca in step.groupby("cca", sort=False)
        ]
        name = f"{platform_name(older)} to {newer.partition(':')[2]}"
        changes = changes_between(version_of(older), version_of(newer))
        steps.append({"step": name, "changes": changes, "rows": rows, "buffer": step["buffer"].iloc[0]})
    return steps


def _step_cell(rows):
    """Return the text and the style of a cell: the difference between two successive versions, with interval and verdict."""
    if rows.empty or is_missing(rows.iloc[0]["effect"]):
        return {"text": "no value", "style": "verdict open"}
    row = rows.iloc[0]
    shown, ends = effect_cells(row)
    text = shown.text.strip() if ends.text == NONE else f"{shown.text.strip()} ({ends.text})"
    return {"text": f"{text}: {row['verdict']}", "style": STYLES[row["verdict"]]}


def findings(material) -> list[Finding]:
    """Return the findings about two kernels, the simulator's newest version compared with Linux, and the simulator's versions."""
    table, causes = material.tables.platforms, material.tables.platform_causes
    if table.empty:
        return []
    sentences = []
    order = platforms_of(material.tables.scenarios)
    kernels, versions = [name for name in order if ":" not in name], [name for name in order if ":" in name]
    if len(kernels) > 1:
        ccas = [cca for cca in material.design.ccas if cca in set(table["cca"])]
        shown = _shown(table, *kernels[:2])
        if len(shown):
            sentences.append(_agreement_sentence(shown, ccas, *kernels[:2]))
    if kernels and versions:
        pair = _shown(table, kernels[0], versions[-1])
        standard = [cca for cca in material.design.ccas if cca in STANDARD_CCAS]
        for ccas in (standard, [cca for cca in material.design.ccas if cca not in standard]):
            of_ccas = pair[pair["cca"].isin(ccas)]
            if ccas and len(of_ccas):
                sentences.append(_agreement_sentence(of_ccas, ccas, kernels[0], versions[-1]))
    if len(versions) > 1:
        sentences += [_versions_sentence(table, causes, versions), steps_sentence(step_rows(table))]
    return [Finding("Platforms", sentence, "platforms") for sentence in sentences if sentence]


def _shown(table, platform_a, platform_b):
    """Return the comparisons of two platforms by goodput, Jain's index and mean RTT."""
    of_pair = (table["platform_a"] == platform_a) & (table["platform_b"] == platform_b)
    return table[of_pair & table["metric"].isin((*STEP_METRICS, "rtt_mean_ms"))]


def _agreement_sentence(rows, ccas, kernel, version):
    """Report in how many comparisons two platforms agree, and in how many they differ."""
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
        f"more than the tolerance in {counts['differ']} (at least {runs} runs){ends}."
    )


def _versions_sentence(table, causes, versions):
    """Report in how many comparisons the oldest and the newest version differ, and how many of these differences the old version causes."""
    pair = table[(table["platform_a"] == versions[0]) & (table["platform_b"] == versions[-1])]
    pair = pair[pair["metric"].isin(STEP_METRICS)]
    if pair.empty:
        return None
    parts = [
        f"{cca_name(cca)} in {int((verdicts == 'differ').sum())} of {len(verdicts)}"
        for cca, verdicts in pair.groupby("cca", sort=False)["verdict"]
    ]
    ending = ""
    if len(causes):
        cases = f"{int((causes['cause'] == OLD_VERSION).sum())} of {count(len(causes), 'case')} over all metrics"
        ending = f"; in {cases} the newest version agrees with Linux, and the oldest version agrees with neither"
    names = f"{platform_name(versions[0])} and {versions[-1].partition(':')[2]}"
    return f"{names} differ in goodput or Jain's index by more than the tolerance: {listed(parts)} comparisons{ending}."


def steps_sentence(steps) -> str | None:
    """Name the releases in `step_rows` that changed results by more than the tolerance; None if there are fewer than two steps."""
    if len(steps) < 2:
        return None
    parts, quiet = [], []
    for step in steps:
        changed = [
            f"{row['cca']} in {name} {cell['text'].rpartition(':')[0]}"
            for row in step["rows"]
            for name, cell in zip(STEP_METRICS.values(), row["cells"], strict=True)
            if cell["style"] == STYLES["differ"]
        ]
        if changed:
            parts.append(f"{step['step']} changes {listed(changed)}")
        else:
            quiet.append(step["step"])
    if quiet:
        parts.append(f"no difference beyond the tolerance is shown from {listed(quiet)}")
    return f"Release by release, with a buffer of {steps[0]['buffer']}: {'; '.join(parts)}."
