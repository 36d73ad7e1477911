"""Studies drawn with features that only real runs have: groups of flows, disciplines, options of the link."""

import numpy as np

from study_files.study import StudyError, resolve

LONG = {"stop_s": 2}
#: Section -> possible settings of a scenario, one at a time.
CHOICES = {
    "link": (
        {}, {"loss_percent": {"forward": 1, "reverse": 0}}, {"loss_percent": {"forward": 1, "reverse": 0}, "loss_burst_packets": {"forward": 3, "reverse": None}},
        {"jitter_ms": 2}, {"reordering": {"percent": 1, "late_ms": 5}}, {"policer": {"rate_mbps": 5}}, {"timeline": [{"at_s": 1, "rate_mbps": 5}]}, {"timeline": [{"at_s": 1, "down_for_s": 0.3}]},
        {"duplicate_percent": {"forward": 1, "reverse": 0}}, {"corrupt_percent": 0.5},
    ),
    "queue": ({"packets": 50}, {"discipline": "codel"}, {"discipline": "pie"}, {"bdp": 1}, {"discipline": "fq_codel"}, {"discipline": "dualpi2"}),
    "flows": (
        1, 3, [{"name": "own", **LONG}, {"name": "other", "cca": "bbr", **LONG}], [{"name": "own", **LONG}, {"name": "late", **LONG, "start_s": 1}],
        [{"name": "own", **LONG}, {"name": "up", "direction": "reverse", **LONG}],
        [{"name": "own", **LONG}, {"name": "call", "application": "real-time", **LONG}], [{"name": "web", "application": "web", "sizes": "main-object", "arrivals_per_s": 5, **LONG}],
        [{"name": "own", **LONG}, {"name": "page", "application": "web", "sizes": "fixed", "bytes": 20000, "arrivals_per_s": 5, **LONG}],
    ),
    "topology": ("dumbbell", "cable"),
    "transport": ({}, {"segmentation_offload": True}, {"ecn": "classic"}),
}  # fmt: skip
CCAS = (["cubic"], ["reno", "cubic"], ["bbr"])
IP_VERSIONS = (["ipv4"], ["ipv6"], ["ipv4", "ipv6"])


def drawn(seed):
    """Return a drawn study that is accepted: one choice is given by its number, the others are random."""
    rng = np.random.default_rng([seed, 39])
    chosen = [(key, choice) for key, choices in CHOICES.items() for choice in choices]
    # Shuffled, so that the first few belong to different keys.
    key, choice = chosen[np.random.default_rng(39).permutation(len(chosen))[seed % len(chosen)]]
    while True:
        scenarios = [
            {"id": name, **{name: choices[rng.integers(len(choices))] for name, choices in CHOICES.items()}}
            for name in "ab"[: rng.integers(1, 3)]
        ]
        scenarios[0][key] = choice
        config = {
            "study": f"pages-{seed}", "replications": 2, "ccas": CCAS[rng.integers(len(CCAS))],
            "ip_versions": IP_VERSIONS[rng.integers(len(IP_VERSIONS))],
            "defaults": {"link": {"rate_mbps": 10, "delay_ms": 10}, "traffic": {"duration_s": 2}}, "scenarios": scenarios,
        }  # fmt: skip
        try:
            return config, resolve(config, "drawn.yaml")
        except StudyError:
            continue
