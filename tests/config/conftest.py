"""A small study for all tests of configuration."""

import copy

import pytest

SMALL = {
    "study": "small",
    "ccas": ["reno", "cubic"],
    "scenarios": [{"id": "near"}, {"id": "far", "link": {"delay_ms": 100}}],
}


@pytest.fixture
def small():
    """A study with only what must be given, and a second scenario; changes stay in the test."""
    return copy.deepcopy(SMALL)
