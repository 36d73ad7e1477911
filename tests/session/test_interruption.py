"""Ctrl-C while a message is printed: it is recorded at once, and raised once the message has been printed."""

import logging
import signal
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
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
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
