"""The opening sentences of every kind of study are short and complete."""

import re

import pytest

from report_page import write_report


@pytest.mark.parametrize("name", ["real_shape", "small", "all_ccas", "one_of_each", "nothing_valid", "two_methods"])
def test_short_sentences_of_every_study(name, request):
    _, inputs, params = request.getfixturevalue(name).page_rule()
    findings = write_report.page_context(inputs, params)["findings"]
    first = {"one_of_each": ["Speed"], "nothing_valid": ["Differences"], "small": ["Conditions", "Alike"]}
    topics = first.get(name, ["BBR", "Vegas", "Westwood", "CUBIC"])
    topics += ["Claims", "Trust"] if name in ("real_shape", "two_methods") else ["Trust"]
    assert [finding.topic for finding in findings] == topics
    for finding in findings:
        assert len(finding.text.split()) <= (80 if finding.section == "differences" else 55), finding.text
        assert finding.text.endswith(".")
        assert finding.text[0].isupper() or finding.text[0].isdigit()
        assert "×" not in finding.text
        assert not re.search(r"\b(nan|inf|None)\b", finding.text)
    if name == "nothing_valid":
        assert findings[0].text.startswith("No run is valid")
        assert findings[-1].text.startswith("No run of 24 is valid")
