"""Code that uses Snakemake's internals where there is no public interface: calls, workflows and modules.

Other such code is in `inside_planning`, `inside_jobs` and `inside_messages`. Snakemake doesn't guarantee these names. They are valid for
`TESTED_VERSION`, the version that set-up installs. A newer version may require changes, but only to these four modules.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from snakemake.exceptions import IncompleteCheckpointException

#: The only version with which the workflow is tested. A test ensures that envs/workflow.lock names the same version.
TESTED_VERSION = "9.27.1"
#: Arguments in `apptainer-args` that isolate runs from the machine; profiles/default describes each.
CLOSED = ("--userns", "--cleanenv", "--net", "--network none")


def leave_study_files_unread() -> None:
    """Keep Snakemake from reading the file named by ``--configfile``: Snakemake would execute any Python code in it (YTE) without limits.

    Snakemake has no setting for this. The file profiles/default, which Snakemake loads before any study file, calls this function. The
    Snakefile then gets the name of the study file (`study_file_given`) and reads the file as data.
    """
    from snakemake.settings import types

    types.load_configfile = lambda path: {}


def has_bars() -> bool:
    """Return whether the Snakemake plugin for progress bars is installed."""
    return importlib.util.find_spec("snakemake_logger_plugin_rich") is not None


def require_unread_study_files(workflow) -> None:
    """Exit with a message if Snakemake itself has read the study file, as it does unless profiles/default is loaded.

    Processes that Snakemake starts for jobs don't load a profile. The study file that they read is known to contain only data.
    """
    from snakemake.common.configfile import load_configfile
    from snakemake.settings import types

    if (
        is_called_by_user(workflow)
        and not is_module(workflow)
        and study_file_given(workflow)
        and types.load_configfile is load_configfile
    ):
        sys.exit(
            "sawtooth: profiles/default was not loaded because of --workflow-profile, so Snakemake itself has read the study file"
            " and executed any Python code in it: omit this option."
        )


def is_called_by_user(workflow) -> bool:
    """Return whether a user started this process; Snakemake starts other processes for jobs."""
    from snakemake_interface_executor_plugins.settings import ExecMode

    return workflow.exec_mode == ExecMode.DEFAULT


def before_planning(workflow, function: Callable[[bool], None]) -> None:
    """Register a function to call before the user's jobs are planned.

    The function is called with a flag that is true if the jobs are only shown or touched. Snakemake doesn't set this flag until it has read
    the Snakefile.
    """
    plan = workflow._build_dag

    def build_dag():
        if workflow.executor_plugin and is_called_by_user(workflow):
            function(workflow.dryrun or workflow.touch)
        plan()

    workflow._build_dag = build_dag


def study_file_given(workflow) -> str | None:
    """Return the last study file named with ``--configfile``, or None; `configfile:` would merge the file with the default study."""
    files = workflow.overwrite_configfiles
    return str(files[-1]) if files else None


def config_given(workflow) -> dict:
    """Return the values from ``--config``; `config` doesn't show which values come from the command line and which from a file."""
    return dict(workflow.config_settings.config)


def resources_of_rule(workflow, rule: str) -> dict:
    """Return the resources that ``--set-resources`` on the command line or in the profile sets for a rule.

    Values have the types that are allowed in a rule: a number, a string, or a function for an expression such as ``100 * attempt``.
    """
    resources = workflow.resource_settings.overwrite_resources.get(workflow.modifier.modify_rulename(rule), {})
    return {name: getattr(value, "_value", value) for name, value in resources.items()}


def cores_of(workflow) -> int | None:
    """Return the number of cores that the call may use, or None if no number is given, as on a cluster."""
    return workflow.resource_settings.cores


def executor_name(workflow) -> str:
    """Return the name of this call's executor."""
    return workflow.executor_plugin.name


def runs_jobs_here(workflow) -> bool:
    """Return whether this call executes all jobs itself, rather than submitting them to a cluster or being such a job."""
    return workflow.local_exec and not workflow.remote_exec


def keeps_incomplete(workflow) -> bool:
    """Return whether the call sets ``--keep-incomplete``; without this option, the complete documents of a failed job are deleted too."""
    return workflow.execution_settings.keep_incomplete


