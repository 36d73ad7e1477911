"""The scorecard's arithmetic, on tables whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from study_files import study as studies
from topics.exam.criteria import CRITERIA, GROUPS, LOWER, MEASURES
from topics.exam.judge import BETTER, FAILED, LIKE, NOT_EVALUATED, NOT_SHOWN, PASSED, WORSE, scorecard
from topics.exam.measure_exam import wanted_measures
from topics.exam.section import group_verdict, link_of, row_sentence
from topics.exam.tables import EXAM_VALUES
from topics.exam.topic import CASES, SHARES, THROUGHPUT

QUICK = "config/studies/exam-quick.yaml"
CARDS = 60


@pytest.fixture(scope="module")
def exam():
    """The settings of the shipped exam, of a CCA ``mine``."""
    return studies.resolve(studies.load(QUICK), QUICK)["exam"] | {"cca": "mine"}


def values(cells, runs=4):
    """Return `EXAM_VALUES` of (scenario, measure, cca) -> value or one for each run."""
    rows = []
    for (scenario, measure, cca), of_cell in cells.items():
        other = "reno" if measure.startswith("harm") else ""
        for replication, value in enumerate(np.broadcast_to(of_cell, runs), 1):
            rows.append((scenario, cca, "ipv4", replication, measure, other, float(value)))
    return pd.DataFrame(rows, columns=EXAM_VALUES.names)


def verdicts(cells, exam, scenario):
    """Return measure -> verdict of one scenario."""
    card = scorecard(values(cells), {scenario: scenario}, exam)
    rows = card[card["scenario"] == scenario]
    return dict(zip(rows["measure"], rows["verdict"], strict=True))


def of(measure, own, reno, cubic, scenario="6.3-x"):
    """Return cells of three CCAs."""
    return {(scenario, measure, cca): value for cca, value in (("mine", own), ("reno", reno), ("cubic", cubic))}


@pytest.mark.parametrize(
    "own, verdict",
    [
        ([60.0, 60.1, 59.9, 60.0], WORSE),  # than the worse of 80 and 90, by more than 5
        ([77.0, 77.1, 76.9, 77.0], LIKE),  # 3 below
        ([84.0, 85.0, 85.0, 86.0], LIKE),  # between the two
        ([97.0, 97.1, 96.9, 97.0], BETTER),  # than the better of them, by more than 5
        ([40.0, 99.0, 60.0, 90.0], NOT_SHOWN),
    ],
)
def test_relative_verdicts(exam, own, verdict):
    """A CCA is worse where it is worse than each standard CCA by the margin, better where it is better than each."""
    card = verdicts(of("utilisation_percent", own, 80.0, 90.0), exam, "6.3-x")
    assert card == {"utilisation_percent": verdict}


def test_direction(exam):
    """Where less is better a CCA with less is better."""
    assert verdicts(of("queueing_p95_ms", [10, 10.1, 9.9, 10], 30.0, 40.0), exam, "6.3-x")["queueing_p95_ms"] == BETTER
    assert verdicts(of("queueing_p95_ms", [60, 60.1, 59.9, 60], 30.0, 40.0), exam, "6.3-x")["queueing_p95_ms"] == WORSE


def test_standard_that_decides(exam):
    """The row shows the standard CCA that does worst, and if it is better the one that does best."""
    for own, standard, worse_by in ((60.0, "reno", 20), (97.0, "cubic", -7)):
        card = scorecard(values(of("utilisation_percent", own, 80.0, 90.0)), {"6.3-x": "x"}, exam)
        row = card[card["scenario"] == "6.3-x"].iloc[0]
        assert (row["standard"], row["worse_by"], row["margin"]) == (standard, pytest.approx(worse_by), 5)
        assert row["standard_value"] == {"reno": 80, "cubic": 90}[standard]


def test_t_and_p_of_a_row(exam):
    """p is Student's, of the pairs less the margin: here t = (6 - 5) / (sqrt(2/3) / 2) on 3 degrees of freedom.

    The margin's tenth, 0.5, is the step of a difference: 0.25 / 24 is added to the variance.
    """
    from scipy import stats

    cells = of("utilisation_percent", [74.0, 73.0, 75.0, 74.0], 80.0, 80.0)
    row = scorecard(values(cells), {"6.3-x": "x"}, exam).query("scenario == '6.3-x'").iloc[0]
    t = 1 / np.sqrt((2 / 3 + 0.25 / 24) / 4)
    assert row["p"] == pytest.approx(stats.t.sf(t, 3))
    assert row["worse_by"] == pytest.approx(6)


def test_harm_is_held_against_the_others_own_kind(exam):
    """Whatever Reno and CUBIC do: what counts is what the other flow's CCA does to its own kind."""
    scenario = "5.2.1-before-reno"
    cells = of("harm_throughput", [0.8, 0.81, 0.79, 0.8], 0.5, 0.95, scenario)
    row = scorecard(values(cells), {scenario: "x"}, exam).query("measure == 'harm_throughput'").iloc[0]
    assert (row["verdict"], row["standard"], row["standard_value"]) == (WORSE, "reno", 0.5)


