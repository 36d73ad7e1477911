"""Debian packages are those of the lock, wherever they come from; archives are folders of real packages."""

import subprocess
from pathlib import Path

import pytest

TIME = "20260102T030405Z"
PLACE = "pool/main/{}/{}"


@pytest.fixture
def archives(tmp_path, monkeypatch):
    """A lock of two packages, a mirror that has both, and an empty snapshot archive; the machine's own sources are empty."""
    import debian
    import locked_packages
    from unpacked import digest_of

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SAWTOOTH_MIRROR", f"file://{tmp_path}/mirror")
    monkeypatch.setenv("SAWTOOTH_SNAPSHOT", f"file://{tmp_path}/past")
    packages = []
    for name, version in (("one", "1.0+b1"), ("two", "1:2.0~rc1")):
        control = tmp_path / name / "DEBIAN/control"
        control.parent.mkdir(parents=True)
        control.write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: A\nDescription: a\n b\n"
        )
        path = PLACE.format(name, f"{name}_{version.split(':')[-1]}_all.deb")
        file = tmp_path / "mirror" / path
        file.parent.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "--build", "-Zxz", tmp_path / name, file], check=True, capture_output=True)
        packages.append(locked_packages.Package(name, version, "all", file.stat().st_size, digest_of(file), path))
    Path("envs").mkdir()
    locked_packages.write_lock(TIME, {"base": packages, "other": packages[:1]})
    assert debian.find_mirror() == f"file://{tmp_path}/mirror"
    return packages


def move_to_the_past(package, folder):
    """Move a package from the mirror to the snapshot archive, where the lock's time is part of the path."""
    target = folder / "past" / TIME / package.path
    target.parent.mkdir(parents=True)
    (folder / "mirror" / package.path).rename(target)


def test_a_lock_is_read_as_it_was_written(archives):
    import locked_packages

    assert locked_packages.read_lock() == (TIME, {"base": archives, "other": archives[:1]})


@pytest.mark.parametrize("line", ["one 1.0", "[base] x", "one 1 all many 0 pool"])
def test_a_line_that_is_no_packages(archives, line):
    import locked_packages
    from progress import SetupError

    with locked_packages.LOCK.open("a") as lock:
        lock.write(line + "\n")
    with pytest.raises(SetupError, match="debian.lock, line 11: .* neither a section nor a package"):
        locked_packages.read_lock()


@pytest.mark.parametrize("gone", [(), (1,), (0, 1)])
@pytest.mark.parametrize("has_apt", [True, False])
def test_from_the_mirror_or_from_the_past(archives, tmp_path, monkeypatch, gone, has_apt):
    import debian
    import locked_packages
    from unpacked import digest_of

    if not has_apt:
        monkeypatch.setattr(debian, "APT_HELPER", "/none")
    for number in gone:
        move_to_the_past(archives[number], tmp_path)
    folder = locked_packages.provide("base")
    assert [digest_of(folder / package.file) for package in archives] == [package.sha256 for package in archives]
    assert not any(file.is_symlink() for file in folder.rglob("*"))


@pytest.mark.parametrize("has_apt", [True, False])
def test_other_content_under_the_same_name_is_not_taken(archives, tmp_path, monkeypatch, has_apt):
    import debian
    import locked_packages
    from progress import SetupError

    if not has_apt:
        monkeypatch.setattr(debian, "APT_HELPER", "/none")
    with (tmp_path / "mirror" / archives[0].path).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(SetupError, match=r"names one 1.0\+b1, which can't be fetched") as caught:
        locked_packages.provide("base")
    sentence = str(caught.value)
    assert f"file://{tmp_path}/mirror doesn't have it; file://{tmp_path}/past/{TIME} doesn't have it" in sentence
    assert all(way in sentence for way in ("make bundle", "SAWTOOTH_IMAGES", "make lock"))
    assert not locked_packages.folder_of("base").exists()


def test_no_archive_reached_at_all(archives, monkeypatch):
    import locked_packages
    from progress import SetupError

    for name in ("SAWTOOTH_MIRROR", "SAWTOOTH_SNAPSHOT"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/debian")
    with pytest.raises(SetupError, match=r"names one 1.0\+b1 and 1 more, which can't be fetched"):
        locked_packages.provide("base")


def test_what_another_lock_brought_is_not_fetched_again(archives, tmp_path):
    import locked_packages

    locked_packages.provide("base")
    for package in archives:
        (tmp_path / "mirror" / package.path).unlink()
    assert (locked_packages.provide("other") / archives[0].file).is_file()


def test_the_folder_is_an_archive(archives, tmp_path):
    """Apt finds the packages by its lists, which repeat the packages' own descriptions."""
    import debian
    import locked_packages

    folder = locked_packages.provide("base")
    config = debian.private_apt(tmp_path / "apt", f"deb [arch=amd64 trusted=yes] file:{folder} trixie main")
    subprocess.run(["apt-get", "-c", config, "-qq", "update"], check=True)
    answer = subprocess.run(
        ["apt-cache", "-c", config, "show", "one", "two"], check=True, capture_output=True, text=True
    )
    for package in archives:
        assert f"Version: {package.version}\n" in answer.stdout and f"SHA256: {package.sha256}\n" in answer.stdout


def test_keys_follow_the_packages_and_not_their_place(archives):
    import images
    import locked_packages

    Path("envs/base.def").write_text("MirrorURL: file://{{ debian_base }}\n")
    definition = Path("envs/x.def")
    definition.write_text("%files\n    {{ debian_other }} /build/debian\n")
    key = images.definition_key(definition)
    one, two = archives
    locked_packages.write_lock("later", {"base": archives, "other": [locked_packages.Package(*one_elsewhere(one))]})
    assert images.definition_key(definition) == key
    locked_packages.write_lock(TIME, {"base": archives, "other": [two]})
    assert images.definition_key(definition) != key


def one_elsewhere(package):
    """The fields of a package in another location."""
    return (package.name, package.version, package.architecture, package.size, package.sha256, "pool/elsewhere.deb")


def test_the_lock_has_all_that_definitions_take(root, monkeypatch):
    import images
    import locked_packages
    from lock_debian import WISHES, read_wishes
    from study_files.kernels import bases

    monkeypatch.chdir(root)
    _, sections = locked_packages.read_lock()
    taken = {section for definition in Path("envs").glob("*.def") for section in images.sections_of(definition)}
    # Besides those of images there are Linux sources that kernels of a study's own may be based on, what the kernel's tests call, and
    # the programs of a stack.
    assert (
        taken | {f"linux-{base}" for base in bases()} | {locked_packages.SELFTESTS, f"{locked_packages.OF_STACK}http"}
        == set(sections)
        == set(read_wishes(WISHES))
    )
    assert {base: sections[f"linux-{base}"][0].sha256 for base in bases()} == {
        base: one["sha256"] for base, one in bases().items()
    }
    for section, wished in read_wishes(WISHES).items():
        assert {name.split("/")[0] for name in wished} - {"linux-source"} <= {
            each.name for each in [*sections["base"], *sections[section]]
        }
    assert next(iter(sections.values()))[0].name.startswith("linux-source-")
