"""Drawn studies that are really run: their documents, read by independent code, are compared with the study file."""

import gzip
import json
import tempfile
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study_files import study as study_files

pytestmark = pytest.mark.long

CCAS = ["reno", "cubic", "bbr", "vegas"]
DELAYS_MS = st.sampled_from([0.5, 2, 10, 25])
LOSSES_PERCENT = st.sampled_from([0, 0.5, 3])


def each_way(one):
    """A number for both directions, or one for each."""
    return st.one_of(one, st.fixed_dictionaries({"forward": one, "reverse": one}))


@st.composite
def files(draw):
    """Draw a study of one scenario in the form of its file, with keys in `defaults` or in the scenario."""
    pairs = draw(st.booleans())
    ccas = draw(st.lists(st.sampled_from(CCAS), min_size=1, max_size=2, unique=True))
    if not pairs and draw(st.booleans()):
        ccas = ["+".join(draw(st.lists(st.sampled_from(CCAS), min_size=2, max_size=3)))]
    parts = 2 if pairs else max(cca.count("+") + 1 for cca in ccas)
    keys = {
        "link": {
            "rate_mbps": draw(st.sampled_from([1, 5, 12.5, 40])), "delay_ms": draw(each_way(DELAYS_MS)),
            "loss_percent": draw(each_way(LOSSES_PERCENT)),
        },
        "queue": {"packets": draw(st.integers(10, 80))},
        "flows": draw(st.integers(parts, 4)),
        "traffic": {"duration_s": 3},
    }  # fmt: skip
    shared = {key: value for key, value in keys.items() if draw(st.booleans())}
    own = {key: value for key, value in keys.items() if key not in shared}
    return keys, {
        "study": "drawn", "ccas": ccas, "mixes": "ordered-pairs" if pairs else "as-listed", "ip_versions": ["ipv6"],
        "replications": 1, "defaults": shared, "scenarios": [{"id": "s", **own}], "seed": draw(st.integers(1, 999)),
    }  # fmt: skip


def both_ways(value):
    return value if isinstance(value, dict) else {"forward": value, "reverse": value}


@settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_what_ran_is_what_the_file_says(testbed, drawn):
    keys, config = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.yaml")
        path.write_text(yaml.safe_dump(config))
        study = study_files.resolve(study_files.load(path), path)
        (_, cca, _, _) = run = list(study_files.runs(study))[-1]
        done = testbed(study_files.run_specification(study, *run), Path(folder, "run.json.gz"))
        assert done.returncode == 0, done.stderr[-2000:]
        document = json.loads(gzip.decompress(Path(folder, "run.json.gz").read_bytes()))
    expected = (
        f"{config['ccas'][-1]}+{config['ccas'][-1]}" if config["mixes"] == "ordered-pairs" else config["ccas"][-1]
    )
    assert cca == expected

    network, interfaces = document["network"]["set"], document["network"]["read_back"]["interfaces"]
    (bottleneck,), (back,) = network["bottleneck"]["forward"], network["bottleneck"]["reverse"]
    for name in (bottleneck, back):
        assert interfaces[name]["qdiscs"]["htb"]["rate_bps"] == keys["link"]["rate_mbps"] * 1e6
        assert interfaces[name]["qdiscs"]["pfifo"]["limit"] == keys["queue"]["packets"]
    for way in ("forward", "reverse"):
        (name,) = network["netem"][way]
        netem = interfaces[name]["qdiscs"]["netem"]
        assert netem["delay_ms"] == pytest.approx(both_ways(keys["link"]["delay_ms"])[way], abs=1e-4)
        assert netem["loss_percent"] == pytest.approx(both_ways(keys["link"]["loss_percent"])[way], abs=1e-4)
    # The flows that the kernel saw, with the CCA that it says they had.
    seen = {socket["flow"]: socket["cca"] for look in document["sockets"] for socket in look["sockets"]}
    assert Counter(seen.values()) == Counter(islice(cycle(cca.split("+")), keys["flows"]))
    assert sorted(seen) == list(range(keys["flows"]))
    wrong = [check for check in document["verdict"]["checks"] if not check["ok"]]
    assert document["verdict"]["valid"] == (not wrong)
