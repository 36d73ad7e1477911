"""Jobs whose output is in a cache, in real calls of Snakemake with a small workflow and a cache of texts."""

import subprocess
import sys
from pathlib import Path

import pytest

SNAKEFILE = """
import sys
from pathlib import Path

sys.path.insert(0, {scripts!r})
from session import inside_jobs


class Cache:
    "Has the outputs with even numbers."

    def take(self, job, begin=lambda: None):
        taken = set()
        for path in map(Path, job.output):
            if not path.exists() and int(path.stem) % 2 == 0:
                begin()
                path.parent.mkdir(exist_ok=True)
                path.write_text("cached")
                Path("taken").open("a").write(f"{{path.stem}}\\n")
                {after_copy}
                taken.add(str(path))
        return taken

    def keep(self, job, taken):
        Path("kept").open("a").write("".join(f"{{Path(path).stem}}\\n" for path in job.output if path not in taken))


rule all:
    input:
        expand("runs/{{number}}.txt", number=range({jobs})),


rule run:
    output:
        "runs/{{number}}.txt",
    benchmark:
        "benchmarks/{{number}}.tsv"
    params:
        version={version},
    shell:
        "mkdir running && sleep 0.05 && rmdir running && echo executed > {{output}}"


inside_jobs.look_up_jobs_in(workflow, Cache(), "run")
"""


@pytest.fixture
def call(root, tmp_path):
    """A function that calls Snakemake with one core on a workflow with some jobs, half of them cached, and returns its process."""

    def snakemake(*options, jobs=24, version=1, after_copy="pass"):
        text = SNAKEFILE.format(
            scripts=str(root / "workflow/scripts"), jobs=jobs, version=version, after_copy=after_copy
        )
        (tmp_path / "Snakefile").write_text(text)
        command = [Path(sys.executable).with_name("snakemake"), "--cores", "1", "--scheduler", "greedy", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    return snakemake


def contents(folder):
    return {int(path.stem): path.read_text().strip() for path in (folder / "runs").iterdir()}


def numbers(path):
    return sorted(map(int, path.read_text().split()))


def test_cached_jobs_take_no_core_and_few_rounds(call, tmp_path):
    """`mkdir running` fails if two jobs are executed at the same time on the one core."""
    done = call()
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path) == {number: ("executed", "cached")[number % 2 == 0] for number in range(24)}
    assert numbers(tmp_path / "kept") == list(range(1, 24, 2))
    assert len(list((tmp_path / "benchmarks").iterdir())) == 24
    # One round for each executed job, one for all cached jobs, and some without any.
    assert done.stderr.count("\nExecute ") <= 12 + 3
    assert "nothing to be done" in call("-n").stdout.lower()


@pytest.mark.slow
def test_an_outdated_output_is_replaced_from_the_cache(call, tmp_path):
    assert call(jobs=4).returncode == 0
    for path in (tmp_path / "runs").iterdir():
        path.write_text("old")
    assert call(jobs=4, version=2).returncode == 0
    assert contents(tmp_path) == {0: "cached", 1: "executed", 2: "cached", 3: "executed"}
    assert numbers(tmp_path / "taken") == [0, 0, 2, 2]
    assert "nothing to be done" in call("-n", jobs=4, version=2).stdout.lower()


def test_a_call_killed_while_it_copies_leaves_only_outputs_that_are_made_again(call, tmp_path):
    """A copied document that Snakemake has not recorded would never be made again after a change of the study."""
    killed = call(jobs=8, after_copy="__import__('os').kill(__import__('os').getpid(), 9)")
    assert killed.returncode == -9 and len(contents(tmp_path)) == 1
    (half,) = contents(tmp_path)
    (tmp_path / f"runs/{half}.txt").write_text("of the killed call")
    assert call("--rerun-incomplete", "--nolock", jobs=8).returncode == 0
    assert contents(tmp_path) == {number: ("executed", "cached")[number % 2 == 0] for number in range(8)}
