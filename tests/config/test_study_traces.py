"""Capacity from a file: both formats in steps, the part in a run's specification, and the sentences for unusable files."""

import hashlib
import importlib.util

import pytest

from experiment.specification import RunSpecification
from study_files import study as studies

SHA256_OF_5 = hashlib.sha256(b"5\n").hexdigest()
PACKET_MBPS = 1514 * 8 / 100 / 1e3  # one packet in a step of 100 ms


@pytest.fixture
def study(tmp_path):
    """A function that resolves a study with a file beside it, given as text or bytes."""

    def resolve(content, file="link.trace", duration_s=2, timeline=(), **keys):
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        link = {"rate_mbps": 10, "delay_ms": 10, "trace": {"file": file} | keys, "timeline": list(timeline)}
        scenario = {"id": "x", "link": link, "traffic": {"duration_s": duration_s}}
        return studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, str(tmp_path / "s.yaml"))

    return resolve


def trace_of(study):
    return study["scenarios"][0]["link"]["trace"]


def test_a_line_of_mahimahi_is_a_packet_and_a_step_without_has_no_capacity(study):
    content = "5\n10\n10\n205\n300\n"
    trace = trace_of(study(content))
    assert trace["rates_mbps"] == pytest.approx([3 * PACKET_MBPS, 0, 2 * PACKET_MBPS])
    assert trace["period_ms"] == 300
    assert trace["sha256"] == hashlib.sha256(content.encode()).hexdigest()


def test_rates_of_a_table_hold_until_the_next_and_the_last_as_long_as_the_one_before(study):
    trace = trace_of(study("time_s,rate_mbps\n0,8\n0.15,2\n0.3,4\n", format="csv"))
    assert trace["rates_mbps"] == pytest.approx([8, 5, 2, 4, 4])
    # The fifth step is half as long as the others.
    assert trace["period_ms"] == 450


@pytest.mark.parametrize(
    "content", ["1\n", "".join(f"{ms}\n" for ms in range(1, 1001)), "".join(f"{ms}\n" for ms in range(1, 106))]
)
@pytest.mark.parametrize("step_ms", [10, 100, 333])
def test_one_packet_a_millisecond_is_one_rate_however_the_file_has_it(study, content, step_ms):
    made = study(content, step_ms=step_ms, duration_s=10)
    timeline = RunSpecification(studies.run_specification(made, "x", "reno", "ipv4", 1)).timeline
    assert [(c.at_ns, c.value) for c in timeline.changes] == [(0, 12.112)]
    assert timeline.mean_rate_mbps(0, 10_000_000_000) == pytest.approx(12.112)


def test_a_trace_is_repeated_until_the_end_and_equal_steps_are_one(study):
    made = study("time_s,rate_mbps\n0,8\n0.2,2\n", format="csv", duration_s=1)
    changes = RunSpecification(studies.run_specification(made, "x", "reno", "ipv4", 1)).timeline.changes
    steps = [(change.at_ns / 1e9, change.direction, change.value, change.kind) for change in changes]
    # Whole packets, and the fall to 2 Mbit/s ends early by half a packet's time at that.
    expected = ((0, 8), (0.2, 2), (0.4, 8), (0.6, 2), (0.8, 8))
    assert [(way, kind) for _, way, _, kind in steps] == [("forward", "trace")] * len(steps)
    near = [min(expected, key=lambda one: abs(one[0] - at) + abs(one[1] - rate)) for at, _, rate, _ in steps]
    assert sorted(set(near)) == list(expected)


def test_a_byte_order_mark_is_no_part_of_the_trace(study):
    made = trace_of(study(b"\xef\xbb\xbftime_s,rate_mbps\n0,8\n0.2,2\n", format="csv"))
    assert made["rates_mbps"] == [8, 8, 2, 2]


def test_a_file_with_the_given_sha256_is_read(study):
    assert trace_of(study("5\n", sha256=SHA256_OF_5))["period_ms"] == 5


def test_a_run_needs_no_file(study, tmp_path):
    made = study("50\n100\n")
    (tmp_path / "link.trace").unlink()
    again = studies.resolve(made, "elsewhere/s.yaml")
    assert trace_of(again) == trace_of(made)


def test_the_shipped_trace_is_what_its_model_makes(root):
    path = root / "benchmarks/cellular_trace.py"
    spec = importlib.util.spec_from_file_location("cellular_trace", path)
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    assert model.text() == model.TRACE.read_text()


