"""All uses of Snakemake's internals for which it has no public interface, each with its reason.

Snakemake doesn't guarantee any of these names. They are those of `TESTED_VERSION`, which set-up installs. For a newer
version only this module may have to be changed.
"""

import functools
import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from snakemake.exceptions import IncompleteCheckpointException
from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

#: The version in envs/workflow.lock (a test keeps the two equal), the only one with which the workflow is tested.
TESTED_VERSION = "9.27.1"
#: Arguments in `apptainer-args` that isolate runs from the machine; profiles/default describes each.
CLOSED = ("--cleanenv", "--net")
#: Python's three thresholds (`gc.set_threshold`): thousands of jobs are millions of objects, hardly any of them garbage.
OBJECTS_BEFORE_COLLECTION = (10_000, 20, 100)


def leave_study_files_unread() -> None:
    """Keep Snakemake from reading the file of ``--configfile``, because it would execute Python code in it (YTE) without limits.

    No setting switches that off. This is called by profiles/default, which Snakemake loads before any study file; the Snakefile
    gets the file's name (`study_file_given`) and reads it as data.
    """
    from snakemake.settings import types

    types.load_configfile = lambda path: {}


def has_bars() -> bool:
    """Return whether the Snakemake plugin for progress bars is installed."""
    return importlib.util.find_spec("snakemake_logger_plugin_rich") is not None


def require_unread_study_files(workflow) -> None:
    """Exit with one sentence if Snakemake has read a study file because profiles/default wasn't loaded.

    Its own processes for jobs don't load a profile: they get a file that has already been found to contain only data.
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
            "sawtooth: profiles/default was not loaded (--workflow-profile), so Snakemake itself has read the study file,"
            " and has carried out Python if there was any in it: leave this option out."
        )


def is_called_by_user(workflow) -> bool:
    """Return whether this is the process that a user has started, and not one that Snakemake has started for a job."""
    from snakemake_interface_executor_plugins.settings import ExecMode

    return workflow.exec_mode == ExecMode.DEFAULT


def before_planning(workflow, function: Callable[[bool], None]) -> None:
    """Register a function to call before the user's jobs are planned; its argument is whether they are only shown or touched.

    While the Snakefile is being read, Snakemake doesn't yet reveal whether this is a dry run.
    """
    plan = workflow._build_dag

    def build_dag():
        if workflow.executor_plugin and is_called_by_user(workflow):
            function(workflow.dryrun or workflow.touch)
        plan()

    workflow._build_dag = build_dag


def study_file_given(workflow) -> str | None:
    """Return the last ``--configfile`` of the call: `configfile:` would merge it with the default study's keys."""
    files = workflow.overwrite_configfiles
    return str(files[-1]) if files else None


def config_given(workflow) -> dict:
    """Return the values from ``--config``; `config` doesn't show which values come from the command line and which from a file."""
    return dict(workflow.config_settings.config)


def resources_of_rule(workflow, rule: str) -> dict:
    """Return the resources that ``--set-resources`` on the command line or in the profile sets for a rule.

    A value is one that a rule may have: a number, a text, or a function for an expression such as ``100 * attempt``.
    """
    resources = workflow.resource_settings.overwrite_resources.get(workflow.modifier.modify_rulename(rule), {})
    return {name: getattr(value, "_value", value) for name, value in resources.items()}


def cores_of(workflow) -> int | None:
    """Return the number of cores that the call may use, or None if not given, as for a cluster."""
    return workflow.resource_settings.cores


def executor_name(workflow) -> str:
    """Return the executor of this call; if it is Slurm, it must respond before any job is submitted."""
    return workflow.executor_plugin.name


def keeps_incomplete(workflow) -> bool:
    """Return whether the call has ``--keep-incomplete``, without which a failing job deletes good documents too."""
    return workflow.execution_settings.keep_incomplete


def keep_what_failed_jobs_leave() -> None:
    """Leave `update()` outputs in the state in which a failed job left them, without recording them as made by it.

    Snakemake would restore the files from before the job over those that it has finished, and record all of them as made with the
    job's current inputs: documents from before a study's last change would never be made again. Needs ``--keep-incomplete``.
    """
    from snakemake.persistence import PersistenceBase

    failed, enter = set(), PersistenceBase.finished

    def restore_output(persistence, path):
        failed.add(str(path))
        return False

    async def finished(persistence, job):
        outputs = set(map(str, job.output))
        if failed.isdisjoint(outputs):
            await enter(persistence, job)
        failed.difference_update(outputs)

    PersistenceBase.backup_output = lambda persistence, path: None
    PersistenceBase.restore_output = restore_output
    PersistenceBase.finished = finished


