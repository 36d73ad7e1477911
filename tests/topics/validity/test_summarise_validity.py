"""Valid and excluded runs are counted, and contradictions stop the step."""

from types import SimpleNamespace

import pytest

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from topics.validity import summarise_validity
from topics.validity.tables import CHECK_COUNTS, VALIDITY


@pytest.fixture
def study():
    scenarios = tidy_tables.grid(delays_ms=(10,), flows=(1,))
    return tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], replications=3)


def fail(study, row, check):
    """Make the run in `row` fail `check`."""
    runs, checks = study["runs"], study["checks"]
    run = runs.loc[row, ["scenario", "cca", "ip_version", "replication"]]
    of_run = (checks[list(run.index)] == run).all(axis=1) & (checks["check"] == check)
    checks.loc[of_run, ["ok", "observed"]] = [False, "broken"]
    runs.loc[row, "valid"] = False


def summarise(study, folder):
    tidy = tidy_tables.write_tidy(study, folder)
    inputs, outputs = (
        SimpleNamespace(**{name: place / f"{name}.csv" for name in names})
        for place, names in ((tidy, ("runs", "checks")), (folder, ("validity", "checks")))
    )
    carry_out(summarise_validity.__name__, inputs, outputs, {})
    return read_table(outputs.validity, VALIDITY), read_table(outputs.checks, CHECK_COUNTS)


def test_counts_by_cell_and_by_check(study, tmp_path):
    for row, check in ((0, "cca"), (0, "idle-rtt"), (1, "cca")):
        fail(study, row, check)
    validity, checks = summarise(study, tmp_path)
    assert validity["total"].eq(3).all()
    assert validity["excluded"].tolist() == [2, *[0] * 7]
    assert validity["reasons"][0] == "cca (2); idle-rtt (1)"
    by_name = checks.set_index("check")
    assert by_name.loc["cca", ["passed", "failed"]].tolist() == [22, 2]
    assert by_name.loc["cca", "observed_example"] == "broken"
    assert by_name.loc["qdisc", ["passed", "failed"]].tolist() == [24, 0]
    assert checks["check"].tolist() == [name for name, *_ in tidy_tables.SYNTHETIC_CHECKS]


@pytest.mark.parametrize(
    ("row", "failed", "valid", "message"),
    [
        (4, ["cca"], True, "ipv6/2 is valid but failed a check"),
        (0, [], False, "ipv4/1 is excluded but failed no check"),
    ],
)
def test_verdict_that_contradicts_the_checks_stops(study, tmp_path, row, failed, valid, message):
    for check in failed:
        fail(study, row, check)
    study["runs"].loc[row, "valid"] = valid
    with pytest.raises(ValueError, match=f"reno/{message}"):
        summarise(study, tmp_path)


def test_run_without_checks_stops(study, tmp_path):
    study["checks"] = study["checks"][study["checks"]["replication"] != 3]
    with pytest.raises(ValueError, match="reno/ipv4/3 has no check"):
        summarise(study, tmp_path)


def test_checks_of_an_unknown_run_stop(study, tmp_path):
    study["runs"] = study["runs"].iloc[1:]
    with pytest.raises(ValueError, match=r"checks.csv: the run .*/reno/ipv4/1 is not in"):
        summarise(study, tmp_path)
