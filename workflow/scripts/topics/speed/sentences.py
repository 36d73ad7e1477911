"""Who is fastest and where, and what the fastest pays: two sentences from means and the test of CCAs."""

import pandas as pd

from wording.number_format import count
from wording.sentence_words import between, cca_name, place_words, short

# A mean this many times the next is a clear lead; below it the two are called close.
CLEAR_LEAD = 1.1
CLEAR = f"{100 * (CLEAR_LEAD - 1):.0f} %"
# A share of segments sent again that is higher by less than this takes too little of the capacity to be a price.
LEAST_POINTS = 0.1
# Where CCAs meet.
PLACE = ["scenario", "ip_version"]


def means_of(descriptive, metric) -> pd.DataFrame:
    """Return the cells that have a mean of one metric."""
    return descriptive[(descriptive["metric"] == metric) & descriptive["mean"].notna()]


def speed_sentence(tables, significance, one_ip_version=False) -> str:
    """Say which CCA leads where, and in how many places the CCAs' goodput differs by test.

    With one IP version in the study, that isn't named.
    """
    means = means_of(tables.descriptive, "goodput_mbps")
    if means.empty:
        return "No valid run has a goodput."
    if means["cca"].nunique() < 2:
        return (
            f"The study has values of one CCA only, {cca_name(means['cca'].iloc[0])}, whose mean goodput was "
            f"{between(means['mean'])} Mbit/s in {count(len(means), 'cell')}; there is nothing to compare it with."
        )
    lossy = _lossy(tables.scenarios)
    parts = []
    for where, group in (("with random loss", True), ("without loss", False)):
        in_group = means[means["scenario"].map(lossy) == group]
        parts += lead_words(in_group, where, again=bool(parts), one_ip_version=one_ip_version)
    if not parts:
        parts = [
            f"no two CCAs have a goodput in the same scenario{'' if one_ip_version else ' over the same IP version'}"
        ]
    return sentence("; ".join([*parts, cca_test_words(tables.ccas, tables.cca_pairs, significance)]))


def lead_words(means, where, again=False, one_ip_version=False) -> list[str]:
    """Say in how many places (scenario and IP version) one CCA clearly leads.

    Parameters
    ----------
    means : pandas.DataFrame
        scenario, ip_version, cca, mean.
    where : str
        What these places have in common.
    again : bool
        Whether the sentence has said before what a place and a lead are.
    one_ip_version : bool
        Whether the study has no other, so that a place is a scenario.

    Returns
    -------
    list of str
        None or one.
    """
    firsts = leaders(means)
    if not firsts:
        return []
    lead = "leads so clearly" if again else f"leads by {CLEAR} or more"
    clear = clear_leads(firsts)
    if not clear:
        return [f"{where} no CCA {lead} in {in_places(0, len(firsts), again, one_ip_version)}"]
    cca = most_frequent(name for name, _ in clear)
    leads = [times for name, times in clear if name == cca]
    over = "" if again else " the next CCA's goodput"
    places = in_places(len(leads), len(firsts), again, one_ip_version)
    return [f"{where} {cca_name(cca)} {lead} in {places}, with {between(leads)} times{over}"]


def in_places(leads, total, again=False, one_ip_version=False) -> str:
    """Return "all 12 combinations of scenario and IP version", without what they are if it was said before."""
    place = "scenario{}" if one_ip_version else "combination{} of scenario and IP version"
    if total == 1:
        return "the only one" if again else f"the only {place.format('')}"
    share = f"{leads or ('either' if total == 2 else 'any')} of {total}"
    if leads == total:
        share = "both" if total == 2 else f"all {total}"
    return share if again else f"{share} {place.format('s')}"


def leaders(means) -> list[tuple[str, float | None]]:
    """Return who is first in each place where CCAs meet, with how many times the next one's mean.

    Returns
    -------
    list of (str, float or None)
        None where the next one has nothing.
    """
    firsts = []
    for _, group in means.groupby(PLACE, sort=False):
        if len(group) > 1:
            ordered = group.sort_values("mean", ascending=False, kind="stable")
            first, second = ordered["mean"].iloc[0], ordered["mean"].iloc[1]
            firsts.append((ordered["cca"].iloc[0], first / second if second > 0 else None))
    return firsts


def most_frequent(names) -> str:
    """Return the name that occurs most often, the first of several."""
    names = list(names)
    return max(dict.fromkeys(names), key=names.count)


def clear_leads(firsts) -> list[tuple[str, float]]:
    """Return those of `leaders` whose lead is clear, in the same form."""
    return [(cca, times) for cca, times in firsts if times is not None and times >= CLEAR_LEAD]


def cca_test_words(ccas, pairs, significance) -> str:
    """Say in how many places the test over all CCAs finds a difference in goodput.

    Of two CCAs the test of the pair says all.
    """
    table = ccas if ccas["test"].ne("").any() else pairs
    tested = table[(table["metric"] == "goodput_mbps") & table["p_holm"].notna()]
    if tested.empty:
        return "no test of the CCAs could be made"
    differing = int((tested["p_holm"] < significance).sum())
    names = "/".join(dict.fromkeys(tested["test"]))
    if len(tested) == 1:
        return f"the CCAs' goodput {'differs' if differing else 'does not differ'} significantly there ({names})"
    shown = f"all {differing}" if differing == len(tested) else f"{differing or 'none'} of {len(tested)}"
    return f"the CCAs' goodput differs significantly in {shown} ({names}, Holm-corrected)"


