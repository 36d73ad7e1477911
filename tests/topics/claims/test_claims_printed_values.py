"""Claims that repeat a printed value: the verdict by the prediction interval for a repetition of the experiment."""

import numpy as np
import pytest

import claim_runs
from claim_runs import check
from topics.claims.check_claims import check_claims
from topics.claims.tables import NOT_REPRODUCED, NOT_SHOWN, REPRODUCED

REPLICATES = {"kind": "threshold", "pick": "mean", "requirement": {"replicates": 10, "standard_error": 0.5}}


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([10.2, 10.4, 10.6, 10.8], REPRODUCED, "our value lies inside the prediction interval."),
        ([11.4, 11.5, 11.6, 11.7], NOT_REPRODUCED, "our value lies outside the prediction interval."),
        # As wide as it is it would agree with anything.
        ([2, 8, 13, 17], NOT_SHOWN, "our value lies inside the prediction interval, but is less precise than the paper's, with 4 replications in the smallest cell."),
    ],
)  # fmt: skip
def test_a_printed_value_is_held_against_the_prediction_interval(tmp_path, values, verdict, reason):
    row = check(
        tmp_path, lambda *cell: values, REPLICATES | {"ccas": ["reno"], "scenarios": ["1"], "ip_versions": ["ipv4"]}
    )
    assert row["verdict"] == verdict, row["because"]
    assert row["because"].endswith(reason)
    assert "prediction interval for replicating 10 with a standard error of 0.5: at least " in row["requirement"]


def test_a_perfect_rerun_replicates_in_19_of_20(tmp_path):
    """The paper's mean of 40 runs against ours of 40: bounds of one standard error that whole intervals must meet would refuse nearly
    all."""
    rng = np.random.default_rng(7)
    claims, cells = [], 150
    for place in range(cells):
        printed = float(rng.normal(100, 4, 40).mean())
        cell = {
            "ccas": ["reno"],
            "scenarios": [str(place + 1)],
            "ip_versions": ["ipv4"],
            "kind": "threshold",
            "pick": "mean",
        }
        error = 4 / 40**0.5
        claims.append(cell | {"requirement": {"replicates": printed, "standard_error": error}})
        claims.append(cell | {"requirement": {"at_least": printed - error, "at_most": printed + error}})
    delays = tuple(range(10, 10 + cells))
    file = claim_runs.loaded(tmp_path, *claims, delays_ms=delays)
    table = check_claims(claim_runs.table(lambda *cell: rng.normal(100, 4, 40), delays), file, 0.95, 0.05)
    verdicts = [table["verdict"][first::2] for first in (0, 1)]
    assert (verdicts[0] != NOT_REPRODUCED).mean() >= 0.9
    assert (verdicts[1] == REPRODUCED).mean() < 0.05
