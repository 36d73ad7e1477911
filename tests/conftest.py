"""Fixtures of all tests: the repository's folder, recorded documents, a browser, and finished synthetic studies."""

import fcntl
import gc
import gzip
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

import share_studies
import tidy_tables
from built_study import MISLABELLED_ROW, Built
from topics.published.topic import IP_PAPER

ROOT = Path(__file__).resolve().parent.parent
# Tests execute their runs. The tests of the run cache switch it on, in a separate folder.
os.environ["SAWTOOTH_RUN_CACHE"] = "0"
#: Files whose tests use the same study, which takes half a minute to build: they are in the same process, because another process would
#: only wait.
OF_ONE_STUDY = {
    f"tests/{folder}/test_{name}.py": study
    for study, folder, names in (
        ("real shape", "report", "figures page_content page_in_chromium tables_in_chromium"),
        ("other designs", "report", "study_designs first_picture"),
        ("other designs", "topics/fairness", "page"),
        ("other designs", "topics/time_series", "page"),
        (
            "smoke",
            "workflow",
            "smoke_study example_notebook verify verify_images verify_refusals manifest new_topic entry_points",
        ),
    )
    for name in names.split()
}
#: Folders whose files take longest. They come first, so that no process is left with one of them at the end; files of the others
#: take some seconds at most.
LONGEST = (
    "tests/workflow/",
    "tests/report/",
    "tests/simulator/",
    "tests/setup/",
    "tests/documenting/",
    "tests/session/",
    "tests/inference/",
    "tests/publish/",
    "tests/wording/",
    "tests/topics/",
)