@pytest.mark.parametrize(
    "content, keys, sentence",
    [
        ("", {}, "link.trace.file link.trace is empty; allowed: one line per packet"),
        (" \n\n", {}, "is empty"),
        ("0\n0\n", {}, "lasts 0 ms; allowed: a last line above 0, after which it repeats."),
        ("1\n30000000000\n", {}, "is too long: 300,000,000 steps of 100 ms; allowed: up to 36,000."),
        ("1\n1e308\n", {}, "is too long: 1e+306 steps of 100 ms"),
        ("1000000\n", {"step_ms": 10000}, "link.trace offers 1.2112e-05 Mbit/s on average; allowed: 0.001 (Mbit/s) or more."),
        ("5\n", {"file": None, "rates_mbps": [1, 2], "period_ms": 300}, "link.trace.period_ms is 300; allowed with 2 rates_mbps: a time within the last"),
        (b"\x7fELF\x80\xff", {}, "can't be read: byte 5 is not text"),
        ("5\nx\n", {}, "has 'x' in line 2; allowed: numbers."),
        ("5\nnan\n", {}, "has 'nan' in line 2"),
        ("5\n-3\n", {}, "has the negative number -3 in line 2; allowed: numbers of at least 0."),
        ("5\n9\n7\n", {}, "is not sorted: 7 ms in line 3 follows 9; allowed: times in ascending order."),
        ("99999999\n", {}, "is too long: 1,000,000 steps of 100 ms; allowed: up to 36,000."),
        ("1\n" * 100_000 + "2\n", {}, "has a step of 605606 Mbit/s; allowed: up to 10,000."),
        ("0,1\n1,2\n", {"format": "csv"}, "begins with '0,1'; allowed: time_s,rate_mbps."),
        ("time_s,rate_mbps\n0,1\n", {"format": "csv"}, "has fewer than two rates"),
        ("time_s,rate_mbps\n1,1\n2,2\n", {"format": "csv"}, "begins at 1 s; allowed: 0."),
        ("time_s,rate_mbps\n0,1\n2\n", {"format": "csv"}, "has '2' in line 3; allowed: a time and a rate."),
        ("time_s,rate_mbps\n0,-1\n2,3\n", {"format": "csv"}, "has the negative number -1 in line 2"),
        ("time_s,rate_mbps\n0,1\n3,1\n2,1\n", {"format": "csv"}, "is not sorted: 2 s in line 4 follows 3"),
        ("time_s,rate_mbps\n0,0\n1,0\n", {"format": "csv"}, "lets nothing pass"),
        ("5\n", {"file": "nowhere"}, "can't be read (No such file or directory)"),
        ("5\n", {"file": "../s.yaml"}, "lies elsewhere; allowed: a file next to the study's file"),
        ("5\n", {"file": "/etc/passwd"}, "lies elsewhere"),
        ("5\n", {"file": None}, "link.trace has neither file nor rates_mbps"),
        ("5\n", {"period_ms": 5000}, "link.trace.file link.trace has period_ms 5000; allowed with a file: null, because the file sets it."),
        ("5\n", {"rates_mbps": [1, 2]}, "has both file and rates_mbps; allowed without a sha256: one of them."),
        ("5\n", {"sha256": "0" * 64}, f"has the SHA-256 {SHA256_OF_5}; allowed: the given sha256, {'0' * 64}."),
        ("5\n", {"step_ms": 1}, "link.trace.step_ms is 1; allowed: a number from 10 to 10000 (ms)."),
        ("5\n", {"step": 1}, "unknown key 'scenarios[x].link.trace.step'"),
        ("5\n", {"timeline": [{"at_s": 1, "rate_mbps": 1}]}, "link.timeline[0].rate_mbps is 1; allowed with link.trace: null."),
    ],
)  # fmt: skip
def test_what_can_not_be_used_is_refused_in_a_sentence(study, tmp_path, content, keys, sentence):
    with pytest.raises(studies.StudyError) as refused:
        if "file" in keys:
            link = {"rate_mbps": 10, "delay_ms": 10, "trace": keys}
            scenario = {"id": "x", "link": link, "traffic": {"duration_s": 2}}
            studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, str(tmp_path / "s.yaml"))
        study(content, **keys)
    assert sentence in str(refused.value)


def test_a_link_out_of_the_study_s_folder_is_no_file_beside_it(study, tmp_path):
    (tmp_path / "out.trace").symlink_to("/etc/hostname")
    with pytest.raises(studies.StudyError, match="lies elsewhere"):
        scenario = {"id": "x", "link": {"trace": {"file": "out.trace"}}}
        studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, str(tmp_path / "s.yaml"))
