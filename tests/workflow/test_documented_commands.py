"""Commands of Snakemake on the pages: each plans what it says, in a fresh checkout."""

import re
import shlex

import pytest

from documenting.site_pages import DOCS, PAGES, ROOT

#: Pages of another time, or with commands for Snakemake alone.
APART = {"CHANGELOG.md", "UPSTREAM.md"}
#: Words of commands that need a cluster (tests/workflow/test_slurm.py) or results of some runs, or have a part to fill in.
ELSEWHERE = ("--profile", "gaps=true", "<")


def _commands():
    """Yield the calls of Snakemake in blocks of the pages, each once."""
    pages = [ROOT / page for page in PAGES if page not in APART] + sorted((ROOT / DOCS).glob("*.md"))
    lines = {
        line.partition(" # ")[0].strip()
        for page in pages
        for block in re.findall(r"^ *```(?:sh)?\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.M | re.S)
        for line in block.splitlines()
    }
    return sorted(
        line for line in lines if line.startswith("snakemake ") and not any(word in line for word in ELSEWHERE)
    )


COMMANDS = _commands()


def test_there_are_some():
    assert len(COMMANDS) > 4


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_plans_runs(fresh, command):
    example = (ROOT / "examples/tcp_aimd.c").read_text(encoding="utf-8")
    (fresh.folder / "my").mkdir()
    (fresh.folder / "my/tcp_mine.c").write_text(example.replace('"aimd"', '"mine"'))
    status, printed = fresh.snakemake(*shlex.split(command)[1:], "-n", "--quiet")
    assert status == 0
    assert int(re.search(r"emulate run\s+(\d+)", printed)[1]) > 0
