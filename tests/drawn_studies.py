"""Studies drawn at random from all keys of a study file, in combinations that a user might choose, and their reports.

A draw may contradict itself: then the validation must reject it.
"""

import copy
import shutil
from pathlib import Path

import numpy as np

from built_study import Built
from drawn_documents import write_documents
from run_tables.tidy_tables import TIDY_TABLES
from run_tables.tidying import tidy
from study_files.study_runs import run_specification, runs
from study_files.study_schema import keys_of, scenario_schema, study_schema
from tidy_tables import ALL_CCAS

COMMON_CCAS = ("reno", "cubic", "bbr", "vegas")
PLATFORMS = keys_of(scenario_schema())["platform"]["enum"]
CLAIMS = sorted(path.stem for path in Path(__file__).parents[1].glob("config/claims/*.yaml"))
#: Section -> key -> possible values, if the key is present.
CHOICES = {
    "link": {
        "rate_mbps": [1, 2.5, 10, 100, 1000, None], "delay_ms": [0, 0.5, 10, 50, {"forward": 20, "reverse": 5}], "jitter_ms": [0, 1, 20],
        "loss_percent": [0, 0.1, 2, {"forward": 1, "reverse": 0}], "netem": ["receiving-side", "both-ends"],
        "frame_overhead_bytes": [0, 24], "serialisation": ["never", "virtual-clock"],
    },
    "hosts": {"pairs": [1, 2, 3], "access_delay_ms": [0, 5, [0, 10], [0, 10, 20]]},
    "multipath": {
        "paths": [1, 2, 4, 8], "by": ["none", "mptcp", "gre"], "tunnel_ip_version": ["ipv4", "ipv6"],
        "distribution": ["round-robin", "per-flow"], "path_delay_ms": [0, 2, [0, 5]],
    },
    "traffic": {
        "application": ["iperf3", "round-trip", "ftp"], "protocol": ["tcp", "udp"], "messages": [None, 1000, 100000],
        "no_delay": [False, True], "file_bytes": [1_000_000, 50_000_000], "duration_s": [2, 10, 60], "interval_s": [0.5, 1, 3],
        "start_within_ms": [None, 0, 100, 3000], "sample_interval_ms": [None, 10, 500], "processes": ["per-flow", "single"],
        "block_bytes": [128, 640, 1408, 131072], "bitrate_mbps": [None, 1, 50],
    },
    "transport": {
        "segment_bytes": [None, 256, 1000], "receive_buffer_bytes": [None, 65536], "receive_buffer_autotuning": [True, False], "send_buffer_bytes": [None, 65536],
        "delayed_acks": [True, False], "min_rto_ms": [None, 1000], "recovery": ["prr", "classic"],
        "segmentation_offload": [False, True], "cca_set_by": ["socket", "sysctl"], "restricted_ccas": ["allowed", "refused"],
        "initial_window_packets": [None, 2, 30], "selective_acks": [True, False], "slow_start_after_idle": [True, False],
    },
}  # fmt: skip
QUEUES = (
    {"packets": 1},
    {"packets": 50},
    {"packets": 1000},
    {"bytes": 20000},
    {"bytes": 200000},
    {"bdp": 0.5},
    {"bdp": 1},
    {"bdp": 4},
)
#: Identifiers of scenarios that a file may have, however similar they are.
#: Keys of which some studies get one more, drawn separately: (section, key) -> possible values.
ONE_MORE = {
    ("link", "netem"): ["sending-host"], ("link", "shaper"): ["tbf", "netem"], ("link", "shaper_burst_bytes"): [15000],
    ("link", "loss_gemodel"): [{"p_percent": 1, "r_percent": 30, "bad_loss_percent": 80}], ("link", "loss_state"): [{"p13_percent": 1, "p31_percent": 30}],
    ("link", "data_slot_ms"): [4], ("transport", "max_pacing_rate_mbps"): [5],
    ("multipath", "path_rate_mbps"): [[5, 30]], ("multipath", "path_loss_percent"): [[1, 0]],
    ("multipath", "path_queue_packets"): [[20, 300]],
}  # fmt: skip
NAMES = ("s.1", "s-1", "null", "1")
#: Subjects of studies: sections of all scenarios of a study, and the key (or section) in which its scenarios differ.
THEMES = (
    ({}, ("link", "delay_ms")),
    ({}, ("link", "loss_percent")),
    ({"flows": 3}, ("queue",)),
    ({"flows": 2}, ("hosts", "access_delay_ms")),
    ({"flows": 4, "traffic": {"sample_interval_ms": 100}}, ("queue",)),
    ({"traffic": {"sample_interval_ms": 50}}, ("platform",)),
    ({"flows": 2}, ("platform",)),
    ({"topology": "cable"}, ("traffic", "block_bytes")),
    ({"topology": "cable", "traffic": {"protocol": "udp", "block_bytes": 640}}, ("traffic", "block_bytes")),
    ({"topology": "cable", "traffic": {"application": "round-trip", "block_bytes": 640}}, ("traffic", "protocol")),
    ({"topology": "cable", "multipath": {"by": "mptcp"}}, ("multipath", "paths")),
    ({"topology": "cable", "multipath": {"by": "gre"}}, ("multipath", "paths")),
    ({"topology": "cable", "traffic": {"application": "ftp", "sample_interval_ms": 100}}, ("multipath", "by")),
    ({"topology": "cable", "background": "server"}, ("traffic", "application")),
)  # fmt: skip


