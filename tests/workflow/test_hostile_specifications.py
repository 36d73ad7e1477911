"""A specification passed to the testbed without the workflow's checks: none of its texts is executed, and no valid run results."""

import gzip
import json

import pytest


@pytest.mark.parametrize(
    "changes",
    [
        {"cca": "reno; touch {}"},
        {"link": {"rate_mbps": "10; touch {}"}},
        {"link": {"delay_ms": {"forward": "20ms\nnetns exec h1 touch {}", "reverse": 20}}},
        {"queue": {"packets": "33\n! touch {}"}},
        {"traffic": {"bitrate_mbps": "1; touch {}"}},
        {"transport": {"cca_set_by": "$(touch {})"}},
    ],
)
def test_words_of_a_specification_are_never_commands(changes, testbed, specification, tmp_path):
    def filled(value):
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value.format(tmp_path / "pwned") if isinstance(value, str) else value

    hostile = specification(cca="reno")
    for key, value in filled(changes).items():
        if key in hostile:
            hostile[key] = value
        elif isinstance(value, dict) and key != "queue":
            hostile["scenario"][key].update(value)
        else:
            hostile["scenario"][key] = value
    hostile["scenario"]["traffic"]["duration_s"] = 1
    done = testbed(hostile, tmp_path / "run.json.gz", "--wall-limit-s", "60")
    assert list(tmp_path.rglob("pwned*")) == [], done.stderr
    # What can't be set is an error without a document, or makes a run that fails, or its checks do.
    if done.returncode:
        assert not (tmp_path / "run.json.gz").exists()
    else:
        assert json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))["verdict"]["valid"] is False
