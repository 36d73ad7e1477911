"""Sentences that report the ranking of CCAs by share, reversals of this ranking, theory, and starting order."""

from report_parts.data_tables import minus
from topics.fairness.pair_shares import POOLED, once
from topics.fairness.share_theory import BBR_MODEL, CUBIC_MODEL, MARGIN
from topics.fairness.start_order import START
from wording.number_format import count, is_missing
from wording.sentence_words import cca_name, listed, p_words

# Largest number of pairs that are named; the most unequal pairs come first.
MOST_NAMED = 3
# The goodputs of two pairs of hosts count as equal if they differ by at most this percentage.
EVEN_PERCENT = 10


def _share_words(row):
    """Return a share with its interval, such as "0.93 (0.91 to 0.95)"."""
    value, low, high = (row[name] for name in ("share", "share_low", "share_high"))
    return f"{value:.2f}" if is_missing(low) else f"{value:.2f} ({low:.2f} to {high:.2f})"


def _beside(row):
    return f"against {cca_name(row['column_cca'])}"


def base_of(factors, pairs) -> str | None:
    """Return the base scenario of the factors, or the first scenario if there is no base; None if there are no pairs."""
    at_base = factors[factors["level"] == factors["base_level"]]
    if len(at_base):
        return at_base["scenario"].mode().iloc[0]
    return pairs["scenario"].iloc[0] if len(pairs) else None


def ranking_sentence(pairs, base, significance, confidence) -> str:
    """Name the CCAs that get more than half against another CCA in the base scenario, and the pairs for which no difference is shown."""
    contests = pairs[(pairs["scenario"] == base) & pairs["share"].notna() & (pairs["row_cca"] != pairs["column_cca"])]
    each = once(contests)
    if each.empty:
        return ""
    won = contests[(contests["share"] > 0.5) & (contests["p_holm"] < significance)]
    won = won.sort_values("share", ascending=False)
    place = f"In the scenario {contests['scenario_label'].iloc[0]},"
    fewest, most = int(each["replications"].min()), int(each["replications"].max())
    sizes = count(most, "replication") if fewest == most else f"{fewest} to {count(most, 'replication')}"
    runs = f"{100 * confidence:g} % intervals, {sizes}"
    each = each[each["share_low"].notna()]
    if each.empty:
        why = (
            "there is one replication of each pair"
            if most == 1
            else "each pair's runs repeat one measurement, are of two kinds, or are too few"
        )
        return f"{place} {why}: no interval, so no share can be distinguished from half."
    if won.empty:
        return f"{place} no CCA's share against another can be distinguished from half of the goodput of both, with Holm's correction ({runs})."
    shown = won.head(2 * MOST_NAMED).to_dict("records")
    named = [f"{cca_name(row['row_cca'])} {_share_words(row)} {_beside(row)}" for row in shown[1:]]
    first = f"{cca_name(shown[0]['row_cca'])} takes {_share_words(shown[0])} of the goodput of both {_beside(shown[0])}"
    text = f"{place} {listed([first, *named])} ({runs})"
    if len(won) > len(shown):
        return f"{text}; in total, {len(won)} of {count(len(each), 'pair')} differ from half."
    even = each[~(each["p_holm"] < significance)].to_dict("records")
    even = sorted(even, key=lambda row: abs(row["share"] - 0.5), reverse=True)[:MOST_NAMED]
    pairs_even = [f"{cca_name(row['row_cca'])} {_beside(row)} ({_share_words(row)})" for row in even]
    return f"{text}; no difference from half is shown for {listed(pairs_even)}." if even else f"{text}."


def reversal_sentence(pairs, significance) -> str:
    """Name the pairs whose winner depends on the scenario, with the extreme shares of one CCA of each pair."""
    alike = pairs[(pairs["orders"] == POOLED) & pairs["share"].notna()]
    each = once(alike)
    named, turned = {frozenset(pair): pair for pair in zip(each["row_cca"], each["column_cca"], strict=True)}, []
    if alike["scenario"].nunique() < 2:
        return ""
    for row, column in named.values():
        cells = alike[(alike["row_cca"] == row) & (alike["column_cca"] == column)]
        sure = cells[cells["p_holm"] < significance]
        if (sure["share"] > 0.5).any() and (sure["share"] < 0.5).any():
            turned.append((sure.loc[sure["share"].idxmax()], sure.loc[sure["share"].idxmin()]))
    if not turned:
        if len(named) == 1:
            return "Neither CCA of the pair is shown to win in one scenario and to lose in another."
        return f"In none of {len(named):,} pairs is the winner of one scenario shown to lose in another."
    turned.sort(key=lambda ends: ends[1]["share"] - ends[0]["share"])
    shown = [
        f"{cca_name(high['row_cca'])} takes {_share_words(high)} {_beside(high)} in {high['scenario_label']}, "
        f"but {_share_words(low)} in {low['scenario_label']}"
        for high, low in turned[:MOST_NAMED]
    ]
    return f"Who wins depends on the conditions in {len(turned)} of {count(len(named), 'pair')}: {'; '.join(shown)}."