def run_here_all_but(workflow, *beginnings: str) -> None:
    """Run the jobs of all rules locally, except rules whose name starts with one of ``beginnings``.

    `localrules` in a Snakefile needs literal names, which rules defined in a loop don't have.
    """
    names = tuple(map(workflow.modifier.modify_rulename, beginnings))
    workflow.localrules(*(rule.name for rule in workflow.modifier.rules if not rule.name.startswith(names)))


def is_module(workflow) -> bool:
    """Return whether another workflow uses this workflow through `module`."""
    return not workflow.modifier.is_main_snakefile()


def is_linted(workflow) -> bool:
    """Return whether the workflow is only linted (``--lint``), in which case Snakemake reads the workflow differently."""
    return not workflow.check_envvars


def path_in_module(workflow, path: str) -> str:
    """Return the path that rules use for ``path``, which a module's settings may prefix or replace."""
    return str(workflow.modifier.modify_path(path))


def set_default_target(workflow, rule: str) -> None:
    """Make a rule of an included file the default target, although Snakemake accepts only rules of the main file."""
    workflow.default_target = workflow.modifier.modify_rulename(rule)


def start_modules_too(workflow) -> None:
    """Run this file's `onstart:` even if the file is used as a module; Snakemake itself would run only the user's own `onstart:`."""
    if not is_module(workflow):
        return
    file = workflow.included_stack[-1].get_path_or_uri(secret_free=True)
    if "onstart" in vars(workflow):  # the workflow is used as a module more than once
        return workflow.onstart.files.add(file)
    register, own, of_modules = workflow.onstart, [workflow._onstart], []

    def onstart(function):
        register(function)
        if not is_module(workflow):
            own[:] = [function]
        elif function.__code__.co_filename in onstart.files:
            of_modules.append(function)
        workflow._onstart = lambda log: [started(log) for started in (*own, *of_modules)]

    onstart.files = {file}
    workflow.onstart = onstart


def take_images_from(workflow, place_of: Callable[[str], str]) -> None:
    """For all rules, use the images at the paths that ``place_of`` returns; Snakemake searches only the working directory."""
    for rule in workflow.modifier.rules:
        if rule.container_img:
            rule.container_img = place_of(rule.container_img)


def show_in_containers(folder: Path) -> None:
    """Mount a folder in all containers under its own path, in addition to the working directory."""
    others = [part for part in os.environ.get("APPTAINER_BIND", "").split(",") if part and part != str(folder)]
    os.environ["APPTAINER_BIND"] = ",".join([*others, str(folder)])


def require_closed_containers(workflow) -> None:
    """Exit with a message if jobs wouldn't run in containers, or if the Apptainer arguments don't isolate containers from the machine.

    The workflow's own profile, profiles/default, sets the method and the arguments; the profile of a workflow that uses this module may not.
    """
    from snakemake_interface_executor_plugins.settings import DeploymentMethod

    settings = workflow.deployment_settings
    given = f" {' '.join(settings.apptainer_args.split())} ".replace("=", " ")
    missing = [f"{words} is missing from apptainer-args" for words in CLOSED if f" {words} " not in given]
    if DeploymentMethod.APPTAINER not in settings.deployment_method:
        missing.insert(0, "software-deployment-method is not apptainer")
    if missing:
        sys.exit(
            f"sawtooth: {', '.join(missing)}: runs must not depend on the machine. Put "
            '`apptainer-args: "--userns --cleanenv --net --network none"` and `software-deployment-method: apptainer` into '
            "profiles/default/config.yaml of the workflow that uses this module."
        )


