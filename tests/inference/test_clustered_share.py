"""The interval of a share has its nominal coverage, whether trials of a cluster are independent or copies of one."""

import numpy as np
import pytest

from inference.clustered_share import clustered_share_interval


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0], ids=["independent", "half alike", "copies"])
@pytest.mark.parametrize(("clusters", "trials"), [(2, 12), (12, 24), (40, 12)])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_it_holds_the_share(clusters, trials, share, alike):
    draw, held, tries = np.random.default_rng(5), 0, 1000
    for _ in range(tries):
        common = draw.random((clusters, 1)) < share
        own = draw.random((clusters, trials)) < share
        positive = np.where(draw.random((clusters, trials)) < alike, common, own).sum(axis=1)
        low, high = clustered_share_interval(positive, np.full(clusters, trials), 0.95)
        held += low <= share <= high
    # 95 % less three standard errors.
    assert held / tries >= 0.93


def test_a_cluster_counts_once():
    # None of 4 clusters: as none of 4 trials, 1 - 0.025 ** (1 / 4).
    assert clustered_share_interval([0] * 4, [25] * 4, 0.95) == (0.0, pytest.approx(0.6024, abs=1e-4))
    assert clustered_share_interval([3], [3], 0.95) == (pytest.approx(0.025), 1.0)
    with pytest.raises(ValueError, match="at least one trial"):
        clustered_share_interval([], [], 0.95)
