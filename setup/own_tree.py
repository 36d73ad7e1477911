"""Combine the read-only source tree of a base with copies of the files that a study changes.

Links to the base's files can't be used, because a build could write through a link to a file that the next build reads. Copying the entire
tree would take as long as the build. Therefore patches are applied to copies of the files that they name, and the copies are mounted over
the base's files. If files are added to or removed from a folder, the folder is copied, because in a read-only folder a file can be mounted
only over an existing file.
"""

import os
import re
import shutil
import stat
from pathlib import Path, PurePosixPath

from progress import SetupError

#: Pattern of the paths that patches may change. Apptainer's `--bind` would misread other paths (with colons or commas).
PATH = re.compile(r"[\w.+@=-]+(/[\w.+@=-]+)*", re.A)
#: Pattern of the file names in a unified diff, including those in Git's headers.
NAMED = re.compile(
    rb"^(?:(?:---|\+\+\+|Index:) ([^\t\r\n]+)|diff --git (\S+) (\S+)|(?:rename|copy) (?:from|to) ([^\r\n]+))", re.M
)
#: Maximum number of files that are mounted individually. If there are more, the entire tree is copied.
MOST_MOUNTED = 256


def named_files(patches) -> set[str]:
    """Return the paths that patches (bytes) may change; which of these paths change depends on `patch --strip=1`."""
    found = set()
    for patch in patches:
        for match in NAMED.finditer(patch):
            for name in filter(None, match.groups()):
                # Paths in Git's lines about renames have no prefix that could be stripped.
                text = name.decode(errors="replace").strip()
                found |= {text, text.partition("/")[2]}
    return {path for path in found if is_allowed(path)}


def is_allowed(path) -> bool:
    """Return whether a path stays inside its top folder, and contains only characters that `--bind` accepts."""
    return bool(PATH.fullmatch(path)) and not {".", ".."} & set(path.split("/"))


def is_plain(folder, path) -> bool:
    """Return whether a path in a folder leads to a regular file, and no part of the path is a symbolic link."""
    *above, _ = (folder / part for part in (*reversed(PurePosixPath(path).parents), path))
    try:
        return all(stat.S_ISDIR(os.lstat(part).st_mode) for part in above) and stat.S_ISREG(
            os.lstat(folder / path).st_mode
        )
    except (FileNotFoundError, NotADirectoryError):
        return False


def copy_files(source, paths, tree) -> dict[str, bytes]:
    """Copy those of the given paths that are regular files from ``source`` to ``tree``, and return the files' contents by path."""
    contents = {}
    for path in sorted(paths):
        if is_plain(source, path):
            contents[path] = (source / path).read_bytes()
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / path, tree / path)
    return contents


def mounts(source, tree, had, work) -> list[tuple[Path, str]]:
    """Return the mounts that combine a base's source tree with the changed files in ``tree``, in mounting order.

    Parameters
    ----------
    source : pathlib.Path
        Source tree of the base.
    tree : pathlib.Path
        Folder with the copies from `copy_files`, to which patches have been applied.
    had : dict
        Result of `copy_files`.
    work : pathlib.Path
        Folder for copies of folders in which files were added or removed.

    Returns
    -------
    list of (pathlib.Path, str)
        File or folder to mount, and its path in the combined tree. The first element is the base's tree, with the path "".

    Raises
    ------
    SetupError
        If patches created something other than a regular file, or a file whose name prevents mounting.
    """
    has = {path: tree / path for path in _regular_files(tree)}
    changed = {
        path
        for path, file in has.items()
        if file.read_bytes() != had.get(path) or _is_program(file) != _is_program(source / path)
    }
    moved = {path for path in changed if not is_plain(source, path)} | (had.keys() - has.keys())
    folders = _outermost({_folder_of(source, path) for path in moved})
    single = {path for path in changed if not any(_is_below(path, folder) for folder in folders)}
    if len(single) > MOST_MOUNTED:
        folders, single = [""], set()
    made = [(source, "")]
    for number, folder in enumerate(folders):
        copy = work / f"folder-{number}"
        shutil.copytree(source / folder, copy, symlinks=True)
        for path in sorted(had.keys() | changed):
            if _is_below(path, folder):
                below = copy / os.path.relpath(path, folder or ".")
                if path in has:
                    below.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(has[path], below)
                else:
                    below.unlink(missing_ok=True)
        made.append((copy, folder))
    return made + [(has[path], path) for path in sorted(single)]


def _is_program(file):
    return bool(file.stat().st_mode & 0o100)


def _regular_files(tree):
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = os.path.relpath(os.path.join(folder, name), tree)
            mode = os.lstat(os.path.join(folder, name)).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise SetupError(f"a patch creates {path}, which is not a regular file; allowed: regular files.")
            if not is_allowed(path):
                raise SetupError(f"a patch creates {path!r}; allowed in names: letters, digits and _.+@=-")
            if stat.S_ISREG(mode):
                yield path


def _folder_of(source, path):
    """Return the innermost folder on a path that exists in the base's tree, or "" for the tree itself."""
    inside = ""
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        if (source / parent).is_symlink():
            raise SetupError(f"a patch changes {path}, and {parent} is a link in that tree.")
        if not (source / parent).is_dir():
            break
        inside = str(parent)
    return inside


def _outermost(folders):
    return sorted(one for one in folders if not any(one != other and _is_below(one, other) for other in folders))


def _is_below(path, folder):
    return folder == "" or path == folder or path.startswith(folder + "/")
