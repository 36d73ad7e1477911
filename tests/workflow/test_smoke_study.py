"""The smoke study from end to end: what a user gets, and what a second call does."""

import csv
import gzip
import hashlib
import html
import json
import re
import shutil

import pytest

from page_checks import PageParts, check_content, word_count
from session import plan_study

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


def test_the_plan_asks_for_what_the_report_asks_for(smoke, monkeypatch, capsys):
    """`make plan` and the report compute the number of pairs from the same runs, with the same comparisons and corrections."""
    monkeypatch.chdir(smoke.folder)
    assert plan_study.main(["config/studies/smoke.yaml"]) == 0
    assert "Pilot: 16 runs of results/smoke." in capsys.readouterr().out
    planned = smoke.folder / "results/smoke-plan.csv"
    try:
        with planned.open() as stream:
            plan = [row for row in csv.DictReader(stream) if row["compared"] == "IP versions"]
    finally:
        planned.unlink()
    with (smoke.folder / "results/smoke/analysis/ip_versions.csv").open() as stream:
        report = {(row["scenario"], row["cca"], row["metric"]): row for row in csv.DictReader(stream)}
    assert len(plan) == len(report) and any(row["pairs_needed"] for row in plan)
    for row in plan:
        known = report[row["scenario"], row["cell"], row["metric"]]
        for name in ("pairs_needed", "pairs_needed_low", "pairs_needed_high"):
            assert row[name] == known[name], row


def test_every_cca_is_what_it_says(smoke, runs):
    """Vegas is Vegas, according to iperf3's own JSON."""
    for run in runs:
        path = smoke.document_path(run["scenario"], run["cca"], run["ip_version"], run["replication"])
        document = json.loads(gzip.decompress(path.read_bytes()))
        observed = {p["client"]["end"]["sender_tcp_congestion"] for p in document["traffic"]}
        assert observed == {run["cca"]}


def test_vegas_keeps_its_queue_short_where_reno_fills_it(runs):
    """RTT of the path 40 ms, of the full queue 33 packets x 1514 bytes / 10 Mbit/s = 40 ms more."""
    for ip_version in ("ipv4", "ipv6"):
        reno = mean(runs, "rtt_steady_ms", scenario=SLOW, cca="reno", ip_version=ip_version)
        vegas = mean(runs, "rtt_steady_ms", scenario=SLOW, cca="vegas", ip_version=ip_version)
        # After start-up Vegas holds alpha to beta = 2 to 4 packets, 1.2 ms each; one more is on the wire, one comes until it notices.
        assert 40 + 2 * 1.2 < vegas < 40 + 6 * 1.2 + 0.2 < 55 < reno < 80


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


def test_the_tutorial_prints_what_comes_out(root, runs):
    text = (root / "docs/tutorial.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| `(slow|lossy)`, (RTT in ms|goodput in Mbit/s) \| (.+) \|$", text, re.M)
    assert len(rows) == 4
    cells = [(cca, ip_version) for cca in ("reno", "vegas") for ip_version in ("ipv4", "ipv6")]
    for label, quantity, values in rows:
        metric = "rtt_mean_ms" if "RTT" in quantity else "goodput_mbps"
        for (cca, ip_version), printed in zip(cells, values.split(" | "), strict=True):
            scenario = SLOW if label == "slow" else LOSSY
            decimals = len(printed.partition(".")[2])
            assert round(mean(runs, metric, scenario=scenario, cca=cca, ip_version=ip_version), decimals) == float(
                printed
            )


def test_what_the_tutorial_quotes_stands_on_the_pages(smoke, root):
    text = (root / "docs/tutorial.md").read_text(encoding="utf-8")
    read = text[text.index("## 3.") : text.index("```sh\nmake verify")]
    quotes = re.findall(r'"([^"]+)"', " ".join(read.split()))
    pages = [(smoke.folder / f"results/smoke/{page}.html").read_text() for page in ("report", "details")]
    shown = " ".join(re.sub("<[^>]+>", " ", html.unescape("".join(pages))).split()).lower()
    assert len(quotes) > 3
    assert [quote for quote in quotes if quote.lower() not in shown] == []


