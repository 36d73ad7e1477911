"""Sentences that are true only of some studies: the preconditions of each, against drawn studies and an independent second list."""

import re
from collections import defaultdict

import numpy as np
import pytest

import drawn_studies
from featured_studies import drawn
from page_sentences import PRESUMED
from report_page.method_statements import NETWORK, SEEDS
from report_page.metric_words import WORDS
from report_page.statements import ALWAYS, Facts, Statement, every, known, none, said, some
from report_page.study_facts import facts_of_design
from report_page.threats import THREATS
from study_files.study import StudyError, resolve
from study_files.study_design import StudyDesign
from study_files.study_features import FEATURES, features_of, is_without_chance

pytestmark = pytest.mark.slow

CATALOGUE = [
    *SEEDS, *NETWORK, *(one for words in WORDS.values() for one in words.definition), *(one for group in THREATS.values() for one in group),
]  # fmt: skip
#: Fragments that begin or end a sentence with others.
PARTS = ("and ", "with ", "simulated by ns-3")
CHAIN = {"bottlenecks": [{"rate_mbps": 10}, {"rate_mbps": 10}], "cross_flows": 1}


def starts(text):
    """Return the start positions of a statement's sentences."""
    return [one for one in re.split(r"(?<=[.]) (?=[A-Z])", text) if not one.startswith(PARTS)]


def pattern_of(sentence):
    """Return the longest pattern in the second list with which a sentence begins."""
    text = re.sub(r"{\w+}", "xx", sentence)
    return max((pattern for pattern in PRESUMED if re.match(pattern, text)), key=len, default=None)


@pytest.fixture(scope="module")
def studies():
    """Resolved studies that differ in all features."""
    found = [drawn(seed)[1] for seed in range(150)]
    for seed in range(200):
        try:
            found.append(resolve(drawn_studies.drawn_config(seed), "drawn.yaml"))
        except StudyError:
            continue
    chain, bell = {"id": "a", "topology": "chain", "chain": CHAIN}, {"id": "b", "link": {"rate_mbps": 10}}
    cable = bell | {"id": "c", "topology": "cable"}
    others = (
        [chain], [chain | {"chain": CHAIN | {"cross_cca": "bbr"}}], [chain, bell], [chain, cable], [chain, bell, cable],
        [bell | {"variation": {"rtt_percent": 5}}], [bell | {"link": {"rate_mbps": None}, "queue": {"packets": 9}, "traffic": {"bitrate_mbps": 5}}],
        [bell, bell | {"id": "d", "platform": "host"}],
        [bell, bell | {"id": "e", "traffic": {"protocol": "udp", "block_bytes": 1000, "bitrate_mbps": 5}}],
        *([bell, bell | {"id": "f", "platform": "ns3:3.44"}] for _ in range(9)),
    )  # fmt: skip
    study = {"study": "more", "ccas": ["reno"]}
    programs = {"echo": {"server": "python3 {port}", "client": "python3 {server} {seconds}"}}
    groups = [{"name": "ours", "program": "echo", "stop_s": 5}, {"name": "tcp", "stop_s": 5}]
    with_programs = study | {"programs": programs, "scenarios": [bell | {"flows": groups}, bell | {"id": "g"}]}
    return [
        *found,
        *(resolve(study | {"scenarios": some}, "more.yaml") for some in others),
        resolve(with_programs, "more.yaml"),
        *(
            resolve(
                study
                | {"ccas": ccas, "programs": {"echo": programs["echo"] | {"protocol": kind}}, "scenarios": [bell]},
                "more.yaml",
            )
            for kind in ("udp", "tcp")
            for ccas in (["reno", "echo"], ["echo"])
        ),
    ]


def facts_of(study, rng):
    """Return the facts of a study, with values that follow from drawn runs."""
    design, tests, kernels = StudyDesign(study), rng.random() < 0.5, rng.integers(0, 3)
    kernels = 0 if all(scenario["platform"].startswith("ns3") for scenario in study["scenarios"]) else kernels
    alone = sum(map(is_without_chance, study["scenarios"]))
    values = defaultdict(lambda: "xx") | facts_of_design(design).values
    values |= {
        "one_kernel": kernels == 1, "several_kernels": kernels == 2, "tests": tests, "ccas_tested": tests and len(design.ccas) > 1, "few": rng.random() < 0.5,
        "power": design.ip_versions_compared, "equal_cells": rng.integers(0, 2), "chanceless": f"{alone} xx" if alone else "",
        "bbr_above_all": ", BBR above all" if "bbr" in design.ccas_that_run else "",
    }  # fmt: skip
    return Facts(study["scenarios"], values)


def test_each_sentence_is_in_the_second_list_too():
    assert [one for statement in CATALOGUE for one in starts(statement.text) if pattern_of(one) is None] == []


def test_no_sentence_is_said_of_a_study_of_which_it_is_not_true(studies):
    rng, wrong, said_of = np.random.default_rng(39), set(), defaultdict(set)
    for number, study in enumerate(studies):
        facts = facts_of(study, rng)
        for statement in CATALOGUE:
            if statement.when.holds(facts):
                said_of[statement].add(number)
                wrong |= {
                    (study["study"], one)
                    for one in starts(statement.said(facts))
                    if not PRESUMED[pattern_of(one)](study)
                }
    assert wrong == set()
    # Each is said of some, and what presumes something not of all.
    assert [one.text for one in CATALOGUE if not said_of[one]] == []
    always = [one.text for one in CATALOGUE if len(said_of[one]) == len(studies) and one.when is not ALWAYS]
    assert always == []


def test_features_are_of_some_studies_and_not_of_all(studies):
    for name in FEATURES:
        found = [name in features_of(study["scenarios"])["every"] for study in studies]
        assert any(name in features_of(study["scenarios"])["some"] for study in studies) and not all(found), name


def test_loss_on_one_path_is_random_loss():
    paths = {"by": "mptcp", "paths": 2, "path_loss_percent": [3, 0]}
    study = {
        "study": "s",
        "ccas": ["reno"],
        "scenarios": [{"id": "a", "topology": "cable", "multipath": paths}, {"id": "b"}],
    }
    scenarios = resolve(study, "s.yaml")["scenarios"]
    assert [FEATURES["random loss"](scenario) for scenario in scenarios] == [True, False]


def test_preconditions_by_hand():
    plain, lossy = drawn_pair()
    both, one = Facts([plain, lossy], {"tests": 0}), Facts([lossy], {"tests": 3})
    assert [some("random loss").holds(facts) for facts in (both, one)] == [True, True]
    assert [every("random loss").holds(facts) for facts in (both, one)] == [False, True]
    assert [none("random loss").holds(facts) for facts in (both, one)] == [False, False]
    assert [known("tests").holds(facts) for facts in (both, one)] == [False, True]
    assert (some("random loss") & ~known("tests")).holds(both) and (every("random loss") | known("tests")).holds(one)
    sentences = (Statement("Lost are {tests}.", some("random loss")), Statement("Never.", none("random loss")))
    assert said(sentences, one) == "Lost are 3."
    assert str((some("random loss") & ~known("tests")).words) == "some random loss and not (known tests)"


def drawn_pair():
    """Return two resolved scenarios, the second with random loss."""
    link = {"rate_mbps": 10}
    config = {
        "study": "x",
        "ccas": ["reno"],
        "scenarios": [{"id": "a", "link": link}, {"id": "b", "link": link | {"loss_percent": 1}}],
    }
    return resolve(config, "x.yaml")["scenarios"]
