"""One study on Linux and in ns-3: the same tables, and refusals before anything runs."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STUDY = "config/studies/platforms.yaml"


@pytest.fixture
def checkout(fresh):
    shutil.copy(Path(__file__).with_name("platforms.yaml"), fresh.folder / STUDY)
    return fresh


#: What only a kernel counts.
KERNEL_COUNTERS = {
    "out_of_order_segments", "out_of_order_mptcp", "reordering_events", "recoveries", "recoveries_undone",
    "duplicate_segments", "spurious_retransmits", "window_limited_percent",
}  # fmt: skip


@pytest.mark.long
def test_both_platforms_fill_the_same_tables(checkout):
    checkout.snakemake("--cores", "all", "--configfile", STUDY, "--", "results/platforms/tidy/runs.csv")
    with (checkout.folder / "results/platforms/tidy/runs.csv").open() as stream:
        runs = list(csv.DictReader(stream))
    assert [run["invalid_because"] for run in runs] == [""] * 8
    by_platform = {platform: [run for run in runs if run["platform"] == platform] for platform in ("uml", "ns3:3.44")}
    assert [len(group) for group in by_platform.values()] == [4, 4]
    # What stands in one platform's rows stands in the other's.
    filled = [{name for run in group for name, value in run.items() if value} for group in by_platform.values()]
    # Whether flows come together is a matter of each run.
    assert filled[0] - filled[1] - {"convergence_s"} == KERNEL_COUNTERS
    assert filled[1] <= filled[0] | {"convergence_s"}
    # Two flows of Reno or CUBIC fill this link on either platform, to a few percent.
    for emulated, simulated in zip(*by_platform.values(), strict=True):
        assert (emulated["cca"], emulated["ip_version"]) == (simulated["cca"], simulated["ip_version"])
        assert float(simulated["goodput_mbps"]) == pytest.approx(float(emulated["goodput_mbps"]), rel=0.05)
        assert float(simulated["rtt_mean_ms"]) == pytest.approx(float(emulated["rtt_mean_ms"]), rel=0.25)
    # A second call has nothing to do.
    assert "emulate_run" not in checkout.planned("--configfile", STUDY, "--", "results/platforms/tidy/runs.csv")


def changed(text, line):
    """Return the study with one line replaced by another with the same key, or with that line added to the defaults."""
    key = line.partition(":")[0]
    old = re.search(rf"^( *){key}: .*$", text, re.M)
    if old:
        return text.replace(old[0], old[1] + line, 1)
    return text.replace("defaults:\n", f"defaults:\n  {line}\n", 1)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "ccas: [reno, cdg]",
            "scenarios[ns3].platform is ns3:3.44, which has no cdg; allowed there: bbr, bic, cubic, highspeed,",
        ),
        (
            "link: {rate_mbps: 10, delay_ms: 10, jitter_ms: 1}",
            "scenarios[ns3].link.jitter_ms.forward is 1; allowed on ns3:3.44: 0.",
        ),
        (
            "transport: {segmentation_offload: true}",
            "scenarios[ns3].transport.segmentation_offload is true; allowed on ns3:3.44: false, because it has no super-packets.",
        ),
        (
            "transport: {recovery: classic}",
            "scenarios[linux].transport.recovery is classic; allowed on uml: prr, the only recovery in Linux.",
        ),
    ],
)
def test_each_platform_refuses_what_it_lacks_before_any_run(checkout, line, sentence):
    file = checkout.folder / STUDY
    file.write_text(changed(file.read_text(), line))
    status, output = checkout.snakemake("--cores", "1", "--configfile", STUDY, check=False)
    assert status != 0
    assert f"sawtooth: {STUDY}: {sentence}" in output
    assert "Traceback" not in output
    assert not (checkout.folder / "results").exists()


def test_another_processor_is_refused_in_one_sentence(checkout):
    """personality(2) makes the machine look like one with a 32-bit processor."""
    if not shutil.which("setarch"):
        pytest.skip("setarch (util-linux) is missing")
    done = subprocess.run(
        ["setarch", "linux32", Path(sys.executable).with_name("snakemake"), "--cores", "1", "-n", "--configfile", STUDY],
        cwd=checkout.folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert (
        "platform uml runs only on x86-64 processors, and this machine has i686; allowed on this machine:"
        in done.stderr + done.stdout
    )