def test_report_and_figures_are_there(smoke):
    folder = smoke.folder / "results/smoke"
    assert "All 16 runs passed every check" in (folder / "report.html").read_text()
    page = (folder / "details.html").read_text()
    figures = sorted((folder / "figures").glob("*.svg"))
    assert len(figures) == 18  # 4 metrics, the paper's 4, 5 of the runs, 4 differences of IP versions, the variance
    for figure in figures:
        assert figure.stat().st_size > 1000
        assert figure.with_suffix(".csv").read_text().count("\n") > 2
        assert f'data-name="{figure.name}"' in page
    # Panels are drawn by the browser: SVG without a prefix, two a figure, four of the variance.
    assert len(re.findall(r'class="panel[" ]', page)) == 2 * len(figures) + 2
    assert "ns0:" not in page


def test_the_short_page_is_short(smoke):
    report = smoke.folder / "results/smoke/report.html"
    assert word_count(report) <= 4000
    assert PageParts.of(report).elements <= 4000
    check_content(report)


def test_analysis_says_in_words_what_it_cannot_compute(smoke):
    """Two replications allow no test, and every gap has its reason."""
    folder = smoke.folder / "results/smoke/analysis"
    tables = {path.stem: list(csv.DictReader(path.open())) for path in folder.glob("*.csv")}
    assert set(tables) == {
        "descriptive", "steady", "delay_percentiles", "variance", "validity", "checks", "ip_versions", "ip_overall", "ccas", "cca_pairs", "pooled",
        "pooled_tests", "models", "regressions", "claims", "claim_versions", "mislabelled", "differences", "comparisons",
    }  # fmt: skip
    for name, rows in tables.items():
        for row in rows:
            assert not {value.lower() for value in row.values()} & {"nan", "inf", "-inf"}, name
    assert len(tables["ip_versions"]) == 2 * 2 * 4
    assert all(row["note"] for row in tables["ip_versions"] if not row["p"])
    assert all(row["note"] for row in tables["cca_pairs"] if not row["p"])
    # None of the paper's scenarios is in this study.
    assert tables["claims"]
    assert {row["verdict"] for row in tables["claims"]} == {"not testable"}
    assert all(row["because"] for row in tables["claims"])
    assert tables["mislabelled"] == []


