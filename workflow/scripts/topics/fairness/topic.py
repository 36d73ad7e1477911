"""How flows of different CCAs share a bottleneck."""

from itertools import combinations_with_replacement

from topics.fairness.tables import FAIRNESS_FACTORS, FLOW_SHARES, SHARE_PAIRS, SHARE_THEORY, SHARES, START_ORDER
from topics.time_series.topic import sampled_scenarios
from topics.topic import Analysis, Plot, Topic, slug_of

#: Largest number of competitions that are plotted over time: enough for all pairs of 8 CCAs.
MOST_COMPETITIONS = 36
_PAIRS = ("share_pairs", "flow_shares", "scenarios")


def _pair_mixes(design):
    return [mix for mix in design.ccas if mix.count("+") == 1]


def _ccas_of(mixes):
    return dict.fromkeys(cca for mix in mixes for cca in mix.split("+"))


def competitions(design) -> tuple[str, ...]:
    """Return one mix for each unordered pair of CCAs, at most `MOST_COMPETITIONS` in all; () if there are no time series."""
    mixes = _pair_mixes(design)
    pairs = combinations_with_replacement(_ccas_of(mixes), 2)
    orders = [[mix for mix in (f"{a}+{b}", f"{b}+{a}") if mix in mixes] for a, b in pairs]
    return tuple(both[0] for both in orders if both)[:MOST_COMPETITIONS] if sampled_scenarios(design) else ()


def _figures(design):
    mixes = _pair_mixes(design)
    two_flows = {"two_flows": all(scenario["flows"] == 2 for scenario in design.scenarios)}
    if mixes:
        for slug, shown, title in (("shares", "share", "Who beats whom"), ("jain", "jain", "Jain's index")):
            yield Plot(
                f"fairness-{slug}", "plot_shares", _PAIRS, title, "CCA against CCA", two_flows | {"shown": shown}
            )
    if len(mixes) < len(design.ccas):
        yield Plot(
            "fairness-mixes",
            "plot_share_mixes",
            ("shares", "scenarios"),
            "Mixes that are not pairs",
            "means, intervals",
        )
    if mixes and len(design.scenarios) > 1:
        for cca in _ccas_of(mixes):
            slug, params = f"fairness-factors-{slug_of(cca)}", two_flows | {"cca_shown": cca}
            inputs, title, shows = ("fairness_factors",), f"Share of {cca}", "by factor"
            yield Plot(slug, "plot_share_factors", inputs, title, shows, params, "fairness-factors")
    for mix in competitions(design):
        slug, params = f"competition-{slug_of(mix)}", {"mix": mix, "scenario": sampled_scenarios(design)[0]}
        inputs = ("flow_shares", "scenarios", "sockets")
        yield Plot(slug, "plot_competition", inputs, mix, "one run over time", params, "competition")


TOPIC = Topic(
    "fairness",
    "Fairness",
    order=100,
    heading="Who gets how much of a shared link?",
    applies=lambda design: design.mixes,
    analyses=(
        Analysis("measure_shares", ("runs", "flows", "scenarios"), (FLOW_SHARES,)),
        Analysis(
            "compare_shares",
            ("flow_shares",),
            (SHARES, SHARE_PAIRS, START_ORDER),
            ("confidence", "significance"),
            params=lambda design: {"seed": design.study["seed"]},
        ),
        Analysis(
            "compare_factors",
            ("flow_shares", "runs", "scenarios"),
            (FAIRNESS_FACTORS, SHARE_THEORY),
            ("confidence", "significance"),
        ),
    ),
    figures=_figures,
    pictures=("fairness-shares", "fairness-mixes"),
)
