"""A study's runs and control runs under the names of the levels that its comparisons use: IP versions, or CCAs.

This lets the scripts that compare IP versions and CCAs also compare cells with themselves; only the names of the levels differ.
"""

import pandas as pd

from topics.ip_version.run_pairs import IPV4, IPV6

#: Names used in place of CCAs when cells are compared by the tests of CCAs.
RUNS, CONTROL = "runs", "control"


def _arms(runs, controls, column, names):
    """Return both in one table, with the names in a column; the n-th control run gets the number of the n-th run."""
    shifted = controls.assign(replication=controls["replication"] - runs["replication"].max())
    return pd.concat([runs.assign(**{column: names[0]}), shifted.assign(**{column: names[1]})], ignore_index=True)


def arms_as_ip_versions(runs, controls, ip_version) -> pd.DataFrame:
    """Return the runs of an IP version in place of IPv4's, and its control runs in place of IPv6's.

    ``runs``, ``controls``: ``tidy/runs.csv`` and ``tidy/controls.csv``.
    """
    of_version = (table[table["ip_version"] == ip_version] for table in (runs, controls))
    return _arms(*of_version, "ip_version", (IPV4, IPV6))


def arms_as_ccas(runs, controls) -> pd.DataFrame:
    """Return runs and control runs as two CCAs; each cell with its actual CCA becomes a separate place: "scenario cca"."""
    places = (table.assign(scenario=table["scenario"] + " " + table["cca"]) for table in (runs, controls))
    return _arms(*places, "cca", (RUNS, CONTROL))


def cell_of_place(place) -> tuple[str, str]:
    """Return scenario and CCA of a place of `arms_as_ccas`; neither contains a space."""
    scenario, _, cca = place.rpartition(" ")
    return scenario, cca
