"""The scorecard's verdicts, on tables with known truth."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from exam_cards import CASE, RUNS, mixed, of, row_of, runs_of, utilisation, values, wave
from topics.exam import card_tests
from topics.exam.criteria import CRITERIA, GROUPS, LOWER, MEASURES
from topics.exam.scorecard import scorecard
from topics.exam.section import group_verdict, link_of
from topics.exam.sentences import fallen_rows, inapplicable_cases, lead, row_sentence, worst_rows
from topics.exam.tables import (
    BETTER,
    LIKE,
    NOT_APPLICABLE,
    NOT_ENOUGH,
    NOT_MEASURED,
    PRIMARY,
    SECONDARY,
    TOO_VARIABLE,
    WORSE,
)
from topics.exam.topic import CASES, SHARES, THROUGHPUT


@pytest.mark.parametrize(
    "own, verdict",
    [
        (wave(60), WORSE),  # than the worse of 80 and 90, by more than 5
        (wave(77), LIKE),  # 3 below
        (wave(84), LIKE),  # between the two
        (wave(97), BETTER),  # than the better of them, by more than 5
        (mixed(77, 60, 3), TOO_VARIABLE),
        (mixed(84, 50, 1), TOO_VARIABLE),  # one run falls: none of the standards does
        (mixed(84, 50, 8), WORSE),  # far more runs fall than the standards'
        (mixed(84, 73, 8), TOO_VARIABLE),  # as many are worse, but none is far worse
        (mixed(73, 84, 2), WORSE),  # most are worse
        (wave(84)[:6], NOT_ENOUGH),
    ],
)
def test_verdicts_count_runs(exam, own, verdict):
    assert utilisation(own, exam)["verdict"] == verdict


def test_direction(exam):
    """Where less is better, a CCA with less is better."""
    for own, verdict in ((10, BETTER), (60, WORSE)):
        cells = of("queueing_p95_ms", wave(own), wave(30), wave(40))
        assert row_of(cells, exam, measure="queueing_p95_ms")["verdict"] == verdict


def test_p_is_that_of_the_sign_test(exam):
    """17 of 20 runs are worse: the binomial tail, divided by the share of the level that is allotted to this kind of worse."""
    row = utilisation(np.where(np.arange(RUNS) < 17, wave(70), wave(80)), exam)
    assert (row["runs_worse"], row["n"]) == (17, 20)
    assert row["p"] == pytest.approx(stats.binom.sf(16, 20, 0.5) / card_tests.SHARE_OF_MOST)
    assert row["worse_by"] == pytest.approx(
        np.median(80 + np.sin(np.arange(RUNS)) - np.where(np.arange(RUNS) < 17, wave(70), wave(80)))
    )


def test_the_share_that_may_be_worse_is_clopper_and_pearsons(exam):
    row = utilisation(wave(84), exam)
    tests = (
        scorecard(values(of("utilisation_percent", wave(84), wave(80), wave(90))), {CASE: "x"}, exam)["role"] == PRIMARY
    ).sum()
    # Two standard CCAs: the smaller of the two counts may be the smaller one by chance.
    level = card_tests.level_of_look(0.05, 0) / tests / 2
    assert row["worse_share_at_most"] == pytest.approx(1 - level ** (1 / RUNS))


@pytest.mark.parametrize(
    "case, measure, own, standard, words",
    [
        (CASE, "utilisation_percent", 97, 80, "worse in 12 of 20 runs (12 failed); its goodput, relative to the path's maximum, is 96.9 % (96.0 to 98.0) in the median of the other runs, against "),
        ("5.1.1-x", "packets_per_rtt", 0.1, 0.2, "is beyond the limit of 1.25 packets/RTT, or the run failed, in 12 of 20 runs (12 failed), in which no standard CCA exceeds it; in the worst of the other runs it is 1.09 packets/RTT."),
    ],
)  # fmt: skip
def test_sentences_about_failed_runs_say_so(exam, case, measure, own, standard, words):
    """The other runs are good, and aren't called worse or beyond the limit."""
    crashed = range(1, 13)
    own = np.where(np.isin(np.arange(RUNS) + 1, crashed), np.nan, wave(own))
    cells = of(measure, own, wave(standard), wave(standard), case)
    row = row_of(cells, exam, case, measure, runs=runs_of(cells, crashed))
    assert row["verdict"] == WORSE and words in row_sentence(row)
    rare = scorecard(values(cells), {case: case}, exam, runs=runs_of(cells, crashed)).iloc[0]
    assert row_sentence(rare).startswith("In 12 of 20 runs (12 failed) it is worse than every standard CCA")


