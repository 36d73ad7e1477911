"""The modules that a script imports from here and the folders beside it: what a rule declares, so that a change reruns it."""

import ast
from functools import lru_cache
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent


@lru_cache
def modules_of(script):
    """Return the modules that a script of this folder imports, directly or through others.

    Snakemake notices a changed script by itself, but not what the script imports.

    Parameters
    ----------
    script : str
        Its name without ``.py``.

    Returns
    -------
    tuple of str
        Paths relative to the workflow's root, sorted; the script's own is not among them.

    Raises
    ------
    FileNotFoundError
        If there is no such script.
    """
    found, waiting = set(), [f"{script}.py"]
    while waiting:
        tree = ast.parse((SCRIPTS / waiting.pop()).read_text(encoding="utf-8"))
        for name in _imported(tree):
            path = f"{name.replace('.', '/')}.py"
            if path not in found and (SCRIPTS / path).exists():
                found.add(path)
                waiting.append(path)
    return tuple(f"workflow/scripts/{path}" for path in sorted(found - {f"{script}.py"}))


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a folder's module
