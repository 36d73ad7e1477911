"""The content of the page, read without a browser."""

import base64
import gzip
import json
import re
from types import SimpleNamespace

import jinja2
import pandas as pd
import pytest

import path_studies
import size_studies
import tidy_tables
from figure_parts.captions import render_caption, write_caption
from page_checks import page_text
from path_studies import scenario
from report_page import repeated_run, study_facts, tests_and_power
from report_page.conditions import scenario_rows
from report_page.exclusion_words import excluded_words
from report_page.metric_definitions import definitions
from report_page.statements import Facts
from report_page.study_facts import startup
from report_parts.data_tables import PageColumn, data_table, signed
from report_parts.inline_figures import inline_panels
from run_tables.metrics import METRICS
from run_tables.reading import read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from study_files import study as studies
from wording import number_format

SECTIONS = [
    "differences", "speed", "ccas", "ip-version", "delay-and-loss", "variance", "theory", "published", "claims",
    "method", "validity", "threats", "provenance", "statistics",
]  # fmt: skip
FACTS = Facts(
    tidy_tables.least_study()["scenarios"],
    {
        "several_ccas": True,
        "programs_tested": "",
        "udp_programs_tested": "",
        "tcp_programs_tested": "",
        "kernel_tested": True,
    },
)
# Study -> the sections that its design has nothing for, and its findings.
NO_CLAIMS = {"published", "claims"}
STUDIES = {
    "real_shape": (set(), 7),
    "two_methods": (set(), 7),
    "small": (NO_CLAIMS, 3),
    "all_ccas": (NO_CLAIMS, 7),
    "nothing_valid": (NO_CLAIMS, 3),
    "one_of_each": (NO_CLAIMS | {"differences", "ip-version", "variance"}, 2),
}


def test_style_loads_nothing(small):
    style = re.search(r"<style>(.*?)</style>", small.page.read_text(), re.DOTALL).group(1)
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_its_sections_in_order_and_no_empty_number(name, request):
    absent, sentences = STUDIES[name]
    built = request.getfixturevalue(name)
    html = built.page.read_text()
    names = re.findall(r'<section id="([^"]+)"', html)
    assert [name for name in names if name in SECTIONS] == [name for name in SECTIONS if name not in absent]
    # A tolerance may be "None; the paper gives the bound.", and a sentence may begin with "None of the paper's" or "None of 4 cells".
    for page in (built.page, built.report):
        assert not re.search(r"\bNone\b(?!; | in | of the paper| of \d)", page_text(page))
    findings = re.search(r'<ol class="findings">(.*?)</ol>', built.report.read_text(), re.DOTALL).group(1)
    assert findings.count("<li>") == sentences


def test_every_cell_has_its_row(real_shape):
    html = real_shape.page.read_text()
    rows = re.findall(r'<tr><th scope="row">\w+</th><td>IPv[46]', html)
    assert len(rows) == 12 * 6 * 2 * 4


def test_excluded_runs_are_listed_with_their_reason(real_shape):
    runs = pd.read_csv(real_shape.folder / "tidy" / "runs.csv", keep_default_na=False)
    html = real_shape.page.read_text()
    excluded = runs[~runs["valid"]]
    assert len(excluded) > 3
    for run in excluded.to_dict("records"):
        name = "/".join(str(run[key]) for key in ("scenario", "cca", "ip_version", "replication"))
        assert f'<code>{name}</code></th><td class="words">{run["invalid_because"]}' in html
    assert f"{len(runs) - len(excluded)} of 720 runs are valid" in html


def test_the_sentence_about_excluded_runs_names_their_scenarios():
    runs = pd.DataFrame([{"scenario": "slow", "cca": "cubic", "valid": n > 1, "invalid_because": ""} for n in range(4)])
    checks = pd.DataFrame([{"check": "delay", "failed": 2.0}])
    scenarios = pd.DataFrame([{"scenario": "slow", "label": "1"}])
    words = excluded_words(runs.assign(excluded_by="instrument"), checks, scenarios)
    assert words.endswith("leave out the excluded runs, 2 with CUBIC in scenario 1.")