def price_sentence(tables, one_ip_version=False) -> str:
    """Say what the CCA that clearly leads most often pays in segments sent again and delay, against the others.

    Where none leads clearly, none pays for it. A lone IP version isn't named.
    """
    goodput = means_of(tables.descriptive, "goodput_mbps")
    if goodput["cca"].nunique() == 1:
        return lone_price(tables, goodput["cca"].iloc[0], one_ip_version)
    firsts = leaders(goodput)
    if not firsts:
        return "What speed costs can't be said, for no two CCAs have values in the same place."
    clear = clear_leads(firsts)
    if not clear:
        return f"No CCA leads by {CLEAR} or more anywhere, so there is no speed that one pays for."
    cca = most_frequent(name for name, _ in clear)
    again = against_others(means_of(tables.descriptive, "retransmit_percent"), cca)
    rtt = against_others(means_of(tables.descriptive, "rtt_mean_ms"), cca)
    if again.empty and rtt.empty:
        return "What speed costs can't be said, for neither retransmissions nor RTTs are known."
    more, longer = (table[table["own"] >= CLEAR_LEAD * table["others"]] for table in (again, rtt))
    more = more[more["own"] - more["others"] >= LEAST_POINTS]
    subject = f"{cca_name(cca)}, which leads most often,"
    if more.empty and longer.empty:
        return f"{subject} pays no clear price: {' and '.join(_no_price(again, rtt))}."
    path = dict(zip(tables.runs["scenario"], tables.runs["rtt_path_ms"], strict=True))
    if more.empty:
        top = longer.loc[(longer["own"] / longer["others"]).idxmax()]
        parts = [
            f"in {place_words(top, tables.scenarios, one_ip_version)} {_rtt_words(top, path)}",
            *_no_price(again, rtt[:0]),
        ]
        return f"{subject} pays for it with delay: {', but '.join(parts)}."
    top = more.loc[(more["own"] - more["others"]).idxmax()]
    parts = [
        f"in {place_words(top, tables.scenarios, one_ip_version)} it sent {short(top['own'])} % of its segments again, "
        f"the others at most {short(top['others'])} %"
    ]
    here = longer[(longer[PLACE] == top[PLACE]).all(axis=1)]
    if len(here):
        parts.append(f"and {_rtt_words(here.iloc[0], path)}")
    elif len(longer):
        times = (longer["own"] / longer["others"]).max()
        parts.append(f"and elsewhere its mean RTT was up to {short(times)} times the highest of theirs")
    else:
        parts += [f"but {words}" for words in _no_price(again[:0], rtt)]
    return f"{subject} pays for it: {', '.join(parts)}."


def lone_price(tables, cca, one_ip_version=False) -> str:
    """Say what the study's only CCA sent again, and how long its queue was."""
    parts = []
    means = means_of(tables.descriptive, "retransmit_percent")
    if len(means):
        top = means.loc[means["mean"].idxmax()]
        place = place_words(top, tables.scenarios, one_ip_version)
        again = f"{short(top['mean'])} % of its segments" if top["mean"] > 0 else "nothing"
        parts.append(f"sent {again} again in {place}" + (", the most of all cells" if len(means) > 1 else ""))
    means = means_of(tables.descriptive, "rtt_mean_ms")
    path = dict(zip(tables.runs["scenario"], tables.runs["rtt_path_ms"], strict=True))
    means = means.assign(path=means["scenario"].map(path))
    means = means[means["path"] > 0]
    if len(means):
        most = "at most " if len(means) > 1 else ""
        parts.append(f"had a mean RTT of {most}{short((means['mean'] / means['path']).max())} times the empty path's")
    if not parts:
        return "What speed costs can't be said, for neither retransmissions nor RTTs are known."
    return f"{cca_name(cca)}, the only CCA, {' and '.join(parts)}."


def against_others(means, cca) -> pd.DataFrame:
    """Return one CCA's mean and the highest of all others', a row each place that has both.

    Returns
    -------
    pandas.DataFrame
        scenario, ip_version, own, others.
    """
    is_own = means["cca"] == cca
    own = means[is_own].rename(columns={"mean": "own"})[[*PLACE, "own"]]
    others = means[~is_own].groupby(PLACE, sort=False)["mean"].max().rename("others").reset_index()
    return own.merge(others, on=PLACE)


def sentence(text) -> str:
    """Return a text that begins with a capital and ends with a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def _rtt_words(row, path):
    text = f"its mean RTT was {short(row['own'])} ms, theirs at most {short(row['others'])} ms"
    empty = path.get(row["scenario"])
    return f"{text} (empty path: {short(empty)} ms)" if empty and empty > 0 else text


def _no_price(again, rtt):
    least = f"{CLEAR} and {LEAST_POINTS:g} percentage points"
    words = [] if again.empty else [f"nowhere was its share of segments sent again {least} above all others'"]
    return words + ([] if rtt.empty else [f"nowhere was its mean RTT {CLEAR} above all others'"])


def _lossy(scenarios):
    loss = scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1) > 0
    return dict(zip(scenarios["scenario"], loss, strict=True))
