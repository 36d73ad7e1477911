"""The scorecard's verdicts, on tables with known truth."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from study_files import study as studies
from topics.exam import card_tests
from topics.exam.criteria import CRITERIA, GROUPS, LOWER, MEASURES, NEVER, wanted_measures
from topics.exam.judge import scorecard
from topics.exam.section import group_verdict, link_of
from topics.exam.sentences import failed_runs, inapplicable_cases, lead, open_sentence, row_sentence, worst_rows
from topics.exam.tables import (
    BETTER,
    EXAM_VALUES,
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

QUICK = "config/studies/exam-quick.yaml"
RUNS = 20
CASE = "6.3-x"


@pytest.fixture(scope="module")
def exam():
    """The settings of the shipped exam, for a CCA ``mine``, with all rows deciding."""
    return studies.resolve(studies.load(QUICK), QUICK)["exam"] | {"cca": "mine", "primaries": {}}


def wave(centre, height=1.0, runs=RUNS):
    """Return distinct values around a centre."""
    return centre + height * np.sin(np.arange(runs))


def values(cells):
    """Return `EXAM_VALUES` of (scenario, measure, cca) -> values, one for each run; runs without one have NaN."""
    rows = []
    for (scenario, measure, cca), of_cell in cells.items():
        for number, value in enumerate(of_cell):
            rows.append((scenario, cca, ("ipv4", "ipv6")[number % 2], number + 1, measure, "", float(value)))
    return pd.DataFrame(rows, columns=EXAM_VALUES.names).dropna(subset="value")


def of(measure, own, reno, cubic, scenario=CASE):
    """Return cells of three CCAs."""
    return {(scenario, measure, cca): value for cca, value in (("mine", own), ("reno", reno), ("cubic", cubic))}


def row_of(cells, exam, scenario=CASE, measure="utilisation_percent", runs=None):
    """Return a row of a card."""
    card = scorecard(values(cells), {scenario: scenario}, exam, runs=runs)
    return card[(card["scenario"] == scenario) & (card["measure"] == measure)].iloc[0]


def utilisation(own, exam, **options):
    """Return the row of a CCA beside Reno with 80 % and CUBIC with 90 %; the margin is 5 points."""
    return row_of(of("utilisation_percent", own, wave(80), wave(90)), exam, **options)


def mixed(usual, other, count):
    """Return values of which the given number are different ones."""
    return np.where(np.arange(RUNS) < count, wave(other), wave(usual))


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
    level = card_tests.level_of_look(0.05, 0) / tests
    assert row["worse_share_at_most"] == pytest.approx(1 - level ** (1 / RUNS))


def test_copies_are_one_measurement(exam):
    """Runs that repeat each other show nothing, whatever their values; on drawn paths, runs at a measure's bound are different runs."""
    copies = of("utilisation_percent", np.full(RUNS, 60.0), np.full(RUNS, 80.0), np.full(RUNS, 90.0))
    row = row_of(copies, exam)
    assert row["verdict"] == NOT_ENOUGH and "repeat one measurement" in row["reason"]
    drawn = runs_of(copies).assign(rtt_path_ms=np.tile(np.linspace(30, 50, RUNS), 3), rate_mbps=20.0, queue_bytes=1e5)
    assert row_of(copies, exam, runs=drawn)["verdict"] == WORSE


def runs_of(cells, failed=(), by="crash", cca="mine"):
    """Return the part of ``tidy/runs.csv`` that is read; ``failed``: numbers of a CCA's runs that a cause excludes."""
    table = values({key: np.nan_to_num(of_cell) for key, of_cell in cells.items()}).drop(
        columns=["measure", "other", "value"]
    )
    lost = (table["cca"] == cca) & table["replication"].isin(failed)
    return table.assign(
        valid=~lost, excluded_by=np.where(lost, by, ""), invalid_because=np.where(lost, "kernel panic in tcp_mine", ""), seed=7
    )  # fmt: skip


