"""`make series` on real series: one that doesn't change the kernel, some that don't apply, compile or run, and one with which CUBIC backs
off more."""

import difflib
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from fresh_clone import Clone

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import kernels  # noqa: E402
from sending.letter import MOST_LINES  # noqa: E402

pytestmark = pytest.mark.long
CUBIC = "net/ipv4/tcp_cubic.c"
BETA = "static int beta __read_mostly = 717;"
#: Of the studies that a series is tried by, these scenarios and so many replications are carried out here.
SHORT = {
    "regression": (("shallow",), 8, ["ipv4"]),
    "exam-quick": (("5.1.2-4bdp", "5.1.3-0.1bdp", "5.2.1-solo"), 6, ["ipv4", "ipv6"]),
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A checkout in which the studies of series are short."""
    clone = Clone(ROOT, tmp_path_factory.mktemp("series"))
    for name, (scenarios, replications, ip_versions) in SHORT.items():
        file = clone.folder / f"config/studies/{name}.yaml"
        study = yaml.safe_load(file.read_text())
        study["scenarios"] = [one for one in study["scenarios"] if one["id"] in scenarios]
        study |= {"replications": replications, "ip_versions": ip_versions}
        if "exam" in study:
            study["exam"]["primaries"] = {name: study["exam"]["primaries"][name] for name in scenarios}
        file.write_text(yaml.safe_dump(study))
    return clone


@pytest.fixture(scope="module")
def cubic():
    """The text of the image's tcp_cubic.c."""
    return (kernels.provide_compiler() / "root/build/source" / CUBIC).read_text()


def patch(before, after, path=CUBIC):
    """Return a patch of a file."""
    return "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}"))


def tried(clone, text, name, *arguments):
    """Test a series; return exit status, output and the folder of results."""
    (clone.folder / f"{name}.patch").write_text(text)
    status, said = clone.run(f"make series SERIES={name}.patch BASE=7.2 {' '.join(arguments)}", timeout=3600)
    (folder,) = [*(clone.folder / "results/series").glob(f"{name}-*")] or [None]
    return status, said, folder


def test_a_series_of_documentation_changes_no_kernel(clone):
    text = patch("one\n", "two\n", "Documentation/networking/tcp.rst")
    status, said, folder = tried(clone, text, "words", "GATE=1")
    assert status == 0, said
    assert "byte for byte" in said
    assert json.loads((folder / "series.json").read_text())["ccas"] == []
    assert "byte for byte" in " ".join((folder / "cover-letter.txt").read_text().split())
    assert not [*(clone.folder / "results").glob("series-words-*")]


def test_a_series_for_another_kernel_does_not_apply(clone, cubic):
    text = patch(cubic.replace(BETA, "static int beta = 1;"), cubic.replace(BETA, "static int beta = 2;"))
    status, said, folder = tried(clone, text, "elsewhere")
    assert status and f"does not apply to Linux of the image: hunk 1 of {CUBIC}." in said
    assert not (folder / "report.html").exists()


def test_a_series_that_does_not_compile_ends_with_the_compilers_words(clone, cubic):
    status, said, _ = tried(clone, patch(cubic, cubic.replace(BETA, BETA[:-1])), "broken")
    assert status and "error: expected" in said and "make series" not in said


def test_a_kernel_that_panics_is_the_finding(clone, cubic):
    start = "__bpf_kfunc static void cubictcp_init(struct sock *sk)\n{\n"
    assert start in cubic
    text = patch(cubic, cubic.replace(start, start + '\tif (sk)\n\t\tpanic("planted");\n'))
    status, said, folder = tried(clone, text, "panics")
    assert status and "the same run on the base did not" in said and "planted" in said
    assert "planted" in (folder / "report.html").read_text() and "planted" in (folder / "cover-letter.txt").read_text()


def test_a_cca_that_backs_off_more_is_found_and_the_call_can_be_repeated(clone, cubic):
    text = patch(cubic, cubic.replace(BETA, BETA.replace("717", "410")))
    status, said, folder = tried(clone, text, "backs-off", "GATE=1")
    assert status, said
    letter = (folder / "cover-letter.txt").read_text()
    assert len(letter.splitlines()) <= MOST_LINES
    assert "make series SERIES=backs-off.patch BASE=7.2" in letter
    assert "Short exam by RFC 9743" in letter and "Regression study" in letter
    changes = pd.read_csv(folder / "changes.csv")
    (goodput,) = changes[(changes["measure"] == "Goodput") & (changes["scenario"] == "shallow")].to_dict("records")
    assert goodput["change"] == "worse" and goodput["high"] < 0 and goodput["n"] == 8
    again, once_more, _ = tried(clone, text, "backs-off")
    assert again == 0 and "Nothing to be done" not in letter
    assert (folder / "cover-letter.txt").read_text() == letter
    assert (
        subprocess.run(["grep", "-c", "emulate", "-"], input=once_more, text=True, capture_output=True).stdout == "0\n"
    )
