"""The opening sentences say what the tables hold, and nothing where they hold nothing."""

import findings
import pandas as pd
import tidy_tables


def means(rows):
    return pd.DataFrame(rows, columns=["scenario", "ip_version", "cca", "mean"])


def test_clear_leader_is_named_with_its_numbers():
    table = means(
        [
            ("a", "ipv4", "reno", 10.0), ("a", "ipv4", "bbr", 800.0), ("a", "ipv4", "cubic", 20.0),
            ("b", "ipv4", "reno", 5.0), ("b", "ipv4", "bbr", 500.0), ("b", "ipv4", "cubic", 4.0),
            ("c", "ipv4", "reno", 930.0), ("c", "ipv4", "bbr", 900.0),
        ]
    )  # fmt: skip
    assert findings.leader_sentences(table, 3) == [
        "Goodput: bbr had the highest mean in 2 of 3 combinations of scenario and IP version, "
        "with 500 to 800 Mbit/s, 40 to 100 times that of the next CCA.",
        "Goodput: in the other one the two highest means lie within 10 % of each other.",
    ]


def test_no_clear_leader_is_said():
    table = means([("a", "ipv4", "reno", 9.3), ("a", "ipv4", "bbr", 9.4)]
                  + [("b", "ipv4", "reno", 9.0), ("b", "ipv4", "bbr", 9.0)])  # fmt: skip
    assert findings.leader_sentences(table, 2) == [
        "Goodput: in all 2 combinations of scenario and IP version the two highest means lie "
        "within 10 % of each other."
    ]


def test_no_leader_among_one():
    assert findings.leader_sentences(means([("a", "ipv4", "reno", 1.0)]), 1) == []
    assert findings.leader_sentences(means([("a", "ipv4", "reno", 1.0)]), 2) == []


def test_lead_over_nothing_has_no_ratio():
    table = means([("a", "ipv4", "reno", 0.0), ("a", "ipv4", "bbr", 5.0)])
    assert "times that of" not in " ".join(findings.leader_sentences(table, 2))
    assert "inf" not in " ".join(findings.leader_sentences(table, 2))


def test_ip_versions_are_compared_in_pairs_of_cells():
    table = means(
        [("a", "ipv4", "reno", 100.0), ("a", "ipv6", "reno", 98.0),
         ("b", "ipv4", "reno", 10.0), ("b", "ipv6", "reno", 10.4),
         ("c", "ipv4", "reno", 10.0)]
    )  # fmt: skip
    (sentence,) = findings.ip_sentences(table)
    assert sentence.startswith("Mean goodput over IPv6 was 0.980 to 1.040 times that over IPv4 "
                               "(median 1.010, 2 pairs of cells)")  # fmt: skip
    assert findings.ip_sentences(table[table["ip_version"] == "ipv4"]) == []


def test_validity_is_counted():
    runs = tidy_tables.synthetic_study(tidy_tables.grid((10,), (0,), (1,)), ["reno"])["runs"]
    checks = pd.DataFrame({"check": ["cca", "idle-rtt"], "failed": [1.0, 2.0]})
    assert findings.validity_sentence(runs, checks) == "All 10 runs passed every check."
    runs.loc[:1, "valid"] = False
    assert findings.validity_sentence(runs, checks) == (
        "8 runs are valid of 10; 2 runs failed a check and are excluded: idle-rtt (2), cca (1)."
    )
    runs["valid"] = False
    assert findings.validity_sentence(runs, checks).startswith("No run is valid of 10")


def test_longest_queue_is_a_multiple_of_the_path():
    runs = tidy_tables.synthetic_study(
        tidy_tables.grid((10,), (0,), (1,)), ["cubic", "vegas"], spread=1e-6
    )["runs"]
    (sentence,) = findings.queue_sentences(runs)
    assert "cubic's in scenario 1: a mean round-trip time of 1.81 times" in sentence
    assert "vegas's, 1.02 times" in sentence


def test_realised_loss_is_over_the_packets_that_reached_the_link():
    runs = tidy_tables.synthetic_study(tidy_tables.grid((10,), (1,), (1,)), ["reno"])["runs"]
    runs["packets_sent"], runs["queue_drops"], runs["link_drops"] = 1500, 500, 11
    assert findings.loss_sentences(runs) == [
        "The emulated links dropped 1.100 % where 1 % was configured (10,000 packets in all)."
    ]
    runs["valid"] = False
    assert findings.loss_sentences(runs) == []
