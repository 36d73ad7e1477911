"""Labels of scenarios by their conditions: all that distinguishes them, never the same for two, and what they have in common."""

import itertools
import random

import pandas as pd
import pytest

from drawn_studies import drawn_config
from one_key_apart import BASES, base, one_key_apart
from run_tables.tidy_rows import rows_of_scenarios
from study_files import study as studies
from study_files.study_schema import keys_of, scenario_schema
from topics.chain.topic import in_common
from topics.multipath.path_environments import with_paths
from wording.scenario_labels import conditions_of, settings_by, settings_of
from wording.scenario_series import with_series
from wording.scenario_words import shared_and_own

#: What a platform or topology can't have of another section is no question here: only the words are.
NAMES = ["scenario", "label", "conditions", "queue_packets"]


def resolved(*scenarios, **defaults):
    scenarios = [{"id": f"s{number}", "link": {"rate_mbps": 10}} | one for number, one in enumerate(scenarios)]
    return studies.resolve({"study": "s", "ccas": ["reno"], "defaults": defaults, "scenarios": scenarios}, "s.yaml")[
        "scenarios"
    ]


def test_bases_have_all_keys_of_a_scenario():
    """A key that is added to the schema is in `one_key_apart` as soon as its section is."""
    resolved_keys = set().union(*(base(name).keys() for name in BASES))
    assert set(keys_of(scenario_schema())) - {"kernel"} <= resolved_keys


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
def test_scenarios_that_differ_in_one_key_are_never_called_the_same(name):
    apart = one_key_apart(name)
    for key, changed in apart.items():
        two = [base(name), changed]
        first, second = conditions_of(two)
        assert first != second, key
        assert settings_of(two, ("queue",))["base"]["setting"] == 1
        row, other = rows_of_scenarios(two, {})
        assert {k: v for k, v in row.items() if k not in NAMES} != {k: v for k, v in other.items() if k not in NAMES}, (
            key
        )
    together = [base(name), *apart.values()]
    assert len(set(conditions_of(together))) == len(together)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
def test_settings_hold_what_differs_in_some_keys_only(name):
    apart = one_key_apart(name)
    scenarios = [base(name), *apart.values()]
    for without in (("queue", "transport.ecn"), ("groups", "flows"), ("multipath.paths", "multipath.path_delay_ms")):
        settings = settings_of(scenarios, without)
        beside = {key for key, changed in apart.items() if settings[changed["id"]]["setting"] == 1}
        assert beside == {key for key in apart if any(key == one or key.startswith(f"{one}.") for one in without)}
        assert len({one["setting"] for one in settings.values()}) == len(
            {one["conditions"] for one in settings.values()}
        )


@pytest.mark.parametrize("seed", range(60))
def test_drawn_studies_have_a_text_for_each_scenario(seed):
    try:
        scenarios = studies.resolve(drawn_config(seed), "drawn.yaml")["scenarios"]
    except studies.StudyError:
        return
    texts = conditions_of(scenarios)
    assert len(set(texts)) == len(texts)
    assert all(" " in text and "None" not in text and "null" not in text for text in texts)


def test_what_is_usual_in_a_study_is_said_of_no_scenario():
    first, second, third = conditions_of(resolved({}, {}, {"link": {"netem": "both-ends"}, "queue": {"packets": 9}}))
    assert "netem" not in first + second
    assert third.endswith("netem both-ends")
    texts = conditions_of(resolved({}, {"traffic": {"bitrate_mbps": 4}}, {"traffic": {"bitrate_mbps": 5}}))
    assert [text.partition("bitrate")[1:] for text in texts] == [
        ("", ""),
        ("bitrate", " 4 Mbit/s"),
        ("bitrate", " 5 Mbit/s"),
    ]
    texts = conditions_of(resolved({}, *({"traffic": {"bitrate_mbps": 4}},) * 2))
    assert all("bitrate 4 Mbit/s" in text for text in texts[1:])


