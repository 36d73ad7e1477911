"""Flows that come and go, in the guest: each follows its configuration, and on an empty path theory exactly."""

import gzip
import json

import pytest

from experiment.disciplines import completed
from experiment.specification import RunSpecification
from run_tables.group_metrics import groups_of_run
from run_tables.marks import marks_of_flows
from run_tables.run_metrics import flow_metrics
from run_tables.tidy_rows import factors
from study_files.study_groups import counted_flows
from testbed.readings.deliveries import lifetime_windows

LINK = {"rate_mbps": 20, "delay_ms": {"forward": 20, "reverse": 20}}
#: Each look at the guest's clock moves it: a connection's TCP looks at it for each packet.
CLOCK_STEP_MS = 256e-6


@pytest.fixture
def grouped(specification):
    """A function that returns the specification of a run with groups of flows."""

    def make(*groups, duration_s=6, sample_interval_ms=None, queue=None, **changes):
        traffic = {"duration_s": duration_s, "sample_interval_ms": sample_interval_ms}
        made = specification(link=LINK, queue=queue or {"packets": 100}, traffic=traffic, **changes)
        made["scenario"] |= counted_flows({"flows": list(groups), "groups": []})
        return made

    return make


@pytest.fixture
def carried(grouped, testbed, tmp_path):
    """A function that executes such a run and returns its document; invalid runs fail the test."""

    def carry_out(*groups, **changes):
        done = testbed(grouped(*groups, **changes), tmp_path / "run.json.gz")
        assert done.returncode == 0, done.stderr[-2000:]
        document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
        assert [check for check in document["verdict"]["checks"] if not check["ok"]] == []
        return document

    return carry_out


def objects_of(document):
    return groups_of_run(document, factors(document))[1].to_pylist()


def test_flows_start_stop_and_are_limited_as_their_groups_say(carried):
    document = carried(
        {"name": "long", "stop_s": 6},
        {"name": "late", "cca": "bbr", "count": 2, "start_s": 2, "stop_s": 4, "rate_mbps": 3},
        sample_interval_ms=100,
    )
    run, flows = RunSpecification(document["specification"]), flow_metrics(document)
    assert [(flow["group"], flow["cca_observed"]) for flow in flows] == [
        ("long", "reno"),
        ("late", "bbr"),
        ("late", "bbr"),
    ]
    for series in document["series"]["sockets"]:
        times_s, asked = series["time_s"], run.long_flows[series["flow"]]
        assert asked.start_s <= times_s[0] < asked.start_s + 0.4
        assert asked.stop_s - 0.1 <= times_s[-1] < asked.stop_s + 1
    # iperf3 counts blocks of 128 KiB, of which it has one more or less.
    assert [flow["goodput_lifetime_mbps"] for flow in flows[1:]] == pytest.approx([3, 3], rel=0.15)
    # The first flow's own life is longer than what all have in common, where it has less.
    assert flows[0]["goodput_lifetime_mbps"] > flows[0]["goodput_mbps"] + 2
    assert flows[0]["window_end_ns"] <= 4.6e9


def test_groups_may_have_a_cca_that_the_study_defines(grouped, testbed, tmp_path):
    """CUBIC that halves its window (beta 512/1024) beside Reno, under its name in the study, and under the kernel's name on sockets and
    server."""
    asked = grouped(
        {"name": "long", "stop_s": 4},
        {"name": "other", "cca": "halving", "stop_s": 4},
        {"name": "pages", "application": "web", "cca": "halving", "count": 3, "bytes": 20000},
        duration_s=4,
    )
    asked["cca_definitions"] = {"halving": {"base": "cubic", "parameters": {"beta": 512}}}
    done = testbed(asked, tmp_path / "run.json.gz")
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    assert done.returncode == 0 and document["verdict"]["valid"], done.stderr[-2000:]
    assert document["network"]["read_back"]["cca_parameters"]["tcp_cubic"]["beta"] == "512"
    assert {(s["flow"], s["cca"]) for look in document["sockets"] for s in look["sockets"]} == {
        (0, "reno"),
        (1, "cubic"),
    }
    assert [objects["cca"] for objects in document["web"]] == ["cubic"]
    assert [flow["flow_cca"] for flow in flow_metrics(document)] == ["reno", "halving"]


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_completion_times_on_an_empty_path_are_those_of_slow_start(carried, ip_version):
    """Objects of one packet, and of one, two and four rounds, exact to the packet and to the clock's steps."""
    sizes = (500, 10_000, 40_000, 150_000)
    document = carried(
        *(
            {"name": f"web{size}", "application": "web", "count": 1, "bytes": size, "start_s": 0.5 + number}
            for number, size in enumerate(sizes)
        ),
        ip_version=ip_version,
    )
    objects = objects_of(document)
    assert [row["bytes"] for row in objects] == list(sizes)
    for row in objects:
        packets = 1 + row["bytes"] // 1400
        assert 0 <= row["completion_ms"] - row["ideal_ms"] <= (16 + 2 * packets) * CLOCK_STEP_MS, row
    assert {of_group["cca"] for of_group in document["web"]} == {"reno"}