def test_rows_with_failed_runs_come_first(exam):
    """A row of which every run failed has no difference in margins, and is nevertheless the clearest."""
    small, crashes = ("5.1.2-x", "queueing_p95_ms"), (CASE, "utilisation_percent")
    cells = of(small[1], wave(90), wave(30), wave(30), small[0]) | of(
        crashes[1], np.full(RUNS, np.nan), wave(80), wave(90)
    )
    runs = pd.concat([runs_of({key: cells[key]}, range(1, RUNS + 1) if key[0] == CASE else ()) for key in cells])
    named = exam | {"primaries": {case: [measure] for case, measure in (small, crashes)}}
    card = scorecard(values(cells), {small[0]: "long queue", CASE: "cable"}, named, runs=runs)
    deciding = card[card["role"] == PRIMARY]
    assert [row["scenario"] for row in worst_rows(deciding)] == ["", CASE, small[0]]
    assert "most clearly in wired paths (case: cable): worse in 20 of 20 runs (20 failed)" in lead(deciding)


def test_standards_that_fall_make_no_candidate_worse(exam):
    """Reno and CUBIC collapse in a fifth of their runs, so a CCA that collapses as often isn't called worse for it."""
    fall = [np.where(np.arange(RUNS) % 5 == place, wave(20), wave(80)) for place in range(3)]
    row = row_of(of("utilisation_percent", *fall), exam)
    assert row["verdict"] == TOO_VARIABLE and row["standard_runs_far_worse"] == 4


@pytest.mark.parametrize(
    "own, reno, cubic, verdict",
    [
        (0, 0, 0, LIKE), (8, 0, 0, WORSE), (2, 0, 0, TOO_VARIABLE), (20, 20, 0, LIKE),
        # Better than every standard CCA in most runs, not than one of them, and not in half of the runs.
        (0, 20, 20, BETTER), (0, 20, 0, LIKE), (0, 10, 10, LIKE),
    ],
)  # fmt: skip
def test_limits_are_the_paths_where_a_standard_exceeds_them(exam, own, reno, cubic, verdict):
    """The given number of runs exceed 5 s; if Reno's do as well, the path is the cause. Two of twenty are not tolerated."""
    starved = [np.where(np.arange(RUNS) < count, wave(15), wave(1)) for count in (own, reno, cubic)]
    case = "5.2.1-beside-reno"
    assert row_of(of("other_starved_s", *starved, case), exam, case, "other_starved_s")["verdict"] == verdict


def falls_like_reno(cubic):
    """Return cells of 30 cases in which the CCA and Reno collapse in a quarter of their runs each, and CUBIC never."""
    numbers, cases = np.arange(RUNS), [f"6.3-{number}" for number in range(30)]
    own, reno = (np.where(numbers % 4 == place, wave(20), wave(80 + place, 0.1)) for place in range(2))
    cells = {}
    for case in cases:
        cells |= of("utilisation_percent", own, reno, wave(cubic, 0.1), case)
    return cells, cases


@pytest.mark.slow
@pytest.mark.parametrize("cubic, verdict", [(80.4, TOO_VARIABLE), (95, TOO_VARIABLE), (110, TOO_VARIABLE)])
def test_a_cca_that_collapses_like_one_standard_is_not_worse(exam, cubic, verdict):
    """CUBIC never collapses; whether its median is slightly nearer to the CCA's than Reno's is chance, or says nothing on collapses."""
    cells, cases = falls_like_reno(cubic)
    row = scorecard(values(cells), dict.fromkeys(cases, "x"), exam).iloc[0]
    assert (row["runs_far_worse"], row["standard_runs_far_worse"], row["verdict"]) == (150, 150, verdict)


def test_a_standard_that_collapses_in_half_of_the_runs_is_not_passed_over(exam):
    """Reno collapses in more runs than the CCA, and in others; by chance, these are most of the sample's runs."""
    numbers = np.arange(RUNS)
    for collapses in (9, 10, 11, 12):
        own, reno = np.where(numbers < 8, wave(20), wave(84)), np.where(numbers >= RUNS - collapses, wave(20), wave(84))
        row = row_of(of("utilisation_percent", own, reno, wave(84)), exam)
        assert (row["runs_far_worse"], row["standard_runs_far_worse"]) == (8, collapses)
        assert row["verdict"] == TOO_VARIABLE