def drawn_config(seed):
    """Draw the content of a study file."""
    rng = np.random.default_rng([seed, 1])
    theme, varied = THEMES[seed % len(THEMES)]
    shared = {key: dict(value) if isinstance(value, dict) else value for key, value in theme.items()}
    shared.setdefault("link", {"rate_mbps": _one(rng, [1, 10, 100])})
    for _ in range(rng.integers(0, 5)):
        _vary(rng, shared, (section := _one(rng, list(CHOICES)), _one(rng, list(CHOICES[section]))))
    for key, choices in (
        ("queue", QUEUES),
        ("flows", [1, 2, 3, 9]),
        ("platform", PLATFORMS),
        ("topology", ["dumbbell", "cable"]),
    ):
        if key not in shared and rng.random() < 0.3:
            shared[key] = _one(rng, choices)
    levels, scenarios = _levels(varied), []
    # Each level is used once, as long as there are enough of them.
    order = rng.permutation(len(levels))
    more = np.random.default_rng([seed, 2])
    if more.random() < 0.2:
        place = _one(more, list(ONE_MORE))
        _set(shared, place, _one(more, ONE_MORE[place]))
    for number in range(rng.integers(1, 5)):
        scenario = {"id": NAMES[number]}
        _set(scenario, varied, levels[order[number % len(levels)]])
        if rng.random() < 0.2:
            _vary(rng, scenario, (section := _one(rng, list(CHOICES)), _one(rng, list(CHOICES[section]))))
        scenarios.append(scenario)
    config = {"study": f"drawn-{seed}", "seed": seed + 1, "replications": int(rng.integers(1, 5)), **_ccas(rng)}
    config |= {
        "ip_versions": _one(rng, [["ipv4"], ["ipv6"], ["ipv4", "ipv6"]]),
        "defaults": shared,
        "scenarios": scenarios,
    }
    if rng.random() < 0.3:
        config["analysis"] = {"claims": _one(rng, CLAIMS), "detect": {"goodput_percent": 2}}
    if rng.random() < 0.1:
        config["platform"] = _one(rng, keys_of(study_schema())["platform"]["enum"])
    return config


def _ccas(rng):
    """Draw CCAs: some, mixes of two or three, or all ordered pairs of two."""
    pool = COMMON_CCAS if rng.random() < 0.7 else ALL_CCAS
    few = [str(cca) for cca in rng.choice(pool, rng.integers(1, 4), replace=False)]
    kind = rng.random()
    if kind < 0.7:
        return {"ccas": few}
    if kind < 0.85:
        return {"ccas": few[:2], "mixes": "ordered-pairs"}
    return {"ccas": list(dict.fromkeys(["+".join(few), "+".join(few[:2]), few[0]]))}


def _one(rng, choices):
    return choices[rng.integers(len(choices))]


def _vary(rng, scenario, place):
    """Set one key of a scenario to one of its possible values."""
    _set(scenario, place, _one(rng, _levels(place)))


def _levels(place):
    """Return the possible values of a key."""
    section, *key = place
    return CHOICES[section][key[0]] if key else {"queue": QUEUES, "platform": PLATFORMS}[section]


def _set(scenario, place, value):
    section, *key = place
    if key:
        scenario.setdefault(section, {})[key[0]] = value
    else:
        scenario[section] = value


def build_drawn(study, folder, seed, invalid=None):
    """Draw the documents of a resolved study, tidy them, and build the report from the tables; return the `Built`."""
    if invalid is None:
        invalid = (0, 0, 0.2, 0.2, 1)[seed % 5]
    failing = (0, 0.3, 0, 1)[seed % 4]
    folder = Path(folder)
    tables = folder / "tidy"
    tables.mkdir(parents=True)
    documents = folder / "documents"
    documents.mkdir()
    paths = write_documents(study, documents, run_specification, runs, seed, invalid, failing)
    outputs = {table.name: folder / table.path.removeprefix("/") for table in TIDY_TABLES}
    outputs |= {"runs_parquet": tables / "runs.parquet", "provenance": tables / "provenance.json"}
    without_analysis = {key: value for key, value in study.items() if key != "analysis"}
    workflow = {
        "analysis_image_digest": "sha256:" + "3" * 64,
        "snakemake": "9.27.1",
        "commit": "4" * 40,
        "dirty": False,
    }
    tidy(without_analysis, paths, outputs, workflow)
    shutil.rmtree(documents)
    built = Built(folder)
    built.claims_name = study["analysis"]["claims"]
    built.analysis = study["analysis"]
    return built.make()


#: Values that are wrong for most keys.
NONSENSE = (None, True, -1, 0, 1e12, float("nan"), "", "x", "10 ms", [], ["x"], {}, {"x": 1}, [[1]], {"bdp": "1"})


def spoiled_config(seed):
    """Draw the content of a study file with one nonsensical value."""
    # A copy, because drawn studies share parts with `CHOICES`.
    rng, config = np.random.default_rng([seed, 2]), copy.deepcopy(drawn_config(seed))
    place = config
    while True:
        key = _one(rng, list(place)) if isinstance(place, dict) else int(rng.integers(len(place)))
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
            place[key] = _one(rng, NONSENSE)
            return config
        place = place[key]