def pytest_make_parametrize_id(val):
    """Name bytes by their number: gzip writes the time into them, and processes that collect different names stop."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 20 else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """If tests run in parallel, put the longest files first: those that share a study, then by folder."""

    def place(item):
        file = item.nodeid.partition("::")[0]
        folders = (number for number, folder in enumerate(LONGEST) if file.startswith(folder))
        return -1 if file in OF_ONE_STUDY else next(folders, len(LONGEST))

    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=place)


def pytest_collection_finish(session):
    """Exclude imported modules and collected tests from garbage collection, since they last as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # a quarter of the time of tests that draw was spent on collections


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Distribute the tests file by file in order, but those of a study in `OF_ONE_STUDY` together."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False  # which would be by number of tests: the longest files have few

    class ByStudy(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return OF_ONE_STUDY.get(file, file)

    return ByStudy(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def root():
    """The repository's folder."""
    return ROOT


@pytest.fixture
def recorded():
    """A function that reads a recorded run document from its file at each call (see tests/data/README.md)."""

    def read(name):
        return json.loads(gzip.decompress((ROOT / "tests" / "data" / f"{name}.json.gz").read_bytes()))

    return read


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


def built_once(tmp_path_factory, name, study, claims=None):
    """Return a study as `Built` in a separate folder; it is built once for all processes of a test run."""
    run = tmp_path_factory.getbasetemp()
    run = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    original = run / f"built-{name}"
    with (run / f"built-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not original.exists():
            begun = tmp_path_factory.mktemp(name)
            Built(begun).build(study, claims=claims)
            begun.rename(original)
    built = Built(shutil.copytree(original, tmp_path_factory.mktemp(name), dirs_exist_ok=True))
    built.claims_name = claims
    built.outline = built.outline_of_tables()
    return built


@pytest.fixture(scope="session")
def real_shape(tmp_path_factory):
    """12 scenarios, 6 CCAs, 2 IP versions, 5 replications, some runs excluded, the paper's claims."""
    study = tidy_tables.synthetic_study(invalid_share=0.02, seed=11)
    return built_once(tmp_path_factory, "real", study, claims=IP_PAPER)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """2 scenarios, 2 CCAs, 2 IP versions, 2 replications."""
    scenarios = tidy_tables.grid(delays_ms=(10,), flows=(1,), rate_mbps=100)
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], replications=2)
    return built_once(tmp_path_factory, "small", study)


@pytest.fixture(scope="session")
def all_ccas(tmp_path_factory):
    """1 scenario, all 17 CCAs."""
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(0,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, tidy_tables.ALL_CCAS, replications=5)
    return built_once(tmp_path_factory, "ccas", study)


@pytest.fixture(scope="session")
def nothing_valid(tmp_path_factory):
    """A study whose every run failed a check."""
    scenarios = tidy_tables.grid(delays_ms=(20,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["reno", "cubic"], replications=3, invalid_share=1)
    return built_once(tmp_path_factory, "nothing", study)


@pytest.fixture(scope="session")
def one_of_each(tmp_path_factory):
    """One scenario, one CCA, one IP version, one replication, no claims."""
    scenarios = tidy_tables.grid(delays_ms=(20,), losses_percent=(1,), flows=(1,))
    study = tidy_tables.synthetic_study(scenarios, ["cubic"], ["ipv6"], replications=1)
    return built_once(tmp_path_factory, "one", study)


@pytest.fixture(scope="session")
def two_methods(real_shape, tmp_path_factory):
    """The study of real shape, compared with a study by another method that has other verdicts on some claims."""
    other = Built(tmp_path_factory.mktemp("other"))
    (other.folder / "analysis").mkdir()
    claims = pd.read_csv(real_shape.table("claims"), dtype=str, keep_default_na=False)
    swap = {"reproduced": "not reproduced", "not reproduced": "reproduced"}
    claims.loc[::5, "verdict"] = claims.loc[::5, "verdict"].replace(swap)
    claims.iloc[:-1].to_csv(other.table("claims"), index=False)
    pd.DataFrame([MISLABELLED_ROW]).to_csv(other.table("mislabelled"), index=False)
    built = Built(tmp_path_factory.mktemp("methods"), other)
    built.claims_name = IP_PAPER
    shutil.copytree(real_shape.folder, built.folder, dirs_exist_ok=True)
    built.write_page()
    return built


@pytest.fixture(scope="session")
def cwnd_study(tmp_path_factory):
    """4 CCAs over time: one scenario, one IP version."""
    return built_once(tmp_path_factory, "cwnd", tidy_tables.time_series_study())


@pytest.fixture(scope="session")
def fairness_study(tmp_path_factory):
    """16 mixes of CCAs in 5 scenarios, the first with time series, one IP version.

    In the deep buffer BBR gets a hundredth of what it got beside CUBIC: the winner changes.
    """
    places = share_studies.scenarios()
    places.loc[1:, "sample_interval_ms"] = None
    study = share_studies.sharing_study(places=places, replications=8, start=0.3)
    flows = study["flows"]
    pair = flows["cca"].isin(["bbr+cubic", "cubic+bbr"]) & (flows["flow_cca"] == "bbr")
    flows.loc[pair & (flows["scenario"] == "buffer-4bdp"), "goodput_mbps"] /= 100
    return built_once(tmp_path_factory, "fairness", study)


@pytest.fixture(scope="session")
def buffer_study(tmp_path_factory):
    """3 CCAs, 2 buffers on 3 platforms, 16 pairs of hosts, one IP version."""
    scenarios = tidy_tables.buffers(sizes=(100, 5000), pairs=16)
    return built_once(tmp_path_factory, "buffers", tidy_tables.buffers_study(scenarios))


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Return a function that builds a study in a separate folder."""
    return lambda study, **more: Built(tmp_path_factory.mktemp("study")).build(study, **more)


@pytest.fixture
def visit(chromium):
    """Return a function that opens a page and collects its problems.

    The page has ``problems``: console errors and warnings, exceptions, dialogs, and every request
    except the one for the file itself. Its tables have been unpacked.
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
            lambda r: (
                r.url.split("#")[0] != url
                and not r.url.startswith(("data:", "blob:"))
                and page.problems.append(f"request {r.url}")
            ),
        )
        page.goto(url)
        if options.get("java_script_enabled", True):
            page.wait_for_function(
                "[...document.querySelectorAll('.data')].every((e) => e.querySelector('.more-rows'))"
            )
        return page

    yield open_page
    for context in contexts:
        context.close()
