"""What a study asks of the machine's own kernel, what of it is missing, and how that is said."""
import pytest
from study_files import study as studies
from study_files.host_needs import Need, host_problem, how_to_add, kernel_now, needs

#: As `kernel_features` found them: a kernel without modules, and the guest's (Linux 7.2).
ALL = dict.fromkeys("htb netem pfifo bfifo ingress matchall mirred fou veth ifb gretap ip6gretap bond mptcp".split(), True)
SMALL = {
    "kernel": "6.18.44", "ccas": ["bbr", "cubic", "reno"], "ccas_allowed": ["bbr", "reno"], "refused": None,
    "parts": ALL | dict.fromkeys("netem matchall mirred fou gretap ip6gretap bond".split(), False),
}  # fmt: skip
WHOLE = {
    "kernel": "7.2.13", "ccas": ["bbr", "cubic", "illinois", "reno", "vegas"], "ccas_allowed": ["bbr", "cubic", "reno"],
    "refused": None, "parts": ALL,
}  # fmt: skip
PLAIN = {"topology": "cable", "link": {"rate_mbps": 100, "delay_ms": 0}, "queue": {"packets": 100}}


def on_host(ccas, *scenarios, **defaults):
    """Return a resolved study with these scenarios on platform host."""
    named = [{"id": f"s{number}", **scenario} for number, scenario in enumerate(scenarios, 1)]
    config = {"study": "mine", "ccas": ccas, "defaults": {"platform": "host"} | defaults, "scenarios": named}
    return studies.resolve(config, "mine.yaml")


def parts(study):
    return {need.part for need in needs(study) if need.part}


def test_nothing_is_asked_of_this_machine_by_a_study_in_the_guest():
    study = studies.resolve({"study": "mine", "ccas": ["vegas"], "scenarios": [{"id": "s1", "platform": "uml"}]}, "mine.yaml")
    assert needs(study) == []
    assert host_problem(study, SMALL) is None


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (PLAIN, {"veth", "htb", "pfifo"}),
        (PLAIN | {"queue": {"bytes": 100_000}}, {"veth", "htb", "bfifo"}),
        (
            PLAIN | {"link": {"rate_mbps": 100, "delay_ms": 0, "loss_percent": {"forward": 0, "reverse": 1}}},
            {"veth", "htb", "pfifo", "netem", "ifb", "ingress", "matchall", "mirred"},
        ),
        # The wire takes no time under a real clock.
        (PLAIN | {"link": {"rate_mbps": 100, "delay_ms": 0, "serialisation": "virtual-clock"}}, {"veth", "htb", "pfifo"}),
        (PLAIN | {"topology": "dumbbell"}, {"veth", "htb", "pfifo", "netem"}),
        (PLAIN | {"multipath": {"paths": 2, "by": "mptcp"}}, {"veth", "htb", "pfifo", "mptcp"}),
        (
            PLAIN | {"multipath": {"paths": 2, "by": "gre", "tunnel_ip_version": "ipv6"}},
            {"veth", "htb", "pfifo", "ip6gretap", "fou", "bond"},
        ),
        (
            PLAIN | {"multipath": {"paths": 2, "by": "mptcp", "path_delay_ms": [0, 5]}},
            {"veth", "htb", "pfifo", "mptcp", "netem", "ifb", "ingress", "matchall", "mirred"},
        ),
    ],
)
def test_parts_follow_from_the_scenario(scenario, expected):
    assert parts(on_host(["reno"], scenario)) == expected


def test_every_cca_of_a_mix_is_asked_for_and_none_for_udp():
    assert {need.cca for need in needs(on_host(["reno+vegas"], PLAIN, flows=2)) if need.cca} == {"reno", "vegas"}
    udp = {"traffic": {"protocol": "udp", "block_bytes": 128}}
    assert [need for need in needs(on_host(["vegas"], PLAIN | udp)) if need.cca] == []


