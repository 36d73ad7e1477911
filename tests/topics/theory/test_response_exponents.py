"""Exponents of loss and RTT, against the truth of synthetic studies and published fits."""

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from model_tables import fit, pick, synthetic
from tcp_models import throughput_models as theory
from topics.theory.fit_models import add_models
from topics.theory.response_exponents import MARGINS, agrees, cell_means, expected_exponents, power_law

pytestmark = pytest.mark.filterwarnings("error")


def test_exponents_against_the_truth(tmp_path):
    # Truth: goodput as 1 / RTT and 1 / sqrt(loss) for reno and cubic, and nearly flat for bbr.
    study = synthetic((15, 20, 30, 40, 60), (0.5, 1, 2), replications=20)
    _, regressions = fit(study, tmp_path)
    for cca, source in (("reno", "Mathis et al. (1997)"), ("cubic", "RFC 9438, section 5: Reno-friendly region")):
        rtt = pick(regressions, cca=cca, term="RTT")
        assert len(rtt) == 2 * 3 and rtt["expected"].eq(-1).all() and rtt["expected_source"].eq(source).all()
        assert rtt["estimate"].between(-1.04, -0.97).all() and (rtt["r2"] > 0.99).all()
        assert (rtt["ci_low"] < rtt["estimate"]).all() and (rtt["estimate"] < rtt["ci_high"]).all()
        assert rtt["n"].eq(100).all() and rtt["scenarios"].eq(5).all()
        loss = pick(regressions, cca=cca, term="loss")
        assert len(loss) == 2 and loss["expected"].eq(-0.5).all() and loss["loss_configured_percent"].isna().all()
        assert loss["estimate"].between(-0.53, -0.47).all() and loss["agrees"].eq("yes").all()
    bbr = pick(regressions, cca="bbr")
    assert bbr["expected"].isna().all() and bbr["agrees"].eq("").all()
    assert (pick(bbr, term="RTT")["estimate"].abs() < 0.15).all()


def test_power_law_of_rs_cars():
    # R's example(cars): lm(log(dist) ~ log(speed)) gives 1.6024, standard error 0.1395 on 48 degrees of freedom,
    # R-squared 0.7331 (data of Ezekiel, 1930).
    speed = (
        "4 4 7 7 8 9 10 10 10 11 11 12 12 12 12 13 13 13 13 14 14 14 14 15 15 15 16 16 17 17 17 18 18 18 18 19 19 19 "
        "20 20 20 20 20 22 23 24 24 24 24 25"
    )
    distance = (
        "2 10 4 22 16 10 18 26 34 17 28 14 20 24 28 26 34 34 46 26 36 60 80 20 26 54 32 40 32 40 50 42 56 76 84 36 46 "
        "68 32 48 52 56 64 66 54 70 92 93 120 85"
    )
    columns = {"rtt_ms": map(float, speed.split()), "per_flow_mbps": map(float, distance.split())}
    cells = pd.DataFrame(columns).assign(log_error=0.0)
    fit_of_line = power_law(cells, ["rtt_ms"], 0.95)
    assert fit_of_line["estimate"] == pytest.approx(1.6024, abs=5e-5)
    assert fit_of_line["r2"] == pytest.approx(0.7331, abs=5e-5)
    assert (fit_of_line["ci_high"] - fit_of_line["estimate"]) / 2.010635 == pytest.approx(
        0.1395, abs=5e-5
    )  # t(0.975, 48)


def test_line_by_chance_is_no_narrower_than_its_replications():
    cells = pd.DataFrame({"rtt_ms": [10.0, 20.0, 40.0], "per_flow_mbps": [8.0, 4.0, 2.0], "log_error": 0.0})
    exact = power_law(cells, ["rtt_ms"], 0.95)
    assert (exact["ci_low"], exact["ci_high"]) == (pytest.approx(-1), pytest.approx(-1))
    fit_of_line = power_law(cells.assign(log_error=0.1), ["rtt_ms"], 0.95)
    # x = ln 10, ln 20, ln 40: the slope is (y3 - y1) / (2 ln 2), so its error 0.1 sqrt(2) / (2 ln 2).
    assert fit_of_line["ci_high"] - fit_of_line["estimate"] == pytest.approx(
        1.959964 * 0.1 * np.sqrt(2) / (2 * np.log(2))
    )


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-1.1, -0.9, "yes"), (-0.9, -0.8, "yes"), (-0.6, -0.5, "no"), (-3, 1, ""), (-1 - 1e-12, -1 - 1e-12, "yes"),
        # Held -1 and not 0: that was taken for agreement, as it would have been with -1.5, -0.5 or -0.25.
        (-1.67, -0.06, ""), (-1.1, -0.6, ""), (0.5, 1, "no"),
    ],
)  # fmt: skip
def test_agreement_with_minus_one(low, high, word):
    assert agrees(-1, {"ci_low": low, "ci_high": high}, MARGINS["rtt_ms"]) == word


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.3, pytest.param(0.01, marks=pytest.mark.long)])
def test_fewer_runs_never_agree_more(error):
    """1,000 studies of three scenarios: hardly one of a CCA that follows RTT^-1 differs, and hardly one of another law agrees."""
    rng = np.random.default_rng(2)
    words = {-1.0: [], -0.25: []}
    for true, verdicts in words.items():
        for _ in range(500):
            rtt_ms = np.array([20.0, 100, 200, 400])
            cells = pd.DataFrame({"rtt_ms": rtt_ms, "log_error": 0.0})
            cells["per_flow_mbps"] = rtt_ms**true * rng.lognormal(0, error, 4)
            verdicts.append(agrees(-1, power_law(cells, ["rtt_ms"], 0.95), MARGINS["rtt_ms"]))
    assert words[-1.0].count("no") <= 25 and words[-0.25].count("yes") <= 25
    assert (words[-1.0].count("yes") > 450) == (error == 0.01)


