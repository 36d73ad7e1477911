"""All that the workflow takes from inside of Snakemake, where that has no public way: each reach with its reason.

Snakemake promises none of these names. They are those of `TESTED_VERSION`, which set-up installs; a newer one may need
this module changed, and nothing else.
"""

import sys
from collections.abc import Callable

from snakemake.exceptions import IncompleteCheckpointException
from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

#: That of envs/workflow.lock (a test holds the two together): the only one with which the workflow is tried.
TESTED_VERSION = "9.27.1"


def leave_study_files_unread() -> None:
    """Keep Snakemake from reading what ``--configfile`` names: it would carry out Python in it (YTE), without bounds.

    No setting switches that off. Called by profiles/default, which Snakemake loads before any study file; the Snakefile
    asks for the file's name (`study_file_given`) and reads it as data.
    """
    from snakemake.settings import types

    types.load_configfile = lambda path: {}


def require_unread_study_files(workflow) -> None:
    """Leave with one sentence if Snakemake has read a study file, since profiles/default wasn't loaded.

    Its own processes for jobs load no profile: they are given a file that was found to be data before.
    """
    from snakemake.common.configfile import load_configfile
    from snakemake.settings import types
    from snakemake_interface_executor_plugins.settings import ExecMode

    called_by_user = workflow.exec_mode == ExecMode.DEFAULT
    if called_by_user and study_file_given(workflow) and types.load_configfile is load_configfile:
        sys.exit(
            "sawtooth: profiles/default was not loaded (--workflow-profile), so Snakemake itself has read the study file,"
            " and has carried out Python if there was any in it: leave this option out."
        )


def study_file_given(workflow) -> str | None:
    """Return the last ``--configfile`` of the call: `configfile:` would merge it with the default study's keys."""
    files = workflow.overwrite_configfiles
    return str(files[-1]) if files else None


def config_given(workflow) -> dict:
    """Return what ``--config`` gave: of `config` nobody can tell what came from the command line and what from a file."""
    return dict(workflow.config_settings.config)


def resources_of_rule(workflow, rule: str) -> dict:
    """Return what ``--set-resources`` of call and profile set for a rule: rules are made by one of these.

    A value is one that a rule may have: a number, a text, or a function for an expression such as ``100 * attempt``.
    """
    resources = workflow.resource_settings.overwrite_resources.get(rule, {})
    return {name: getattr(value, "_value", value) for name, value in resources.items()}


def executor_name(workflow) -> str:
    """Return the executor of this call: Slurm has to answer before any job is handed to it."""
    return workflow.executor_plugin.name


def keeps_incomplete(workflow) -> bool:
    """Tell whether the call has ``--keep-incomplete``, without which a job that fails takes good documents along."""
    return workflow.execution_settings.keep_incomplete


def keep_what_failed_jobs_leave() -> None:
    """Leave outputs that are `update()` as a failed job left them, and enter none of them as made by it.

    Snakemake would put back what was there before the job, over what it has finished, and enter all of that as made of what
    was asked of the job: documents of a study before its last change would never be made again. Needs ``--keep-incomplete``.
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


def switch_off_rate_limit(workflow) -> None:
    """Switch off the limit of jobs per second, which no setting does.

    With it Snakemake looks for jobs once a second more with each job that has ended: after a thousand runs that is all
    it does.
    """
    workflow.scheduler.job_rate_limiter = None


def run_here_all_but(workflow, *beginnings: str) -> None:
    """Let the jobs of all rules run where Snakemake runs, but for those whose name begins so.

    `localrules` in a Snakefile takes names as they are written there, and those of rules made in a loop are not.
    """
    workflow.localrules(*(rule.name for rule in workflow.rules if not rule.name.startswith(beginnings)))


def together(*functions: Callable) -> Callable:
    """Return an input function for the files of several, whose checkpoints are then carried out side by side.

    A checkpoint without its output ends an input function, so what one asked for would wait for the others' checkpoints.
    """

    def files(wildcards):
        found = []
        for function in functions:
            try:
                found += function(wildcards)
            except IncompleteCheckpointException as missing:
                found.append(missing.targetfile)  # what Snakemake takes for the files until there are some
        return found

    return files


def filter_messages(keep) -> None:
    """Ask a function of each message (a `logging.LogRecord`) whether it is shown."""
    logger.addFilter(keep)


def add_message_handler(handler) -> None:
    """Hand each message to a `logging.Handler` too: a logger plugin would replace the one that users choose."""
    logger.addHandler(handler)


def progress_of(record) -> tuple[int, int] | None:
    """Return how many jobs a message says that are done, and of how many that are planned by now; None of another."""
    return (record.done, record.total) if getattr(record, "event", None) == LogEvent.PROGRESS else None


def failure_of_job(record) -> tuple[str, list[str]] | None:
    """Return what the scheduler says of a job that has failed, and the job's logs, its own first; None for other messages."""
    if getattr(record, "event", None) == LogEvent.JOB_ERROR and record.rule_msg and record.log:
        return record.rule_msg, list(record.log)
    return None


def make_missing_files_at_once() -> None:
    """Let `snakemake --touch` make files that aren't there, and leave out its pause of 0.1 s a job.

    So a benchmark has Snakemake's own records of thousands of jobs that nobody carried out.
    """
    from snakemake.executors import touch
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

    def run_job(executor, job):
        for file in job.output:
            file.touch_or_create()
        executor.report_job_submission(SubmittedJobInfo(job=job))
        executor.report_job_success(SubmittedJobInfo(job=job))

    touch.Executor.run_job = run_job
