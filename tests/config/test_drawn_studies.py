"""The language of study files, tested by drawing: every file is either refused in sentences or runs as written."""

import itertools
import json
import os

import pytest
import yaml
from hypothesis import HealthCheck, event, given, settings

from experiment.host_options import HOST_OPTIONS
from experiment.link_options import LINK_OPTIONS
from experiment.specification import RunSpecification
from publishing.result_checks.received_study import check_specification
from session.run_cost import job_memory_mb, job_runtime_min, run_time_s, wall_limit_s
from simulator.plan import plan
from study_files import study as study_files
from study_files import study_variation
from study_files.study_design import StudyDesign
from study_strategies import studies
from topics.outline import study_outline

SETTINGS = settings(
    max_examples=int(os.environ.get("DRAWN_STUDIES", 300)),
    deadline=5000,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def resolved(config, folder):
    """Return the resolved study of a file, or None if the file is refused as it should be."""
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8", errors="surrogatepass")
    try:
        return study_files.resolve(study_files.load(path), path)
    except study_files.StudyError as error:
        lines = str(error).split("\n")
        assert 1 <= len(lines) <= 6
        for line in lines:
            assert line.startswith(f"{path}: ") and line.endswith(".") and line.isprintable() and len(line) <= 1000, (
                line
            )
        return None


@pytest.mark.slow
@SETTINGS
@given(studies())
def test_a_study_is_refused_in_sentences_or_holds_together(tmp_path_factory, config):
    study = resolved(config, tmp_path_factory.getbasetemp())
    event("refused" if study is None else "accepted")
    if study is None:
        return
    assert study_files.resolve(study, "again") == study, "what was completed is complete"
    study_outline(StudyDesign(study))
    for run in itertools.islice(study_files.runs(study), 20):
        check_run(study, *run)


def check_run(study, scenario_id, cca, ip_version, replication):
    """Compare the specification of one run with the study, and evaluate everything that a run evaluates."""
    specification = json.loads(
        json.dumps(study_files.run_specification(study, scenario_id, cca, ip_version, replication))
    )
    assert check_specification(specification, "received") == specification, "make verify takes what the workflow makes"
    run = RunSpecification(specification)
    # Each CCA of a mix has a flow, and no flow has another.
    assert {run.flow_cca(flow) for flow in range(run.flows)} == set(cca.split("+"))
    scenario = next(scenario for scenario in study["scenarios"] if scenario["id"] == scenario_id)
    drawn = study_variation.drawn(scenario, specification["seed"])
    asked = {
        key: value for key, value in drawn.items() if key not in ("label", "replications", "seeds_of", "variation")
    }
    carried_out = specification["scenario"]
    left_out = {
        "link": {"timeline": [], "trace": None, "reverse_trace": None, "policer": None, "reverse_policer": None}
        | {one.name: one.none for one in LINK_OPTIONS},
        "hosts": {"qdisc": "none"},
        "transport": {"ecn": "off"} | {one.name: one.default for one in HOST_OPTIONS},
    }
    assert asked == {"groups": []} | carried_out | {
        name: defaults | carried_out[name] for name, defaults in left_out.items()
    }
    numbers = [run.expected_s, run.rtt_longest_ms, run.packet_bytes, run.receive_buffer_bytes, run.send_buffer_bytes]
    assert all(number >= 0 for number in numbers)
    assert len(run.idle_rtts_ms) and len(run.pairs) == scenario["hosts"]["pairs"]
    conditions = {**study_files.largest_conditions(study, scenario_id), "cca": cca}
    assert 100 <= job_memory_mb(conditions) < 64_000
    assert wall_limit_s(conditions) > 0 and job_runtime_min(run_time_s(conditions)) > 0
    if run.platform.startswith("ns3"):
        assert plan(run)
