"""A study that was begun with another image: the old image is named, and nothing continues automatically."""

import gzip
import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with the image `new`, a cache that has both, and a function that writes a run document."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAWTOOTH_CACHE", str(tmp_path / "cache"))
    for name in ("new", "old"):
        folder = tmp_path / f"cache/images/testbed-{name}"
        folder.mkdir(parents=True)
        (folder / "image.json").write_text(json.dumps({"content_digest": f"sha256:{name}"}))
    Path("envs").mkdir()
    Path("envs/testbed.json").symlink_to(tmp_path / "cache/images/testbed-new/image.json")

    def document(number, digest, platform="uml"):
        path = Path(f"results/study/runs/one/reno/ipv4/{number}.json.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as text:
            json.dump({"environment": {"platform": platform, "image_digest": digest}}, text)
        return path

    return document


def test_nothing_begun_or_begun_with_this_image(checkout):
    import begun_studies

    begun_studies.check_images(Path("results/study"))
    for number in range(1, 101):
        checkout(number, "sha256:new")
    whole = checkout(101, "sha256:new").read_bytes()
    damaged = (
        b"damaged",
        whole[:-9],
        whole[:12] + b"xxxx" + whole[16:],
        gzip.compress(b"[" * 10**6),
        gzip.compress(bytes(2**27), 1),
    )
    for number, content in enumerate(damaged, 1):  # the workflow's to name
        Path(f"results/study/runs/one/reno/ipv4/{number}.json.gz").write_bytes(content)
    os.mkfifo("results/study/runs/one/reno/ipv4/0.json.gz")
    begun_studies.check_images(Path("results/study"))


@pytest.mark.parametrize(("count", "changed"), [(1, 1), (2, 2), (20, 20), (21, 21), (100, 100), (39, 1)])
def test_begun_with_another_image(checkout, tmp_path, count, changed):
    import begun_studies
    from progress import SetupError

    for number in range(1, count + 1):
        checkout(f"{number:04}", "sha256:old" if number == changed else "sha256:new")
    with pytest.raises(SetupError) as caught:
        begun_studies.check_images(Path("results/study"))
    sentence = str(caught.value)
    assert "content sha256:old, and this checkout's image has sha256:new" in sentence and "\n" not in sentence
    assert f"SAWTOOTH_IMAGES={tmp_path}/cache/images/testbed-old " in sentence and "RERUN=1" in sentence


def test_the_users_own_cache_is_searched_too(checkout, tmp_path, monkeypatch):
    """If SAWTOOTH_CACHE is a shared folder that this user can't change, new images are in the user's cache."""
    import begun_studies

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "home/sawtooth/images").mkdir(parents=True)
    own = (tmp_path / "cache/images/testbed-old").rename(tmp_path / "home/sawtooth/images/testbed-old")
    assert begun_studies.find_in_cache("testbed", "sha256:old") == own
    assert begun_studies.find_in_cache("testbed", "sha256:new") == tmp_path / "cache/images/testbed-new"


def test_an_old_image_that_is_nowhere(checkout):
    import begun_studies
    from progress import SetupError

    checkout(1, "sha256:lost")
    with pytest.raises(SetupError, match="SAWTOOTH_IMAGES=<an archive or folder that has it> .* not in the cache"):
        begun_studies.check_images(Path("results/study"))
