"""A claims file is complete and right, or each mistake is reported in one sentence."""

import copy
import re

import pytest

import claim_runs
from run_tables import metrics
from study_files import study_schema
from topics.claims import claims_file as claims
from topics.claims.claim_measures import TAKE_WORDS, TIME_WORDS
from topics.claims.claim_quantities import FLOW_QUANTITIES, RELATIONS, RUN_QUANTITIES, SERIES_QUANTITIES
from topics.claims.claim_scenarios import NUMBERS, TEXTS

THRESHOLD = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}
ORDERING = {"kind": "ordering", "ccas": ["bbr"], "place": "highest", "requirement": {"above": 50}}
RATIO = {
    "kind": "ratio", "numerator": {"ccas": ["bbr"]}, "denominator": {"ccas": ["reno"]},
    "each": ["scenario"], "combine": "lowest", "requirement": {"above": 1},
}  # fmt: skip
LARGEST = {
    "kind": "largest_difference", "minuend": {"ip_versions": ["ipv4"]}, "subtrahend": {"ip_versions": ["ipv6"]},
    "at": "1", "requirement": {"above": 1},
}  # fmt: skip
CLAIMS = [
    ORDERING,
    THRESHOLD,
    RATIO,
    LARGEST,
    {"kind": "no_difference", "margin": 5, "margin_unit": "percent"},
    {"kind": "dominance", "requirement": {"above": 50}},
]
CCAS = study_schema.study_schema()["properties"]["ccas"]["items"]["joined"]
QUANTITIES = claims.claims_schema()["$defs"]["common"]["quantity"]["enum"]
LISTS = {
    "CCAS": CCAS, "QUANTITIES": QUANTITIES, "RUNS": RUN_QUANTITIES, "FLOWS": FLOW_QUANTITIES, "SERIES": SERIES_QUANTITIES,
}  # fmt: skip
# What is changed in a claim of each kind, and below it what follows the claim's name in the message.
MISTAKES = {
    "ordering": """
        {plase: highest}
            unknown key 'claims[claim-1].plase'; did you mean 'place'? Allowed here: id, section, statement, published, quantity, flows, over_time, relative_to, kind, tolerance, remark, untestable, needs_real_clock, cause, expect, scenarios, ip_versions, duration_s, ccas, among, place, places, tie_percent, requirement.
        {requirement: {over: 50}}
            unknown key 'claims[claim-1].requirement.over'; did you mean 'above'? Allowed here: above, below, at_least, at_most.
        {ccas: [cubik]}
            ccas[0] is "cubik"; did you mean 'cubic'? Allowed: one of $CCAS, or several joined by +.
        {ccas: [vegas]}
            ccas has 'vegas'; allowed: the names in the file's list: reno, cubic, bbr.
        {requirement: {above: 120}}
            requirement.above is 120; allowed: $SHARE.
        {requirement: {above: 50 %}}
            requirement.above is "50 %"; allowed: $SHARE, without its unit: 50.
        {requirement: {above: .nan}}
            requirement.above is .nan; allowed: $SHARE.
        {place: null}
            place is null; allowed: one of highest, lowest, middle.
        {places: 3}
            places is 3; allowed: less than 3, the number of CCAs in among.
        {among: [reno, cubic]}
            ccas has 'bbr'; allowed: those of among: reno, cubic.
    """,
    "threshold": """
        {quantity: throughput}
            quantity is "throughput"; did you mean 'throughput_per_stream_mbps'? Allowed: one of $QUANTITIES.
        {requirement: {above: 5, below: 4}}
            requirement is {above: 5, below: 4}; allowed: an upper bound above the lower one.
        {requirement: {at_least: 5, at_most: 1}}
            requirement is {at_least: 5, at_most: 1}; allowed: an upper bound above the lower one.
        {quantity: goodput_mbps, flows: {take: count, within: {at_least: 5, at_most: 1}}}
            flows.within is {at_least: 5, at_most: 1}; allowed: an upper bound above the lower one.
        {requirement: {replicates: 5, at_most: 9}}
            requirement is {replicates: 5, at_most: 9}; allowed: bounds, or replicates with standard_error.
        {pick: lowest, requirement: {replicates: 5, standard_error: 1}}
            pick is "lowest"; allowed with replicates: "mean", because only one value is compared.
        {requirement: {above: 5, at_least: 4}}
            requirement has two bounds on the same side; allowed: one.
        {pick: farthest}
            requirement is {above: 1}; allowed with pick farthest: a requirement with two bounds.
        {scenarios: ['3']}
            scenarios has '3'; allowed: the names in the file's list: 1, 2.
        {kind: treshold}
            kind is "treshold"; did you mean 'threshold'? Allowed: one of ordering, threshold, ratio, largest_difference, equivalence, no_difference, normality, dominance.
        {quantity: cwnd_packets}
            quantity is "cwnd_packets"; allowed with neither flows nor over_time: one of $RUNS.
        {quantity: loss_percent, flows: {take: sum}}
            quantity is "loss_percent"; allowed with flows: one of $FLOWS.
        {quantity: retransmits, over_time: {take: mean, from_percent: 50}}
            quantity is "retransmits"; allowed with over_time: one of $SERIES.
        {quantity: goodput_mbps, flows: {take: median}}
            flows.take is "median"; did you mean 'mean'? Allowed: one of mean, sum, lowest, highest, sd, variation_percent, count.
        {quantity: goodput_mbps, flows: {take: count}}
            flows is {take: "count"}; allowed: within if take is count, and only then.
        {quantity: goodput_mbps, flows: {take: sum, within: {above: 1}}}
            flows is {take: "sum", within: {above: 1}}; allowed: within if take is count, and only then.
        {quantity: goodput_mbps, flows: {cca: vegas}}
            flows.cca is "vegas"; allowed: those of ccas: bbr, cubic, reno.
        {quantity: goodput_mbps, flows: {cca: reno+cubic}}
            flows.cca is "reno+cubic"; did you mean 'cubic'? Allowed: one of $CCAS.
        {quantity: retransmits, relative_to: link}
            relative_to is "link"; allowed only with quantities in Mbit/s.
        {quantity: goodput_mbps, relative_to: total}
            relative_to is "total"; allowed without flows: link.
        {quantity: cwnd_packets, over_time: {take: mean, from_percent: 50, to_percent: 50}}
            over_time.to_percent is 50; allowed: more than from_percent, 50.
        {quantity: cwnd_packets, over_time: {take: beginnings, from_percent: 50}}
            quantity is "cwnd_packets"; allowed with over_time.take "beginnings": one of slow_start_percent, fast_recovery_percent, timeout_percent.
        {quantity: cwnd_packets, over_time: {from_percent: 20}}
            over_time.take is missing; allowed: one of mean, median, lowest, highest, spread, spread_percent, beginnings.
    """,
    "ratio": """
        {numerator: {scenarios: ['1']}}
            numerator.scenarios has 1 name, but denominator.scenarios has 2; allowed: equal numbers, because the scenarios are compared one by one.
        {each: [cca], denominator: {scenarios: ['1']}}
            numerator.ccas is given, but each has "cca"; allowed: only one of the two.
        {combine: farthest}
            requirement is {above: 1}; allowed with combine farthest: a requirement with two bounds.
        {combine: farthest, requirement: {at_least: 0, at_most: 1}}
            requirement is {at_least: 0, at_most: 1}; allowed with combine farthest: bounds above 0.
        {each: [scenario], requirement: {replicates: 5, standard_error: 1}}
            each is ["scenario"]; allowed with replicates: [], because only one value is compared.
        {each: [], numerator: {pick: lowest}, requirement: {replicates: 5, standard_error: 1}}
            numerator.pick is "lowest"; allowed with replicates: "mean", because only one value is compared.
        {numerator: {ccas: [reno]}, denominator: {ccas: [reno]}}
            numerator is the same as denominator; allowed: another.
        {quantity: goodput_mbps, flows: {}, numerator: {flows: {cca: vegas}}}
            numerator.flows.cca is "vegas"; allowed: those of ccas: bbr, cubic, reno.
    """,
    "largest_difference": """
        {at: '3'}
            at is '3'; allowed: those of minuend.scenarios: 1, 2.
        {scenarios: ['1']}
            minuend.scenarios has one name; allowed: two or more, because their differences are compared.
        {minuend: {ip_versions: [ipv6]}}
            minuend is the same as subtrahend; allowed: another.
        {subtrahend: {scenarios: ['2']}}
            minuend.scenarios has 2 names, but subtrahend.scenarios has 1; allowed: equal numbers, because the scenarios are compared one by one.
    """,
    "no_difference": """
        {ip_versions: [ipv4]}
            ip_versions is ["ipv4"]; allowed: both, because they are compared.
    """,
    "dominance": """
        {stronger: cca, weaker: cca}
            weaker is "cca", the same as stronger; allowed: another factor.
    """,
}


