"""A gallery of two recorded exams: it shows what their cards and runs state, and other conditions are refused."""

import hashlib
import re
import tarfile
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from figure_parts.svg_namespaces import SVG
from inference.percentile_interval import percentile_interval
from page_checks import OVERFLOWING, PageParts
from session import gallery
from session.compare_results import ComparisonError, read_results
from session.gallery_figure import LETTERS
from topics.exam.tables import PRIMARY, SCORECARD

EXAMS = Path(__file__).parents[1] / "data/exams.tar.gz"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The results folders of two recorded exams, as far as a gallery reads them: BBR's and Vegas's, with four cases and 8 replications."""
    place = tmp_path_factory.mktemp("exams")
    with tarfile.open(EXAMS) as archive:
        archive.extractall(place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return [str(place / "results" / f"exam-small-{cca}") for cca in ("bbr", "vegas")]


@pytest.fixture(scope="module")
def exams(folders):
    return [read_results(folder) for folder in folders]


@pytest.fixture(scope="module")
def written(exams, tmp_path_factory):
    """The gallery, and the folder of its files."""
    output = tmp_path_factory.mktemp("gallery")
    made = gallery.gallery_of(exams)
    gallery.write(made, output)
    return made, output


def deciding(exam):
    return exam.scorecard[exam.scorecard["role"] == PRIMARY]


def test_its_table_has_the_rows_that_decide(written, exams):
    table = pd.read_csv(written[1] / "gallery.csv", keep_default_na=False, na_values={"value": "", "worse_by": ""})
    assert list(table) == SCORECARD.names and len(table) == sum(map(len, map(deciding, exams))) == 10
    for exam in exams:
        own = table[table["cca"] == exam.examined]
        for name in ("verdict", "scenario", "measure", "standard"):
            assert own[name].tolist() == deciding(exam)[name].tolist()
        for name in ("value", "worse_by"):
            assert own[name].to_numpy() == pytest.approx(deciding(exam)[name].to_numpy(), rel=1e-5, nan_ok=True)


def test_each_tile_has_the_verdict_and_the_number_of_worse_runs(written, exams):
    root = ET.parse(written[1] / "matrix.svg").getroot()
    told = {
        (group.get("data-name"), group.get("data-told")) for group in root.iter(f"{{{SVG}}}g") if group.get("data-told")
    }
    texts = [text.text for text in root.iter(f"{{{SVG}}}text")]
    rows = [row for exam in exams for row in deciding(exam).to_dict("records")]
    assert len(told) == len(rows)
    for row in rows:
        worse = int(row["runs_worse"])
        assert f"{LETTERS[row['verdict']]}{worse or ''}" in texts
        counted = f"{row['verdict']}, {worse} worse and {row['runs_better']:.0f} better of {row['n']:.0f} runs"
        name = {"bbr": "BBR", "vegas": "Vegas"}[row["cca"]]
        place = row["scenario_label"] or "all cases"
        assert any(who == name and place in words and words.endswith(counted) for who, words in told)


def test_harm_is_the_median_of_the_runs_and_that_of_the_standards_stands_beside(written, exams):
    (table,) = [one for one in gallery.harm_tables(written[0]) if one["id"] == "harm-harm_throughput"]
    assert [row[0].text for row in table["rows"]] == ["Reno", "CUBIC", "BBR", "Vegas"]
    headings = [column.heading for column in table["columns"]]
    assert headings == ["CCA", "beside Reno"]
    for row, (cca, exam) in zip(table["rows"], (("reno", 0), ("cubic", 1), ("bbr", 0), ("vegas", 1)), strict=True):
        values = exams[exam].exam_values.query(
            f"cca == '{cca}' and scenario == '5.2.1-beside-reno' and measure == 'harm_throughput'"
        )["value"]
        assert len(values) == 8 and row[1].value == pytest.approx(np.median(values))
        known = percentile_interval(values, 0.5, 0.95)
        assert row[1].text == f"{np.median(values):.3f} ({known.low:.3f} to {known.high:.3f})"


def test_bbr_harms_reno_and_vegas_does_not(written):
    """As is known, BBR (v1) takes more than its share behind a queue of one BDP, and Vegas yields."""
    (table,) = [one for one in gallery.harm_tables(written[0]) if one["id"] == "harm-harm_throughput"]
    harm = {row[0].text: row[1].value for row in table["rows"]}
    assert harm["BBR"] > harm["Reno"] + 0.05 and harm["Vegas"] < harm["Reno"] - 0.05


def test_page_says_what_each_card_says(written, exams):
    page = (written[1] / "index.html").read_text()
    parts = PageParts.of(written[1] / "index.html")
    assert parts.headings[0] == 1 and set(parts.headings[1:]) == {2} and parts.tables == parts.captions
    assert not parts.loads and set(parts.targets) <= set(parts.ids) and len(set(parts.ids)) == len(parts.ids)
    for exam in exams:
        worse = int((deciding(exam)["verdict"] == "worse").sum())
        first = f"Worse in {worse} of 5 rows that decide" if worse else "Nothing worse was shown"
        assert first in page and first in (written[1] / "gallery.md").read_text()
    assert 'id="archives"' not in page and (written[1] / "SHA256SUMS").read_text() == ""


@pytest.mark.parametrize("width", [400, 1400])
def test_page_is_readable_on_a_phone_and_on_a_desk(width, written, visit):
    page = visit(written[1] / "index.html", width, color_scheme="dark")
    assert page.evaluate(OVERFLOWING) == [] and page.problems == []
    assert page.locator("#matrix-figure svg").count() >= 3
    assert (
        page.evaluate(
            "Math.max(...[...document.querySelectorAll('#matrix-figure svg')].map(e => e.getBoundingClientRect().right))"
        )
        <= width
    )


def test_archives_beside_the_folders_are_listed(folders, exams, tmp_path):
    archive = Path(f"{folders[0]}.crate.zip")
    archive.write_bytes(b"an archive")
    try:
        gallery.write(gallery.gallery_of(exams), tmp_path)
    finally:
        archive.unlink()
    digest = hashlib.sha256(b"an archive").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  exam-small-bbr.crate.zip\n"
    for name in ("index.html", "gallery.md"):
        assert digest in (tmp_path / name).read_text()


def test_documentation_has_the_tables_of_the_latest_gallery(folders, tmp_path, monkeypatch, root):
    monkeypatch.chdir(tmp_path)
    for name in ("config", "report"):
        (tmp_path / name).mkdir()
    before = (root / gallery.PAGE).read_text()
    (tmp_path / gallery.PAGE).write_text(before)
    assert gallery.main([*folders, "--document"]) == 0
    once = (tmp_path / gallery.PAGE).read_text()
    assert gallery.main([*folders, "--document"]) == 0
    assert (tmp_path / gallery.PAGE).read_text() == once and "| BBR |" in once and "| Vegas |" in once
    begin, end = before.index("<!-- made by"), before.index("<!-- end -->")
    assert once.startswith(before[:begin]) and once.endswith(before[end:])
    assert (tmp_path / gallery.PICTURE).read_bytes() == (tmp_path / "results/gallery/matrix.png").read_bytes()
    (tmp_path / gallery.PAGE).write_text("nothing")
    assert gallery.main([*folders, "--document"]) == 1


def with_ecn(exam, cca):
    scenarios = [one | {"transport": one["transport"] | {"ecn": "classic"}} for one in exam.study["scenarios"]]
    study = exam.study | {"scenarios": scenarios, "exam": exam.study["exam"] | {"cca": cca}}
    tables = {
        name: getattr(exam, name).replace({"cca": {exam.examined: cca}})
        for name in ("scorecard", "exam_values", "runs")
    }
    return replace(exam, folder="results/ecn", study=study, **tables)


def test_an_exam_with_ecn_is_marked(exams):
    made = gallery.gallery_of([with_ecn(exams[0], "dctcp"), *exams])
    assert made.reference is exams[0] and made.with_ecn == {"dctcp"}
    assert list(made.names.values()) == ["DCTCP, ECN", "BBR", "Vegas"]
    assert "Different conditions: the exam of DCTCP has ECN in all cases" in gallery.introduction(made)[1]


def _other_margin(exam):
    margins = exam.study["exam"]["margins"] | {"index": 0.1}
    return replace(exam, folder="results/other", study=exam.study | {"exam": exam.study["exam"] | {"margins": margins}})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_other_margin, "exam.margins.index is 0.05 in .* and 0.1 in results/other; only results of the same conditions"),
        (lambda exam: replace(exam, runs=exam.runs.assign(image_digest="f00")), "image_digest is sha256:[0-9a-f]+ in .*bbr and f00 in .*vegas; allowed:"),
        (lambda exam: replace(exam, study=exam.study | {"exam": exam.study["exam"] | {"cca": "bbr"}}), ".*bbr and .*vegas both examine bbr; allowed: one exam"),
        (lambda exam: replace(exam, scorecard=None), ".*vegas is not an exam; allowed: folders"),
    ],
)  # fmt: skip
def test_other_exams_are_refused_in_a_sentence(change, sentence, exams):
    with pytest.raises(ComparisonError) as caught:
        gallery.gallery_of([exams[0], change(exams[1])])
    assert re.match(sentence, str(caught.value)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("folders", "sentence"),
    [([], "no exam is named; allowed: folders"), (["nowhere"], "nowhere is not a folder of finished results")],
)
def test_folders_that_are_none_are_refused(folders, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert gallery.main(folders) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sawtooth: {sentence}") and error.count("\n") == 1 and not (tmp_path / "results").exists()