def test_reno_follows_its_model_in_the_table_too(smoke):
    with (smoke.folder / "results/smoke/analysis/models.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["model"] == "square-root law" and row["cca"] == "reno"]
    assert rows
    assert all(0.5 < float(row["ratio"]) < 2 for row in rows)


def test_every_run_has_log_and_benchmark(smoke):
    folder = smoke.folder / "results/smoke"
    logs = sorted((folder / "logs/runs").rglob("*.log"))
    assert len(logs) == 16
    assert all(": valid; 10 s of traffic in" in log.read_text() for log in logs)
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


def test_another_title_or_description_reruns_page_and_manifest_alone(copy_of_smoke):
    path = copy_of_smoke.folder / "config/studies/smoke.yaml"
    text, title = path.read_text(), "title: Reno and Vegas, a first look\n"
    assert title in text
    path.write_text(text.replace(title, "title: Another title\n"))
    page_alone = {"all", "write_report", "write_explorer", "write_manifest"}
    assert set(copy_of_smoke.planned(*SMOKE)) == page_alone
    assert "share the link." in text
    path.write_text(text.replace("share the link.", "have it."))
    assert set(copy_of_smoke.planned(*SMOKE)) == page_alone


def test_another_replication_leaves_the_others_alone(copy_of_smoke):
    assert copy_of_smoke.planned(*SMOKE, "--config", "replications=3")["emulate_run"] == 8


def test_a_changed_caption_reruns_figures_and_report_alone(copy_of_smoke):
    caption = copy_of_smoke.folder / "workflow/scripts/topics/cells/captions/goodput.rst"
    caption.write_text(caption.read_text() + "\nOne more sentence.\n")
    assert set(copy_of_smoke.planned(*SMOKE)) <= {
        "all",
        "draw_figures",
        "write_report",
        "write_explorer",
        "write_manifest",
    }
    assert "write_report" in copy_of_smoke.planned(*SMOKE)


def test_a_changed_colour_reruns_figures_and_report_alone(copy_of_smoke):
    style = copy_of_smoke.folder / "workflow/scripts/figure_parts/figure_style.py"
    style.write_text(style.read_text().replace('pink="#eb53a7"', 'pink="#eb53a8"'))
    assert set(copy_of_smoke.planned(*SMOKE)) == {
        "draw_figures",
        "write_report",
        "write_explorer",
        "write_manifest",
        "all",
    }


def test_reworded_definitions_make_no_statistics_stale(copy_of_smoke):
    """Neither a column's meaning, printed in the data dictionary, nor a metric's definition, printed in the report, is part of them."""
    columns = copy_of_smoke.folder / "workflow/scripts/run_tables/tidy_tables.py"
    text = columns.read_text()
    columns.write_text(
        text.replace(
            "Mean smoothed RTT of the senders' TCP, averaged",
            "The smoothed RTTs' mean, which the senders' TCP had, averaged",
        )
    )
    assert columns.read_text() != text
    assert copy_of_smoke.planned(*SMOKE) == {}
    metrics = copy_of_smoke.folder / "workflow/scripts/report_page/metric_words.py"
    text = metrics.read_text()
    metrics.write_text(text.replace("iperf3, receiver side", "iperf3, the receiver's side"))
    assert metrics.read_text() != text
    assert set(copy_of_smoke.planned(*SMOKE)) == {"write_report", "write_manifest", "all"}


def test_a_changed_margin_repeats_the_analysis_and_no_run(copy_of_smoke):
    change_margin(copy_of_smoke)
    planned = copy_of_smoke.planned(*SMOKE)
    assert {"analyse_study", "draw_figures", "write_report"} <= set(planned)
    assert not {"emulate_run", "tidy_runs"} & set(planned)


@pytest.mark.long
def test_a_changed_margin_repeats_what_it_touches_alone_in_a_large_study(copy_of_smoke):
    """Also: jobs for single analyses or figures make the same tables and figures as one job for all."""
    outline = copy_of_smoke.folder / "workflow/scripts/topics/outline.py"
    text = outline.read_text()
    outline.write_text(text.replace("MOST_RUNS_TOGETHER = 500", "MOST_RUNS_TOGETHER = 0"))
    assert outline.read_text() != text
    results = copy_of_smoke.folder / "results/smoke"
    made = [path for folder in ("analysis", "figures") for path in (results / folder).iterdir()]
    before = {path: path.read_bytes() for path in made}
    copy_of_smoke.snakemake("--cores", "all", *SMOKE, "--forcerun", "describe_cells", "plot_goodput")
    assert {path: path.read_bytes() for path in made} == before
    change_margin(copy_of_smoke)
    planned = copy_of_smoke.planned(*SMOKE)
    assert {"compare_ip_versions", "plot_ip_difference_goodput", "write_report"} <= set(planned)
    assert not {"emulate_run", "tidy_runs", "describe_cells", "plot_goodput"} & set(planned)


def change_margin(checkout):
    path = checkout.folder / "config/studies/smoke.yaml"
    path.write_text(path.read_text().replace("analysis:", "analysis:\n  equivalence_margin: {goodput_percent: 3}"))


def test_claims_are_recorded_before_the_first_run(smoke):
    folder = smoke.folder / "results/smoke"
    (version,) = json.loads((folder / "workflow/claims-record.json").read_text())
    claims = (folder / "workflow/claims.yaml").read_bytes()
    assert (version["runs"], version["sha256"]) == (0, hashlib.sha256(claims).hexdigest())


def test_a_broken_claims_file_stops_before_anything_runs(copy_of_smoke):
    path = copy_of_smoke.folder / "config/claims/lima-ccas-ipv4-ipv6.yaml"
    path.write_text(path.read_text().replace("place: highest", "place: hihgest", 1))
    output = copy_of_smoke.refused(*SMOKE)
    message = next(line for line in output.splitlines() if line.startswith("sawtooth: "))
    assert "config/claims/lima-ccas-ipv4-ipv6.yaml" in message
    assert "hihgest" in message
    path.unlink()
    assert "config/claims/lima-ccas-ipv4-ipv6.yaml: can't be read" in copy_of_smoke.refused(*SMOKE)


@pytest.mark.long
def test_results_of_another_method_come_into_the_report_once_they_are_there(copy_of_smoke):
    path = copy_of_smoke.folder / "config/studies/smoke.yaml"
    path.write_text(path.read_text().replace("analysis:", "analysis:\n  compare_with: other"))
    assert "draw_figures" not in copy_of_smoke.planned(*SMOKE)
    results = copy_of_smoke.folder / "results"
    shutil.copytree(results / "smoke/analysis", results / "other/analysis")
    planned = copy_of_smoke.planned(*SMOKE)
    # The page on which readers ask the runs has nothing of another study.
    assert set(planned) == {"draw_figures", "write_report", "write_manifest", "all"}
    copy_of_smoke.snakemake("--cores", "1", *SMOKE)
    assert (results / "smoke/figures/methods.svg").exists()
    assert copy_of_smoke.planned(*SMOKE) == {}


def test_a_changed_testbed_makes_all_runs_stale(copy_of_smoke):
    module = copy_of_smoke.folder / "workflow/testbed/traffic/traffic.py"
    module.write_text(module.read_text() + "\nCHANGED = True\n")
    assert copy_of_smoke.planned(*SMOKE)["emulate_run"] == 16


def test_a_comment_and_a_docstring_of_the_testbed_make_nothing_stale(copy_of_smoke):
    module = copy_of_smoke.folder / "workflow/testbed/traffic/traffic.py"
    text = module.read_text()
    assert text.startswith('"""')
    module.write_text(text.replace('"""', '"""Reworded: ', 1) + "\n# changed\n")
    assert copy_of_smoke.planned(*SMOKE) == {}


def test_reworded_disciplines_make_no_run_stale(copy_of_smoke):
    words = copy_of_smoke.folder / "workflow/scripts/wording/discipline_words.py"
    text = words.read_text()
    words.write_text(
        text.replace(
            "Drops packets that arrive while it is full.", "Drops packets that arrive while the queue is full."
        )
    )
    assert words.read_text() != text
    assert set(copy_of_smoke.planned(*SMOKE)) <= {"write_report", "write_explorer", "write_manifest", "all"}


def test_a_deleted_run_is_made_again_with_the_same_bytes(copy_of_smoke, smoke):
    which = (LOSSY, "vegas", "ipv6", 2)
    path = copy_of_smoke.document_path(*which)
    path.unlink()
    copy_of_smoke.snakemake("--cores", "1", *SMOKE, "--", str(path.relative_to(copy_of_smoke.folder)))
    assert path.read_bytes() == smoke.document_path(*which).read_bytes()


def test_a_forced_run_of_a_job_with_several_is_made_again_alone(copy_of_smoke, smoke):
    """As the report's command under "Run one cell again" asks for, and the message about a failed run."""
    which = (SLOW, "vegas", "ipv6", 2)
    path = copy_of_smoke.document_path(*which)
    jobs = ("--set-resources", "emulate_run:runs=4", "--keep-incomplete")
    copy_of_smoke.snakemake("--cores", "1", *SMOKE, *jobs, "--force", "--", str(path.relative_to(copy_of_smoke.folder)))
    (log,) = (copy_of_smoke.folder / "results/smoke/logs/jobs").glob("*.log")
    outcomes = [line.rpartition("/")[2] for line in sorted(log.read_text().splitlines())]
    assert (
        len(outcomes) == 4
        and outcomes.count("2: done") == 1
        and f"run {'/'.join(map(str, which))}: done" in log.read_text()
    )
    assert path.read_bytes() == smoke.document_path(*which).read_bytes()


def test_a_dry_run_counts_the_forced_runs_of_jobs_with_several(copy_of_smoke):
    jobs = ("--set-resources", "emulate_run:runs=3", "--keep-incomplete")
    _, output = copy_of_smoke.snakemake("--cores", "1", "-n", *SMOKE, *jobs, "--forceall")
    assert "sawtooth: 16 runs would be carried out" in output
    assert copy_of_smoke.jobs_in(output)["emulate_runs"] == 6
    reasons = output.partition("Reasons:")[2]
    assert "emulate_runs, record_claims" in reasons and "emulate_runs_" not in reasons
    path = str(copy_of_smoke.document_path(SLOW, "vegas", "ipv6", 2).relative_to(copy_of_smoke.folder))
    _, output = copy_of_smoke.snakemake("--cores", "1", "-n", *SMOKE, *jobs, "--force", "--", path)
    assert "sawtooth: 1 run would be carried out" in output


def test_snakemakes_own_report(copy_of_smoke):
    copy_of_smoke.snakemake("--cores", "1", *SMOKE, "--report", "smoke-report.html")
    text = (copy_of_smoke.folder / "smoke-report.html").read_text()
    assert "goodput" in text.lower() and "The report" in text
    assert len(text) > 100_000