CASES = [
    pytest.param(claim, *case.values, id=case.id)
    for claim in CLAIMS
    for case in claim_runs.mistakes(
        MISTAKES[claim["kind"]],
        SHARE="a number from 0 to 100 (percent)",
        **{name: ", ".join(LISTS[name]) for name in LISTS},
    )
]


@pytest.mark.parametrize(("claim", "change", "message"), CASES)
def test_one_sentence_a_mistake(tmp_path, claim, change, message):
    where = "" if message.startswith("unknown key") else "claims[claim-1]."
    assert claim_runs.problem(tmp_path, claim_runs.content(claim | change)) == where + message


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("requirement", "requirement is missing; allowed: a mapping with the keys above, below, at_least, at_most."),
        (
            "id",
            "id is missing; allowed: 1 to 64 lower-case letters, digits, dots and hyphens, a letter or digit first.",
        ),
    ],
)
def test_missing_key(tmp_path, key, message):
    content = claim_runs.content(ORDERING)
    name = {"id": "0"}.get(key, content["claims"][0]["id"])
    del content["claims"][0][key]
    assert claim_runs.problem(tmp_path, content) == f"claims[{name}].{message}"


def test_scenarios_with_an_empty_range_are_refused(tmp_path):
    what = claim_runs.content(THRESHOLD)
    what["scenarios"][0]["delay_ms"] = {"at_least": 5, "at_most": 1}
    message = "scenarios[1].delay_ms is {at_least: 5, at_most: 1}; allowed: an upper bound above the lower one."
    assert claim_runs.problem(tmp_path, what) == message