def rtt_sentence(pairs, flows) -> str:
    """Report the share of the first flow if two flows of one CCA have paths with different RTTs."""
    own = pairs[(pairs["row_cca"] == pairs["column_cca"]) & pairs["share"].notna()]
    paths = flows.groupby(["scenario", "position"])["rtt_path_ms"].mean().unstack()
    paths = paths.reindex(columns=[0, 1]).dropna()
    paths = paths[paths[0] != paths[1]]
    ratios = (paths[1] / paths[0]).sort_values()
    widest = own[own["scenario"] == ratios.index[-1]] if len(ratios) else own[:0]
    if widest.empty:
        return ""
    shares = [f"{cca_name(row['row_cca'])} {_share_words(row)}" for row in widest.to_dict("records")]
    first, second = paths.loc[ratios.index[-1]]
    return f"Share of a flow with an RTT of {first:g} ms against a flow of the same CCA with an RTT of {second:g} ms: {listed(shares)}."


def equals_sentence(pairs) -> str:
    """Report Jain's index for flows that use the same CCA on identical paths."""
    alike = set(pairs.loc[pairs["orders"] == POOLED, "scenario"])
    own = pairs[(pairs["row_cca"] == pairs["column_cca"]) & pairs["jain"].notna() & pairs["scenario"].isin(alike)]
    if own.empty:
        return ""
    worst = own.loc[own.groupby("row_cca", sort=False)["jain"].idxmin()].sort_values("jain")
    named = [
        f"{cca_name(row['row_cca'])} {row['jain']:.3f} in {row['scenario_label']}"
        for row in worst.head(4).to_dict("records")
    ]
    fair = int((own["jain"] >= 0.95).sum())
    return (
        f"Flows of the same CCA on the same path have a typical Jain's index of at least 0.95 in {fair} of "
        f"{count(len(own), 'cell')}; the lowest for each CCA: {listed(named)}."
    )


def theory_sentence(theory) -> str:
    """Report the error of the BBR model, and the number of scenarios in which CUBIC's share agrees with RFC 9438."""
    parts, of_bbr = [], theory[(theory["model"] == BBR_MODEL) & theory["off"].notna()]
    if len(of_bbr):
        least, most = of_bbr["off"].min(), of_bbr["off"].max()
        parts.append(
            f"the model of BBR against loss-based flows has a median error of {of_bbr['off'].abs().median():.2f} of the link over "
            f"{count(len(of_bbr), 'share')} (measured minus modelled: {minus(f'{least:+.2f}')} to {minus(f'{most:+.2f}')})"
        )
    of_cubic = theory[(theory["model"] == CUBIC_MODEL) & (theory["agrees"] != "")]
    if len(of_cubic):
        yes = int((of_cubic["agrees"] == "yes").sum())
        parts.append(
            f"CUBIC's share against Reno is shown to agree with the Reno-friendly region, within ±{MARGIN}, in {yes} of "
            f"{count(len(of_cubic), 'scenario')} with a result"
        )
    return f"Theory: {'; '.join(parts)}." if parts else ""


def orders_sentences(orders, significance, confidence) -> list[str]:
    """Report the advantages of starting first and of using the first pair of hosts, averaged over all pairs of CCAs."""
    answers = []
    for row in orders[orders["cca_a"] == ""].to_dict("records"):
        if is_missing(row["share"]):
            continue
        worth = (
            f"a share of {row['share']:.3f} ({100 * confidence:g} % interval {row['share_low']:.3f} to {row['share_high']:.3f}; "
            f"{count(int(row['units']), 'draw')} of the start times, {p_words(row['p'])})"
        )
        shown = (orders["effect"] == row["effect"]) & (orders["cca_a"] != "") & (orders["p_holm"] < significance)
        named = [
            f"{cca_name(pair['cca_a'])} and {cca_name(pair['cca_b'])} ({pair['share']:.2f})"
            for pair in orders[shown].head(MOST_NAMED).to_dict("records")
        ]
        which = (
            f" The effect is shown for {listed(named)}." if named else " The effect is not shown for any single pair."
        )
        if row["effect"] == START:
            answers.append(f"Starting first gives {worth}.{which}")
        else:
            answers.append(_hosts_sentence(row, worth, significance))
    return answers


def _hosts_sentence(row, worth, significance):
    """Report the advantage of the first pair of hosts, and the margin within which both pairs are equivalent.

    The two pairs of hosts are set up alike, so neither should have an advantage.
    """
    within = f"{row['smallest_margin']:.1f} %"
    if row["p"] < significance:
        return f"The first pair of hosts gives {worth}, although the pairs should be equivalent; the goodputs of both pairs agree within {within}."
    if row["smallest_margin"] > EVEN_PERCENT:
        return f"No difference between the pairs of hosts is shown, but only a difference of more than {within} is ruled out: the first pair gives {worth}."
    return f"The testbed is symmetric: the first pair of hosts gives {worth}, and the goodputs of both pairs agree within {within}."