def record_for_each_output(workflow, beginning: str, value_of: Callable[[str], str]) -> None:
    """Record a value for each output of the rules whose name starts with ``beginning``, as if it were a parameter of the job.

    Snakemake records the same parameters for all outputs of a job. So a change of one run's conditions, or of the number of runs per job,
    would make all runs of the job stale. The value follows from the output's path.
    """
    from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase

    names = workflow.modifier.modify_rulename(beginning)
    for rule in workflow.modifier.rules:
        if rule.name.startswith(names):
            rule.value_of_output = value_of
    if hasattr(PersistenceBase, "value_of"):
        return
    finished, changed = PersistenceBase.finished, PersistenceBase.params_changed

    def value_of_output(persistence, job, file):
        return persistence._serialize_param(job.rule.value_of_output(str(file)))

    async def finished_with_values(persistence, job):
        await finished(persistence, job)
        if hasattr(job.rule, "value_of_output"):
            persistence._clear_cache()  # of what was recorded before
            for file in job.output:
                key = persistence._get_key(file)
                if (record := persistence._read_record(key)) and record.params is not None:
                    record.params = sorted({*record.params, value_of_output(persistence, job, file)})
                    persistence._write_record(key, record)

    def params_changed(persistence, job, file=None):
        if not hasattr(job.rule, "value_of_output"):
            return changed(persistence, job, file)
        common, changes = set(persistence._params(job)), NO_PARAMS_CHANGE
        for each in job.output if file is None else [file]:
            if (recorded := persistence.params(each)) is not None:
                new = common | {value_of_output(persistence, job, each)}
                old = set(recorded)
                changes |= ParamsChange(only_old=old - new, only_new=new - old, files={each})
        return changes

    PersistenceBase.value_of = value_of_output
    PersistenceBase.finished, PersistenceBase.params_changed = finished_with_values, params_changed


def switch_off_rate_limit(workflow) -> None:
    """Switch off the limit on jobs per second, for which there is no setting.

    With the limit, each finished job makes Snakemake search for jobs one more time per second: after a thousand runs it does
    nothing else.
    """
    workflow.scheduler.job_rate_limiter = None


def plan_without_repetition() -> None:
    """Save more than half of the time for planning thousands of jobs, without changing the plan.

    Snakemake inspects the signature of a function each time it calls it, about twenty times per job. It searches for the Conda
    environment of each job, and therefore evaluates the parameters of all, although no rule has one. A dry run describes each job in full,
    including resources and shell command, and then shows none of this if ``quiet`` contains ``rules``; and it releases resources that it
    hasn't allocated. It compares each file with the paths of all rules that begin alike, as those of all jobs of several runs do, and
    with a regular expression for each path, even if that has no wildcards. Python searches all jobs for garbage after every 700 new objects.
    """
    from snakemake import common, dag, jobs, rules
    from snakemake.scheduling.job_scheduler import JobScheduler
    from snakemake.settings.enums import Quietness

    gc.set_threshold(*OBJECTS_BEFORE_COLLECTION)
    remembered = functools.cache(common.get_function_params)
    for module in (common, jobs, rules):
        module.get_function_params = remembered
    describe, free, find_environments = jobs.Job.log_info, JobScheduler._free_resources, dag.DAG.update_conda_envs
    find_wildcards = rules.Rule.get_wildcards

    def log_info(job, *options, **named):
        workflow = job.dag.workflow
        if not (workflow.dryrun and Quietness.RULES in (workflow.output_settings.quiet or ())):
            describe(job, *options, **named)

    def free_resources(scheduler, job):
        if not scheduler.dryrun:
            free(scheduler, job)

    def update_conda_envs(graph):
        if any(rule.conda_env for rule in graph.workflow.rules):
            find_environments(graph)

    class ByPath:
        """Like `OutputIndex`, but with a lookup of whole paths, and of the ends of those with wildcards."""

        def __init__(self, rules):
            self.whole, self.ends = {}, {}
            for rule in rules:
                for path in rule.products():
                    if path.contains_wildcard():
                        beginnings = self.ends.setdefault(str(path.constant_suffix()), {})
                        beginnings.setdefault(str(path.constant_prefix()), set()).add(rule)
                    else:
                        self.whole.setdefault(str(path), set()).add(rule)
            self.lengths = {len(end) for end in self.ends}

        def match_producers(self, path):
            ends = {path[len(path) - length :] for length in self.lengths if length <= len(path)}
            of_ends = (beginning for end in ends & self.ends.keys() for beginning in self.ends[end].items())
            likely = set().union(*(rules for beginning, rules in of_ends if path.startswith(beginning)))
            return {rule for rule in likely if rule.is_producer(path)} | self.whole.get(path, set())

    def get_wildcards(rule, requested_output, wildcards_dict=None):
        return find_wildcards(rule, requested_output, wildcards_dict) if rule.wildcard_names else {}

    dag.OutputIndex = ByPath
    rules.Rule.get_wildcards = get_wildcards
    jobs.Job.log_info = log_info
    JobScheduler._free_resources = free_resources
    dag.DAG.update_conda_envs = update_conda_envs


