"""The pages for users: links resolve, named files exist, and README stays short."""

import re
import subprocess

import pytest
import yaml

from documenting.site_pages import DOCS, PAGES, ROOT, linked_files, site_path
from study_files.study import resolve

WRITTEN = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / DOCS).glob("*.md"))
#: What others wrote at another time: the changelog names what there was then.
OF_THEN = {"CHANGELOG.md"}
ALL = [*PAGES, *WRITTEN]
NOW = [page for page in ALL if page not in OF_THEN]
#: Page -> the most lines and words that it may have.
LIMITS = {"README.md": (120, 900), "benchmarks/README.md": (200, 1500)}
STUDIES = {path.stem for path in (ROOT / "config/studies").rglob("*.yaml")}
FENCE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
#: A path from the repository's root, as pages name it; one with <placeholders>, wildcards or of results is none.
PATH = re.compile(r"(?:workflow|config|benchmarks|setup|tests|envs|examples|profiles|patches|docs|report)/[\w./-]*\w")
of_each_page = pytest.mark.parametrize("page", NOW)


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(text):
    """Return the anchors of a page's headings, as GitHub and MkDocs both give them."""
    headings = re.findall(r"^#{1,6} (.+?)(?: \{.*)?$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(text):
    """Return target and anchor of each relative link."""
    return re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", FENCE.sub("", text))


def commands(text):
    """Return the lines of a page's shell blocks."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.M | re.S)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("page", ALL)
def test_links_resolve(page):
    text = text_of(page)
    missing = [path for path in linked_files(text, page) if not (ROOT / path).exists()]
    assert missing == []
    for target, anchor in links(text):
        if anchor:
            there = ((ROOT / page).parent / target).resolve() if target else ROOT / page
            assert anchor in anchors(there.read_text(encoding="utf-8")), f"{target}#{anchor}"


@pytest.mark.parametrize("page", LIMITS)
def test_pages_stay_short(page):
    text = text_of(page)
    lines, words = LIMITS[page]
    assert len(text.splitlines()) <= lines
    # Words of text: what only draws a table is none.
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= words


@of_each_page
def test_make_targets_and_variables_exist(page):
    text = text_of(page)
    known = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.M))
    said = [*SPAN.findall(FENCE.sub("", text)), *commands(text)]
    called = [call.split() for each in said for call in re.findall(r"(?:^|&& )make(?! has)((?: +[^#&|;]+)?)", each)]
    for words in called:
        names = [word for word in words if re.fullmatch(r"[a-z-]+", word)][:1]
        assert set(names) <= known, words
        for study in (word.partition("=")[2] for word in words if re.match(r"STUDY=[a-z]", word)):
            # One that the reader writes, on the page, or a file.
            assert study in STUDIES | {"mine", "long-queue"} or (ROOT / study).is_file(), words
        for variable in (word.partition("=")[0] for word in words if re.match(r"[A-Z_]+=", word)):
            assert re.search(rf"^(?:export )?{variable} *:?=", text_of("Makefile"), re.M) or variable.startswith(
                "SAWTOOTH_"
            ), words


@of_each_page
def test_paths_that_are_named_exist(page):
    named = {
        path
        for span in SPAN.findall(FENCE.sub("", text_of(page)))
        for path in PATH.findall(span)
        if span.startswith(path)
    }
    # Made by set-up, by the reader, or in results (`workflow/study.json`); a patch may be named by its number.
    made = re.compile(
        r"envs/.*\.(sif|json)|patches/.*\.patch|.*tcp_mine\.c|config/studies/(mine|long-queue)\.yaml|workflow/(study|claims-record)\.json"
    )
    missing = {path for path in named if not any(ROOT.glob(f"{path}*")) and not made.fullmatch(path)}
    assert missing == set()


def test_modules_that_the_design_names_exist():
    known = {path.name for path in (ROOT / "workflow").rglob("*.*")} | {
        path.name
        for folder in ("setup", "benchmarks", "tests", "envs", "config")
        for path in (ROOT / folder).rglob("*.*")
    }
    named = re.findall(
        r"(?<![\w*/.-])[\w./-]+\.(?:py|smk|def|yaml|j2)\b", "\n".join(SPAN.findall(text_of("docs/design.md")))
    )
    assert len(named) > 60
    assert [name for name in named if name.rpartition("/")[2] not in known] == []


def test_make_help_fits_a_terminal():
    lines = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True
    ).stdout.splitlines()
    targets = re.findall(r"^([a-z-]+):.*##", text_of("Makefile"), re.M)
    assert [line.split()[1] for line in lines] == targets and len(targets) > 20
    assert [line for line in lines if len(line) > 100] == []


def test_every_page_is_on_the_site_once():
    nav = re.findall(r"[\w/.-]+\.md$", text_of("mkdocs.yml").partition("\nnav:")[2], re.M)
    assert sorted(nav) == sorted(site_path(page) for page in ALL)


def test_messages_that_are_explained_are_said():
    """A message on the troubleshooting page exists in the code, apart from its variable parts."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("setup", "workflow")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".smk") or path.name == "Snakefile"
    )
    sources = re.sub(r'"\s*\n\s*f?"', "", sources + text_of("Makefile"))
    rows = re.findall(r"^\| (`[^|]+`) \| ", text_of("docs/troubleshooting.md"), re.M)
    messages = [
        message for row in rows for message in SPAN.findall(row) if not message.startswith(("receive_", "send_"))
    ]
    assert len(messages) > 20
    parts = [part.strip(" '`.") for message in messages for part in re.split(r"<\w+>|\.\.\.|[':`]", message)]
    assert [part for part in parts if len(part) > 8 and part not in sources] == []


def test_definitions_of_ccas_are_what_a_study_takes():
    parts = [
        yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", text_of("docs/own-cca.md"), re.M | re.S)
    ]
    assert [*map(list, parts)] == [["ccas", "cca_definitions"], ["kernels"]]
    # Patches and trees are the reader's.
    parts[1]["kernels"] = {name: one for name, one in parts[1]["kernels"].items() if not {"patches", "tree"} & {*one}}
    for part in parts:
        study = {"study": "mine", "ccas": ["reno"], "scenarios": [{"id": "a"}]} | part
        assert {*part.get("ccas", ["cubic-6.12"])} <= {
            *study["ccas"],
            *resolve(study, "docs/own-cca.md")["cca_definitions"],
        }


def test_studies_take_the_keys_for_each_tc_command():
    """The keys in each row of the table of tc commands make a scenario."""
    table = text_of("docs/programs-and-paths.md").partition("| command | study |\n")[2].partition("\n\n")[0]
    rows = [line.split(" | ")[1] for line in table.splitlines()[1:]]
    scenarios = [{"id": "a"} | yaml.safe_load("\n".join(SPAN.findall(row))) for row in rows]
    scenarios[-1] = scenarios[-2] | scenarios[-1]
    assert [{*scenario} >= {"link", "queue"} for scenario in scenarios] == [True] * 5
    for scenario in scenarios:
        resolve({"study": "mine", "ccas": ["reno"], "scenarios": [scenario]}, "docs/programs-and-paths.md")


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path):
    done = subprocess.run(["make", "docs", f"ARGS=--site-dir {tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    assert (tmp_path / "index.html").is_file()
    assert len(list(tmp_path.rglob("*.html"))) > len(ALL)
