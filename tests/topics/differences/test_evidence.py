"""Which runs are evidence of a difference: few, copied, missing or dependent runs show no more than they can."""

import numpy as np
import pytest

from known_levels import runs_of
from planted_differences import compared, sentences, shorter


def test_four_replications_are_enough_for_what_is_far_beyond_their_spread_and_it_is_said_so():
    assert sentences(runs_of(shorter(40), n=3, scenarios=("one", "two"))) == []
    (text,) = sentences(runs_of(shorter(40), n=4, scenarios=("one", "two")))
    assert text.endswith("but the difference is at least three times any difference between runs of one cell.")


def test_places_in_which_the_spread_is_exceeded_are_told_from_others():
    """In the first scenario, the difference is far beyond the spread, and in the other one it isn't."""

    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": {"reno": 60.0, "cubic": 30.0 if scenario == "one" else 56.5}[cca] + rng.uniform(0, 2)}

    (text,) = sentences(runs_of(values, n=4, scenarios=("one", "two")))
    assert "shorter than with Reno in both scenarios" in text
    assert text.endswith(
        "but in some scenarios the difference is at least three times any difference between runs of one cell."
    )


def test_each_comparison_has_its_own_evidence():
    """Reno and CUBIC repeat one measurement each, BBR varies."""

    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": {"reno": 40.0, "cubic": 46.0, "bbr": rng.uniform(45.6, 48.4)}[cca]}

    texts = sentences(runs_of(values, n=8, ccas=("reno", "cubic", "bbr"), spread=0))
    (text,) = (text for text in texts if text.startswith("With Reno the mean RTT"))
    assert (
        "Compared with CUBIC, each value is one measurement, repeated with the same result, so there is nothing to test; with BBR, by"
        in text
    )


def test_opposite_differences_over_the_ip_versions_are_no_likeness():
    """The means over both IP versions are equal."""

    def values(scenario, cca, replication, ip_version, rng):
        usual = {"reno": 90.0, "cubic": 126.0 if ip_version == "ipv4" else 54.0}[cca]
        return {"goodput_mbps": usual * (1 + 1e-3 * rng.standard_normal()), "rtt_mean_ms": 50.0}

    _, comparisons = compared(runs_of(values, n=8, ip_versions=("ipv4", "ipv6")))
    (row,) = comparisons[comparisons["measure"] == "goodput_mbps"].to_dict("records")
    assert row["verdict"] == "open" and row["bound"] == pytest.approx(100 * (90 / 54 - 1), abs=2)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, pytest.param(3, marks=pytest.mark.long), 4])
def test_few_replications_show_nothing_that_their_collapses_may_make(n):
    """Half of the runs collapse, so all runs of a cell do in one of 2^n cells."""

    def values(scenario, cca, replication, ip_version, rng):
        kinds = {name: rng.choice([3.0, 10.0]) for name in ("rtt_mean_ms", "goodput_mbps")}
        return {name: kind * (1 + 0.01 * rng.standard_normal()) for name, kind in kinds.items()}

    said = [bool(sentences(runs_of(values, n=n, seed=seed))) for seed in range(50)]
    assert sum(said) <= 3  # 1.6 % with n = 4


def test_copies_are_one_measurement_and_called_so():
    def copied(scenario, cca, replication, ip_version, rng):
        return {
            "rtt_mean_ms": {"reno": 60.0, "cubic": 40.0}[cca],
            "goodput_mbps": 9.5,
            "retransmit_percent": 0.1,
            "loss_percent": 0.1,
        }

    (text,) = sentences(runs_of(copied, spread=0))
    assert text.endswith("Each value is one measurement, repeated with the same result, so there is nothing to test.")


def test_values_that_are_equal_by_chance_are_no_repeated_measurement():
    def values(scenario, cca, replication, ip_version, rng):
        return {
            "retransmit_percent": {"reno": 0.0, "cubic": 1.0}[cca],
            "goodput_mbps": 9 * np.exp(0.2 * rng.standard_normal()),
        }

    runs = runs_of(values, n=3)
    assert sentences(runs) == []
    row = compared(runs)[0].set_index("measure").loc["retransmit_percent"]
    assert (row["difference"], row["repeats"], row["verdict"]) == (-1, False, "less")


