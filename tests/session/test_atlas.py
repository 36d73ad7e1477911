"""An atlas of two recorded studies: its outcomes follow from the verdicts, and folders that can't be part of it are refused."""

import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from page_checks import OVERFLOWING, PageParts
from session import atlas
from topics.claims.tables import VERDICTS

STUDIES = Path(__file__).parents[1] / "data/atlas.tar.gz"
CAUSE = "The queue of this kernel is shorter."


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The results folders of two recorded studies, as far as an atlas reads them: one with all claims reproduced, one with none testable."""
    place = tmp_path_factory.mktemp("atlas")
    with tarfile.open(STUDIES) as archive:
        archive.extractall(place, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return [place / "results" / name for name in ("l4s", "smoke")]


@pytest.fixture(scope="module")
def studies(folders):
    return atlas.in_order(folders)


def with_verdict(study, verdict, **cells):
    """Return a study with a different verdict on its first claim."""
    claims = study.claims.copy()
    for name, value in ({"verdict": verdict} | cells).items():
        claims.loc[0, name] = value
    return replace(study, claims=claims)


@pytest.fixture(scope="module")
def written(studies, tmp_path_factory):
    """The atlas with a claim that isn't reproduced, and the folder of its files."""
    output = tmp_path_factory.mktemp("output")
    made = [with_verdict(studies[0], "not reproduced", cause=CAUSE), studies[1]]
    atlas.write(made, output)
    return made, output


def test_outcomes_are_those_of_the_recorded_verdicts(studies):
    assert [(one.name, one.outcome, one.valid_runs, one.runs) for one in studies] == [
        ("l4s", "holds", 72, 72),
        ("smoke", "open", 16, 16),
    ]


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (["reproduced"] * 3, "holds"),
        (["reproduced", "not testable"], "holds"),
        (["reproduced", "not shown"], "holds in part"),
        (["reproduced", "not reproduced"], "holds in part"),
        (["not reproduced", "not shown"], "doesn't hold"),
        (["not reproduced"], "doesn't hold"),
        (["not shown", "not testable"], "open"),
        (["not testable"], "open"),
    ],
)
def test_an_outcome_follows_from_all_verdicts(verdicts, outcome):
    assert atlas.outcome_of(verdicts) == outcome
    assert atlas.outcome_of(reversed(verdicts)) == outcome


def test_every_claim_has_a_row_in_the_csv(written):
    made, output = written
    table = pd.read_csv(output / "atlas.csv", keep_default_na=False)
    assert table["study"].value_counts().to_dict() == {one.name: len(one.claims) for one in made}
    for one in made:
        assert table.loc[table["study"] == one.name, "verdict"].tolist() == one.claims["verdict"].tolist()


def test_matrix_has_a_tile_for_each_claim(written):
    made, output = written
    text = (output / "matrix.svg").read_text()
    assert text.count("data-told=") == sum(len(one.claims) for one in made)
    for verdict in VERDICTS:
        number = sum((one.claims["verdict"] == verdict).sum() for one in made)
        assert text.count(f': {verdict}"') == number


def test_page_has_what_does_not_hold_with_its_cause(written):
    made, output = written
    page, short = (output / "index.html").read_text(), (output / "atlas.md").read_text()
    failed = made[0].claims.iloc[0]
    for text in (page, short):
        assert CAUSE in text and failed["statement"] in text and failed["published"] in text
        assert "holds in part 1, open 1" in text and "6 reproduced and 1 not reproduced" in text
    parts = PageParts.of(output / "index.html")
    assert parts.headings[0] == 1 and set(parts.headings[1:]) == {2} and parts.tables == parts.captions
    assert not parts.loads and len(set(parts.ids)) == len(parts.ids)
    assert 'id="archives"' not in page and (output / "SHA256SUMS").read_text() == ""


def test_what_is_not_shown_without_a_cause_says_why(studies, tmp_path):
    atlas.write([with_verdict(studies[0], "not shown", because="Too few runs met it.")], tmp_path)
    assert "Too few runs met it." in (tmp_path / "index.html").read_text()
    atlas.write([with_verdict(studies[0], "not reproduced", because="No part of it did.")], tmp_path)
    assert "not known" in (tmp_path / "atlas.md").read_text()


def test_a_study_without_failures_has_no_table_of_them(studies, tmp_path):
    atlas.write(studies[:1], tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "Every claim that can be tested is reproduced." in page and 'id="failures-table"' not in page


def test_open_claims_alone_are_not_called_reproduced(studies, tmp_path):
    atlas.write(studies[1:], tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "Every claim that can be tested is reproduced." not in page
    assert "No claim can be tested with these runs." in page


@pytest.mark.parametrize("width", [400, 1400])
def test_page_is_readable_on_a_phone_and_on_a_desk(width, written, visit):
    page = visit(written[1] / "index.html", width, color_scheme="dark")
    assert page.evaluate(OVERFLOWING) == [] and page.problems == []
    assert page.locator("#matrix-figure svg").count() >= 1


def test_archives_and_reports_beside_the_folders_are_listed(folders, studies, tmp_path):
    archive, report = Path(f"{folders[0]}.crate.zip"), folders[0] / "report.html"
    archive.write_bytes(b"an archive")
    report.write_text("a report")
    try:
        atlas.write(studies, tmp_path)
    finally:
        archive.unlink()
        report.unlink()
    page = (tmp_path / "index.html").read_text()
    assert "l4s.crate.zip" in page and "l4s/report.html" in page and "smoke/report.html" not in page
    assert (tmp_path / "SHA256SUMS").read_text().endswith("  l4s.crate.zip\n")


def refused(capsys, *arguments):
    assert atlas.main([str(one) for one in arguments]) == 1
    message = capsys.readouterr().err
    assert message.startswith("sawtooth: ") and message.count("\n") == 1
    return message


def test_folders_that_cannot_be_part_of_it_get_one_sentence(folders, tmp_path, capsys):
    assert "no study is named; allowed: results folders" in refused(capsys)
    assert "is not a folder of finished results: " in refused(capsys, tmp_path)
    assert "are both results of the study l4s; allowed: one folder per study" in refused(capsys, folders[0], folders[0])
    copy = tmp_path / "copy"
    shutil.copytree(folders[0], copy)
    (copy / "analysis/claims.csv").write_text("claim\n")
    assert "run the study again with this version" in refused(capsys, copy)
    (copy / "workflow/claims.yaml").write_text("paper: 1\n")
    assert "run the study again with this version" in refused(capsys, copy)
    (copy / "workflow/claims.yaml").unlink()
    assert "checks no claims of a publication" in refused(capsys, copy)


def test_documentation_has_the_tables_of_the_latest_atlas(folders, tmp_path, monkeypatch, root):
    monkeypatch.chdir(tmp_path)
    (tmp_path / atlas.PICTURE).parent.mkdir(parents=True)
    before = (root / atlas.PAGE).read_text()
    (tmp_path / atlas.PAGE).write_text(before)
    arguments = [*map(str, folders), "--document"]
    assert atlas.main(arguments) == 0
    once = (tmp_path / atlas.PAGE).read_text()
    assert atlas.main(arguments) == 0
    assert (tmp_path / atlas.PAGE).read_text() == once
    assert once.startswith(before[: before.index("<!-- made by")]) and "| l4s |" in once
    assert (tmp_path / atlas.PICTURE).read_bytes() == (tmp_path / "results/atlas/matrix.png").read_bytes()
    (tmp_path / atlas.PAGE).write_text("nothing")
    assert atlas.main(arguments) == 1
