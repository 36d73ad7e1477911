"""Damaged packets in the guest kernel: as many as its random numbers produce from the seed, and the check that detects fewer or more."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from experiment.specification import RunSpecification
from testbed.checks.link_option_counts import damaged
from testbed.checks.loss_replay import CERTAIN, random_numbers

LINK = {"rate_mbps": 20, "delay_ms": {"forward": 5, "reverse": 5}}


@pytest.mark.parametrize("ip_version", ["ipv4", "ipv6"])
def test_packets_come_damaged_as_the_seed_says_and_tcp_sends_them_again(run, ip_version):
    """netem draws a number for each packet; in a full packet's 1,514 bytes, 14 to 56 have bits whose damage no host's checksum detects."""
    document = run(
        ip_version=ip_version,
        link=LINK | {"corrupt_percent": {"forward": 2, "reverse": 0}},
        queue={"packets": 400},
        traffic={"duration_s": 10},
    )
    noticed, packets, _ = damaged(RunSpecification(document["specification"]), document, "forward")
    numbers = random_numbers(document["network"]["set"]["qdiscs"]["r2-in1"]["netem"]["seed"])
    by_seed = sum(round(0.02 * CERTAIN) >= next(numbers) for _ in range(packets))
    assert 0.9 * by_seed - 3 <= noticed <= by_seed and noticed > 50
    assert document["network"]["read_back"]["interfaces"]["r2-in1"]["qdiscs"]["netem"]["corrupt_percent"] == 2
    assert document["links"]["after"]["r1-eth1"]["qdiscs"]["pfifo"]["drops"] == 0
    # A segment whose header is damaged is lost before a checksum of TCP's is looked at.
    again = document["traffic"][0]["client"]["end"]["sum_sent"]["retransmits"]
    assert again >= noticed - 3
    assert "corruption" in [check["name"] for check in document["verdict"]["checks"]]


@pytest.mark.parametrize("behind_its_back", [0, 4])
def test_a_run_with_fewer_or_more_damaged_packets_than_asked_for_is_invalid(
    specification, testbed, tmp_path, behind_its_back
):
    """netem gets another share after everything has been read back."""
    workflow = tmp_path / "workflow"
    shutil.copytree(
        Path(__file__).resolve().parents[2] / "workflow", workflow, ignore=shutil.ignore_patterns("__pycache__")
    )
    guest = workflow / "testbed/guest.py"
    change = f"qdisc change dev r2-in1 root handle 20: netem limit 1000000 corrupt {behind_its_back}%"
    text = guest.read_text().replace(
        'step("idle RTT")\n', f'step("idle RTT")\n    links.batch(path.net["r2"], "tc", ["{change}"])\n'
    )
    guest.write_text(text)
    asked = specification(link=LINK | {"corrupt_percent": {"forward": 1, "reverse": 0}}, traffic={"duration_s": 10})
    assert testbed(asked, tmp_path / "run.json.gz", workflow=workflow).returncode == 0
    verdict = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))["verdict"]
    # What was read back again after the traffic is a different setting, too.
    assert [check["name"] for check in verdict["checks"] if not check["ok"]] == ["corruption", "unchanged"]
    assert not verdict["valid"]


def test_the_same_bits_flip_in_every_execution(run):
    """The position of a flipped bit doesn't come from netem's seed but from the kernel's pool, which is filled from the run's seed."""
    asked = {"ip_version": "ipv6", "link": LINK | {"corrupt_percent": {"forward": 2, "reverse": 2}}}
    assert run(**asked) == run(**asked)
