"""Findings about data with a known truth."""

from study_files import study as studies
from topics.differences.compare_levels import compare_levels
from topics.differences.measures import margins_of
from topics.differences.ranking import ranked
from topics.differences.sentences import Told

MARGIN_OF = margins_of(studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a"}]}, "s.yaml"))


def compared(runs, pairs=()):
    """Return the tables of differences and comparisons of a table of runs (`compare_levels`)."""
    return compare_levels(runs, list(pairs), MARGIN_OF, 0.05, 0.95)


def sentences(runs, pairs=(), own=()):
    """Return the sentences about the findings in a table of runs, the most important first."""
    differences, comparisons = compared(runs, pairs)
    told = Told(differences, comparisons, 0.95, runs["cca"].unique())
    return [told.sentence(finding) for finding in ranked(comparisons, own)]


def nothing(*_):
    """No difference: values for `runs_of`."""
    return {}


def shorter(percent, of="cubic", within=None):
    """Return values for `runs_of` in which the mean RTT of a CCA is shorter than 60 ms, in some scenarios or in all."""

    def values(scenario, cca, replication, ip_version, rng):
        if cca != of or (within and scenario not in within):
            return {}
        return {"rtt_mean_ms": 60 * (1 - percent / 100) * (1 + 0.01 * rng.standard_normal())}

    return values
