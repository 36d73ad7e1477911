"""Ctrl-C while a message is printed: it is recorded at once, and raised once the message has been printed."""

import logging
import os
import signal
import threading
import time

import pytest

from session.interruption import Interruption


def test_a_message_is_printed_whole_before_python_is_interrupted():
    interruption, printed = Interruption("s", [], "make"), []

    class Slow(logging.Handler):
        def emit(self, record):
            signal.raise_signal(signal.SIGINT)
            printed.append(record.getMessage())

    logger = logging.Logger("one that is interrupted")
    logger.addHandler(Slow())
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    try:
        logger.info("whole")
        assert interruption.is_asked and printed == ["whole"]
        nothing, end = os.pipe()
        rescue = threading.Timer(10, os.close, [end])
        rescue.start()
        with pytest.raises(KeyboardInterrupt):
            os.read(nothing, 1)  # a signal that another thread gets doesn't end it
        assert rescue.is_alive()
        rescue.cancel()
    finally:
        signal.signal(signal.SIGINT, before)


def test_elsewhere_python_is_interrupted_at_once():
    interruption = Interruption("s", [], "make")
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
            pytest.fail("it was not interrupted")
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_jobs_exception_waits_for_the_signal_that_ended_the_job():
    interruption, shown = Interruption("s", [], "make"), []
    error = logging.LogRecord("snakemake", logging.ERROR, "", 0, "RuleException", (), None)
    job = threading.Thread(target=lambda: shown.append(interruption.is_shown(error)))
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    try:
        job.start()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(0.1)
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    job.join()
    assert shown == [False]


def test_a_jobs_exception_is_shown_if_nobody_interrupts():
    interruption, shown = Interruption("s", [], "make"), []
    error = logging.LogRecord("snakemake", logging.ERROR, "", 0, "RuleException", (), None)
    job = threading.Thread(target=lambda: shown.append(interruption.is_shown(error)))
    job.start()
    job.join()
    assert shown == [True]
