"""The content of a bundle, and how the archive is written. (tests/workflow/test_bundle.py makes a real one.)"""

import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = "root:x:0:0::/root:/bin/sh\n"
NOBODY = "nobody:x:65534:65534::/:/bin/false\n"
#: Files that tell of the machine that built an image, and that nothing reads.
BUILDERS = (
    ".singularity.d/labels.json", ".singularity.d/Singularity", ".singularity.d/bootstrap_history/Singularity0",
    "etc/apt/sources.list", "home/ann/secret", "tmp/left",
)  # fmt: skip
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git checkout with one file and one definition, whose image is in the cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    Path("envs").mkdir()
    Path("envs/x.def").write_text("Bootstrap: x\n")
    Path("file").write_text("as committed\n")
    Path(".gitignore").write_text("/cache/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        subprocess.run([*GIT, *command], check=True)
    return tmp_path


@pytest.fixture
def image(repository):
    """The image's folder; it contains the user, name and mirror of the machine that built it."""
    import images

    root = images.cached_image(Path("envs/x.def"))[1] / "root"
    texts = {
        **dict.fromkeys(BUILDERS, "/home/ann"), "etc/hostname": "annshost", "etc/resolv.conf": "search example.org",
        "etc/hosts": "127.0.0.1 annshost", "etc/passwd": f"{ROOT}ann:x:1000:1000:Ann:/home/ann:/bin/sh\n{NOBODY}",
        "etc/group": "root:x:0:\nann:x:1000:\n", ".singularity.d/runscript": "#!/bin/sh", "usr/bin/tool": "tool",
        "usr/lib/python3.13/os.py": "os",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    os.utime(root / "usr/lib/python3.13/os.py", (1_700_000_000, 1_700_000_000))
    (root / "usr/bin/tool").chmod(0o4755)
    (root / "usr/bin/alias").symlink_to("tool")
    (root.parent / "image.json").write_text("{}")
    return root


def test_image_without_what_tells_of_its_builder(image):
    import bundle_contents

    below = f"bundle/images/{image.parent.name}/root/"
    of_image = bundle_contents.image_entries(image.parent)
    entries = {entry.name.removeprefix(below): entry for entry in of_image}
    assert not entries.keys() & {*BUILDERS, "home/ann", "etc/apt", ".singularity.d/bootstrap_history"}
    assert {"home", "tmp", ".singularity.d/runscript", "usr/bin/tool"} < set(entries)
    assert [entries[name].source for name in ("etc/hostname", "etc/resolv.conf", "etc/hosts")] == [b""] * 3
    assert entries["etc/passwd"].source == f"{ROOT}{NOBODY}".encode()
    assert entries["etc/group"].source == b"root:x:0:\n"
    assert entries["usr/bin/alias"].source == "tool" and stat.S_ISLNK(entries["usr/bin/alias"].mode)
    # Python compiled it, and compiles it anew if the date differs.
    assert entries["usr/lib/python3.13/os.py"].date == 1_700_000_000


def test_image_with_a_device_is_refused(image):
    import bundle_contents
    from progress import SetupError

    os.mkfifo(image / "pipe")
    with pytest.raises(SetupError, match="pipe is neither file, directory nor link"):
        bundle_contents.image_entries(image.parent)


def test_files_of_the_working_tree_that_git_tracks(repository):
    import bundle_contents

    Path("file").write_text("changed\n")
    Path("untracked").write_text("new\n")
    for folder in ("tests", "results"):
        Path(folder).mkdir()
        Path(folder, "file").touch()
    subprocess.run([*GIT, "add", "tests"], check=True)
    entries = {entry.name: entry for entry in bundle_contents.workflow_entries()}
    assert set(entries) == {".gitignore", "envs/x.def", "file"}
    assert entries["file"].source.read_text() == "changed\n" and entries["file"].mode == stat.S_IFREG | 0o644


def test_deleted_file_is_left_out(repository):
    import bundle_contents

    Path("file").unlink()
    assert [entry.name for entry in bundle_contents.workflow_entries()] == [".gitignore", "envs/x.def"]


def test_what_git_misses_is_said(repository, capsys):
    import bundle

    Path("untracked").touch()
    bundle.say_what_git_misses(" M file")
    printed = capsys.readouterr().out
    assert (
        "uncommitted changes go into the bundle (1 files)" in printed and "git doesn't track them: untracked" in printed
    )


def test_archive_is_the_same_bytes_without_owner_or_rights(image, tmp_path):
    import bundle
    import bundle_contents

    entries = bundle_contents.image_entries(image.parent)
    written = [tmp_path / name for name in ("one.tar.gz", "two.tar.gz")]
    digests = [bundle.write_archive(archive, "top", entries, 1_600_000_000) for archive in written]
    assert digests[0] == digests[1] and written[0].read_bytes() == written[1].read_bytes()
    with tarfile.open(written[0]) as tar:
        members = tar.getmembers()
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert {m.mtime for m in members if m.isdir()} == {1_600_000_000}
    assert [m.mtime for m in members if m.name.endswith("/os.py")] == [1_700_000_000]
    assert not [m for m in members if m.mode & (stat.S_ISUID | stat.S_ISGID)]
    assert all(m.name == "top" or m.name.startswith("top/") for m in members)


def test_archive_that_can_not_be_written_leaves_the_old_one(image, tmp_path):
    import bundle
    import bundle_contents

    entries = bundle_contents.image_entries(image.parent)
    archive = tmp_path / "one.tar.gz"
    archive.write_bytes(b"old")
    (image / "usr/bin/tool").unlink()
    with pytest.raises(FileNotFoundError):
        bundle.write_archive(archive, "top", entries, 0)
    assert archive.read_bytes() == b"old" and sorted(tmp_path.glob("one*")) == [archive]


def test_lists_are_what_sha256sum_checks(image, tmp_path):
    import bundle
    import bundle_contents

    entries = bundle_contents.image_entries(image.parent)
    bundle.write_archive(tmp_path / "one.tar.gz", "top", bundle.with_lists(entries), 0)
    subprocess.run(["tar", "xzf", "one.tar.gz"], cwd=tmp_path, check=True)
    check = ["sha256sum", "--check", "--strict", "--quiet", "bundle/SHA256SUMS"]
    done = subprocess.run(check, cwd=tmp_path / "top", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_bundle_without_images(repository):
    import bundle
    from progress import SetupError

    with pytest.raises(SetupError, match=r"image of envs/x.def is missing: run `make setup NS3=1` first"):
        bundle.make_bundle()


def test_no_bundle_outside_a_checkout(image, monkeypatch):
    import bundle
    from progress import SetupError

    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    with pytest.raises(SetupError, match="can be made only in a git checkout"):
        bundle.make_bundle()


def test_no_bundle_of_a_bundle(repository):
    import bundle
    from progress import SetupError

    Path("bundle").mkdir()
    with pytest.raises(SetupError, match="pass on the archive"):
        bundle.make_bundle()


def test_packages_of_the_tests_are_named_in_the_environment(root):
    """Otherwise leaving them out would prove nothing."""
    import bundle

    wanted = (root / "envs/workflow.in").read_text().split()
    assert set(wanted) > bundle.TEST_PACKAGES


def test_set_up_of_a_bundle_runs_in_the_python_of_the_bundle(checkout):
    (checkout / "bundle").mkdir()
    (checkout / "bundle/python3").write_text('echo "bundled: $@"\n')
    done = subprocess.run([sys.executable, "setup", "lock"], cwd=checkout, capture_output=True, text=True)
    assert done.stdout == f"bundled: {checkout.resolve()}/setup lock\n"