def test_commands_name_the_published_study_and_the_document(small):
    html = small.page.read_text()
    document = "results/synthetic/runs/100mbit-10ms-1pct-1flow/reno/ipv4/1.json.gz"
    command = "snakemake --cores 1 --use-apptainer --configfile results/synthetic/workflow/study.json --force"
    assert f"{command} {document}" in html and f"sha256sum {document}" in html


def test_a_published_sum_is_checked():
    run = {"scenario": "a", "cca": "reno", "ip_version": "ipv4", "replication": 1}
    commands = repeated_run.rerun_commands("s", run, "f" * 64)
    assert commands[0].endswith(
        " --configfile results/s/workflow/study.json --force results/s/runs/a/reno/ipv4/1.json.gz"
    )
    assert commands[1] == (f"echo '{'f' * 64}  results/s/runs/a/reno/ipv4/1.json.gz' | sha256sum --check")
    without = repeated_run.rerun_commands("s", run, None)
    assert without == [(sum := "sha256sum results/s/runs/a/reno/ipv4/1.json.gz"), commands[0], sum]


def test_the_run_to_repeat_is_none_that_was_measured_under_a_real_clock():
    scenarios = pd.DataFrame({"scenario": ["measured", "emulated"], "platform": ["host", "uml"]})
    runs = pd.DataFrame({"scenario": ["measured", "emulated", "emulated"], "valid": [True, False, True]})
    assert repeated_run.repeatable_run(runs, scenarios).name == 2
    assert repeated_run.repeatable_run(runs[:2], scenarios).name == 1
    assert repeated_run.repeatable_run(runs[:1], scenarios) is None


def test_provenance_names_what_ran(small):
    text = small.page.read_text()
    provenance = json.loads((small.folder / "tidy" / "provenance.json").read_text())
    environment = provenance["environments"][0]
    assert provenance["workflow"]["commit"] in text
    for key in ("kernel", "image_digest", "iperf3_version", "kernel_config_sha256"):
        assert environment[key] in text


@pytest.mark.slow
def test_uncommitted_changes_and_several_environments_are_said(build):
    study = tidy_tables.synthetic_study(tidy_tables.grid((10,), (0,), (1,)), ["reno"])
    first = study["provenance"]["environments"][0]
    study["provenance"]["environments"] = [first, {**first, "kernel": "6.16.1", "extra": None}]
    study["provenance"]["workflow"] |= {"commit": None, "dirty": True}
    built = build(study)
    html = built.page.read_text()
    assert "made in 2 different environments" in html
    assert "6.16.1" in html
    assert "<dt>Commit</dt><dd>not recorded</dd>" in html
    study["provenance"]["workflow"]["commit"] = "a" * 40
    (built.folder / "tidy/provenance.json").write_text(json.dumps(study["provenance"]))
    built.write_page()
    assert "with changes that were not committed" in built.page.read_text()


def test_same_inputs_same_pages(small):
    before = small.report.read_bytes(), small.page.read_bytes()
    small.write_page()
    assert (small.report.read_bytes(), small.page.read_bytes()) == before


def test_caption_is_filled_and_a_misspelt_value_is_an_error(tmp_path):
    caption = tmp_path / "caption.rst"
    caption.write_text("{{ snakemake.params.replications }} runs\nin each cell.\n")
    assert render_caption(caption, {"replications": 7}) == "7 runs in each cell."
    caption.write_text("{{ snakemake.params.replications }} runs.\n\nHow to\nread them.\n")
    assert render_caption(caption, {"replications": 7}) == "7 runs.\n\nHow to read them."
    caption.write_text("{{ snakemake.params.repetitions }}")
    with pytest.raises(jinja2.UndefinedError):
        render_caption(caption, {"replications": 7})