@pytest.mark.parametrize(
    "by, verdict", [("crash", WORSE), ("not ended", WORSE), ("sender", WORSE), ("instrument", NOT_ENOUGH)]
)
def test_missing_runs_are_no_gap(exam, by, verdict):
    """Runs lost by the CCA count as worse; runs lost by the instrument leave the row open, whatever the other runs show."""
    failed = range(1, 10)
    own = np.where(np.isin(np.arange(RUNS) + 1, failed), np.nan, wave(84))
    cells = of("utilisation_percent", own, wave(80), wave(90))
    row = row_of(cells, exam, runs=runs_of(cells, failed, by))
    assert (row["verdict"], row["runs_failed"], row["runs_missing"]) == (
        verdict,
        9 * (verdict == WORSE),
        9 * (verdict != WORSE),
    )
    if by != "instrument":
        assert failed_runs(runs_of(cells, failed, by), "mine")[0].endswith(
            "in 9 of 20 runs, first in 6.3-x/mine/ipv4/1, seed 7: kernel panic in tcp_mine."
        )


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


def test_a_cca_of_which_every_run_crashes_is_worse(exam):
    """No value is left, and yet there is a finding."""
    cells = of("utilisation_percent", np.full(RUNS, np.nan), wave(80), wave(90))
    card = scorecard(values(cells), {CASE: "x"}, exam, runs=runs_of(cells, range(1, RUNS + 1)))
    row = card[card["scenario"] == CASE].iloc[0]
    assert (row["verdict"], row["runs_failed"], card.iloc[0]["verdict"]) == (WORSE, RUNS, WORSE)
    assert "worse in 20 of 20 runs" in row_sentence(row)


@pytest.mark.parametrize("known", [0, 1, 10, 19])
def test_a_standard_without_values_makes_nothing_alike(exam, known):
    """A CCA that is worse than Reno in all runs isn't *like* the standards because CUBIC has few values, in whatever order they are."""
    few = np.where(np.arange(RUNS) < known, wave(90), np.nan)
    for standards in ((wave(90), few), (few, wave(90))):
        cells = of("utilisation_percent", wave(78), *standards)
        row = row_of(cells, exam, runs=runs_of(cells))
        assert row["verdict"] == {0: NOT_MEASURED, 1: NOT_ENOUGH}.get(known, WORSE)
        assert (row["n"], row["runs_missing"]) == (known, RUNS - known)
        for own in (wave(97), wave(90)):
            cells = of("utilisation_percent", own, *standards)
            assert row_of(cells, exam, runs=runs_of(cells))["verdict"] in (NOT_MEASURED, NOT_ENOUGH)


def test_runs_beyond_a_limit_without_a_standards_run_are_missing(exam):
    """The CCA starves the other flow in 6 of 26 runs, for which CUBIC has no value: the other runs don't make it *like* the standards."""
    case, starved = "5.2.1-beside-reno", np.where(np.arange(26) < 6, 15.0, 1.0)
    cells = of("other_starved_s", starved, np.ones(26), np.where(starved > 5, np.nan, 1.0), case)
    row = row_of(cells, exam, case, "other_starved_s")
    assert (row["n"], row["runs_missing"]) == (20, 6) and row["verdict"] != LIKE


def test_a_standards_failed_runs_are_its_worst(exam):
    """CUBIC fails in half of its runs: no CCA is worse than CUBIC in these, and if its own runs fail as well, it isn't worse either."""
    half = range(1, 11)
    cubic = np.where(np.arange(RUNS) < 10, np.nan, wave(90))
    cells = of("utilisation_percent", wave(78), wave(90), cubic)
    row = row_of(cells, exam, runs=runs_of(cells, half, cca="cubic"))
    assert (row["n"], row["runs_worse"], row["runs_missing"], row["verdict"]) == (RUNS, 10, 0, TOO_VARIABLE)
    cells = of("utilisation_percent", cubic, cubic, cubic)
    runs = pd.concat([runs_of(cells, half, cca=cca).query("cca == @cca") for cca in ("mine", "reno", "cubic")])
    row = row_of(cells, exam, runs=runs)
    assert (row["n"], row["runs_failed"], row["runs_worse"], row["runs_missing"]) == (RUNS, 10, 0, 0)
    case, measure = "5.2.1-beside-reno", "other_starved_s"
    starved = of(measure, wave(15), wave(1), np.where(np.arange(RUNS) < 10, np.nan, wave(1)), case)
    row = row_of(starved, exam, case, measure, runs=runs_of(starved, half, cca="cubic"))
    assert (row["n"], row["runs_worse"]) == (RUNS, 10)


