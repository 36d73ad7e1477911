"""Who is fastest and where, and what the fastest pays: two sentences from means and the test of CCAs."""

from collections import Counter

from run_tables.conditions_at_centre import runs_at_centre
from run_tables.exclusions import in_whole_places
from wording.number_format import count
from wording.sentence_words import between, cca_name, place_words, short

# A mean this many times the next is a clear lead; below it the two are called close.
CLEAR_LEAD = 1.1
CLEAR = f"{100 * (CLEAR_LEAD - 1):.0f} %"
# A share of segments retransmitted that is higher by less than this takes too little of the capacity to be a price.
LEAST_POINTS = 0.1
NOWHERE = "No CCAs can be ranked, for nowhere have all of them valid runs and all of their runs."
# Where CCAs meet.
PLACE = ["scenario", "ip_version"]


def _means_of(descriptive, metric):
    return descriptive[(descriptive["metric"] == metric) & descriptive["mean"].notna()]


def speed_sentence(tables, significance, one_ip_version=False, loss_changing=()) -> str:
    """Say which CCA leads where, and in how many places the CCAs' goodput differs by test.

    With one IP version in the study, that isn't named. ``loss_changing`` are the scenarios whose random loss changes.
    """
    means = _means_of(tables.descriptive, "goodput_mbps")
    if means.empty:
        return "No valid run has a goodput."
    if means["cca"].nunique() < 2:
        return (
            f"The study has values of one CCA only, {cca_name(means['cca'].iloc[0])}, whose mean goodput was "
            f"{between(means['mean'])} Mbit/s in {count(len(means), 'cell')}; there is nothing to compare it with."
        )
    loss = tables.scenarios[["loss_forward_percent", "loss_reverse_percent"]].max(axis=1)
    means = in_whole_places(means, tables.runs)
    if means.empty:
        return NOWHERE
    lossy = means["scenario"].isin([*tables.scenarios.loc[loss > 0, "scenario"], *loss_changing])
    parts = []
    for where, group in (("with random loss", True), ("without random loss", False)):
        parts += _lead_words(means[lossy == group], where, bool(parts), one_ip_version)
    if not parts:
        place = "scenario" if one_ip_version else "scenario over the same IP version"
        parts = [f"no two CCAs have a goodput in the same {place}"]
    text = "; ".join([*parts, _test_words(tables.ccas, tables.cca_pairs, significance)])
    return f"{text[0].upper()}{text[1:]}."


def _lead_words(means, where, again, one_ip_version) -> list[str]:
    """Say in how many places (scenario and IP version) one CCA clearly leads: one text, or none if no CCAs meet.

    `where` is what the places have in common; `again` whether the sentence has said before what a place and a lead are.
    """
    total, leads = _leads(means)
    if not total:
        return []
    lead = "leads so clearly" if again else f"leads by {CLEAR} or more"
    if not leads:
        return [f"{where} no CCA {lead} in {_in_places(0, total, again, one_ip_version)}"]
    cca = _leader(leads)
    times = [times for name, times in leads if name == cca]
    over = "" if again else " the next CCA's goodput"
    places = _in_places(len(times), total, again, one_ip_version)
    return [f"{where} {cca_name(cca)} {lead} in {places}, with {between(times)} times{over}"]


def _in_places(leads, total, again, one_ip_version):
    """Return "all 12 combinations of scenario and IP version", without what they are if it was said before."""
    place = "scenario{}" if one_ip_version else "combination{} of scenario and IP version"
    if total == 1:
        return "the only one" if again else f"the only {place.format('')}"
    share = f"{leads or ('either' if total == 2 else 'any')} of {total}"
    if leads == total:
        share = "both" if total == 2 else f"all {total}"
    return share if again else f"{share} {place.format('s')}"


def _leads(means) -> tuple[int, list[tuple[str, float]]]:
    """Return in how many places CCAs meet, and who leads clearly there, with how many times the next one's mean."""
    places, leads = 0, []
    for _, group in means.groupby(PLACE, sort=False):
        if len(group) > 1:
            places += 1
            first, second = group.sort_values("mean", ascending=False, kind="stable")[:2].to_dict("records")
            if second["mean"] > 0 and first["mean"] / second["mean"] >= CLEAR_LEAD:
                leads.append((first["cca"], first["mean"] / second["mean"]))
    return places, leads


def _leader(leads):
    """Return who leads most often, the first of several."""
    return Counter(cca for cca, _ in leads).most_common(1)[0][0]


