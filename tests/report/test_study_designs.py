"""Reports of studies of other designs: complete, without empty parts, and without text on comparisons that they don't make."""

import re
from pathlib import Path

import pytest

import tidy_tables
from page_checks import PageParts, check_page, page_text
from report_page.conditions import scenario_details
from run_tables.scenario_table import SCENARIOS
from topics.outline import FIGURE_SUFFIXES
from wording.scenario_words import path_rtts_ms

pytestmark = pytest.mark.slow

STUDIES = ["cwnd_study", "fairness_study", "buffer_study"]


@pytest.fixture(params=STUDIES)
def built(request):
    return request.getfixturevalue(request.param)


def source(built):
    """Return the page without its embedded files."""
    return re.sub(r'data-gzip="[^"]*"', "", built.page.read_text(encoding="utf-8"))


def test_page_is_sound(built, visit):
    check_page(built.page, visit)
    assert not re.search(r"\bNone\b(?!; | in )", page_text(built.page))


def test_only_one_ip_version_is_spoken_of(built):
    html = source(built)
    assert "IPv6" not in html
    assert "ip-difference" not in html
    assert "published" not in html.lower()
    # Its column in the tables, its name among the facts, and the place of a run.
    words = re.sub(r"<dt>IP version</dt>|&lt;ip version&gt;", "", html)
    assert "IP version" not in words and "ip version" not in words


def test_no_table_or_figure_is_made_in_vain(built):
    made = {path.name for part in ("analysis", "figures") for path in (built.folder / part).iterdir()}
    wanted = {f"{table.name}.csv" for table in built.outline.tables}
    wanted |= {f"{figure.slug}{kind}" for figure in built.outline.figures for kind in FIGURE_SUFFIXES.values()}
    assert made == wanted
    assert not made & {"ip_versions.csv", "ip_overall.csv", "pooled.csv", "pooled_tests.csv", "claims.csv"}


def test_questions_are_numbered_without_a_gap(built):
    numbers = [int(number) for number in re.findall(r'<p class="kind">Question (\d+)</p>', source(built))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 2


def test_navigation_lists_the_sections_in_order(built):
    html = source(built)
    linked = re.findall(r'<li><a href="#([^"]+)">', html.split("<nav")[1].split("</nav>")[0])
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert [name for name in sections if name in linked] == linked
    assert set(sections) - set(linked) <= {"conditions", "goodput", "rtt", "loss", "retransmits"}


def test_mixes_are_called_mixes(fairness_study):
    html, made = source(fairness_study), {path.stem for path in (fairness_study.folder / "figures").iterdir()}
    assert "<dt>Mixes of CCAs</dt>" in html
    assert "5 scenarios × 16 mixes make 80 cells" in html
    assert '<th scope="col">Mix</th>' in html
    assert not made & {"price", "distributions"} and "knee" in made
    assert not {"ccas", "theory"} & set(PageParts.of(fairness_study.page).ids)
    assert "Friedman" not in html and "all flows of a run have the same CCA" not in html
    assert "goodput by scenario and mix" in html.lower()


def test_names_of_mixes_fit_their_rows(fairness_study, visit):
    page = visit(fairness_study.page)
    labels = page.evaluate(
        "[...document.querySelectorAll('#goodput svg.panel text')].filter((e) => e.textContent.includes('+'))"
        ".map((e) => e.getBoundingClientRect().left - e.ownerSVGElement.getBoundingClientRect().left)"
    )
    assert len(labels) == 5 * 16
    assert min(labels) >= 0
    heights = page.evaluate("[...document.querySelectorAll('#goodput svg.panel')].map((e) => e.viewBox.baseVal.height)")
    assert max(heights) < 400


def test_platforms_and_hosts_are_told(buffer_study, cwnd_study):
    html = source(buffer_study)
    assert "<dt>Simulator</dt><dd>ns-3 3.39, ns-3 3.44</dd>" in html
    assert "<dt>Simulation</dt>" in html and "<dt>Emulated links</dt>" in html
    assert "up to 16 senders and as many receivers" in html
    assert "All runs on a kernel used Linux 7.2.13" in html
    assert "ns-3" not in page_text(cwnd_study.page)
    assert "All runs used Linux 7.2.13" in source(cwnd_study)


def test_study_of_a_simulator_alone_names_no_kernel(build):
    html = source(build(tidy_tables.buffers_study(tidy_tables.buffers(("ns3:3.44",), (100, 1000), pairs=16), ["bbr"])))
    assert "Linux kernel" not in html
    assert "<dt>Emulated links</dt>" not in html and "<dt>Kernel</dt>" not in html
    assert "simulated by ns-3" in html


def test_captions_name_what_the_figures_show(built):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", source(built), re.DOTALL)
    names = {Path(path).stem for path in (built.folder / "figures").glob("*.svg")}
    assert len(captions) == len(names)
    assert not any("is filled and above" in caption for caption in captions)


def usual_scenario(**more):
    """Return a row of scenarios.csv in which every condition is the usual one."""
    return tidy_tables.completed(tidy_tables.grid(**more), SCENARIOS).to_dict("records")[0]


def test_details_of_a_scenario_are_what_is_not_as_usual():
    usual = usual_scenario()
    written = "131,072 bytes written at a time"
    assert scenario_details(usual) == [
        "segmentation offload off", "netem receiving-side", "iperf3 processes: per-flow", written,
    ]  # fmt: skip
    other = usual | {
        "platform": "ns3:3.44", "pairs": 16.0, "access_delay_ms": "0 30", "start_within_ms": 0.0, "segment_bytes": 1420.0,
        "min_rto_ms": 1000.0, "delayed_acks": False, "recovery": "classic", "kernel": "Linux, HZ=250",
    }  # fmt: skip
    assert scenario_details(other) == [
        written, "16 pairs of hosts", "delay of the hosts' own links 0 or 30 ms", "guest kernel: Linux, HZ=250", "flows start within 0 ms",
        "segments of 1420 bytes", "minimum retransmission timeout 1000 ms", "every segment acknowledged immediately",
        "classic loss recovery",
    ]  # fmt: skip


def test_rtt_of_a_path_holds_the_hosts_own_links_four_times(build):
    row = usual_scenario(delays_ms=(20,))
    assert path_rtts_ms(row) == [40]
    assert path_rtts_ms(row | {"access_delay_ms": "30 0"}) == [40, 160]
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(2,), rate_mbps=10)
    scenarios = scenarios.assign(access_delay_ms="0 30", pairs=2)
    html = source(build(tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], ["ipv4"], replications=2)))
    assert "<td>40 to 160 ms</td>" in html
    assert "differs from the base RTT" not in html
