"""Only the modules `inside_*` use Snakemake's internals, and they fit the version that set-up installs."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import get_argument_parser
from snakemake_interface_executor_plugins.settings import ExecMode

from session.inside_snakemake import TESTED_VERSION, after_planning, require_closed_containers, resources_of_rule
from session.run_cost import job_size

#: What the rest may use, for Snakemake documents it (or, of the loop of a script, gives it).
PUBLIC = {"snakemake", "snakemake.utils", "snakemake.cli"}
IMPORT = re.compile(r"^\s*(?:from|import) (snakemake[\w.]*)", re.M)


def snakefiles(root):
    return [root / "Snakefile", root / "workflow/Snakefile", *(root / "workflow").rglob("*.smk")]


def test_the_version_is_the_one_that_is_locked_and_installed(root):
    lock = (root / "envs/workflow.lock").read_text()
    assert re.findall(r"^snakemake==(\S+)", lock, re.M) == [TESTED_VERSION]
    assert version("snakemake") == TESTED_VERSION


def test_nothing_else_imports_what_snakemake_does_not_promise(root):
    folders = [root / name for name in ("workflow", "benchmarks", "setup")]
    files = [*snakefiles(root), *(path for folder in folders for kind in ("*.py",) for path in folder.rglob(kind))]
    reaching = [path for path in files if set(IMPORT.findall(path.read_text())) - PUBLIC]
    assert {path.parent for path in reaching} == {root / "workflow/scripts/session"}
    assert {path.name for path in reaching} == {
        f"inside_{part}.py" for part in ("jobs", "messages", "planning", "snakemake")
    }


def test_nothing_else_reads_what_the_workflow_object_does_not_promise(root):
    """Snakemake documents `source_path` and `cores`; the workflow's location must be known before anything can be imported."""
    used = {name for path in snakefiles(root) for name in re.findall(r"\bworkflow\.(\w+)", path.read_text())}
    assert used - {"smk", "rst"} == {"current_basedir", "source_path", "cores"}


def resources(*settings):
    """Return Snakemake's interpretation of ``--set-resources`` for `emulate_run`."""
    asked = get_argument_parser().parse_args(["--set-resources", *settings]).set_resources
    modifier = SimpleNamespace(modify_rulename=str)
    workflow = SimpleNamespace(modifier=modifier, resource_settings=SimpleNamespace(overwrite_resources=asked))
    return resources_of_rule(workflow, "emulate_run")


def test_resources_of_the_call_are_values_that_a_rule_may_have():
    """Texts and expressions are evaluated for each job, so they are functions."""
    assert resources("tidy_runs:runs=9") == {}
    values = resources("emulate_run:runs=50", "emulate_run:mem_mb=4000", "emulate_run:runtime=10*attempt")
    assert job_size(values).runs == 50 and values["mem_mb"] == 4000
    assert callable(values["runtime"])


def test_an_expression_is_no_number_of_runs():
    with pytest.raises(SystemExit, match="emulate_run: runs is an expression; allowed: whole numbers"):
        job_size(resources("emulate_run:runs=5*attempt"))


