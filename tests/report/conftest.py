"""Studies of synthetic tables taken through analysis, figures and page, and a browser."""

import importlib
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
for folder in (ROOT / "tests", ROOT / "workflow" / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import tidy_tables  # noqa: E402

SLUGS = ("goodput", "rtt", "loss", "retransmits")


class Built:
    """A study's folder and page."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.page = self.folder / "report.html"

    def build(self, study):
        """Write the study's tables, then do what the rules do."""
        import describe_cells
        import summarise_validity

        tidy_tables.write_tidy(study, self.folder)
        for name in ("analysis", "figures"):
            (self.folder / name).mkdir(exist_ok=True)
        inputs = SimpleNamespace(
            **{name: self.folder / "tidy" / f"{name}.csv" for name in ("runs", "checks", "scenarios")},
            descriptive=self.folder / "analysis" / "descriptive.csv",
        )
        analysis = self.folder / "analysis"
        describe_cells.main(
            inputs,
            SimpleNamespace(descriptive=analysis / "descriptive.csv"),
            SimpleNamespace(confidence=0.95),
        )
        summarise_validity.main(
            inputs,
            SimpleNamespace(validity=analysis / "validity.csv", checks=analysis / "checks.csv"),
        )
        for slug in SLUGS:
            outputs = SimpleNamespace(figure=self.figure(slug), data=self.data(slug))
            importlib.import_module(f"plot_{slug}").main(inputs, outputs)
        self.write_page()
        return self

    def figure(self, slug):
        """Return the path of a figure."""
        return self.folder / "figures" / f"{slug}.svg"

    def data(self, slug):
        """Return the path of a figure's data."""
        return self.folder / "figures" / f"{slug}.csv"

    def page_inputs(self):
        """Return the report rule's inputs by name."""
        tidy, analysis, report = self.folder / "tidy", self.folder / "analysis", ROOT / "report"
        inputs = {
            "runs": tidy / "runs.csv",
            "scenarios": tidy / "scenarios.csv",
            "provenance": tidy / "provenance.json",
            "descriptive": analysis / "descriptive.csv",
            "validity": analysis / "validity.csv",
            "checks": analysis / "checks.csv",
            "template": report / "page.html.j2",
            "style": report / "page.css",
            "script": report / "page.js",
        }
        for slug in SLUGS:
            inputs[f"{slug}_figure"] = self.figure(slug)
            inputs[f"{slug}_data"] = self.data(slug)
            inputs[f"{slug}_caption"] = report / "captions" / f"{slug}.rst"
        return inputs

    def write_page(self, configfile="config/studies/synthetic.yaml"):
        """Write the page."""
        import write_report

        write_report.main(
            self.page_inputs(),
            SimpleNamespace(report=self.page),
            {"confidence": 0.95, "configfile": configfile},
        )


@pytest.fixture(scope="session")
def real_shape(tmp_path_factory):
    """12 scenarios, 6 CCAs, 2 IP versions, 5 replications, some runs excluded."""
    study = tidy_tables.synthetic_study(invalid_share=0.02, seed=11)
    return Built(tmp_path_factory.mktemp("real")).build(study)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """2 scenarios, 2 CCAs, 2 IP versions, 2 replications."""
    scenarios = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=100)
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], replications=2)
    return Built(tmp_path_factory.mktemp("small")).build(study)


@pytest.fixture(scope="session")
def all_ccas(tmp_path_factory):
    """1 scenario, all 17 CCAs."""
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, tidy_tables.ALL_CCAS, replications=5)
    return Built(tmp_path_factory.mktemp("ccas")).build(study)


@pytest.fixture(scope="session")
def nothing_valid(tmp_path_factory):
    """A study whose every run failed a check."""
    scenarios = tidy_tables.grid(delays_ms=(20,), flows=(1,))
    study = tidy_tables.synthetic_study(
        scenarios, ["reno", "cubic"], replications=3, invalid_share=1
    )
    return Built(tmp_path_factory.mktemp("nothing")).build(study)


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Return a function that builds a study in a folder of its own."""
    return lambda study: Built(tmp_path_factory.mktemp("study")).build(study)


@pytest.fixture(scope="session")
def chromium():
    """A running Chromium; its absence is a failure, not a skip."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("The report is tested in Chromium: install it with apt-get install chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Return a function that opens a page and collects what goes wrong in it.

    The page has ``problems``: console errors and warnings, exceptions, dialogs, and every request
    but the one for the file itself.
    """
    contexts = []

    def open_page(path, width=1400, height=900, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.problems = []
        url = Path(path).as_uri()
        page.on("console", lambda m: m.type in ("error", "warning") and page.problems.append(m.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("dialog", lambda d: (page.problems.append(f"dialog {d.message}"), d.dismiss()))
        page.on(
            "request",
            lambda r: r.url.split("#")[0] != url
            and not r.url.startswith(("data:", "blob:"))
            and page.problems.append(f"request {r.url}"),
        )
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
