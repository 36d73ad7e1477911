"""Any two keys of the schema together are refused in a sentence, or run and tabulated, never with a traceback."""

import gzip
import json
import os

import pytest

from drawn_pairs import combinations, drawn_scenario, study_of
from run_tables.tidy_tables import TIDY_TABLES
from run_tables.tidying import tidy
from study_files import study as study_files

#: How many pairs and triples `make test-long` draws; another seed draws others.
PAIRS, TRIPLES, SEED = (
    int(os.environ.get(f"COMBINED_{name}", value)) for name, value in (("PAIRS", 200), ("TRIPLES", 60), ("SEED", 1))
)
SAMPLE = 8
DRAWN = [*combinations(SEED, PAIRS), *combinations(SEED, TRIPLES, of=3)]
#: Why a run of sound keys may be invalid: what happened in it is beside its point, and the page says so.
OF_THE_OUTCOME = {"overlap", "buffers", "streams", "datagrams", "subflows", "exit_status"}


@pytest.mark.slow
@pytest.mark.parametrize("keys", DRAWN[:SAMPLE], ids="+".join)
def test_keys_together(keys, testbed, tmp_path):
    assert_carried_out(keys, testbed, tmp_path)


#: Combinations that once ended in a traceback, or excluded sound runs.
STEP = {
    "link": {"rate_mbps": 10, "delay_ms": 5, "timeline": [{"at_s": 1, "rate_mbps": 5}]},
    "traffic": {"duration_s": 2},
    "flows": 3,
}
CALL = [{"name": "call", "application": "real-time", "stop_s": 2}]
WEB = [{"name": "w", "application": "web", "stop_s": 2, "bytes": 5000, "arrivals_per_s": 4}]
FOUND = [
    *(STEP | {"queue": {"discipline": name}} for name in ("cake", "fq_codel", "sfq", "fq_pie", "dualpi2")),
    {"traffic": {"duration_s": 2, "sample_interval_ms": 100}, "flows": CALL},
    {"link": {"rate_mbps": 10, "delay_ms": 5, "duplicate_percent": 10}, "flows": CALL},
    {
        "link": {"rate_mbps": 10, "delay_ms": 5, "trace": {"rates_mbps": [4, 8, 4], "direction": "reverse"}},
        "flows": WEB,
    },
    {
        "link": {"rate_mbps": 10, "delay_ms": 5, "trace": {"rates_mbps": [0, 10, 0, 20], "direction": "both"}},
        "queue": {"packets": 40},
        "traffic": {"duration_s": 3},
    },
    {
        "link": {"rate_mbps": 100, "delay_ms": 2, "ack_slot_ms": 5},
        "queue": {"packets": 500},
        "traffic": {"duration_s": 5},
    },
]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", FOUND)
def test_combinations_that_were_found(scenario, testbed, tmp_path):
    document = carried_out({"id": "s", "traffic": {"duration_s": 2}} | scenario, testbed, tmp_path)
    assert [one for one in document["verdict"]["checks"] if not one["ok"]] == []


@pytest.mark.long
@pytest.mark.parametrize("keys", DRAWN[SAMPLE:], ids="+".join)
def test_more_keys_together(keys, testbed, tmp_path):
    assert_carried_out(keys, testbed, tmp_path)


def assert_carried_out(keys, testbed, tmp_path):
    outcome = carried_out(drawn_scenario(keys, SEED), testbed, tmp_path)
    if outcome is not None:
        invalid = {one["name"]: one["observed"] for one in outcome["verdict"]["checks"] if not one["ok"]}
        assert not invalid.keys() - OF_THE_OUTCOME, invalid


def carried_out(scenario, testbed, tmp_path) -> dict | None:
    """Return the document of a scenario's run after making its tables; None if the study was refused in sentences."""
    try:
        study = study_files.resolve(study_of(scenario), "combined")
    except study_files.StudyError as error:
        assert "Traceback" not in str(error)
        return None
    (run,) = study_files.runs(study)
    output = tmp_path.joinpath("runs", *map(str, run)).with_suffix(".json.gz")
    output.parent.mkdir(parents=True)
    done = testbed(study_files.run_specification(study, *run), output)
    assert "Traceback" not in done.stderr, done.stderr[-3000:]
    document = json.loads(gzip.decompress(output.read_bytes()))
    assert "failure" not in document, document["failure"]
    (tmp_path / "tidy").mkdir()
    outputs = {table.name: tmp_path / table.path.removeprefix("/") for table in TIDY_TABLES}
    outputs |= {"runs_parquet": tmp_path / "tidy/runs.parquet", "provenance": tmp_path / "tidy/provenance.json"}
    without_analysis = {key: value for key, value in study.items() if key != "analysis"}
    tidy(without_analysis, [str(output)], outputs, {})
    return document
