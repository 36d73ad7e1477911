"""Reports of studies of other designs: complete, without empty parts, and without a word on what they don't compare."""

import re
from pathlib import Path

import pytest
from page_checks import OVERFLOWING, PageParts, empty_sections, empty_tables, page_text

STUDIES = ["cwnd_study", "fairness_study", "buffer_study"]


@pytest.fixture(params=STUDIES)
def built(request):
    return request.getfixturevalue(request.param)


def source(built):
    """Return the page without the files that it carries."""
    return re.sub(r'data-gzip="[^"]*"', "", built.page.read_text(encoding="utf-8"))


def test_page_is_sound(built):
    parts = PageParts.of(built.page)
    assert parts.loads == []
    assert len(parts.ids) == len(set(parts.ids))
    assert set(parts.targets) <= set(parts.ids)
    assert all(after - before <= 1 for before, after in zip(parts.headings, parts.headings[1:], strict=False))
    assert parts.tables == parts.captions


def test_nothing_is_empty(built):
    assert empty_sections(built.page) == []
    assert empty_tables(built.page) == []
    text = re.sub(r"\bNone(; | in )", r"\1", page_text(built.page))
    assert not re.search(r"\b(nan|inf|None|NaT|Undefined)\b", text)


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
    wanted = {f"{name}.csv" for name in built.outline.tables}
    wanted |= {f"{figure.slug}.{kind}" for figure in built.outline.figures for kind in ("svg", "csv")}
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
    assert "4 scenarios × 16 mixes make 64 cells" in html
    assert '<th scope="col">Mix</th>' in html
    assert not made & {"price", "knee", "distributions"}
    assert not {"ccas", "theory"} & set(PageParts.of(fairness_study.page).ids)
    assert "Friedman" not in html and "all flows of a run have the same CCA" not in html
    assert "goodput by scenario and mix" in html.lower()


def test_names_of_mixes_fit_their_rows(fairness_study, visit):
    page = visit(fairness_study.page)
    labels = page.evaluate(
        "[...document.querySelectorAll('#goodput svg.panel text')].filter((e) => e.textContent.includes('+'))"
        ".map((e) => e.getBoundingClientRect().left - e.ownerSVGElement.getBoundingClientRect().left)"
    )
    assert len(labels) == 4 * 16
    assert min(labels) >= 0
    heights = page.evaluate(
        "[...document.querySelectorAll('#goodput svg.panel')].map((e) => e.viewBox.baseVal.height)"
    )
    assert max(heights) < 400


def test_platforms_and_hosts_are_told(buffer_study, cwnd_study):
    html = source(buffer_study)
    assert "<dt>Simulator</dt><dd>ns-3 3.39, ns-3 3.44</dd>" in html
    assert "<dt>Simulation</dt>" in html and "<dt>Emulated links</dt>" in html
    assert "up to 16 senders and as many receivers" in html
    assert "All emulated runs used Linux 7.2.13" in html
    assert "ns-3" not in page_text(cwnd_study.page)
    assert "All runs used Linux 7.2.13" in source(cwnd_study)


def test_study_of_a_simulator_alone_names_no_kernel(build):
    import tidy_tables

    html = source(build(tidy_tables.buffers_study(platforms=("ns3:3.44",))))
    assert "Linux kernel" not in html
    assert "<dt>Emulated links</dt>" not in html and "<dt>One kernel</dt>" not in html
    assert "simulated by ns-3" in html


@pytest.mark.parametrize("width", [1400, 390])
def test_page_is_not_wider_than_its_screen(built, width, visit):
    page = visit(built.page, width)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWING) == []
    assert page.problems == []


def test_captions_name_what_the_figures_show(built):
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", source(built), re.DOTALL)
    names = {Path(path).stem for path in (built.folder / "figures").glob("*.svg")}
    assert len(captions) == len(names)
    assert not any("is filled and above" in caption for caption in captions)


def test_details_of_a_scenario_are_what_is_not_as_usual():
    from report_parts.report_tables import scenario_details

    usual = {
        "platform": "uml", "segmentation_offload": False, "netem": "receiving-side", "processes": "per-flow", "pairs": "1",
        "access_delay_ms": "0", "start_within_ms": "", "sample_interval_ms": "", "segment_bytes": "",
        "delayed_acks": "True", "min_rto_ms": "", "recovery": "prr",
    }  # fmt: skip
    shown = ["segmentation offload off", "netem receiving-side", "iperf3 processes: per-flow"]
    assert scenario_details(usual) == shown
    assert scenario_details({key: usual[key] for key in list(usual)[:4]}) == shown
    other = usual | {
        "platform": "ns3:3.44", "pairs": "16", "access_delay_ms": "0 30", "start_within_ms": "0", "segment_bytes": "1420",
        "delayed_acks": "False", "recovery": "classic",
    }  # fmt: skip
    assert scenario_details(other) == [
        "16 pairs of hosts", "delay of the hosts' own links 0 or 30 ms", "flows start within 0 ms",
        "segments of 1420 bytes", "every segment acknowledged at once", "classic loss recovery",
    ]  # fmt: skip


def test_rtt_of_a_path_holds_the_hosts_own_links_four_times(build):
    import tidy_tables
    from scenario_words import path_rtts_ms

    row = {"delay_forward_ms": 20.0, "delay_reverse_ms": 20.0}
    assert path_rtts_ms(row) == [40]
    assert path_rtts_ms(row | {"access_delay_ms": "30 0"}) == [40, 160]
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(2,), rate_mbps=10)
    scenarios = scenarios.assign(access_delay_ms="0 30", pairs=2)
    html = source(build(tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], ["ipv4"], replications=2)))
    assert "<td>40 to 160 ms</td>" in html
    assert "off the empty path" not in html
