"""Say in sentences, with numbers, what the description of a study shows first.

These sentences describe means of what was measured; they test nothing.
"""

from number_format import count, number
from tidy_columns import link_packets

# A mean this many times the next is called the highest; below it the two are called close.
CLEAR_LEAD = 1.1


def findings(runs, descriptive, checks):
    """Return the opening sentences of the report.

    Parameters
    ----------
    runs, descriptive, checks : pandas.DataFrame
        ``tidy/runs.csv``, ``analysis/descriptive.csv`` and ``analysis/checks.csv``.

    Returns
    -------
    list of str
        Plain text, the most important first.
    """
    valid = int(runs["valid"].sum())
    sentences = [validity_sentence(runs, checks)]
    if valid == 0:
        return [*sentences, "So there is nothing to describe: no figure shows a value."]
    sentences += leader_sentences(_means(descriptive, "goodput_mbps"), len(set(runs["cca"])))
    sentences += ip_sentences(_means(descriptive, "goodput_mbps"))
    sentences += queue_sentences(runs)
    sentences += loss_sentences(runs)
    return sentences


def validity_sentence(runs, checks):
    """Say how many runs are valid, and what the others failed."""
    total, valid = len(runs), int(runs["valid"].sum())
    if valid == total:
        return f"All {count(total, 'run')} passed every check." if total > 1 else (
            "The only run passed every check."
        )  # fmt: skip
    failed = checks[checks["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    reasons = ", ".join(
        f"{row['check']} ({number(row['failed'], 0)})" for row in failed.to_dict("records")
    )
    subject = "No run is" if valid == 0 else f"{count(valid, 'run is', 'runs are')}"
    return (
        f"{subject} valid of {total:,}; {count(total - valid, 'run')} failed a check and "
        f"{'is' if total - valid == 1 else 'are'} excluded: {reasons}."
    )


def leader_sentences(means, ccas):
    """Say which CCA had clearly the highest mean in how many scenarios, and by how much.

    Clearly means `CLEAR_LEAD` times the next. Only combinations of scenario and IP version in
    which two CCAs or more have a mean count.
    """
    if ccas < 2:
        return []
    leads, contests = {}, 0
    for _, group in means.groupby(["scenario", "ip_version"], sort=False):
        if len(group) < 2:
            continue
        contests += 1
        ordered = group.sort_values("mean", ascending=False, kind="stable")
        first, second = ordered["mean"].iloc[0], ordered["mean"].iloc[1]
        if first >= CLEAR_LEAD * second and second > 0:
            leads.setdefault(ordered["cca"].iloc[0], []).append((first, first / second))
    combinations = count(contests, "combination") + " of scenario and IP version"
    sentences = [
        f"Goodput: {cca} had the highest mean in {len(led)} of {combinations}, with "
        f"{_range([value for value, _ in led])} Mbit/s, "
        f"{_range([ratio for _, ratio in led], 3)} times that of the next CCA."
        for cca, led in sorted(leads.items(), key=lambda item: -len(item[1]))
    ]
    close = contests - sum(map(len, leads.values()))
    if close:
        others = "in the other one" if close == 1 else f"in the other {close}"
        subject = others if sentences else f"in all {combinations}"
        sentences.append(
            f"Goodput: {subject} the two highest means lie within "
            f"{100 * (CLEAR_LEAD - 1):.0f} % of each other."
        )
    return sentences


def ip_sentences(means):
    """Say how the mean goodput of IPv6 compares with that of IPv4, cell by cell."""
    wide = means.pivot_table(
        index=["scenario", "cca"], columns="ip_version", values="mean", sort=False
    )
    if not {"ipv4", "ipv6"} <= set(wide.columns):
        return []
    pairs = wide.dropna(subset=["ipv4", "ipv6"])
    pairs = pairs[pairs["ipv4"] > 0]
    if pairs.empty:
        return []
    ratio = pairs["ipv6"] / pairs["ipv4"]
    if len(ratio) == 1:
        return [f"Mean goodput over IPv6 was {ratio.iloc[0]:.3f} times that over IPv4."]
    return [
        f"Mean goodput over IPv6 was {ratio.min():.3f} to {ratio.max():.3f} times that over IPv4 "
        f"(median {ratio.median():.3f}, {len(ratio)} pairs of cells); its longer header alone "
        "makes 1428/1448 = 0.986 of a full link."
    ]


def queue_sentences(runs):
    """Say which CCA kept the queue shortest and longest, in multiples of the path's RTT."""
    valid = runs[runs["valid"] & (runs["rtt_path_ms"] > 0) & runs["rtt_mean_ms"].notna()]
    if valid.empty or valid["cca"].nunique() < 2:
        return []
    ratio = (valid["rtt_mean_ms"] / valid["rtt_path_ms"]).groupby(
        [valid["scenario"], valid["cca"]], sort=False
    )
    top = ratio.mean().sort_values(ascending=False)
    scenario, cca = top.index[0]
    label = valid.loc[valid["scenario"] == scenario, "scenario_label"].iloc[0]
    return [
        f"The longest queue was {cca}'s in scenario {label}: a mean round-trip time of "
        f"{top.iloc[0]:.2f} times the empty path's. The shortest there was "
        f"{top[scenario].index[-1]}'s, {top[scenario].iloc[-1]:.2f} times."
    ]


def loss_sentences(runs):
    """Say how well the link's realised loss agrees with what was configured."""
    valid = runs[runs["valid"] & (runs["loss_configured_percent"] > 0)]
    valid = valid.assign(reached=link_packets(valid)).dropna(subset=["reached", "link_drops"])
    packets = valid["reached"].sum()
    if packets == 0:
        return []
    rates = []
    for configured, group in valid.groupby("loss_configured_percent"):
        realised = 100 * group["link_drops"].sum() / group["reached"].sum()
        rates.append(f"{number(realised)} % where {configured:.10g} % was configured")
    return [
        f"The emulated links dropped {' and '.join(rates)} ({number(packets, 0)} packets in all)."
    ]


def _means(descriptive, metric):
    return descriptive[(descriptive["metric"] == metric) & descriptive["mean"].notna()]


def _range(values, digits=4):
    low, high = min(values), max(values)
    shown = [f"{value:,.{digits}g}" if value < 1000 else number(value) for value in (low, high)]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} to {shown[1]}"

