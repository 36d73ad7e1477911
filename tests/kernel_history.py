"""A history of Linux with planted commits: most change nothing, one doesn't compile, one doesn't boot, one changes CUBIC."""

import subprocess
import sys
from pathlib import Path

import git_history

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "setup"))

#: Files that harmless commits change, one after another.
TOUCHED = (
    "net/ipv4/tcp_input.c", "net/ipv4/tcp_output.c", "net/ipv4/udp.c", "net/ipv4/tcp_cong.c", "Documentation/networking/index.rst",
    "net/ipv4/tcp_timer.c", "net/ipv4/tcp_ipv4.c", "net/ipv4/tcp_cubic.c", "net/core/dev.c", "net/ipv4/route.c", "drivers/net/veth.c",
    "net/sched/sch_netem.c", "include/net/tcp.h", "net/ipv4/Kconfig",
)  # fmt: skip
BETA = "static int beta __read_mostly = 717;"


def unpacked_linux(package: Path, folder: Path) -> Path:
    """Create a repository with one commit, the source in a Debian package of Linux."""
    git_history.repository(folder)
    name = subprocess.run(["dpkg-deb", "-f", package, "Package"], capture_output=True, text=True, check=True).stdout.strip()  # fmt: skip
    command = (
        'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$2.tar.xz" | xz -dc | tar -x --strip-components=1 -C "$3"'
    )
    subprocess.run(["sh", "-c", command, "sh", package, name, folder], check=True)
    git_history.git(folder, "add", "--all", "--force")
    git_history.git(folder, "commit", "--quiet", "--message", "Linux")
    return folder


def plant(folder: Path, commits: int, culprit: int, broken: int, dead: int) -> dict[int, str]:
    """Add commits to a repository with Linux and return their names by number; 0 is the existing one.

    Parameters
    ----------
    folder : pathlib.Path
    commits : int
    culprit : int
        The number of the commit after which CUBIC keeps half of its window instead of 70 %.
    broken, dead : int
        The numbers of the commits whose kernel can't be built, and whose kernel doesn't boot; the commits after them fix that.
    """
    names = {0: git_history.git(folder, "rev-parse", "HEAD")}
    for number in range(1, commits + 1):
        if number == culprit:
            files, what = {"net/ipv4/tcp_cubic.c": _replaced(folder, "net/ipv4/tcp_cubic.c", BETA, BETA.replace("717", "512"))}, "tcp_cubic: tidy up"  # fmt: skip
        elif number in (broken, broken + 1):
            files = _toggled(folder, "net/ipv4/tcp_timer.c", "int this_does_not_compile = ;\n", number == broken)
            what = "tcp: timers"
        elif number in (dead, dead + 1):
            line = 'static int __init dies(void) { panic("planted"); }\nlate_initcall(dies);\n'
            files, what = _toggled(folder, "net/ipv4/tcp_ipv4.c", line, number == dead), "tcp: begin"
        else:
            path = TOUCHED[number % len(TOUCHED)]
            mark = ".. " if path.endswith(".rst") else "# " if path.endswith("Kconfig") else "// "
            # At the top, so that all lines move.
            lines = (folder / path).read_text().split("\n", 1)
            files, what = {path: f"{lines[0]}\n{mark}Note {number}.\n{lines[1]}"}, f"{path}: note {number}"
        names[number] = git_history.commit(folder, files, what)
    return names


def _replaced(folder, path, old, new):
    text = (folder / path).read_text()
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    return text.replace(old, new)


def _toggled(folder, path, line, wanted):
    text = (folder / path).read_text()
    return {path: text + line if wanted else text.removesuffix(line)}