def test_short_flows_that_never_finish_make_a_row_worse(exam):
    """The slowdown of a run in which too many short flows never finish is infinite; its run isn't missing."""
    case, measure = "5.2.2-call-and-web", "slowdown_p95"
    for count in (RUNS, 9):
        own = np.where(np.arange(RUNS) < count, NEVER, wave(2, 0.3))
        row = row_of(of(measure, own, wave(2, 0.3), wave(2.2, 0.3), case), exam, case, measure)
        assert (row["verdict"], row["runs_missing"], row["runs_worse"]) == (WORSE, 0, count)
        words = "is infinite in the median run" if count == RUNS else "2.25 (1.91 to infinite) in the median run"
        assert words in row_sentence(row)


def test_standards_that_fall_make_no_candidate_worse(exam):
    """Reno and CUBIC collapse in a fifth of their runs, so a CCA that collapses as often isn't called worse for it."""
    fall = [np.where(np.arange(RUNS) % 5 == place, wave(20), wave(80)) for place in range(3)]
    row = row_of(of("utilisation_percent", *fall), exam)
    assert row["verdict"] == TOO_VARIABLE and row["standard_runs_far_worse"] == 4


@pytest.mark.parametrize(
    "own, reno, verdict", [(0, 0, LIKE), (8, 0, WORSE), (2, 0, TOO_VARIABLE), (20, 20, LIKE), (0, 20, BETTER)]
)
def test_limits_are_the_paths_where_a_standard_exceeds_them(exam, own, reno, verdict):
    """The given number of runs exceed 5 s; if Reno's do as well, the path is the cause. Two of twenty are not tolerated."""
    starved = [np.where(np.arange(RUNS) < count, wave(15), wave(1)) for count in (own, reno, 0)]
    case = "5.2.1-beside-reno"
    assert row_of(of("other_starved_s", *starved, case), exam, case, "other_starved_s")["verdict"] == verdict


@pytest.mark.parametrize("known", [0, 3, 10])
def test_a_limit_without_the_standards_runs_shows_nothing(exam, known):
    """An interrupted exam may have no run of a standard: whether the path is the cause isn't known. One standard isn't enough."""
    case, few = "5.2.1-beside-reno", np.where(np.arange(RUNS) < known, wave(1), np.nan)
    for reno, cubic in ((few, few), (wave(1), few), (few, wave(1))):
        row = row_of(of("other_starved_s", wave(15), reno, cubic, case), exam, case, "other_starved_s")
        assert row["n"] == known and (known or row["verdict"] not in (WORSE, LIKE, BETTER))
    # A run within the limit needs no comparison, nor does a run on a path on which one standard exceeds it.
    for own, reno in ((wave(1), few), (wave(15), np.where(np.isnan(few), wave(15), few))):
        row = row_of(of("other_starved_s", own, reno, few, case), exam, case, "other_starved_s")
        assert row["n"] == RUNS


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


def test_a_look_keeps_its_verdicts(exam):
    """A row that was closed after 20 replications stays closed, whatever later runs show; an open one has the next look's level."""
    own = np.concatenate([wave(40), wave(84, runs=60)])
    cells = {
        key: wave(centre, runs=80)
        for key, centre in (((CASE, "utilisation_percent", "reno"), 80), ((CASE, "utilisation_percent", "cubic"), 90))
    }
    cells[CASE, "utilisation_percent", "mine"] = own
    assert row_of(cells, exam | {"looks": [20]})["verdict"] == WORSE
    assert row_of(cells, exam)["verdict"] == WORSE  # a quarter of its runs fall
    late = cells | {(CASE, "utilisation_percent", "mine"): own[::-1]}
    row = row_of(late, exam | {"looks": [6]})
    assert (row["look"], row["verdict"]) == (2, WORSE)


def later(values_of_look, value):
    """Return the runs of a look, and as many runs of another value after them."""
    return np.concatenate([values_of_look, np.resize(value, len(values_of_look))])


