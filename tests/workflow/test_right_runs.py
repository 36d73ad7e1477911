"""No check fails because of the measured values: drawn runs that follow their configuration are valid, in the real testbed."""

import gzip
import itertools
import json
from functools import partial
from pathlib import Path

import pytest

import right_runs
from experiment.specification import RunSpecification
from run_tables.run_metrics import flow_metrics, run_metrics
from study_files import study as studies
from testbed.checks.chain_verification import CHAIN_INSTEAD
from testbed.checks.lost_packets import packets_lost
from testbed.checks.verification import checks_of
from wording.check_words import CHECK_WORDS

#: A family whose runs take a minute.
LARGEST = "crowds"


@pytest.fixture
def carried(testbed, tmp_path):
    """A function that executes a run and returns its document."""

    def carry_out(specification):
        done = testbed(specification, tmp_path / "run.json.gz")
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))

    return carry_out


def failed(document):
    return {check["name"]: check["observed"] for check in document["verdict"]["checks"] if not check["ok"]}


def test_every_check_has_drawn_runs_near_its_bound():
    names = set()
    for family, number in itertools.product(right_runs.FAMILIES, range(16)):
        for check in checks_of(RunSpecification(right_runs.specification_of(family, number))):
            names.add(check.args[0].check if isinstance(check, partial) else check.__name__.removeprefix("check_"))
    # A chain's are of the same names as those of one bottleneck.
    assert names - set(CHECK_WORDS) <= {one.__name__.removeprefix("check_") for one in CHAIN_INSTEAD.values()}
    assert set(CHECK_WORDS) - names == set(right_runs.NOT_DRAWN)


@pytest.mark.parametrize(
    "family", [pytest.param(name, marks=[pytest.mark.long] if name == LARGEST else []) for name in right_runs.FAMILIES]
)
def test_a_right_run_is_valid(carried, family):
    assert failed(carried(right_runs.specification_of(family, 0))) == {}


@pytest.mark.long
@pytest.mark.parametrize("number", range(1, 16))
@pytest.mark.parametrize("family", right_runs.FAMILIES)
def test_more_right_runs_are_valid(carried, family, number):
    assert failed(carried(right_runs.specification_of(family, number))) == {}


def lossy(replication, **scenario):
    """Return the specification of a run over a path that loses 40 % of the packets in both directions."""
    link = {"rate_mbps": 20, "delay_ms": 20, "loss_percent": 40}
    config = {
        "study": "lossy", "title": "lossy", "seed": 3, "replications": replication, "ccas": ["cubic"], "ip_versions": ["ipv4"],
        "scenarios": [{"id": "s", "link": link, "queue": {"bdp": 1}} | scenario],
    }  # fmt: skip
    study = studies.resolve(config, Path("lossy.yaml"))
    return studies.run_specification(study, "s", "cubic", "ipv4", replication)


def test_a_flow_whose_first_packets_are_lost_begins_late_and_is_measured(carried):
    document = carried(lossy(1, flows=3, traffic={"duration_s": 4}))
    assert failed(document) == {}
    assert packets_lost(document) > 0
    (overlap,) = (check for check in document["verdict"]["checks"] if check["name"] == "overlap")
    assert "(packets were lost)" in overlap["observed"]
    flows = flow_metrics(document)
    assert None not in [flow["goodput_mbps"] for flow in flows]
    assert run_metrics(document, flows)["goodput_mbps"] > 0


def test_all_of_a_saturating_flow_of_udp_is_accounted_for(carried):
    """The last packets wait in the queue when iperf3 stops counting; the lost packets are those that don't fit the link."""
    traffic = {"duration_s": 3, "protocol": "udp", "block_bytes": 1440, "bitrate_mbps": 10}
    link = {"rate_mbps": 10, "delay_ms": 5, "loss_percent": 0}
    document = carried(lossy(1, link=link, queue={"packets": 100}, flows=4, traffic=traffic))
    assert failed(document) == {}
    flows = flow_metrics(document)
    total, ideal = (run_metrics(document, flows)[name] for name in ("goodput_mbps", "ideal_goodput_mbps"))
    assert 0.98 * ideal < total <= ideal
    assert run_metrics(document, flows)["loss_percent"] == pytest.approx(100 * (1 - 9.717 / 40), abs=1.5)


@pytest.mark.slow
def test_streams_of_udp_begin_also_where_openings_and_answers_are_lost(carried):
    """iperf3's own client sends the opening once, so with four streams 1 - 0.64^4 = 83 % of the runs would fail."""
    traffic = {"duration_s": 6, "protocol": "udp", "block_bytes": 1440, "bitrate_mbps": 1}
    for replication in (1, 2, 3):
        document = carried(
            lossy(replication, link={"rate_mbps": 10, "delay_ms": 5, "loss_percent": 20}, flows=4, traffic=traffic)
        )
        assert failed(document) == {}
        # 20 % of 1 Mbit/s are lost; a window of few datagrams scatters by some per cent.
        assert [flow["goodput_mbps"] for flow in flow_metrics(document)] == pytest.approx([0.8] * 4, abs=0.15)


@pytest.mark.slow
def test_a_flow_may_wait_longer_than_iperf3_for_its_first_bytes(carried):
    """Half of the packets are lost in both directions: a greeting may take more than ten seconds to arrive."""
    for replication in (1, 2, 3, 4):
        document = carried(lossy(replication, link={"loss_percent": 55}, flows=6, traffic={"duration_s": 2}))
        assert failed(document) == {}
