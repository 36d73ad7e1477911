"""Queueing disciplines and ECN in a study: which values are filled in, and what is refused in one sentence."""

import pytest

from experiment.disciplines import DISCIPLINES
from study_files import study


def problems(config):
    with pytest.raises(study.StudyError) as caught:
        study.resolve(config, "small.yaml")
    return [line.removeprefix("small.yaml: scenarios[near].") for line in str(caught.value).splitlines()]


def near(small, **keys):
    small["scenarios"] = [{"id": "near", "link": {"rate_mbps": 10}, **keys}]
    return small


def test_a_queue_without_a_discipline_stays_as_it_was(small):
    for queue in ({"packets": 7}, {"packets": 7, "discipline": "drop-tail"}):
        assert study.resolve(near(small, queue=queue), "small.yaml")["scenarios"][0]["queue"] == {"packets": 7}


def test_a_run_without_ecn_is_specified_as_before_there_was_a_choice(small, tmp_path):
    resolved = study.resolve(near(small), "small.yaml")
    assert resolved["scenarios"][0]["transport"]["ecn"] == "off"
    specified = study.run_specification(resolved, "near", "reno", "ipv4", 1)["scenario"]
    assert "ecn" not in specified["transport"] and specified["queue"] == {"bdp": 1}
    path = tmp_path / "bare.yaml"
    path.write_text("study: a\nccas: [reno]\nscenarios: [{id: near, transport: {ecn: off, delayed_acks: off}}]\n")
    transport = study.resolve(study.load(path), "bare.yaml")["scenarios"][0]["transport"]
    assert (transport["ecn"], transport["delayed_acks"]) == ("off", False)


@pytest.mark.parametrize("name", [name for name, one in DISCIPLINES.items() if not one.limited_only])
def test_all_defaults_of_a_discipline_are_written_out(small, name):
    resolved = study.resolve(near(small, queue={"discipline": name}), "small.yaml")
    queue = resolved["scenarios"][0]["queue"]
    discipline = DISCIPLINES[name]
    defaults = {parameter.name: parameter.default for parameter in discipline.parameters}
    assert queue == discipline.size | {"discipline": name} | defaults
    assert study.resolve(resolved, "again.yaml") == resolved


def test_a_step_of_red_sets_both_thresholds(small):
    queue = {"discipline": "red", "step_packets": 20, "ecn": True}
    resolved = study.resolve(near(small, queue=queue), "small.yaml")
    queue = resolved["scenarios"][0]["queue"]
    assert (queue["min_packets"], queue["max_packets"], queue["probability"], queue["burst_packets"]) == (20, 20, 1, 20)
    assert study.resolve(resolved, "again.yaml") == resolved


@pytest.mark.parametrize(
    ("queue", "problem"),
    [
        ({"discipline": "codel", "step_packets": 3},
         "queue.step_packets is 3; allowed with queue.discipline codel: target_ms, interval_ms, ecn, ce_threshold_ms."),
        ({"packets": 10, "target_ms": 3},
         "queue.target_ms is 3; allowed with queue.discipline drop-tail: none of the parameters of disciplines."),
        ({"discipline": "pie", "target_ms": 2.5},
         "queue.target_ms is 2.5; allowed with queue.discipline pie: a whole number from 1 to 1000 (ms)."),
        ({"discipline": "codel", "bytes": 30_000},
         "queue.bytes is 30000; allowed with queue.discipline codel: packets or bdp, because it counts packets."),
        ({"discipline": "cake", "packets": 100},
         "queue.packets is 100; allowed with queue.discipline cake: bytes, because its limit is an amount of memory."),
        ({"discipline": "red", "min_packets": 20},
         "queue.min_packets is 20; allowed: at most queue.max_packets, 15."),
        ({"discipline": "red", "min_packets": 12},
         "queue.burst_packets is 9; allowed with queue.min_packets 12: at least as many packets, because tc computes the weight of the mean from both."),
        ({"discipline": "red", "step_packets": 20, "min_packets": 5},
         "queue.min_packets is 5; allowed with queue.step_packets 20: 20, the value set by the step."),
    ],
)  # fmt: skip
def test_what_contradicts_a_discipline_is_said(small, queue, problem):
    assert problems(near(small, queue=queue)) == [problem]


