"""Walk through a folder of unknown origin without following links, and only to the depth that results need."""

import os
from collections.abc import Iterator

from publishing.result_checks.received_errors import ReceivedError, shown

#: Maximum nesting depth of folders. A run document is five folders deep, or six in an archive.
DEEPEST = 12


def files_below(folder: str | os.PathLike) -> Iterator[tuple[str, os.DirEntry]]:
    """Yield the relative path and the entry of each non-folder below a folder; links are not followed.

    Raises `ReceivedError` if folders are nested more than `DEEPEST` levels deep.
    """
    waiting = [()]
    while waiting:
        parts = waiting.pop()
        if len(parts) > DEEPEST:
            raise ReceivedError(
                f"{shown('/'.join(parts))} is nested more than {DEEPEST} folders deep, which results never are."
            )
        with os.scandir(os.path.join(folder, *parts)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((*parts, entry.name))
                else:
                    yield "/".join((*parts, entry.name)), entry
