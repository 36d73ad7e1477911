"""What is wrong with something received, said so that a terminal can show it."""


class ReceivedError(ValueError):
    """Something received can't be what it should be; the text says what and why, in one sentence."""


def shown(text, length=200) -> str:
    """Return text of unknown origin for a message: control characters escaped, shortened.

    A file's name or a value may hold escape codes, which a terminal would obey.
    """
    text = "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in str(text)[: length + 1]
    )
    return text if len(text) <= length else f"{text[: length - 3]}..."
