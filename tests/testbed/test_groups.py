"""Draws for web objects against their distributions, and checks of groups on planted faults."""

import copy
import math
from dataclasses import replace

import pytest
from scipy import stats

from experiment.flow_groups import FlowGroup
from experiment.specification import RunSpecification
from experiment.web_objects import DISTRIBUTIONS, drawn_objects, mean_bytes
from testbed.checks.group_checks import check_real_time, check_web_cca, check_web_objects
from testbed.traffic.real_time import send_times_ns, stream_offset_ns

WEB = FlowGroup("web", "web", "own", 1, None, None, 2, 602, None, None, None, 20, "main-object", None, 200, 20)
CALL = FlowGroup("call", "real-time", "own", 2, None, None, 1, 1.1, None, None, None, None, "fixed", None, 200, 20)


@pytest.fixture
def specification(recorded):
    """The specification of a recorded run with the given groups."""

    def make(*groups):
        document = copy.deepcopy(recorded("lossy-reno-ipv4")["specification"])
        document["scenario"]["groups"] = [vars(group) for group in groups]
        return RunSpecification(document)

    return make


def test_arrivals_are_a_poisson_process(specification):
    times_ns, sizes = drawn_objects(specification(WEB), WEB)
    assert (times_ns, sizes) == drawn_objects(specification(WEB), WEB)
    assert times_ns == sorted(times_ns) and times_ns[0] >= 2e9 and times_ns[-1] < 602e9
    # There are 12,000 on average; the standard deviation is the root of that.
    assert abs(len(times_ns) - 12_000) < 4 * math.sqrt(12_000)
    gaps_s = [(later - earlier) / 1e9 for earlier, later in zip([2 * 10**9, *times_ns], times_ns, strict=False)]
    assert stats.kstest(gaps_s, stats.expon(scale=1 / 20).cdf).pvalue > 0.01


def test_another_rate_leaves_the_sizes_what_they_are(specification):
    slow = replace(WEB, arrivals_per_s=5)
    assert (
        drawn_objects(specification(slow), slow)[1]
        == drawn_objects(specification(WEB), WEB)[1][: len(drawn_objects(specification(slow), slow)[1])]
    )
    other = replace(WEB, name="other")
    assert drawn_objects(specification(other), other)[0] != drawn_objects(specification(WEB), WEB)[0]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_sizes_are_those_of_the_model(specification, name):
    group, model = replace(WEB, sizes=name), DISTRIBUTIONS[name]
    _, sizes = drawn_objects(specification(group), group)
    assert model.least_bytes <= min(sizes) and max(sizes) <= model.most_bytes
    # scipy's log-normal, cut off as the model says.
    whole = stats.lognorm(model.sigma, scale=math.exp(model.mu))
    low, high = whole.cdf([model.least_bytes, model.most_bytes])
    assert stats.kstest(sizes, lambda size: (whole.cdf(size) - low) / (high - low)).pvalue > 0.01
    assert whole.mean() == pytest.approx(model.mean_bytes) and whole.std() == pytest.approx(model.deviation_bytes)
    expected = whole.expect(lambda size: size, lb=model.least_bytes, ub=model.most_bytes, conditional=True)
    assert mean_bytes(name, None) == pytest.approx(expected, rel=1e-6)


def test_the_model_has_the_parameters_that_its_standard_prints():
    main, embedded = DISTRIBUTIONS["main-object"], DISTRIBUTIONS["embedded-object"]
    assert (round(main.sigma, 2), round(embedded.sigma, 2), round(embedded.mu, 2)) == (1.37, 2.36, 6.17)


def test_incast_asks_for_all_at_once(specification):
    group = replace(WEB, arrivals_per_s=None, count=40, sizes="fixed", bytes=20_000, stop_s=None)
    assert drawn_objects(specification(group), group) == ([2 * 10**9] * 40, [20_000] * 40)


@pytest.fixture
def web(specification):
    """Specification and document of a run whose objects all arrived."""
    run = specification(replace(WEB, stop_s=4))
    times_ns, sizes = drawn_objects(run, run.groups[0])
    objects = {
        "group": "web", "sender": "h1", "receiver": "h2", "cca": "reno", "bytes": sizes, "start_ns": [at + 256 for at in times_ns],
        "completion_ns": [10**8] * len(sizes), "body_bytes": list(sizes), "header_bytes": [221] * len(sizes), "failures": {},
    }  # fmt: skip
    return run, {"web": [objects]}


def fail(number, why):
    def change(counted):
        counted["completion_ns"][number] = None
        if why:
            counted["failures"][str(number)] = why

    return change


@pytest.mark.parametrize(
    ("change", "ok"),
    [
        (lambda counted: None, True),
        (fail(3, "ETIMEDOUT"), True),
        (fail(3, "not complete at the end of the run"), True),
        (fail(3, "HTTP/1.1 404 Not Found"), False),
        (fail(3, "ECONNREFUSED"), False),
        (fail(3, None), False),
        (lambda counted: counted["body_bytes"].__setitem__(2, counted["bytes"][2] - 1), False),
        (lambda counted: counted["bytes"].__setitem__(2, 1), False),
        (lambda counted: counted["start_ns"].__setitem__(2, counted["start_ns"][2] + 50_000), False),
        (lambda counted: counted["start_ns"].__setitem__(2, None), False),
    ],
)
def test_objects_are_judged(web, change, ok):
    run, document = web
    change(document["web"][0])
    assert check_web_objects(run, document).ok is ok


def test_the_servers_cca_is_judged(web):
    run, document = web
    assert check_web_cca(run, document).ok
    document["web"][0]["cca"] = "cubic"
    assert not check_web_cca(run, document).ok


@pytest.fixture
def call(specification):
    run = specification(CALL)
    times_ns = send_times_ns(CALL)
    assert times_ns == [1_000_000_000 + 20_000_000 * number for number in range(5)]
    assert [stream_offset_ns(CALL, stream) for stream in (0, 1)] == [0, 10_000_000]
    path_ns = round(run.link.delay_ms["forward"] * 1e6)
    streams = {
        "group": "call", "sender": "h1", "receiver": "h2", "packet_bytes": 200, "duplicates": 0, "damaged": 0,
        "sent_ns": [[at + offset + 256 for at in times_ns] for offset in (0, 10_000_000)],
        "delay_ns": [[path_ns + 256, None, path_ns + 9 * 10**6, path_ns, path_ns] for _ in range(2)],
    }  # fmt: skip
    nothing_lost = {"links": {"before": {}, "after": {}}, "stack": {"tcp": {}}}
    return run, {"real_time": [streams], **nothing_lost}


@pytest.mark.parametrize(
    ("change", "ok"),
    [
        ({}, True),
        ({"duplicates": 1}, False),
        ({"damaged": 1}, False),
        ({"delay_ns": [[None] * 5, [None] * 5]}, False),
        ({"delay_ns": [[1000] * 5, [1000] * 5]}, False),
        ({"sent_ns": [[10**9] * 5, [10**9] * 5]}, False),
        ({"sent_ns": [[10**9]]}, False),
    ],
)
def test_streams_are_judged(call, change, ok):
    run, document = call
    document["real_time"][0] |= change
    assert check_real_time(run, document).ok is ok
