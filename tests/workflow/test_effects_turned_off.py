"""An effect that is turned off behind the testbed's back makes the run invalid, key by key of the schema."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

import turned_off
from study_files import study as study_files

WAYS = [
    pytest.param(key, off, id=f"{key}-{number}")
    for key, offs in turned_off.all_off().items()
    for number, off in enumerate(offs)
]
#: Of each kind of proof one: a probe, a counter of the traffic, a socket, the second reading.
SAMPLE = (
    "link.rate_mbps-2",
    "link.jitter_ms-1",
    "link.loss_percent-0",
    "queue.packets-0",
    "transport.send_buffer_bytes-0",
    "queue.target_ms-0",
)


def test_every_key_of_the_schema_has_an_entry():
    known = {*turned_off.all_off(), *turned_off.EXEMPT}
    assert [key for key in turned_off.keys_of_the_schema() if key not in known] == []
    outdated = known - {*turned_off.keys_of_the_schema(), "multipath.outage"}
    assert outdated == set()


@pytest.mark.slow
@pytest.mark.parametrize(("key", "off"), [way for way in WAYS if way.id in SAMPLE])
def test_an_effect_that_is_missing_is_noticed(key, off, testbed, tmp_path):
    assert_noticed(off, testbed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("key", "off"), [way for way in WAYS if way.id not in SAMPLE])
def test_any_effect_that_is_missing_is_noticed(key, off, testbed, tmp_path):
    assert_noticed(off, testbed, tmp_path)


def assert_noticed(off, testbed, tmp_path):
    """Execute the scenario unchanged, and with the effect turned off: the first run is valid, the second fails the check."""
    sound = carried_out(off, testbed, tmp_path, Path(__file__).resolve().parents[2] / "workflow")
    assert failed(sound) == {}
    copy = tmp_path / "workflow"
    for package in ("experiment", "testbed", "simulator"):
        source = Path(__file__).resolve().parents[2] / "workflow" / package
        shutil.copytree(source, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    guest = copy / "testbed/guest.py"
    text, main = guest.read_text().split('\n\nif __name__ == "__main__":')
    guest.write_text(f'{text}\n{off.guest()}\n\nif __name__ == "__main__":{main}')
    assert off.check in failed(carried_out(off, testbed, tmp_path, copy))


def carried_out(off, testbed, tmp_path, workflow):
    config = {
        "study": "off",
        "replications": 1,
        "ccas": [off.cca],
        "ip_versions": ["ipv4"],
        "scenarios": [off.scenario],
    }
    study = study_files.resolve(config, "off")
    (run,) = study_files.runs(study)
    output = tmp_path / "run.json.gz"
    output.unlink(missing_ok=True)
    done = testbed(study_files.run_specification(study, *run), output, workflow=workflow)
    document = json.loads(gzip.decompress(output.read_bytes()))
    assert "failure" not in document, (document["failure"], done.stderr[-2000:])
    return document


def failed(document):
    return {one["name"]: one["observed"] for one in document["verdict"]["checks"] if not one["ok"]}
