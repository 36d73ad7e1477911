"""The opening sentences of every kind of study are short and complete."""

import re

import pytest

from report_page import write_report


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "small",
        "all_ccas",
        "one_of_each",
        "nothing_valid",
        "two_methods",
        pytest.param("real_shape", marks=pytest.mark.long),
    ],
)
def test_short_sentences_of_every_study(name, request):
    _, inputs, params = request.getfixturevalue(name).page_rule()
    findings = write_report.page_context(inputs, params)["findings"]
    first = {"one_of_each": ["Speed"], "nothing_valid": ["Differences"]}
    last = [] if name == "one_of_each" else ["IP version"]
    last += ["Claims", "Trust"] if name in ("real_shape", "two_methods") else ["Trust"]
    opening = findings[: -len(last)]
    assert [finding.topic for finding in findings[-len(last) :]] == last
    assert (
        [finding.topic for finding in opening] == first[name]
        if name in first
        else {one.section for one in opening} == {"differences"}
    )
    for finding in findings:
        assert len(finding.text.split()) <= (95 if finding.section == "differences" else 55), finding.text
        assert finding.text.endswith(".")
        assert finding.text[0].isupper() or finding.text[0].isdigit()
        assert "×" not in finding.text
        assert not re.search(r"\b(nan|inf|None(?! of \d))\b", finding.text)
    if name == "nothing_valid":
        assert findings[0].text.startswith("No run is valid")
        assert findings[-1].text.startswith("No run of 24 is valid")
