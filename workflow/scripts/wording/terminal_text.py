"""Text of unknown origin, so that a terminal can show it."""


def shown(text: object, length: int = 200) -> str:
    """Return text of unknown origin for a message: control characters escaped, shortened.

    A file's name or a value may hold escape codes, which a terminal would obey.
    """
    text = "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in str(text)[: length + 1]
    )
    return text if len(text) <= length else f"{text[: length - 3]}..."
