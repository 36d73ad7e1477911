"""Mixes, pairs of hosts, time series and platforms: what studies may request, and its effect."""

import pytest

from study_files import study
from study_files.study_platforms import machine_problem


@pytest.fixture
def two_flows(small):
    small["defaults"] = {"flows": 2, "hosts": {"pairs": 2}}
    return small


def problems(config):
    with pytest.raises(study.StudyError) as caught:
        study.resolve(config, "small.yaml")
    return [line.removeprefix("small.yaml: ") for line in str(caught.value).splitlines()]


def test_ordered_pairs_are_written_out(two_flows):
    two_flows["mixes"] = "ordered-pairs"
    resolved = study.resolve(two_flows, "small.yaml")
    assert resolved["ccas"] == ["reno+reno", "reno+cubic", "cubic+reno", "cubic+cubic"]
    assert study.resolve(resolved, "small.yaml") == resolved


def test_a_mix_has_its_own_cells_and_the_seeds_of_the_others(two_flows):
    two_flows["ccas"] = ["reno", "reno+cubic"]
    resolved = study.resolve(two_flows, "small.yaml")
    assert {cca for _, cca, _, _ in study.runs(resolved)} == {"reno", "reno+cubic"}
    seeds = {study.run_specification(resolved, "near", cca, "ipv4", 1)["seed"] for cca in ("reno", "reno+cubic")}
    assert len(seeds) == 1


def test_one_access_delay_stands_for_all_pairs(two_flows):
    two_flows["scenarios"][0]["hosts"] = {"access_delay_ms": 5}
    two_flows["scenarios"][1]["hosts"] = {"access_delay_ms": [0, 10.0]}
    near, far = study.resolve(two_flows, "small.yaml")["scenarios"]
    assert near["hosts"] == {"pairs": 2, "access_delay_ms": [5, 5], "qdisc": "none"}
    assert far["hosts"] == {"pairs": 2, "access_delay_ms": [0, 10], "qdisc": "none"}


def test_a_queue_in_bdps_counts_the_access_delay(small):
    # 10 Mbit/s without a delay between the routers, but 4 x 5 ms on the hosts' links: 25,000 bytes.
    link, hosts = {"rate_mbps": 10, "delay_ms": 0}, {"access_delay_ms": 5}
    small["scenarios"] = [{"id": "near", "link": link, "hosts": hosts, "queue": {"bdp": 0.05}}]
    assert problems(small) == [
        "scenarios[near].queue.bdp is 0.05, 1250 bytes; allowed: at least a packet of 1514 bytes, 0.0606 BDP."
    ]


@pytest.mark.parametrize("cca", ["dctcp", "reno+dctcp"])
def test_dctcp_is_refused_while_no_queue_marks(two_flows, cca):
    two_flows["ccas"] = [cca]
    for scenario in two_flows["scenarios"]:
        scenario["transport"] = {"ecn": "classic"}
        scenario["queue"] = {"discipline": "fq_codel"}
    study.resolve(two_flows, "flows.yaml")
    two_flows["scenarios"][0]["queue"] = {"bdp": 1}
    two_flows["scenarios"][1]["queue"] = {"discipline": "codel"}
    drop_tail, unmarked = problems(two_flows)
    assert drop_tail.endswith("because DCTCP without marks behaves like Reno (RFC 8257, section 3.5).")
    assert f"ecn is classic and queue.discipline drop-tail; allowed with {cca} in ccas: " in drop_tail
    assert "ecn is classic and queue.discipline codel without ecn and ce_threshold_ms;" in unmarked


def test_small_segments_that_would_pin_the_receivers_window_are_refused(small):
    # 20 Mbit/s x 100 ms are 1,623 packets of 154 bytes, and 100 wait: 88 bytes of payload each.
    link, transport = {"rate_mbps": 20, "delay_ms": 50}, {"segment_bytes": 88}
    small["scenarios"] = [{"id": "near", "link": link, "queue": {"packets": 100}, "transport": transport}]
    assert problems(small) == [
        "scenarios[near].transport.segment_bytes is 88, and path and queue hold 151,657 bytes per flow; allowed: "
        "at least 128, because with smaller segments Linux's receiver never opens its window beyond 65,535 bytes; or set "
        "transport.receive_buffer_bytes, if such a window is intended."
    ]
    transport["receive_buffer_bytes"] = 100_000
    study.resolve(small, "small.yaml")