@pytest.mark.parametrize("own, verdict", [([0, 0, 9, 9], PASSED), ([0, 9, 9, 9], FAILED), ([5, 5, 5, 5], PASSED)])
def test_absolute_verdicts(exam, own, verdict):
    """A limit is exceeded where most of the runs exceed it, whatever the standard CCAs do."""
    cells = of("other_starved_s", own, 20.0, 20.0, "5.2.1-before-reno")
    assert verdicts(cells, exam, "5.2.1-before-reno")["other_starved_s"] == verdict


def test_a_standard_cca_is_like_itself(exam):
    """The examined CCA may be one of the standards: it is never worse than them."""
    cells = of("utilisation_percent", 80.0, 80.0, 95.0)
    card = scorecard(values(cells), {"6.3-x": "x"}, exam | {"cca": "reno"})
    assert list(card.query("scenario == '6.3-x'")["verdict"]) == [LIKE]


def test_every_criterion_has_a_row(exam):
    """What can't be evaluated is a row with its reason, and so is a scenario without a valid run."""
    card = scorecard(values({}), {"6.2-tunnel": "tunnel"}, exam, missing={"6.2-tunnel": "no valid run: cca"})
    assert set(zip(card["rfc_section"], card["criterion"], strict=True)) == {(c.section, c.words) for c in CRITERIA}
    assert set(card["verdict"]) == {NOT_EVALUATED} and card["reason"].ne("").all()
    assert card.query("scenario == '6.2-tunnel'")["reason"].tolist() == ["no valid run: cca"]


def test_margins_and_limits_are_the_studys(exam):
    """Each measure has one key of the study's margins or limits, each criterion a group and either measures or a reason."""
    for measure in MEASURES.values():
        assert (measure.margin in exam["margins"]) != (measure.limit in exam["limits"])
        assert measure.better == LOWER or measure.margin
    for criterion in CRITERIA:
        assert criterion.group in GROUPS
        assert bool(criterion.scenarios and criterion.measures) != bool(criterion.reason)
        assert set(criterion.measures) <= MEASURES.keys()


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_answer_every_criterion(file):
    """Each criterion that can be evaluated has a scenario, and each scenario answers one."""
    path = f"config/studies/{file}.yaml"
    scenarios = [scenario["id"] for scenario in studies.resolve(studies.load(path), path)["scenarios"]]
    assert all(c.reason or any(map(c.is_answered_by, scenarios)) for c in CRITERIA)
    assert all(wanted_measures(name) for name in scenarios)


def test_names_match_whole_sections():
    """7.10 is no case of 7.1."""
    assert "during_percent" in wanted_measures("7.10-failover")
    assert "queueing_p95_ms" not in wanted_measures("7.10-failover")


def card_of_one_distribution(random, exam, scenarios, runs):
    """Return the card of a CCA that does what Reno does, with CUBIC elsewhere; spreads from none to many margins."""
    rows = []
    for scenario in scenarios:
        for name in sorted(wanted_measures(scenario)):
            measure = MEASURES[name]
            margin = exam["margins"].get(measure.margin, 1.0)
            centre, spread = 20 * margin, margin * 10 ** random.uniform(-2, 1)
            for cca, shift in (("mine", 0), ("reno", 0), ("cubic", random.normal(0, 3) * margin)):
                # Skewed, as completion times and losses are.
                drawn = centre + shift + spread * (random.exponential(1, runs) - 1)
                for replication, value in enumerate(drawn, 1):
                    rows.append((scenario, cca, "ipv4", replication, name, "reno", value))
    table = pd.DataFrame(rows, columns=EXAM_VALUES.names)
    return scorecard(table, dict.fromkeys(scenarios, "x"), exam)