def test_the_order_of_scenarios_changes_no_text():
    scenarios = [base("groups"), *one_key_apart("groups").values()]
    shuffled = random.Random(3).sample(scenarios, len(scenarios))
    texts = dict(zip((one["id"] for one in shuffled), conditions_of(shuffled), strict=True))
    assert [texts[one["id"]] for one in scenarios] == conditions_of(scenarios)


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"link": {"rate_mbps": 1000, "delay_ms": 100}}, "1 Gbit/s, RTT 200 ms, no loss, 1 flow"),
        ({"link": {"rate_mbps": 10, "delay_ms": {"forward": 5, "reverse": 20}, "loss_percent": 1}, "flows": 3}, "10 Mbit/s, RTT 25 ms (5 there + 20 back), 1 % loss both ways, 3 flows"),
        ({"link": {"rate_mbps": 100, "delay_ms": 10, "policer": {"rate_mbps": 4}}}, "4 Mbit/s by a policer, RTT 20 ms, no loss, 1 flow"),
        ({"link": {"rate_mbps": 1000, "delay_ms": 10, "trace": {"rates_mbps": [0, 24], "step_ms": 100}}}, "0 to 24 Mbit/s (mean 12), RTT 20 ms, no loss, 1 flow"),
        # One unit for all rates.
        ({"link": {"rate_mbps": 9000, "delay_ms": 1, "trace": {"rates_mbps": [500, 9000], "step_ms": 100}}}, "0.5 to 9 Gbit/s (mean 4.75), RTT 2 ms, no loss, 1 flow"),
        ({"link": {"rate_mbps": None, "delay_ms": 10, "netem": "both-ends"}, "queue": {"packets": 9}, "traffic": {"bitrate_mbps": 5}}, "no rate limit, RTT 20 ms, no loss, 1 flow"),
        ({"link": {"rate_mbps": 10, "delay_ms": 10}, "hosts": {"pairs": 2, "access_delay_ms": [0, 15]}, "flows": 2}, "10 Mbit/s, RTT 20 and 80 ms, no loss, 2 flows"),
        ({"link": {"rate_mbps": 10, "delay_ms": 1}, "topology": "cable", "multipath": {"paths": 2, "by": "mptcp"}}, "2 \N{MULTIPLICATION SIGN} 10 Mbit/s, RTT 2 ms, no loss, 1 flow, MPTCP"),
    ],
)  # fmt: skip
def test_a_lone_scenario_has_rate_rtt_loss_and_flows(scenario, words):
    """A delay of 100 ms is an RTT of 200; the rate is that of the data's direction, whatever sets it."""
    assert conditions_of(resolved(scenario)) == [words]


def test_what_differs_is_shown_and_what_is_alike_is_not():
    few = resolved({"transport": {"min_rto_ms": 200}}, {"transport": {"min_rto_ms": 1000}}, {}, queue={"packets": 50})
    assert [text.removeprefix("10 Mbit/s, RTT 20 ms, no loss, 1 flow") for text in conditions_of(few)] == [
        ", minimum RTO 200 ms", ", minimum RTO 1000 ms", "",
    ]  # fmt: skip
    queues = resolved(
        {"queue": {"discipline": "codel"}}, {"queue": {"discipline": "codel", "target_ms": 20}}, {"queue": {"bdp": 2}}
    )
    assert [text.split(", ")[-1] for text in conditions_of(queues)] == [
        "codel of 1,000 packets", "codel of 1,000 packets (target 20 ms)", "drop-tail of 2 BDP",
    ]  # fmt: skip


def test_scenarios_that_differ_in_nothing_have_their_names():
    twins = resolved({}, {})
    assert [text.split(", ")[-1] for text in conditions_of(twins)] == ["s0", "s1"]
    assert [one["setting"] for one in settings_of(twins, ("queue",)).values()] == [1, 2]


def test_series_hold_no_two_scenarios_that_differ_in_more_than_their_buffer():
    """Based on the columns of ``tidy/scenarios.csv`` alone, of which `more` has what no other column shows."""
    apart = one_key_apart("plain")
    table = with_series(pd.DataFrame(rows_of_scenarios([base("plain"), *apart.values()], {})))
    alike = set(table.loc[table["conditions"] == 1, "scenario"])
    assert alike == {
        "base",
        *(apart[key]["id"] for key in apart if key in ("queue.packets", "platform", "transport.recovery")),
    }
    assert table["series"].nunique() == len(table.drop_duplicates(["conditions", "platform"]))


def test_joined_paths_under_other_conditions_are_other_places():
    apart = {
        key: one
        for key, one in one_key_apart("cable").items()
        if not key.startswith(("multipath", "topology", "hosts"))
    }
    table = with_paths(
        pd.DataFrame(rows_of_scenarios([base("cable"), *apart.values()], {})).fillna({"bitrate_mbps": float("nan")})
    )
    places = table[["application", "rate_mbps", "platform", "conditions"]].astype(str)
    assert not places.duplicated().any()


def test_what_all_scenarios_share_stands_once():
    rows = rows_of_scenarios(resolved({"flows": 2}, {"flows": 4}), {})
    assert shared_and_own(pd.DataFrame(rows)) == ("10 Mbit/s, RTT 20 ms, no loss", ["2 flows", "4 flows"])


def test_chains_and_a_dumbbell_share_what_is_not_their_number_of_bottlenecks():
    hosts = {1: [20, 20], 2: [20, 20, 20], 3: [20, 20, 20, 20]}

    def row(number, **more):
        link = {"rate_mbps": 10, "delay_ms": 0}
        if number == 1:
            return {
                "link": link,
                "flows": 2,
                "hosts": {"pairs": 2, "access_delay_ms": hosts[1]},
                "queue": {"packets": 66},
            } | more
        return {
            "link": link, "topology": "chain", "chain": {"bottlenecks": number, "cross_flows": 1}, "queue": {"packets": 66},
            "hosts": {"access_delay_ms": hosts[number]},
        } | more  # fmt: skip

    scenarios = resolved(row(1), row(2), row(3), row(2, queue={"packets": 20}), row(3, transport={"min_rto_ms": 300}))
    settings = settings_by(scenarios, in_common)
    assert [one["setting"] for one in settings.values()] == [1, 1, 1, 2, 3]
    assert len({one["conditions"] for one in settings.values()}) == 3
    assert all(a != b for a, b in itertools.pairwise(conditions_of(scenarios)))
