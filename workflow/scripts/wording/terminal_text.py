"""Make text of unknown origin safe to print on a terminal."""


def said(text: object) -> str:
    """Return one of Sawtooth's own sentences for the terminal; file names in it may contain escape codes.

    Messages that don't end the program are printed by `testbed.machine.messages.tell`.
    """
    return "\n".join(_harmless(line) for line in f"sawtooth: {text}".split("\n"))


def shown(text: object, length: int = 200) -> str:
    """Return text of unknown origin for a message: control characters escaped, shortened.

    A file name or a value may contain escape codes, which a terminal would obey.
    """
    text = _harmless(str(text)[: length + 1])
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _harmless(text):
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
