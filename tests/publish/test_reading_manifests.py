"""A manifest is read without being trusted: what leads out of its folder is refused, what differs is named."""

import os

import pytest

from listed_results import listed, write_manifest
from publishing.result_checks.manifest import MANIFEST, ManifestError, problems, published_files, read_manifest


def found(folder):
    return [(problem.path, problem.kind) for problem in problems(folder, read_manifest(folder))]


def test_files_are_as_they_were_listed(results):
    assert list(read_manifest(results)) == ["runs/a/1.json.gz", "tidy/runs.csv"]
    assert found(results) == []


def test_changed_missing_and_unlisted_files_are_named(results):
    (results / "runs/a/1.json.gz").write_text("runs/a/1.json.gZ")
    (results / "tidy/runs.csv").unlink()
    (results / "tidy/more.csv").touch()
    assert found(results) == [
        ("runs/a/1.json.gz", "changed"), ("tidy/runs.csv", "missing"), ("tidy/more.csv", "not listed"),
    ]  # fmt: skip
    listed_ones = problems(results, read_manifest(results), unlisted=False)
    assert [problem.path for problem in listed_ones] == ["runs/a/1.json.gz", "tidy/runs.csv"]


def test_a_file_of_another_size_is_changed_too(results):
    (results / "tidy/runs.csv").write_text("tidy/runs.csv and more")
    [problem] = problems(results, read_manifest(results))
    assert problem.sentence == f"{results}/tidy/runs.csv has 22 bytes; {MANIFEST} says 13."


@pytest.mark.parametrize(
    "path",
    ["../secret", "/etc/passwd", "a/../../secret", "%2e%2e/secret", "a/%2E%2E/b", "file:///etc/passwd", "//host/a",
     "http://host/a", "C:\\a", "a//b", "a/./b", "", "a%00b", "a\nb", "%ff", "\ud800", "http://[", 5, None, ["a"]],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused(path, results):
    write_manifest(results, [listed(results, "tidy/runs.csv") | {"@id": path}])
    with pytest.raises(ManifestError, match="no path"):
        read_manifest(results)


@pytest.mark.parametrize("place", ["tidy/runs.csv", "tidy"])
def test_a_link_that_leads_out_is_refused(place, results, tmp_path):
    outside = tmp_path / "outside"
    (results / place).rename(outside)
    (results / place).symlink_to(outside)
    assert ("tidy/runs.csv", "refused") in found(results)


def test_a_manifest_that_is_a_link_out_of_its_folder_is_refused(results, tmp_path):
    (results / MANIFEST).rename(tmp_path / "elsewhere")
    (results / MANIFEST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ManifestError, match="leads out"):
        read_manifest(results)


def test_links_of_ones_own_are_followed(results, tmp_path):
    (results / "tidy/runs.csv").rename(results / "tidy/first.csv")
    (results / "tidy/runs.csv").symlink_to("first.csv")
    (tmp_path / "link").symlink_to(results)
    assert found(tmp_path / "link") == [("tidy/first.csv", "not listed")]


def test_a_ring_of_links_is_refused(results):
    (results / "tidy/runs.csv").unlink()
    (results / "tidy/runs.csv").symlink_to("runs.csv")
    assert found(results) == [("tidy/runs.csv", "refused")]


def test_a_pipe_is_not_waited_for(results):
    (results / "tidy/runs.csv").unlink()
    os.mkfifo(results / "tidy/runs.csv")
    assert found(results) == [("tidy/runs.csv", "refused")]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no RO-Crate"),
        ('{"@graph": {}}', "no RO-Crate"),
        ('{"@graph": [1]}', "no RO-Crate"),
        ('{"@graph": []}', "lists no file"),
    ],
)
def test_what_is_no_manifest_is_refused_in_one_sentence(text, sentence, results):
    (results / MANIFEST).write_text(text)
    with pytest.raises(ManifestError, match=sentence) as error:
        read_manifest(results)
    assert str(error.value).startswith(f"{results}/{MANIFEST}: ")


def test_a_missing_manifest_is_named(results):
    (results / MANIFEST).unlink()
    with pytest.raises(ManifestError, match="no such file"):
        read_manifest(results)


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"sha256": None}, "has no sha256"),
        ({"sha256": "0" * 63}, "has no sha256"),
        ({"sha256": "0" * 64 + "\n"}, "has no sha256"),
        ({"contentSize": None}, "has no contentSize"),
        ({"contentSize": "-1"}, "has no contentSize"),
        ({"contentSize": "1" * 40}, "has no contentSize"),
    ],
)
def test_a_file_without_digest_or_size_is_refused(changes, sentence, results):
    write_manifest(results, [listed(results, "tidy/runs.csv", **changes)])
    with pytest.raises(ManifestError, match=sentence):
        read_manifest(results)


def test_a_file_listed_twice_is_refused(results):
    write_manifest(
        results, [listed(results, "tidy/runs.csv"), listed(results, "tidy/runs.csv") | {"@id": "tidy/runs%2ecsv"}]
    )
    with pytest.raises(ManifestError, match="listed twice"):
        read_manifest(results)


def test_logs_and_benchmarks_are_not_published(results):
    assert sorted(published_files(results)) == [MANIFEST, "runs/a/1.json.gz", "tidy/runs.csv"]
