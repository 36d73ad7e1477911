"""Formulas of TCP theory against the tables of the RFC and worked numbers."""

import numpy as np
import pytest

from tcp_models import throughput_models as theory

pytestmark = pytest.mark.filterwarnings("error")

LOSSES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]


def test_reno_windows_of_the_rfc():
    # RFC 9438, table 1, column "Reno": 1.2 / sqrt(p), where section 4.3's formula gives sqrt(1.5 / p), 2 % more.
    published = np.array([12, 38, 120, 379, 1200, 3795, 12000])
    for window in (theory.aimd_window(LOSSES, 1, 0.5), theory.reno_friendly_window(LOSSES)):
        np.testing.assert_allclose(window, np.sqrt(1.5 / np.array(LOSSES)), rtol=1e-12)
        np.testing.assert_allclose(window, published, rtol=0.035)  # 12 stands for 12.0 to 12.2


@pytest.mark.parametrize(
    "rtt_ms, c, published",
    [
        # RFC 9438, tables 1 and 2. Entries equal to Reno's are the Reno-friendly region's.
        (100, 0.04, [12, 38, 120, 593, 3332, 18740, 105383]),
        (100, 0.4, [12, 38, 187, 1054, 5926, 33325, 187400]),
        (100, 4, [12, 59, 333, 1874, 10538, 59261, 333250]),
        (10, 0.04, [12, 38, 120, 379, 1200, 3795, 18740]),
        (10, 0.4, [12, 38, 120, 379, 1200, 5926, 33325]),
        (10, 4, [12, 38, 120, 379, 1874, 10538, 59261]),
    ],
)
def test_cubic_windows_of_the_rfc(rtt_ms, c, published):
    reno = [12, 38, 120, 379, 1200, 3795, 12000]
    for loss, window, of_reno in zip(LOSSES, published, reno, strict=True):
        cubic = theory.cubic_window(rtt_ms, loss, c=c)
        if window == of_reno:
            assert cubic < 1.2 / np.sqrt(loss)
        else:
            assert round(float(cubic)) == window


def test_cubic_constant_of_the_rfc():
    # RFC 9438, section 5.1: with C = 0.4 the window is 1.054 * RTT^0.75 / p^0.75.
    assert theory.cubic_window(1000, 1.0) == pytest.approx(1.054, abs=5e-4)


@pytest.mark.parametrize("throughput_mbps, loss", [(100, 1.4e-5), (1000, 6.3e-7), (10000, 2.9e-8)])
def test_losses_at_which_cubic_reaches_a_rate(throughput_mbps, loss):
    # RFC 9438, table 3: packets of 1500 bytes, RTT 0.1 s; the losses have two digits.
    assert theory.cubic_response_mbps(1500, 100, loss) == pytest.approx(throughput_mbps, rel=0.03)


def test_example_rate_of_the_rfc():
    # RFC 9438, section 5.1: RTT 0.01 s, p = 10^-6, 1500 bytes: Reno has 1200 packets and 1.44 Gbit/s; CUBIC too.
    assert theory.rate_mbps(1200, 1500, 10) == pytest.approx(1440)
    assert theory.cubic_response_mbps(1500, 10, 1e-6) == pytest.approx(1440, rel=0.025)
    assert theory.cubic_region(10, 1e-6) == theory.RENO_REGION
    assert theory.cubic_region(100, 1e-6) == theory.CUBIC_REGION


def test_regions_of_the_published_scenarios():
    # 1 % loss: Reno-friendly up to an RTT of 263 ms, so in all scenarios of the paper.
    for rtt_ms in (20, 100, 200, 260):
        assert theory.cubic_region(rtt_ms, 0.01) == theory.RENO_REGION
    assert theory.cubic_region(270, 0.01) == theory.CUBIC_REGION


def test_square_root_law_by_hand():
    # 1460 bytes, 100 ms, 1 %: 1460 * 8 / 0.1 s * 1.31 / 0.1 = 1.53008 Mbit/s; evenly spaced losses: 1.22 / 0.1.
    assert theory.square_root_law_mbps(1460, 100, 0.01) == pytest.approx(1.53008)
    assert theory.square_root_law_mbps(1460, 100, 0.01, constant=np.sqrt(1.5)) == pytest.approx(1.43050, abs=5e-6)
    assert theory.square_root_law_mbps(1460, 50, 0.04) == pytest.approx(1.53008)


def test_constant_for_random_losses():
    # Between losses the window grows by a segment a round trip, so its square by 2 a segment; a loss, after an
    # exponential number of segments (mean 1/p), halves it: before a loss W^2 = sum of 2 E_j / 4^j. The segments
    # of a cycle, 1/p, over its round trips, W/2, are the mean window: C / sqrt(p) (Ott, Kemperman and Mathis, 1996).
    segments = np.random.default_rng(1).exponential(size=(30, 400_000))
    before = np.sqrt((2 * segments / 4.0 ** np.arange(30)[:, None]).sum(axis=0))
    assert 2 / before.mean() == pytest.approx(theory.MATHIS_C, abs=0.003)
    even = np.sqrt(sum(2 / 4.0**j for j in range(30)))  # the same with losses at even distances
    assert 2 / even == pytest.approx(np.sqrt(1.5))


def test_no_loss_sets_no_limit():
    assert np.isinf(theory.square_root_law_mbps(1448, 20, 0.0))
    assert np.isinf(theory.cubic_response_mbps(1448, 20, np.array([0.0, 0.0]))).all()


def test_full_queue():
    # 1 BDP of 1 Gbit/s and 20 ms: 1652 packets of 1514 bytes.
    assert theory.full_queue_delay_ms(1652 * 1514, 1000) == pytest.approx(20.009024)