def test_runs_that_their_sender_excludes_count_against_a_verdict():
    runs = runs_of(shorter(30), n=8)
    lost = (runs["cca"] == "cubic") & (runs["replication"] <= 2)
    runs.loc[lost, ["valid", "excluded_by"]] = False, "sender"
    differences, comparisons = compared(runs)
    rtt = differences[differences["measure"] == "rtt_mean_ms"].iloc[0]
    assert (rtt["n"], rtt["lost"], rtt["verdict"]) == (6, 2, "open")
    runs.loc[lost, "excluded_by"] = "instrument"
    rtt = compared(runs)[0].query("measure == 'rtt_mean_ms'").iloc[0]
    assert (rtt["n"], rtt["lost"], rtt["verdict"]) == (6, 0, "more")


def test_both_ip_versions_of_a_replication_are_one_unit():
    runs = runs_of(shorter(30), n=6, ip_versions=("ipv4", "ipv6"))
    assert set(compared(runs)[0]["n"]) == {6}


def test_scenarios_that_share_seeds_are_one_piece_of_evidence():
    runs = runs_of(shorter(8), scenarios=("one", "two", "three"), n=6, spread=0.03)
    row = compared(runs)[1].set_index("measure").loc["rtt_mean_ms"]
    shared = compared(runs.assign(seed=runs["replication"]))[1].set_index("measure").loc["rtt_mean_ms"]
    assert row["p"] < 0.01 and shared["p"] == pytest.approx(3 * 2 / 2**6)


@pytest.mark.slow
def test_evidence_of_other_places_shows_nothing():
    """In four scenarios CUBIC is 2 % slower for sure, less than the margin; elsewhere its goodput varies by a quarter."""

    def values(scenario, cca, replication, ip_version, rng):
        quiet = int(scenario) < 4
        mean = 10 * (0.98 if quiet and cca == "cubic" else 1)
        return {"goodput_mbps": mean * np.exp((0.003 if quiet else 0.25) * rng.standard_normal())}

    scenarios, verdicts = [str(place) for place in range(12)], []
    for seed in range(20):
        verdicts.append(
            compared(runs_of(values, scenarios=scenarios, seed=seed))[1].set_index("measure").loc["goodput_mbps"]
        )
    assert sum(row["more"] != row["less"] for row in verdicts) >= 3
    assert {row["verdict"] for row in verdicts} == {"open"}


def test_evidence_in_the_other_direction_shows_nothing():
    """With CUBIC the RTT is longer in two places by a few times its spread, and in one shorter by much more."""

    def values(scenario, cca, replication, ip_version, rng):
        if cca != "cubic":
            return {"rtt_mean_ms": 60.0}
        return {"rtt_mean_ms": 30 + rng.random() / 10 if scenario == "sure" else 64 + 4 * rng.random()}

    row = compared(runs_of(values, scenarios=("one", "two", "sure"), n=4))[1].set_index("measure").loc["rtt_mean_ms"]
    assert (row["more"], row["less"], row["evidence"]) == (1, 2, "")


def test_a_pair_consists_of_runs_over_one_ip_version():
    runs = runs_of(shorter(30), n=8, ip_versions=("ipv4", "ipv6"))
    lost = (runs["cca"] == "cubic") & (runs["replication"] <= 2) & (runs["ip_version"] == "ipv6")
    runs.loc[lost, ["valid", "excluded_by"]] = False, "instrument"
    row = compared(runs)[0].query("measure == 'rtt_mean_ms'").iloc[0]
    assert (row["n"], row["left_out"], row["verdict"]) == (8, 2, "more")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "two modes",
        "copies",
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("normal", "skewed", "collapses")),
    ],
)
def test_chance_alone_is_hardly_ever_said(kind):
    def values(scenario, cca, replication, ip_version, rng):
        draw = {
            "normal": lambda: 1 + 0.1 * rng.standard_normal(), "skewed": lambda: rng.lognormal(0, 0.4),
            "two modes": lambda: rng.choice([0.6, 1.0]) + 0.01 * rng.standard_normal(),
            "collapses": lambda: 0.2 if rng.random() < 0.15 else 1 + 0.02 * rng.standard_normal(),
            "copies": lambda: 1.0,
        }[kind]  # fmt: skip
        return {"goodput_mbps": 9 * draw(), "rtt_mean_ms": 60 * draw(), "retransmit_percent": abs(draw())}

    alarms = [
        sentences(runs_of(values, ccas=("a", "b", "c"), scenarios=("one", "two", "three", "four"), seed=seed)) != []
        for seed in range(40)
    ]
    assert sum(alarms) <= 5  # 5 % of 40 are 2; more than 5 happen in 1 of 100 such tests
