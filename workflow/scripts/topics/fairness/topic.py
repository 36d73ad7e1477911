"""Who gets how much of the bottleneck when flows of different CCAs meet on it."""

from itertools import combinations_with_replacement

from topics.fairness.tables import FAIRNESS_FACTORS, FLOW_SHARES, SHARE_PAIRS, SHARE_THEORY, SHARES, START_ORDER
from topics.time_series.topic import sampled_scenarios
from topics.topic import Figure, Topic

#: More competitions than these, which is those of 8 CCAs, are not drawn over time.
MOST_COMPETITIONS = 36
_PAIRS = ("share_pairs", "flow_shares", "scenarios")


def pair_mixes(design) -> tuple[str, ...]:
    """Return the mixes of two CCAs."""
    return tuple(cca for cca in design.ccas if len(cca.split("+")) == 2)


def _ccas_of(mixes):
    return dict.fromkeys(cca for mix in mixes for cca in mix.split("+"))


def competitions(design) -> tuple[str, ...]:
    """Return a mix for each unordered pair of CCAs, as the study has it, if time series show them and they aren't too many."""
    mixes = pair_mixes(design)
    drawn = [
        mix
        for first, second in combinations_with_replacement(_ccas_of(mixes), 2)
        for mix in [next((name for name in (f"{first}+{second}", f"{second}+{first}") if name in mixes), None)]
        if mix
    ]
    return tuple(drawn[:MOST_COMPETITIONS]) if sampled_scenarios(design) else ()


def _figures(design):
    mixes = pair_mixes(design)
    if mixes:
        yield Figure(
            "fairness-shares",
            "plot_shares",
            _PAIRS,
            title="Who beats whom",
            shows="CCA against CCA",
            params={"shown": "share"},
        )
        yield Figure(
            "fairness-jain",
            "plot_shares",
            _PAIRS,
            title="Jain's index",
            shows="CCA against CCA",
            params={"shown": "jain"},
        )
    if len(mixes) < len(design.ccas):
        yield Figure(
            "fairness-mixes",
            "plot_share_mixes",
            ("shares", "scenarios"),
            title="Mixes of more",
            shows="means, intervals",
        )
    if mixes and len(design.scenarios) > 1:
        for cca in _ccas_of(mixes):
            yield Figure(
                f"fairness-factors-{cca}",
                "plot_share_factors",
                ("fairness_factors",),
                title=f"Share of {cca}",
                shows="over the factors",
                params={"cca_shown": cca},
                caption="fairness-factors",
            )
    for mix in competitions(design):
        yield Figure(
            f"competition-{mix.replace('+', '-')}",
            "plot_competition",
            ("flow_shares", "scenarios", "sockets"),
            title=mix,
            shows="one run over time",
            params={"mix": mix, "scenario": sampled_scenarios(design)[0]},
            caption="competition",
        )


TOPIC = Topic(
    "fairness",
    "Fairness",
    applies=lambda design: design.mixes,
    tables=(FLOW_SHARES, SHARES, SHARE_PAIRS, START_ORDER, FAIRNESS_FACTORS, SHARE_THEORY),
    figures=_figures,
)
