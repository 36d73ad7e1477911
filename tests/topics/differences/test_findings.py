"""Sentences about planted differences: what is said, of which size and place, and in which order."""

import numpy as np
import pytest

from known_levels import runs_of
from planted_differences import compared, nothing, sentences, shorter
from study_files.kernel_pairs import KernelPair
from topics.differences.section import of_kernels
from topics.differences.sentences import Told, alike_sentence, open_sentence, undecided_sentence


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


def test_a_larger_value_is_told_as_times_from_twice_on():
    def values(scenario, cca, replication, ip_version, rng):
        return {"goodput_mbps": {"reno": 3.0, "cubic": 9.0}[cca] * (1 + 0.01 * rng.standard_normal())}

    assert (
        "the goodput is 3.0" in sentences(runs_of(values, n=8))[0]
        or "3 times as high as with Reno" in sentences(runs_of(values, n=8))[0]
    )


def test_opposite_places_are_counted():
    def values(scenario, cca, replication, ip_version, rng):
        factor = {"one": 0.7, "two": 0.7, "three": 1.5}[scenario] if cca == "cubic" else 1
        return {"rtt_mean_ms": 60 * factor * (1 + 0.01 * rng.standard_normal())}

    text = sentences(runs_of(values, scenarios=("one", "two", "three"), n=8))[0]
    assert "in 2 of 3 scenarios, longer in 1. Most in " in text


def test_where_a_cca_differs_from_others_in_other_places_each_has_its_own():
    def values(scenario, cca, replication, ip_version, rng):
        mean = {"one": {"cubic": 40, "reno": 60, "vegas": 40}, "two": {"cubic": 40, "reno": 40, "vegas": 60}}
        return {"rtt_mean_ms": mean[scenario][cca] * (1 + 0.001 * rng.standard_normal())}

    texts = sentences(runs_of(values, scenarios=("one", "two"), ccas=("cubic", "reno", "vegas"), n=8))
    assert any("than with Reno (in one) and Vegas (in two). " in text for text in texts)


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
    (finding,) = of_kernels(Told(differences, comparisons, 0.95, ["cubic", "series"]), [SERIES])
    assert finding.topic == "Kernel" and "Reno" not in finding.text
    assert finding.text.startswith(
        f"series and CUBIC are the same CCA on two kernels (Linux, series.mbox; the image's Linux). {sentence}"
    )
