"""Drawn studies with features that only real runs have: each sentence of the page against the study's settings, and relations between
columns."""

import pytest
import yaml

from column_relations import broken
from featured_studies import CHOICES, drawn
from page_checks import check_content
from page_sentences import check_sentences

#: With all tests, and with the long ones.
FEW, MANY = 1, sum(map(len, CHOICES.values()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed < FEW else [pytest.mark.long]) for seed in range(MANY)]
)
def test_a_page_says_what_its_study_did_and_columns_what_they_count(fresh, seed):
    config, study = drawn(seed)
    (fresh.folder / "drawn.yaml").write_text(yaml.safe_dump(config))
    fresh.snakemake("--cores", "1", "--configfile", "drawn.yaml")
    results = fresh.folder / "results" / config["study"]
    check_content(results / "report.html")
    for page in ("report.html", "details.html"):
        check_sentences(study, results / page)
    assert broken(results / "tidy") == []


def test_draws_reach_all_choices():
    scenarios = [scenario for seed in range(MANY) for scenario in drawn(seed)[0]["scenarios"]]
    for key, choices in CHOICES.items():
        assert {str(scenario[key]) for scenario in scenarios} == {str(choice) for choice in choices}
