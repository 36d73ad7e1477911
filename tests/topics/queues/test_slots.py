"""Scenarios that differ in one key each have one row and one mark each, whatever the key."""

import pandas as pd
import pytest

from one_key_apart import base, one_key_apart
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_rows import application_columns, rows_of_scenarios
from run_tables.tidy_tables import RUNS
from study_files.study_design import StudyDesign
from tidy_tables import completed
from topics.queues.describe_queues import describe_queues
from topics.queues.plot_queues import plot_queues
from topics.queues.topic import _settings
from topics.queues.variants import variants_of, with_variants

CCAS = ("reno", "cubic")
PANEL, MARK = ["setting", "ip_version"], ["variant", "cca", "ecn"]


@pytest.fixture(params=["plain", *(pytest.param(name, marks=pytest.mark.long) for name in ("managed", "changing"))])
def study(request):
    """A base, and a scenario for each key that may differ on one bottleneck and one path."""
    apart = one_key_apart(request.param)
    one_path = [one for key, one in apart.items() if not key.startswith(("topology", "multipath", "queue.discipline"))]
    return [base(request.param), *one_path]


@pytest.mark.slow
def test_each_scenario_is_a_row_and_a_mark(study):
    rows = pd.DataFrame(rows_of_scenarios(study, {}))
    runs = [
        {
            "scenario": scenario["id"], "scenario_label": scenario["label"], "cca": cca, "ip_version": "ipv4", "replication": 1,
            "valid": True, "goodput_mbps": 9.0, "ideal_percent": 90.0, "rtt_above_ms": 5.0, "packets_sent": 1000, "queue_drops": 10,
            "jain_index": 1.0, "platform": scenario["platform"], **application_columns(scenario),
            **{name: row[name] for name in ("discipline", "ecn", "flows", "rate_mbps")},
        }
        for scenario, row in zip(study, rows.to_dict("records"), strict=True)
        for cca in CCAS
    ]  # fmt: skip
    settings = _settings(StudyDesign({"scenarios": study}))["settings"]
    cells = describe_queues(completed(pd.DataFrame(runs), RUNS), completed(rows, SCENARIOS), settings, 0.95)
    wanted = {(scenario["id"], cca) for scenario in study for cca in CCAS}
    assert set(cells[["scenario", "cca"]].itertuples(index=False, name=None)) == wanted and len(cells) == len(wanted)
    marks = with_variants(cells)
    assert not marks.duplicated([*PANEL, *MARK]).any()
    for _, panel in marks.groupby(PANEL):
        names = list(variants_of(panel).values())
        assert len(set(names)) == len(names)
    drawn = plot_queues(cells).data
    assert set(drawn[["scenario", "cca"]].itertuples(index=False, name=None)) == wanted