def test_a_discipline_needs_a_rate_and_fq_a_router(small):
    fq = {"queue": {"discipline": "fq"}}
    assert problems(near(small, topology="cable", **fq)) == [
        "queue.discipline is fq; allowed with topology cable: any other, because on a sending host fq would do the pacing, "
        "which TCP itself does here."
    ]
    offload = {"transport": {"segmentation_offload": True}, "queue": {"discipline": "codel"}}
    assert problems(near(small, **offload)) == [
        "queue.discipline is codel; allowed with transport.segmentation_offload: drop-tail, because any other would mark and count "
        "super-packets."
    ]
    unlimited = {"link": {"rate_mbps": None}, "traffic": {"bitrate_mbps": 5}, "queue": {"discipline": "codel"}}
    small["scenarios"] = [{"id": "near", **unlimited}]
    assert problems(small)[0].startswith("queue.discipline is codel; allowed without a link.rate_mbps: drop-tail")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"queue": {"discipline": "cake"}}, "queue.discipline is cake; allowed on ns3:3.44: drop-tail, red, codel, fq_codel, pie, fq_pie."),
        ({"transport": {"ecn": "classic"}}, "transport.ecn is classic; allowed on ns3:3.44: off."),
    ],
)  # fmt: skip
def test_ns3_has_some_disciplines_without_ecn(small, keys, problem):
    assert problems(near(small, platform="ns3:3.44", **keys)) == [problem]


@pytest.mark.parametrize(
    ("queue", "key"),
    [
        ({"discipline": "red", "probability": 1}, "queue.probability is 1"),
        ({"discipline": "red", "max_packets": 100_000}, "queue.max_packets is 100000"),
        ({"discipline": "red", "min_packets": 1}, "queue.max_packets is 15"),
        ({"discipline": "red", "burst_packets": 10_000}, "queue.max_packets is 15"),
        ({"discipline": "red", "step_packets": 1_000_000}, "queue.step_packets is 1e+06"),
        ({"discipline": "pie", "alpha": 0}, "queue.alpha is 0"),
        ({"discipline": "fq_pie", "ecn_prob_percent": 100}, "queue.ecn_prob_percent is 100"),
        ({"discipline": "fq", "initial_quantum_bytes": 2_000_000}, "queue.initial_quantum_bytes is 2000000"),
        ({"discipline": "sfq", "depth_packets": 2, "packets": 300}, "queue.packets is 300"),
    ],
)
def test_what_tc_or_the_kernel_would_not_take_is_refused(small, queue, key):
    """As observed in the guest, each of these values is an error of tc or is read back as a different value."""
    (sentence,) = problems(near(small, queue=queue))
    assert sentence.startswith(f"{key}") or f".{key}" in sentence


@pytest.mark.parametrize(
    "queue", [{"discipline": "red", "step_packets": 100}, {"discipline": "red", "probability": 0.99}]
)
def test_red_at_its_limits_is_allowed(small, queue):
    study.resolve(near(small, queue=queue), "small.yaml")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"link": {"rate_mbps": 50, "delay_ms": 50}, "queue": {"discipline": "sfq", "bdp": 3, "depth_packets": 5}},
         "queue.bdp is 3, 1239 packets; allowed with queue.depth_packets 5: up to 640 packets, because SFQ has 128 flows of that depth."),
        ({"reverse_queue": {"discipline": "sfq", "packets": 300, "depth_packets": 2}},
         "reverse_queue.packets is 300; allowed with reverse_queue.depth_packets 2: up to 256 packets, because SFQ has 128 flows of that depth."),
        ({"queue": {"discipline": "sfq", "packets": 1}}, "queue.packets is 1; allowed with queue.discipline sfq: at least 2 packets."),
        ({"queue": {"discipline": "cake", "bytes": 4541}}, "queue.bytes is 4541; allowed with queue.discipline cake: at least 3 packets, 4542 bytes."),
        ({"link": {"rate_mbps": 10, "netem": "both-ends"}, "queue": {"packets": 3}}, "queue.packets is 3; allowed with link.netem both-ends: at least 4 packets."),
    ],
)  # fmt: skip
def test_a_queue_too_small_or_too_large_for_its_discipline_is_refused(small, keys, problem):
    """As observed in the guest, tc refuses each of these sizes, or no full packet passes."""
    assert problems(
        near(small, queue={"packets": 50}) | {"scenarios": [{"id": "near", "link": {"rate_mbps": 10}} | keys]}
    ) == [problem]


@pytest.mark.parametrize(
    ("discipline", "name", "value", "words", "expected"),
    [
        ("cake", "rtt_ms", 1.66667, "rtt 1667us", 1.667),
        ("dualpi2", "step_threshold_ms", 2.5005, "step_thresh 2500us", 2.5),
        ("codel", "target_ms", 0.01049, "target 10us", 0.009),
        ("codel", "interval_ms", 33.33333, "interval 33333us", 33.332),
        ("pie", "target_ms", 15, "target 15000us", 15),
    ],
)
def test_times_are_read_back_in_the_microseconds_that_were_written(discipline, name, value, words, expected):
    parameter = DISCIPLINES[discipline].parameter(name)
    assert (parameter.written(value), parameter.read_back_of(value)) == (words, pytest.approx(expected, abs=1e-9))