def run_here_all_but(workflow, *beginnings: str) -> None:
    """Run the jobs of all rules locally, except rules whose name starts with one of ``beginnings``.

    `localrules` in a Snakefile needs literal names, which rules made in a loop don't have.
    """
    names = tuple(map(workflow.modifier.modify_rulename, beginnings))
    workflow.localrules(*(rule.name for rule in workflow.modifier.rules if not rule.name.startswith(names)))


def is_module(workflow) -> bool:
    """Return whether another workflow uses this one through `module`."""
    return not workflow.modifier.is_main_snakefile()


def is_linted(workflow) -> bool:
    """Return whether the workflow is only linted (``--lint``), in which case Snakemake reads it differently."""
    return not workflow.check_envvars


def path_in_module(workflow, path: str) -> str:
    """Return the path that rules use: below the ``prefix`` given to a module, or replaced."""
    return str(workflow.modifier.modify_path(path))


def set_default_target(workflow, rule: str) -> None:
    """Make a rule of an included file the default target; Snakemake accepts only rules of the main file."""
    workflow.default_target = workflow.modifier.modify_rulename(rule)


def start_modules_too(workflow) -> None:
    """Run this file's `onstart:` even if it is a module; Snakemake runs only that of the user's own workflow."""
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
    """Use images for all rules from the paths that a function returns; Snakemake searches only the working directory."""
    for rule in workflow.modifier.rules:
        if rule.container_img:
            rule.container_img = place_of(rule.container_img)


def show_in_containers(folder: Path) -> None:
    """Mount a folder in all containers under its own path, in addition to the working directory."""
    others = [part for part in os.environ.get("APPTAINER_BIND", "").split(",") if part and part != str(folder)]
    os.environ["APPTAINER_BIND"] = ",".join([*others, str(folder)])


def require_closed_containers(workflow) -> None:
    """Exit with one sentence if containers could see the caller's environment or network, which another workflow's profile may allow.

    The workflow's own profile, profiles/default, already contains these arguments.
    """
    given = workflow.deployment_settings.apptainer_args.split()
    if missing := [word for word in CLOSED if word not in given]:
        sys.exit(
            f"sawtooth: apptainer-args lacks {', '.join(missing)}: runs must not depend on the machine. Put "
            '`apptainer-args: "--userns --cleanenv --net --network none"` and `software-deployment-method: apptainer` into '
            "profiles/default/config.yaml of the workflow that uses this module."
        )


def unpacked_repository(workflow) -> Path:
    """Return a checkout of the repository from which Snakemake fetched this file, creating it in the cache if missing.

    Snakemake fetches the files of a module ``github(...)``, ``gitlab(...)`` or ``gitfile(...)`` one by one, but the
    workflow needs its modules, images and set-up as folders. Called before any other module can be imported.
    """
    file = workflow.included_stack[-1]
    repository = file.hosted_repo.repo_clone if hasattr(file, "hosted_repo") else getattr(file, "repo_path", None)
    if repository is None:
        sys.exit(
            f"sawtooth: {file.get_path_or_uri(secret_free=True)} stands alone: name the workflow as github(...), gitlab(...), "
            "gitfile(...) or by the path of a checkout."
        )

    def git(*words):
        return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout.strip()

    try:
        commit = git("-C", repository, "rev-parse", f"{file.ref}^{{commit}}")
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(os.environ.get("SAWTOOTH_CACHE") or Path(base, "sawtooth")).absolute()
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
    """Return whether the user has forced jobs that are up to date (``--force``, ``--forcerun``, ``--forceall``).

    Snakemake's own processes for jobs are always called with ``--force``.
    """
    asked = workflow.dag_settings
    return is_called_by_user(workflow) and bool(asked.forcetargets or asked.forcerun or asked.forceall)