def test_false_alarms_of_worse(exam):
    """Fewer than 5 % of the cards of a CCA that does just what Reno does have any row "worse"."""
    random = np.random.default_rng(9743)
    scenarios = [f"{section}-x" for section in ("5.1.2", "5.1.3", "5.1.4", "6.3", "7.1")]
    scenarios += ["5.2.1-before-reno", "5.2.1-after-reno"]
    alarms = [card_of_one_distribution(random, exam, scenarios, 4)["verdict"].eq(WORSE).any() for _ in range(CARDS)]
    assert np.mean(alarms) < 0.05


@pytest.mark.parametrize(
    "rows, verdict",
    [
        ([LIKE, FAILED, WORSE], "failed"),
        ([LIKE, WORSE, NOT_SHOWN], "worse"),
        ([LIKE, NOT_SHOWN, PASSED], "nothing worse shown"),
    ],
)
def test_a_group_has_the_verdict_of_its_worst_row(rows, verdict):
    group = group_verdict("Alone", pd.DataFrame({"verdict": rows, "scenario": "a"}))
    assert group["verdict"] == verdict and group["style"] == (
        "verdict bad" if verdict in (FAILED, WORSE) else "verdict open"
    )


def test_a_case_without_a_valid_run_is_told_apart():
    """A criterion that nobody can evaluate here says nothing of the CCA; runs that came out invalid leave something open."""
    card = pd.DataFrame({"verdict": [LIKE, NOT_EVALUATED, NOT_EVALUATED], "scenario": ["a", "", ""]})
    assert group_verdict("Alone", card) == {
        "name": "Alone", "verdict": "nothing worse shown", "style": "verdict good", "words": "2 not evaluated, 1 like",
    }  # fmt: skip
    card.loc[2, "scenario"] = "b"
    group = group_verdict("Alone", card)
    assert (group["style"], group["words"]) == (
        "verdict open", "2 not evaluated (1 for want of a valid run), 1 like",
    )  # fmt: skip


def material_of(card, *figures):
    """Return what of a report links are made from."""
    return SimpleNamespace(tables=SimpleNamespace(scorecard=card), figures=dict.fromkeys(figures))


def test_findings_link_to_a_figure_that_has_their_case():
    """Loss of several flows isn't in the figure of goodput and delay, which has scenarios with both measured."""
    rows = [("5.1.2", "5.1.2-x", "utilisation_percent"), ("5.1.2", "5.1.2-x", "queueing_p95_ms"), ("5.1.3", "5.1.3-x", "loss_percent"), ("7.2", "5.1.3-x", "breaker_s"), ("5.2", "5.2.1-x", "other_starved_s")]  # fmt: skip
    card = pd.DataFrame(rows, columns=["rfc_section", "scenario", "measure"])
    links = [link_of(row, material_of(card, THROUGHPUT, CASES, SHARES)) for row in card.to_dict("records")]
    assert links == [f"{THROUGHPUT}-figure", f"{THROUGHPUT}-figure", CASES, CASES, f"{SHARES}-figure"]
    assert link_of(card.iloc[2], material_of(card, THROUGHPUT)) == "exam"


def test_a_finding_says_what_a_standard_has():
    """An absolute limit by itself doesn't tell whether any CCA keeps it."""
    row = {
        "criterion": "starvation of others", "scenario_label": "near", "measure": "other_starved_s", "value": 14.75, "low": 8.3, "high": 21.2,
        "verdict": FAILED, "limit": 5.0, "rfc_section": "5.2", "standard": "reno", "standard_value": 1.0,
    }  # fmt: skip
    sentence = row_sentence(row)
    assert sentence.endswith("is 14.8 s (8.3 to 21.2); the limit is 5 s, and Reno has 1.0 s (section 5.2).")
    assert "Reno" not in row_sentence(row | {"standard_value": np.nan})
