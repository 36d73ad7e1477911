"""Code that uses Snakemake's internals (see `inside_snakemake`) to speed up planning and running thousands of jobs."""

import functools
import gc

#: Arguments of `gc.set_threshold`. Thousands of jobs consist of millions of objects, hardly any of which becomes garbage.
OBJECTS_BEFORE_COLLECTION = (10_000, 20, 100)


class ByPath:
    """Index of rules by the files that they produce, like Snakemake's `OutputIndex`.

    The key is a file's path or, if the path has wildcards, the part of the path after the last wildcard.
    """

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
    """More than halve the time for planning thousands of jobs, without changing the plan.

    This function avoids the following work:

    - Snakemake inspects the signature of each function before every call, about twenty times per job.
    - Snakemake searches for the Conda environment of each job, and therefore evaluates the parameters of all jobs. No rule has a Conda
      environment.
    - A dry run describes each job in full, including resources and shell command, even if ``quiet`` contains ``rules`` and the description
      isn't shown. A dry run also releases resources that it hasn't allocated.
    - Snakemake compares each file with the paths of all rules that have the same path prefix. All jobs with several runs share one prefix.
    - Snakemake matches files with a regular expression even if the path has no wildcards.
    - Python runs its garbage collector after every 700 new objects, although hardly any object is garbage.
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


def plan_without_apptainer() -> None:
    """Let a dry run plan jobs even if Apptainer isn't installed, if all images are local files.

    Snakemake only has to pull other images, and checks that Apptainer is there even if it has nothing to pull.
    """
    from snakemake.dag import DAG

    pull = DAG.pull_container_imgs

    def pull_container_imgs(graph, *options, **named):
        if not (graph.workflow.dryrun and all(image.is_local for image in graph.container_imgs.values())):
            pull(graph, *options, **named)

    DAG.pull_container_imgs = pull_container_imgs


def switch_off_rate_limit(workflow) -> None:
    """Switch off the limit on jobs per second, for which there is no setting.

    With the limit, each finished job starts another endless series of searches for new jobs, one search per second. After a thousand runs,
    Snakemake would do nothing but search.
    """
    workflow.scheduler.job_rate_limiter = None


def make_missing_files_at_once() -> None:
    """Make `snakemake --touch` create missing files, without Snakemake's pause of 0.1 s per job.

    A benchmark uses this to create Snakemake's records of thousands of jobs without executing the jobs.
    """
    from snakemake.executors import touch
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

    def run_job(executor, job):
        for file in job.output:
            file.touch_or_create()
        executor.report_job_submission(SubmittedJobInfo(job=job))
        executor.report_job_success(SubmittedJobInfo(job=job))

    touch.Executor.run_job = run_job
