#!/usr/bin/env python3
"""Write an image's description, /usr/share/sawtooth/image.json; runs last in a definition's %post.

The digest says what an image contains, not when it was built: two builds of one definition with
the same packages have the same digest. The script needs Python's standard library only.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import stat
import subprocess
from pathlib import Path

DESCRIPTION = "usr/share/sawtooth/image.json"

# What the digest stands for; another text makes all images others. 2: bytecode has no dates.
CONTENT = b"sawtooth image content 2\n"
# The flags of bytecode that Python uses without a look at its source.
UNCHECKED = (1).to_bytes(4, "little")

# What two builds of the same packages do not share, and no job reads.
EXCLUDED_TREES = (
    ".singularity.d",  # Apptainer's own: build date, the definition with its mirror
    "build",  # files for the build alone
    "boot", "dev", "home", "proc", "root", "run", "sys", "tmp", "var/tmp",  # partly the host's during a build
    "debootstrap", "etc/apt", "usr/share/doc", "usr/share/man", "usr/share/info",
    "var/backups", "var/cache", "var/lib/apt", "var/log",  # logs and lists, with dates
    "var/lib/dpkg",  # order and dates of installation; the packages' files themselves count
    "var/lib/systemd", "var/lib/ucf",
    DESCRIPTION,
)
EXCLUDED_FILES = (
    ".post.script",  # Apptainer's: the definition's %post, there while it runs
    "etc/.pwd.lock", "etc/hostname", "etc/hosts", "etc/localtime", "etc/machine-id", "etc/mtab",
    "etc/resolv.conf", "etc/timezone",  # Apptainer binds the host's
    "etc/ld.so.cache",  # order of installation
    "etc/passwd", "etc/passwd-", "etc/group", "etc/group-",  # order of installation, and Apptainer's user
    "etc/shadow", "etc/shadow-", "etc/gshadow", "etc/gshadow-",  # dates of change
    "etc/subuid", "etc/subuid-", "etc/subgid", "etc/subgid-",
    "environment", "singularity",  # Apptainer's links
)
# Python's compiled files hold dates or differ by the interpreter's reference counts; pip's record
# of an installation lists them and where the wheel lay.
EXCLUDED_NAMES = re.compile(r"(\.pyc|/RECORD|/direct_url\.json)$")


def entries(root):
    """Yield (path relative to the root, mode, content) of each file and link that counts, sorted.

    Mode is in octal; content is ``link <target>`` or ``sha256 <hex digits>``.
    """
    found = []
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        below = "" if relative == "." else relative + "/"
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if below + name not in EXCLUDED_TREES and name not in links]
        for name in files + links:
            path = below + name
            if path in EXCLUDED_TREES or path in EXCLUDED_FILES or EXCLUDED_NAMES.search("/" + path):
                continue
            found.append(path)
    for path in sorted(found, key=os.fsencode):
        file = os.path.join(root, path)
        mode = os.lstat(file).st_mode
        if stat.S_ISLNK(mode):
            yield path, "link", os.readlink(file)
        elif stat.S_ISREG(mode):
            with open(file, "rb") as content:
                yield path, f"{stat.S_IMODE(mode):o}", hashlib.file_digest(content, "sha256").hexdigest()


def dated_bytecode(root):
    """Yield the compiled Python files below a root that Python would compile anew if a source's date changed.

    An image's dates are lost when its folder is copied, and a guest that compiles has another time
    line: the bytes of its runs would change. Python's bytecode says how it is checked (PEP 552).
    """
    for folder, folders, files in os.walk(root):
        below = os.path.relpath(folder, root)
        folders[:] = [name for name in folders if os.path.normpath(f"{below}/{name}") not in EXCLUDED_TREES]
        for name in files:
            if name.endswith(".pyc"):
                with open(os.path.join(folder, name), "rb") as content:
                    if content.read(8)[4:] != UNCHECKED:
                        yield os.path.join(folder, name)


def content_digest(root):
    """Digest of all files and links below a root that count: ``sha256:<hex digits>``."""
    total = hashlib.sha256(CONTENT)
    for path, mode, content in entries(root):
        total.update(b"\0".join((os.fsencode(path), mode.encode(), os.fsencode(content))) + b"\n")
    return f"sha256:{total.hexdigest()}"


def debian_version(package):
    """Version of an installed Debian package."""
    query = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout


def main():
    """Read the command line, write the description."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image", required=True)
    parser.add_argument("--definition-key", required=True)
    parser.add_argument("--debian", nargs="*", default=[], metavar="PACKAGE", help="Debian packages to record")
    parser.add_argument("--python", nargs="*", default=[], metavar="PACKAGE", help="Python packages to record")
    parser.add_argument("--fact", action="append", default=[], metavar="NAME=VALUE", help="anything else to record")
    parser.add_argument("--root", default="/", type=Path)
    parser.add_argument("--list", action="store_true", help="print what the digest is made of; write nothing")
    asked = parser.parse_args()
    if asked.list:
        for entry in entries(asked.root):
            print(*entry)
        return
    dated = sorted(dated_bytecode(asked.root))
    if dated:
        raise SystemExit(f"{len(dated)} compiled Python files depend on dates, {dated[0]} first: compileall --invalidation-mode")
    packages = {name: debian_version(name) for name in asked.debian}
    packages.update((name, importlib.metadata.version(name)) for name in asked.python)
    description = {
        "image": asked.image,
        "content_digest": content_digest(asked.root),
        "definition_key": asked.definition_key,
        "packages": packages,
        **dict(fact.split("=", 1) for fact in asked.fact),
    }
    target = asked.root / DESCRIPTION
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(description, indent=2) + "\n")
    target.chmod(0o644)


if __name__ == "__main__":
    main()