def unpacked_repository(workflow) -> Path:
    """Return a checkout of the repository from which Snakemake fetched this file, creating the checkout in the cache if necessary.

    Snakemake fetches the files of a ``github(...)``, ``gitlab(...)`` or ``gitfile(...)`` module one by one, but the workflow needs complete
    folders: its Python modules, images and set-up. This function is called before other modules of the workflow can be imported.
    """
    file = workflow.included_stack[-1]
    repository = file.hosted_repo.repo_clone if hasattr(file, "hosted_repo") else getattr(file, "repo_path", None)
    if repository is None:
        sys.exit(
            f"sawtooth: {file.get_path_or_uri(secret_free=True)} is not part of a repository: name the workflow as github(...), gitlab(...), "
            "gitfile(...) or by the path of a checkout."
        )

    def git(*words):
        return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout.strip()

    try:
        commit = git("-C", repository, "rev-parse", f"{file.ref}^{{commit}}")
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        given = os.path.expanduser(os.environ.get("SAWTOOTH_CACHE", ""))
        cache = Path(given or Path(base, "sawtooth")).absolute()
        place = cache / "checkouts" / commit
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            partial = tempfile.mkdtemp(dir=place.parent)
            git("clone", "--quiet", "--no-checkout", repository, partial)
            git("-C", partial, "checkout", "--quiet", "--detach", commit)
            os.rename(partial, place)
    except (OSError, subprocess.CalledProcessError) as error:
        cause = getattr(error, "stderr", "") or error
        sys.exit(f"sawtooth: {file.get_path_or_uri(secret_free=True)} can't be checked out: {str(cause).strip()}")
    return place


def is_forced(workflow) -> bool:
    """Return whether the user requests that up-to-date jobs run again (``--force``, ``--forcerun``, ``--forceall``).

    Snakemake's own processes for jobs are always called with ``--force``.
    """
    asked = workflow.dag_settings
    return is_called_by_user(workflow) and bool(asked.forcetargets or asked.forcerun or asked.forceall)


def delete_forced_outputs(workflow, beginning: str) -> None:
    """Delete the outputs that the user's options force, for jobs of rules whose names begin with ``beginning``; call this in ``onstart``.

    Snakemake deletes the outputs of a job before it runs, except outputs that the job updates.
    """
    for job in workflow.dag.needrun_jobs():
        if job.rule.name.startswith(beginning):
            for path in _forced_outputs(workflow, job):
                Path(path).unlink(missing_ok=True)


def _forced_outputs(workflow, job):
    """Return the outputs of a job that the user's options force: the files that the user named, or else all outputs of a forced job."""
    if not workflow.dag.reason(job).forced:
        return set()
    asked = workflow.dag_settings
    named = {*map(str, asked.forcerun), *(map(str, asked.targets) if asked.forcetargets else ())}
    outputs = {*map(str, job.output)}
    return outputs & named or outputs


def together(*functions: Callable) -> Callable:
    """Return an input function that combines several input functions, so that their checkpoints can run in parallel.

    An input function stops at the first checkpoint without output. With separate functions, each checkpoint would therefore have to wait
    for the previous ones.
    """

    def files(wildcards):
        paths = []
        for function in functions:
            try:
                paths += function(wildcards)
            except IncompleteCheckpointException as missing:
                paths.append(missing.targetfile)  # a placeholder until the files exist
        return paths

    return files


def after_planning(workflow, function: Callable[[Callable[[], list[str]], bool], None]) -> None:
    """Register a function to call after a user's jobs are planned.

    The function is called with another function, which returns the output paths that the unfinished jobs are going to make, and with a flag
    that is true for a dry run. More jobs are planned whenever a checkpoint ends.
    """
    plan = workflow._build_dag

    def outputs_to_make():
        return [path for job in workflow.dag.needrun_jobs() for path in _outputs_to_make(workflow, job)]

    def build_dag():
        plan()
        if is_called_by_user(workflow):
            function(outputs_to_make, workflow.dryrun)

    workflow._build_dag = build_dag


def _outputs_to_make(workflow, job):
    """Return the output paths that a job makes.

    A job with several runs keeps existing documents unless their parameters have changed, or the user's options force them.
    """
    paths = [str(path) for path in job.output]
    if not hasattr(job.rule, "value_of_output"):
        return paths
    kept = {path for path in paths if os.path.exists(path)}
    if kept:
        kept -= set(map(str, workflow.persistence.params_changed(job).files)) | _forced_outputs(workflow, job)
    return [path for path in paths if path not in kept]


def unfinished_among(workflow, paths: list[str]) -> set[str]:
    """Return the outputs among ``paths`` whose jobs were started but not recorded as finished; Snakemake would run these jobs again."""
    return workflow.persistence._filter_incomplete_keys(paths) if workflow.persistence else set()