def test_a_cca_that_becomes_a_default_must_be_on_the_machines_list():
    by_sysctl = PLAIN | {"transport": {"cca_set_by": "sysctl"}}
    study = on_host(["cubic"], PLAIN, by_sysctl)
    assert [need for need in needs(study) if need.cca] == [
        Need(None, "cubic", ("s1",)), Need(None, "cubic", ("s2",), allowed=True),
    ]  # fmt: skip
    assert host_problem(study, WHOLE) is None
    assert host_problem(study, SMALL) == (
        "platform host can't carry this study on this machine: its kernel (6.18.44) does not let a network namespace make cubic "
        'its default; sysctl -w net.ipv4.tcp_allowed_congestion_control="bbr cubic reno" lets it be the default; '
        "allowed are scenarios without these, or platform: uml."
    )


def test_what_is_missing_is_named_in_one_sentence_with_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("study_files.host_needs.how_to_add", lambda modules, kernel: f"get {' '.join(modules)}")
    delayed = PLAIN | {"link": {"rate_mbps": 100, "delay_ms": 5}}
    study = on_host(["reno", "vegas", "illinois"], PLAIN, delayed)
    assert host_problem(study, WHOLE) is None
    assert host_problem(study, SMALL) == (
        "platform host can't carry this study on this machine: its kernel (6.18.44) has no netem (delay, jitter and loss: scenario s2), "
        "has no matchall and mirred (delay and loss on a cable: scenario s2) and "
        "has no CCA vegas, illinois (it has bbr, cubic, reno); get sch_netem cls_matchall act_mirred tcp_vegas tcp_illinois; "
        "allowed are scenarios without these, or platform: uml."
    )


def test_a_machine_that_refuses_user_namespaces_says_how_they_are_allowed():
    problem = host_problem(on_host(["reno"], PLAIN), WHOLE | {"refused": "Operation not permitted", "parts": {}})
    assert "needs user namespaces, and this machine refuses them (Operation not permitted)" in problem
    assert "kernel.unprivileged_userns_clone" in problem


@pytest.mark.parametrize(
    ("dependencies", "distribution", "expected"),
    [
        ("kernel/net/sched/sch_netem.ko.xz:\nkernel/net/ipv4/tcp_vegas.ko:\n", "", "root adds them with modprobe sch_netem tcp_vegas"),
        (
            "kernel/net/ipv4/tcp_vegas.ko:\n", "ID=ubuntu\n",
            "root adds some with modprobe tcp_vegas; sch_netem may come with linux-modules-extra-6.8.0-45-generic",
        ),
        (None, "", "root could add them with modprobe sch_netem tcp_vegas, where there are such modules for it"),
    ],
)  # fmt: skip
def test_how_to_add_modules_follows_from_what_the_machine_has(tmp_path, dependencies, distribution, expected):
    (tmp_path / "loaded").touch()
    (tmp_path / "os-release").write_text(distribution)
    if dependencies:
        (tmp_path / "6.8.0-45-generic").mkdir()
        (tmp_path / "6.8.0-45-generic/modules.dep").write_text(dependencies)
    places = {"folder": tmp_path, "loaded": tmp_path / "loaded", "distribution": tmp_path / "os-release"}
    assert how_to_add(["sch_netem", "tcp_vegas"], "6.8.0-45-generic", **places) == expected


def test_a_kernel_without_modules_is_said_to_be_one(tmp_path):
    assert how_to_add(["sch_netem"], "6.18.44", loaded=tmp_path / "missing") == "it takes no modules that would add them"


def test_this_machines_kernel_is_asked_for_real():
    """Whatever kernel it is: Reno is always built in, and so are the fifos (net/sched/Kconfig, net/ipv4/Kconfig)."""
    found = kernel_now()
    assert "reno" in found["ccas"]
    if found["refused"]:
        pytest.skip(f"this machine refuses user namespaces: {found['refused']}")
    assert found["parts"].keys() == ALL.keys()
    assert found["parts"]["pfifo"] is True
