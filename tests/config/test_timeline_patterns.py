"""Timelines from patterns: the drawn changes, their frequency, and the sentences that refuse invalid patterns."""

import statistics

import pytest

from study_files import study as studies
from study_files.study import StudyError
from study_files.timeline_patterns import PATTERNS, entries_of


def resolved(timeline, duration_s=100, **link):
    scenario = {
        "id": "a",
        "link": {"rate_mbps": 20, "delay_ms": 20, "timeline": timeline} | link,
        "traffic": {"duration_s": duration_s},
    }
    return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")["scenarios"][0]["link"][
        "timeline"
    ]


def test_a_satellite_hands_over_each_period():
    made = resolved(
        {"pattern": "satellite", "period_s": 15, "rate_mbps": [50, 200], "delay_ms": [15, 40], "down_s": 0.05}
    )
    assert [one["at_s"] for one in made] == [15, 30, 45, 60, 75, 90]
    assert all(
        50 <= one["rate_mbps"] <= 200 and 15 <= one["delay_ms"] <= 40 and one["down_for_s"] == 0.05 for one in made
    )
    assert len({one["rate_mbps"] for one in made}) == len(made)
    # One value isn't drawn, and null leaves a quantity as it is.
    fixed = resolved({"pattern": "satellite", "rate_mbps": 30, "delay_ms": None, "down_s": 0})
    assert {(one["rate_mbps"], one["delay_ms"], one["down_for_s"]) for one in fixed} == {(30, None, None)}


def test_on_and_off_have_the_means_that_were_asked_for():
    on, off = [], []
    for seed in range(10):
        made = entries_of({"pattern": "on-off", "on_s": 2, "off_s": 0.5, "direction": "forward", "seed": seed}, 2000)
        ends = [0, *(one["at_s"] + one["down_for_s"] for one in made)]
        off += [one["down_for_s"] for one in made]
        on += [one["at_s"] - end for one, end in zip(made, ends, strict=False)]
        assert {one["direction"] for one in made} == {"forward"}
    assert statistics.mean(off) == pytest.approx(0.5, rel=0.05) and statistics.mean(on) == pytest.approx(2, rel=0.05)


def test_outages_never_touch_each_other():
    made = resolved({"pattern": "on-off", "on_s": 0.01, "off_s": 0.01}, 10)
    assert len(made) > 300
    pairs = zip(made, made[1:], strict=False)
    assert all(round(after["at_s"] - one["at_s"] - one["down_for_s"], 6) >= 0.001 for one, after in pairs)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_seed_makes_the_same_changes_and_another_one_others(name):
    first, again, other = (entries_of({"pattern": name, "seed": seed}, 300) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    "timeline, sentence",
    [
        ({"pattern": "sattelite"}, ".pattern is \"sattelite\"; allowed: one of satellite, on-off."),
        ({"pattern": "satellite", "off_s": 1}, " has the key \"off_s\"; allowed with pattern satellite: period_s, rate_mbps, delay_ms, down_s, direction, seed."),
        ({"pattern": "satellite", "period_s": 0}, ".period_s is 0; allowed: a number from 0.01 to 86400."),
        ({"pattern": "satellite", "rate_mbps": [9, 2]}, ".rate_mbps is [9, 2]; allowed: a number from 0.01 to 20000, a range such as [20, 40], or null."),
        ({"pattern": "satellite", "period_s": 1, "down_s": 2}, ".down_s is 2; allowed: less than period_s, 1 (s)."),
        ({"pattern": "on-off", "on_s": [1, 2]}, ".on_s is [1, 2]; allowed: a number from 0.01 to 86400."),
        ({"pattern": "on-off", "seed": -1}, ".seed is -1; allowed: a whole number of at least 0."),
        ({"pattern": "satellite", "direction": "up"}, ".direction is \"up\"; allowed: one of both, forward, reverse."),
        ({"pattern": "satellite", "period_s": 200}, " has no change before 100 s, the end of the traffic."),
    ],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_in_a_sentence(timeline, sentence):
    with pytest.raises(StudyError) as raised:
        resolved(timeline)
    assert f"scenarios[a].link.timeline{sentence}" in str(raised.value)


def test_defaults_may_have_a_pattern():
    study = {
        "study": "s", "ccas": ["reno"], "defaults": {"link": {"timeline": {"pattern": "satellite"}}},
        "scenarios": [{"id": "a", "traffic": {"duration_s": 40}}, {"id": "b", "link": {"timeline": []}}],
    }  # fmt: skip
    one, other = studies.resolve(study, "s.yaml")["scenarios"]
    assert len(one["link"]["timeline"]) == 2 and other["link"]["timeline"] == []


def test_a_duration_that_is_none_is_left_to_the_schema():
    for duration_s in (float("inf"), float("nan"), 0):
        for name in PATTERNS:
            with pytest.raises(StudyError, match="duration_s"):
                resolved({"pattern": name}, duration_s)


def test_more_changes_than_a_timeline_may_have_are_refused():
    with pytest.raises(StudyError, match=r"makes more than 2,000 changes in 100 s"):
        resolved({"pattern": "satellite", "period_s": 0.01, "down_s": 0})
