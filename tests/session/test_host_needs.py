"""The requirements of a study on the machine's own kernel, those that are missing, and the message about them."""

import pytest

from session.host_needs import PARTS, Need, has_unmeasured, host_problem, how_to_add, needs
from study_files import study as studies

#: As `kernel_features` found them: the guest's kernel (Linux 7.2), and one without modules.
ALL = dict.fromkeys(PARTS, True)
ABSENT = ["netem", "matchall", "mirred", "fou", "fou for gretap", "fou for ip6gretap", "gretap", "ip6gretap", "bond"]
WHOLE = {
    "kernel": "7.2.13", "ccas": ["bbr", "cubic", "illinois", "reno", "vegas"], "ccas_allowed": ["bbr", "cubic", "reno"],
    "refuses": None, "refused": None, "parts": ALL,
}  # fmt: skip
SMALL = WHOLE | {
    "kernel": "6.18.44", "ccas": ["bbr", "cubic", "reno"], "ccas_allowed": ["bbr", "reno"],
    "parts": ALL | dict.fromkeys(ABSENT, False),
}  # fmt: skip
#: What scenarios are joined by.
MPTCP, GRE = {"paths": 2, "by": "mptcp"}, {"paths": 2, "by": "gre", "tunnel_ip_version": "ipv6"}
PLAIN = {"topology": "cable", "link": {"rate_mbps": 100, "delay_ms": 0}, "queue": {"packets": 100}}
CLOCKED = PLAIN["link"] | {"serialisation": "virtual-clock"}
#: Parts for a cable's rate and queue, and for what delays or loses packets on it.
SHAPED, LOSSY = {"veth", "htb", "pfifo"}, {"netem", "ifb", "ingress", "matchall", "mirred"}


def on_host(ccas, *scenarios, **defaults):
    """Return a resolved study with these scenarios on platform host."""
    named = [{"id": f"s{number}", **scenario} for number, scenario in enumerate(scenarios, 1)]
    config = {"study": "mine", "ccas": ccas, "defaults": {"platform": "host"} | defaults, "scenarios": named}
    return studies.resolve(config, "mine.yaml")


def ccas(study):
    return [need for need in needs(study) if need.cca]


def test_nothing_is_asked_of_this_machine_by_a_study_in_the_guest():
    study = on_host(["vegas"], {"platform": "uml"})
    assert needs(study) == []
    assert host_problem(study, SMALL) is None


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ({}, SHAPED),
        ({"queue": {"bytes": 100_000}}, {"veth", "htb", "bfifo"}),
        ({"link": PLAIN["link"] | {"loss_percent": {"forward": 0, "reverse": 1}}}, SHAPED | LOSSY),
        # The wire takes no time under a real clock.
        ({"link": CLOCKED}, SHAPED),
        # Nor is a ping-pong held back by a shaper there.
        ({"link": CLOCKED, "traffic": {"application": "round-trip"}}, {"veth"}),
        ({"traffic": {"application": "round-trip"}}, SHAPED),
        # Nothing at a dumbbell's routers delays or loses.
        ({"topology": "dumbbell"}, SHAPED),
        ({"topology": "dumbbell", "hosts": {"pairs": 1, "access_delay_ms": [1]}}, SHAPED | {"netem"}),
        ({"topology": "dumbbell", "link": PLAIN["link"] | {"rate_mbps": None}}, {"veth", "netem"}),
        ({"queue": {"discipline": "fq_codel"}}, {"veth", "htb", "fq_codel"}),
        (
            {"queue": {"discipline": "red", "packets": 60}, "transport": {"ecn": "accurate"}},
            {"veth", "htb", "red", "tcpi_ecn_mode"},
        ),
        ({"multipath": MPTCP}, SHAPED | {"mptcp"}),
        ({"multipath": GRE}, SHAPED | {"ip6gretap", "fou", "fou for ip6gretap", "bond"}),
        ({"multipath": MPTCP | {"path_delay_ms": [0, 5]}}, SHAPED | LOSSY | {"mptcp"}),
    ],
)
def test_parts_follow_from_the_scenario(scenario, expected):
    assert {need.part for need in needs(on_host(["reno"], PLAIN | scenario)) if need.part} == expected


def test_every_cca_of_a_mix_is_asked_for_and_none_for_udp():
    assert {need.cca for need in ccas(on_host(["reno+vegas"], PLAIN, flows=2))} == {"reno", "vegas"}
    udp = {"traffic": {"protocol": "udp", "block_bytes": 128}}
    assert ccas(on_host(["vegas"], PLAIN | udp)) == []


def test_every_cca_that_a_group_names_is_asked_for():
    groups = [{"name": "long", "stop_s": 10}, {"name": "beside", "cca": "vegas", "stop_s": 10}]
    study = on_host(["reno"], PLAIN, PLAIN | {"flows": groups})
    assert ccas(study) == [Need(None, "reno", ("s1", "s2")), Need(None, "vegas", ("s2",))]


