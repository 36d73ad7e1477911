"""Ratios of measurement to model, against the truth of synthetic studies."""

import math

import numpy as np
import pytest
from scipy import stats

from model_tables import fit, pick, synthetic
from tcp_models import model_names
from tcp_models import throughput_models as theory
from topics.theory.fit_models import ratio_interval

pytestmark = pytest.mark.filterwarnings("error")


def test_square_root_law_against_the_truth(tmp_path):
    # Truth for reno: 1.22 of the law's unit over the path's RTT, measured RTT 0.3 ms longer; IPv6's smaller
    # segments are in law and truth alike.
    models, _ = fit(synthetic(replications=40, flows=(1, 12)), tmp_path)
    rows = pick(models, model=model_names.SQUARE_ROOT, cca="reno")
    assert len(rows) == 3 * 2 * 2
    for row in rows.to_dict("records"):
        path_ms = 2 * float(row["scenario"].split("-")[1].removesuffix("ms"))
        truth = 1.22 / theory.MATHIS_C * (path_ms + 0.3) / path_ms
        assert row["ratio"] == pytest.approx(truth, rel=0.02)
        assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
        assert row["ratio"] == pytest.approx(row["measured"] / row["modelled"])
    assert (
        pick(models, model=model_names.SQUARE_ROOT, cca="bbr")["note"].str.startswith("a yardstick: the law is").all()
    )
    short = rows["note"].str.contains("round trips per run: start-up matters")
    assert short.tolist() == rows["scenario"].str.contains("-(?:50|100)ms").tolist()


def test_which_model_stands_where(tmp_path):
    models, _ = fit(synthetic(), tmp_path)
    lossy = models[models["scenario"].str.contains("1pct")]
    lossless = models[models["scenario"].str.contains("0pct")]
    assert set(lossy["model"]) == {model_names.SQUARE_ROOT, model_names.CUBIC, model_names.FULL_QUEUE}
    assert set(pick(lossy, model=model_names.CUBIC)["cca"]) == {"cubic"}
    assert pick(lossy, model=model_names.CUBIC)["note"].str.contains(theory.RENO_REGION).all()
    assert set(lossless["model"]) == {model_names.FULL_LINK, model_names.FULL_QUEUE}


def test_full_link_and_full_queue_against_the_truth(tmp_path):
    models, _ = fit(synthetic(replications=40), tmp_path)
    for row in pick(models, model=model_names.FULL_LINK, cca="cubic").to_dict("records"):
        path_ms = 2 * float(row["scenario"].split("-")[1].removesuffix("ms"))
        assert row["ratio"] == pytest.approx((0.93 - 0.0004 * path_ms) * 1514 / 1448, rel=0.02)
    queue = pick(
        models, model=model_names.FULL_QUEUE, cca="cubic", scenario="1000mbit-50ms-0pct-1flow", ip_version="ipv4"
    )
    # Truth: 80 % of 100 ms and 0.2 ms, in a queue of 8,333 packets of 1514 bytes (100.93 ms).
    assert queue["ratio"].iloc[0] == pytest.approx(80.2 / (8333 * 1514 * 8 / 1e6), rel=0.02)
    assert queue["unit"].iloc[0] == "ms"


def test_sum_over_flows_is_capped_by_the_link(tmp_path):
    models, regressions = fit(synthetic(flows=(12,), rate_mbps=20), tmp_path)
    cell = {"scenario": "20mbit-10ms-1pct-12flow", "cca": "reno", "ip_version": "ipv4"}
    row = pick(models, **cell, model=model_names.SQUARE_ROOT).iloc[0]
    assert row["modelled"] == pytest.approx(20 * 1448 / 1514)
    assert "more than the link carries in 5 of 5 runs: the ideal goodput is used" in row["note"]
    row = pick(regressions, cca="reno", ip_version="ipv4", loss_configured_percent=1).iloc[0]
    assert np.isnan(row["expected"]) and "no exponent expected: the link is full in 1 of 3 scenarios" in row["note"]


def test_ratio_and_interval_by_hand():
    # d = -1, 1, ...: standard error sqrt(6 / 5 / 6) over the model's 1; t(0.975, 5) = 2.570582.
    ratio, low, high = ratio_interval([2.0, 4.0] * 3, [1.0] * 6, 0.95)
    assert ratio == 3 and high / ratio == pytest.approx(np.exp(2.570582 / math.sqrt(5) / 3), rel=1e-6)
    assert low == pytest.approx(ratio**2 / high)
    # Of a model that varies scipy's own interval of the mean of d, over the model's mean.
    measured, modelled = np.array([2.0, 4.1, 2.2, 3.7, 5.0, 2.9]), np.array([1.0, 2.0, 1.2, 1.7, 2.4, 1.6])
    ratio, low, high = ratio_interval(measured, modelled, 0.9)
    half = stats.ttest_1samp(measured - ratio * modelled, 0).confidence_interval(0.9).high / modelled.mean()
    assert (ratio, high, low) == pytest.approx(
        (19.9 / 9.9, ratio * np.exp(half / ratio), ratio * np.exp(-half / ratio))
    )
    below = [-1.0, 0.5, -0.3, 0.1, -0.6, 0.2]
    interval = stats.ttest_1samp(below, 0).confidence_interval(0.95)
    assert ratio_interval(below, [1.0] * 6, 0.95) == pytest.approx((np.mean(below), interval.low, interval.high))
    assert np.isfinite(ratio_interval([1e-9, 1000.0, *[0.0] * 4], [1.0, 1.0, *[1e9] * 4], 0.95)).all()


