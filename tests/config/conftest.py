"""A small study for all tests of configuration."""

import pytest


@pytest.fixture
def small():
    """A study with only the required keys, and a second scenario; changes affect only the test."""
    scenarios = [{"id": "near"}, {"id": "far", "link": {"delay_ms": 100}}]
    return {"study": "small", "ccas": ["reno", "cubic"], "scenarios": scenarios}
