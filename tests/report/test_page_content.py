"""The page as a whole, read without a browser: its sections, its rows, its excluded runs."""

import re

import pandas as pd
import pytest

from page_checks import page_text
from report_page.exclusion_words import excluded_words

SECTIONS = [
    "differences", "speed", "ccas", "ip-version", "delay-and-loss", "variance", "theory", "published", "claims",
    "method", "validity", "threats", "provenance", "statistics",
]  # fmt: skip


# Study -> the sections that its design has nothing for, and its findings.
NO_CLAIMS = {"published", "claims"}


STUDIES = {
    "real_shape": (set(), 7),
    "two_methods": (set(), 7),
    "small": (NO_CLAIMS, 3),
    "all_ccas": (NO_CLAIMS, 7),
    "nothing_valid": (NO_CLAIMS, 3),
    "one_of_each": (NO_CLAIMS | {"differences", "ip-version", "variance"}, 2),
}


def test_style_loads_nothing(small):
    style = re.search(r"<style>(.*?)</style>", small.page.read_text(), re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_its_sections_in_order_and_no_empty_number(name, request):
    absent, sentences = STUDIES[name]
    built = request.getfixturevalue(name)
    html = built.page.read_text()
    names = re.findall(r'<section id="([^"]+)"', html)
    assert [name for name in names if name in SECTIONS] == [name for name in SECTIONS if name not in absent]
    # A tolerance may be "None; the paper gives the bound.", and a sentence may begin with "None of the paper's" or "None of 4 cells".
    for page in (built.page, built.report):
        assert not re.search(r"\bNone\b(?!; | in | of the paper| of \d)", page_text(page))
    findings = re.search(r'<ol class="findings">(.*?)</ol>', built.report.read_text(), re.DOTALL).group(1)
    assert findings.count("<li>") == sentences


def test_every_cell_has_its_row(real_shape):
    html = real_shape.page.read_text()
    rows = re.findall(r'<tr><th scope="row">\w+</th><td>IPv[46]', html)
    assert len(rows) == 12 * 6 * 2 * 4


def test_excluded_runs_are_listed_with_their_reason(real_shape):
    runs = pd.read_csv(real_shape.folder / "tidy" / "runs.csv", keep_default_na=False)
    html = real_shape.page.read_text()
    excluded = runs[~runs["valid"]]
    assert len(excluded) > 3
    for run in excluded.to_dict("records"):
        name = "/".join(str(run[key]) for key in ("scenario", "cca", "ip_version", "replication"))
        assert f'<code>{name}</code></th><td class="words">{run["invalid_because"]}' in html
    assert f"{len(runs) - len(excluded)} of 720 runs are valid" in html


def test_the_sentence_about_excluded_runs_names_their_scenarios():
    runs = pd.DataFrame([{"scenario": "slow", "cca": "cubic", "valid": n > 1, "invalid_because": ""} for n in range(4)])
    checks = pd.DataFrame([{"check": "delay", "failed": 2.0}])
    scenarios = pd.DataFrame([{"scenario": "slow", "label": "1"}])
    words = excluded_words(runs.assign(excluded_by="instrument"), checks, scenarios)
    assert words.endswith("; means, intervals and tests leave out the excluded runs, 2 with CUBIC in scenario 1.")
    # The scorecard of an exam compares the examined CCA's failed runs.
    words = excluded_words(runs.assign(excluded_by="crash"), checks, scenarios, "cubic")
    assert words.endswith(
        "; means and intervals leave out the excluded runs, 2 with CUBIC in scenario 1, but the scorecard counts those that failed because "
        "of CUBIC as worse."
    )
    for excluded_by, examined in (("instrument", "cubic"), ("crash", "reno")):
        assert "scorecard" not in excluded_words(runs.assign(excluded_by=excluded_by), checks, scenarios, examined)


def test_same_inputs_same_pages(small):
    before = small.report.read_bytes(), small.page.read_bytes()
    small.write_page()
    assert (small.report.read_bytes(), small.page.read_bytes()) == before


def test_one_ip_version_is_no_comparison(one_of_each):
    html = one_of_each.page.read_text()
    assert "<dt>IP version</dt><dd>IPv6</dd>" in html
    assert 'id="ip-version"' not in html
    assert "IPv4" not in re.sub(r'data-gzip="[^"]*"', "", html)
