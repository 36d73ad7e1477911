"""Words of templates and captions that only some studies may have: they depend on a condition, or are in a topic that has it."""

import re
from pathlib import Path

import pytest

from page_sentences import WORDS

ROOT = Path(__file__).resolve().parents[2]
TOPICS = ROOT / "workflow/scripts/topics"
#: Topic -> words that all studies with it have.
OF_TOPIC = {
    "multipath": {r"\bMPTCP\b", r"\btunnels?\b"},
    "failover": {r"\bMPTCP\b"},
    "subflows": {r"\bMPTCP\b"},
    "policers": {r"\bpolicers?\b"},
    "chain": {r"\bbottlenecks in (a row|series)\b"},
    "short_flows": {r"\bweb objects?\b"},
    "real_time": {r"\breal-time streams?\b"},
    "ip_version": {r"\bIPv6\b", r"\bIPv4\b"},
    # They quote what they are compared with.
    "published": set(WORDS),
    "claims": set(WORDS),
    "fairness": {r"\bin a mix\b|\bmixes\b"},
    # The guest's own packets on any link.
    "calibration": {r"\bIPv6\b"},
    # Programs run in a guest only.
    "repetitions": {r"\bguest kernel\b"},
}
TEMPLATES = sorted(
    path
    for pattern in (
        "workflow/scripts/topics/*/section.html.j2",
        "workflow/scripts/topics/*/captions/*.rst",
        "report/sections/*.j2",
    )
    for path in ROOT.glob(pattern)
)


def unconditional(template):
    """Return the unconditional text of a template."""
    text, depth, kept = re.sub(r"{#.*?#}", "", template, flags=re.DOTALL), 0, []
    for part in re.split(r"({%.*?%})", text, flags=re.DOTALL):
        if re.match(r"{%-?\s*if\b", part):
            depth += 1
        elif re.match(r"{%-?\s*endif\b", part):
            depth -= 1
        elif depth == 0:
            kept.append(re.sub(r"{[{%].*?[%}]}|<[^>]*>", " ", part, flags=re.DOTALL))
    assert depth == 0
    return " ".join(" ".join(kept).split())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_words_of_some_studies_stand_behind_a_condition(path):
    text = unconditional(path.read_text(encoding="utf-8"))
    allowed = OF_TOPIC.get(path.relative_to(TOPICS).parts[0], set()) if path.is_relative_to(TOPICS) else set()
    assert [pattern for pattern in WORDS if pattern not in allowed and re.search(pattern, text)] == []


def test_conditions_are_seen():
    assert (
        unconditional("a {% if x %}b {% if y %}c{% endif %}{% else %}d{% endif %} e {{ f }} <i>g</i>{# h #}") == "a e g"
    )
