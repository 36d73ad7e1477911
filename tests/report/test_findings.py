"""The opening sentences say what the tables hold, in few words, and nothing where they hold nothing."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
import tidy_tables
from report_parts import findings, findings_ip_version, findings_speed
from report_parts.findings import findings as five_sentences

SCENARIOS = tidy_tables.grid(delays_ms=(10, 50), losses_percent=(1, 0), flows=(1,))
LOSSY, CLEAN = list(SCENARIOS["scenario"][:2]), list(SCENARIOS["scenario"][2:])


def descriptive(rows, metric="goodput_mbps"):
    table = pd.DataFrame(rows, columns=["scenario", "ip_version", "cca", "mean"])
    return table.assign(metric=metric, scenario_label=table["scenario"].str[:12], n=4)


def cca_tests(p_holm, test="Friedman"):
    return pd.DataFrame({"metric": "goodput_mbps", "test": test, "p_holm": p_holm})


def ip_cells(p_holm, **columns):
    row = {
        "metric": "goodput_mbps", "effect": -1.4, "p_holm": p_holm, "equivalent": "yes", "margin": 5.0,
        "p_expected_holm": 0.9, "expected_effect": -1.381,
    }  # fmt: skip
    return pd.DataFrame(row | columns)


def overall(pooled, paired):
    return pd.DataFrame(
        {"metric": "goodput_mbps", "null": "equal", "p": [pooled, paired],
         "method": ["Mann-Whitney, pooled", "aligned ranks, by pair and cell"]}
    )  # fmt: skip


def words(sentence):
    return len([word for word in sentence.split() if re.search(r"\w", word)])


def speed(rows, tests=None, pairs=None):
    tables = SimpleNamespace(
        descriptive=descriptive(rows), scenarios=SCENARIOS,
        ccas=cca_tests([0.01]) if tests is None else tests,
        cca_pairs=cca_tests([]) if pairs is None else pairs,
    )  # fmt: skip
    return findings_speed.speed_sentence(tables, 0.05)


def test_leader_is_named_with_and_without_loss_and_with_the_test():
    rows = [(LOSSY[0], "ipv4", "reno", 10.0), (LOSSY[0], "ipv4", "bbr", 800.0), (LOSSY[0], "ipv4", "cubic", 20.0),
            (LOSSY[1], "ipv4", "reno", 5.0), (LOSSY[1], "ipv4", "bbr", 500.0), (LOSSY[1], "ipv4", "cubic", 4.0),
            (CLEAN[0], "ipv4", "reno", 930.0), (CLEAN[0], "ipv4", "bbr", 900.0)]  # fmt: skip
    assert speed(rows, cca_tests([0.01, 0.2, None])) == (
        "With random loss bbr leads by 10 % or more in 2 of 2 scenarios × IP versions, with 40 to 100 times the "
        "next CCA's goodput; without loss no CCA leads so in any of 1; CCAs differ in 1 of 2 (Friedman, Holm)."
    )


def test_the_second_half_counts_and_names_for_itself():
    rows = [(LOSSY[0], "ipv4", "reno", 10.0), (LOSSY[0], "ipv4", "bbr", 800.0),
            (CLEAN[0], "ipv4", "reno", 930.0), (CLEAN[0], "ipv4", "bbr", 400.0)]  # fmt: skip
    assert "; without loss reno leads so in 1 of 1, with 2.33 times the next CCA's goodput;" in speed(rows)


def test_two_ccas_are_held_against_the_test_of_the_pair():
    rows = [(CLEAN[0], "ipv4", "reno", 9.3), (CLEAN[0], "ipv4", "bbr", 9.4)]
    sentence = speed(rows, cca_tests([None], test=""), cca_tests([0.001, 0.7], test="paired t"))
    assert sentence.startswith("Without loss no CCA leads by 10 % or more in any of 1 scenarios × IP versions; ")
    assert sentence.endswith("CCAs differ in 1 of 2 (paired t, Holm).")
    untested = speed(rows, cca_tests([None], test=""), cca_tests([None], test=""))
    assert untested.endswith("no test of the CCAs could be made.")


def test_lead_over_nothing_is_no_ratio():
    sentence = speed([(CLEAN[0], "ipv4", "reno", 0.0), (CLEAN[0], "ipv4", "bbr", 5.0)])
    assert "inf" not in sentence
    assert "no CCA leads" in sentence


def test_one_cca_has_nothing_to_be_compared_with():
    assert speed([(CLEAN[0], "ipv4", "reno", 1.0)]).startswith(
        "The study has one CCA with values, reno: its mean goodput was 1 Mbit/s in 1 cell"
    )


def test_price_and_knee():
    cell = CLEAN[0]
    table = pd.concat(
        [
            descriptive([(cell, "ipv4", "bbr", 21.4), (cell, "ipv4", "reno", 0.5)], "retransmit_percent"),
            descriptive([(cell, "ipv4", "bbr", 30.0), (cell, "ipv4", "reno", 22.0)], "rtt_mean_ms"),
            descriptive([(cell, "ipv4", "bbr", 900.0), (cell, "ipv4", "reno", 450.0)]),
        ]
    )
    runs = pd.DataFrame({"scenario": [cell], "rtt_path_ms": [20.0]})
    sentence = findings_speed.price_sentence(SimpleNamespace(descriptive=table, runs=runs))
    assert sentence == (
        f"The price: bbr sent 21.40 % of its segments again in scenario {cell[:12]} over IPv4 (reno, least, 0.500 %); "
        f"the knee: in scenario {cell[:12]} over IPv4 bbr's mean RTT is 1.50 times the empty path's, reno's 1.10 times "
        "with 50 % of its goodput."
    )
    free = table.assign(mean=table["mean"].where(table["metric"] != "retransmit_percent", 0.0))
    text = findings_speed.price_sentence(SimpleNamespace(descriptive=free, runs=runs.assign(rtt_path_ms=0.0)))
    assert text == "The price: none; no run sent a segment again."


def ip_sentence(cells, over):
    runs = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=1)["runs"]
    return findings_ip_version.ip_version_sentence(
        SimpleNamespace(runs=runs, ip_versions=cells, ip_overall=over), 0.05
    )


def test_ip_versions_by_cell_against_both_nulls_and_overall():
    cells = ip_cells([0.001, 0.04, 0.3, None], equivalent=["yes", "no", "yes", ""], p_expected_holm=[0.01, 1, 1, None])
    assert ip_sentence(cells, overall(0.62, 0.0001)) == (
        "IPv6's goodput differs from IPv4's in 2 of 3 cells tested (Holm) and lies within ±5 % in 2 "
        "(median −1.40 %); 1 differs from the MSS ratio 1428/1448 (−1.38 %); overall the paired test sees a "
        "difference (p < 0.001), the pooled one misses it (p = 0.620)."
    )


@pytest.mark.parametrize(
    "pooled, paired, said",
    [
        (0.01, 0.01, "the pooled one too (p = 0.010)"),
        (0.5, 0.6, "overall neither the paired (p = 0.600) nor the pooled test (p = 0.500) sees a difference"),
        (0.01, 0.6, "the pooled test sees a difference (p = 0.010), the paired one overall none (p = 0.600)"),
    ],
)
def test_pooled_and_paired_test_are_told_apart(pooled, paired, said):
    assert said in ip_sentence(ip_cells([0.5]), overall(pooled, paired))


def test_nothing_is_claimed_where_nothing_was_tested():
    cells = ip_cells([None], p_expected_holm=None, equivalent="")
    sentence = ip_sentence(cells, overall(None, None))
    assert sentence == "IPv6's goodput could be tested in none of 1 cell (median −1.40 %)."
    assert "can't be compared" in ip_sentence(ip_cells([None], effect=float("nan")), overall(None, None))


def test_claims_are_counted_and_compared_where_both_methods_can_tell():
    claims = pd.DataFrame({"claim": list("abcd"), "verdict": ["reproduced"] * 2 + ["not reproduced", "not testable"]})
    text = "Of the paper's 4 claims 2 are reproduced here, 1 is not, 1 can't be tested with these data"
    assert findings.claims_sentence(claims) == f"{text}."
    other = claims.assign(verdict=["not reproduced", "reproduced", "not testable", "reproduced"])
    assert findings.claims_sentence(claims, ("exbench", other)) == (
        f"{text}; with the method of the study exbench 1 of the 2 tested in both comes out differently."
    )
    none = other.assign(verdict="not testable")
    assert findings.claims_sentence(claims, ("x", none)) == f"{text}; none could be tested in the study x too."
    assert "names none" in findings.claims_sentence(None)


def test_validity_is_counted():
    runs = tidy_tables.synthetic_study(SCENARIOS[2:3], ["reno"])["runs"]
    checks = pd.DataFrame({"check": ["cca", "idle-rtt", "loss"], "failed": [1.0, 2.0, 1.0]})
    assert findings.validity_words(runs, checks) == "All 10 runs passed every check"
    runs.loc[:1, "valid"] = False
    assert findings.validity_words(runs, checks) == (
        "8 of 10 runs are valid, the rest failed checks, such as idle-rtt (2), cca (1) and others"
    )
    runs["valid"] = False
    assert findings.validity_words(runs, checks).startswith("No run of 10 is valid")


def test_realised_loss_is_over_the_packets_that_reached_the_link():
    runs = tidy_tables.synthetic_study(SCENARIOS[:1], ["reno"])["runs"]
    runs["packets_sent"], runs["queue_drops"], runs["link_drops"] = 1500, 500, 11
    assert findings.loss_words(runs) == ["links dropped 1.100 % where 1 % was set (10,000 packets)"]
    assert findings.loss_words(runs[:0]) == []
    many = pd.concat([runs.assign(loss_configured_percent=rate) for rate in (1.0, 1.2, 2.0)])
    assert findings.loss_words(many) == ["links dropped at worst 1.100 % where 2 % was set (30,000 packets)"]


def test_lowest_rtt_is_held_against_the_path():
    runs = pd.DataFrame({"scenario": ["a", "a", "b"], "rtt_min_ms": [20.3, 20.1, 100.0], "rtt_path_ms": [20, 20, 100]})
    assert findings.rtt_words(runs) == ["lowest RTT seen: at most 0.10 ms above the empty path's"]
    assert findings.rtt_words(runs[2:]) == ["lowest RTT seen: within 0.01 ms of the empty path's"]
    early = runs.assign(rtt_min_ms=[19.0, 19.0, 100.0])
    assert findings.rtt_words(early) == ["lowest RTT seen: −1.00 to 0.00 ms off the empty path's"]


@pytest.mark.parametrize("name", ["real_shape", "small", "all_ccas", "one_of_each", "nothing_valid", "two_methods"])
def test_five_short_sentences_of_every_study(name, request):
    import write_report

    built = request.getfixturevalue(name)
    tables = write_report.read_tables(built.page_inputs())
    other = ("other-method", tables.other_claims) if tables.other_claims is not None else None
    found = five_sentences(tables, 0.05, other)
    assert [finding.topic for finding in found] == ["Speed", "Price", "IP version", "Claims", "Trust"]
    for finding in found:
        assert words(finding.text) <= 45, finding.text
        assert finding.text.endswith(".")
        assert not re.search(r"\b(nan|inf|None)\b", finding.text)
    if name == "nothing_valid":
        assert [finding.text[:15] for finding in found[:3]] == ["No run is valid"] * 3
        assert found[4].text.startswith("No run of 24 is valid")
