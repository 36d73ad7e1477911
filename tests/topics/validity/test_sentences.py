"""The trustworthiness of the runs in one sentence."""

import pandas as pd

import tidy_tables
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.validity.emulation_check import CHANGING, realised_loss, smallest_rtt
from topics.validity.sentences import loss_sentences, rtt_words, trust_sentence, validity_words

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))


def test_validity_is_counted():
    runs = tidy_tables.synthetic_study(SCENARIOS[2:3], ["reno"])["runs"]
    checks = pd.DataFrame({"check": ["cca", "idle_rtt", "new_check"], "failed": [1.0, 2.0, 1.0]})
    assert validity_words(runs, checks) == "All 10 runs passed every check"
    runs.loc[:1, "valid"] = False
    assert validity_words(runs, checks) == (
        "8 of 10 runs are valid, and the other 2 failed the checks of the idle path's RTT (2), the CCA that ran (1) "
        "and others"
    )
    assert validity_words(runs, checks[2:]) == ("8 of 10 runs are valid, and the other 2 failed the check of new check")
    runs["valid"] = False
    assert validity_words(runs, checks).startswith("No run of 10 is valid; failed checks: the idle")


def test_realised_loss_is_over_the_packets_that_reached_the_link():
    runs = tidy_tables.synthetic_study(SCENARIOS[:1], ["reno"])["runs"]
    runs["packets_sent"], runs["queue_drops"], runs["link_drops"] = 1500, 500, 11
    assert loss_sentences(runs) == ["of 10,000 packets, the links dropped 1.100 % (configured: 1 %)"]
    assert loss_sentences(runs[:0]) == []
    many = pd.concat([runs.assign(loss_configured_percent=rate) for rate in (1.0, 1.2, 2.0)])
    assert loss_sentences(many) == [
        "30,000 packets reached links with 3 loss rates; at the rate with the largest deviation, the links dropped 1.100 % (configured: 2 %)"
    ]


def test_lowest_rtt_is_held_against_the_path():
    runs = pd.DataFrame({"scenario": ["a", "a", "b"], "rtt_min_ms": [20.3, 20.1, 100.0], "rtt_path_ms": [20, 20, 100]})
    assert rtt_words(runs) == ["the minimum RTT in each scenario is at most 0.10 ms above the base RTT"]
    assert rtt_words(runs[2:]) == ["the minimum RTT is within 0.01 ms of the base RTT"]
    # A packet's own time is the most of it at 10 kbit/s.
    far = runs.assign(rtt_min_ms=[875.2, 875.3, 100.0])
    slow = rtt_words(far, packet_ms=pd.Series(1211.2, index=runs["scenario"].unique()))
    assert slow[0].endswith("855.20 ms above the base RTT, on a link where a packet takes 1,211.20 ms")
    fast = rtt_words(runs, packet_ms=pd.Series(0.001, index=runs["scenario"].unique()))
    assert fast == rtt_words(runs)
    early = runs.assign(rtt_min_ms=[19.0, 19.0, 100.0])
    assert rtt_words(early) == ["the minimum RTT in each scenario differs from the base RTT by −1.00 to 0.00 ms"]
    rounded = early.assign(rtt_path_ms=[19.7, 19.7, 100])
    assert rtt_words(rounded)[0].endswith(
        "by −0.70 to 0.00 ms (after a loss, the kernel computes RTTs from timestamps in whole milliseconds)"
    )
    assert rtt_words(rounded.assign(rtt_min_ms=[19.1, 19.0, 100.0]))[0].endswith("by −0.70 to 0.00 ms")
    # Not by −0.00 ms.
    both = early.assign(rtt_min_ms=[19.0, 19.0, 99.998])
    assert rtt_words(both) == ["the minimum RTT in each scenario differs from the base RTT by −1.00 to 0.00 ms"]
    hardly = runs.assign(rtt_min_ms=[20.1, 20.2, 99.998])
    assert rtt_words(hardly) == ["the minimum RTT in each scenario is at most 0.10 ms above the base RTT"]


def test_with_jitter_a_packet_may_be_early():
    scenarios = tidy_tables.grid((20,), (0,), (1,)).assign(jitter_forward_ms=5.0)
    runs = tidy_tables.synthetic_study(scenarios, ["reno"])["runs"].assign(valid=True, rtt_min_ms=35.2)
    checks = pd.DataFrame({"check": [], "failed": []})
    assert trust_sentence(runs, checks, scenarios).endswith(
        "the minimum RTT is at most 0.20 ms above the minimum that jitter allows."
    )
    (row,) = smallest_rtt(runs, scenarios).to_dict("records")
    assert (row["configured"], row["realised"]) == (35.0, 35.2)


def test_paths_that_change_are_held_against_their_own_least_rtt_and_no_one_loss():
    """A path with an RTT of 100 ms that has 40 ms for a while and is down for another; one of 20 ms that is constant."""
    timeline = [{"at_s": 2, "delay_ms": 20}, {"at_s": 4, "delay_ms": 80}, {"at_s": 6, "down_for_s": 1}]
    scenarios = [{"id": "near", "link": {"delay_ms": 10}}, {"id": "x", "link": {"delay_ms": 50, "timeline": timeline}}]
    design = StudyDesign(studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": scenarios}, "s.yaml"))
    assert (design.rtt_shifts_ms, design.loss_changing_scenarios) == ({"x": -60}, ("x",))
    table = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(0,), flows=(1,)).assign(scenario=["near", "x"])
    runs = tidy_tables.synthetic_study(table, ["reno"])["runs"]
    runs["rtt_min_ms"] = runs["scenario"].map({"near": 20.01, "x": 40.02})
    rtts = smallest_rtt(runs, table, design.rtt_shifts_ms)
    assert (rtts["configured"].tolist(), rtts["realised"].tolist()) == ([20, 40], [20.01, 40.02])
    losses = realised_loss(runs, table, 0.95, design.loss_changing_scenarios)
    assert losses["note"].tolist() == ["", CHANGING] and losses["realised"].isna().tolist() == [False, True]
    checks = pd.DataFrame({"check": ["cca"], "failed": [0.0]})
    changes = design.rtt_shifts_ms, design.loss_changing_scenarios
    assert "at most 0.02 ms above" in trust_sentence(runs, checks, table, *changes)
