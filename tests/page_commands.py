"""Commands on the pages for users, and what the tests do with each: execute it, plan it, or list it with a reason.

Each line of a block marked ``sh``, and each ``python`` block, is executed as it stands, in the order of the page; a ``text`` block is
the output of the commands since the last heading. `PLANNED` and `NOT_RUN` are the exceptions.
"""

import re
import shlex
from dataclasses import dataclass

from documenting.site_pages import DOCS, PAGES, ROOT

#: Pages whose commands aren't executed: they belong to the past, or show others a fault in their software.
APART = {"CHANGELOG.md", "UPSTREAM.md"}
COMMAND_PAGES = [
    *(page for page in PAGES if page not in APART),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / DOCS).glob("*.md")),
]
#: Programs with which a command on a page may begin.
PROGRAMS = ("make", "snakemake", "python", "pip", "git", "rm", "scancel", "apt-get")
#: Language of other blocks -> the place where they are tested.
TESTED_ELSEWHERE = {
    "log": "tests/topics/expectations/test_gate_document.py",
    "yaml": "tests/documenting/test_generated_files.py, test_pages.py, tests/topics/expectations/test_gate_document.py",
    "csv": "tests/config/test_timeline_files.py",
    "snakemake": "tests/workflow/test_module_use.py",
}
#: Command -> the reason why it is planned (`-n`) and not executed.
PLANNED = {
    "make": "a quarter of an hour",
    "make SAWTOOTH_IMAGES=sawtooth.images.tar": "a quarter of an hour",
    "make exam CCA=my/tcp_mine.c QUICK=1": "a quarter of an hour",
    "make exam CCA=my/tcp_mine.c": "hours",
    "snakemake --profile profiles/exam --configfile config/studies/exam-quick.yaml --config study=exam-quick-vegas exam='{cca: vegas}'": "a quarter of an hour",
    "make exam CCA=dctcp": "hours",
    "make STUDY=cubic-parameters": "minutes",
    "make STUDY=calibration": "an hour",
    "make STUDY=thousands": "an hour",
    "make STUDY=exbench": "hours",
}
#: Command, or its beginning if it ends with "*" -> the reason why it isn't executed, and the test that covers it instead.
NOT_RUN = {
    "make stack*": "minutes; tests/workflow/programs/test_stacks.py",
    "make STUDY=examples/quic-go.yaml": "needs the program; tests/workflow/programs/test_stacks.py",
    "mkdir -p my/curl/lib && cp*": "copies the machine's curl; tests/workflow/programs/test_stacks.py",
    "make STUDY=examples/http.yaml": "needs the program; tests/workflow/programs/test_stacks.py",
    "mkdir -p my && cp ../mine*": "files of the reader's; tests/session/test_candidate_programs.py",
    "make exam PROGRAM=*": "files of the reader's; tests/session/test_candidate_programs.py",
    "make exam CCA=quic-go:reno QUICK=1": "needs the program; tests/session/test_candidate_programs.py",
    "make exam CCA=quiche:cubic-without-idle-fix QUICK=1": "a quarter of an hour; tests/workflow/programs/test_stacks.py",
    "make STUDY=examples/quiche-idle-bug.yaml": "needs the program; tests/workflow/programs/test_stacks.py",
    "make STUDY=examples/quic.yaml": "needs the programs; tests/workflow/programs/test_stacks.py",
    "make STUDY=examples/quic-idle.yaml": "needs the program; tests/workflow/programs/test_stacks.py",
    'make STUDY=... ARGS="-R repeat_run"': "needs a study of a program; tests/workflow/programs/test_repetitions.py",
    "make verify RESULTS=results/<study> N=6 BUILD=1": "needs a study of a program; tests/workflow/test_verify.py",
    "make packets RUN=results/quic/*": "needs the programs; tests/workflow/programs/test_secrets.py",
    "tshark -r results/quic/*": "needs the programs; tests/workflow/programs/test_secrets.py",
    "make test": "what carries this out",
    "make test-*": "what carries this out",
    "make docs": "fetches packages; tests/documenting/test_pages.py",
    "make setup NS3=1": "a minute, which every test of a simulator takes; tests/setup/test_wanted_images.py",
    "make lock": "newer packages; tests/setup/test_locked_packages.py",
    "make bench*": "minutes, and nothing else on the machine; tests/test_benchmarks.py",
    "make kernel-profile": "minutes, and changes a file of the repository; tests/setup/test_kernel_profile.py",
    "make trace*": "builds another kernel; tests/workflow/test_trace.py",
    "make sensitivity*": "builds another kernel; tests/workflow/test_sensitivity.py",
    "make bundle*": "minutes; tests/workflow/test_bundle.py",
    "tar xzf sawtooth-*": "tests/workflow/test_bundle.py",
    "make exam CCA=my/tcp_mine.c MORE=20": "needs a finished exam; tests/session/test_candidate.py",
    "make exam CCA=vegas MORE=16": "needs a finished exam; tests/session/test_candidate.py",
    "make bisect*": "needs a repository of Linux; tests/workflow/test_bisect.py",
    "make series*": "half an hour; tests/workflow/test_series.py",
    "git -C ../linux am*": "a repository of the reader's; tests/setup/test_upstream_mails.py",
    "git -C ../linux format-patch*": "a repository of the reader's",
    "git -C ../linux rebase*": "a repository of the reader's",
    "base=$(git -C ../linux merge-base*": "a repository of the reader's",
    "git bisect*": "what make bisect carries out",
    "commit=$(git rev-parse HEAD) && *": "a script for git bisect, whose lines depend on each other; tests/workflow/test_selftests.py",
    "test -e results/selftests/*": "a line of that script",
    "exit 125": "a line of that script",
    "git format-patch *": "a repository of the reader's",
    "make selftests*": "needs packetdrill's source, which no registry has; tests/workflow/test_selftests.py",
    "make atlas*": "an hour; tests/workflow/test_atlas.py",
    "make STUDY=l4s": "minutes",
    "make gallery*": "hours; tests/workflow/test_gallery.py",
    "make clean-cache": "deletes the machine's cache; tests/setup/test_own_tree.py",
    "make STUDY=witness*": "needs modules of this machine's kernel; tests/workflow/test_shipped_studies.py",
    "make STUDY=packet-size PLATFORM=host": "needs modules of this machine's kernel; tests/workflow/test_host_platform.py",
    "python benchmarks/*": "minutes; tests/test_benchmarks.py",
    "snakemake --profile profiles/slurm*": "needs a cluster; tests/workflow/test_slurm.py",
    "snakemake --profile profiles/cluster-generic": "needs a plugin; tests/workflow/test_cluster_generic.py",
    "snakemake --report": "Snakemake's own report; its form is no promise of ours",
    "make exam CCA=my/tcp_mine.c PROFILE=*": "needs a cluster; tests/workflow/test_slurm.py",
    "scancel --me": "needs a cluster",
    "chromium *": "needs the default study's results",
    "git clone *": "a place of the reader's; tests/topics/expectations/test_gate_document.py",
    "make evaluate CCA=../tcp_mine.c STUDY=../gate.yaml": "files of the reader's; tests/topics/expectations/test_gate_document.py",
    "make PYTHON=python3.11": "a Python of the reader's; tests/setup/test_missing_things.py",
    "apt-get *": "changes the machine",
    "python3 -c 'import itertools, json; rows*": "a file of the reader's; tests/config/test_timeline_files.py",
    "awk *": "a file of the reader's; tests/config/test_timeline_files.py",
    "rm -r .venv results": "deletes what the others need",
    "git diff": "an example",
    "snakemake --cores 1 --use-apptainer --config gaps=true": "needs some of the default study's runs; tests/workflow/test_failing_runs.py",
    "python -m snakemake": "named as what isn't done",
    "git checkout *": "a file that the reader misses",
    "git fetch --unshallow": "a clone that the reader has",
    "make STUDY=<study> RERUN=1": "needs results that another image made; tests/setup/test_begun_studies.py",
    "python -m session.gallery *": "needs exams; tests/workflow/test_gallery.py",
    "make has *": "a message",
}
#: Page -> commands to execute before its own: those that its readers have already used.
SMOKE = "make STUDY=smoke"
MINE = """mkdir -p my && sed 's/"aimd"/"mine"/' examples/tcp_aimd.c > my/tcp_mine.c"""
BEFORE = {
    "docs/exam.md": [MINE],
    "docs/own-cca.md": [MINE],
    "docs/troubleshooting.md": [],
    "docs/verify-and-publish.md": [
        SMOKE,
        "make publish STUDY=smoke IMAGES=1",
        "mkdir received && cp results/smoke.* received/",
    ],
}
#: Pages that state which runs are executed and which are read from the run cache.
OWN_RUNS = {"docs/tutorial.md"}
#: Commands that show how a mistake is reported.
REFUSED = {'make STUDY=smoke ARGS="--config replicatons=3"'}
#: Parts of the output that differ from call to call.
VARYING = (re.compile(r"\b[\d.,]+ (?:s|ms|MB|GB|core-\w+)\b"), re.compile(r"[+-]\d+ %"))
#: A file or folder named in the comment after a command.
MADE = re.compile(r"\b(?:results/[\w./-]+\w|sawtooth\.images\.tar)")
_BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```$", re.M | re.S)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass
class Block:
    """A block of a page: its language, its text without indentation, and the number of its first line."""

    language: str
    text: str
    line: int


@dataclass
class Step:
    """A command of a page, the lines that it prints and the files and folders that it makes according to the page, and whether it is refused."""

    command: str
    line: int
    prints: list[str]
    makes: list[str]

    @property
    def is_refused(self):
        return self.command in REFUSED


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(text):
    """Return the blocks of a page.

    >>> blocks_of("a\\n\\n```sh\\nmake help  # all\\n```\\n")
    [Block(language='sh', text='make help  # all\\n', line=3)]
    """
    return [
        Block(
            found[2].strip(), re.sub(rf"^{found[1]}", "", found[3], flags=re.M), text[: found.start()].count("\n") + 1
        )
        for found in _BLOCK.finditer(text)
    ]


def without_comment(line):
    """Return a line of a shell without its comment.

    >>> without_comment("make test   # all '#' of them"), without_comment("echo '# no'")
    ('make test', "echo '# no'")
    """
    return re.sub(r"""^((?:[^'"#]|'[^']*'|"[^"]*")*?)(?:(?:^|\s+)#.*)?$""", r"\1", line).strip()


def steps_of(text):
    """Return the steps of a page in order, followed by the commands in its sentences that are planned."""
    steps = []
    for block in blocks_of(text):
        if block.language == "sh":
            for line in filter(without_comment, block.text.splitlines()):
                command = without_comment(line)
                steps.append(Step(command, block.line, [], MADE.findall(line.removeprefix(command))))
        elif block.language == "python":
            steps.append(Step(f".venv/bin/python -c {shlex.quote(block.text)}", block.line, [], []))
        elif block.language == "text" and steps:
            steps[-1].prints += block.text.splitlines()
    known = {step.command for step in steps}
    return steps + [Step(span, 0, [], []) for span in dict.fromkeys(spans_of(text)) if span in PLANNED.keys() - known]


def spans_of(text):
    """Return the commands within sentences."""
    prose = _BLOCK.sub("", text)
    return [span for span in _SPAN.findall(prose) if span.split()[0] in PROGRAMS and len(span.split()) > 1]


def reason_not_to_run(command):
    """Return the reason why a command is not executed, or None."""
    for declared, reason in NOT_RUN.items():
        if command == declared or (declared.endswith("*") and command.startswith(declared[:-1])):
            return reason
    return None


def planning(command):
    """Return the command that plans the work of another command.

    >>> planning("make STUDY=mine"), planning("snakemake --cores 1")
    ('make STUDY=mine ARGS=-n', 'snakemake --cores 1 -n')
    """
    return f"{command} ARGS=-n" if command.startswith("make") else f"{command} -n"


def not_printed(expected, printed):
    """Return the lines that a page shows but a command has not printed, in this order.

    ``...`` stands for anything; parts that match `VARYING` are not compared.

    >>> not_printed(["a 1.2 s", "...", "c ..."], "a 1.3 s\\nb\\nc d\\n"), not_printed(["b", "a"], "a\\nb\\n")
    ([], ['a'])
    """
    lines, missing = iter(map(_plain, printed.splitlines())), []
    for line in filter(None, map(_plain, expected)):
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        if not any(pattern.fullmatch(one) for one in lines):
            missing.append(line)
            lines = iter(())
    return missing


def _plain(line):
    for varying in VARYING:
        line = varying.sub("#", line)
    return " ".join(line.split())