#: Name of a change after the first look -> later values of the CCA, of Reno and of CUBIC, and the numbers of the CCA's runs that are excluded,
#: with the cause.
LATER = {
    "nothing new": (84, 80, 90, (), ""),
    "a run is lost": (84, 80, 90, (33,), "instrument"),
    "a run crashes": (84, 80, 90, (33,), "crash"),
    "all runs crash": (84, 80, 90, range(21, 41), "crash"),
    "it collapses": (20, 80, 90, (), ""),
    "a standard collapses": (84, (20, 80, 80), 90, (), ""),
    "a standard has no values": (84, 80, np.nan, (), ""),
}


@pytest.mark.parametrize("change", LATER)
@pytest.mark.parametrize(
    "own", [wave(60), wave(77), wave(97), mixed(84, 50, 8), mixed(84, 50, 1), np.full(RUNS, 80.0)],
    ids=["worse", "like", "better", "falls", "open", "copies"],
)  # fmt: skip
def test_later_runs_change_no_verdict(exam, own, change):
    """The verdicts of the first look, also of the row about all cases, are those of its runs, whatever runs are added."""
    first = of("utilisation_percent", own, wave(80), wave(90))
    *added, lost, by = LATER[change]
    both = {key: later(of_cell, value) for (key, of_cell), value in zip(first.items(), added, strict=True)}
    both[CASE, "utilisation_percent", "mine"][[number - 1 for number in lost]] = np.nan
    runs = runs_of(both, lost, by)
    drawn = {
        "rtt_path_ms": 40.0,
        "rate_mbps": 20.0,
        "queue_bytes": np.where(runs["replication"] > RUNS, runs["replication"], 5),
    }
    card, whole = (
        scorecard(values(cells), {CASE: "x"}, exam | {"looks": looks}, runs=of_runs)
        for cells, looks, of_runs in (
            (first, [], runs_of(first).assign(rtt_path_ms=40.0, rate_mbps=20.0, queue_bytes=5)),
            (both, [RUNS], runs.assign(**drawn)),
        )
    )
    for before, after in zip(card.to_dict("records"), whole.to_dict("records"), strict=True):
        if before["verdict"] in (WORSE, LIKE, BETTER):
            assert (after["verdict"], after["look"], after["p"]) == (before["verdict"], 1, before["p"])
        elif before["role"] == PRIMARY and before["n"]:
            assert after["look"] == 2


def test_looks_at_a_row_without_values(exam):
    """A deciding row of which no CCA has a value is not measured; a look at it needs its runs only. Values of a later look are judged."""
    named = exam | {"primaries": {CASE: ["utilisation_percent"]}, "looks": [RUNS]}
    cells = of("queueing_p95_ms", *[wave(30, runs=2 * RUNS)] * 3)
    assert row_of(cells, named, runs=runs_of(cells))["verdict"] == NOT_MEASURED
    late = {
        key: np.where(np.arange(2 * RUNS) < RUNS, np.nan, 60 + 20 * (key[2] != "mine")) + wave(0, runs=2 * RUNS)
        for key in of("utilisation_percent", 0, 0, 0)
    }
    row = row_of(cells | late, named, runs=runs_of(cells))
    assert (row["verdict"], row["look"]) == (WORSE, 2)