def test_ids_stand_once(tmp_path):
    message = "claims[1].id is 'a' as in claims[0]; allowed: an id that no other has."
    assert claim_runs.problem(tmp_path, claim_runs.content(THRESHOLD | {"id": "a"}, ORDERING | {"id": "a"})) == message


def test_several_mistakes_are_all_named(tmp_path):
    text = claim_runs.problem(tmp_path, claim_runs.content(THRESHOLD | {"pick": "most"}, ORDERING | {"colour": "red"}))
    assert len(text.splitlines()) == 2
    assert text.startswith("unknown key 'claims[claim-2].colour'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a claims file has the keys paper, scenarios, ccas, claims."),
        ("# nothing\n", "is empty; a claims file has the keys paper, scenarios, ccas, claims."),
        ("- a\n", 'is ["a"]; allowed: a mapping with the keys paper, scenarios, ccas, claims.'),
        ("paper: {title: a\nccas: [\n", "is not valid YAML in line 2: "),
        ("ccas: [bbr]\nccas: [reno]\n", "is not valid YAML in line 2: the key 'ccas' occurs twice."),
        (claim_runs.content(), "claims is []; allowed: a list of at least one"),
    ],
)
def test_no_claims_file_at_all(tmp_path, text, message):
    problem = claim_runs.problem(tmp_path, text)
    assert problem.startswith(message)
    assert "\n" not in problem