def test_a_standard_that_is_always_far_worse_hides_no_collapse(exam):
    """Reno is five margins worse in all runs, so the CCA is similar to CUBIC: its collapses below Reno count."""
    cells = of("utilisation_percent", mixed(90, 20, 8), wave(64), wave(90.5))
    row = row_of(cells, exam)
    assert (row["runs_far_worse"], row["standard_runs_far_worse"], row["verdict"]) == (8, 0, WORSE)


def test_collapses_of_a_better_row_are_listed(exam):
    """The CCA is better in 18 of 20 runs and collapses in two: the verdict is *better*, and the first screen lists the row."""
    card = scorecard(values(of("utilisation_percent", mixed(99, 20, 2), wave(80), wave(90))), {CASE: "x"}, exam)
    row = card[card["scenario"] == CASE].iloc[0]
    assert row["verdict"] == BETTER and CASE in [one["scenario"] for one in fallen_rows(card[card["role"] == PRIMARY])]


def test_rows_of_one_ip_version_are_told(exam):
    """A CCA that is crippled only over IPv6 collapses in half of the runs, and the row states where."""
    row = utilisation(np.where(np.arange(RUNS) % 2 == 1, wave(30), wave(84)), exam)
    assert (row["verdict"], row["worse_by_ip_version"]) == (WORSE, "IPv4 0 of 10, IPv6 10 of 10")


def test_what_decides_is_fixed_beforehand(exam):
    """Other rows are shown without a verdict, and don't count as tests."""
    named = exam | {"primaries": {CASE: ["utilisation_percent"], "6.3-y": ["utilisation_percent"]}}
    cells = of("utilisation_percent", wave(60), wave(80), wave(90)) | of(
        "queueing_p95_ms", wave(60), wave(30), wave(30)
    )
    card = scorecard(values(cells), {CASE: "x", "6.3-y": "y"}, named)
    of_case = card[card["scenario"] == CASE].set_index("measure")
    assert dict(of_case["role"]) == {"utilisation_percent": PRIMARY, "queueing_p95_ms": SECONDARY}
    assert dict(of_case["verdict"]) == {"utilisation_percent": WORSE, "queueing_p95_ms": ""}
    # One that decides and was never measured is a separate row.
    assert list(card[card["scenario"] == "6.3-y"]["verdict"]) == [NOT_MEASURED]
    assert (card["role"] == PRIMARY).sum() == 3