@pytest.mark.parametrize("runs", [26, 46, 66])
def test_more_runs_on_drawn_queues_hide_no_crash(exam, runs):
    """Queues of 11 sizes over two IP versions give 22 paths, also if there are more runs than that."""
    case, measure = "5.2-acks-lost", "packets_per_rtt"
    level = np.full(runs, 0.1)
    for own in (np.where(np.arange(runs) % 4 == 0, np.nan, 0.1), np.where(np.arange(runs) % 4 == 0, 9, 0.1)):
        cells = of(measure, own, level, level, case)
        crashed = np.flatnonzero(np.isnan(own)) + 1
        drawn = runs_of(cells, crashed).assign(rtt_path_ms=40.0, rate_mbps=20.0)
        drawn["queue_bytes"] = 1500 * (drawn["replication"] // 2 % 11)
        row = row_of(cells, exam, case, measure, runs=drawn)
        assert (row["verdict"], row["reason"]) == (WORSE, "")
        # All of these paths may have the same outcome.
        cells = of(measure, level, level, level, case)
        assert row_of(cells, exam, case, measure, runs=drawn.assign(valid=True, excluded_by=""))["verdict"] == LIKE


def test_runs_of_which_some_failed_do_not_repeat_each_other(exam):
    """The other runs may all have the same value. What would have been shown has no size if most runs failed."""
    for count, verdict in ((10, WORSE), (1, TOO_VARIABLE)):
        own = np.where(np.arange(RUNS) < count, np.nan, 99.0)
        cells = of("utilisation_percent", own, np.full(RUNS, 99.0), np.full(RUNS, 99.0))
        row = row_of(cells, exam, runs=runs_of(cells, range(1, count + 1)))
        assert (row["verdict"], row["runs_failed"]) == (verdict, count) and "repeat" not in row["reason"]
    # Reno collapses in eight of the other runs, so that the row is open.
    own, reno = np.where(np.arange(RUNS) < 11, np.nan, wave(84)), np.where(np.arange(RUNS) < 12, wave(80), 20)
    cells = of("utilisation_percent", own, reno, wave(90))
    row = row_of(cells, exam, runs=runs_of(cells, range(1, 12)))
    assert row["verdict"] == TOO_VARIABLE and np.isnan(row["detectable"]) and "inf" not in open_sentence(row)


@pytest.mark.parametrize("n", [20, 66, 640])
def test_a_collapse_of_a_standard_makes_nothing_worse(n):
    """The p-value of too many collapses never falls if a standard CCA collapses more often, and never rises if the CCA does."""
    counts = [[card_tests.p_collapses(far, n, standards) for standards in range(20)] for far in range(20)]
    assert (np.diff(counts, axis=1) >= 0).all() and (np.diff(counts, axis=0) <= 1e-12).all()


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


def test_errors_of_all_looks_are_the_level():
    assert sum(card_tests.level_of_look(0.05, look) for look in range(50)) == pytest.approx(0.05)


def test_open_rows_say_what_they_could_have_shown(exam):
    """The stated number of runs closes the row if they continue like this; a harm of the stated size would have been found."""
    row = utilisation(mixed(84, 50, 1), exam)
    assert row["runs_needed"] > RUNS and 5 <= row["detectable"] < 30
    harmed = utilisation(mixed(84, 50, 1) - (row["detectable"] + 0.01 - row["worse_by"]), exam)
    assert harmed["verdict"] == WORSE


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


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_answer_every_criterion(file):
    """Each criterion that can be evaluated has a scenario, each scenario tests one, and each mandatory criterion decides somewhere."""
    path = f"config/studies/{file}.yaml"
    study = studies.resolve(studies.load(path), path)
    scenarios, primaries = [scenario["id"] for scenario in study["scenarios"]], study["exam"]["primaries"]
    assert all(c.reason or any(map(c.is_answered_by, scenarios)) for c in CRITERIA)
    assert all(wanted_measures(name) for name in scenarios)
    for criterion in CRITERIA:
        if criterion.scenarios and criterion.strength in ("MUST", "MUST consider"):
            assert any(
                criterion.is_answered_by(name) and set(measures) & set(criterion.measures)
                for name, measures in primaries.items()
            ), criterion


@pytest.mark.parametrize("file", ["exam", "exam-quick"])
def test_shipped_exams_have_enough_runs_for_their_tests(file):
    """Deciding rows have enough runs to show that most are worse if 85 % are, and, if none is worse, to bound their share."""
    path = f"config/studies/{file}.yaml"
    study = studies.resolve(studies.load(path), path)
    tests = 1 + sum(map(len, study["exam"]["primaries"].values()))
    level = card_tests.level_of_look(0.05, 0) / tests
    n = study["replications"]
    assert card_tests.fewest_for_most(n, level) <= 0.85 * n
    assert card_tests.most_worse(0, n, level) <= study["exam"]["limits"]["worse_share"]
    own = {scenario["id"]: scenario["replications"] for scenario in study["scenarios"]}
    assert all(own[name] is None for name in study["exam"]["primaries"])


def test_names_match_whole_sections():
    """7.10 is not a case of 7.1."""
    assert "during_percent" in wanted_measures("7.10-failover")
    assert "queueing_p95_ms" not in wanted_measures("7.10-failover")


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