def test_a_filled_caption_is_read_as_it_was_written(tmp_path):
    template, filled = "Runs of {{ snakemake.params.name }}.", tmp_path / "filled.rst"
    for name in ("{{ 7 * 7 }}", "{% raw %} }}", "{# a #}", "a {b} c", "reno+cubic"):
        write_caption(template, {"name": name}, filled)
        assert render_caption(filled, {}) == f"Runs of {name}."


def test_foreign_figure_is_refused(small, tmp_path):
    path = tmp_path / "goodput.svg"
    injected = small.figure("goodput").read_text().replace('<g id="patch_2">', '<g id="patch_2"><script>1</script>')
    for text, message in (
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "goodput.svg: no <view>"),
        ("<svg", "goodput.svg: not an SVG file"),
        (injected, "contains <script>"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            inline_panels(path, "goodput")


@pytest.mark.parametrize(
    "value, shown",
    [(935.5321, "935.5"), (3.5617, "3.562"), (0.99876, "0.999"), (0.0011904, "0.0012"),
     (12345.6, "12,346"), (0, "0"), (None, "–"), (float("nan"), "–"), (-0.0, "0")],
)  # fmt: skip
def test_numbers_as_shown(value, shown):
    assert number_format.number(value) == shown


def test_small_numbers_as_shown():
    assert number_format.interval_words(931.21, 935.66, 933.4) == "931.2 to 935.7"
    assert number_format.p_value(0.00004) == "< 0.001"
    assert [number_format.tick(v) for v in (0, 0.00001, 0.01, 1000, 20000, 3e6)] == [
        "0", "0.00001", "0.01", "1,000", "20k", "3M"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value, shown", [(0.00001, "0.00001"), (1e11, "100,000,000,000"), (20.0, "20"), (0.1 + 0.2, "0.3"), (-0.5, "-0.5")]
)
def test_no_configured_number_is_shown_with_an_exponent(value, shown):
    assert number_format.plain(value) == shown


def test_numbers_read_from_tables_are_counted_as_whole_numbers():
    assert [number_format.count(n, "run") for n in (1.0, 4.0, 12000, "5 to 7")] == [
        "1 run", "4 runs", "12,000 runs", "5 to 7 runs",
    ]  # fmt: skip


def test_tests_taken_are_counted(real_shape):
    names = ("ip_versions", "ccas", "cca_pairs")
    tables = [pd.read_csv(real_shape.table(name), keep_default_na=False) for name in names]
    for row, table in zip(tests_and_power.tests_taken(*tables), tables, strict=True):
        for metric, column in zip(row["metrics"], dict.fromkeys(table["metric"]), strict=True):
            of_metric = table[table["metric"] == column]
            assert sum(number for _, number in metric["counts"]) == len(of_metric)
            assert sum(number for _, number in metric["why"]) == (of_metric["test"] == "").sum()


def test_reasons_without_what_differs_from_cell_to_cell():
    notes = ["in all 4 pairs the same: 13.0 %", "in all 4 pairs the same: 2 %", "1 of 5 pairs is incomplete; no pair"]
    assert tests_and_power.reasons(notes) == [("in all 4 pairs the same", 2), ("no pair", 1)]
    assert tests_and_power.reasons(["a", "b", "c", "d", "e"])[-1] == ("other reasons", 2)


def test_start_up_is_slow_start_from_ten_segments():
    scenarios = tidy_tables.grid(delays_ms=(100,), losses_percent=(0,), flows=(1,))
    # 1 Gbit/s x 200 ms = 25 MB = 16,513 frames; ten of them doubled eleven times are more (RFC 6928, RFC 5681).
    runs = pd.DataFrame({"scenario": scenarios["scenario"], "packet_bytes": 1514.0})
    facts = startup(scenarios, runs)
    assert (facts["trips"], facts["seconds"], facts["percent"]) == (11, "2.2", pytest.approx(22))
    # They are 77,640 of 322 bytes: thirteen doublings.
    assert startup(scenarios, runs.assign(packet_bytes=322.0))["trips"] == 13
    # A label that is a number doesn't look like one in a sentence.
    assert facts["scenario"] == "scenario 1"
    assert startup(scenarios.assign(capacity_most_mbps=float("nan")), runs) is None
    # 16,513 frames from a window of 1,000 need five doublings; a scenario without long TCP flows has no slow start of them.
    name = scenarios["scenario"].iloc[0]
    assert startup(scenarios, runs, {name: 1000})["trips"] == 5
    assert startup(scenarios, runs, {}) is None


def test_initial_windows_of_long_flows_of_tcp():
    link = {"link": {"rate_mbps": 10}}
    scenarios = [
        {"id": "usual"} | link, {"id": "cdn", "transport": {"initial_window_packets": 32}} | link,
        {"id": "udp", "traffic": {"protocol": "udp", "bitrate_mbps": 5, "block_bytes": 1000}} | link,
    ]  # fmt: skip
    study = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": scenarios}, "s.yaml")
    assert study_facts.initial_windows(study["scenarios"]) == {"usual": 10, "cdn": 32}


def test_cells_that_need_too_many_pairs_count_among_those_without_enough():
    cells = pd.DataFrame(
        {
            "metric": "goodput_mbps", "pairs": 6, "detectable": 1.0, "pairs_needed": pd.array([6, 6, None, None], "Int64"),
            "pairs_needed_high": pd.array([20, 6, None, None], "Int64"),
            "note": ["", "", "more than 10,000 pairs needed to show 1 %", "one pair: no spread to judge a difference by"],
        }
    )  # fmt: skip
    sizes = {metric.column: 1.0 for metric in METRICS}
    row = tests_and_power.power_rows(cells, sizes, sizes)[0]
    assert row["needed"] == "6 (more than 10,000)" and row["enough"].startswith("2 of 3 cells, 1 of them")
    row = tests_and_power.power_rows(cells[2:3], sizes, sizes)[0]
    assert row["enough"].startswith("0 of 1 cell,")


def test_both_families_of_tests_are_named_even_if_they_are_equally_large():
    tables = SimpleNamespace(ip_versions=pd.DataFrame(index=range(72)), cca_pairs=pd.DataFrame(index=range(72)))
    words = tests_and_power.mean_test_words(tables, 0.05)
    assert "12 for the 72 cells of all metrics and 12 for the 72 pairs of CCAs" in words


def test_threats_name_the_study(one_of_each, real_shape):
    html = one_of_each.page.read_text()
    assert "<dt>1 replication</dt>" in html and "All runs used Linux 7.2.13" in html
    assert "In 6 of 12 scenarios, replications differ only in the start times of flows" in real_shape.page.read_text()


def test_one_ip_version_is_no_comparison(one_of_each):
    html = one_of_each.page.read_text()
    assert "<dt>IP version</dt><dd>IPv6</dd>" in html
    assert 'id="ip-version"' not in html
    assert "IPv4" not in re.sub(r'data-gzip="[^"]*"', "", html)


def test_reason_of_the_margins_is_shown_where_there_is_one(small):
    margin = small.analysis["equivalence_margin"]
    reason = "Less is within what\n  one path differs from the next\n"
    assert "reason for them" not in small.page.read_text()
    try:
        small.write_page(analysis=small.study["analysis"] | {"equivalence_margin": margin | {"reason": reason}})
        html = small.page.read_text()
        assert "The study's reason for them: Less is within what one path differs from the next. <i>" in html
    finally:
        small.write_page()


def test_long_table_is_carried_whole(all_ccas):
    html = all_ccas.page.read_text()
    pairs = pd.read_csv(all_ccas.table("cca_pairs"), keep_default_na=False)
    assert len(pairs) == 17 * 16 // 2 * 2 * 4
    packed = re.search(r'id="cca-pairs" data-gzip="([^"]+)"', html).group(1)
    rows = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert len(rows) == len(pairs)
    assert {row[3] for row in rows} | {row[4] for row in rows} == set(tidy_tables.ALL_CCAS)
    effects = [row[8][1] for row in rows if isinstance(row[8], list)]
    known = pd.to_numeric(pairs["effect"]).dropna()
    assert effects == pytest.approx(list(known), rel=1e-12)
    assert "These are the first 100 of 1,088 rows" in html


def test_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="table t: 1 cells for 2 columns"):
        data_table("t", "T", [PageColumn("a"), PageColumn("b")], [["x"]])