def test_delays_of_a_stream_on_an_empty_path_are_the_paths(carried):
    document = carried({"name": "call", "application": "real-time", "count": 3, "start_s": 1, "stop_s": 5})
    delays = [delay for of_stream in document["real_time"][0]["delay_ns"] for delay in of_stream]
    assert len(delays) == 3 * 200 and None not in delays
    # A few arrive while another program of the guest, that has just ended or begun, looks at the clock.
    assert min(delays) >= 20_000_000 and sorted(delays)[len(delays) * 98 // 100] <= 20_000_000 + 4 * 256
    assert max(delays) <= 20_000_000 + 40 * 256


def test_incast_shares_the_bottleneck(carried):
    """The last of many simultaneous objects is complete when all of their packets have passed, or later if some were lost."""
    document = carried(
        {"name": "many", "application": "web", "count": 40, "bytes": 14_000, "start_s": 1}, queue={"packets": 1000}
    )
    run = RunSpecification(document["specification"])
    last_ms = max(row["completion_ms"] for row in objects_of(document))
    packets = 40 * 10  # of which each object's last has not 1,448 bytes, but nearly
    passing_ms = packets * run.packet_bytes * 8e-3 / run.rate_mbps
    assert 2 * run.rtt_path_ms + 0.95 * passing_ms <= last_ms <= 2 * run.rtt_path_ms + passing_ms + 1


def test_flows_that_pause_leave_the_path_to_others(carried):
    document = carried(
        {"name": "long", "stop_s": 7},
        {"name": "bursts", "on_s": 1, "off_s": 2, "start_s": 1, "stop_s": 6},
        duration_s=7,
    )
    flows = flow_metrics(document)
    assert [flow["group"] for flow in flows] == ["long", "bursts", "bursts"]
    lives = lifetime_windows(document)
    for number, on_s in ((1, 1), (2, 4)):
        # Its data come three round trips after it starts, and what it has queued leaves after it stops.
        assert (
            on_s <= lives[number].begin_ns / 1e9 < on_s + 0.4 and on_s + 0.8 <= lives[number].end_ns / 1e9 < on_s + 1.6
        )
    _, bursts = groups_of_run(document, factors(document))[0]
    assert bursts["goodput_mbps"] == pytest.approx(sum(flow["goodput_lifetime_mbps"] for flow in flows[1:]) / 2)


def test_ecn_is_negotiated_by_one_pair_and_not_by_the_other(carried):
    document = carried(
        {"name": "plain", "pair": 1, "stop_s": 4},
        {"name": "marked", "pair": 2, "ecn": "classic", "stop_s": 4},
        duration_s=4, hosts={"pairs": 2, "access_delay_ms": [0, 0]}, queue=completed({"discipline": "codel", "ecn": True}),
    )  # fmt: skip
    assert [flow["ecn_observed"] for flow in marks_of_flows(document).values()] == ["off", "classic"]
    drops, marks = (document["links"]["after"]["r1-eth1"]["qdiscs"]["codel"][name] for name in ("drops", "marks"))
    assert marks > 0 and drops > 0


def test_same_seed_same_bytes_with_groups(grouped, testbed, tmp_path):
    asked = grouped(
        {"name": "long", "cca": "cubic", "stop_s": 4},
        {"name": "late", "start_s": 1, "stop_s": 3},
        {"name": "web", "application": "web", "arrivals_per_s": 20, "sizes": "embedded-object", "stop_s": 4},
        {"name": "call", "application": "real-time", "stop_s": 4},
        duration_s=4,
    )
    documents = []
    for name in ("one", "a folder with another name"):
        folder = tmp_path / name
        folder.mkdir()
        assert testbed(asked, folder / "run.json.gz", cwd=folder).returncode == 0
        documents.append((folder / "run.json.gz").read_bytes())
    assert documents[0] == documents[1]
    assert len(json.loads(gzip.decompress(documents[0]))["web"][0]["bytes"]) > 40
