"""Runs of a CCA other than the requested one are found, and compared with what they appear to be."""

from types import SimpleNamespace

import pandas as pd
import pytest

import tidy_tables
from rule_files import carry_out
from run_tables.reading import read_table
from run_tables.run_keys import CELL, RUN
from topics.claims import find_mislabelled
from topics.claims.tables import MISLABELLED, MISLABELLED_METRICS

CCAS = ["reno", "cubic", "bbr", "vegas", "dctcp"]


def resolved(name, refused=False, **changes):
    """Return the relevant part of a resolved scenario."""
    return {
        "id": name, "label": name, "link": {"delay_ms": {"forward": 10, "reverse": 10}}, "flows": 1,
        "transport": {"cca_set_by": "sysctl", "restricted_ccas": "refused" if refused else "allowed"},
    } | changes  # fmt: skip


class Study:
    """Two scenarios, the second of which refuses vegas and dctcp: their runs there are cubic's."""

    def __init__(self):
        near = tidy_tables.grid(delays_ms=(10,), losses_percent=(0,), flows=(1,))
        grid = pd.concat([near.assign(scenario="near", label="4"), near.assign(scenario="refusing", label="4 refused")])
        self.tables = tidy_tables.synthetic_study(grid.reset_index(drop=True), CCAS, replications=3)
        self.runs = self.tables["runs"]
        self.flows = self.tables["flows"].assign(cca_observed=self.runs["cca"])
        self.scenarios = [resolved("near"), resolved("refusing", refused=True)]

    def refuse(self, cca="vegas", observed="cubic", scenario="refusing", rows=slice(None)):
        """Let another CCA run, with the metrics of `observed` in the same scenario."""
        refused = self.runs.index[(self.runs["scenario"] == scenario) & (self.runs["cca"] == cca)][rows]
        for row in refused:
            run = self.runs.loc[row]
            key = [scenario, observed, run["ip_version"], run["replication"]]
            twin = self.runs[self.runs[RUN].eq(key).all(axis=1)].iloc[0]
            self.runs.loc[row, list(MISLABELLED_METRICS)] = twin[list(MISLABELLED_METRICS)]
        self.runs.loc[refused, "valid"] = False
        self.runs.loc[refused, "invalid_because"] = f"cca: iperf3: {observed}, expected {cca} on every connection"
        self.flows.loc[refused, "cca_observed"] = observed
        return self

    def mean(self, metric, *cell):
        return self.runs.loc[self.runs[CELL].eq(list(cell)).all(axis=1), metric].mean()

    def first(self, cca="vegas"):
        """The row of the first run that was refused this CCA."""
        return self.runs.index[(self.runs["scenario"] == "refusing") & (self.runs["cca"] == cca)][0]

    def find(self, folder, programs=()):
        """Write the tables, run the script's main function, and read its output."""
        self.tables["provenance"]["study"]["scenarios"] = self.scenarios
        tidy = tidy_tables.write_tidy(self.tables, folder)
        self.flows.to_csv(tidy / "flows.csv", index=False)
        inputs = {"runs": tidy / "runs.csv", "flows": tidy / "flows.csv", "provenance": tidy / "provenance.json"}
        outputs = SimpleNamespace(mislabelled=folder / "mislabelled.csv")
        carry_out(find_mislabelled.__name__, SimpleNamespace(**inputs), outputs, {"programs": programs})
        return read_table(folder / "mislabelled.csv", MISLABELLED)


@pytest.fixture
def study():
    return Study()


def test_flows_of_groups_with_a_cca_of_their_own_are_not_mislabelled(study, tmp_path):
    """Web objects with the run's CCA beside a long flow for which the scenario requests BBR, which is not a mislabelled run."""
    own = study.flows.index[study.flows["cca"] == "reno"]
    study.flows.loc[own, ["flow_cca", "cca_observed"]] = "bbr"
    assert study.find(tmp_path).empty


def test_the_kernels_ccas_of_programs_are_not_mislabelled(study, tmp_path):
    """A program nginx:reno sends by reno, and it isn't iperf3 that says so."""
    own = study.flows.index[study.flows["cca"] == "vegas"]
    study.flows.loc[own, "cca_observed"] = "cubic"
    assert study.find(tmp_path, programs=["vegas"]).empty and len(study.find(tmp_path)) > 0


def test_normal_runs_and_dctcp_do_not_show_up(study, tmp_path):
    assert study.find(tmp_path).empty
    assert (tmp_path / "mislabelled.csv").read_text() == ",".join(MISLABELLED.names) + "\n"


@pytest.mark.parametrize(
    ("table", "rows", "values"),
    [
        ("runs", slice(5), {"valid": False, "invalid_because": "idle-rtt: 40 ms, expected 20 ms"}),
        ("flows", slice(None), {"cca_observed": ""}),
    ],
)
def test_runs_excluded_for_another_reason_or_without_a_report_do_not_show_up(study, tmp_path, table, rows, values):
    getattr(study, table).loc[rows, list(values)] = list(values.values())
    assert study.find(tmp_path).empty


