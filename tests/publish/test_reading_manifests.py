"""A manifest is read without being trusted: paths that lead out of its folder are refused, and differences are named."""

import os

import pytest

from listed_results import listed, write_manifest
from publishing.result_checks.manifest import MANIFEST, ManifestError, problems, published_files, read_manifest


def kinds(folder):
    return [(problem.path, problem.kind) for problem in problems(folder, read_manifest(folder))]


def test_files_are_as_they_were_listed(results):
    assert list(read_manifest(results)) == ["runs/a/1.json.gz", "tidy/runs.csv"]
    assert kinds(results) == []


def test_changed_missing_and_unlisted_files_are_named(results):
    (results / "runs/a/1.json.gz").write_text("runs/a/1.json.gZ")
    (results / "tidy/runs.csv").unlink()
    (results / "tidy/more.csv").touch()
    assert kinds(results) == [
        ("runs/a/1.json.gz", "changed"), ("tidy/runs.csv", "missing"), ("tidy/more.csv", "not listed"),
    ]  # fmt: skip
    without_others = problems(results, read_manifest(results), unlisted=False)
    assert [problem.path for problem in without_others] == ["runs/a/1.json.gz", "tidy/runs.csv"]


@pytest.mark.parametrize(
    "path",
    ["../secret", "/etc/passwd", "a/../../secret", "%2e%2e/secret", "a/%2E%2E/b", "file:///etc/passwd", "//host/a",
     "http://host/a", "C:\\a", "a//b", "a/./b", "", "a%00b", "a\nb", "%ff", "\ud800", "http://[", 5, None, ["a"]],
)  # fmt: skip
def test_a_path_that_leads_out_is_refused(path, results):
    write_manifest(results, [listed(results, "tidy/runs.csv") | {"@id": path}])
    with pytest.raises(ManifestError, match="not a path"):
        read_manifest(results)


@pytest.mark.parametrize("place", ["tidy/runs.csv", "tidy"])
def test_a_link_that_leads_out_is_refused(place, results, tmp_path):
    outside = tmp_path / "outside"
    (results / place).rename(outside)
    (results / place).symlink_to(outside)
    assert ("tidy/runs.csv", "refused") in kinds(results)


def test_a_manifest_that_is_a_link_out_of_its_folder_is_refused(results, tmp_path):
    (results / MANIFEST).rename(tmp_path / "elsewhere")
    (results / MANIFEST).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ManifestError, match="leads out"):
        read_manifest(results)


def test_links_of_ones_own_are_followed(results, tmp_path):
    (results / "tidy/runs.csv").rename(results / "tidy/first.csv")
    (results / "tidy/runs.csv").symlink_to("first.csv")
    (tmp_path / "link").symlink_to(results)
    assert kinds(tmp_path / "link") == [("tidy/first.csv", "not listed")]


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("runs.csv"), os.mkfifo], ids=["ring of links", "pipe"])
def test_a_ring_of_links_is_refused_and_a_pipe_not_waited_for(make, results):
    (results / "tidy/runs.csv").unlink()
    make(results / "tidy/runs.csv")
    assert kinds(results) == [("tidy/runs.csv", "refused")]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"@graph": ' + "[" * 700 + "]" * 700 + "}", "nested too deeply"),
        ("[]", "not an RO-Crate"),
        ('{"@graph": {}}', "not an RO-Crate"),
        ('{"@graph": [1]}', "not an RO-Crate"),
        ('{"@graph": []}', "lists no file"),
    ],
)
def test_what_is_no_manifest_is_refused_in_one_sentence(text, sentence, results):
    (results / MANIFEST).write_text(text)
    with pytest.raises(ManifestError, match=sentence) as error:
        read_manifest(results)
    assert str(error.value).startswith(f"{results}/{MANIFEST}: ")


@pytest.mark.parametrize(
    "key, value",
    [*[("sha256", digest) for digest in (None, "0" * 63, "0" * 64 + "\n")],
     *[("contentSize", size) for size in (None, "-1", "1" * 40)]],
)  # fmt: skip
def test_a_file_without_digest_or_size_is_refused(key, value, results):
    write_manifest(results, [listed(results, "tidy/runs.csv", **{key: value})])
    with pytest.raises(ManifestError, match=f"has no {key}"):
        read_manifest(results)


def test_a_file_listed_twice_is_refused(results):
    entity = listed(results, "tidy/runs.csv")
    write_manifest(results, [entity, entity | {"@id": "tidy/runs%2ecsv"}])
    with pytest.raises(ManifestError, match="listed twice"):
        read_manifest(results)


def test_logs_and_benchmarks_are_not_published(results):
    assert sorted(published_files(results)) == [MANIFEST, "runs/a/1.json.gz", "tidy/runs.csv"]


UNPUBLISHED = [
    ".lock", "benchmarks/a.tsv", "benchmarks/runs/a/cubic/ipv4/1.tsv", "kernels/mine/linux", "logs/a.log", "logs/gate.passed",
    "logs/documents-in-order.txt", "logs/looks/a/6.json", "logs/repetitions/a/mine/ipv4/1.json.gz",
    "logs/packets/a/cubic/ipv4/1/h1-eth0.pcapng", "logs/trace/a/cubic/ipv4/1/tcp_probe.csv",
    "logs/packets/a/mine/ipv4/1/client-5201.log.sqlog", "logs/packets/a/mine/ipv4/1/server-5201.events",
]  # fmt: skip
UNLISTED = [
    "kernels/report.html", "kernels/mine/report.html", "kernels/linux", "logs/report.html", "logs/trace/a.svg", "logs/packets/a/client-1.html",
    "logs/packets/report.htm", "logs/runs.csv",
    "benchmarks/report.html", ".lock/report.html", "runs/.lock", "tidy/logs/a.log",
]  # fmt: skip


@pytest.mark.parametrize("path", [*UNPUBLISHED, *UNLISTED])
def test_only_files_that_the_workflow_leaves_in_a_folder_may_be_unlisted_there_and_none_in_an_archive(path, results):
    for leftover in (".lock", "logs/a.log", "benchmarks/a.tsv"):
        (results / leftover).unlink()
    (results / path).parent.mkdir(parents=True, exist_ok=True)
    (results / path).touch()
    assert kinds(results) == ([(path, "not listed")] if path in UNLISTED else [])
    packed = problems(results, read_manifest(results), packed=True)
    assert [(problem.path, problem.kind) for problem in packed] == [(path, "not listed")]


def test_a_link_in_place_of_the_logs_is_not_listed(results, tmp_path):
    (results / "logs").rename(tmp_path / "elsewhere")
    (results / "logs").symlink_to(tmp_path / "elsewhere")
    assert kinds(results) == [("logs", "not listed")]
