"""Content that has passed validation isn't compared with its schema again; other content always is."""

import json

import pytest

from study_files import forms_in_order, study_validation
from study_files.study_validation import problems_of_form

SCHEMA = {"type": "object", "properties": {"runs": {"type": "integer", "allowed": "a whole number"}}}


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """The content that is compared with a schema, in a folder in which Snakemake has run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    contents, validator = [], study_validation.validator_class()

    class Counting:
        def __init__(self, schema):
            self.validator = validator(schema)

        def iter_errors(self, content):
            contents.append(content)
            return self.validator.iter_errors(content)

    monkeypatch.setattr(study_validation, "validator_class", lambda: Counting)
    return contents


def test_a_form_in_order_is_compared_once(compared):
    for content in ({"runs": 1}, {"runs": 1}, {"runs": 2}, {"runs": 1}):
        assert problems_of_form(content, SCHEMA) == []
    assert compared == [{"runs": 1}, {"runs": 2}]


def test_with_another_schema_it_is_compared_again(compared):
    assert problems_of_form({"runs": 1}, SCHEMA) == []
    other = {"type": "object", "properties": {"runs": {"type": "string", "allowed": "a text"}}}
    assert problems_of_form({"runs": 1}, other) != []


@pytest.mark.parametrize("runs", ["1", True, float("nan")])
def test_a_form_with_a_problem_is_never_remembered(compared, runs):
    assert problems_of_form({"runs": 1}, SCHEMA) == []
    assert problems_of_form({"runs": runs}, SCHEMA) == problems_of_form({"runs": runs}, SCHEMA) != []
    assert len(compared) == 3


@pytest.mark.parametrize("content", ["", "{", "{}", "[[1], 2]"])
def test_a_damaged_memory_is_none(compared, content):
    forms_in_order.MEMORY.write_text(content)
    assert problems_of_form({"runs": 1}, SCHEMA) == []
    assert len(compared) == 1
    assert len([key for key in json.loads(forms_in_order.MEMORY.read_text()) if isinstance(key, str)]) == 1


def test_nothing_is_written_where_snakemake_has_not_been(compared, tmp_path):
    (tmp_path / ".snakemake").rmdir()
    assert problems_of_form({"runs": 1}, SCHEMA) == []
    assert list(tmp_path.iterdir()) == []
