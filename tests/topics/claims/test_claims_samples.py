"""The bootstrap of replications: known coverage, pairs kept, holes, seeds."""

import math

import numpy as np
import pytest

import claim_runs
from topics.claims.claim_measures import Measure
from topics.claims.claim_samples import Samples, bootstrap_interval

QUANTITY = Measure("throughput_per_stream_mbps")
MEAN = {"kind": "threshold", "pick": "mean", "requirement": {"above": 0}}


def samples_of(folder, values, resamples=500, seed=1, delays_ms=(10, 50)):
    file = claim_runs.loaded(folder, MEAN, delays_ms=delays_ms)
    return Samples(claim_runs.table(values, delays_ms), file, resamples, seed)


@pytest.mark.parametrize(
    ("replications", "lowest", "highest"),
    # Between the extremes of 4 values lies the truth in 87.5 % at most (1 - 2/2^4), of 6 in 96.9 %.
    [(4, 0.82, 0.895), (6, 0.93, 0.985), (20, 0.93, 0.985)],
)
def test_interval_of_a_mean_covers_the_truth(tmp_path, replications, lowest, highest):
    """600 cells with a true mean of 50."""
    rng = np.random.default_rng(5)
    delays = tuple(range(10, 110))
    samples = samples_of(tmp_path, lambda *cell: rng.normal(50, 5, replications), delays_ms=delays)
    means = samples.means(QUANTITY).reshape(501, -1)
    intervals = [bootstrap_interval(cell, 0.95, replications) for cell in means.T]
    assert lowest <= np.mean([low <= 50 <= high for low, high in intervals]) <= highest


def test_replications_are_drawn_for_all_ccas_and_ip_versions_at_once(tmp_path):
    rng = np.random.default_rng(2)
    common = {scenario: rng.lognormal(3, 1, 8) for scenario in "12"}

    def values(scenario, cca, ip_version):
        return common[scenario] * {"reno": 1, "cubic": 2, "bbr": 6}[cca] * (0.5 if ip_version == "ipv6" else 1)

    means = samples_of(tmp_path, values).means(QUANTITY)
    assert np.allclose(means[:, :, 2] / means[:, :, 0], 6, rtol=1e-12)
    assert np.allclose(means[..., 1] / means[..., 0], 0.5, rtol=1e-12)
    first = means[:, 0, 0, 0] / means[0, 0, 0, 0]
    second = means[:, 1, 0, 0] / means[0, 1, 0, 0]
    assert first.std() > 0.1
    assert abs(np.corrcoef(first[1:], second[1:])[0, 1]) < 0.2  # scenarios are drawn apart


def test_data_come_first_and_holes_are_left_out(tmp_path):
    samples = samples_of(tmp_path, lambda s, cca, ip: [None, 2, 4, 9] if cca == "bbr" else [1, 2, None, 3])
    means = samples.means(QUANTITY)
    assert means[0, 0, :, 0].tolist() == [2, 2, 5]
    assert samples.counts(QUANTITY).tolist() == [[[3, 3]] * 3] * 2
    known = means[~np.isnan(means)]
    assert known.min() >= 1 and known.max() <= 9  # nothing counts as 0
    assert np.isnan(means[1:, 0, 2, 0]).mean() == pytest.approx((1 / 4) ** 4, abs=0.02)


def test_replications_may_have_any_number(tmp_path):
    table = claim_runs.table(lambda *cell: [1, 2, 3])
    table["replication"] = table["replication"].map({1: 7, 2: 40, 3: 1000})
    file = claim_runs.loaded(tmp_path, MEAN)
    samples = Samples(table, file, 100, 1)
    assert samples.values(QUANTITY).shape == (2, 3, 2, 3)
    assert samples.means(QUANTITY)[0].tolist() == [[[2, 2]] * 3] * 2


def test_draws_follow_seed_and_scenario_only(tmp_path):
    def values(scenario, cca, ip_version):
        return [len(cca) * step**2 for step in range(1, 7)]

    one = samples_of(tmp_path, values, delays_ms=(10, 50)).means(QUANTITY)
    again = samples_of(tmp_path, values, delays_ms=(10, 50)).means(QUANTITY)
    other_order = samples_of(tmp_path, values, delays_ms=(50, 10, 100)).means(QUANTITY)
    other_seed = samples_of(tmp_path, values, seed=2).means(QUANTITY)
    assert np.array_equal(one, again)
    assert np.array_equal(one[:, 0], other_order[:, 1])
    assert np.array_equal(one[:, 1], other_order[:, 0])
    assert not np.array_equal(one, other_seed)


def test_medians_are_those_of_the_runs_as_often_as_drawn(tmp_path):
    rng = np.random.default_rng(3)
    samples = samples_of(tmp_path, lambda *cell: [*rng.normal(size=5), None], resamples=30)
    mask = samples.mask(["1", "2"], ["reno", "bbr"], ["ipv4"])
    values = samples.values(QUANTITY)
    for draw, found in enumerate(samples.medians(QUANTITY, mask)):
        drawn = [
            np.repeat(values[scenario, cca, 0, :5], samples._weights[scenario][draw])
            for scenario in (0, 1)
            for cca in (0, 2)
        ]
        assert found == np.median(np.concatenate(drawn))


def test_interval_takes_wider_percentiles_of_few_replications():
    """n = 100: t of 99 is 1.984, times sqrt(100/99) 1.994, probability 0.0231 (Hesterberg, 2015)."""
    statistics = np.concatenate([[500.0], np.arange(1, 1001.0)])
    low, high = bootstrap_interval(statistics, 0.95, 100)
    assert (low, high) == (24, 977)
    assert bootstrap_interval(statistics, 0.95, 2) == (1, 1000)
    low, high = bootstrap_interval(statistics, 0.95, 100_000)
    assert (low, high) == (25, 976)


def test_interval_encloses_the_value_and_passes_over_what_is_undefined():
    statistics = np.array([50.0, 1, 2, 3, math.nan, 4])
    assert bootstrap_interval(statistics, 0.95, 6) == (1, 50)
    assert bootstrap_interval(np.array([5.0, math.nan]), 0.95, 6) == (5, 5)
    assert bootstrap_interval(np.array([5.0, 1, math.inf]), 0.95, 2) == (1, math.inf)
