"""Errors in received data, with texts that are safe to print on a terminal."""

from wording.terminal_text import shown  # noqa: F401, for modules that raise these errors


class ReceivedError(ValueError):
    """Received data is invalid; the message names the data and the reason in one sentence."""
