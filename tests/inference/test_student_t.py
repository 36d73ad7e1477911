"""Student's t by special functions: the digits of `scipy.stats.t`, without importing it."""

import subprocess
import sys

import numpy as np
from scipy import stats

from inference.student_t import chance_below, quantile


def test_the_digits_are_those_of_scipy_stats():
    rng = np.random.default_rng(1)
    df = np.concatenate([rng.integers(1, 2000, 1000), 60 * rng.random(1000), [np.inf, np.nan, 0.0, 1e-3]])
    share, t = rng.random(len(df)), 3 * rng.standard_cauchy(len(df))
    t[:3] = np.inf, -np.inf, np.nan
    assert np.array_equal(quantile(share, df), stats.t.ppf(share, df), equal_nan=True)
    assert np.array_equal(chance_below(t, df), stats.t.cdf(t, df), equal_nan=True)


def test_jobs_that_compare_means_need_not_wait_for_all_of_scipy():
    """Their scripts are imported without `scipy.stats` or pingouin, which take longer than most of what they do."""
    scripts = (
        "topics.cells.describe_cells", "topics.buffers.describe_flows", "topics.delay_and_loss.estimate_percentiles",
        "topics.fairness.plot_competition", "topics.fairness.plot_shares", "topics.multipath.compare_paths",
        "topics.packet_size.measure_sizes", "topics.platforms.compare_platforms", "topics.time_series.measure_sawtooth",
        "topics.variance.decompose_variance",
    )  # fmt: skip
    code = f"import sys, {', '.join(scripts)}; print([name for name in ('scipy.stats', 'pingouin') if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
