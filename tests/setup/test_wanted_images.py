"""The ns-3 image is built only where something needs it."""

import subprocess

import pytest

import images


def test_ns3_is_made_where_it_is_asked_for(root, monkeypatch):
    monkeypatch.chdir(root)
    every = images.definitions()
    assert {one.stem for one in images.wanted_images(every, {"SAWTOOTH_NS3": "1"})} == {"analysis", "ns3", "testbed"}
    assert {one.stem for one in images.wanted_images(every, {})} == {"analysis", "testbed"}


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["STUDY=bbr-buffer"], True),
        (["STUDY=smoke", "PLATFORM=ns3:3.44"], True),
        (["STUDY=smoke"], False),
        ([], False),
        (["setup"], False),
        (["setup", "NS3=1"], True),
        (["setup", "NS3=0"], False),
        (["test"], True),
        (["bundle"], True),
    ],
)
def test_make_asks_for_it_by_the_study(words, asked, root):
    done = subprocess.run(["make", "-n", *words], cwd=root, capture_output=True, text=True, check=True)
    assert ("SAWTOOTH_NS3=1" in done.stdout) == asked
