"""The opening sentences say what the tables hold, in few words, and nothing where they hold nothing."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
import tidy_tables
from report_parts import findings, findings_ip_version, findings_speed, sentence_words
from report_parts.findings import findings as sentences

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


def overall(pooled, paired, ratio, directions=("IPv4 higher", "IPv4 higher")):
    aligned = "aligned ranks, by pair and cell"
    return pd.DataFrame(
        {"metric": "goodput_mbps", "null": ["equal", "equal", "ratio of the MSSs"], "p": [pooled, paired, ratio],
         "method": ["Mann-Whitney, pooled", aligned, aligned], "direction": ["", *directions]}
    )  # fmt: skip


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
        "With random loss BBR leads by 10 % or more in both combinations of scenario and IP version, with 40 to 100 "
        "times the next CCA's goodput; without loss no CCA leads so clearly in the only one; the CCAs' goodput differs "
        "significantly in 1 of 2 (Friedman, Holm-corrected)."
    )


def test_the_second_half_counts_and_names_for_itself():
    rows = [(LOSSY[0], "ipv4", "reno", 10.0), (LOSSY[0], "ipv4", "bbr", 800.0),
            (CLEAN[0], "ipv4", "reno", 930.0), (CLEAN[0], "ipv4", "bbr", 400.0),
            (CLEAN[1], "ipv4", "reno", 930.0), (CLEAN[1], "ipv4", "bbr", 900.0)]  # fmt: skip
    assert "; without loss Reno leads so clearly in 1 of 2, with 2.33 times; " in speed(rows)


def test_two_ccas_are_held_against_the_test_of_the_pair():
    rows = [(CLEAN[0], "ipv4", "reno", 9.3), (CLEAN[0], "ipv4", "bbr", 9.4)]
    sentence = speed(rows, cca_tests([None], test=""), cca_tests([0.001, 0.7], test="paired t"))
    assert sentence.startswith("Without loss no CCA leads by 10 % or more in the only combination of scenario and IP ")
    assert sentence.endswith("the CCAs' goodput differs significantly in 1 of 2 (paired t, Holm-corrected).")
    lone = speed(rows, cca_tests([None], test=""), cca_tests([0.7], test="paired t"))
    assert lone.endswith("the CCAs' goodput does not differ significantly there (paired t).")
    untested = speed(rows, cca_tests([None], test=""), cca_tests([None], test=""))
    assert untested.endswith("no test of the CCAs could be made.")


@pytest.mark.parametrize("p, said", [([0.9, 0.8], "none of 2"), ([0.01, 0.02], "all 2"), ([0.01, 0.2], "1 of 2")])
def test_significant_differences_are_counted(p, said):
    rows = [(CLEAN[0], "ipv4", "reno", 9.3), (CLEAN[0], "ipv4", "bbr", 9.4)]
    assert f"differs significantly in {said} (" in speed(rows, cca_tests(p))


def test_lead_over_nothing_is_no_ratio():
    sentence = speed([(CLEAN[0], "ipv4", "reno", 0.0), (CLEAN[0], "ipv4", "bbr", 5.0)])
    assert "inf" not in sentence
    assert "no CCA leads" in sentence


def test_one_cca_has_nothing_to_be_compared_with():
    assert speed([(CLEAN[0], "ipv4", "reno", 1.0)]).startswith(
        "The study has values of one CCA only, Reno, whose mean goodput was 1 Mbit/s in 1 cell"
    )


def test_ccas_that_never_meet_are_not_compared():
    rows = [(CLEAN[0], "ipv4", "reno", 1.0), (CLEAN[1], "ipv4", "bbr", 2.0)]
    assert speed(rows).startswith("No two CCAs have a goodput in the same scenario over the same IP version; ")
    assert price(rows, [], []) == "What speed costs can't be said, for no two CCAs have values in the same place."


@pytest.mark.parametrize(
    "kernel, reader",
    [("bbr", "BBR"), ("reno", "Reno"), ("htcp", "H-TCP"), ("cubic+vegas", "CUBIC+Vegas"), ("bbr3", "bbr3")],
)
def test_ccas_are_named_as_readers_write_them(kernel, reader):
    assert sentence_words.cca_name(kernel) == reader


def test_a_place_is_named_with_its_conditions():
    row = {"scenario": LOSSY[1], "ip_version": "ipv6"}
    named = SCENARIOS.assign(label=[str(number) for number in range(1, 5)])
    assert sentence_words.place_words(row, named) == "scenario 2 over IPv6 (50 ms each way, 1 % loss, 1 flow)"
    assert sentence_words.place_words(row, SCENARIOS.assign(label=SCENARIOS["scenario"])).startswith(
        f"scenario {LOSSY[1]} over IPv6 (50 ms"
    )
    uneven = named.assign(
        delay_reverse_ms=5, loss_reverse_percent=1, flows=12, rate_mbps=[1000, 100, 1000, float("nan")]
    )
    assert sentence_words.place_words(row, uneven) == (
        "scenario 2 over IPv6 (100 Mbit/s, 50 ms there and 5 ms back, 1 % loss each way, 12 flows)"
    )
    assert sentence_words.place_words(row | {"scenario": CLEAN[0]}, named).endswith("(10 ms each way, no loss, 1 flow)")


@pytest.mark.parametrize(
    "value, shown",
    [(21.618, "21.6"), (0.8722, "0.872"), (348.72, "349"), (20.0, "20"), (8756.8, "8,757"), (0, "0"),
     (0.00001234, "0.000012")],
)  # fmt: skip
def test_numbers_in_sentences_have_three_digits(value, shown):
    assert sentence_words.short(value) == shown


CELL = CLEAN[0]
PLACE = f"scenario {CELL[:12]} over IPv4 (10 ms each way, no loss, 1 flow)"
FAST = [(CELL, "ipv4", "bbr", 900.0), (CELL, "ipv4", "reno", 450.0), (CELL, "ipv4", "cubic", 400.0)]


def price(goodput, again, rtt, path=20.0):
    table = pd.concat(
        [descriptive(goodput), descriptive(again, "retransmit_percent"), descriptive(rtt, "rtt_mean_ms")]
    )
    runs = pd.DataFrame({"scenario": list(SCENARIOS["scenario"]), "rtt_path_ms": path})
    named = SCENARIOS.assign(label=SCENARIOS["scenario"].str[:12])
    scenarios = named.assign(scenario=SCENARIOS["scenario"])
    return findings_speed.price_sentence(SimpleNamespace(descriptive=table, runs=runs, scenarios=scenarios))


def cells(*values, scenario=CELL):
    return [(scenario, "ipv4", cca, value) for cca, value in zip(("bbr", "reno", "cubic"), values, strict=True)]


def test_price_of_the_fastest_is_held_against_the_highest_of_the_others():
    assert price(FAST, cells(21.42, 0.5, 0.7), cells(30.0, 22.0, 21.0)) == (
        f"BBR, which leads most often, pays for it: in {PLACE} it sent 21.4 % of its segments again, the others at "
        "most 0.7 %, and its mean RTT was 30 ms, theirs at most 22 ms (empty path: 20 ms)."
    )
    # Another CCA that sends more again or waits longer is not what the fastest pays.
    assert price(FAST, cells(0.5, 21.42, 0.7), cells(22.0, 30.0, 21.0)) == (
        "BBR, which leads most often, pays no clear price: nowhere was its share of segments sent again 10 % and 0.1 "
        "percentage points above all others' and nowhere was its mean RTT 10 % above all others'."
    )


def test_price_in_one_currency_only():
    assert price(FAST, cells(21.42, 0.5, 0.7), cells(21.0, 22.0, 21.0)).endswith(
        "the others at most 0.7 %, but nowhere was its mean RTT 10 % above all others'."
    )
    assert price(FAST, cells(0.0, 0.0, 0.0), cells(30.0, 22.0, 21.0), path=0) == (
        f"BBR, which leads most often, pays for it with delay: in {PLACE} its mean RTT was 30 ms, theirs at most 22 "
        "ms, but nowhere was its share of segments sent again 10 % and 0.1 percentage points above all others'."
    )
    assert price(FAST, [], cells(30.0, 22.0, 21.0)).endswith("theirs at most 22 ms (empty path: 20 ms).")
    elsewhere = cells(30.0, 30.0, 21.0) + cells(150.0, 100.0, 100.0, scenario=CLEAN[1])
    assert price(FAST, cells(21.42, 0.5, 0.7), elsewhere).endswith(
        ", and elsewhere its mean RTT was up to 1.5 times the highest of theirs."
    )


def test_price_names_the_place_where_it_is_highest():
    again = cells(5.0, 4.0, 4.0) + cells(9.0, 1.0, 1.0, scenario=CLEAN[1])
    assert "(50 ms each way, no loss, 1 flow) it sent 9 % of its segments again, the others at most 1 %" in (
        price(FAST, again, [])
    )


def test_who_does_not_lead_pays_for_no_speed():
    close = [(CELL, "ipv4", "bbr", 900.0), (CELL, "ipv4", "reno", 901.0)]
    none = "No CCA leads by 10 % or more anywhere, so there is no speed that one pays for."
    assert price(close, cells(1.0, 2.0, 1.0), cells(20.0, 40.0, 20.0)) == none
    # A lead in one place is one, wherever else it is close.
    once = [*close, (CLEAN[1], "ipv4", "bbr", 900.0), (CLEAN[1], "ipv4", "reno", 450.0)]
    assert price(once, cells(2.0, 1.0, 1.0), []).startswith("BBR, which leads most often, pays for it: in ")


def test_a_few_segments_in_a_hundred_thousand_are_no_price():
    assert price(FAST, cells(0.004, 0.0, 0.0), cells(21.0, 22.0, 21.0)).startswith(
        "BBR, which leads most often, pays no clear price: nowhere was its share of segments sent again 10 % and 0.1 "
    )
    assert "it sent 0.2 % of its segments again" in price(FAST, cells(0.2, 0.0, 0.0), [])


def test_price_without_values():
    assert price(FAST, [], []) == "What speed costs can't be said, for neither retransmissions nor RTTs are known."


def test_price_of_a_lone_cca():
    assert price(FAST[:1], [(CELL, "ipv4", "bbr", 1.25)], [(CELL, "ipv4", "bbr", 30.0)]) == (
        f"BBR, the only CCA, sent 1.25 % of its segments again in {PLACE} and had a mean RTT of 1.5 times the empty "
        "path's."
    )
    assert price(FAST[:1], [], [], path=0).startswith("What speed costs can't be said")


def ip_sentence(rows, over):
    runs = tidy_tables.synthetic_study(SCENARIOS, ["reno"], replications=1)["runs"]
    return findings_ip_version.ip_version_sentence(
        SimpleNamespace(runs=runs, ip_versions=rows, ip_overall=over), 0.05
    )


def test_the_difference_agrees_with_the_header():
    assert ip_sentence(ip_cells([0.001, 0.3, None]), overall(0.62, 0.0001, 0.413)) == (
        "Over all cells IPv6's goodput is lower than IPv4's (median −1.40 %, paired test p < 0.001), in agreement "
        "with what 20 more bytes of header cost: against the segment-size ratio 1428/1448 (−1.38 %) the test finds no "
        "difference (p = 0.413); the published, pooled test misses it (p = 0.620)."
    )


@pytest.mark.parametrize(
    "ratio, equal_direction, ratio_direction, said",
    [
        (0.001, "IPv4 higher", "IPv6 higher", "is lower than IPv4's (median −1.40 %, paired test p = 0.002), but by "
         "less than 20 more bytes of header would cost: it differs from the segment-size ratio 1428/1448 (−1.38 %, "
         "p = 0.001) too"),
        (0.001, "IPv4 higher", "IPv4 higher", "but by more than 20 more bytes of header would cost"),
        (0.001, "IPv6 higher", "IPv6 higher", "is higher than IPv4's (median −1.40 %, paired test p = 0.002), which 20 "
         "more bytes of header can't explain"),
        (None, "IPv4 higher", "", "(median −1.40 %, paired test p = 0.002); the published, pooled test misses it"),
    ],
)  # fmt: skip
def test_a_difference_that_the_header_does_not_explain(ratio, equal_direction, ratio_direction, said):
    over = overall(0.5, 0.002, ratio, (equal_direction, ratio_direction))
    assert said in ip_sentence(ip_cells([0.5]), over)


@pytest.mark.parametrize(
    "pooled, paired, ratio, said",
    [
        (0.01, 0.01, 0.5, "; the published, pooled test sees it too (p = 0.010)."),
        (0.5, 0.6, 0.7, "Over all cells the paired test finds no difference between IPv6's goodput and IPv4's "
         "(p = 0.600, median −1.40 %), nor one from what 20 more bytes of header would cost, the segment-size ratio "
         "1428/1448 (−1.38 %, p = 0.700); the published, pooled test sees none either (p = 0.500)."),
        (0.01, 0.6, 0.001, "though 20 more bytes of header should cost some: it differs from the segment-size ratio "
         "1428/1448 (−1.38 %, p = 0.001); the published, pooled test sees one (p = 0.010)."),
    ],
)  # fmt: skip
def test_pooled_and_paired_test_are_told_apart(pooled, paired, ratio, said):
    assert said in ip_sentence(ip_cells([0.5]), overall(pooled, paired, ratio))


def test_the_stratified_test_stands_in_for_the_paired_one():
    over = overall(0.5, 0.01, 0.7)
    over["method"] = over["method"].replace("aligned ranks, by pair and cell", "van Elteren, by cell")
    assert "stratified test p = 0.010" in ip_sentence(ip_cells([0.5]), over)


def test_nothing_is_claimed_where_nothing_was_tested():
    rows = ip_cells([None], p_expected_holm=None, equivalent="")
    assert ip_sentence(rows, overall(None, None, None)) == (
        "IPv6's goodput could be tested in none of 1 cell; the median difference from IPv4's is −1.40 %."
    )
    assert ip_sentence(ip_cells([0.01, 0.2]), overall(None, None, None)) == (
        "IPv6's goodput differs significantly from IPv4's in 1 of 2 cells tested (Holm-corrected); the median "
        "difference from IPv4's is −1.40 %."
    )
    assert "can't be compared" in ip_sentence(ip_cells([None], effect=float("nan")), overall(None, None, None))


def claim_rows(*verdicts, **columns):
    table = pd.DataFrame({"claim": list("abcd"), "verdict": verdicts})
    defaults = {"statement": [f"Claim {name}." for name in "ABCD"], "kind": "ratio", "value": 2.0, "runs": 8}
    return table.assign(**(defaults | columns))


def test_claims_are_counted_and_compared_where_both_methods_can_tell():
    ours = claim_rows("reproduced", "reproduced", "not reproduced", "not testable")
    text = "Of the paper's 4 claims 2 are reproduced here, 1 is not, and 1 can't be tested"
    assert findings.claims_sentence(ours) == f"{text} with these data."
    other = claim_rows("not reproduced", "reproduced", "not testable", "reproduced")
    assert findings.claims_sentence(ours, ("exbench", other)) == (
        f"{text}; none of the 2 tested in both studies holds only with the published method (study exbench)."
    )
    published = other.assign(verdict="reproduced")
    assert findings.claims_sentence(ours, ("exbench", published)) == (
        f"{text}; 1 holds only with the published method (study exbench) and so is the emulation's, not TCP's, such as "
        "“Claim C”."
    )
    none = other.assign(verdict="not testable")
    assert findings.claims_sentence(ours, ("x", none)) == f"{text}; none could be tested in the study x too."
    assert "names none" in findings.claims_sentence(None)


def test_in_the_published_methods_own_study_the_roles_are_swapped():
    ours = claim_rows("reproduced", "reproduced", "not reproduced", "not testable")
    sound = claim_rows("not reproduced", "not reproduced", "reproduced", "reproduced", value=[2.0, 1.0, 9.0, 9.0])
    assert findings.claims_sentence(ours, ("ours", sound), swapped=True).endswith(
        "; 2 hold only with the published method, as here, and so are the emulation's, not TCP's, such as “Claim B”."
    )


def test_the_example_is_the_claim_whose_values_are_the_most_times_apart():
    both = claim_rows(*["not reproduced"] * 4, value_other=[1.9, 4.0, 0.5, 1.0])
    assert findings.telling_example(both[:1]) == "Claim A."
    # C's value is four times the other one.
    assert findings.telling_example(both) == "Claim C."
    # Of A, B and D, all twice or half, the first counts if none has more runs.
    assert findings.telling_example(both.assign(value_other=[4.0, 1.0, 1.9, 4.0])) == "Claim A."
    assert findings.telling_example(both.assign(value_other=[4.0, 1.0, 1.9, 4.0], runs=[8, 8, 8, 9])) == "Claim D."
    # A test's p, a value of zero, a missing one and a statement too long for the sentence are no example.
    for change in ({"kind": "no_difference"}, {"value": 0.0}, {"value_other": None}, {"statement": "word " * 15}):
        assert findings.telling_example(both.assign(**change)) is None


def test_validity_is_counted():
    runs = tidy_tables.synthetic_study(SCENARIOS[2:3], ["reno"])["runs"]
    checks = pd.DataFrame({"check": ["cca", "idle_rtt", "new_check"], "failed": [1.0, 2.0, 1.0]})
    assert findings.validity_words(runs, checks) == "All 10 runs passed every check"
    runs.loc[:1, "valid"] = False
    assert findings.validity_words(runs, checks) == (
        "8 of 10 runs are valid, and the other 2 failed the checks of the idle path's RTT (2), the CCA that ran (1) "
        "and others"
    )
    assert findings.validity_words(runs, checks[2:]) == (
        "8 of 10 runs are valid, and the other 2 failed the check of new check"
    )
    runs["valid"] = False
    assert findings.validity_words(runs, checks).startswith("No run of 10 is valid; failed were the checks of the idle")


def test_realised_loss_is_over_the_packets_that_reached_the_link():
    runs = tidy_tables.synthetic_study(SCENARIOS[:1], ["reno"])["runs"]
    runs["packets_sent"], runs["queue_drops"], runs["link_drops"] = 1500, 500, 11
    assert findings.loss_words(runs) == ["the links dropped 1.100 % where 1 % was set, of 10,000 packets"]
    assert findings.loss_words(runs[:0]) == []
    many = pd.concat([runs.assign(loss_configured_percent=rate) for rate in (1.0, 1.2, 2.0)])
    assert findings.loss_words(many) == ["the links dropped at worst 1.100 % where 2 % was set, of 30,000 packets"]


def test_lowest_rtt_is_held_against_the_path():
    runs = pd.DataFrame({"scenario": ["a", "a", "b"], "rtt_min_ms": [20.3, 20.1, 100.0], "rtt_path_ms": [20, 20, 100]})
    assert findings.rtt_words(runs) == ["the lowest RTT in each scenario is at most 0.10 ms above the empty path's"]
    assert findings.rtt_words(runs[2:]) == ["the lowest RTT is within 0.01 ms of the empty path's"]
    early = runs.assign(rtt_min_ms=[19.0, 19.0, 100.0])
    assert findings.rtt_words(early) == ["the lowest RTT in each scenario is −1.00 to 0.00 ms off the empty path's"]


@pytest.mark.parametrize("name", ["real_shape", "small", "all_ccas", "one_of_each", "nothing_valid", "two_methods"])
def test_short_sentences_of_every_study(name, request):
    import write_report

    built = request.getfixturevalue(name)
    outline = built.page_outline()
    tables = write_report.read_tables(built.page_inputs(), outline)
    other = ("other-method", tables.other_claims) if tables.other_claims is not None else None
    found = sentences(tables, outline.design, 0.05, other)
    topics = ["Speed", "Price", *(["IP version"] if name != "one_of_each" else [])]
    topics += ["Claims", "Trust"] if name in ("real_shape", "two_methods") else ["Trust"]
    assert [finding.topic for finding in found] == topics
    for finding in found:
        assert len(finding.text.split()) <= 55, finding.text
        assert finding.text.endswith(".")
        assert finding.text[0].isupper() or finding.text[0].isdigit()
        assert "×" not in finding.text
        assert not re.search(r"\b(nan|inf|None)\b", finding.text)
    if name == "nothing_valid":
        assert [finding.text[:15] for finding in found[:3]] == ["No run is valid"] * 3
        assert found[-1].text.startswith("No run of 24 is valid")
