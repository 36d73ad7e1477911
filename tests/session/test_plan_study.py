"""The number of replications that `make plan` calculates, from pilot runs with known truth."""

import csv
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tidy_tables
from drawn_documents import write_documents
from inference.paired_comparison import Family, compare
from inference.sample_size import pairs_needed_in_family
from inference.settings import SETTINGS
from run_tables.metrics import METRICS
from run_tables.resolution import RESOLVED
from session import plan_study
from session.needed_replications import (
    CCA_PAIRS,
    FEW,
    IP_VERSIONS,
    NO_PILOT,
    NO_SPREAD,
    NO_VALUE,
    ONE_MEASUREMENT,
    ONE_PILOT,
    TOO_MANY,
    TWO_KINDS,
    Difference,
    family_sizes,
    needed_replications,
)
from session.pilot_runs import Pilot, pilot_runs, same_conditions
from study_files import study as studies

GOODPUT = METRICS[0]
SCENARIO = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))
CCAS = ["reno", "cubic"]
THREE = Difference(3.0, "%")
#: Of the logarithms' differences within a pair.
SPREAD = 0.04


def study(**changes):
    scenario = {"id": SCENARIO["scenario"].iloc[0], "link": {"rate_mbps": 10}}
    config = {"study": "known", "ccas": CCAS, "ip_versions": ["ipv4", "ipv6"], "scenarios": [scenario]}
    return studies.resolve(config | changes, "known.yaml")


def pilot(replications, draw, others=1.0):
    """Return pilot runs whose goodput is 100 Mbit/s times the exponential of ``draw(n)`` and of a part that pairs share."""
    runs = tidy_tables.synthetic_study(SCENARIO, CCAS, replications=replications)["runs"]
    shared = dict(enumerate(np.random.default_rng(9).normal(0, 0.2, replications), start=1))
    own = draw(len(runs)) if callable(draw) else np.full(len(runs), draw)
    return runs.assign(goodput_mbps=100 * np.exp(runs["replication"].map(shared) * others + own), valid=True)


def normal(seed):
    rng = np.random.default_rng(seed)
    return lambda n: rng.normal(0, SPREAD / math.sqrt(2), n)


def planned(runs, asked=THREE, **changes):
    return list(needed_replications(study(**changes), runs, asked, (GOODPUT,)))


def test_comparisons_and_their_tests_are_those_of_the_report():
    assert family_sizes(study()) == {IP_VERSIONS: 2 * 4, CCA_PAIRS: 2 * 4}
    assert family_sizes(study(ccas=["reno", "cubic", "bbr"])) == {IP_VERSIONS: 3 * 4, CCA_PAIRS: 2 * 3 * 4}
    assert family_sizes(study(ip_versions=["ipv4"])) == {CCA_PAIRS: 4}
    assert family_sizes(study(ip_versions=["ipv4"], ccas=["reno"])) == {}
    cells = [(one.compared, one.cell) for one in planned(None)]
    assert cells == [
        (IP_VERSIONS, "reno"), (IP_VERSIONS, "cubic"), (CCA_PAIRS, "reno - cubic, ipv4"), (CCA_PAIRS, "reno - cubic, ipv6"),
    ]  # fmt: skip


def share_found(pairs, drawn=800):
    """Return the share of simulated studies in which the report's test finds a true difference of 3 %."""
    rng, found = np.random.default_rng(7), 0
    family = Family(SETTINGS["confidence"], SETTINGS["significance"], family_sizes(study())[IP_VERSIONS])
    for _ in range(drawn):
        shared = rng.normal(0, 0.2, pairs)
        a, b = (100 * np.exp(shared + rng.normal(mean, SPREAD / math.sqrt(2), pairs)) for mean in (math.log(1.03), 0))
        found += compare(a, b, GOODPUT.scale, "%", family).tested()["p"] * family.tests <= family.significance
    return found / drawn


