"""Several looks at a growing number of runs (`MORE`): the verdicts of earlier looks are final."""

import numpy as np
import pytest

from exam_cards import CASE, RUNS, mixed, of, row_of, runs_of, values, wave
from topics.exam import card_tests
from topics.exam.scorecard import scorecard
from topics.exam.tables import BETTER, LIKE, NOT_MEASURED, PRIMARY, WORSE


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


@pytest.mark.slow
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


def test_the_row_about_all_cases_counts_the_first_look_alone(exam):
    """A row without a verdict gets more runs because its runs collapsed, so such runs would shift the share of all cases."""
    cases, more = [f"6.3-{number}" for number in range(29)], 60
    # The CCA collapses in 1 of 5 runs of four cases: in 16 of 580 runs, and in 64 of the 820 runs after the open cases have more.
    often = np.where(np.arange(RUNS + more) % 5 == 0, wave(30, runs=RUNS + more), wave(90, runs=RUNS + more))
    cells = {}
    for number, case in enumerate(cases):
        runs = RUNS + more if number < 4 else RUNS
        own = often if number < 4 else wave(90)
        cells |= of("utilisation_percent", own, wave(90, runs=runs), wave(90.1, runs=runs), scenario=case)
    for looks, n in (([RUNS], 580), ([], 820)):
        card = scorecard(values(cells), dict(zip(cases, cases, strict=True)), exam | {"looks": looks}).iloc[0]
        assert (card["measure"], card["n"], card["verdict"] == WORSE) == ("runs_far_worse", n, not looks)
    assert card["runs_far_worse"] == 64


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


def test_errors_of_all_looks_are_the_level():
    assert sum(card_tests.level_of_look(0.05, look) for look in range(50)) == pytest.approx(0.05)
