"""Checks that every page must pass, both of its HTML and in a browser."""

import html as entities
import re
from html.parser import HTMLParser
from pathlib import Path

import axe_playwright_python

from drawn_figure import panels_alike

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")

OVERFLOWING = """
() => [...document.querySelectorAll('body *')].filter((e) => {
  if (e.closest('.scroll, pre, nav, svg') || e.matches('.skip')) return false;
  return e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5;
}).map((e) => e.outerHTML.slice(0, 80))
"""

#: Name of a page's file -> that of the other page of the same study.
OTHER_PAGE = {"report.html": "details.html", "details.html": "report.html"}
#: Name of the page on which readers explore the runs.
EXPLORER = "explore.html"
#: Largest number of words in a caption.
CAPTION_WORDS = 60

# Elements that make a section non-empty.
SHOWN = {"figure", "table", "ol", "ul", "dl", "p"}


#: Addresses that a reader may follow: RFCs, drafts and papers.
SOURCE = re.compile(
    r"https://(www\.rfc-editor\.org/rfc/rfc\d+|datatracker\.ietf\.org/doc/html/[\w-]+|doi\.org/10\.\S+)$"
)


class PageParts(HTMLParser):
    """Collect headings, identifiers, links within the page and to the other page, everything that could load, and the content of
    sections."""

    def __init__(self):
        super().__init__()
        self.headings, self.ids, self.targets, self.loads, self.open_sections = [], [], [], [], []
        self.elements, self.others = 0, []
        self.tables, self.captions, self.content = 0, 0, {}

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.elements += 1
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if tag == "section":
            self.open_sections.append(values.get("id"))
            self.content[values.get("id")] = 0
        if tag in SHOWN and values.get("class") not in ("kind", "downloads"):
            for name in self.open_sections:
                self.content[name] += 1
        if "id" in values:
            self.ids.append(values["id"])
        for name in ("href", "src", "xlink:href", "srcset", "data", "action"):
            value = values.get(name)
            if value and value.startswith("#"):
                self.targets.append(value[1:])
            elif value and tag == "a" and value.partition("#")[0] in OTHER_PAGE:
                self.others.append(value)
            elif (
                value
                and value != "data:,"
                and (tag, value) != ("a", EXPLORER)
                and not (tag == "a" and SOURCE.match(value))
            ):
                self.loads.append((tag, name, value))

    def handle_endtag(self, tag):
        if tag == "section":
            self.open_sections.pop()

    @classmethod
    def of(cls, page):
        """Return the parts of a page's file."""
        parts = cls()
        parts.feed(Path(page).read_text(encoding="utf-8"))
        return parts


def page_text(page):
    """Return a page's text for readers: without its style, its script and embedded files."""
    html = Path(page).read_text(encoding="utf-8")
    html = re.sub(r"<style>.*?</style>|<script>.*?</script>|<svg.*?</svg>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def word_count(page):
    """Return the number of words that readers see on a page."""
    return len(page_text(page).split())


def long_captions(page):
    """Return the captions of figures that have more than `CAPTION_WORDS` words."""
    html = Path(page).read_text(encoding="utf-8")
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html, re.DOTALL)
    texts = [entities.unescape(re.sub(r"<a .*?</a>|<[^>]*>", " ", caption)) for caption in captions]
    return [text for text in texts if len(text.split()) > CAPTION_WORDS]


def broken_links(page):
    """Return the links to the other page whose target doesn't exist there."""
    page = Path(page)
    other = page.with_name(OTHER_PAGE[page.name])
    identifiers = {f"{other.name}#{identifier}" for identifier in PageParts.of(other).ids} | {other.name}
    return [link for link in PageParts.of(page).others if link not in identifiers]


def empty_sections(page):
    """Return the identifiers of sections without any figure, table, list or paragraph; headings and buttons don't count."""
    return [name for name, parts in PageParts.of(page).content.items() if not parts]


def empty_tables(page):
    """Return the captions of the tables without a row."""
    html = Path(page).read_text(encoding="utf-8")
    tables = re.findall(r"<caption>(.*?)</caption>(.*?)</table>", html, re.DOTALL)
    return [caption for caption, rest in tables if "<td" not in rest]


def at_widths(page, visit, widths):
    """Open a page and all its details, and yield it at each width after checking that nothing is too wide and nothing has failed.

    `visit` is the fixture. The page is loaded only once, since its initialisation doesn't depend on the width.
    """
    seen = visit(page, widths[0])
    seen.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    for width in widths:
        seen.set_viewport_size({"width": width, "height": 900})
        assert seen.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.evaluate(OVERFLOWING) == [], width
        assert seen.problems == []
        yield seen


#: Mode of viewing a page -> width, options of the browser's context, medium, and those of axe-core. Contrasts take most of
#: its time, and are the same as at another width.
SEEN = {
    "wide": (1400, {}, "screen", {}),
    "narrow": (400, {}, "screen", {"rules": {"color-contrast": {"enabled": False}}}),
    "dark": (1400, {"color_scheme": "dark"}, "screen", {}),
    "printed": (800, {}, "print", {}),
}


def accessibility_findings(page, visit):
    """Return the violations that axe-core reports for a page in each mode of `SEEN`: (mode, rule, element). All details are open.

    It is loaded once for each set of options: a page's initialisation may depend on the colour scheme, but not on the width.
    """
    findings, opened = [], {}
    for way, (width, options, medium, asked) in SEEN.items():
        key = tuple(options.items())
        if key not in opened:
            opened[key] = visit(page, width, **options)
            opened[key].evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            opened[key].evaluate(AXE.read_text(encoding="utf-8"))
        seen = opened[key]
        seen.set_viewport_size({"width": width, "height": 900})
        seen.emulate_media(media=medium)
        asked = {"resultTypes": ["violations"], **asked}
        found = seen.evaluate("(asked) => axe.run(document, asked).then((all) => all.violations)", asked)
        findings += [(way, one["id"], node["html"][:200]) for one in found for node in one["nodes"]]
    return findings


def both_pages(page):
    """Return both pages of a study, the given one first."""
    return [Path(page), Path(page).with_name(OTHER_PAGE[Path(page).name])]


def check_content(page):
    """Check that a page, and the other one of its study, are sound HTML without anything empty, and that no two panels look alike."""
    alike = {path.name: panels_alike(path) for path in Path(page).parent.glob("figures/*.svg")}
    assert {name: panels for name, panels in alike.items() if panels} == {}
    for one in both_pages(page):
        parts = PageParts.of(one)
        assert parts.loads == []
        assert len(parts.ids) == len(set(parts.ids))
        assert set(parts.targets) <= set(parts.ids)
        assert parts.others and broken_links(one) == []
        assert parts.tables == parts.captions
        assert parts.headings[0] == parts.headings.count(1) == 1
        assert all(after - before <= 1 for before, after in zip(parts.headings, parts.headings[1:], strict=False))
        assert empty_sections(one) == []
        assert empty_tables(one) == []
        assert long_captions(one) == []
        # `inf-cpu` is the guest kernel's name for the mode of its clock.
        assert not re.search(r"\b(nan|inf(?!-cpu)|NaT|Undefined)\b", page_text(one))


def check_page(page, visit, widths=(1400, 390)):
    """Check that a page, and the other one of its study, are sound, and that they fit wide and narrow screens."""
    check_content(page)
    for one in both_pages(page):
        for _ in at_widths(one, visit, widths):
            pass
