"""A study of hostile texts, run in a place full of secrets: what its published files reveal."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pyarrow
import pyarrow.parquet
import pytest
import yaml

from own_commands import own_command
from published_files import places_of, texts

pytestmark = pytest.mark.long

SECRET = "canary7f3a"
#: Whatever of a machine's own could be in a path. `/usr/bin/env` and the guest's own files are none.
PRIVATE_PATH = rb"(?<![\w.<])/(home|root|tmp|var|mnt|srv|opt|scratch|dev/shm)/"
EMAIL = rb"[\w.+-]+@[\w-]+\.(com|org|net|edu|de|io)\b"
SCRIPT = "<script>alert(1)</script>"
TITLE = f'{SCRIPT}"><img src=x onerror=alert(2)> &amp; {{{{ 7*7 }}}} $(touch pwned)'
TEXT = f"{TITLE} {{% raw %}} </script></style>]]>--><script>document.title='in'</script> `touch pwned`"
LABELS = {"near": "<img src=x onerror=a()>", "far": "</script>$\\frac{$&amp;"}


def words_made_hostile(checkout):
    """Change the mini study and give it claims, so that all free text contains markup; return its file."""
    claims = yaml.safe_load((checkout.folder / "config/claims/lima-ccas-ipv4-ipv6.yaml").read_text())
    claims["paper"] |= {"title": TEXT, "authors": TEXT}
    for claim in claims["claims"]:
        claim |= {"statement": TEXT, "section": TITLE, "remark": TEXT}
    (checkout.folder / "config/claims/hostile.yaml").write_text(yaml.safe_dump(claims))
    path = checkout.folder / "config/studies/hostile.yaml"
    study = yaml.safe_load((checkout.folder / "config/studies/mini.yaml").read_text())
    study |= {
        "study": "hostile",
        "title": TITLE[:120],
        "description": TEXT,
        "replications": 1,
        "ip_versions": ["ipv4", "ipv6"],
    }
    study["analysis"] = {"claims": "hostile", "equivalence_margin": {"reason": TEXT}}
    for scenario in study["scenarios"]:
        scenario["label"] = LABELS[scenario["id"]]
    path.write_text(yaml.safe_dump(study))
    return path.relative_to(checkout.folder)


@pytest.fixture(scope="module")
def hostile(checkout_in, tmp_path_factory):
    """The results of a hostile study, run where path, home, user, host, commit and environment contain a secret."""
    place = tmp_path_factory.mktemp(SECRET)
    checkout = checkout_in(place / "checkout")
    study = words_made_hostile(checkout)
    secrets = dict.fromkeys(("USER", "LOGNAME", "HOSTNAME", "SECRET_TOKEN", "EMAIL"), SECRET)
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        secrets[name] = str(place / name)
        (place / name).mkdir()
    who = ["-c", f"user.name={SECRET}", "-c", f"user.email={SECRET}@example.org"]
    for command in (["init", "--quiet"], ["add", "Snakefile"], [*who, "commit", "--quiet", "-m", SECRET]):
        subprocess.run(["git", *command], cwd=checkout.folder, check=True)
    # Only root may give itself another host name without another user as well.
    host = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', SECRET] if os.geteuid() == 0 else []
    command = [*host, str(shutil.which("snakemake", path=os.path.dirname(sys.executable))), "--use-apptainer"]
    done = subprocess.run(
        [*command, "--cores", "all", "--configfile", str(study)],
        cwd=checkout.folder, env=os.environ | secrets, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert SECRET in done.stdout  # the terminal may name the place
    return checkout.folder / "results/hostile"


def test_no_published_file_tells_where_or_by_whom_it_was_made(hostile):
    assert any(
        SECRET in log.read_text() for log in (hostile / "logs").rglob("*.log")
    )  # which is why logs aren't published
    assert len(list(texts(hostile))) > 60
    assert places_of(SECRET.encode(), hostile) == {}


def test_no_published_file_has_a_path_of_a_machine_or_an_address(hostile, mini, root):
    for folder in (hostile, mini.folder / "results/mini"):
        assert places_of(PRIVATE_PATH, folder) == {}
        assert places_of(EMAIL, folder) == {}
        assert places_of(re.escape(str(root)).encode() + rb"\b", folder) == {}


@pytest.mark.parametrize("kind", ["json.gz", "parquet", "svg", "html"])
def test_a_secret_would_be_found_wherever_it_hides(kind, tmp_path):
    path = tmp_path / f"file.{kind}"
    if kind == "parquet":
        table = pyarrow.table({"a": [1]}).replace_schema_metadata({"made by": SECRET})
        pyarrow.parquet.write_table(table, path, compression="zstd")
    elif kind == "json.gz":
        path.write_bytes(gzip.compress(SECRET.encode()))
    else:
        path.write_text(f"<metadata>{SECRET}</metadata>")
    assert list(places_of(SECRET.encode(), tmp_path)) == [f"file.{kind}"]


@pytest.fixture(scope="module", params=["report.html", "details.html"])
def page(hostile, chromium, request):
    """A page of the hostile study, opened in Chromium; `problems` lists everything that went wrong, including dialogs."""
    page = chromium.new_page()
    page.problems = []
    page.on("console", lambda m: m.type in ("error", "warning") and page.problems.append(m.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("dialog", lambda dialog: (page.problems.append(dialog.message), dialog.dismiss()))
    page.goto((hostile / request.param).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    yield page
    page.close()


def test_nothing_in_a_study_becomes_markup_or_a_script(page):
    assert page.problems == []
    assert page.locator("script").count() == 1  # the page's own
    assert page.locator("img, [onerror], [onload]").count() == 0
    assert page.title().startswith(SCRIPT)


def test_hostile_words_are_shown_as_they_were_written(page):
    assert page.inner_text("h1") == TITLE[:120]
    for place in ("header",) if page.url.endswith("report.html") else ("#method", "#claims"):
        assert " ".join(TEXT.split()) in " ".join(page.inner_text(place).split()), place
    assert "49" not in page.inner_text("h1")
    for label in LABELS.values():
        assert label in page.inner_text("#conditions")


def test_figures_show_labels_as_they_were_written(page, hostile):
    drawn = page.eval_on_selector_all("svg.panel text", "texts => texts.map((e) => e.textContent)")
    for label in LABELS.values():
        assert any(label in text for text in drawn), label
    for figure in (hostile / "figures").glob("*.svg"):
        page.goto(figure.as_uri())  # as a separate file, where no policy of the page protects
        assert page.locator("script, img, foreignObject").count() == 0
    assert page.problems == []


def test_no_word_of_a_study_reached_a_shell(hostile):
    assert list(hostile.parents[1].rglob("pwned")) == []


def test_manifest_of_hostile_words_is_json_that_says_them(hostile):
    graph = json.loads((hostile / "ro-crate-metadata.json").read_text())["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert entities["./"]["name"] == TITLE[:120]
    assert entities["./"]["citation"] == {"@id": "#paper"} and entities["#paper"]["name"] == TEXT
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", entities["./"]["datePublished"])
    assert entities["./"]["datePublished"] != "1970-01-01"  # that of the commit


def test_archive_of_a_study_keeps_the_secret_too(hostile, root, tmp_path):
    subprocess.run(own_command(root, "publishing.pack_results", hostile, "--output", tmp_path / "a.zip"), check=True)
    (tmp_path / "unpacked").mkdir()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
        assert all(SECRET not in repr(member) and SECRET.encode() not in member.extra for member in archive.infolist())
    assert len(list(texts(tmp_path / "unpacked"))) > 60
    assert places_of(SECRET.encode(), tmp_path / "unpacked") == {}