def test_ratio_without_interval():
    assert ratio_interval([5.0], [2.0], 0.95) == (2.5, None, None)
    assert ratio_interval([2.0, 4.0, 3.0, 5.0, 1.0], [1.0] * 5, 0.95) == (3.0, None, None)  # too few
    assert ratio_interval([2.0, 4.0] * 3, [1.0, 2.0] * 3, 0.95) == (
        2.0,
        None,
        None,
    )  # the model explains all: no spread
    assert ratio_interval([0.0] * 6, [1.0, 2.0] * 3, 0.95) == (0.0, None, None)


def test_interval_of_the_ratio_covers_the_truth():
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(1000):
        modelled = 10 * (1 + 0.1 * rng.normal(size=8))
        _, low, high = ratio_interval(1.4 * modelled * (1 + 0.1 * rng.normal(size=8)), modelled, 0.95)
        hits += low < 1.4 < high
    assert 930 < hits < 970


def test_cautions_on_super_packets_and_lost_acknowledgements(tmp_path):
    study = synthetic()
    study["scenarios"]["segmentation_offload"] = True
    study["scenarios"]["loss_reverse_percent"] = study["scenarios"]["loss_forward_percent"]
    study["scenarios"].loc[0, "netem"] = "both-ends"
    models, regressions = fit(study, tmp_path)
    law = pick(models, model=model_names.SQUARE_ROOT)["note"]
    assert law.str.contains("acknowledgements are lost too").all()
    assert pick(models, model=model_names.FULL_QUEUE)["note"].str.contains("the queue holds super-packets").all()
    lossy = pick(regressions, loss_configured_percent=1)["note"]
    assert lossy.str.contains("the scenarios differ in place of the emulated link").all()


def test_no_rate_limit(tmp_path):
    models, _ = fit(synthetic(rate_mbps=None), tmp_path)
    for model, needed in (
        (model_names.FULL_LINK, "rate or sender's limit"),
        (model_names.FULL_QUEUE, "rate limit with a drop-tail queue"),
    ):
        rows = pick(models, model=model)
        assert rows["ratio"].isna().all() and rows["n"].eq(0).all()
        assert rows["note"].str.contains(f"5 of 5 valid runs without {needed}").all()
    assert pick(models, model=model_names.SQUARE_ROOT)["ratio"].notna().all()


def test_zero_loss_zero_goodput_and_no_valid_run(tmp_path):
    study = synthetic()
    runs = study["runs"]
    cell = (runs["cca"] == "reno") & (runs["ip_version"] == "ipv4")
    runs.loc[cell & (runs["scenario"] == "1000mbit-10ms-1pct-1flow"), "retransmit_steady_percent"] = 0.0
    runs.loc[cell & (runs["scenario"] == "1000mbit-50ms-1pct-1flow"), "goodput_steady_mbps"] = 0.0
    runs.loc[cell & (runs["scenario"] == "1000mbit-10ms-0pct-1flow"), "valid"] = False
    models, regressions = fit(study, tmp_path)
    models = pick(models, cca="reno", ip_version="ipv4").set_index(["scenario", "model"])
    lossless = models.loc[("1000mbit-10ms-1pct-1flow", model_names.SQUARE_ROOT)]
    assert (
        np.isnan(lossless["ratio"])
        and lossless["note"] == "5 of 5 valid runs without loss after start-up or measurement"
    )
    stalled = models.loc[("1000mbit-50ms-1pct-1flow", model_names.SQUARE_ROOT)]
    assert stalled["ratio"] == 0 and np.isnan(stalled["ratio_low"])
    assert "repeat one measurement" in stalled["note"]
    assert models.loc[("1000mbit-10ms-0pct-1flow", model_names.FULL_LINK), "note"] == "no valid run"
    row = pick(regressions, cca="reno", ip_version="ipv4", loss_configured_percent=1).iloc[0]
    assert np.isnan(row["estimate"])
    assert row["note"] == (
        "2 scenarios with different RTTs: a line needs 3; 1 scenario left out: a value of 0 has no logarithm"
    )


def test_one_run_a_cell_and_one_scenario(tmp_path):
    models, regressions = fit(synthetic((10,), (1,), replications=1), tmp_path)
    assert models["ratio"].notna().all() and models["ratio_low"].isna().all()
    assert models["note"].str.contains("one run: an interval needs 6").all()
    assert regressions["estimate"].isna().all()
    assert regressions["note"].str.startswith("1 scenario with different RTTs: a line needs 3").all()


def test_no_valid_run_at_all(tmp_path):
    study = synthetic()
    study["runs"]["valid"] = False
    models, regressions = fit(study, tmp_path)
    assert models["ratio"].isna().all() and models["note"].str.contains("no valid run").all()
    assert regressions.empty


def test_same_tables_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        fit(synthetic(), tmp_path / name)
    for table in ("models.csv", "regressions.csv"):
        assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()