def test_refused_cca_is_set_beside_both(study, tmp_path):
    table = study.refuse().find(tmp_path)
    assert table[["scenario", "scenario_label", "cca", "observed", "ip_version"]].to_numpy().tolist() == [
        ["refusing", "4 refused", "vegas", "cubic", "ipv4"],
        ["refusing", "4 refused", "vegas", "cubic", "ipv6"],
    ]
    assert table["runs"].eq(3).all() and table["identical_runs"].eq(3).all()
    assert table["reference_scenario"].eq("near").all() and table["note"].eq("").all()
    for row in table.to_dict("records"):
        for metric in MISLABELLED_METRICS:
            assert row[metric] == pytest.approx(study.mean(metric, "refusing", "cubic", row["ip_version"]))
            assert row[f"{metric}_asked"] == pytest.approx(study.mean(metric, "near", "vegas", row["ip_version"]))
            assert row[f"{metric}_observed"] == row[metric]


def test_identical_means_to_the_last_digit(study, tmp_path):
    study.refuse()
    study.runs.loc[study.first(), "goodput_mbps"] *= 1 + 1e-12
    table = study.find(tmp_path)
    assert table["identical_runs"].tolist() == [2, 3]
    assert 0 < table["difference_percent"][0] < 1e-9
    assert table["difference_percent"][1] == 0
    study.runs.loc[study.first(), "goodput_mbps"] *= 0.8
    assert study.find(tmp_path)["difference_percent"][0] == pytest.approx(20)


def test_ccas_that_agree_to_the_last_digit_are_named(study, tmp_path):
    study.refuse("vegas").refuse("dctcp")
    table = study.find(tmp_path)
    assert dict(zip(table["cca"], table["same_as"], strict=True)) == {"vegas": "dctcp", "dctcp": "vegas"}
    study.runs.loc[study.first(), "rtt_mean_ms"] *= 1 + 1e-12
    table = study.find(tmp_path)
    assert table[table["ip_version"] == "ipv4"]["same_as"].eq("").all()
    assert table[table["ip_version"] == "ipv6"]["same_as"].ne("").all()


def test_replications_without_a_twin_are_not_compared(study, tmp_path):
    study.refuse(rows=slice(0, 1))
    study.runs.loc[study.first("cubic"), "valid"] = False
    table = study.find(tmp_path)
    assert table["identical_runs"].tolist() == [0]
    assert table["difference_percent"].isna().all()


def test_some_runs_of_a_cell_and_several_ccas(study, tmp_path):
    study.refuse(rows=slice(0, 1))
    study.refuse("dctcp", "reno", rows=slice(0, 1))
    flow = study.flows.loc[[study.flows.index[-1]]].copy()
    study.flows.loc[study.flows.index[-1], "cca_observed"] = "reno"
    study.runs.loc[study.runs.index[-1], "valid"] = False
    study.flows = pd.concat([study.flows, flow], ignore_index=True)  # one flow of two ran as asked
    table = study.find(tmp_path)
    assert table[["cca", "observed", "ip_version", "runs"]].to_numpy().tolist() == [
        ["vegas", "cubic", "ipv4", 1],
        ["dctcp", "reno", "ipv4", 1],
        ["dctcp", "dctcp+reno", "ipv6", 1],
    ]
    assert table["note"][2] == (
        "no valid run of dctcp+reno in the same scenario to compare with run by run; no valid run of dctcp+reno in near"
    )


def test_study_without_a_reference(study, tmp_path):
    study.scenarios = [resolved("near", flows=2), resolved("refusing", refused=True)]
    table = study.refuse().find(tmp_path)
    assert table["reference_scenario"].eq("").all()
    assert table["note"].eq("no scenario of the study differs from this one in restricted_ccas only").all()
    assert table["goodput_mbps_asked"].isna().all()
    for row in table.to_dict("records"):  # the CCA that ran did so under its own name, too
        mean = study.mean("goodput_mbps", "refusing", "cubic", row["ip_version"])
        assert row["goodput_mbps_observed"] == pytest.approx(mean)
    assert table["identical_runs"].eq(3).all()


def test_scenario_that_allows_them_is_found_out_too(study, tmp_path):
    table = study.refuse(scenario="near").find(tmp_path)
    assert table["scenario"].tolist() == ["near", "near"]
    assert table["reference_scenario"].eq("").all()


def test_broken_flows_stop(study, tmp_path):
    study.flows = study.flows.drop(columns="cca_observed")
    with pytest.raises(ValueError, match="flows.csv: no column cca_observed"):
        study.find(tmp_path)
