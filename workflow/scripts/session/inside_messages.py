"""Code that uses Snakemake's internals (see `inside_snakemake`) to print, filter and interpret messages."""

import re

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent


def filter_messages(keep) -> None:
    """Filter messages (`logging.LogRecord`) with a function that returns whether to show them."""
    logger.addFilter(keep)


def show_as_one_rule(beginning: str) -> None:
    """Show the jobs of the rules ``<beginning>_<number>`` as jobs of one rule, ``beginning``, in tables, bars and reasons.

    Each job with several runs needs a separate rule, and a large study has thousands of such jobs.
    """
    numbered = re.compile(rf"\b{beginning}_\d+")

    def rename(record):
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            record.stats = _sums(record.stats, lambda name: numbered.sub(beginning, name))
        elif event == LogEvent.JOB_INFO:
            record.rule_name = numbered.sub(beginning, record.rule_name)
        elif event is None and record.getMessage().startswith("Reasons:"):
            names = re.compile(rf"{numbered.pattern}(?:, {numbered.pattern})*")
            record.msg, record.args = names.sub(beginning, record.getMessage()), ()
        return True

    filter_messages(rename)


def _sums(counts, name_of):
    """Return the sum of the counts of all names that ``name_of`` maps to the same name, by this name."""
    sums = {}
    for name, count in counts.items():
        sums[name_of(name)] = sums.get(name_of(name), 0) + count
    return sums


def add_message_handler(handler) -> None:
    """Pass each message to an additional `logging.Handler`; a logger plugin would replace the user's own logger plugin."""
    logger.addHandler(handler)


def bars_of(workflow) -> list:
    """Return the progress bars (`rich.progress.Progress`) of this call's logger plugin; the list may be empty."""
    return [handler.progress for handler in workflow.logger_manager.plugin_handlers if hasattr(handler, "progress")]


def say(sentence: str) -> None:
    """Print a line through Snakemake's logger, which keeps the line unwrapped and the progress bars below the line."""
    logger.info(sentence, extra={"is_own": True})


def is_own(record) -> bool:
    """Return whether a message comes from `say`."""
    return getattr(record, "is_own", False)


def is_end_of_planning(record) -> bool:
    """Return whether a message reports that the user stopped the workflow before its first job, in which case no `onerror:` runs."""
    return record.getMessage() == "Cancelling snakemake on user request."


def progress_of(record) -> tuple[int, int] | None:
    """Return the numbers of finished and planned jobs in a progress message, or None for other messages."""
    return (record.done, record.total) if getattr(record, "event", None) == LogEvent.PROGRESS else None


def is_failure_of_job(record) -> bool:
    """Return whether a message reports a failed job."""
    return getattr(record, "event", None) == LogEvent.JOB_ERROR


def failure_of_job(record) -> tuple[str, list[str]] | None:
    """Return the scheduler's message about a failed job and the paths of the job's logs (the job's own first); None for other messages."""
    if is_failure_of_job(record) and record.rule_msg and record.log:
        return record.rule_msg, list(record.log)
    return None
