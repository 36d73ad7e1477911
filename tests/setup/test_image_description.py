"""An image's digest describes its content, not when and how it was built."""

import json
import os
import subprocess
import sys

import pytest

#: The head of bytecode that Python uses without a look at its source (PEP 552), and of one that holds a date.
UNDATED, DATED = "abcd\1\0\0\0", "abcd\0\0\0\0"


@pytest.fixture
def image(tmp_path):
    """A small tree like an image's."""
    for name, content in {
        "usr/bin/tool": "tool",
        "etc/tool.conf": "x=1",
        "etc/ld.so.cache": "1",
        "var/log/dpkg.log": "monday",
        "usr/lib/python3/__pycache__/a.pyc": UNDATED,
        "usr/lib/python3/a.py": "1",
        "var/lib/dpkg/status": "1",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (tmp_path / "usr/bin/link").symlink_to("tool")
    return tmp_path


@pytest.fixture
def digest():
    """The function under test."""
    from describe_image import content_digest

    return content_digest


@pytest.mark.parametrize(
    "name",
    ["etc/ld.so.cache", "var/log/dpkg.log", "usr/lib/python3/__pycache__/a.pyc", "var/lib/dpkg/status", "tmp/new"],
)
def test_what_two_builds_do_not_share(image, digest, name):
    before = digest(image)
    (image / name).parent.mkdir(exist_ok=True)
    (image / name).write_text("other")
    os.utime(image / "usr/bin/tool", (0, 0))
    assert digest(image) == before


@pytest.mark.parametrize("name", ["usr/bin/tool", "etc/tool.conf", "usr/lib/python3/a.py", "usr/bin/new"])
def test_content_counts(image, digest, name):
    before = digest(image)
    (image / name).write_text("other")
    assert digest(image) != before


def test_modes_links_and_names_count(image, digest):
    seen = {digest(image)}
    (image / "usr/bin/tool").chmod(0o755)
    seen.add(digest(image))
    (image / "usr/bin/link").unlink()
    (image / "usr/bin/link").symlink_to("other")
    seen.add(digest(image))
    (image / "usr/bin/tool").rename(image / "usr/bin/renamed")
    seen.add(digest(image))
    assert len(seen) == 4


def test_command_line(image, root):
    package = ["--debian", "dpkg"] if os.path.exists("/usr/bin/dpkg-query") else []
    subprocess.run(
        [
            sys.executable,
            root / "setup/describe_image.py",
            "--image",
            "x",
            "--definition-key",
            "k",
            "--root",
            image,
            "--python",
            "pytest",
            "--fact",
            "tick_hz=1000",
            *package,
        ],
        check=True,
    )
    description = json.loads((image / "usr/share/sawtooth/image.json").read_text())
    assert description["packages"]["pytest"] == pytest.__version__
    assert description["tick_hz"] == "1000"
    assert description["content_digest"].startswith("sha256:")


def test_bytecode_with_dates_is_refused(image, root):
    """In a copy with other dates the guest's Python would compile, and every run would have different bytes."""
    (image / "usr/lib/python3/__pycache__/a.pyc").write_text(DATED)
    command = [
        sys.executable,
        root / "setup/describe_image.py",
        "--image",
        "x",
        "--definition-key",
        "k",
        "--root",
        image,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "1 compiled Python files depend on dates" in done.stderr
    assert not (image / "usr/share/sawtooth/image.json").exists()


@pytest.mark.parametrize("name", ["analysis", "testbed"])
def test_built_image(root, name):
    """The link made by set-up describes the image beside it, which has no set-uid files."""
    from describe_image import DESCRIPTION
    from images import definition_key

    description = json.loads((root / f"envs/{name}.json").read_text())
    assert description == json.loads((root / f"envs/{name}.sif" / DESCRIPTION).read_text())
    assert description["image"] == name
    os.chdir(root)
    assert description["definition_key"] == definition_key(root.__class__(f"envs/{name}.def"))
    done = subprocess.run(
        ["find", root / f"envs/{name}.sif/", "-xdev", "-perm", "/6000", "-type", "f"], capture_output=True, text=True
    )
    assert done.stdout == ""


def test_container_starts(root):
    """The Apptainer that set-up put beside Snakemake runs the analysis image's Python."""
    code = "import pandas, pingouin, matplotlib, jinja2, pyarrow, sys; print(sys.version_info[:2])"
    answer = subprocess.run(
        [root / ".venv/bin/apptainer", "exec", root / "envs/analysis.sif", "python3", "-c", code],
        capture_output=True,
        text=True,
    )
    assert answer.stdout == "(3, 13)\n", answer.stderr
