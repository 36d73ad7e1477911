"""Lines on progress in a log file: one a minute, however many jobs end."""

import io
import logging

from snakemake_interface_logger_plugins.common import LogEvent

from session.progress_lines import ProgressLines


def lines_of(seconds, total):
    """Return the lines on jobs that end at these seconds."""
    now, stream = 0.0, io.StringIO()
    handler = ProgressLines(stream, clock=lambda: now)
    for done, now in enumerate(seconds, 1):  # noqa: B007, the clock reads it
        handler.emit(logging.makeLogRecord({"event": LogEvent.PROGRESS, "done": done, "total": total}))
    return [line[20:] for line in stream.getvalue().splitlines()]


def test_a_line_a_minute_with_the_time_left():
    assert lines_of(range(1, 201), 200) == [
        "1 of 200 jobs done (0 %), about 3 min left",
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
    ProgressLines(stream).emit(logging.makeLogRecord({"msg": "1 of 2"}))
    assert stream.getvalue() == ""
