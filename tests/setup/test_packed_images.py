"""Images that are moved between machines arrive unchanged; those changed on the way are refused."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import tarfile
import time
import tracemalloc
from pathlib import Path

import pytest


@pytest.fixture
def image(tmp_path, monkeypatch):
    """A checkout with a built image `x` that has files, links, modes and traces of its builder; return its folder."""
    import images
    from describe_image import content_digest

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    Path("envs").mkdir()
    Path("envs/x.def").write_text("Bootstrap: x\n")
    Path("envs/base.def").write_text("Bootstrap: x\n")
    key, folder = images.cached_image(Path("envs/x.def"))
    root = folder / "root"
    for path in ("usr/bin/tool", "usr/lib/library.so", "home/ann/secret", "etc/hostname"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "usr/bin/tool").chmod(0o755)
    (root / "usr/bin/alias").symlink_to("/usr/bin/tool")
    (root / "bin").symlink_to("usr/bin")
    (root / "usr/closed").mkdir(mode=0o555)
    os.utime(root / "usr/lib/library.so", (1_700_000_000, 1_700_000_000))
    described = {"image": "x", "content_digest": content_digest(root), "definition_key": key}
    (root / images.DESCRIPTION).parent.mkdir(parents=True)
    (root / images.DESCRIPTION).write_text(json.dumps(described))
    (folder / "image.json").write_text(json.dumps(described))
    images.link_image(Path("envs/x.def"), folder)
    return folder


def elsewhere(monkeypatch):
    """Continue with an empty cache, as on another machine."""
    monkeypatch.setenv("SAWTOOTH_CACHE", str(Path("elsewhere").absolute()))


def test_an_image_comes_out_as_it_went_in(image, monkeypatch):
    import packed_images
    import taken_images

    archive = packed_images.pack(Path("some.images.tar"), ["x"])
    assert [path.name for path in Path().glob(".*")] == []
    elsewhere(monkeypatch)
    for place in (archive, Path()):  # the archive, and a folder that has it
        folder = taken_images.provide(place)["x"]
        assert folder.parent == Path("elsewhere/images").absolute() and folder.name == image.name
    root = folder / "root"
    assert (root / "usr/bin/tool").stat().st_mode & 0o777 == 0o755
    assert os.readlink(root / "usr/bin/alias") == "/usr/bin/tool" and os.readlink(root / "bin") == "usr/bin"
    assert (root / "usr/lib/library.so").stat().st_mtime == 1_700_000_000
    assert (root / "usr/closed").stat().st_mode & 0o777 == 0o555
    assert not (root / "home/ann/secret").exists() and (root / "etc/hostname").read_text() == ""
    assert (folder / "image.json").read_bytes() == (image / "image.json").read_bytes()


def test_the_same_image_gives_the_same_archive(image):
    import packed_images

    first = packed_images.pack(Path("one.images.tar"), ["x"]).read_bytes()
    assert packed_images.pack(Path("two.images.tar"), ["x"]).read_bytes() == first


def test_a_folder_is_used_where_it_is(image, monkeypatch):
    import taken_images

    elsewhere(monkeypatch)
    assert taken_images.provide(image) == taken_images.provide(image.parent) == {"x": image}
    assert not Path("elsewhere").exists()


def test_an_image_of_another_definition_keeps_its_own_place(image, monkeypatch, capsys):
    """So it is never mistaken for the checkout's own image."""
    import images
    import packed_images
    import taken_images

    archive = packed_images.pack(Path("some.images.tar"), ["x"])
    Path("envs/x.def").write_text("Bootstrap: x\n# changed\n")
    elsewhere(monkeypatch)
    assert taken_images.provide(archive)["x"].name == image.name != images.cached_image(Path("envs/x.def"))[1].name
    assert "is used, although its definition differs from this checkout's" in capsys.readouterr().out


def test_an_image_that_was_changed_is_not_packed(image):
    import packed_images
    from progress import SetupError

    (image / "root/usr/bin/tool").write_text("changed")
    with pytest.raises(SetupError, match="doesn't match its description"):
        packed_images.pack(Path("some.images.tar"), ["x"])
    assert not Path("some.images.tar").exists()


