"""Code that uses Snakemake's internals (see `inside_snakemake`) for jobs with several runs and for the run cache."""

import functools
import os
from collections.abc import Callable


def keep_what_failed_jobs_leave() -> None:
    """Keep `update()` outputs as a failed job left them, without recording them as outputs of this job.

    Otherwise, Snakemake would restore the files from before the job, overwrite the documents that the job has finished, and record all
    files as made with the job's current inputs. Documents that are older than the study's last change would then never be made again.
    Needs ``--keep-incomplete``.
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

    Snakemake records the same parameters for all outputs of a job, so that a change to one run's conditions, or to the number of runs per
    job, would make all runs of the job stale. The value is derived from the output's path.
    """
    for rule in _rules(workflow, beginning):
        rule.value_of_output = value_of
    _record_values()


@functools.cache
def _record_values():
    from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase

    finished, changed = PersistenceBase.finished, PersistenceBase.params_changed

    def value_of_output(persistence, job, file):
        return persistence._serialize_param(job.rule.value_of_output(str(file)))

    async def finished_with_values(persistence, job):
        await finished(persistence, job)
        if hasattr(job.rule, "value_of_output"):
            persistence._clear_cache()  # which may contain earlier records
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
                if old != new:
                    changes |= ParamsChange(only_old=old - new, only_new=new - old, files={each})
        return changes

    PersistenceBase.finished, PersistenceBase.params_changed = finished_with_values, params_changed


def look_up_jobs_in(workflow, cache, *beginnings: str) -> None:
    """Look up the outputs of jobs in a cache before they run, and store the outputs there afterwards.

    Snakemake's own between-workflow cache uses the same hook, but it has neither content digests nor a size limit, identifies an image only
    by name, and stores links as results. If all outputs of a job are found, the job doesn't start a container, and its benchmark file
    contains only the header. ``beginnings`` are prefixes of rule names; ``cache`` has the methods of `session.run_cache.RunCache`.
    """
    for rule in _rules(workflow, *beginnings):
        rule.run_cache = cache
    _ask_caches()
    _ask_caches_before_scheduling()


def _rules(workflow, *beginnings):
    """Return the rules whose names start with one of the given prefixes."""
    names = tuple(map(workflow.modifier.modify_rulename, beginnings))
    return (rule for rule in workflow.modifier.rules if rule.name.startswith(names))


@functools.cache
def _ask_caches():
    from snakemake.executors import local

    carry_out = local.Executor.cached_or_run

    def cached_or_run(executor, job, run_func, *args):
        if (cache := getattr(job.rule, "run_cache", None)) is None:
            return carry_out(executor, job, run_func, *args)
        taken = cache.take(job)
        if len(taken) < len(job.output):
            carry_out(executor, job, run_func, *args)
            cache.keep(job, taken)
        else:
            _write_benchmark_without_records(job)

    local.Executor.cached_or_run = cached_or_run


@functools.cache
def _ask_caches_before_scheduling():
    """In one round of scheduling, finish all ready jobs whose output is in a cache; these jobs don't wait for free cores.

    If they waited for cores, an exam with a thousand cached runs would take half a minute longer. Jobs with several outputs, and jobs whose
    old output must be deleted first, are left to `_ask_caches`.
    """
    from snakemake.executors import local
    from snakemake.scheduling.job_scheduler import JobScheduler

    select, run, looked_up, found = JobScheduler.job_selector, JobScheduler.run, set(), set()

    def has_one_new_output(job):
        return not job.is_group() and len(job.output) == 1 and not os.path.exists(job.output[0])

    def is_in_cache(job, executor):
        if job in looked_up or not isinstance(executor, local.Executor):
            return False
        looked_up.add(job)
        cache = getattr(job.rule, "run_cache", None) if has_one_new_output(job) else None
        if cache is None or not cache.take(job, job.register):
            return False
        executor.run_job_pre(job)  # prints the job
        _write_benchmark_without_records(job)
        return True

    def job_selector(scheduler, jobs):
        new = {job for job in jobs if is_in_cache(job, scheduler.get_executor(job))}
        selected = select(scheduler, jobs - new)
        scheduler.update_available_resources(new)  # because Snakemake releases the resources of all finished jobs
        found.update(new)
        return [*selected, *new]

    def run_jobs(scheduler, jobs, executor=None):
        finished = found.intersection(jobs)
        if others := [job for job in jobs if job not in finished]:
            run(scheduler, others, executor)
        if finished:
            found.difference_update(finished)
            with scheduler._lock:
                scheduler._tofinish.extend(finished)
            scheduler._open_jobs.release()

    JobScheduler.job_selector, JobScheduler.run = job_selector, run_jobs


def _write_benchmark_without_records(job):
    from snakemake.benchmark import write_benchmark_records

    if job.benchmark:
        job.benchmark.prepare()
        write_benchmark_records([], str(job.benchmark), False)