@pytest.mark.parametrize("n", [20, 66, 640])
def test_a_collapse_of_a_standard_makes_nothing_worse(n):
    """The p-value of too many collapses never falls if a standard CCA collapses more often, and never rises if the CCA does."""

    def p(far, standards):
        return card_tests.p_collapses(card_tests.Counts(0, 0, far, standards, ((1, n),), ((1, far), (-1, standards))))

    counts = [[p(far, standards) for standards in range(20)] for far in range(20)]
    assert (np.diff(counts, axis=1) >= 0).all() and (np.diff(counts, axis=0) <= 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("standards", [0, 1])
@pytest.mark.parametrize("collapses, verdict", [(1, TOO_VARIABLE), (4, WORSE)])
def test_the_row_about_all_cases_allows_5_percent_of_collapses(exam, collapses, verdict, standards):
    """The CCA collapses in 20 or 80 of 640 runs, and Reno in none or in one. Only more than 5 % of runs are shown to be too many."""
    cells, cases = {}, [f"6.3-{number}" for number in range(32)]
    for number, case in enumerate(cases):
        own, reno = wave(90), wave(90)
        if number < 20:
            own[(number + 5 * np.arange(collapses)) % RUNS] = 20
        if number == 0:
            reno[7 : 7 + standards] = 20
        cells |= of("utilisation_percent", own, reno, wave(91), case)
    row = scorecard(values(cells), dict.fromkeys(cases, "x"), exam).iloc[0]
    assert (row["runs_far_worse"], row["standard_runs_far_worse"]) == (20 * collapses, standards)
    assert row["verdict"] == verdict


def test_open_rows_say_what_they_could_have_shown(exam):
    """The stated number of runs closes the row if they continue like this; a harm of the stated size would have been found."""
    own = mixed(84, 50, 1)
    for cubic in (wave(90), np.where(np.arange(RUNS) % 2, wave(97), wave(72))):
        row = row_of(of("utilisation_percent", own, wave(80), cubic), exam)
        assert row["detectable"] >= 5
        harmed = of("utilisation_percent", own - (row["detectable"] + 0.01 - row["worse_by"]), wave(80), cubic)
        assert row_of(harmed, exam)["verdict"] == WORSE


@pytest.mark.parametrize(
    "usual, other, count, closed", [(84, 73, 3, LIKE), (84, 73, 14, WORSE), (73, 97, 14, BETTER), (84, 50, 1, None)]
)
def test_the_stated_number_of_runs_closes_a_row(exam, usual, other, count, closed):
    """A row in which 5 % of runs collapse is never closed: it isn't *like* the standards, and 5 % are allowed."""
    row = utilisation(mixed(usual, other, count), exam)
    assert row["verdict"] == TOO_VARIABLE
    if closed is None:
        assert np.isnan(row["runs_needed"])
        return
    n = int(row["runs_needed"])
    centres = np.full(n, float(usual))
    centres[:count] = centres[RUNS : RUNS + round(count / RUNS * n) - count] = other
    cells = of("utilisation_percent", wave(centres, runs=n), wave(80, runs=n), wave(90, runs=n))
    assert row_of(cells, exam | {"looks": [RUNS]})["verdict"] == closed


def test_a_standard_cca_is_like_itself(exam):
    """The examined CCA may be one of the standards; it is never worse than they are."""
    cells = {
        key: of_cell for key, of_cell in of("utilisation_percent", None, wave(80), wave(95)).items() if key[2] != "mine"
    }
    card = scorecard(values(cells), {CASE: "x"}, exam | {"cca": "reno"})
    assert list(card.query("scenario == @CASE")["verdict"]) == [LIKE]


def test_every_criterion_has_a_row(exam):
    """A criterion that can't be evaluated has a row with the reason, as has a scenario without a valid run."""
    cells = {("6.2-tunnel", "utilisation_percent", "mine"): wave(1, runs=2)}
    runs = runs_of(cells, (1, 2), "instrument").assign(invalid_because="cca")
    card = scorecard(values({}), {"6.2-tunnel": "tunnel"}, exam, runs=runs)
    assert set(zip(card["rfc_section"], card["criterion"], strict=True)) == {(c.section, c.words) for c in CRITERIA}
    assert set(card["verdict"]) == {NOT_MEASURED} and card["reason"].ne("").all()
    assert card.query("scenario == '6.2-tunnel'")["reason"].tolist() == ["no valid run: cca"]


def test_what_a_candidate_can_not_have_is_said_and_never_passed(exam):
    """Each criterion that the case tests has a row without a verdict that counts, and none is called unexamined for lack of a scenario."""
    inapplicable = exam | {"inapplicable": {"6.2-tunnel": "no tunnel.", "5.1.5-short": "no web."}}
    cells = of("utilisation_percent", wave(80), wave(80), wave(95))
    card = scorecard(values(cells), {CASE: "x"}, inapplicable)
    rows = card[card["verdict"] == NOT_APPLICABLE]
    assert set(zip(rows["scenario"], rows["reason"], strict=True)) == {
        ("6.2-tunnel", "no tunnel."),
        ("5.1.5-short", "no web."),
    }
    assert set(rows["role"]) == {SECONDARY} and rows["n"].isna().all()
    whole = scorecard(values(cells), {CASE: "x"}, exam)
    tunnels = [
        one.query("rfc_section == '6.2' and criterion == 'tunnels'")["verdict"].tolist() for one in (whole, card)
    ]
    assert tunnels == [[NOT_MEASURED], [NOT_APPLICABLE]]
    sentences = inapplicable_cases(card)
    assert len(sentences) == 2 and "6.2-tunnel (tunnels): no tunnel." in sentences and inapplicable_cases(whole) == []


@pytest.mark.parametrize("scenario, measure", [("5.1.4-x", "starved_s"), (CASE, "utilisation_percent")])
def test_a_cca_alone_among_the_standards_is_not_better_than_itself(exam, scenario, measure):
    cells = {(scenario, measure, "mine"): wave(2)}
    assert row_of(cells, exam | {"standards": ["mine"]}, scenario, measure)["verdict"] == LIKE


def test_the_nearest_standard_is_that_with_the_fewest_worse_runs(exam):
    """Nine runs are worse than Reno's and seven than CUBIC's by more than five points, although Reno's median is nearer."""
    own = wave(80, 0.1)
    reno, cubic = own + np.where(np.arange(RUNS) < 9, 8.0, 0.0), own + np.where(np.arange(RUNS) < 7, 8.0, 2.0)
    row = row_of(of("utilisation_percent", own, reno, cubic), exam)
    assert (row["runs_worse"], row["standard"]) == (7, "cubic")


def test_collapses_of_all_better_rows_are_listed():
    rows = [("too variable", number, 5) for number in range(4)] + [("better", number, 2) for number in range(4, 9)]
    table = pd.DataFrame(rows, columns=["verdict", "scenario", "runs_far_worse"]).assign(standard_runs_far_worse=0)
    assert [row["scenario"] for row in fallen_rows(table)] == [0, 1, 2, 4, 5, 6, 7, 8]


def test_an_authors_explanation_answers_its_criterion(exam):
    """It is requested in the definition, and appears on the card."""
    for explanation, words in (("", "the key `explanation`"), ("It backs off by less.", "explained by the author")):
        card = scorecard(values({}), {CASE: "x"}, exam | {"explanation": explanation})
        assert words in card.query("rfc_section == '5.3.1'")["reason"].iloc[0]


def test_margins_and_limits_are_the_studys(exam):
    """Each measure has one key of the study's margins or limits, each criterion a group and either measures or a reason."""
    for measure in MEASURES.values():
        if measure.name != "runs_far_worse":
            assert (measure.margin in exam["margins"]) != (measure.limit in exam["limits"])
        assert measure.better == LOWER or measure.margin
    for criterion in CRITERIA:
        assert criterion.group in GROUPS
        assert bool(criterion.scenarios and criterion.measures) != bool(criterion.reason)
        assert set(criterion.measures) <= MEASURES.keys()


@pytest.mark.parametrize(
    "rows, verdict, style",
    [
        ([LIKE, WORSE, NOT_ENOUGH], "worse", "verdict bad"),
        ([LIKE, TOO_VARIABLE, BETTER], "nothing worse shown", "verdict open"),
        ([LIKE, BETTER], "nothing worse shown", "verdict good"),
        ([NOT_MEASURED], "not measured", "verdict open"),
        ([], "not measured", "verdict open"),
    ],
)
def test_a_group_has_the_verdict_of_its_worst_row(rows, verdict, style):
    group = group_verdict("Alone", pd.DataFrame({"verdict": rows}, dtype=str))
    assert (group["verdict"], group["style"]) == (verdict, style)


def test_the_first_sentence_says_what_is_open(exam):
    """That nothing worse was shown doesn't mean that nothing is worse."""
    cells = of("utilisation_percent", mixed(77, 60, 3), wave(80), wave(90)) | of(
        "queueing_p95_ms", wave(30), wave(30), wave(30)
    )
    card = scorecard(values(cells), {CASE: "cable"}, exam)
    words = lead(card[card["role"] == PRIMARY])
    assert (
        words.startswith("nothing worse was shown in 3 rows that decide; ")
        and "open, the nearest to worse being " in words
        and "worse in 3 of 20 runs" in words
    )
    worse = scorecard(values(of("utilisation_percent", wave(60), wave(80), wave(90))), {CASE: "cable"}, exam)
    assert lead(worse[worse["role"] == PRIMARY]).startswith("worse in ")


def material_of(card, *figures):
    """Return the parts of a report from which links are made."""
    return SimpleNamespace(tables=SimpleNamespace(scorecard=card), figures=dict.fromkeys(figures))


def test_findings_link_to_a_figure_that_has_their_case():
    """Loss of several flows isn't in the figure of goodput and delay, which only has scenarios with both measured."""
    rows = [("5.1.2", "5.1.2-x", "utilisation_percent"), ("5.1.2", "5.1.2-x", "queueing_p95_ms"), ("5.1.3", "5.1.3-x", "loss_percent"), ("7.2", "5.1.3-x", "breaker_s"), ("5.2", "5.2.1-x", "other_starved_s")]  # fmt: skip
    card = pd.DataFrame(rows, columns=["rfc_section", "scenario", "measure"])
    links = [link_of(row, material_of(card, THROUGHPUT, CASES, SHARES)) for row in card.to_dict("records")]
    assert links == [f"{THROUGHPUT}-figure", f"{THROUGHPUT}-figure", CASES, CASES, f"{SHARES}-figure"]
    assert link_of(card.iloc[2], material_of(card, THROUGHPUT)) == "exam"
