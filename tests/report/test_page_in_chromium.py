"""The page as readers see it: in a real browser, wide, narrow, dark, printed, without scripts."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

import tidy_tables
from built_study import MISLABELLED_ROW, Built
from page_checks import at_widths, check_content
from report_parts import data_tables
from topics.published.topic import IP_PAPER

pytestmark = pytest.mark.slow

# For each text: its colour over the first opaque background behind it.
CONTRASTS = """
() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const lin = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const lum = ([r, g, b]) => 0.2126 * lin(r) + 0.7152 * lin(g) + 0.0722 * lin(b);
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const colours = new Map();
  const rgb = (c) => { // any notation, color-mix among them
    if (!colours.has(c)) {
      canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
      colours.set(c, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return colours.get(c);
  };
  const known = new Map(); // of each figure the shapes that hide what is under them
  const shapes = (svg) => {
    if (!known.has(svg)) known.set(svg, [...svg.querySelectorAll('path')].filter((path) => {
      const style = getComputedStyle(path);
      return style.fill !== 'none' && style.fillOpacity === '1';
    }).map((path) => [path, path.getBoundingClientRect()]));
    return known.get(svg);
  };
  const tile = (text) => { // the last shape drawn before a figure's words that lies under them
    const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    const under = shapes(text.ownerSVGElement).filter(([path, area]) => area.left <= x && x <= area.right
      && area.top <= y && y <= area.bottom && text.compareDocumentPosition(path) & Node.DOCUMENT_POSITION_PRECEDING);
    return under.length ? rgb(getComputedStyle(under.at(-1)[0]).fill) : null;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || ['SCRIPT', 'STYLE'].includes(element.tagName)) continue;
    const box = document.createRange(); box.selectNode(node);
    if (!box.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = rgb(element instanceof SVGElement ? style.fill : style.color);
    let paper = element instanceof SVGElement ? tile(element) : null;
    for (let e = element; e && !paper; e = e.parentElement) {
      const back = rgb(getComputedStyle(e).backgroundColor);
      if (back[3] === 255) paper = back;
    }
    const [a, b] = [lum(ink), lum(paper || [255, 255, 255])].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), node.data.trim().slice(0, 40)]);
  }
  return found.sort((x, y) => x[0] - y[0]);
}
"""


@pytest.mark.parametrize(
    "name",
    [
        "real_shape",
        "small",
        "all_ccas",
        "nothing_valid",
        "one_of_each",
        pytest.param("two_methods", marks=pytest.mark.long),
    ],
)
def test_page_is_sound_fits_its_screen_and_is_legible(name, visit, request):
    path = request.getfixturevalue(name).page
    check_content(path)
    widths = (1400, 800, 360) if name == "real_shape" else (1400, 360)
    for width, page in zip(widths, at_widths(path, visit, widths), strict=True):
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg.panel text')].map((e) =>"
            " parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))"
        )
        # Where nothing is valid what stands in the place of values may be smaller on a narrow screen.
        assert smallest >= 9.5 or (name == "nothing_valid" and width < 400), width


@pytest.mark.parametrize("name", ["two_methods", "nothing_valid"])
def test_text_stands_out_from_its_background(name, visit, request):
    page = visit(request.getfixturevalue(name).page)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    papers = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 100
        assert contrasts[0][0] >= 4.5, (scheme, contrasts[:3])  # WCAG 2.2, 1.4.3, level AA
    assert len(papers) == 2


def test_dark_page_has_dark_figures(small, visit):
    colours = "e => [getComputedStyle(document.body).backgroundColor, getComputedStyle(e).fill]"
    seen = {}
    for scheme in ("light", "dark"):
        page = visit(small.page, color_scheme=scheme)
        seen[scheme] = page.eval_on_selector("svg.panel text", colours)
    assert seen["light"][0] == "rgb(255, 255, 255)"
    assert seen["dark"][0] == "rgb(21, 26, 32)"
    assert seen["light"][1] != seen["dark"][1]


def check_download(page, selector, path):
    with page.expect_download() as event:
        page.click(selector)
    assert event.value.suggested_filename == path.name
    assert Path(event.value.path()).read_bytes() == path.read_bytes()


def test_downloads_are_the_files_to_the_byte(small, visit):
    page = visit(small.page)
    for slug in ("goodput", "rtt", "loss", "retransmits"):
        for label, path in (("Figure (SVG)", small.figure(slug)), ("Its data (CSV)", small.data(slug))):
            check_download(page, f"#{slug} >> text={label}", path)
    assert page.problems == []


#: Chromium holds back the eleventh download of one page.
MOST_DOWNLOADS = 10
SAVED = {
    "All runs with their seeds (CSV)": "runs",
    "All statistics (CSV)": "descriptive",
    "Runs by cell (CSV)": "validity",
    "Scenarios (CSV)": "scenarios",
    "Checks (CSV)": "checks",
    "IPv6 against IPv4 by cell (CSV)": "ip_versions",
    "Tests over the whole study (CSV)": "ip_overall",
    "Tests of all CCAs (CSV)": "ccas",
    "Pairs of CCAs (CSV)": "cca_pairs",
    "Models by cell (CSV)": "models",
    "Exponents (CSV)": "regressions",
}


@pytest.mark.parametrize(
    "study, saved", [("small", SAVED), ("real_shape", {"Table 3 (CSV)": "pooled", "Table 5 (CSV)": "pooled_tests"})]
)
def test_tables_of_the_study_can_be_saved(study, saved, request, visit):
    built = request.getfixturevalue(study)
    for number, (label, name) in enumerate(saved.items()):
        if number % MOST_DOWNLOADS == 0:
            page = visit(built.page)
        check_download(page, f"button:text-is('{label}')", built.table(name))


def test_provenance_can_be_saved(small, visit):
    check_download(visit(small.page), "text=Provenance (JSON)", small.folder / "tidy" / "provenance.json")


def test_page_reads_well_without_scripts(small, visit):
    page = visit(small.page, java_script_enabled=False)
    assert page.locator("svg.panel").first.is_visible()
    assert page.locator("table.means").first.is_visible()
    assert page.locator("button.download").first.is_hidden()  # no button that does nothing
    page.click("#statistics summary >> nth=0")
    assert page.locator("table.statistics").first.is_visible()
    rows = page.locator("#ip-versions tbody tr")
    assert rows.count() == 4 * 4  # metrics x cells: complete, though it can't be filtered
    assert page.locator("#ip-versions button, #ip-versions select").count() == 0


def test_link_to_closed_statistics_opens_them(small, visit):
    page = visit(small.page)
    assert page.locator("#rtt-statistics table").is_hidden()
    page.click("#rtt .more a")
    # The browser tells the page of the new fragment a moment after the click.
    expect(page.locator("#rtt-statistics table")).to_be_visible()


def test_everything_can_be_reached_by_keyboard(small, visit):
    page = visit(small.page, 400)
    seen = []
    for _ in range(400):
        page.keyboard.press("Tab")
        tag = page.evaluate(
            "(() => { const e = document.activeElement;"
            " return e.className || e.tagName + (e.getAttribute('href') || ''); })()"
        )
        seen.append(tag)
        if tag == "BODY" and len(seen) > 5:
            break
    assert seen[0] == "skip"
    for wanted in ("A#validity", "download", "scroll", "SUMMARY", "PRE", "sort", "SELECT", "INPUT"):
        assert wanted in seen
    page.locator("button.download").first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "2px"


@pytest.mark.parametrize("name", [pytest.param("two_methods", marks=pytest.mark.long), "all_ccas"])
def test_paper_cuts_nothing_and_shows_everything(name, visit, request):
    # A4 less margins of 14 and 16 mm: 182 x 265 mm at 96 dpi.
    width, height = 688, 1001
    page = visit(request.getfixturevalue(name).page, width, height, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.add_style_tag(content=".wide.aside { display: none }")
    page.evaluate("document.querySelectorAll('.wide').forEach((e) => { e.classList.add('aside'); })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    too_wide = page.evaluate(
        "[...document.querySelectorAll('table, svg.panel, pre')].filter((e) => !e.closest('.wide'))"
        f".filter((e) => e.getBoundingClientRect().right > {width} + 1)"
        ".map((e) => e.querySelector('caption')?.textContent ?? e.outerHTML.slice(0, 60))"
    )
    assert too_wide == []
    # Wide tables go onto pages turned by a quarter.
    page.evaluate("document.querySelectorAll('.wide').forEach((e) => { e.classList.remove('aside'); })")
    page.set_viewport_size({"width": 1001, "height": 688})
    too_wide = page.evaluate(
        "[...document.querySelectorAll('.wide table')]"
        ".filter((e) => e.getBoundingClientRect().width > 1002).map((e) => e.caption.textContent)"
    )
    assert too_wide == []
    # None leaves its heading behind.
    left = page.evaluate(
        "[...document.querySelectorAll('.wide')].map((e) => e.previousElementSibling).filter((e) => /^(H|P)/.test(e?.tagName))"
        ".filter((e) => getComputedStyle(e).page != 'wide').map((e) => e.textContent)"
    )
    assert left == []
    page.set_viewport_size({"width": width, "height": height})
    heights = page.evaluate(
        "[...document.querySelectorAll('svg.panel, :not(.wide) > .scroll > table tr')]"
        ".map((e) => e.getBoundingClientRect().height)"
    )
    assert max(heights) < height
    # Not even a heat map of very many scenarios is cut in two.
    page.evaluate("document.querySelector('svg.panel').setAttribute('viewBox', '0 0 100 900')")
    assert page.evaluate("document.querySelector('svg.panel').getBoundingClientRect().height") < height
    assert page.locator("nav").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("table.statistics >> nth=3").is_visible()
    panel = page.locator("svg.panel").first
    assert panel.evaluate("e => getComputedStyle(e).breakInside") == "avoid"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("table.statistics >> nth=3").is_hidden()


def test_printing_gives_pages_of_a4(small, visit, tmp_path):
    page = visit(small.page)
    pdf = page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True, tagged=True)
    boxes = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf))
    assert all(sorted(round(float(side)) for side in box) == [595, 842] for box in boxes)
    assert len(boxes) == 2  # upright, and turned for wide tables


def test_study_without_valid_runs_says_so(nothing_valid, visit):
    page = visit(nothing_valid.report)
    text = page.inner_text("main")
    assert "No run of 24 is valid" in text
    assert "so nothing can be compared" in text
    assert page.locator("svg.panel text", has_text="no valid run").count() > 0
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    assert page.problems == []


def test_all_text_is_escaped(build, visit, monkeypatch, tmp_path):
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7*7 }}"
    scenarios = tidy_tables.grid(delays_ms=(10, 20), losses_percent=(0,), flows=(1,))
    scenarios["label"] = [evil, "]]></svg><script>alert(3)</script>"]
    study = tidy_tables.synthetic_study(scenarios, ["reno", "<b>cubic"], replications=3, invalid_share=0.4, title=evil)
    study["scenarios"]["queue"] = evil
    study["provenance"]["study"]["description"] = evil
    study["provenance"]["environments"][0]["kernel"] = evil
    study["provenance"]["environments"][0][evil] = evil
    study["provenance"]["workflow"]["commit"] = evil
    for column in ("check", "expected", "observed"):
        study["checks"][column] += evil
    study["runs"]["invalid_because"] += evil
    built = build(study, claims=IP_PAPER)
    texts = {
        "ip_versions": ["verdict", "note", "test"],
        "ip_overall": ["method", "null", "direction", "note"],
        "ccas": ["test", "note"],
        "cca_pairs": ["cca_a", "test", "note"],
        "pooled": ["name", "unit", "mode_note", "note"],
        "pooled_tests": ["name", "conclusion", "hypothesis", "note"],
        "models": ["model", "quantity", "unit", "note"],
        "regressions": ["response", "term", "expected_source", "agrees", "note"],
        "claims": ["statement", "section", "published", "requirement", "unit", "because", "remark", "verdict"],
    }
    for name, columns in texts.items():
        built.change(name, lambda table, names=columns: table.assign(**{c: table[c] + evil for c in names}))
    row = MISLABELLED_ROW | dict.fromkeys(("scenario_label", "cca", "observed"), evil)
    pd.DataFrame([row] * 2).to_csv(built.table("mislabelled"), index=False)
    built.other = Built(tmp_path)
    (tmp_path / "analysis").mkdir()
    for name in ("claims", "mislabelled"):
        shutil.copy(built.table(name), built.other.table(name))
    for most_plain_rows in (data_tables.MAX_PLAIN_ROWS, 0):  # tables as text, and packed
        monkeypatch.setattr(data_tables, "MAX_PLAIN_ROWS", most_plain_rows)
        built.write_page(
            analysis=built.study["analysis"] | {"compare_with": evil},
            paper={"title": evil, "authors": evil, "source": evil},
        )
        check_escaped(visit(built.page), evil)


def check_escaped(page, evil):
    assert page.problems == []
    assert page.inner_text("h1") == evil
    assert evil in page.title()
    assert page.locator("script").count() == 1
    assert page.locator("img, b:has(script), td b, th b").count() == page.locator(".definitions b").count()
    assert "49" not in page.inner_text("h1")
    for section in ("validity", "ccas", "ip-version", "theory", "published", "claims", "statistics"):
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert "<script>alert(1)" in page.inner_text(f"#{section}"), section


def test_security_policy_stops_injected_scripts(small, visit, tmp_path):
    broken = tmp_path / "broken.html"
    html = small.page.read_text()
    broken.write_text(html.replace("<main>", "<main><script>document.title = 'in'</script>", 1))
    page = visit(broken)
    assert page.title() != "in"
    assert any("Content Security Policy" in problem for problem in page.problems)
