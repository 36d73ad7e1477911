"""Findings of a study on data with known truth: the planted difference, and nothing else."""

import zlib

import numpy as np
import pytest

from known_levels import runs_of
from study_files import study as studies
from study_files.kernel_pairs import KernelPair
from topics.differences.axes import pairs_of
from topics.differences.compare_levels import compare_levels
from topics.differences.measures import margins_of
from topics.differences.ranking import ranked
from topics.differences.section import compared_words, of_kernels
from topics.differences.sentences import Told, alike_sentence, open_sentence, undecided_sentence

MARGIN_OF = margins_of(studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a"}]}, "s.yaml"))


def compared(runs, pairs=()):
    return compare_levels(runs, list(pairs), MARGIN_OF, 0.05, 0.95)


def sentences(runs, pairs=(), own=()):
    differences, comparisons = compared(runs, pairs)
    told = Told(differences, comparisons, 0.95)
    return [told.sentence(finding) for finding in ranked(comparisons, own)]


def nothing(*_):
    return {}


def shorter(percent, of="cubic", within=None):
    def values(scenario, cca, replication, ip_version, rng):
        if cca != of or (within and scenario not in within):
            return {}
        return {"rtt_mean_ms": 60 * (1 - percent / 100) * (1 + 0.01 * rng.standard_normal())}

    return values


def test_the_difference_that_was_put_in_is_said_first_with_size_place_and_certainty():
    text = sentences(runs_of(shorter(30, within=["one", "two"]), scenarios=("one", "two", "three"), n=8))[0]
    assert text.startswith("With CUBIC the mean RTT is ")
    assert "shorter than with Reno in 2 of 3 scenarios. Most in " in text
    assert "95 % interval of the difference" in text
    assert "It has no price in the measures compared: pairs of runs differ by at most" in text
    assert text.endswith("By sign flips, corrected for all comparisons, p = 0.011.")


def test_where_flips_are_too_few_the_p_is_that_of_the_t_that_is_named():
    runs = runs_of(shorter(30))
    row = compared(runs)[1].set_index("measure").loc["rtt_mean_ms"]
    assert row["evidence"] == "Student's t" and row["t_p_holm"] < 0.001 < 0.05 < row["p_holm"]
    assert sentences(runs)[0].endswith("By Student's t, corrected for all comparisons, p < 0.001.")


def test_a_price_belongs_to_what_it_pays_for():
    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": 30 + rng.random(), "goodput_mbps": 6 + rng.random() / 10} if cca == "cubic" else {}

    (text,) = sentences(runs_of(values, n=12))
    assert "the mean RTT is 49" in text and "The price: the goodput is 3" in text and "% lower" in text
    assert "price" not in text.replace("The price", "")


def test_nothing_is_said_of_a_price_that_another_finding_tells():
    def values(scenario, cca, replication, ip_version, rng):
        index = {"jain_index": (0.99 if cca == "reno" else 0.7) + rng.random() / 1000}
        return index | ({"goodput_mbps": 600 + rng.random()} if cca == "cubic" else {})

    first, second = sentences(runs_of(values, n=12, ccas=("reno", "cubic", "vegas")))
    assert first.startswith("With CUBIC the goodput is ") and "times as high as with Reno and Vegas" in first
    assert "95 % interval of the ratio " in first and "interval of the difference" not in first
    assert second.startswith("With Reno Jain's index of the flows' goodputs is ") and "price" not in second


def test_one_cca_that_stands_out_is_told_against_all_others_together():
    text = sentences(runs_of(shorter(40, of="vegas"), ccas=("reno", "cubic", "bbr", "vegas"), n=10))[0]
    assert text.startswith("With Vegas the mean RTT is ") and "than with all other CCAs" in text


def test_levels_that_differ_in_nothing_are_alike_with_a_bound():
    runs = runs_of(nothing, spread=0.005, scenarios=("one", "two"))
    assert sentences(runs) == []
    text = alike_sentence(compared(runs)[1])
    assert text.startswith("Reno and CUBIC are alike in all compared measures: pairs of runs differ by at most ")
    widest = compared(runs)[1].set_index("measure").loc["goodput_mbps", "bound"]
    values = runs.pivot_table(index=["scenario", "replication"], columns="cca", values="goodput_mbps")
    assert widest == pytest.approx(100 * (values["reno"] / values["cubic"] - 1).abs().max(), rel=0.02)


def test_what_no_run_settles_is_said_to_be_open():
    def noisy(scenario, cca, replication, ip_version, rng):
        return {"goodput_mbps": 9 * np.exp(0.3 * rng.standard_normal())}

    runs = runs_of(noisy)
    assert sentences(runs) == [] and alike_sentence(compared(runs)[1]) == ""
    assert open_sentence(compared(runs)[1]).startswith(
        "No difference between Reno and CUBIC is shown, but not all are ruled out"
    )


def test_a_cca_of_the_studys_own_is_mentioned_even_if_no_run_settles_its_differences():
    """The finding about Vegas would otherwise be all that the page states."""

    def values(scenario, cca, replication, ip_version, rng):
        if cca == "mine":
            return {"rtt_mean_ms": np.nan, "goodput_mbps": 9 * np.exp(0.3 * rng.standard_normal())}
        return {"rtt_mean_ms": {"reno": 60, "vegas": 40}[cca] * (1 + 0.01 * rng.standard_normal())}

    comparisons = compared(runs_of(values, ccas=("reno", "vegas", "mine"), n=10))[1]
    text = undecided_sentence(comparisons, ("mine",))
    assert text.startswith(
        "No difference between mine and other CCAs is shown, but not all are ruled out: pairs of runs "
    )
    assert undecided_sentence(comparisons, ("vegas",)) == undecided_sentence(comparisons, ()) == ""


def test_a_cca_of_the_studys_own_comes_first():
    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_mean_ms": {"reno": 60, "vegas": 40, "mine": 52}[cca] * (1 + 0.01 * rng.standard_normal())}

    texts = sentences(runs_of(values, ccas=("reno", "vegas", "mine"), n=10), own=("mine",))
    assert texts[0].startswith("With mine ")


def test_four_replications_are_enough_for_what_is_far_beyond_their_spread_and_it_is_said_so():
    assert sentences(runs_of(shorter(40), n=3, scenarios=("one", "two"))) == []
    (text,) = sentences(runs_of(shorter(40), n=4, scenarios=("one", "two")))
    assert text.endswith(
        "but the difference is at least three times as large as the difference between any two runs of one cell."
    )


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


def test_a_larger_value_is_told_as_times_from_twice_on():
    def values(scenario, cca, replication, ip_version, rng):
        return {"goodput_mbps": {"reno": 3.0, "cubic": 9.0}[cca] * (1 + 0.01 * rng.standard_normal())}

    assert (
        "the goodput is 3.0" in sentences(runs_of(values, n=8))[0]
        or "3 times as high as with Reno" in sentences(runs_of(values, n=8))[0]
    )


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


def test_opposite_places_are_counted():
    def values(scenario, cca, replication, ip_version, rng):
        factor = {"one": 0.7, "two": 0.7, "three": 1.5}[scenario] if cca == "cubic" else 1
        return {"rtt_mean_ms": 60 * factor * (1 + 0.01 * rng.standard_normal())}

    text = sentences(runs_of(values, scenarios=("one", "two", "three"), n=8))[0]
    assert "in 2 of 3 scenarios, longer in 1. Most in " in text


def test_both_ip_versions_of_a_replication_are_one_unit():
    runs = runs_of(shorter(30), n=6, ip_versions=("ipv4", "ipv6"))
    assert set(compared(runs)[0]["n"]) == {6}


def test_where_a_cca_differs_from_others_in_other_places_each_has_its_own():
    def values(scenario, cca, replication, ip_version, rng):
        mean = {"one": {"cubic": 40, "reno": 60, "vegas": 40}, "two": {"cubic": 40, "reno": 40, "vegas": 60}}
        return {"rtt_mean_ms": mean[scenario][cca] * (1 + 0.001 * rng.standard_normal())}

    texts = sentences(runs_of(values, scenarios=("one", "two"), ccas=("cubic", "reno", "vegas"), n=8))
    assert any("than with Reno (in one) and Vegas (in two). " in text for text in texts)


def test_conditions_are_compared_within_each_cca():
    def values(scenario, cca, replication, ip_version, rng):
        return {"rtt_above_ms": {"shallow": 5, "deep": 80}[scenario] + rng.random()}

    pair = {
        "level_a": "drop-tail of 0.5 BDP",
        "level_b": "drop-tail of 4 BDP",
        "scenario_a": "shallow",
        "scenario_b": "deep",
    }
    (text,) = sentences(runs_of(values, scenarios=("shallow", "deep")), [pair])
    assert text.startswith("With drop-tail of 0.5 BDP the RTT above the path's shortest is 7")
    assert "ms shorter than with drop-tail of 4 BDP with both CCAs. Most with " in text
    assert "By Welch's t" in text


CONDITIONS = {"level_a": "A", "level_b": "B", "scenario_a": "one", "scenario_b": "two"}


def of_two_ip_versions(lost):
    """Return the comparison of two equal scenarios in which IPv4 has the larger value, and in one of which the given runs are invalid."""

    def values(scenario, cca, replication, ip_version, rng):
        return {"ideal_percent": (95 if ip_version == "ipv4" else 80) + 0.5 * rng.standard_normal()}

    runs = runs_of(values, ccas=("reno",), scenarios=("one", "two"), n=8, ip_versions=("ipv4", "ipv6"))
    runs.loc[(runs["scenario"] == "two") & lost(runs), ["valid", "excluded_by"]] = False, "instrument"
    differences, comparisons = compared(runs, [CONDITIONS])
    places = differences[differences["measure"] == "ideal_percent"]
    return places, comparisons.set_index("measure")["verdict"].get("ideal_percent")


def test_a_missing_ip_version_is_no_effect_of_a_condition():
    places, verdict = of_two_ip_versions(lambda runs: runs["ip_version"] == "ipv6")
    row = places.iloc[0]
    assert abs(row["difference"]) < 1 and verdict == "alike" and (row["n"], row["left_out"]) == (8, 8)
    places, verdict = of_two_ip_versions(lambda runs: (runs["ip_version"] == "ipv6") & (runs["replication"] <= 2))
    row = places.iloc[0]
    assert abs(row["difference"]) < 1 and verdict == "alike" and (row["n"], row["left_out"]) == (6, 2)
    places, verdict = of_two_ip_versions(lambda runs: (runs["ip_version"] == "ipv6") == (runs["replication"] <= 4))
    assert places.empty and verdict is None  # no replication has both IP versions


def noise_of_the_seed(scenario, cca, replication, ip_version, rng):
    """Return the same noise for all CCAs of a scenario that run with one seed."""
    seed = zlib.crc32(f"{scenario}/{replication}".encode())
    return {"rtt_above_ms": 100 + 25 * np.random.default_rng(seed).standard_normal() + rng.standard_normal()}


def test_ccas_with_one_seed_are_one_piece_of_evidence():
    scenarios = [str(place) for place in range(8)]
    pairs = [CONDITIONS | {"level_b": one, "scenario_a": "0", "scenario_b": one} for one in scenarios[1:]]
    six = compared(runs_of(noise_of_the_seed, tuple("abcdef"), scenarios, spread=0), pairs)[1]
    one = compared(runs_of(noise_of_the_seed, ("a",), scenarios, spread=0), pairs)[1]
    p_of_six, p_of_one = (
        table[table["measure"] == "rtt_above_ms"].query("factor == 'scenario'")["t_p_holm"] for table in (six, one)
    )
    assert p_of_six.min() > 0.5 * p_of_one.min() and (p_of_six > 0.05).all()


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


def test_pairs_of_scenarios_differ_in_one_condition_alone():
    def scenario(name, rate, bdp):
        return {"id": name, "label": name, "link": {"rate_mbps": rate}, "queue": {"discipline": "x", "bdp": bdp}}

    class Words:
        keys, words = ("queue",), staticmethod(lambda one: f"{one['queue']['bdp']} BDP")

    import topics.differences.axes as axes

    scenarios = [scenario("a", 10, 1), scenario("b", 10, 4), scenario("c", 20, 1), scenario("d", 20, 4)]
    parts, axes.PARTS = axes.PARTS, (Words,)
    try:
        found = [(one["scenario_a"], one["scenario_b"]) for one in pairs_of(scenarios)]
        Words.words = staticmethod(lambda one: "the same")
        assert [one["level_b"] for one in pairs_of(scenarios)] == [
            "rate 20 Mbit/s"
        ] * 2  # both scenarios have the same words, so there are no levels to compare
    finally:
        axes.PARTS = parts
    assert found == [("a", "b"), ("c", "d"), ("a", "c"), ("b", "d")]


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


SERIES = KernelPair("series", "cubic", "Linux, series.mbox", "the image's Linux")


@pytest.mark.parametrize(
    "percent, sentence",
    [
        (30, "With series the mean RTT is "),
        (0, "series and CUBIC are alike in all compared measures: pairs of runs differ by at most "),
    ],
)
def test_what_a_kernel_changes_is_said_of_it_alone(percent, sentence):
    """Reno, which differs from both, is not mentioned."""

    def values(scenario, cca, replication, ip_version, rng):
        return {
            "rtt_mean_ms": 60
            * {"series": 1 - percent / 100, "cubic": 1, "reno": 3}[cca]
            * (1 + 0.001 * rng.standard_normal())
        }

    differences, comparisons = compared(runs_of(values, ccas=("series", "cubic", "reno"), n=8, spread=0.005))
    (finding,) = of_kernels(Told(differences, comparisons, 0.95), [SERIES])
    assert finding.topic == "Kernel" and "Reno" not in finding.text
    assert finding.text.startswith(
        f"series and CUBIC are the same CCA on two kernels (Linux, series.mbox; the image's Linux). {sentence}"
    )


def test_the_section_says_which_scenarios_are_compared_and_in_which_measures():
    """Three scenarios that differ in their queue make two pairs; no row is about their goodput or mean RTT."""
    scenarios = [{"id": f"bdp-{size}", "queue": {"bdp": size}} for size in (1, 2, 4)]
    study = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": scenarios}, "s.yaml")
    pairs = pairs_of(study["scenarios"])
    assert [(pair["scenario_a"], pair["scenario_b"]) for pair in pairs] == [("bdp-1", "bdp-2"), ("bdp-1", "bdp-4")]
    _, comparisons = compared(runs_of(nothing, scenarios=("bdp-1", "bdp-2", "bdp-4")), pairs)
    of_scenarios = comparisons[comparisons["factor"] == "scenario"]
    assert len(of_scenarios) and not {"goodput_mbps", "rtt_mean_ms"} & {*of_scenarios["measure"]}
    text = compared_words({"cca", "scenario"})
    assert text.startswith("Each pair of CCAs and each pair of scenarios that differ in only one condition ")
    assert "each of them is compared with the first. Scenarios aren't compared by goodput, mean RTT and " in text
    assert compared_words({"cca"}) == "Each pair of CCAs is compared in the measures that the tables list."