def _test_words(ccas, pairs, significance) -> str:
    """Say in how many places the test over all CCAs finds a difference in goodput.

    Where there are two CCAs the test of the pair says all.
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
    """Say what the CCA that clearly leads most often pays in segments retransmitted and delay, against the others.

    Where none leads clearly, none pays for it. A lone IP version isn't named.
    """
    goodput = _means_of(tables.descriptive, "goodput_mbps")
    if goodput["cca"].nunique() == 1:
        return _lone_price(tables, goodput["cca"].iloc[0], one_ip_version)
    goodput = in_whole_places(goodput, tables.runs)
    places, leads = _leads(goodput)
    if not places:
        return "What speed costs can't be said, for no two CCAs have values in the same place."
    if not leads:
        return f"No CCA leads by {CLEAR} or more anywhere, so there is no speed that one pays for."
    cca = _leader(leads)
    again, rtt = (
        _against_others(in_whole_places(_means_of(tables.descriptive, metric), tables.runs), cca)
        for metric in ("retransmit_percent", "rtt_mean_ms")
    )
    if again.empty and rtt.empty:
        return "What speed costs can't be said, for neither retransmissions nor RTTs are known."
    more, longer = (table[table["own"] >= CLEAR_LEAD * table["others"]] for table in (again, rtt))
    more = more[more["own"] - more["others"] >= LEAST_POINTS]
    subject = f"{cca_name(cca)}, which leads most often,"
    if more.empty and longer.empty:
        return f"{subject} pays no clear price: {' and '.join(_no_price(again, rtt))}."
    path = _path_rtts(tables)
    if more.empty:
        top = longer.loc[(longer["own"] / longer["others"]).idxmax()]
        delay = f"in {place_words(top, tables.scenarios, one_ip_version)} {_rtt_words(top, path)}"
        parts = [delay, *_no_price(again, rtt[:0])]
        return f"{subject} pays for it with delay: {', but '.join(parts)}."
    top = more.loc[(more["own"] - more["others"]).idxmax()]
    parts = [
        f"in {place_words(top, tables.scenarios, one_ip_version)} it retransmitted {short(top['own'])} % of its segments, "
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


def _lone_price(tables, cca, one_ip_version=False) -> str:
    """Say what the study's only CCA retransmitted, and how long its queue was."""
    parts = []
    means = _means_of(tables.descriptive, "retransmit_percent")
    if len(means):
        top = means.loc[means["mean"].idxmax()]
        place = place_words(top, tables.scenarios, one_ip_version)
        several = len(means) > 1
        if top["mean"] > 0:
            parts.append(
                f"retransmitted {short(top['mean'])} % of its segments in {place}"
                + (", the most of all cells" if several else "")
            )
        else:
            parts.append("retransmitted nothing in any cell" if several else f"retransmitted nothing in {place}")
    means = _means_of(tables.descriptive, "rtt_mean_ms")
    path = _path_rtts(tables)
    means = means.assign(path=means["scenario"].map(path))
    means = means[means["path"] > 0]
    if len(means):
        most = "at most " if len(means) > 1 else ""
        parts.append(f"had a mean RTT of {most}{short((means['mean'] / means['path']).max())} times the empty path's")
    if not parts:
        return "What speed costs can't be said, for neither retransmissions nor RTTs are known."
    return f"{cca_name(cca)}, the only CCA under test, {' and '.join(parts)}."


def _path_rtts(tables):
    """Return scenario -> RTT of its empty path in ms."""
    runs = runs_at_centre(tables.runs, tables.scenarios)
    return dict(zip(runs["scenario"], runs["rtt_path_ms"], strict=True))


def _against_others(means, cca):
    """Return scenario, ip_version, own (a CCA's mean) and others (their highest) of each place that has both."""
    is_own = means["cca"] == cca
    own = means[is_own].rename(columns={"mean": "own"})[[*PLACE, "own"]]
    others = means[~is_own].groupby(PLACE, sort=False)["mean"].max().rename("others").reset_index()
    return own.merge(others, on=PLACE)


def _rtt_words(row, path):
    text = f"its mean RTT was {short(row['own'])} ms, theirs at most {short(row['others'])} ms"
    empty = path.get(row["scenario"])
    return f"{text} (empty path: {short(empty)} ms)" if empty and empty > 0 else text


def _no_price(again, rtt):
    least = f"{CLEAR} and {LEAST_POINTS:g} percentage points"
    words = [] if again.empty else [f"nowhere was its share of segments retransmitted {least} above all others'"]
    return words + ([] if rtt.empty else [f"nowhere was its mean RTT {CLEAR} above all others'"])