def changed_archive(archive, change):
    """Rewrite an archive with its files changed by `change`; return its path."""
    with tarfile.open(archive) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
    change(files)
    with tarfile.open("changed.images.tar", "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return Path("changed.images.tar")


def with_layer(layer):
    """Return a change that puts a different layer into the archive, with all digests adjusted."""

    def put(files, content):
        digest = hashlib.sha256(content).hexdigest()
        files[f"blobs/sha256/{digest}"] = content
        return f"sha256:{digest}"

    def change(files):
        index = json.loads(files["index.json"])
        manifest = json.loads(files["blobs/sha256/" + index["manifests"][0]["digest"].partition(":")[2]])
        manifest["layers"][0]["digest"] = put(files, layer)
        index["manifests"][0]["digest"] = put(files, json.dumps(manifest).encode())
        files["index.json"] = json.dumps(index).encode()

    return change


def layer_of(*members):
    """A layer of members (name, type, content or target)."""
    packed = io.BytesIO()
    with gzip.open(packed, "wb") as zipped, tarfile.open(fileobj=zipped, mode="w") as tar:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                member.linkname = content
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ([("file", tarfile.REGTYPE, b"other")], "doesn't match the archive's description"),
        ([("../out", tarfile.REGTYPE, b"x")], "leads out of it"),
        ([("/tmp/sawtooth-out", tarfile.REGTYPE, b"x")], "leads out of it"),
        ([("way", tarfile.SYMTYPE, ".."), ("way/out", tarfile.REGTYPE, b"x")], "through a link"),
        ([("way", tarfile.LNKTYPE, "/etc/passwd")], "neither file, folder nor link"),
        ([("way", tarfile.CHRTYPE, b"")], "neither file, folder nor link"),
    ],
)
def test_a_forged_layer_is_refused_and_reaches_nothing(image, monkeypatch, tmp_path, members, sentence):
    import packed_images
    import taken_images
    from progress import SetupError

    archive = changed_archive(packed_images.pack(Path("some.images.tar"), ["x"]), with_layer(layer_of(*members)))
    elsewhere(monkeypatch)
    with pytest.raises(SetupError, match=sentence):
        taken_images.provide(archive)
    assert not [*tmp_path.rglob("out"), *Path("/tmp").glob("sawtooth-out"), *Path("elsewhere/images").glob("x-*/")]


def test_a_layer_damaged_on_the_way(image, monkeypatch):
    import packed_images
    import taken_images
    from progress import SetupError

    def damage(files):
        name = max(files, key=lambda name: len(files[name]))
        files[name] = files[name][:-1] + bytes([files[name][-1] ^ 1])

    archive = changed_archive(packed_images.pack(Path("some.images.tar"), ["x"]), damage)
    elsewhere(monkeypatch)
    with pytest.raises(SetupError, match="changed.images.tar"):
        taken_images.provide(archive)


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_what_is_no_archive_of_images(image, tmp_path, content):
    import taken_images
    from progress import SetupError

    place = tmp_path / "given"
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    with pytest.raises(SetupError, match=f"{place}.*(not an archive|no image)"):
        taken_images.provide(place)
    with pytest.raises(SetupError, match="there is no such"):
        taken_images.provide(tmp_path / "nowhere")


def tar_of(*headers):
    """A tar archive of these headers (blocks), which may be wrong about what follows."""
    return b"".join(headers) + bytes(1024)


def header(name, size=0, kind=tarfile.REGTYPE):
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


