"""Progress lines in a log file: one per minute, however many jobs end."""

import io
import logging

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from session.progress_lines import OTHER_JOB_S, ProgressLines, WorkLeft, version_of_file


def lines_of(seconds, total):
    """Return the lines about jobs that end at these seconds, none of them a run."""
    now, stream = 0.0, io.StringIO()
    handler = ProgressLines(stream, WorkLeft(clock=lambda: now), clock=lambda: now)
    for done, now in enumerate(seconds, 1):  # noqa: B007, the clock reads it
        handler.emit(logging.makeLogRecord({"event": LogEvent.PROGRESS, "done": done, "total": total}))
    return [line[20:] for line in stream.getvalue().splitlines()]


def test_a_line_a_minute_with_the_time_left():
    """The first line is based on the usual duration of such jobs."""
    assert lines_of(range(1, 201), 200) == [
        "1 of 200 jobs done (0 %), about 10 min left",
        "61 of 200 jobs done (30 %), about 2 min left",
        "121 of 200 jobs done (60 %), about 1 min left",
        "181 of 200 jobs done (90 %), about 1 min left",
        "200 of 200 jobs done (100 %)",
    ]


def test_slow_jobs_have_a_line_each():
    assert lines_of([600, 1200], 4) == [
        "1 of 4 jobs done (25 %), about 30 min left",
        "2 of 4 jobs done (50 %), about 20 min left",
    ]


def test_other_messages_have_none():
    stream = io.StringIO()
    ProgressLines(stream, WorkLeft()).emit(logging.makeLogRecord({"msg": "1 of 2"}))
    assert stream.getvalue() == ""


def begun(runs, cores, times, there=(), planned=dict):
    """Return the `WorkLeft` of planned runs that have just begun, and the existing documents: path -> version."""
    documents, times = dict.fromkeys(there, "old"), iter((0.0, *times))
    work_left = WorkLeft(clock=lambda: next(times), version_of=documents.get)
    work_left.begin(runs, cores, planned)
    return work_left, documents


def left(runs, cores, ended, now):
    """Return the seconds left after some documents exist; the jobs are the runs and one other."""
    work_left, documents = begun(runs, cores, (0.0, *[now] * 9))
    documents |= dict.fromkeys(ended, "new")
    return work_left._seconds(len(ended), len(runs) + 1)


def test_time_left_is_that_of_the_runs_and_not_of_their_number():
    """Ten short runs of ten short and one long one are done: an estimate from their number would be half a minute."""
    runs = {f"short {n}": 1.0 for n in range(10)} | {"long": 1000.0}
    ended = {f"short {n}" for n in range(10)}
    assert left(runs, 2, ended, now=5.0) == (1000 + OTHER_JOB_S) / 2
    # As slow as those that are done, from some of them on.
    runs["long"] = 100.0
    assert left(runs, 2, ended, now=40.0) == pytest.approx((100 + OTHER_JOB_S) / (10 / 40))
    # A cluster says no number of cores.
    assert left(runs, None, set(), now=1.0) == 110 + OTHER_JOB_S


def test_a_job_of_several_runs_counts_by_the_documents_that_are_there():
    work_left, documents = begun(dict.fromkeys("abcd", 10.0), 1, [0.0, 50.0, 50.0])
    documents |= {"a": "new", "b": "new"}
    assert work_left._seconds(0, 1) == pytest.approx(20 / (20 / 50))


def test_copied_documents_are_neither_work_nor_pace():
    """A hundred of 110 runs were copied within a second: the rest takes as long as if there had been ten runs."""
    runs = {f"copied {n}": 10.0 for n in range(100)} | {f"run {n}": 10.0 for n in range(10)}
    ended = {name for name in runs if name.startswith("copied")}
    work_left, documents = begun(runs, 2, [0.0, *[1.0] * 9])
    documents |= dict.fromkeys(ended, "new")
    work_left.copied |= ended
    assert work_left._seconds(len(ended), len(runs) + 1) == (10 * 10 + OTHER_JOB_S) / 2


def test_documents_that_are_to_be_replaced_are_work():
    """After a change to the study, all documents exist and all runs are planned."""
    work_left, documents = begun(dict.fromkeys("abcd", 60.0), 1, [0.0, *[100.0] * 9], there="abcd")
    assert work_left._seconds(0, 4) == 240
    documents["a"] = "new"
    assert work_left._seconds(1, 4) == pytest.approx(180 / (60 / 100))
    del documents["b"]  # its run has begun
    assert work_left._seconds(1, 4) == pytest.approx(180 / (60 / 100))


def test_runs_that_are_planned_after_an_interim_look_count():
    more = dict.fromkeys("cd", 600.0)
    work_left, documents = begun(
        dict.fromkeys("ab", 600.0), 1, [0.0, 600.0, 600.0, 600.0, *[1200.0] * 9], planned=lambda: more
    )
    documents["a"] = "new"
    work_left.planned = dict
    assert work_left.words(1, 2) == "about 10 min"
    documents["b"], work_left.planned = "new", lambda: more
    assert work_left.words(2, 4) == "about 20 min"


def test_a_version_of_a_file_is_new_once_it_was_replaced(tmp_path):
    file = tmp_path / "document"
    assert version_of_file(file) is None
    file.touch()
    first = version_of_file(file)
    other = tmp_path / "other"
    other.touch()
    other.replace(file)
    assert version_of_file(file) not in (None, first)
