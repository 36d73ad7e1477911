"""Rates at which the joint test of all CCAs and the pairwise tests falsely report a difference between CCAs."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from inference.block_tests import friedman_test
from inference.multiple_tests import adjusted
from known_truth import FACTORS
from paired_rates import p_of
from rates import ALARMS, SIGNIFICANCE, Rate
from run_tables.metrics import METRICS
from topics.ccas.compare_ccas import gated


def cca_alarms(rng, samples, n, differing=0.0, places=24, ccas=6) -> list[Rate]:
    """Estimate the rate of studies in which two CCAs are falsely reported to differ, after the joint test.

    A study consists of ``places``, each a scenario with one IP version, and of four metrics at each place. One CCA truly differs from the
    others at a share ``differing`` of the places. The runs of a replication use the same seed.
    """
    names, index = list(itertools.combinations(range(ccas), 2)), [metric.column for metric in METRICS]
    alarms = 0
    for _ in range(samples):
        groups, rows = [], []
        for place, metric in itertools.product(range(places), index):
            values = 0.03 * rng.standard_normal((n, ccas)) + 0.1 * rng.standard_normal((n, 1))
            other = place < differing * places
            values[:, 0] += 1.0 * other
            head = {"metric": metric, "scenario": str(place), "ip_version": "ipv4"}
            groups.append(head | {"ccas": ccas, "p": friedman_test(values)[1]})
            contrasts = np.array([values[:, a] - values[:, b] for a, b in names])
            p = [p_of(row) for row in contrasts]
            rows += [
                head | {"p": value, "false": not (other and a == 0)} for value, (a, _) in zip(p, names, strict=True)
            ]
        together, by_pair = pd.DataFrame(groups), pd.DataFrame(rows)
        together["p_holm"] = adjusted(together["p"], "holm")
        alarms += bool((gated(by_pair, together, SIGNIFICANCE)[by_pair["false"]] < SIGNIFICANCE).any())
    case = f"{places} places, {ccas} CCAs" + (f", one differs in {100 * differing:g} %" if differing else ", A/A")
    return [Rate("studies with a false pair", case, n, alarms, samples, ALARMS)]


def place_alarms(rng, samples, n, factor, places=96, ccas=6) -> list[Rate]:
    """Estimate the rate of studies in which any joint test is falsely significant.

    ``places`` is the number of joint tests. In the default study there are 96, one per scenario, IP version and metric.
    """
    alarms = 0
    for _ in range(samples):
        blocks = FACTORS[factor](rng, (places, n, ccas)) * np.exp(0.1 * rng.standard_normal((places, n, 1)))
        alarms += min(friedman_test(values)[1] for values in blocks) < SIGNIFICANCE / places
    return [
        Rate(
            "studies with a false joint test of CCAs",
            f"{places} places, {ccas} CCAs, {factor}",
            n,
            alarms,
            samples,
            ALARMS,
        )
    ]


def rates(rng, samples) -> Iterator[Rate]:
    """Yield the error rates that this module simulates; slow simulations use fewer samples."""
    few = max(1, samples // 4)
    for n in (4, 6):
        yield from place_alarms(rng, samples, n, "normal, 3 %")
        yield from place_alarms(rng, few, n, "two modes (half at 80 %)")
    yield from cca_alarms(rng, few, 6)
    yield from cca_alarms(rng, few // 5, 12, places=2)
    yield from cca_alarms(rng, few // 5, 12, differing=0.5, places=2)