@pytest.mark.slow
def test_asked_number_has_the_promised_power():
    """A true difference of 3 % is found in 80 % of studies with the number of replications calculated from a large pilot."""
    (first, *_) = planned(pilot(1500, normal(1)))
    assert first.low <= first.needs <= first.high and first.high - first.low <= 4
    # Three standard errors of a share of 80 % in 800; a whole number of pairs has up to 82 %.
    assert share_found(first.needs) == pytest.approx(SETTINGS["power"], abs=0.045)
    assert share_found(first.needs * 6 // 10, drawn=300) < 0.6


@pytest.mark.slow
def test_interval_holds_the_true_number():
    """It does so in 95 % of pilots of eight replications."""
    args = SETTINGS["power"], SETTINGS["significance"], "ratio", 8
    truth = pairs_needed_in_family(SPREAD, 3.0, *args)
    found = [one for seed in range(100) for one in planned(pilot(8, normal(seed)))]
    inside = [one.low <= truth <= (one.high or math.inf) for one in found if one.needs]
    # Of normal pilots one in a hundred looks as if it had two kinds of runs.
    assert 385 < len(inside) <= len(found) == 400
    assert np.mean(inside) == pytest.approx(0.95, abs=0.04)


def test_what_pairs_share_costs_nothing():
    """The seed's effect is common to both runs of a pair, and cancels out in every contrast."""
    apart, together = (
        [one.needs for one in planned(pilot(20, normal(3), others=others))] for others in (0.0, 1.0)
    )  # fmt: skip
    assert apart == together


def test_a_smaller_difference_needs_more():
    needs = [planned(pilot(20, normal(4)), Difference(size, "%"))[0].needs for size in (10, 5, 2, 1)]
    assert needs == sorted(needs) and needs[0] < needs[-1]


def repeated(runs):
    """Return runs that are equal in every metric with a known resolution."""
    return runs.assign(**{metric: 1.0 for metric in RESOLVED if metric in runs and metric != "goodput_mbps"})


def of_kind(runs, kind, asked=THREE):
    """Return the first comparison of a kind, and the text about comparisons of that kind."""
    found = planned(runs, asked)
    (one, *_) = [one for one in found if one.kind == kind]
    return one, " ".join(plan_study.reason_words(found))


def test_cells_without_a_number_say_why():
    one, words = of_kind(None, NO_PILOT)
    assert (one.pairs, one.needs) == (0, None) and "4 of 4 comparisons have no pair of valid pilot runs" in words
    one, words = of_kind(pilot(1, normal(1)), ONE_PILOT)
    assert (one.pairs, one.needs) == (1, None) and "one pair of pilot runs" in words
    one, words = of_kind(pilot(4, normal(1)), FEW)
    assert one.needs and one.low < one.needs < one.high and "4 comparisons have fewer than six pairs" in words
    one, words = of_kind(repeated(pilot(5, 0.0, others=0.0)), ONE_MEASUREMENT)
    assert one.needs is None and "repeat one measurement" in words
    one, words = of_kind(pilot(5, 0.0), NO_SPREAD)
    assert one.needs is None and "no spread" in words
    one, words = of_kind(pilot(5, 0.0, others=0.0), NO_SPREAD)
    assert one.needs is None and "repeat one measurement" not in words
    one, words = of_kind(pilot(5, normal(1)).assign(goodput_mbps=math.nan), NO_VALUE)
    assert one.needs is None and "4 of 4 comparisons have pilot runs without a value of the metric" in words
    one, words = of_kind(pilot(10, normal(2)), TOO_MANY, Difference(0.001, "%"))
    assert one.needs is None and "need more than 10,000 replications" in words


def test_bimodal_cells_have_no_number():
    runs = pilot(10, normal(2))
    collapsed = (runs["ip_version"] == "ipv6") & (runs["cca"] == "reno") & (runs["replication"] > 8)
    runs["goodput_mbps"] = runs["goodput_mbps"].where(~collapsed, runs["goodput_mbps"] / 4)
    one, words = of_kind(runs, TWO_KINDS)
    assert (one.compared, one.cell, one.needs) == (IP_VERSIONS, "reno", None)
    assert "pilot runs of two kinds" in words and "2 of 10 pairs lie apart" in words


def test_invalid_runs_are_no_pilot():
    runs = pilot(6, normal(2))
    assert {one.kind for one in planned(runs.assign(valid=False))} == {NO_PILOT}
    runs.loc[(runs["ip_version"] == "ipv6") & (runs["replication"] == 6), "valid"] = False
    assert [one.pairs for one in planned(runs)] == [5, 5, 6, 5]


def test_a_difference_in_the_metrics_own_unit():
    runs = pilot(12, normal(6))
    for one in planned(runs, Difference(2, "Mbit/s")):
        side = runs[(runs["ip_version"] == "ipv4") & (runs["cca"] == "reno")]
        if one.compared == IP_VERSIONS and one.cell == "reno":
            assert one.effect == pytest.approx(100 * 2 / side["goodput_mbps"].mean())
    assert planned(runs, Difference(2, "ms")) == []
    assert {one.effect for one in planned(runs, None) if one.compared == IP_VERSIONS} == {1.0}
    assert {one.effect for one in planned(runs, None) if one.compared == CCA_PAIRS} == {5.0}


@pytest.mark.parametrize("text", ["2", "0 %", "-1 %", "2 percent", "nan %", "2 % 3", "1e3 %", "%"])
def test_a_difference_that_is_none_gets_one_sentence(text):
    with pytest.raises(plan_study.PlanError, match="allowed: a number above 0 with its unit"):
        plan_study.difference_of(text)


def call(capsys, tmp_path, monkeypatch, *arguments, text=None):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.yaml").write_text(
        text or "study: known\nccas: [reno, cubic]\nscenarios: [{id: a, link: {rate_mbps: 10}}]\n"
    )
    status = plan_study.main(["known.yaml", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--metric", "speed"], "METRIC is speed; allowed: goodput, rtt, loss, retransmits."),
        (["--metric", "loss", "--difference", "2 %"], "DIFFERENCE is 2 %; allowed with METRIC=loss: points."),
        (["--metric", "rtt", "--difference", "2 Mbit/s"], "DIFFERENCE is 2 Mbit/s; allowed with METRIC=rtt: % or ms."),
        (["--from", "nowhere"], "FROM: nowhere: not a results folder, because workflow/study.json is missing"),
        (["--from", "with", "space"], "several separated by spaces (only a single path may contain spaces)"),
    ],
)
def test_bad_input_gets_one_sentence(capsys, tmp_path, monkeypatch, arguments, sentence):
    status, out, err = call(capsys, tmp_path, monkeypatch, *arguments)
    assert (status, out) == (1, "") and sentence in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"scenarios": 1}', '{"scenarios": [{"id": "a"}], "ccas": ["reno"], "ip_versions": ["ipv4"]}']
)  # fmt: skip
def test_a_folder_with_another_form_of_study_is_refused_or_passed_over(capsys, tmp_path, monkeypatch, content):
    file = tmp_path / "results/other/workflow/study.json"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    status, out, err = call(capsys, tmp_path, monkeypatch, "--from", "results/other")
    assert (status, out) == (1, "") and "FROM: results/other: not a results folder" in err and err.count("\n") == 1
    status, out, _ = call(capsys, tmp_path, monkeypatch)
    assert status == 0 and "results/other" not in out


