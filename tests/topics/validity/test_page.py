"""The section on validity explains the consequence of runs that failed a check."""

import pandas as pd

from topics.validity.section import failed_checks
from wording.check_words import meaning_of_failure


def test_failed_checks_come_with_their_meaning():
    checks = pd.DataFrame({"check": ["cca", "rate", "qdiscs"], "failed": [1, 3, 0]})
    assert failed_checks(checks) == [
        {"check": "rate", "failed": 3, "meaning": meaning_of_failure("rate")},
        {"check": "cca", "failed": 1, "meaning": meaning_of_failure("cca")},
    ]


def test_the_page_of_a_study_without_valid_runs_says_it(nothing_valid):
    page = nothing_valid.page.read_text()
    failed = pd.read_csv(nothing_valid.table("checks")).query("failed > 0")["check"]
    assert len(failed) and all(f"<strong>{name}</strong>" in page for name in failed)
    assert meaning_of_failure(failed.iloc[0]) in page
