"""The archive contains exactly the files that the manifest lists, or isn't written."""

import os
import shutil
import subprocess
import time
import zipfile

import pytest

from listed_results import listed, write_manifest
from own_commands import own_command
from publishing.result_checks.manifest import MANIFEST


@pytest.fixture
def pack(root):
    """A function that packs results as `make publish` does; it returns the exit status and the output."""

    def run(folder, *arguments, **options):
        command = own_command(root, "publishing.pack_results", folder, *arguments)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        return done.returncode, done.stdout

    return run


def test_manifest_and_listed_files_are_packed_and_nothing_else(pack, results):
    (results / "tidy/unlisted.csv").touch()
    status, output = pack(results)
    assert status == 0, output
    assert output.startswith(f"{results}.crate.zip: 3 files, ")
    with zipfile.ZipFile(f"{results}.crate.zip") as packed:
        assert packed.namelist() == [MANIFEST, "runs/a/1.json.gz", "tidy/runs.csv"]
        assert all(packed.read(path) == (results / path).read_bytes() for path in packed.namelist())


def test_the_same_results_give_the_same_archive_with_the_permissions_of_any_new_file(pack, results, tmp_path):
    pack(results, "--output", tmp_path / "one.zip", umask=0o022)
    assert (tmp_path / "one.zip").stat().st_mode & 0o777 == 0o644
    copy = shutil.copytree(results, tmp_path / "elsewhere" / "other name")
    for path in copy.rglob("*"):
        os.utime(path, (time.time() + 1e6,) * 2)
        path.chmod(0o700)
    pack(copy, "--output", tmp_path / "two.zip", umask=0o077)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


@pytest.mark.parametrize(
    "harm, sentence",
    [
        (lambda path: path.write_text("tidy/RUNS.csv"), "was changed: its SHA-256 is"),
        (lambda path: path.write_text("longer than it was"), f"has 18 bytes; {MANIFEST} says 13."),
        (lambda path: path.unlink(), "is missing;"),
        (lambda path: (path.unlink(), path.symlink_to("/etc/hostname")), "leads out of"),
        (lambda path: (path.unlink(), path.mkdir()), "is not a regular file"),
    ],
)
def test_a_file_that_is_not_as_listed_is_named_and_nothing_packed(harm, sentence, pack, results):
    (results.parent / "results.crate.zip").write_text("the last one")
    harm(results / "tidy/runs.csv")
    status, output = pack(results)
    assert status == 1
    assert output.startswith("sawtooth: ") and output.count("\n") == 1
    assert "tidy/runs.csv" in output and sentence in output
    assert sorted(path.name for path in results.parent.iterdir()) == ["results", "results.crate.zip"]
    assert (results.parent / "results.crate.zip").read_text() == "the last one"


def test_results_without_a_manifest_are_not_packed(pack, tmp_path):
    (tmp_path / "none").mkdir()
    status, output = pack(tmp_path / "none")
    assert (status, output.count("\n")) == (1, 1)
    assert output.startswith(f"sawtooth: {tmp_path}/none/{MANIFEST}: no such file") and "be completed first" in output


def test_a_manifest_can_not_make_it_pack_files_from_outside(pack, results):
    (results.parent / "secret").write_text("secret")
    write_manifest(results, [listed(results, "../secret")])
    status, output = pack(results)
    assert status == 1
    assert '"../secret" is not a path inside the folder' in output
    assert not (results.parent / "results.crate.zip").exists()


def test_a_place_that_can_not_be_written_is_named(pack, results, tmp_path):
    status, output = pack(results, "--output", tmp_path / "no/such/place.zip")
    assert (status, output.count("\n")) == (1, 1)
    assert "place.zip can't be written (No such file or directory)" in output


def test_what_is_not_a_folder_is_not_its_own_nearest_name(pack, tmp_path):
    (tmp_path / "smoke.crate.zip").touch()
    sentence = "sawtooth: smoke.crate.zip: it is not a folder; RESULTS is results/<study>.\n"
    assert pack("smoke.crate.zip", cwd=tmp_path) == (1, sentence)


@pytest.mark.parametrize("name, nearest", [("smok", " (nearest: results/smoke)"), ("nothing-like-it", "")])
def test_a_misspelt_folder_has_the_nearest_name(pack, tmp_path, name, nearest):
    (tmp_path / "results/smoke").mkdir(parents=True)
    sentence = f"sawtooth: results/{name}: there is no such folder{nearest}; RESULTS is results/<study>.\n"
    assert pack(f"results/{name}", cwd=tmp_path) == (1, sentence)
