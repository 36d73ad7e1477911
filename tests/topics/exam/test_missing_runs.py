"""Runs without a value: failed by the CCA or by a standard CCA, missing, or copies of each other."""

import numpy as np
import pandas as pd
import pytest

from exam_cards import CASE, RUNS, of, row_of, runs_of, values, wave
from topics.exam.criteria import NEVER
from topics.exam.page_tables import scorecard_columns
from topics.exam.scorecard import scorecard
from topics.exam.sentences import failed_runs, open_sentence, row_sentence
from topics.exam.tables import BETTER, LIKE, NOT_ENOUGH, NOT_MEASURED, TOO_VARIABLE, WORSE


def test_copies_are_one_measurement(exam):
    """Runs that repeat each other show nothing, whatever their values; on drawn paths, runs at a measure's bound are different runs."""
    copies = of("utilisation_percent", np.full(RUNS, 60.0), np.full(RUNS, 80.0), np.full(RUNS, 90.0))
    row = row_of(copies, exam)
    assert row["verdict"] == NOT_ENOUGH and "repeat one measurement" in row["reason"]
    drawn = runs_of(copies).assign(rtt_path_ms=np.tile(np.linspace(30, 50, RUNS), 3), rate_mbps=20.0, queue_bytes=1e5)
    assert row_of(copies, exam, runs=drawn)["verdict"] == WORSE


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


def test_a_worse_row_says_that_runs_are_missing(exam):
    """All runs over IPv6 are missing: the row is worse in all runs over IPv4, and the note gives the number of missing runs."""
    cells = of("utilisation_percent", np.where(np.arange(RUNS) % 2, np.nan, wave(60)), wave(80), wave(90))
    row = row_of(cells, exam, runs=runs_of(cells, range(2, RUNS + 1, 2), "instrument"))
    note = scorecard_columns(pd.DataFrame(columns=["cca", "scenario", "measure"]))[-1].cell(row)
    assert row["verdict"] == WORSE and note == "10 of 20 runs were not compared."


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


def with_failures(cells, **by_cca):
    """Return the table of runs in which all runs of the given CCAs failed, for the given reasons."""
    runs = runs_of(cells)
    for cca, reason in by_cca.items():
        runs.loc[runs["cca"] == cca, ["valid", "excluded_by", "invalid_because"]] = [False, reason, "x"]
    return runs


def test_a_limit_that_a_standard_exceeds_excuses_no_crash(exam):
    """Reno exceeds the limit in all runs, which excuses a CCA that exceeds it, too."""
    case, measure = "5.1.1-loss-50", "packets_per_rtt"
    for count, verdict in ((20, WORSE), (10, TOO_VARIABLE)):
        cells = of(
            measure, np.where(np.arange(RUNS) < count, np.nan, wave(0.2, 0.05)), wave(2, 0.3), wave(0.2, 0.05), case
        )
        row = row_of(cells, exam, case, measure, runs=runs_of(cells, range(1, count + 1)))
        assert (row["verdict"], row["runs_worse"], row["runs_failed"]) == (verdict, count, count)
    cells = of(measure, wave(2, 0.3), wave(2, 0.3), wave(0.2, 0.05), case)
    assert row_of(cells, exam, case, measure)["verdict"] == LIKE


@pytest.mark.parametrize(
    "own, reno, verdict",
    [("", "sender", LIKE), ("crash", "sender", WORSE), ("crash", "crash", LIKE), ("sender", "crash", LIKE)],
)
def test_a_standard_all_of_whose_runs_failed_excuses_nothing_graver(exam, own, reno, verdict):
    """Its value is unknown, and the row shows that of another standard CCA."""
    cells = of("utilisation_percent", np.full(RUNS, np.nan) if own else wave(90), np.full(RUNS, np.nan), wave(90))
    row = row_of(cells, exam, runs=with_failures(cells, reno=reno, **({"mine": own} if own else {})))
    assert (row["verdict"], row["standard"]) == (verdict, "cubic")


def test_a_crash_is_worse_than_the_worst_value(exam):
    """In Reno's runs nothing arrives, so its delays are infinite."""
    cells = of("queueing_p95_ms", np.full(RUNS, np.nan), np.full(RUNS, np.inf), np.full(RUNS, np.inf))
    row = row_of(cells, exam, measure="queueing_p95_ms", runs=with_failures(cells, mine="not ended"))
    assert (row["verdict"], row["runs_worse"]) == (WORSE, RUNS)


@pytest.mark.parametrize("measure, case", [("utilisation_percent", CASE), ("packets_per_rtt", "5.1.1-loss-50")])
def test_a_lost_run_of_a_standard_hides_no_crash(exam, measure, case):
    """All of Reno's runs are lost, but CUBIC's are known. Without these, nothing is known about the path."""
    lost = np.full(RUNS, np.nan)
    for cubic, verdict, worse in ((wave(0.2, 0.05), WORSE, RUNS), (lost, NOT_MEASURED, 0)):
        cells = of(measure, lost, lost, cubic, case)
        row = row_of(cells, exam, case, measure, runs=with_failures(cells, mine="crash", reno="instrument"))
        assert (row["verdict"], row["runs_worse"]) == (verdict, worse)


def test_a_cca_that_crashed_is_like_no_standard_in_all_cases(exam):
    """Reno collapses more often than the CCA crashes, in other cases; a crash is nevertheless no collapse like Reno's."""
    cells, cases = {}, [f"6.3-{number}" for number in range(10)]
    for number, case in enumerate(cases):
        own = np.where(np.arange(RUNS) < (number == 0), np.nan, wave(84))
        reno = np.where(np.arange(RUNS) < 3 * (number > 4), wave(20), wave(84))
        cells |= of("utilisation_percent", own, reno, wave(84.5), case)
    runs = runs_of(cells)
    lost = (runs["cca"] == "mine") & (runs["scenario"] == cases[0]) & (runs["replication"] == 1)
    runs.loc[lost, ["valid", "excluded_by", "invalid_because"]] = [False, "not ended", "x"]
    for table, verdict in ((runs, TOO_VARIABLE), (runs.assign(valid=True, excluded_by=""), NOT_ENOUGH)):
        row = scorecard(values(cells), dict.fromkeys(cases, "x"), exam, runs=table).iloc[0]
        assert (row["verdict"], row["standard_runs_far_worse"]) == (verdict, 15)
