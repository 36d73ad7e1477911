"""The specification of a run whose path changes."""

from experiment.specification import RunSpecification
from study_files import study
from topics.path_changes.phases import specification_of


def changing_run(*entries, duration_s=20, transport=None, **link) -> RunSpecification:
    """Return a run at 10 Mbit/s and an RTT of 40 ms with the given timeline entries and other link keys."""
    scenario = {
        "id": "x",
        "link": {"rate_mbps": 10, "delay_ms": 20, "timeline": list(entries)} | link,
        "traffic": {"duration_s": duration_s},
        "transport": transport or {},
    }
    made = study.resolve({"study": "s", "ccas": ["bbr"], "scenarios": [scenario]}, "s.yaml")
    run = {"scenario": "x", "cca": "bbr", "ip_version": "ipv4", "replication": 1, "seed": 1}
    return specification_of(run, {"x": made["scenarios"][0]})


def change(at_s, direction="both", over_s=0, step_ms=100, **values) -> dict:
    """Return an entry of a resolved scenario's timeline."""
    nothing = dict.fromkeys(("rate_mbps", "delay_ms", "loss_percent", "down_for_s"))
    return nothing | {"at_s": at_s, "direction": direction, "over_s": over_s, "step_ms": step_ms} | values