def test_exponents_of_the_cubic_region():
    cells = pd.DataFrame(
        {"loss_configured_percent": 0.01, "loss_percent": 0.01, "rtt_ms": [100.0, 200.0, 400.0], "cubic_capped": False}
    )
    exponents, source, note = expected_exponents(cells, "cubic")
    assert exponents == {"rtt_ms": -0.25, "loss_percent": -0.75}
    assert (source, note) == ("RFC 9438, section 5: cubic region", "")
    # The formula itself has these exponents.
    rates = theory.cubic_response_mbps(1448, np.array([100.0, 200.0]), 1e-4)
    assert np.log2(rates[1] / rates[0]) == pytest.approx(-0.25)
    cells.loc[0, "rtt_ms"] = 1.0
    assert expected_exponents(cells, "cubic")[2] == "no exponent expected: the scenarios lie in both regions of CUBIC"


def test_loss_and_rtt_that_change_together_or_too_little(tmp_path):
    scenarios = pd.concat(
        [tidy_tables.grid((delay,), (loss,), (1,)) for delay, loss in ((10, 1), (20, 2), (40, 4), (80, 8))]
    )
    scenarios["label"] = [str(number) for number in range(1, 5)]
    _, regressions = fit(tidy_tables.synthetic_study(scenarios, ["reno"], replications=3, spread=0), tmp_path)
    loss = pick(regressions, term="loss")
    assert loss["note"].str.startswith("RTT and loss change together").all()
    _, regressions = fit(synthetic((10, 50), (1,), ccas=["reno"]), tmp_path / "two")
    assert regressions["term"].eq("RTT").all()
    _, regressions = fit(synthetic((10,), (1, 2), ccas=["reno"]), tmp_path / "losses")
    assert pick(regressions, term="loss")["note"].str.startswith("2 scenarios with 2 loss rates").all()


def test_equal_goodput_everywhere(tmp_path):
    study = synthetic()
    study["runs"]["goodput_steady_mbps"] = 5.0
    _, regressions = fit(study, tmp_path)
    assert regressions["note"].str.startswith("goodput is the same in every scenario").all()


def test_cell_means_are_of_valid_runs():
    study = synthetic()
    study["runs"].loc[0, ["valid", "goodput_steady_mbps"]] = [False, 1e9]
    cells = cell_means(add_models(study["runs"]), study["scenarios"])
    cell = study["runs"].loc[1:4, "goodput_mbps"]
    assert cells["per_flow_mbps"].iloc[0] == pytest.approx(cell.mean())
    assert cells["log_error"].iloc[0] == pytest.approx(cell.std() / 2 / cell.mean())
    assert cells["runs"].iloc[0] == 4


@pytest.mark.parametrize(("column", "value"), [("window_limited_percent", 90.0), ("queue_marks", 500.0)])
def test_cells_that_the_law_does_not_describe_are_on_no_line(tmp_path, column, value):
    """A window of fixed size also gives 1 / RTT, which says nothing about the response to losses."""
    study = synthetic((15, 20, 30, 40, 60), (1,), ccas=["reno"], replications=6)
    whole = fit(study, tmp_path)[1]
    runs = study["runs"]
    runs[column] = np.where(runs["rtt_path_ms"] > 60, 0.0, value)  # only two scenarios remain
    models, some = fit(study, tmp_path / "some")
    assert whole["agrees"].eq("yes").all() and whole["scenarios"].eq(5).all()
    assert some["agrees"].eq("").all() and some["estimate"].isna().all() and some["scenarios"].eq(2).all()
    assert some["note"].str.endswith("3 scenarios left out: not comparable with the square-root law").all()
    assert pick(models, model="square-root law")["note"].str.startswith("not comparable").sum() == 3 * 2
