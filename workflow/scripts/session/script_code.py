"""Compute a digest of the code of a rule's script and of all modules that the script imports from ``workflow/scripts``.

Snakemake notices a changed script, but not changes to the modules that the script imports. The digest is a parameter of the script's rule,
so after a change to a module, only the outputs that the module can affect become stale. Comments, docstrings, layout, type annotations
of functions, and the prose in column declarations (printed only in the report and the documentation) don't affect the digest. Results of
reading modules are cached (`session.module_memory`).
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from session import module_memory

SCRIPTS = Path(__file__).resolve().parents[1]
#: Module with the functions that declare columns; for each function, the number of leading arguments that aren't prose.
DECLARATIONS = "run_tables.table"
PLAIN_ARGUMENTS = {
    "text_column": 1,
    "truth_column": 1,
    "ordinal_column": 1,
    "number_column": 2,
    "count_column": 2,
    "interval_columns": 3,
    "mean_of": 1,
}
#: Keyword arguments that aren't prose: bounds of values.
PLAIN_NAMES = {"least", "most"}


def code_of(*scripts: str) -> str:
    """Return a digest (16 hex digits) of scripts and of all modules that they import from `SCRIPTS`.

    A script is given by its path relative to `SCRIPTS`, without ``.py``: ``topics/cells/describe_cells``. Raises
    FileNotFoundError if a script doesn't exist.
    """
    with module_memory.kept():
        paths = sorted({path for script in scripts for path in (f"{script}.py", *modules_of(script))})
        lines = [f"{path} {_read(path).digest}" for path in paths]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def modules_of(script: str) -> tuple[str, ...]:
    """Return the modules that a script imports from `SCRIPTS`, directly or indirectly, as sorted paths relative to `SCRIPTS`."""
    own, known = f"{script}.py", set()
    waiting = [own]
    while waiting:
        new = _read(waiting.pop()).imported - known
        known |= new
        waiting += new
    return tuple(sorted(known - {own}))


class _Module(NamedTuple):
    """The digest of a module's own code, and the modules that the module imports from `SCRIPTS`."""

    digest: str
    imported: frozenset[str]


@cache
def _read(path: str) -> _Module:
    digest, *imported = module_memory.read_once(_read_code, (SCRIPTS / path).read_bytes())
    paths = (f"{name.replace('.', '/')}.py" for name in imported)
    return _Module(digest, frozenset(path for path in paths if _exists(path)))


def _read_code(content) -> list[str]:
    """Return the digest of a module's own code, followed by the names that the module imports."""
    reader = _WithoutProse()
    tree = reader.visit(ast.parse(content))
    return [hashlib.sha256(ast.dump(tree).encode()).hexdigest(), *sorted(reader.imported)]


@cache
def _exists(path: str) -> bool:
    return (SCRIPTS / path).exists()


class _WithoutProse(ast.NodeTransformer):
    """Remove docstrings, type annotations of functions, and the prose in column declarations; collect the imports."""

    def __init__(self):
        self.imported: set[str] = set()
        self.declaring: set[str] = set()  # names under which the module calls the functions that declare columns

    def visit_Import(self, node):
        self.imported.update(alias.name for alias in node.names)
        return node

    def visit_ImportFrom(self, node):
        if node.module:
            self.imported |= {
                node.module,
                *(f"{node.module}.{alias.name}" for alias in node.names),
            }  # the imported name may be a module in a folder
        if node.module == DECLARATIONS:
            self.declaring |= {alias.asname or alias.name for alias in node.names if alias.name in PLAIN_ARGUMENTS}
        return node

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in self.declaring:
            node.args = node.args[: PLAIN_ARGUMENTS[node.func.id]]
            node.keywords = [word for word in node.keywords if word.arg in PLAIN_NAMES]
        return self.generic_visit(node)
