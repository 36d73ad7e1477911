"""The smoke study from end to end: what a user gets, and what a second call does."""
import csv
import gzip
import json

import pytest

SMOKE = ("--configfile", "config/studies/smoke.yaml")
SLOW, LOSSY = "10mbit-20ms-0pct-1flow", "100mbit-10ms-1pct-4flows"


@pytest.fixture(scope="session")
def runs(smoke):
    with (smoke.folder / "results/smoke/tidy/runs.csv").open() as stream:
        return list(csv.DictReader(stream))


def mean(runs, metric, **factors):
    values = [float(run[metric]) for run in runs if all(run[k] == v for k, v in factors.items())]
    assert values
    return sum(values) / len(values)


def test_all_runs_are_there_and_valid(runs):
    assert len(runs) == 16
    assert [run["invalid_because"] for run in runs if run["valid"] != "True"] == []


def test_every_cca_is_what_it_says(smoke, runs):
    """Vegas is Vegas: read from iperf3's own JSON."""
    for run in runs:
        path = smoke.document_path(run["scenario"], run["cca"], run["ip_version"], run["replication"])
        document = json.loads(gzip.decompress(path.read_bytes()))
        observed = {p["client"]["end"]["sender_tcp_congestion"] for p in document["traffic"]}
        assert observed == {run["cca"]}


def test_vegas_keeps_its_queue_short_where_reno_fills_it(runs):
    """RTT of the path 40 ms, of the full queue 33 packets x 1514 bytes / 10 Mbit/s = 40 ms more."""
    for ip_version in ("ipv4", "ipv6"):
        reno = mean(runs, "rtt_mean_ms", scenario=SLOW, cca="reno", ip_version=ip_version)
        vegas = mean(runs, "rtt_mean_ms", scenario=SLOW, cca="vegas", ip_version=ip_version)
        # Vegas holds alpha to beta = 2 to 4 packets, 1.2 ms each.
        assert 40 < vegas < 40 + 7 < 55 < reno < 80


def test_random_loss_follows_the_square_root_law(runs):
    """Reno per flow: MSS / RTT x sqrt(3/2) / sqrt(p) (Mathis et al., 1997); within a factor of 2."""
    for run in runs:
        if run["scenario"] == LOSSY and run["cca"] == "reno":
            per_flow = float(run["goodput_mbps"]) / 4
            loss = float(run["link_drops"]) / float(run["packets_sent"])
            law = 1448 * 8 / (float(run["rtt_mean_ms"]) / 1e3) * (1.5 / loss) ** 0.5 / 1e6
            assert law / 2 < per_flow < law * 2


def test_ipv6_costs_its_header(runs):
    """A full link's goodput is that of the payload: 1428/1448 of IPv4's."""
    four = mean(runs, "goodput_mbps", scenario=SLOW, cca="reno", ip_version="ipv4")
    six = mean(runs, "goodput_mbps", scenario=SLOW, cca="reno", ip_version="ipv6")
    assert six / four == pytest.approx(1428 / 1448, rel=0.01)


def test_report_and_figures_are_there(smoke):
    folder = smoke.folder / "results/smoke"
    page = (folder / "report.html").read_text()
    assert "All 16 runs passed every check" in page
    # Each figure's panels are drawn by the browser: SVG without a prefix, two scenarios each.
    assert page.count('class="panel"') == 8
    assert page.count('<svg viewBox') >= 8
    assert "ns0:" not in page
    for name in ("goodput", "rtt", "loss", "retransmits"):
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 1000
        assert (folder / "figures" / f"{name}.csv").read_text().count("\n") > 8


def test_every_run_has_log_and_benchmark(smoke):
    folder = smoke.folder / "results/smoke"
    logs = sorted((folder / "logs/runs").rglob("*.log"))
    assert len(logs) == 16
    assert all(": valid; 10 s emulated in" in log.read_text() for log in logs)
    assert len(list((folder / "benchmarks/runs").rglob("*.tsv"))) == 16


def test_a_second_call_does_nothing(smoke):
    assert smoke.planned(*SMOKE) == {}


def test_a_changed_parameter_reruns_what_it_touches(copy_of_smoke):
    path = copy_of_smoke.folder / "config/studies/smoke.yaml"
    text = path.read_text()
    assert "delay_ms: 20" in text
    path.write_text(text.replace("delay_ms: 20", "delay_ms: 21"))
    planned = copy_of_smoke.planned(*SMOKE)
    assert planned["emulate_run"] == 8
    assert planned["tidy_runs"] == 1


def test_another_replication_leaves_the_others_alone(copy_of_smoke):
    assert copy_of_smoke.planned(*SMOKE, "--config", "replications=3")["emulate_run"] == 8


def test_a_changed_caption_reruns_figures_and_report_alone(copy_of_smoke):
    caption = copy_of_smoke.folder / "report/captions/goodput.rst"
    caption.write_text(caption.read_text() + "\nOne more sentence.\n")
    assert set(copy_of_smoke.planned(*SMOKE)) <= {"all", "plot_goodput", "write_report"}
    assert "write_report" in copy_of_smoke.planned(*SMOKE)


def test_a_changed_testbed_makes_all_runs_stale(copy_of_smoke):
    module = copy_of_smoke.folder / "workflow/testbed/traffic.py"
    module.write_text(module.read_text() + "\n# changed\n")
    assert copy_of_smoke.planned(*SMOKE)["emulate_run"] == 16


def test_a_deleted_run_is_made_again_with_the_same_bytes(copy_of_smoke, smoke):
    which = (LOSSY, "vegas", "ipv6", 2)
    path = copy_of_smoke.document_path(*which)
    path.unlink()
    copy_of_smoke.snakemake("--cores", "1", *SMOKE)
    assert path.read_bytes() == smoke.document_path(*which).read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "truncated or damaged"),
        (lambda path: path.write_bytes(gzip.compress(b'{"hello": 1}')), "no run document"),
        (
            lambda path: path.write_bytes(path.with_name("1.json.gz").read_bytes()),
            "its replication is 1, the study's is 2",
        ),
    ],
)
def test_a_broken_or_foreign_document_stops_the_stage_and_is_named(copy_of_smoke, damage, message):
    path = copy_of_smoke.document_path(SLOW, "reno", "ipv4", 2)
    damage(path)
    status, output = copy_of_smoke.snakemake("--cores", "1", "--forcerun", "tidy_runs", *SMOKE, check=False)
    assert status != 0
    assert message in output
    assert str(path.relative_to(copy_of_smoke.folder)) in output


def test_snakemakes_own_report(copy_of_smoke):
    copy_of_smoke.snakemake("--cores", "1", *SMOKE, "--report", "smoke-report.html")
    text = (copy_of_smoke.folder / "smoke-report.html").read_text()
    assert "goodput" in text.lower()
    assert len(text) > 100_000
