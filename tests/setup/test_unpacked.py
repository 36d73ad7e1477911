"""An unpacked bundle is compared with its list of digests once, and knows its commit without git."""

import hashlib
import os
import py_compile
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def unpacked_bundle(tmp_path, monkeypatch):
    """A bundle with one file of the workflow, one of an image, and one link."""
    monkeypatch.chdir(tmp_path)
    Path("bundle/images/x").mkdir(parents=True)
    contents = {
        "Snakefile": b"rule all\n", "bundle/images/x/file": b"image", "bundle/LINKS": b"bundle/images/x/link -> file\n",
        "bundle/commit": b"%s 1700000000 clean\n" % (b"a" * 40),
    }  # fmt: skip
    for name, content in contents.items():
        Path(name).write_bytes(content)
    Path("bundle/images/x/link").symlink_to("file")
    digests = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items())
    Path("bundle/SHA256SUMS").write_text(digests)
    return tmp_path


def cut_list(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def relink(path):
    path.unlink()
    path.symlink_to("elsewhere")


CHANGES = [
    ("bundle/images/x/file", Path.unlink, "bundle/images/x/file is missing"),
    ("bundle/images/x/file", lambda path: path.write_bytes(b"imagf"), "bundle/images/x/file is not what was packed"),
    ("bundle/images/x/more", Path.touch, "bundle/images/x/more is not part of the bundle"),
    ("bundle/images/x/link", Path.unlink, "bundle/images/x/link is missing"),
    ("bundle/images/x/link", relink, "bundle/images/x/link is not what was packed"),
    ("bundle/LINKS", Path.unlink, "bundle/LINKS is missing"),
    ("bundle/SHA256SUMS", Path.unlink, "bundle/SHA256SUMS is missing or truncated"),
    ("bundle/SHA256SUMS", lambda path: path.write_text("half a li"), "bundle/SHA256SUMS is missing or truncated"),
    ("bundle/SHA256SUMS", cut_list, "bundle/commit is not part of the bundle"),
    ("Snakefile", Path.unlink, "Snakefile is missing"),
]


@pytest.mark.parametrize(("path", "change", "sentence"), CHANGES)
def test_bundle_that_is_not_whole(unpacked_bundle, path, change, sentence):
    import unpacked
    from progress import SetupError

    change(Path(path))
    with pytest.raises(SetupError, match=f"(?s)is damaged \\(.*{sentence}.*unpack the archive again") as caught:
        unpacked.check_whole()
    assert "\n" not in str(caught.value) and not unpacked.CHECKED.exists()


@pytest.mark.parametrize("linked", [False, True])
def test_source_whose_date_was_lost(unpacked_bundle, linked):
    """Python would compile it at every start, in the guest too, and runs would have different bytes."""
    import unpacked

    modules = Path("bundle/images/x/root/usr/lib/python3")
    (modules / "__pycache__").mkdir(parents=True)
    source = modules / "os.py"
    if linked:  # as Debian's sitecustomize.py
        (Path("bundle/images/x/root") / "etc").mkdir()
        source.symlink_to("/etc/os.py")
        source = Path("bundle/images/x/root/etc/os.py")
    source.write_text("pass\n")
    os.utime(source, (1_700_000_000, 1_700_000_000))
    compiled = modules / "__pycache__/os.cpython-313.pyc"
    py_compile.compile(str(source), str(compiled), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    assert unpacked.is_current(compiled)
    os.utime(source)
    assert not unpacked.is_current(compiled)
    py_compile.compile(str(source), str(compiled), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert unpacked.is_current(compiled)


def test_copied_folder_is_compared_anew(unpacked_bundle, capsys, monkeypatch):
    import unpacked

    unpacked.check_whole()
    shutil.copytree("bundle", "copy/bundle", symlinks=True)
    shutil.copy("Snakefile", "copy")
    monkeypatch.chdir("copy")
    unpacked.check_whole()
    assert capsys.readouterr().out.count("comparing") == 2


def test_whole_bundle_is_compared_once(unpacked_bundle, capsys):
    import unpacked

    unpacked.check_whole()
    unpacked.check_whole()
    assert capsys.readouterr().out.count("comparing") == 1


def test_files_of_the_workflow_may_be_edited(unpacked_bundle):
    import unpacked

    Path("Snakefile").write_text("rule another\n")
    unpacked.check_whole()


def test_images_are_used_where_they_are(unpacked_bundle, monkeypatch):
    import cache
    import images

    monkeypatch.delenv("SAWTOOTH_CACHE", raising=False)
    Path("envs").mkdir()
    definition = Path("envs/x.def")
    definition.write_text("Bootstrap: x\n")
    assert cache.cache_dir() == unpacked_bundle / "bundle/cache"
    key, folder = images.cached_image(definition)
    assert folder == unpacked_bundle / f"bundle/cache/images/x-{key[:16]}"  # another definition's is not taken
    Path("bundle/images/x").rename(f"bundle/images/x-{key[:16]}")
    assert images.cached_image(definition)[1] == unpacked_bundle / f"bundle/images/x-{key[:16]}"


def test_named_cache_comes_first(unpacked_bundle):
    import cache

    assert cache.cache_dir({"SAWTOOTH_CACHE": "/shared/cache"}) == Path("/shared/cache")


@pytest.mark.parametrize(
    ("change", "dirty"),
    [
        (lambda: None, "0"),
        (lambda: Path("study.yaml").touch(), "0"),
        (lambda: Path("Snakefile").write_text("rule another\n"), "1"),
        (lambda: Path("Snakefile").unlink(), "1"),
        (lambda: Path("bundle/commit").write_text(f"{'a' * 40} 1700000000 changed\n"), "1"),
    ],
)
def test_commit_of_a_bundle(unpacked_bundle, change, dirty):
    from session.checkout import publish_commit

    change()
    environ = {}
    publish_commit(unpacked_bundle, environ)
    assert environ == {
        "APPTAINERENV_SAWTOOTH_COMMIT": "a" * 40, "APPTAINERENV_SAWTOOTH_DIRTY": dirty,
        "APPTAINERENV_SAWTOOTH_COMMIT_DATE": "2023-11-14",
    }  # fmt: skip


def test_commit_of_a_bundle_inside_a_git_checkout(unpacked_bundle, root):
    """A home directory may be a checkout, but its commit is not the bundle's."""
    from session.checkout import bundled_commit, checked_out_commit

    assert bundled_commit(unpacked_bundle)[0] == "a" * 40
    assert bundled_commit(root) is None and len(checked_out_commit(root)[0]) == 40
