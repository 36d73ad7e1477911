"""The sentence about excluded runs at the top of the page."""

from run_tables.exclusions import not_run
from topics.exam.scorecard import OF_THE_CCA
from topics.validity.sentences import validity_words
from wording.number_format import count
from wording.sentence_words import cca_name, listed

#: Maximum number of combinations of scenario and CCA that the sentence names.
MOST_NAMED = 3


def excluded_words(runs, checks, scenarios, examined=None) -> str:
    """Return a sentence that states how many runs are excluded, why, and for which scenarios and CCAs; "" if no run is excluded.

    Parameters
    ----------
    runs, checks, scenarios : pandas.DataFrame
        ``tidy/runs.csv``, ``analysis/checks.csv`` and ``tidy/scenarios.csv``.
    examined : str, optional
        The examined CCA, if the study is an exam: its scorecard counts runs that failed because of this CCA.
    """
    excluded = runs[~runs["valid"] & ~not_run(runs)]
    if excluded.empty:
        return ""
    places = _places(excluded, runs, scenarios)
    if (excluded["excluded_by"].isin(OF_THE_CCA) & (excluded["cca"] == examined)).any():
        counted = f"the scorecard counts those that failed because of {cca_name(examined)} as worse"
        return (
            f"{validity_words(runs, checks)}; means and intervals leave out the excluded runs, {places}, but {counted}."
        )
    return f"{validity_words(runs, checks)}; means, intervals and tests leave out the excluded runs, {places}."


def _places(excluded, runs, scenarios):
    """Return a phrase that states the number of excluded runs for each combination of scenario and CCA.

    If there are many combinations, the phrase states only their number.
    """
    labels = scenarios.set_index("scenario")["label"]
    places = excluded.groupby(["scenario", "cca"], sort=False).size()
    if len(places) > MOST_NAMED:
        return f"which belong to {len(places):,} of {count(runs.groupby(['scenario', 'cca']).ngroups, 'combination')} of scenario and CCA"
    return listed(
        [
            f"{number_of:,} with {cca_name(cca)} in scenario {labels[scenario]}"
            for (scenario, cca), number_of in places.items()
        ]
    )