def dry_run(root, folder, rule, *options):
    """Return the finished dry run of a rule `made` that contains these lines, planned without repetition."""
    (folder / "Snakefile").write_text(
        f"import sys\n\nsys.path.insert(0, {str(root / 'workflow/scripts')!r})\n"
        "from session.inside_planning import plan_without_repetition\n\nplan_without_repetition()\n\n"
        f'rule made:\n    output:\n        "x",\n{rule}'
    )
    command = [Path(sys.executable).with_name("snakemake"), "-n", "--cores", "1", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize(
    "rule",
    [
        # A shell command that can't be formatted, and a resource that can't be told, say whether anybody asked.
        '    shell:\n        "touch {nothing}"\n',
        "    resources:\n        mem_mb=lambda wildcards: nothing,\n    shell:\n        'touch x'\n",
    ],
)
def test_a_dry_run_describes_jobs_only_where_that_is_shown(root, tmp_path, rule, shown):
    done = dry_run(root, tmp_path, rule, *([] if shown else ["--quiet", "rules"]))
    printed = done.stdout + done.stderr
    assert re.search(r"^made +1$", printed, re.M), printed
    assert (done.returncode == 0, "nothing" in printed) == (not shown, shown), printed


@pytest.mark.parametrize("environment", [False, True])
def test_the_conda_environments_of_a_workflow_that_has_some_are_looked_for(root, tmp_path, environment):
    """Such a workflow may use this one as a module. Its function records whether its parameters were requested."""
    conda = '    conda:\n        "{params.place}"\n' if environment else ""
    rule = f"    params:\n        place=lambda wildcards: nothing,\n{conda}    shell:\n        'touch x'\n"
    done = dry_run(root, tmp_path, rule, "--quiet", "rules")
    assert (done.returncode == 0, "nothing" in done.stdout + done.stderr) == (not environment, environment)


RULES = """

rule ends:
    output:
        "results/{study}/runs/{scenario}/{cca}.gz",
    wildcard_constraints:
        cca="reno|bbr",


rule whole:
    output:
        "results/a/runs/near/reno.gz",
        "results/a/runs/near/vegas.gz",


rule begins:
    output:
        "results/{rest}",


rule folder:
    output:
        directory("results/{study}/runs"),
    benchmark:
        "results/{study}/near.tsv"


rule name:
    output:
        "{name}",
    wildcard_constraints:
        name=r"\\w+",


from snakemake import dag
from snakemake.output_index import OutputIndex
from itertools import product

rules_here = list(workflow.rules)
theirs, ours = OutputIndex(rules_here), dag.OutputIndex(rules_here)
paths = ["x", "xx", "", "results", "results/a/runs", "results/a/near.tsv", "results/a.tsv", "results/", ".gz", "else/reno.gz"]
paths += ["/".join(parts) for parts in product(("results/a", "results/b/c"), ("runs", "run"), ("near", "far"), ("reno.gz", "bbr.gz", "vegas.gz", "bbr"))]
found = {path: sorted(rule.name for rule in theirs.match_producers(path)) for path in paths}
assert {path: sorted(rule.name for rule in ours.match_producers(path)) for path in paths} == found
assert found["results/a/runs/near/reno.gz"] == ["begins", "ends", "whole"], found
assert found["results/a/runs/near/vegas.gz"] == ["begins", "whole"] and found["else/reno.gz"] == [] and found["x"] == ["made", "name"]
print("compared", len(set(map(tuple, found.values()))))
"""


def test_the_producers_of_a_file_are_those_that_snakemake_finds(root, tmp_path):
    done = dry_run(root, tmp_path, "    shell:\n        'touch x'\n" + RULES, "--quiet", "rules", "--", "made")
    assert done.returncode == 0 and re.search(r"^compared \d+$", done.stdout, re.M), done.stdout + done.stderr


def test_a_job_of_several_runs_makes_only_what_is_missing_or_changed(tmp_path, monkeypatch):
    """An interrupted job keeps the documents that it has finished; a job with a single run replaces its document."""
    monkeypatch.chdir(tmp_path)
    for name in "abd":
        Path(name).touch()
    several = SimpleNamespace(rule=SimpleNamespace(value_of_output=str), output=["a", "b", "c"])
    one = SimpleNamespace(rule=SimpleNamespace(), output=["d"])
    changed, seen = SimpleNamespace(files={"b"}), []
    dag = SimpleNamespace(needrun_jobs=lambda: [several, one], reason=lambda job: SimpleNamespace(forced=False))
    workflow = SimpleNamespace(
        _build_dag=lambda: None, dag=dag, dryrun=True,
        persistence=SimpleNamespace(params_changed=lambda job: changed), exec_mode=ExecMode.DEFAULT,
    )  # fmt: skip
    after_planning(workflow, lambda planned, is_dry: seen.append((planned(), is_dry)))
    workflow._build_dag()
    assert seen == [(["b", "c", "d"], True)]


CLOSED = "--userns --cleanenv --net --network none"


@pytest.mark.parametrize(
    ("method", "arguments", "sentence"),
    [
        (["apptainer"], CLOSED, None),
        (["apptainer", "conda"], "--bind /data  --userns --cleanenv --net --network=none", None),
        ([], CLOSED, "sawtooth: software-deployment-method is not apptainer: runs must not depend on the machine."),
        (["conda"], CLOSED, "software-deployment-method is not apptainer"),
        (["apptainer"], "--cleanenv --net --network none", "sawtooth: --userns is missing from apptainer-args: "),
        (["apptainer"], "--userns --net", "--cleanenv is missing from apptainer-args, --network none is missing from"),
    ],
)
def test_a_module_needs_closed_containers(method, arguments, sentence):
    """Otherwise the jobs of the module would run outside of containers."""
    from snakemake_interface_executor_plugins.settings import DeploymentMethod

    settings = SimpleNamespace(
        apptainer_args=arguments, deployment_method={DeploymentMethod.parse_choice(one) for one in method}
    )
    if sentence is None:
        return require_closed_containers(SimpleNamespace(deployment_settings=settings))
    with pytest.raises(SystemExit, match=re.escape(sentence)):
        require_closed_containers(SimpleNamespace(deployment_settings=settings))
