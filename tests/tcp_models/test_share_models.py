"""Predictions of share models against numbers calculated by hand."""

import pytest

from tcp_models.share_models import bbr_share, cubic_times_s


def test_model_of_bbr_beside_loss_based_flows():
    # Ware et al. (2019), equations 9 to 11, by hand at 10 Mbit/s, 40 ms, 16 BDPs: with 1,514-byte frames c = 825.6/s and
    # q = 528.4, p = 1/2 - 1/32 - 4/528.4 = 0.4612, Probe_time/d = (0.64 + 0.2 + 0.04)/10 = 0.088.
    packets_s = 10e6 / 8 / 1514
    assert bbr_share(packets_s, 0.04, 16 * packets_s * 0.04) == pytest.approx((1 - 0.4612) * (1 - 0.088), abs=1e-4)
    # Below a BDP p is negative: BBR has all but the time in ProbeRTT.
    assert bbr_share(packets_s, 0.04, 0.5 * packets_s * 0.04) == pytest.approx(1 - 0.026, abs=1e-6)
    # Four BBR flows have 16 packets of the queue for themselves.
    assert bbr_share(1000, 0.1, 400, 4) == pytest.approx((0.5 + 0.125 + 0.04) * 0.93)


def test_times_of_cubic():
    # RFC 9438: alpha = 3 (1 - 0.7)/(1 + 0.7) = 0.529; from 0.7 x 100 packets back to 100 at 0.1 s; K = cbrt(30/0.4).
    assert cubic_times_s(100, 0.1) == pytest.approx((30 / (0.9 / 1.7) * 0.1, (30 / 0.4) ** (1 / 3)))