def test_a_study_that_compares_nothing(capsys, tmp_path, monkeypatch):
    text = "study: known\nccas: [reno]\nip_versions: [ipv4]\nscenarios: [{id: a, link: {rate_mbps: 10}}]\n"
    status, _, err = call(capsys, tmp_path, monkeypatch, text=text)
    assert status == 1 and "known compares neither IP versions nor CCAs" in err


def test_without_pilot_runs_it_says_how_to_get_some(capsys, tmp_path, monkeypatch):
    status, out, _ = call(capsys, tmp_path, monkeypatch)
    assert status == 0
    assert "known has no pilot runs." in out and "replications=6" in out and "have no pair of valid pilot runs" in out
    with (tmp_path / "results/known-plan.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["kind"] for row in rows} == {NO_PILOT} and len(rows) == 4 * 4


def test_half_of_the_comparisons_is_the_median_of_both_tables():
    needed = [
        replace(one, needs=needs, low=needs, high=needs)
        for one, needs in zip(planned(None), (6, 9, 20, 40), strict=True)
    ]
    (first, second), half = plan_study.summary(needed)[1:], plan_study.steps_of(study(), needed)[1]
    column = plan_study.summary(needed)[0].index("median")
    assert (first[column], second[column], half[:2]) == ("6", "20", ("9", "half of the comparisons"))


def test_cost_grows_with_replications(tmp_path):
    known = study()
    needed = planned(pilot(12, normal(6)), Difference(1, "%"))
    head, *rows = plan_study.cost_rows(known, needed, tmp_path, tmp_path)
    replications, runs = (
        [int(row[head.index(name)].replace(",", "")) for row in rows] for name in ("replications", "runs")
    )
    assert runs == [4 * number for number in replications] and replications == sorted(replications)
    assert max(one.needs for one in needed) in replications and max(one.high for one in needed) in replications
    shown = [int(row[head.index("shown")].split()[0]) for row in rows]
    assert shown[-1] == len(needed) and shown == sorted(shown)


def rows_of_cost(planned_study, needed, folder):
    head, *rows = plan_study.cost_rows(planned_study, needed, folder, folder)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_only_the_studys_own_runs_count_as_existing(tmp_path):
    """Documents of CCAs or replications that the study doesn't have (any more) don't count as its runs."""
    for run in (
        "a/reno/ipv4/1",
        "a/vegas/ipv4/1",
        "a/vegas/ipv6/1",
        "a/reno/ipv4/40",
        "a/reno/ipv4/x",
        "b/reno/ipv4/1",
    ):
        file = tmp_path / "known" / "runs" / f"{run}.json.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    small = study(scenarios=[{"id": "a", "link": {"rate_mbps": 10}}], replications=2)
    assert rows_of_cost(small, [], tmp_path)[0]["of these missing"].startswith("7 runs, ")


def test_as_set_in_the_study_is_the_study_itself(tmp_path):
    """Scenarios may have different numbers of replications, or continue until they are precise enough."""
    scenarios = [{"id": name, "link": {"rate_mbps": 10}} for name in "ab"]
    own = study(scenarios=[scenarios[0], scenarios[1] | {"replications": 50}], replications=5)
    first = rows_of_cost(own, [], tmp_path)[0]
    assert (first["replications"], first["runs"]) == ("5 to 50", str(4 * 55))
    rule = {"until": {"goodput_percent": 1}, "at_least": 10, "at_most": 40}
    first = rows_of_cost(study(scenarios=scenarios, replications=rule), [], tmp_path)[0]
    assert (first["replications"], first["runs"]) == ("10 to 40", str(8 * 40))


def test_an_exam_that_alternates_ip_versions_needs_two_replications_for_a_pair(tmp_path):
    exam = study(replications=20) | {"exam": {"ip_versions": "alternate"}}
    (one, *_) = planned(pilot(20, normal(6)))
    rows = rows_of_cost(exam, [one], tmp_path)
    assert one.needs > 10 and rows[0]["shown"] == "0 of 1"
    (enough,) = [row for row in rows if row["enough for"] == "all comparisons with a number"]
    assert (enough["replications"], enough["runs"], enough["shown"]) == (
        str(2 * one.needs),
        str(4 * one.needs),
        "1 of 1",
    )


def test_scenarios_are_recognised_by_their_conditions():
    known, other = study(), study(study="other", seed=5)
    other["scenarios"][0]["id"] = "another-name"
    assert same_conditions(known, other) == {"another-name": known["scenarios"][0]["id"]}
    other["scenarios"][0]["link"] = other["scenarios"][0]["link"] | {"rate_mbps": 11}
    assert same_conditions(known, other) == {}


def test_no_runs_no_pilot(tmp_path):
    assert pilot_runs(study(), {tmp_path: study()}) == Pilot()


def test_needs_of_the_plan_are_sorted_by_hunger():
    rows = plan_study.hungriest(planned(pilot(12, normal(6))))
    assert pd.Series([int(row[5]) for row in rows[1:]]).is_monotonic_decreasing


def kernels_study(**changes):
    """Return a study of one scenario on the image's kernel and on an older one, with the same seeds."""
    paths = [{"id": name, "link": {"rate_mbps": 10}, "traffic": {"duration_s": 5}} for name in ("newest", "older")]
    older = paths[1] | {"kernel": {"base": "6.1"}, "seeds_of": "newest"}
    return study(ip_versions=["ipv4"], scenarios=[paths[0], older], replications=2) | changes


def pilot_folder(tmp_path, of_study):
    folder = tmp_path / "results" / of_study["study"]
    write_documents(of_study, folder / "runs", studies.run_specification, studies.runs, seed=1, invalid=0, failing=0)
    return folder


def test_runs_on_another_kernel_are_no_pilot(tmp_path):
    both = kernels_study()
    folder = pilot_folder(tmp_path, both)
    runs = pilot_runs(both, {folder: both}).runs
    assert runs.groupby("scenario").size().to_dict() == {"newest": 4, "older": 4}
    without = both | {"study": "other", "scenarios": both["scenarios"][:1]}
    only_older = both | {"scenarios": both["scenarios"][1:]}
    assert pilot_runs(without, {folder: only_older}).runs is None


def test_runs_of_another_definition_are_no_pilot(tmp_path):
    """A mix has no definition itself, but its CCAs may have definitions."""

    def mix(beta):
        return study(
            ccas=["mine+reno"], cca_definitions={"mine": {"base": "cubic", "parameters": {"beta": beta}}},
            scenarios=[{"id": "two", "flows": 2, "link": {"rate_mbps": 10}, "traffic": {"duration_s": 5}}], replications=1,
        )  # fmt: skip

    first, second = mix(600), mix(700)
    folder = pilot_folder(tmp_path, first)
    assert len(pilot_runs(first, {folder: first}).runs) == 2
    found = pilot_runs(second, {folder: first})
    assert found.runs is None and not found.others