@pytest.mark.parametrize(
    "value, shown",
    [(-1.381, "−1.38"), (0.25, "+0.25"), (0.0, "0"), (-0.00001, "0.0000"), (-99.13, "−99.1"), (1234.5, "+1,234")],
)  # fmt: skip
def test_differences_as_shown(value, shown):
    assert signed(value, 4 if abs(value) == 0.00001 else None) == shown


@pytest.mark.slow
def test_marks_gathered_in_the_page_are_all_there(build):
    scenarios = tidy_tables.grid(delays_ms=(10,), losses_percent=(1,), flows=(1,))
    built = build(tidy_tables.synthetic_study(scenarios, ["reno"], replications=20))
    html = built.page.read_text()
    figure = re.search(r'<figure id="goodput-figure">(.*?)</figure>', html, re.DOTALL).group(1)
    lines = re.findall(r'd="M([-\d. ]+)" style="fill: none; stroke: none; marker-start: url\(#([^)]+)\)', figure)
    assert len(lines) == 2
    for points, marker in lines:
        assert len(points.split()) == 2 * 20
        assert f'<marker id="{marker}"' in figure


def test_definitions_name_the_source_of_each_kind_of_traffic():
    plain = tidy_tables.grid((10,), (0,), (1,))
    goodput, rtt, loss, again = (row["ours"].source for row in definitions(plain, FACTS))
    assert goodput.startswith("the senders' kernels at two times (TCP_INFO): bytes acknowledged")
    assert again == "iperf3, sender side (the kernel's TCP_INFO)"
    joined = [scenario("b", "gre", 4), scenario("c", "mptcp", 4), scenario("d", "mptcp", 4, application="ftp")]
    mixed = pd.concat([scenario("a"), *joined])
    goodput, rtt, loss, again = (row["ours"].source for row in definitions(mixed, FACTS))
    assert goodput.startswith("TCP: the senders' kernels at two times (TCP_INFO): ")
    assert (
        ". MPTCP: the senders' kernels: acknowledged data of the connection" in goodput
        and ". FTP: size of the file divided by " in goodput
    )
    assert rtt.startswith("TCP: iperf3, mean over the reporting intervals of each stream")
    assert ". MPTCP and FTP: the kernel's TCP_INFO, unweighted mean" in rtt
    assert again.startswith("TCP: iperf3, sender side") and ". MPTCP: TcpRetransSegs of the sending host" in again
    assert loss == "counters of the queueing disciplines"
    # Traffic that has no such metric has no source of it either.
    udp = scenario("udp").assign(protocol="udp")
    assert [row["ours"].source for row in definitions(udp, FACTS)][1::2] == ["none", "none"]
    both = pd.concat([plain, plain.assign(platform="ns3:3.44")])
    assert ". ns-3: " in definitions(both, FACTS)[1]["ours"].source