ENDLESS = 2**42
#: Made by the test that takes them: some are of many MB.
HOSTILE_LAYERS = {
    "not compressed": lambda: tar_of(header("x")),
    "zeros": lambda: gzip.compress(header("x", 2**30) + bytes(2**26), 9),
    "a header of terabytes": lambda: gzip.compress(header("x", ENDLESS, tarfile.XHDTYPE) + bytes(2**24)),
    "a name of terabytes": lambda: gzip.compress(header("x", ENDLESS, tarfile.GNUTYPE_LONGNAME) + bytes(2**24)),
    "a file of terabytes": lambda: gzip.compress(header("x", ENDLESS) + header("y")),
    "a sparse file": lambda: gzip.compress(tar_of(header("x", 0, tarfile.GNUTYPE_SPARSE))),
    "cut": lambda: gzip.compress(header("x", 10))[:-12],
    "twice": lambda: gzip.compress(tar_of(header("x"), header("x"))),
    "a file as a folder": lambda: gzip.compress(tar_of(header("x"), header("x/y"))),
    "a pipe": lambda: gzip.compress(tar_of(header("x", 0, tarfile.FIFOTYPE))),
    "an endless name": lambda: gzip.compress(tar_of(header("x" * 90 + "/" + "y" * 5))),
    "random": lambda: gzip.compress(random.Random(1).randbytes(100_000)),
}


@pytest.mark.parametrize("kind", HOSTILE_LAYERS)
def test_a_hostile_layer_ends_soon(image, monkeypatch, kind):
    """Time and memory are bounded by the layer's actual size, whatever its headers claim."""
    import packed_images
    import taken_images
    from progress import SetupError

    layer = HOSTILE_LAYERS[kind]()
    archive = changed_archive(packed_images.pack(Path("some.images.tar"), ["x"]), with_layer(layer))
    elsewhere(monkeypatch)
    with (
        bounded(),
        pytest.raises(SetupError, match=r"doesn't match the archive's description|neither file, folder nor link"),
    ):
        taken_images.provide(archive)
    assert not [*Path("elsewhere/images").glob("x-*/")]


@pytest.mark.parametrize(
    "archive",
    [
        lambda: tar_of(*(header(f"blobs/{number}") for number in range(60_000))),
        lambda: tar_of(header("index.json", ENDLESS)),
        lambda: tar_of(header("index.json", 2**22) + b"[" * 2**22),
        lambda: tar_of(header("x", ENDLESS, tarfile.XHDTYPE)) + bytes(2**26),
        lambda: tar_of(header("x", ENDLESS, tarfile.GNUTYPE_LONGLINK)) + bytes(2**26),
        lambda: tar_of(header("index.json", 0, tarfile.SYMTYPE)),
        lambda: gzip.compress(bytes(2**26), 9),
        "/dev/zero",
        os.mkfifo,
    ],
    ids=("entries", "endless", "nested", "header", "name", "link", "compressed", "device", "pipe"),
)  # fmt: skip
def test_a_hostile_archive_ends_soon(tmp_path, archive):
    import taken_images
    from progress import SetupError

    place = tmp_path / "given"
    if archive is os.mkfifo:
        archive(place)
    elif isinstance(archive, str):
        place.symlink_to(archive)
    else:
        place.write_bytes(archive())
    with (
        bounded(),
        pytest.raises(SetupError, match=f"{place} is (not an archive of images|neither a file nor a folder)"),
    ):
        taken_images.provide(place)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"image": 1}', "[" * 100_000, None])
def test_a_folder_that_describes_no_image(image, text):
    import taken_images
    from progress import SetupError

    (image / "image.json").unlink()
    os.mkfifo(image / "image.json") if text is None else (image / "image.json").write_text(text)
    with bounded(), pytest.raises(SetupError, match="does not describe an image|has no image"):
        taken_images.provide(image)


@contextlib.contextmanager
def bounded():
    """The code in this context takes at most two seconds of this process, and 200 MB."""
    tracemalloc.start()
    began = time.process_time()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 2


def test_results_name_their_images(image):
    import packed_images
    from progress import SetupError

    digest = json.loads((image / "image.json").read_text())["content_digest"]
    entity = {"@type": "ContainerImage", "name": "envs/x.sif", "identifier": digest}
    Path("ro-crate-metadata.json").write_text(json.dumps({"@graph": [{"@type": "Dataset"}, entity]}))
    assert packed_images.images_of(Path()) == ["x"]
    Path("ro-crate-metadata.json").write_text(json.dumps({"@graph": [entity | {"identifier": "sha256:0"}]}))
    with pytest.raises(SetupError, match="made with the image x of digest sha256:0"):
        packed_images.images_of(Path())
