"""The last words of a call say how many runs are excluded, and why the first is."""

import csv

import pytest

from session.excluded_runs import excluded_words


@pytest.fixture
def told(tmp_path):
    """A function that returns the sentence about runs, given the reason of each; a valid run has none."""

    def words(*reasons):
        (tmp_path / "mine/tidy").mkdir(parents=True, exist_ok=True)
        with (tmp_path / "mine/tidy/runs.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["scenario", "cca", "ip_version", "replication", "valid", "invalid_because"])
            for number, reason in enumerate(reasons, 1):
                writer.writerow(["near", "p:a", "ipv4", number, not reason, reason])
        return excluded_words(tmp_path / "mine")

    return words


def test_nothing_is_said_of_valid_runs_or_without_a_table(told, tmp_path):
    assert told("", "") == "" and excluded_words(tmp_path / "other") == ""


def test_the_first_reason_is_told_and_shown_safely(told):
    assert told("", "programs: \x1b[31mno") == (
        "1 of 2 runs of mine is valid, and results leave out the rest; near/p:a/ipv4/2: programs: \\x1b[31mno"
    )
    assert told("", "", "x").startswith("2 of 3 runs of mine are valid")
    assert told("a" * 1000, "b") == f"no run of mine is valid, so there are no results; near/p:a/ipv4/1: {'a' * 397}..."