def configured(scenarios, folder, runs=None):
    """Return the rows of scenarios as the page's program reads them, without runs."""
    tidy_tables.completed(scenarios, SCENARIOS).to_csv(folder / "scenarios.csv", index=False)
    runs = (pd.DataFrame() if runs is None else runs).reindex(columns=RUNS.names).astype({"valid": bool})
    return scenario_rows(read_table(folder / "scenarios.csv", SCENARIOS), runs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sizes", "paths"])
def test_scenarios_that_differ_look_different_as_configured(kind, tmp_path):
    scenarios = size_studies.sizes_scenarios() if kind == "sizes" else path_studies.scenarios()
    shown = ("rate", "delay", "queue", "flows", "duration", "platform", "details")
    rows = {row["name"]: tuple(row[name] for name in shown) for row in configured(scenarios, tmp_path)}
    assert len(rows) == len(scenarios) == len(set(rows.values()))


def test_details_of_traffic_and_cable(tmp_path):
    cable = {"frame_overhead_bytes": 24, "background": "server"}
    udp = scenario("udp").assign(protocol="udp", message_bytes=128, bitrate_mbps=5, **cable)
    ping = scenario("ping", application="round-trip").assign(message_bytes=1408, serialisation="never")
    flows = scenario("flows", "gre", 3, "ipv6").assign(distribution="per-flow", path_delay_ms="0 0 0.5")
    table = pd.concat([udp, ping, flows, scenario("ftp", "mptcp", 4, application="ftp")])
    common = "segmentation offload off; netem receiving-side; "
    cable = "; cable between the hosts; serialisation virtual-clock"
    assert [row["details"] for row in configured(table, tmp_path)] == [
        f"{common}iperf3 processes: per-flow; 5 Mbit/s per flow; UDP, 128 bytes of data per packet{cable}; "
        "24 more bytes per frame than Linux counts; background server",
        f"{common}TCP round trips of 1,408 bytes; cable between the hosts",
        f"{common}iperf3 processes: per-flow; 131,072 bytes written at a time{cable}; "
        "GRE-in-UDP over IPv6 on 3 paths, per-flow; additional one-way delay of the paths: 0, 0 and 0.5 ms",
        f"{common}a file by FTP{cable}; MPTCP over 4 paths; sampled every 50 ms",
    ]


def test_what_nothing_counted_has_no_unit(tmp_path):
    """A ping-pong under a real clock has no RTT from TCP, no packets and no drops."""
    scenarios = tidy_tables.grid((0,), (0,), (1,))
    name, missing = scenarios["scenario"][0], float("nan")
    counts = dict.fromkeys(("rtt_min_ms", "packets_sent", "queue_drops", "link_drops"), missing)
    runs = pd.DataFrame([{"scenario": name, "valid": True, **counts}])
    (row,) = configured(scenarios, tmp_path, runs)
    assert (row["rtt_seen"], row["loss_seen"], row["packets"]) == ("–", "–", "–")


def test_groups_of_flows_are_among_the_conditions(tmp_path):
    scenarios = tidy_tables.grid(delays_ms=(10, 20, 30), losses_percent=(0,), flows=(1,))
    # A group of web objects has no long flows.
    scenarios = scenarios.assign(groups=["web", "own, long bbr", ""], flows=[0, 2, 2])
    runs = pd.DataFrame({"scenario": scenarios["scenario"], "valid": False})
    assert [row["flows"] for row in configured(scenarios, tmp_path, runs)] == ["web", "own, long bbr", "2"]


def test_bursts_late_and_double_packets_stand_beside_what_was_set(tmp_path):
    """Two runs of 1,000 packets behind the queue: 30 lost in 4 bursts, then 10 in 4; 15 late, with 3 and 5 waiting for each; 5
    duplicated."""
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(2,), flows=(1,))
    runs = pd.DataFrame(
        {
            "scenario": scenarios["scenario"].iloc[0], "valid": True, "packets_sent": [1010, 1000], "queue_drops": [10, 0],
            "link_drops": [30, 10], "loss_burst_configured_packets": 5.0, "loss_bursts": [4, 4], "loss_burst_packets": [7.5, 2.5],
            "late_packets": [10, 5], "duplicate_packets": [5, 0], "waiting_per_late_packet": [3.0, 5.0],
        }
    )  # fmt: skip
    (row,) = configured(scenarios, tmp_path, runs)
    assert (row["loss_set"], row["loss_seen"]) == ("2 % in bursts of 5 packets", "2.000 % in bursts of 5 packets")
    assert row["late_seen"] == "0.750 % late, 0.250 % twice, 4 segments waiting for each late packet"
    (plain,) = configured(scenarios, tmp_path, runs[["scenario", "valid", "packets_sent", "queue_drops", "link_drops"]])
    assert (plain["loss_set"], plain["loss_seen"], plain["late_seen"]) == ("2 %", "2.000 %", "")