MESSAGES = [
    ({"ccas": ["reno+fast"]}, 'ccas[0] is "reno+fast"; allowed: one of bbr, bic,'),
    ({"ccas": ["reno+"]}, 'ccas[0] is "reno+"; '),
    ({"ccas": ["reno+cubc"]}, "ccas[0] is \"reno+cubc\"; did you mean 'cubic'? Allowed: one of"),
    ({"ccas": ["reno+cubic"], "mixes": "ordered-pairs"},
     "ccas has the mix reno+cubic; allowed with mixes ordered-pairs: single CCAs, which are then paired."),
    ({"ccas": ["reno+cubic+bbr"]},
     "scenarios[near].flows is 2; allowed: at least 3, one for each CCA in reno+cubic+bbr."),
    ({"mixes": "ordered-pairs", "defaults": {"flows": 1}},
     "scenarios[near].flows is 1; allowed: at least 2, one for each CCA in reno+reno."),
    ({"mixes": "ordered-pairs", "defaults": {"flows": 2, "transport": {"cca_set_by": "sysctl"}}},
     "scenarios[near].transport.cca_set_by is sysctl; allowed with a mix (reno+reno): socket."),
    ({"defaults": {"flows": 2, "hosts": {"pairs": 3}}},
     "scenarios[near].hosts.pairs is 3; allowed: at most the number of flows, 2."),
    ({"defaults": {"flows": 2, "hosts": {"pairs": 2, "access_delay_ms": [1, 2, 3]}}},
     "scenarios[near].hosts.access_delay_ms has 3 numbers; allowed: one for each of the 2 pairs, or one for all."),
    ({"defaults": {"hosts": {"access_delay_ms": -1}}},
     "defaults.hosts.access_delay_ms is -1; allowed: a number from 0 to 500 (ms), or a list of them, one for each pair."),
    ({"defaults": {"hosts": {"access_delay_ms": [1, "x"]}}},
     'defaults.hosts.access_delay_ms[1] is "x"; allowed: a number from 0 to 500.'),
    ({"defaults": {"queue": {"packets": 9}, "hosts": {"access_delay_ms": 1}, "link": {"netem": "both-ends"}}},
     "scenarios[near].hosts.access_delay_ms is not 0; allowed with netem at both-ends: 0, because its netem delays all flows equally."),
    ({"ccas": ["reno+cubic"], "defaults": {"flows": 2, "traffic": {"processes": "single"}}},
     "scenarios[near].traffic.processes is single; allowed with a mix (reno+cubic): per-flow."),
    ({"defaults": {"flows": 2, "hosts": {"pairs": 2}, "traffic": {"processes": "single"}}},
     "scenarios[near].traffic.processes is single; allowed with several pairs of hosts: per-flow."),
    ({"ccas": ["reno+cubic"], "defaults": {"flows": 2, "transport": {"cca_set_by": "sysctl"}}},
     "scenarios[near].transport.cca_set_by is sysctl; allowed with a mix (reno+cubic): socket."),
    ({"defaults": {"traffic": {"sample_interval_ms": 0}}},
     "defaults.traffic.sample_interval_ms is 0; allowed: a whole number from 1 to 1000 (ms), or null."),
    ({"defaults": {"flows": 64, "traffic": {"duration_s": 60, "sample_interval_ms": 1}}},
     "scenarios[near].traffic.sample_interval_ms is 1, which makes 3,840,000 readings of sockets in a run; allowed: up to 250,000, with at least 16 (ms)."),
    ({"defaults": {"transport": {"recovery": "classic"}}},
     "scenarios[near].transport.recovery is classic; allowed on uml: prr, the only recovery in Linux."),
    ({"defaults": {"traffic": {"start_within_ms": 10000}}},
     "scenarios[near].traffic.start_within_ms is 10000; allowed: less than half the traffic's duration, 5000 (ms), so that all flows overlap for some time."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"), MESSAGES, ids=lambda value: value[:50] if isinstance(value, str) else ""
)
def test_message_names_key_value_and_what_is_allowed(two_flows, changes, message):
    two_flows |= changes
    assert problems(two_flows)[0].startswith(message)


def test_linux_runs_on_x86_64_only(small):
    resolved = study.resolve(small, "small.yaml")
    assert machine_problem(resolved, "x86_64") is None
    assert machine_problem(resolved, "AMD64") is None
    assert machine_problem(resolved, "aarch64") == (
        "platform uml runs only on x86-64 processors, and this machine has aarch64; "
        "allowed on this machine: scenarios with platform: ns3:<version>."
    )
    simulated = resolved | {"scenarios": [scenario | {"platform": "ns3:3.44"} for scenario in resolved["scenarios"]]}
    assert machine_problem(simulated, "aarch64") is None
