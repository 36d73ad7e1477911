"""Uses of Snakemake's internals that make planning and running thousands of jobs faster (`inside_snakemake`)."""

import functools
import gc

#: Python's three thresholds (`gc.set_threshold`): thousands of jobs are millions of objects, hardly any of them garbage.
OBJECTS_BEFORE_COLLECTION = (10_000, 20, 100)


class ByPath:
    """The rules that produce a file, like Snakemake's `OutputIndex`: found by whole paths or, for paths with wildcards, by their ends."""

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

    def match_producers(self, path) -> set:
        """Return the rules that produce a file."""
        ends = {path[len(path) - length :] for length in self.lengths if length <= len(path)}
        of_ends = (beginning for end in ends & self.ends.keys() for beginning in self.ends[end].items())
        likely = set().union(*(rules for beginning, rules in of_ends if path.startswith(beginning)))
        return {rule for rule in likely if rule.is_producer(path)} | self.whole.get(path, set())


def plan_without_repetition() -> None:
    """Save more than half of the time for planning thousands of jobs, without changing the plan.

    Snakemake inspects the signature of a function each time it calls it, about twenty times per job. It searches for the Conda environment
    of each job, and therefore evaluates the parameters of all, although no rule has one. A dry run describes each job in full, including
    resources and shell command, and then shows none of this if ``quiet`` contains ``rules``; and it releases resources that it hasn't
    allocated. It compares each file with the paths of all rules that have the same beginning, which those of all jobs with several runs do,
    and uses a regular expression for each path, even if it has no wildcards. Python searches all jobs for garbage after every 700 new
    objects.
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

    def get_wildcards(rule, requested_output, wildcards_dict=None):
        return find_wildcards(rule, requested_output, wildcards_dict) if rule.wildcard_names else {}

    dag.OutputIndex = ByPath
    rules.Rule.get_wildcards = get_wildcards
    jobs.Job.log_info = log_info
    JobScheduler._free_resources = free_resources
    dag.DAG.update_conda_envs = update_conda_envs


def switch_off_rate_limit(workflow) -> None:
    """Switch off the limit on jobs per second, for which there is no setting.

    With the limit, each finished job makes Snakemake search for jobs one more time per second: after a thousand runs it does
    nothing else.
    """
    workflow.scheduler.job_rate_limiter = None


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
