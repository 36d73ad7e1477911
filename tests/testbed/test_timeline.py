"""From a timeline to single changes, and values derived from them: mean rates, losses by phase, the shortest path."""

from types import SimpleNamespace

import pytest

from experiment.specification import RunSpecification
from experiment.timeline import Timeline
from testbed.checks.loss_checks import judge_loss
from testbed.checks.loss_phases import check_phases, loss_phases
from testbed.checks.timeline_checks import left_too_slowly

LINK = {"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 20}, "loss_percent": {"forward": 1, "reverse": 0}}
S = 1_000_000_000


def entry(at_s, direction="both", over_s=0, step_ms=100, **values):
    nothing = dict.fromkeys(("rate_mbps", "delay_ms", "loss_percent", "down_for_s"))
    return nothing | {"at_s": at_s, "direction": direction, "over_s": over_s, "step_ms": step_ms} | values


def timeline(*entries, duration_s=10, **link):
    return Timeline(LINK | {"timeline": list(entries)} | link, duration_s)


def told(changes):
    return [(c.at_ns / S, c.direction, c.quantity, c.value, c.kind) for c in changes]


def test_a_step_of_both_directions_is_two_changes():
    changes = timeline(entry(2.5, rate_mbps=100)).changes
    assert told(changes) == [(2.5, "forward", "rate_mbps", 100, "step"), (2.5, "reverse", "rate_mbps", 100, "step")]


def test_a_ramp_goes_in_equal_steps_from_what_is_in_force_and_ends_on_its_value():
    earlier, ramp = entry(1, "forward", delay_ms=30), entry(2, "forward", 0.25, 100, delay_ms=80)
    assert told(timeline(ramp, earlier).changes) == [
        (1, "forward", "delay_ms", 30, "step"),
        (2.1, "forward", "delay_ms", 50, "ramp"),
        (2.2, "forward", "delay_ms", 70, "ramp"),
        (2.25, "forward", "delay_ms", 80, "ramp"),
    ]


def test_a_link_that_is_down_loses_all_and_has_its_own_loss_again_afterwards():
    changes = timeline(entry(1, "forward", loss_percent=3), entry(4, "forward", down_for_s=2)).changes
    assert told(changes)[1:] == [(4, "forward", "loss_percent", 100, "down"), (6, "forward", "loss_percent", 3, "up")]


def test_rates_are_whole_bytes_a_second_as_linux_counts_them():
    (change,) = timeline(entry(1, "forward", rate_mbps=1.2345678)).changes
    assert change.value * 1e6 / 8 == pytest.approx(round(1.2345678e6 / 8), abs=1e-6)


def test_a_value_that_a_change_at_0_replaces_is_never_in_force():
    made = timeline(entry(0, "forward", rate_mbps=100, delay_ms=50, loss_percent=0), entry(3, "forward", delay_ms=60))
    assert made.values("forward", "delay_ms") == [(0, 50), (3 * S, 60)]
    assert [made.least("forward", name) for name in ("rate_mbps", "delay_ms", "loss_percent")] == [100, 50, 0]
    assert made.values("reverse", "delay_ms") == [(0, 20)]
    # The link's own value applies until the traffic begins.
    assert made.values_with_first("forward", "loss_percent") == [(0, 1), (0, 0)]
    ramp = timeline(entry(0, "forward", over_s=0.2, delay_ms=50))
    assert (ramp.least("forward", "delay_ms"), ramp.most("forward", "delay_ms")) == (10, 50)
    trace = {"direction": "forward", "step_ms": 100, "rates_mbps": [20, 30], "period_ms": None}
    assert timeline(trace=trace).least("forward", "rate_mbps") == 20


def test_values_mean_rate_and_extremes_follow_from_the_changes():
    made = timeline(entry(2, "forward", rate_mbps=100), entry(4, "forward", rate_mbps=1, delay_ms=5))
    assert made.mean_rate_mbps(1 * S, 5 * S) == pytest.approx((10 + 200 + 1) / 4)
    assert made.mean_rate_mbps(-2 * S, 2 * S) == 10
    assert [made.value_at("forward", "rate_mbps", at) for at in (0, 2 * S - 1, 2 * S, 9 * S)] == [10, 10, 100, 1]
    assert (made.least("forward", "rate_mbps"), made.most("forward", "rate_mbps")) == (1, 100)
    assert (made.least("forward", "delay_ms"), made.most("reverse", "delay_ms")) == (5, 20)
    assert not timeline() and made


def specification(*entries, **access):
    hosts = {"pairs": 1, "access_delay_ms": [0]} | access
    scenario = {
        "hosts": hosts, "topology": "dumbbell", "flows": 1, "multipath": {"paths": 1, "by": "none", "tunnel_ip_version": "ipv4", "distribution": "round-robin", "path_delay_ms": [0]},
        "link": LINK | {"jitter_ms": {"forward": 0, "reverse": 0}, "netem": "receiving-side", "frame_overhead_bytes": 0, "serialisation": "never", "timeline": list(entries)},
    }  # fmt: skip
    made = RunSpecification({"scenario": scenario})
    made.__dict__["timeline"] = Timeline(scenario["link"], 10)
    made.__dict__["traffic"] = type("Traffic", (), {"protocol": "tcp"})
    return made


def netem(packets, drops, waiting):
    return {"packets": packets, "drops": drops, "backlog_packets": waiting}


def document(down, up, after):
    changes = [
        {"direction": "forward", "quantity": "loss_percent", "value": value, "devices": {"r2-eth0": counted}}
        for value, counted in ((100, down), (1, up))
    ]
    links = {
        when: {"r2-eth0": {"qdiscs": {"netem": counted}}}
        for when, counted in (("before", netem(20, 1, 0)), ("after", after))
    }
    return {"network": {"set": {"netem": {"forward": ["r2-eth0"]}}}, "timeline": changes, "links": links}


def test_losses_are_counted_and_judged_phase_by_phase():
    run = specification(entry(4, "forward", down_for_s=2))
    counted = document(netem(1000, 11, 10), netem(1010, 61, 0), netem(2000, 71, 0))
    phases = loss_phases(run, counted, "forward")
    assert phases == [(1, 1000, 10), (100, 50, 50), (1, 1000, 10)]
    assert check_phases("loss_forward", phases, judge_loss).ok
    leaking = loss_phases(run, document(netem(1000, 11, 10), netem(1011, 60, 0), netem(2000, 70, 0)), "forward")
    assert not check_phases("loss_forward", leaking, judge_loss).ok


@pytest.mark.parametrize(
    "rate_mbps, waited, left, is_wrong",
    [
        (
            100,
            51476,
            37850,
            False,
        ),  # measured: the packet that was begun takes 1.2 ms, in which ten pass at the new rate
        (100, 51476, 30000, True),
        (1, 74186, 74186, False),
        (1, 74186, 60000, True),
        (10, 74186, 68000, True),
    ],
)
def test_what_waits_at_a_change_of_rate_begins_to_leave_after_the_packet_that_was_begun(
    rate_mbps, waited, left, is_wrong
):
    specification = SimpleNamespace(rate_in=lambda _: 10, packet_bytes=1514)
    device = {"backlog_bytes": waited, "left_bytes": left, "dropped_packets": 0}
    done = [
        {
            "at_ns": S,
            "quantity": "rate_mbps",
            "value": rate_mbps,
            "direction": "forward",
            "devices": {"r1-eth1": device},
        }
    ]
    assert bool(left_too_slowly(specification, done)) == is_wrong
