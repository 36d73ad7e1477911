"""Who gets how much of the bottleneck when flows of different CCAs meet on it."""

from itertools import combinations_with_replacement

from study_topics.topic import Figure, Topic

# More competitions than these, which is those of 8 CCAs, are not drawn over time.
MOST_COMPETITIONS = 36


def pair_mixes(design):
    """Return the mixes of two CCAs."""
    return tuple(cca for cca in design.ccas if len(cca.split("+")) == 2)


def competitions(design):
    """Return a mix for each unordered pair of CCAs, as the study has it, if time series show them and they aren't too many."""
    mixes = pair_mixes(design)
    ccas = dict.fromkeys(cca for mix in mixes for cca in mix.split("+"))
    found = [
        mix
        for first, second in combinations_with_replacement(ccas, 2)
        for mix in [next((name for name in (f"{first}+{second}", f"{second}+{first}") if name in mixes), None)]
        if mix
    ]
    return tuple(found[:MOST_COMPETITIONS]) if design.series else ()


def figures(design):
    """Yield the figures that a study of this design has."""
    if pair_mixes(design):
        yield Figure("fairness-shares")
        yield Figure("fairness-jain")
    if len(pair_mixes(design)) < len(design.ccas):
        yield Figure("fairness-mixes")
    if pair_mixes(design) and len(design.scenarios) > 1:
        for cca in dict.fromkeys(cca for mix in pair_mixes(design) for cca in mix.split("+")):
            yield Figure(f"fairness-factors-{cca}", "fairness-factors", {"cca_shown": cca})
    for mix in competitions(design):
        yield Figure(
            f"competition-{mix.replace('+', '-')}", "competition", {"mix": mix, "scenario": design.series[0]}
        )


TOPIC = Topic(
    "fairness",
    "Fairness",
    applies=lambda design: design.mixes,
    tables=("flow_shares", "shares", "share_pairs", "start_order", "fairness_factors", "share_theory"),
    figures=figures,
)
