"""Bottlenecks in a row on the guest kernel, against calculated values."""

import gzip
import json
import shutil

import pytest

from experiment.specification import RunSpecification
from run_tables.chain_metrics import bottleneck_rows
from run_tables.run_metrics import flow_metrics
from run_tables.tidy_rows import rows_of_run
from testbed.checks.chain_verification import not_forwarded, unaccounted


def bottleneck(rate_mbps, delay_ms, packets):
    return {
        "rate_mbps": rate_mbps,
        "delay_ms": {"forward": delay_ms, "reverse": delay_ms},
        "queue": {"packets": packets},
    }


THREE = {
    "topology": "chain",
    "chain": {"bottlenecks": [bottleneck(4, 3, 60), bottleneck(1, 5, 30), bottleneck(2, 7, 60)], "cross_flows": 1, "cross_cca": None},
    "hosts": {"pairs": 4, "access_delay_ms": [0, 1, 0, 2]},
}  # fmt: skip


@pytest.fixture
def chain_specification(specification):
    """A function that returns the specification of a run over three bottlenecks of 4, 1 and 2 Mbit/s."""

    def make(**changes):
        made = specification(**changes)
        made["scenario"] |= THREE
        return made

    return make


@pytest.fixture
def carried_out(testbed, tmp_path):
    """A function that executes a run, which must be valid, and returns its document and its bytes."""

    def carry_out(asked, name="run"):
        done = testbed(asked, tmp_path / f"{name}.json.gz")
        assert done.returncode == 0, done.stderr[-2000:]
        content = gzip.decompress((tmp_path / f"{name}.json.gz").read_bytes())
        document = json.loads(content)
        assert [check for check in document["verdict"]["checks"] if not check["ok"]] == []
        return document, content

    return carry_out


@pytest.mark.slow
def test_paths_times_queues_and_counters_of_each_bottleneck(chain_specification, carried_out):
    asked = chain_specification(
        ip_version="ipv6", traffic={"duration_s": 20, "sample_interval_ms": 20}, link={"serialisation": "virtual-clock"}
    )
    document, content = carried_out(asked)
    run = RunSpecification(document["specification"])
    # Delays of the links passed and of the hosts' own, and the echo's 118 bytes over each rate, to ping's microsecond.
    on_wire = [2 * 118 * 8 / rate / 1e3 for rate in (4, 1, 2)]
    exact = [30 + sum(on_wire), 10 + on_wire[0], 10 + on_wire[1], 22 + on_wire[2]]
    assert [idle["min_ms"] for idle in document["idle_rtt"]] == pytest.approx(exact, abs=0.0011)
    assert run.idle_rtts_ms == pytest.approx(exact, abs=1e-9)
    # Who passes what.
    assert [placed["flows"] for placed in document["network"]["set"]["chain"]] == [[0, 1], [0, 2], [0, 3]]
    flows = flow_metrics(document)
    assert [(flow["hops"], flow["first_hop"], flow["pair"]) for flow in flows] == [
        (3, 1, 1),
        (1, 1, 2),
        (1, 2, 3),
        (1, 3, 4),
    ]
    # Each queue is full to its limit at some time, by samples of it, and never beyond.
    series = document["series"]["queues"]
    assert [max(queue["packets"]) for queue in series] == [60, 30, 60]
    # Each has as many drops as its samples saw until the last, and no packet is unaccounted for but the hosts' own
    # multicast, reports of their groups and solicitations of routers, which goes no further (that on control links is counted too).
    rows = bottleneck_rows(document)
    for row, queue in zip(rows, series, strict=True):
        assert 0 <= row["queue_drops"] - queue["drops"][-1] <= 2 and row["link_drops"] == 0
        for direction in ("forward", "reverse"):
            own = not_forwarded(run, document, row["bottleneck"], direction)
            assert 0 <= unaccounted(run, document, row["bottleneck"], direction) <= own <= 32
        # Two flows that never pause fill each bottleneck, with what headers leave.
        assert row["ideal_goodput_mbps"] == pytest.approx(row["rate_mbps"] * 1428 / 1514)
        assert row["goodput_mbps"] == pytest.approx(row["ideal_goodput_mbps"], rel=0.02)
    whole, of_flows, _, _ = rows_of_run(document, "label", "0")
    assert (whole["rate_mbps"], whole["queue_packets"], whole["flows"], whole["bottlenecks"]) == (1, 30, 4, 3)
    assert whole["queue_drops"] == sum(row["queue_drops"] for row in rows)
    # The same seed gives the same bytes.
    assert carried_out(asked, "again")[1] == content


def test_the_queue_stands_at_the_least_rate(chain_specification, carried_out):
    # The cross flows are held to less than what the long flow leaves of the wider bottlenecks.
    asked = chain_specification(traffic={"duration_s": 10, "sample_interval_ms": 50})
    asked["scenario"]["traffic"] |= {"bitrate_mbps": 0.6, "block_bytes": 1448}
    document, _ = carried_out(asked)
    wide, narrow, last = (row["queue_mean_packets"] for row in bottleneck_rows(document))
    assert narrow > 5 and max(wide, last) < 1


def test_a_file_more_beside_the_testbed_moves_nothing(chain_specification, testbed, root, tmp_path):
    """The guest sees the file in its folder, and the document has a different identity. Flows that begin together over one bottleneck would
    show a nanosecond."""
    documents = []
    for files in (0, 5):
        workflow, output = tmp_path / f"with-{files}", tmp_path / f"{files}.json.gz"
        for part in ("experiment", "testbed", "schemas"):
            shutil.copytree(root / "workflow" / part, workflow / part)
        for number in range(files):
            (workflow / f"testbed/unused_{number}.py").write_text('"""Nothing."""\n')
        done = testbed(chain_specification(traffic={"duration_s": 5}), output, workflow=workflow)
        assert done.returncode == 0, done.stderr[-2000:]
        documents.append(json.loads(gzip.decompress(output.read_bytes())))
    digests = {document["environment"].pop("testbed_digest") for document in documents}
    assert len(digests) == 2 and documents[0] == documents[1]
