"""Walk through a folder of unknown origin without following links, and no deeper than results folders are nested."""

import os
from collections.abc import Iterator

from publishing.result_checks.received_errors import ReceivedError, shown

#: Deepest nesting of folders; a run document is in five folders, or six in an archive.
DEEPEST = 12


def files_below(folder: str | os.PathLike, leave_out: tuple[str, ...] = ()) -> Iterator[tuple[str, os.DirEntry]]:
    """Yield all entries of a folder that aren't folders, with relative paths; links are not followed.

    Entries with names in ``leave_out`` are skipped in the folder itself, but not in subfolders.

    Raises `ReceivedError` if folders are nested more than `DEEPEST` deep.
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
                if not parts and entry.name in leave_out:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((*parts, entry.name))
                else:
                    yield "/".join((*parts, entry.name)), entry