def test_a_cca_that_becomes_a_default_must_be_on_the_machines_list():
    study = on_host(["cubic"], PLAIN, PLAIN | {"transport": {"cca_set_by": "sysctl"}})
    assert ccas(study) == [Need(None, "cubic", ("s1",)), Need(None, "cubic", ("s2",), allowed=True)]
    assert host_problem(study, WHOLE) is None
    assert host_problem(study, SMALL) == (
        "platform host can't run this study on this machine: its kernel (6.18.44) does not allow cubic as a network "
        'namespace\'s default; sysctl -w net.ipv4.tcp_allowed_congestion_control="bbr cubic reno" makes it an allowed default; '
        "allowed: scenarios without these, or platform: uml."
    )


@pytest.mark.parametrize(
    ("application", "paths", "allowed"),
    [
        ("iperf3", MPTCP, False),  # by the socket
        ("ftp", MPTCP, True),  # what MPTCP's further subflows have is the default
        ("ftp", {}, False),  # by the route
        ("round-trip", {}, False),
    ],
)
def test_an_application_that_cannot_choose_its_cca_needs_a_default_with_mptcp_only(application, paths, allowed):
    study = on_host(["vegas"], PLAIN | {"traffic": {"application": application}, "multipath": paths})
    assert ccas(study) == [Need(None, "vegas", ("s1",), allowed=allowed)]


def test_tunnels_in_udp_take_more_than_tunnels_and_udp(monkeypatch):
    """A kernel may have all parts but not support them together (fou6, CONFIG_NET_FOU_IP_TUNNELS)."""
    monkeypatch.setattr("session.host_needs.how_to_add", lambda modules, kernel: f"get {' '.join(modules)}")
    study = on_host(["reno"], PLAIN | {"multipath": GRE})
    assert host_problem(study, WHOLE | {"parts": ALL | {"fou for gretap": False}}) is None
    problem = host_problem(study, WHOLE | {"parts": ALL | {"fou for ip6gretap": False}})
    assert "has no fou for ip6gretap (GRE in UDP: scenario s1); get fou6;" in problem


def test_what_is_missing_is_named_in_one_sentence_with_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("session.host_needs.how_to_add", lambda modules, kernel: f"get {' '.join(modules)}")
    delayed = PLAIN | {"link": {"rate_mbps": 100, "delay_ms": 5}}
    study = on_host(["reno", "vegas", "illinois"], PLAIN, delayed)
    assert host_problem(study, WHOLE) is None
    assert host_problem(study, SMALL) == (
        "platform host can't run this study on this machine: its kernel (6.18.44) has no netem (delay, jitter and loss: scenario s2), "
        "has no matchall and mirred (delay and loss on a cable, link options behind the bottleneck: scenario s2) and "
        "has no CCA vegas, illinois (it has bbr, cubic, reno); get sch_netem cls_matchall act_mirred tcp_vegas tcp_illinois; "
        "allowed: scenarios without these, or platform: uml."
    )


@pytest.mark.parametrize(
    ("refuses", "words"),
    [
        ("namespaces", "needs user namespaces, and this machine refuses them (/proc: not permitted)"),
        ("namespaces", "kernel.unprivileged_userns_clone"),
        ("mounts", "has to mount file systems, and this machine refuses (/proc: not permitted)"),
        ("answer", "does not answer (/proc: not permitted)"),
    ],
)
def test_what_a_machine_refuses_is_told_apart(refuses, words):
    kernel = WHOLE | {"refuses": refuses, "refused": "/proc: not permitted", "parts": {}}
    problem = host_problem(on_host(["reno"], PLAIN), kernel)
    assert words in problem
    assert "platform: uml may work without them." in problem
    assert problem.count(". ") == 0, "one sentence"


def test_nothing_is_asked_of_a_machine_on_which_all_runs_are_there(tmp_path):
    """Tables and report can then be made on any machine."""
    study = on_host(["reno"], PLAIN, PLAIN | {"platform": "uml"})
    assert has_unmeasured(study, tmp_path)
    for scenario, cca, ip_version, replication in studies.runs(study):
        if scenario == "s1":
            document = tmp_path / f"runs/s1/{cca}/{ip_version}/{replication}.json.gz"
            document.parent.mkdir(parents=True, exist_ok=True)
            document.touch()
    assert not has_unmeasured(study, tmp_path)
    document.unlink()
    assert has_unmeasured(study, tmp_path)
    assert not has_unmeasured(on_host(["reno"], {"platform": "uml"}), tmp_path / "empty")


@pytest.mark.parametrize(
    ("loaded", "dependencies", "expected"),
    [
        ("none", "", "it doesn't support loadable modules, which could add them"),
        ("", "", "root could add them with modprobe sch_netem tcp_vegas, if the modules exist for this kernel"),
        ("", "net/sch_netem.ko.xz:\nnet/tcp_vegas.ko:\n", "root adds them with modprobe sch_netem tcp_vegas"),
        ("", "net/tcp_vegas.ko:\n", "root adds some with modprobe tcp_vegas; sch_netem may come with linux-modules-extra-6.8"),
    ],
)  # fmt: skip
def test_how_to_add_modules_follows_from_what_the_machine_has(tmp_path, loaded, dependencies, expected):
    (tmp_path / "os-release").write_text("ID=ubuntu\n")
    if dependencies:
        (tmp_path / "6.8").mkdir()
        (tmp_path / "6.8/modules.dep").write_text(dependencies)
    places = {"folder": tmp_path, "loaded": tmp_path / loaded, "distribution": tmp_path / "os-release"}
    assert how_to_add(["sch_netem", "tcp_vegas"], "6.8", **places) == expected
