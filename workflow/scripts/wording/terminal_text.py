"""Make text of unknown origin safe to print on a terminal."""


def said(text: object) -> str:
    """Return a sentence from Sawtooth for the terminal, with control characters (which file names may contain) escaped.

    Messages that don't end the program are printed by `testbed.machine.messages.tell`.
    """
    return "\n".join(_harmless(line) for line in f"sawtooth: {text}".split("\n"))


def shown(text: object, length: int = 200) -> str:
    """Return text of unknown origin for a message, with control characters escaped, and shortened to ``length`` characters.

    A file name or a value may contain escape sequences, which a terminal would execute.
    """
    text = _harmless(str(text)[: length + 1])
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _harmless(text):
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
