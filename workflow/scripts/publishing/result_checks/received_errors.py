"""What is wrong with something received, said so that a terminal can show it."""

from wording.terminal_text import shown  # noqa: F401, for who raises these errors


class ReceivedError(ValueError):
    """Something received can't be what it should be; the text says what and why, in one sentence."""
