"""Who is fastest and where, and what that costs: two sentences from means and the test of CCAs."""

from number_format import count, is_missing, number
from scenario_words import ip_words

# A mean this many times the next is a clear lead; below it the two are called close.
CLEAR_LEAD = 1.1
CLEAR = f"by {100 * (CLEAR_LEAD - 1):.0f} % or more"
# Where CCAs meet; what both halves of the sentence count.
PLACES = "scenarios × IP versions"


def means_of(descriptive, metric):
    """Return the cells that have a mean of one metric."""
    return descriptive[(descriptive["metric"] == metric) & descriptive["mean"].notna()]


def speed_sentence(tables, significance):
    """Say which CCA leads where, and in how many places the CCAs' goodput differs by test."""
    means = means_of(tables.descriptive, "goodput_mbps")
    if means.empty:
        return "No valid run has a goodput."
    if means["cca"].nunique() < 2:
        return (
            f"The study has one CCA with values, {means['cca'].iloc[0]}: its mean goodput was "
            f"{between(means['mean'])} Mbit/s in {count(len(means), 'cell')}; "
            "there is nothing to compare it with."
        )
    lossy = _lossy(tables.scenarios)
    parts = [
        words
        for name, group in (("with random loss", True), ("without loss", False))
        for words in lead_words(means[means["scenario"].map(lossy) == group], name)
    ]
    if not parts:
        parts = ["No two CCAs have a goodput in the same place"]
    test = cca_test_words(tables.ccas, tables.cca_pairs, significance)
    if len(parts) == 2:
        parts[1] = parts[1].replace(f" {PLACES}", "").replace(CLEAR, "so")
    sentence = "; ".join([*parts, test])
    return f"{sentence[0].upper()}{sentence[1:]}."


def lead_words(means, where):
    """Say in how many places (scenario and IP version) one CCA clearly leads.

    Parameters
    ----------
    means : pandas.DataFrame
        scenario, ip_version, cca, mean.
    where : str
        What these places have in common.

    Returns
    -------
    list of str
        None or one.
    """
    leads, contests = {}, 0
    for _, group in means.groupby(["scenario", "ip_version"], sort=False):
        if len(group) < 2:
            continue
        contests += 1
        ordered = group.sort_values("mean", ascending=False, kind="stable")
        first, second = ordered["mean"].iloc[0], ordered["mean"].iloc[1]
        if second > 0 and first >= CLEAR_LEAD * second:
            leads.setdefault(ordered["cca"].iloc[0], []).append(first / second)
    if not contests:
        return []
    if not leads:
        return [f"{where} no CCA leads {CLEAR} in any of {contests} {PLACES}"]
    cca = max(leads, key=lambda name: len(leads[name]))
    return [
        f"{where} {cca} leads {CLEAR} in {len(leads[cca])} of {contests} {PLACES}, with "
        f"{between(leads[cca])} times the next CCA's goodput"
    ]


def cca_test_words(ccas, pairs, significance):
    """Say in how many places the test over all CCAs finds a difference in goodput.

    Of two CCAs the test of the pair says all.
    """
    table = ccas if ccas["test"].ne("").any() else pairs
    tested = table[(table["metric"] == "goodput_mbps") & table["p_holm"].notna()]
    if tested.empty:
        return "no test of the CCAs could be made"
    found = int((tested["p_holm"] < significance).sum())
    names = "/".join(dict.fromkeys(tested["test"]))
    return f"CCAs differ in {found} of {len(tested)} ({names}, Holm)"


def price_sentence(tables):
    """Say what was sent again most, and who queued longest and shortest in the same place."""
    parts = retransmission_words(tables.descriptive) + queue_words(tables)
    if not parts:
        return "Neither retransmissions nor queueing delay are known."
    return "; ".join(parts) + "."


def retransmission_words(descriptive):
    """Say which cell sent the largest share of its segments again."""
    means = means_of(descriptive, "retransmit_percent")
    if means.empty:
        return []
    top = means.loc[means["mean"].idxmax()]
    if top["mean"] == 0:
        return ["The price: none; no run sent a segment again"]
    here = _same_place(means, top)
    text = (
        f"The price: {top['cca']} sent {number(top['mean'])} % of its segments again "
        f"in scenario {_place(top)}"
    )
    if len(here) > 1:
        least = here.loc[here["mean"].idxmin()]
        text += f" ({least['cca']}, least, {number(least['mean'])} %)"
    return [text]


def queue_words(tables):
    """Say where the queue was longest against the path's RTT, and who kept it shortest there."""
    path = dict(zip(tables.runs["scenario"], tables.runs["rtt_path_ms"], strict=True))
    means = means_of(tables.descriptive, "rtt_mean_ms")
    means = means.assign(path=means["scenario"].map(path))
    means = means[means["path"] > 0]
    if means.empty:
        return []
    means = means.assign(times=means["mean"] / means["path"])
    top = means.loc[means["times"].idxmax()]
    text = (
        f"the knee: in scenario {_place(top)} {top['cca']}'s mean RTT is "
        f"{top['times']:.2f} times the empty path's"
    )
    here = _same_place(means, top)
    least = here.loc[here["times"].idxmin()]
    if least["cca"] == top["cca"]:
        return [text]
    text += f", {least['cca']}'s {least['times']:.2f} times"
    here = _same_place(means_of(tables.descriptive, "goodput_mbps"), top)
    goodput = dict(zip(here["cca"], here["mean"], strict=True))
    mine, theirs = goodput.get(least["cca"]), goodput.get(top["cca"])
    if not is_missing(mine) and not is_missing(theirs) and theirs > 0:
        text += f" with {number(100 * mine / theirs, 0)} % of its goodput"
    return [text]


def _place(row):
    return f"{row['scenario_label']} over {ip_words(row['ip_version'])}"


def _same_place(table, row):
    return table[
        (table["scenario"] == row["scenario"]) & (table["ip_version"] == row["ip_version"])
    ]


def _lossy(scenarios):
    loss = scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1) > 0
    return dict(zip(scenarios["scenario"], loss, strict=True))


def between(values, digits=3):
    """Return "5.31 to 81.2", or one number if both ends look alike."""
    low, high = min(values), max(values)
    shown = [f"{value:,.{digits}g}" if value < 1000 else number(value) for value in (low, high)]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} to {shown[1]}"
