"""Label a study's runs and control runs as two IP versions or as two CCAs.

The scripts that compare IP versions and CCAs can then compare each cell with itself: the two levels differ only in name.
"""

import pandas as pd

from topics.ip_version.run_pairs import IPV4, IPV6

#: Names used in place of CCAs when each cell is compared with itself by the tests for CCAs.
RUNS, CONTROL = "runs", "control"


def _arms(runs, controls, column, names):
    """Return runs and control runs in one table, with the name of each run's arm in the column ``column``.

    The n-th control run is given the replication number of the n-th run, so that these two are compared with each other.
    """
    shifted = controls.assign(replication=controls["replication"] - runs["replication"].max())
    return pd.concat([runs.assign(**{column: names[0]}), shifted.assign(**{column: names[1]})], ignore_index=True)


def arms_as_ip_versions(runs, controls, ip_version) -> pd.DataFrame:
    """Return the runs and the control runs over one IP version; runs are labelled as IPv4, control runs as IPv6.

    ``runs`` and ``controls`` are ``tidy/runs.csv`` and ``tidy/controls.csv``.
    """
    of_version = (table[table["ip_version"] == ip_version] for table in (runs, controls))
    return _arms(*of_version, "ip_version", (IPV4, IPV6))


def arms_as_ccas(runs, controls) -> pd.DataFrame:
    """Return runs and control runs labelled as two CCAs.

    The column scenario contains the scenario and the actual CCA, separated by a space.
    """
    places = (table.assign(scenario=table["scenario"] + " " + table["cca"]) for table in (runs, controls))
    return _arms(*places, "cca", (RUNS, CONTROL))


def cell_of_place(place) -> tuple[str, str]:
    """Return the scenario and the CCA that `arms_as_ccas` combined into one name; neither contains a space."""
    scenario, _, cca = place.rpartition(" ")
    return scenario, cca