def look_up_jobs_in(workflow, cache, *beginnings: str) -> None:
    """Look up the outputs of jobs in a cache before they run, and store the outputs there afterwards.

    Snakemake's own cache between workflows has its hook at the same place, but has neither content digests nor a limit, identifies
    an image by its name, and leaves links as results. A job whose outputs were all found doesn't start a container; its benchmark file has
    only the header. ``beginnings`` are prefixes of the rules' names; ``cache`` has the functions of `session.run_cache.RunCache`.
    """
    names = tuple(map(workflow.modifier.modify_rulename, beginnings))
    for rule in workflow.modifier.rules:
        if rule.name.startswith(names):
            rule.run_cache = cache
    _ask_caches()


@functools.cache
def _ask_caches():
    from snakemake.benchmark import write_benchmark_records
    from snakemake.executors import local

    carry_out = local.Executor.cached_or_run

    def cached_or_run(executor, job, run_func, *args):
        if (cache := getattr(job.rule, "run_cache", None)) is None:
            return carry_out(executor, job, run_func, *args)
        taken = cache.take(job)
        if len(taken) < len(job.output):
            carry_out(executor, job, run_func, *args)
            cache.keep(job, taken)
        elif job.benchmark:
            write_benchmark_records([], str(job.benchmark), False)

    local.Executor.cached_or_run = cached_or_run


def together(*functions: Callable) -> Callable:
    """Return an input function that joins the files of several, so that their checkpoints run in parallel.

    A checkpoint without its output ends an input function, so one checkpoint would have to wait for the others.
    """

    def files(wildcards):
        paths = []
        for function in functions:
            try:
                paths += function(wildcards)
            except IncompleteCheckpointException as missing:
                paths.append(missing.targetfile)  # the files' placeholder for Snakemake until they exist
        return paths

    return files


def filter_messages(keep) -> None:
    """Filter messages (`logging.LogRecord`) with a function that returns whether to show them."""
    logger.addFilter(keep)


def add_message_handler(handler) -> None:
    """Pass each message also to a `logging.Handler`; a logger plugin would replace the one that the user chose."""
    logger.addHandler(handler)


def bars_of(workflow) -> list:
    """Return the progress bars (`rich.progress.Progress`) of this call's logger plugin, if it has any."""
    return [handler.progress for handler in workflow.logger_manager.plugin_handlers if hasattr(handler, "progress")]


def after_planning(workflow, function: Callable[[list[str], bool], None]) -> None:
    """Register a function to call with the output paths of all jobs that a user's call has planned, and whether it is a dry run."""
    plan = workflow._build_dag

    def build_dag():
        plan()
        if is_called_by_user(workflow):
            function([str(path) for job in workflow.dag.needrun_jobs() for path in job.output], workflow.dryrun)

    workflow._build_dag = build_dag


def say(sentence: str) -> None:
    """Print a line through Snakemake's logger, which doesn't wrap it and keeps progress bars below it."""
    logger.info(sentence, extra={"is_own": True})


def is_own(record) -> bool:
    """Return whether a message comes from `say`."""
    return getattr(record, "is_own", False)


def is_end_of_planning(record) -> bool:
    """Return whether a message reports that the user ended the workflow before its first job, after which no `onerror:` runs."""
    return record.getMessage() == "Cancelling snakemake on user request."


def progress_of(record) -> tuple[int, int] | None:
    """Return the numbers of finished and planned jobs in a progress message, or None for other messages."""
    return (record.done, record.total) if getattr(record, "event", None) == LogEvent.PROGRESS else None


def is_failure_of_job(record) -> bool:
    """Return whether a message reports a failed job."""
    return getattr(record, "event", None) == LogEvent.JOB_ERROR


def unfinished_among(workflow, paths: list[str]) -> set[str]:
    """Return the outputs whose jobs Snakemake has started but not recorded as finished, so it would make them again."""
    return workflow.persistence._filter_incomplete_keys(paths) if workflow.persistence else set()


def failure_of_job(record) -> tuple[str, list[str]] | None:
    """Return the scheduler's message about a failed job and the job's logs, its own log first; None for other messages."""
    if is_failure_of_job(record) and record.rule_msg and record.log:
        return record.rule_msg, list(record.log)
    return None


def make_missing_files_at_once() -> None:
    """Make `snakemake --touch` create missing files, and skip its pause of 0.1 s per job.

    A benchmark thus gets Snakemake's own records of thousands of jobs that were never executed.
    """
    from snakemake.executors import touch
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

    def run_job(executor, job):
        for file in job.output:
            file.touch_or_create()
        executor.report_job_submission(SubmittedJobInfo(job=job))
        executor.report_job_success(SubmittedJobInfo(job=job))

    touch.Executor.run_job = run_job