def test_missing_file_and_foreign_bytes(tmp_path):
    with pytest.raises(claims.ClaimsError, match="can't be read .*; a claims file is a YAML file"):
        claims.load_claims(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(claims.ClaimsError, match="allowed: UTF-8 text.; a claims file is a YAML file"):
        claims.load_claims(tmp_path / "bytes.yaml")


def test_shipped_claims_are_complete(shipped):
    assert len(shipped["claims"]) >= 25
    assert len({claim["id"] for claim in shipped["claims"]}) == len(shipped["claims"])
    for claim in shipped["claims"]:
        optional = {"duration_s", "flows", "over_time", "relative_to", "expect"}
        assert set(claims.kind_schema(claim["kind"])["properties"]) - set(claim) <= optional, claim["id"]
        assert re.match(r"(5\.1, figure [3-6]|5\.2\.[13]|6)", claim["section"]), claim["id"]
        assert claim["statement"].endswith(".") and claim["tolerance"].endswith("."), claim["id"]
    sections = " ".join(claim["section"] for claim in shipped["claims"])
    for part in ("figure 3", "figure 4", "figure 5", "figure 6", "table 3", "table 5"):
        assert part in sections


def test_shipped_claims_use_every_kind_and_test_both_of_two_bounds(root):
    """The lowest of several values can't test an upper bound, and the highest can't test a lower one."""
    kinds = set()
    for path in sorted((root / "config/claims").glob("*.yaml")):
        for claim in claims.load_claims(path)["claims"]:
            kinds.add(claim["kind"])
            if len(claim.get("requirement", {})) == 2 and (claim["kind"] == "threshold" or claim.get("each")):
                assert claim.get("pick", claim.get("combine")) not in ("lowest", "highest"), (path.name, claim["id"])
    assert kinds == set(claims.claims_schema()["properties"]["claims"]["items"]["properties"]["kind"]["enum"])


def test_loading_leaves_plain_values_that_no_one_shares(shipped):
    def visit(value):
        if isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                visit(item)
        else:
            assert isinstance(value, (str, int, float, type(None)))

    visit(shipped)
    changed = copy.deepcopy(shipped)
    changed["claims"][0]["ccas"].append("x")
    assert changed["ccas"] == shipped["ccas"]
    assert changed["claims"][1] == shipped["claims"][1]


def test_schema_knows_the_same_ccas_and_metrics_as_the_study():
    definitions = claims.claims_schema()["$defs"]
    assert definitions["cca"]["enum"] == definitions["ccas"]["items"]["joined"] == CCAS
    known = {metric.column for metric in (*metrics.METRICS, metrics.RETRANSMIT_SHARE, *metrics.PUBLISHED_METRICS)}
    assert known == set(claim_runs.QUANTITIES)
    assert set(QUANTITIES) == set(RUN_QUANTITIES | FLOW_QUANTITIES | SERIES_QUANTITIES) == known | set(QUANTITIES)
    assert set(definitions["common"]["relative_to"]["enum"]) == set(RELATIONS)
    assert set(definitions["over_time"]["properties"]["take"]["enum"]) == set(TIME_WORDS)
    assert set(definitions["flows"]["properties"]["take"]["enum"]) == {*TAKE_WORDS, "count"}
    conditions = claims.claims_schema()["properties"]["scenarios"]["items"]["properties"]
    # By its own name only the expectations of a study ask for a scenario.
    assert set(conditions) == {"id", *NUMBERS, *TEXTS} - {"scenario"}
    printed = claims.claims_schema()["properties"]["paper"]["properties"]["tables"]["properties"]
    for name in ("table_3", "table_5"):
        columns = [key for key in printed[name]["properties"] if key != "remark"]
        assert columns == [metric.column for metric in metrics.PUBLISHED_METRICS]


def test_schema_forbids_unknown_keys_and_describes_every_key():
    def visit(node, where):
        if not isinstance(node, dict):
            return
        if node.get("type") == "object" and "properties" in node and where != "items":
            assert node.get("additionalProperties") is False, where
            for key, child in node["properties"].items():
                assert key in ("above", "below", "at_least", "at_most") or child.get("description"), f"{where}.{key}"
        for key, child in node.items():
            visit(child, key)

    visit(claims.claims_schema(), "claims")
