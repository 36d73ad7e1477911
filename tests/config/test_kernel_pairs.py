"""CCAs of a study that differ only in their kernel, and which of the two is the base."""

import pytest

from study_files.kernel_pairs import kernel_pairs
from study_files.kernels import image_version

OLD = {"base": "6.1", "version": "6.1.150-1", "sha256": "1" * 64, "recipe": "r", "patches": [], "config": {}}
NEW = {"base": "6.12", "version": "6.12.48-1", "sha256": "2" * 64, "recipe": "r", "patches": [], "config": {}}
SERIES = NEW | {"patches": [{"path": "patches/series.mbox", "sha256": "3" * 64}]}
ON_IMAGE = {"base": "newest", "recipe": "r", "patches": SERIES["patches"], "config": {}}


def on(kernel, base="cubic", **parameters):
    return {"base": base, "parameters": parameters, "kernel": kernel}


def pairs(ccas, **definitions):
    named = {name.replace("_", "-"): one for name, one in definitions.items()}
    return [(pair.cca, pair.base) for pair in kernel_pairs(ccas, named, image_version())]


def test_releases_are_compared_with_the_next_older_one():
    ccas = ["cubic", "cubic-new", "cubic-old", "reno", "reno-new"]
    found = pairs(ccas, cubic_new=on(NEW), cubic_old=on(OLD), reno_new=on(NEW, "reno"))
    assert found == [("cubic-new", "cubic-old"), ("cubic", "cubic-new"), ("reno", "reno-new")]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("{newer}.0-rc1", ("tree", "cubic")), ("{newer}.0", ("tree", "cubic")), ("{image}", ("tree", "cubic")),
        ("{older}.9-rc2", ("cubic", "tree")), ("6.12.48", ("cubic", "tree")),
    ],
)  # fmt: skip
def test_a_tree_is_newer_or_older_than_the_image(version, found):
    image = image_version().split("-")[0]
    major, minor = image.split(".")[:2]
    names = {"newer": f"{major}.{int(minor) + 1}", "older": f"{int(major) - 1}.5", "image": image}
    tree = NEW | {"version": version.format(**names), "sha256": "4" * 64}
    assert pairs(["cubic", "tree"], tree=on(tree)) == [found]


def test_a_series_is_compared_with_its_base():
    assert pairs(["series", "cubic-new", "cubic"], series=on(SERIES), cubic_new=on(NEW)) == [
        ("cubic", "cubic-new"),
        ("series", "cubic-new"),
    ]
    assert pairs(["cubic", "series"], series=on(ON_IMAGE)) == [("series", "cubic")]
    # Without its base in the study: with the image's.
    assert pairs(["cubic", "series"], series=on(SERIES)) == [("series", "cubic")]


def test_what_differs_otherwise_is_no_pair():
    assert pairs(["cubic", "slow"], slow=on(NEW, hystart=0)) == []
    assert pairs(["reno", "cubic-new"], cubic_new=on(NEW)) == []
    assert pairs(["cubic", "mine"], mine={"source": "tcp_mine.c", "cca": "mine", "sha256": "0", "parameters": {}}) == []
    assert pairs(["cubic", "reno"]) == []


def test_kernels_in_words():
    (pair,) = kernel_pairs(["cubic", "series"], {"series": on(ON_IMAGE)}, image_version())
    assert (pair.kernel, pair.other) == ("Linux, patches/series.mbox", "the image's Linux")
