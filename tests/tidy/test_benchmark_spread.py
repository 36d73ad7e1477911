"""The benchmark of the spread under a real clock uses valid runs only, and names the others."""

import copy
import gzip
import importlib.util
import json

import pytest


@pytest.fixture(scope="module")
def spread(root):
    specification = importlib.util.spec_from_file_location("spread", root / "benchmarks" / "spread.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def contents(recorded):
    """Return the bytes of documents of a ping-pong that took the given number of us; failing runs are given by their failed check."""

    def written(*runs):
        documents = []
        for rtt_us, failed in runs:
            document = copy.deepcopy(recorded("exchanges-ipv4"))
            document["traffic"][0]["round_trip"]["rtt_us"] = rtt_us
            checks = [{"name": name, "ok": False, "expected": "", "observed": ""} for name in failed]
            document["verdict"] = {"valid": not failed, "checks": checks}
            documents.append(gzip.compress(json.dumps(document).encode(), mtime=0))
        return documents

    return written


def row_of(lines, quantity):
    (row,) = [line for line in lines if f"| {quantity} |" in line]
    return [cell.strip() for cell in row.strip("|").split("|")][3:]


def test_numbers_are_of_valid_runs_alone(spread, contents):
    runs = contents((10.0, []), (12.0, []), (900.0, ["cpu_saturation", "clock"]), (800.0, ["clock"]))
    lines = spread.rows("TCP", "host", runs)
    assert lines[0] == (
        "| TCP | host | 4 runs, no two with the same bytes; 2 valid; cpu_saturation failed in 1; clock failed in 2 | | | |"
    )
    assert row_of(lines, "round trip, us") == ["11.000", "1.414", "10.000 to 12.000"]


def test_one_valid_run_has_no_spread_and_none_no_numbers(spread, contents):
    assert row_of(spread.rows("TCP", "host", contents((10.0, []), (90.0, ["clock"]))), "round trip, us")[1] == "–"
    lines = spread.rows("TCP", "host", contents((90.0, ["clock"]), (95.0, ["clock"])))
    assert lines == ["| TCP | host | 2 runs, no two with the same bytes; none valid; clock failed in 2 | | | |"]
    all_valid, *_ = spread.rows("TCP", "uml", contents((10.0, []), (10.0, [])))
    assert "| 2 runs, the same bytes in 2; all valid |" in all_valid
