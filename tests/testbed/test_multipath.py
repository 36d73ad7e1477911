"""The method that joins several paths: its plan, the reports of the kernel and ip, and the checks that compare the two."""

import copy
import json
from array import array
from types import SimpleNamespace

import pytest

from experiment.host_pairs import Pair
from testbed.checks.multipath_verification import FALLBACKS, check_multipath, check_path_shares, check_subflows
from testbed.network import multipath
from testbed.network.netlink import HEADER, NLMSG_DONE, messages
from testbed.readings.sampling import Sampler
from testbed.readings.socket_information import connection

OFFLOADS_OFF = dict.fromkeys(multipath.OFFLOADS, False)


def specification(
    by, ip_version="ipv4", tunnel="ipv4", application="iperf3", distribution="round-robin", paths=4, flows=1
):
    """Return the part of a specification that the tested functions read."""
    pair = Pair(0, "h1", "h2", 0, 0)
    return SimpleNamespace(
        multipath=SimpleNamespace(by=by, tunnel_ip_version=tunnel, distribution=distribution, paths=paths),
        paths=paths, flows=flows, ip_version=ip_version, per_side=False,
        # As `specification.RunSpecification.mtu_bytes`: outer IP, UDP, GRE and inner Ethernet header taken off.
        mtu_bytes={"ipv4": 1454, "ipv6": 1434}[tunnel] if by == "gre" else 1500,
        traffic=SimpleNamespace(application=application, processes="parallel", sample_interval_ms=100),
        transport=SimpleNamespace(segmentation_offload=False), background="none", ports_of_programs=frozenset(),
        is_cable=True, pairs=[pair], flow_pair=lambda flow: pair, subflows=lambda _: paths if by == "mptcp" else 1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers(root):
    """IP version -> recorded answers of an MPTCP run with two paths."""
    recorded = json.loads((root / "tests" / "data" / "netlink-mptcp.json").read_text())
    return {one["ip_version"]: one for one in recorded}


@pytest.fixture(scope="module")
def links(root):
    """Name and kind -> output of `ip -d -j link show` for a device."""
    recorded = json.loads((root / "tests" / "data" / "ip-tunnels.json").read_text())
    return {(link["ifname"], link["linkinfo"]["info_kind"]): link for link in recorded}


def connections(answer):
    """Return the readings of all sockets in a recorded answer."""
    subflows = []
    for reply in map(bytes.fromhex, answer["sockets"]):
        sequence = HEADER.unpack_from(reply)[3]
        subflows += [
            connection(reply, *place) for kind, *place in messages(reply, len(reply), sequence) if kind != NLMSG_DONE
        ]
    return subflows


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_subflows_by_token_and_address_as_ss_says_them(answers, ip_version):
    read = connections(answers[ip_version])
    lines = answers[ip_version]["ss"]
    assert len(read) == len(lines) == 4
    for one, line in zip(read, lines, strict=True):
        words = line.split()
        local = words[2].rpartition(":")[0].strip("[]")
        token = next(word for word in words if word.startswith("token:")).partition("/")[2].partition("(")[0]
        assert (one["local_address"], f"{one['token']:x}", one["cca"]) == (local, token, words[4])
    # iperf3's control connection has two subflows as well, of the kernel's default CCA.
    assert sorted(one["cca"] for one in read) == ["cubic", "cubic", "vegas", "vegas"]


class Reader:
    """Gives the same recorded connections at each reading."""

    def __init__(self, answer):
        self.answer = answer

    def connections(self, expected):
        assert expected == 4
        return connections(self.answer)


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_looks_and_series_have_every_subflow_of_a_flow_and_not_of_its_control_connection(answers, ip_version):
    sampler = Sampler(None, specification("mptcp", ip_version, paths=2))
    sampler._readers = {"h1": Reader(answers[ip_version])}
    nothing = {"packets": 0, "bytes": 0, "drops": 0}
    sampler._queues = [(SimpleNamespace(read=lambda: nothing), nothing, {name: array("q") for name in nothing})]
    sampler.look(1.0)
    sampler.sample(2.0)
    ports = [int(word.rpartition(":")[2]) for word in answers[ip_version]["ss"][1].split()[2:4]]
    flows = {("h1", *ports): 0}
    (look,) = sampler.looks(flows)
    assert [(s["flow"], s["subflow"], s["cca"]) for s in look["sockets"]] == [(0, 0, "vegas"), (0, 1, "vegas")]
    assert all("token" not in s and "local_address" not in s for s in look["sockets"])
    series = sampler.series(flows)["sockets"]
    assert [(s["flow"], s["subflow"], s["time_s"]) for s in series] == [(0, 0, [2.0]), (0, 1, [2.0])]
    assert [s["bytes_acked"] for s in series] == [[s["bytes_acked"]] for s in look["sockets"]]
    assert sampler.looks({})[0]["sockets"] == []
    # The control connection is one of those seen, and subflows are not.
    assert len(sampler.seen()) == 2
    assert set(flows) < sampler.seen()


def test_only_who_listens_announces_addresses_and_only_who_connects_accepts_them():
    for application, listens, connects in (("iperf3", "h2", "h1"), ("ftp", "h1", "h2")):
        planned = multipath.plan(specification("mptcp", "ipv6", application=application))
        assert planned[connects] == {"limits": {"add_addr_accepted": 3, "subflows": 3}, "endpoints": []}
        assert planned[listens]["limits"] == {"add_addr_accepted": 0, "subflows": 3}
        last = listens.removeprefix("h")
        assert [(e["address"], e["dev"]) for e in planned[listens]["endpoints"]] == [
            (f"2001:db8:3:{path + 1}::{last}", f"{listens}-eth{path}") for path in (1, 2, 3)
        ]
    assert multipath.plan(specification("mptcp", paths=1))["h2"]["endpoints"] == []


def test_a_preloaded_library_stays_beside_that_of_mptcpize():
    assert multipath.command_prefix(specification("none")) == []
    assert multipath.command_prefix(specification("gre"), "/a.so") == ["LD_PRELOAD=/a.so"]
    assert multipath.command_prefix(specification("mptcp")) == ["mptcpize", "run"]
    # `mptcpize run` replaces LD_PRELOAD.
    assert multipath.command_prefix(specification("mptcp"), "/a.so")[:4] == ["mptcpize", "run", "sh", "-c"]


@pytest.mark.parametrize(("tunnel", "kind"), [("ipv4", "gretap"), ("ipv6", "ip6gretap")])
def test_tunnels_as_ip_says_them(links, tunnel, kind):
    planned = multipath.plan(specification("gre", tunnel=tunnel))["h1"]
    assert list(planned["tunnels"]) == ["tunnel0", "tunnel1", "tunnel2", "tunnel3"]
    assert multipath.read_tunnel(links["tunnel0", kind], OFFLOADS_OFF, taken=True) == planned["tunnels"]["tunnel0"]
    # GRE that comes in UDP and that nobody takes out.
    assert multipath.read_tunnel(links["tunnel0", kind], OFFLOADS_OFF, taken=False)["port"] is None


def test_bond_as_ip_says_it(links):
    link = links["bond0", "bond"]
    asked = specification("gre")
    read, planned = multipath.read_bond(link, asked, OFFLOADS_OFF), multipath.plan(asked)["h2"]["bond"]
    # As it is before it is set.
    assert read == planned | {"gso_max_segs": 65535}
    assert planned["gso_max_segs"] == 1
    per_flow = specification("gre", distribution="per-flow")
    assert multipath.read_bond(link, per_flow, OFFLOADS_OFF)["mode"] != multipath.plan(per_flow)["h2"]["bond"]["mode"]


@pytest.mark.parametrize("by", ["mptcp", "gre"])
def test_each_difference_from_the_plan_is_named(by):
    asked = specification(by)
    document = {"network": {"read_back": {"multipath": copy.deepcopy(multipath.plan(asked))}}}
    hosts = document["network"]["read_back"]["multipath"]
    assert check_multipath(asked, document).ok
    if by == "mptcp":
        hosts["h1"]["settings"] = {"net.mptcp.scheduler": "default"}  # more than planned is no fault
        assert check_multipath(asked, document).ok
        hosts["h2"]["endpoints"].pop()
        hosts["h1"]["limits"]["subflows"] = 2
        expected = ["h1: limits subflows is 2 instead of 3", "h2: endpoints is ["]
    else:
        hosts["h1"]["tunnels"]["tunnel2"]["mtu_bytes"] = 1476
        hosts["h2"]["bond"]["mode"] = "active-backup"
        expected = [
            "h1: tunnels tunnel2 mtu_bytes is 1476 instead of 1454", "h2: bond mode is active-backup instead of balance-rr",
        ]  # fmt: skip
    check = check_multipath(asked, document)
    assert not check.ok
    assert all(text in check.observed for text in expected)


def looked(bytes_acked, counters=None, lost=0):
    """Return the part of a document that `check_subflows` reads; ``bytes_acked`` is that of each subflow."""
    sockets = [{"flow": 0, "subflow": i, "bytes_acked": count} for i, count in enumerate(bytes_acked)]
    tcp = {"h1": {"MPTcpExtMPJoinSynAckRx": 6} | (counters or {}), "h2": {"TcpExtTCPTimeouts": 1}}
    looks = [{"time_s": 1, "sockets": []}, {"time_s": 2, "sockets": sockets}]
    counted = {
        when: {"h2-in1": {"qdiscs": {"netem": {"drops": drops}}}} for when, drops in (("before", 0), ("after", lost))
    }
    return {"sockets": looks, "stack": {"tcp": tcp}, "links": counted}


def test_every_subflow_must_carry_data():
    asked = specification("mptcp")
    assert check_subflows(asked, looked([9e6, 9e6, 8e6, 9e6])).ok
    check = check_subflows(asked, looked([9e6, 145, 8e6, 9e6]))
    assert (check.ok, check.observed) == (False, "flow 0: data on paths 0, 2, 3")
    assert not check_subflows(asked, looked([9e6])).ok
    assert not check_subflows(asked, looked([9e6]) | {"sockets": []}).ok


def test_a_subflow_may_be_spared_where_packets_are_lost():
    check = check_subflows(specification("mptcp"), looked([9e6, 145, 8e6, 9e6], lost=1))
    assert (check.ok, check.observed) == (True, "flow 0: data on paths 0, 2, 3")


def test_two_subflows_on_one_path_are_not_two_paths():
    document = looked([9e6, 9e6, 8e6, 9e6])
    document["sockets"][-1]["sockets"][3]["subflow"] = 2
    assert not check_subflows(specification("mptcp"), document).ok


@pytest.mark.parametrize("name", sorted(FALLBACKS))
def test_no_fallback_to_plain_tcp(name):
    check = check_subflows(specification("mptcp"), looked([9e6] * 4, {name: 1}))
    assert not check.ok
    assert check.observed == f"h1 {name} 1"


def counted(before, after):
    """Return the part of a document with the packets that h1 had sent on each path before and after."""
    return {
        "links": {
            when: {f"h1-eth{path}": {"tx_packets": count} for path, count in enumerate(counts)}
            for when, counts in (("before", before), ("after", after))
        }
    }


def test_each_path_has_its_share_in_round_robin():
    asked = specification("gre")
    assert check_path_shares(asked, counted([10, 500, 0, 3], [82510, 83000, 82501, 82504])).ok
    check = check_path_shares(asked, counted([0] * 4, [90000, 80000, 80000, 80000]))
    assert (check.ok, check.observed) == (False, "27.273 %, 24.242 %, 24.242 %, 24.242 %")
    assert not check_path_shares(asked, counted([0] * 4, [330000, 0, 0, 0])).ok
    assert not check_path_shares(asked, counted([5] * 4, [5] * 4)).ok


def test_per_flow_a_connection_stays_on_its_path():
    asked = specification("gre", distribution="per-flow")
    assert check_path_shares(asked, counted([0] * 4, [82510, 0, 0, 0])).ok
    assert not check_path_shares(asked, counted([0] * 4, [0] * 4)).ok
