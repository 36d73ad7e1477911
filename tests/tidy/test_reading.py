"""Broken or foreign tables are refused by name; odd names survive."""

import pytest

import tidy_tables
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.scenario_table import SCENARIOS


@pytest.fixture
def tidy(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["reno"], replications=2)
    return tidy_tables.write_tidy(study, tmp_path)


def test_names_that_look_like_numbers_or_nothing_stay_text(tmp_path):
    labels = ["007", "nan", "NA"]
    scenarios = tidy_tables.grid(delays_ms=(10, 20, 50), losses_percent=(0,), flows=(1,)).assign(label=labels)
    study = tidy_tables.synthetic_study(scenarios, ["nv"], replications=1)
    assert list(read_runs(tidy_tables.write_tidy(study, tmp_path) / "runs.csv")["scenario_label"].unique()) == labels


def test_flows_are_numbered_wholly(tidy):
    flows = read_flows(tidy / "flows.csv")
    assert flows[["replication", "flow"]].dtypes.eq(int).all()
    path = tidy / "flows.csv"
    path.write_text(path.read_text().replace(",ipv4,1,0,", ",ipv4,1,0.5,", 1))
    with pytest.raises(ValueError, match="line 2: flow is '0.5'; expected a whole number"):
        read_flows(path)


def test_numbers_keep_every_digit(tidy):
    header, first = (line.split(",") for line in (tidy / "runs.csv").read_text().splitlines()[:2])
    assert repr(float(read_runs(tidy / "runs.csv")["goodput_mbps"][0])) == first[header.index("goodput_mbps")]


@pytest.mark.parametrize(
    "old, new, message",
    [
        (",goodput_mbps", ",throughput", "no column goodput_mbps"),
        (",True,", ",maybe,", "line 2: valid is 'maybe'; expected True or False"),
        (",ipv4,1,", ",ipv4,one,", "line 2: replication is 'one'; expected a number"),
        (",ipv4,1,", ",ipv4,,", "line 2: replication is 'nan'; expected a whole number"),
        (",ipv4,2,", ",ipv4,1,", "the run .*/reno/ipv4/1 occurs twice"),
    ],
)
def test_broken_tables_are_refused_with_file_and_value(tidy, old, new, message):
    path = tidy / "runs.csv"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as error:
        read_runs(path)
    assert "runs.csv" in str(error.value)


def test_empty_truncated_and_foreign_files_are_refused(tidy, tmp_path):
    path = tmp_path / "runs.csv"
    header = (tidy / "runs.csv").read_bytes().splitlines(keepends=True)[0]
    for content, message in (
        (b"", "not a CSV table"),
        (header, "contains no run"),
        (b"\x1f\x8b\x08\x00\xff\xfe", "runs.csv"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_runs(path)


def test_missing_rate_is_missing_not_zero(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=None)
    study = tidy_tables.synthetic_study(scenarios, ["reno"], replications=1)
    table = read_table(tidy_tables.write_tidy(study, tmp_path) / "scenarios.csv", SCENARIOS)
    assert table["rate_mbps"].isna().all()
