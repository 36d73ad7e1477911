"""Comparison of scenarios that differ in one condition, within each CCA."""

import zlib

import numpy as np

from known_levels import runs_of
from planted_differences import compared, nothing, sentences
from study_files import study as studies
from topics.differences.axes import pairs_of
from topics.differences.section import compared_words


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
