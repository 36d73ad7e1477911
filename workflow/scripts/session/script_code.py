"""What a script of a rule consists of: its own code and that of all modules that it imports from here, as a digest.

Snakemake notices a changed script by itself, but not what the script imports. As a parameter of its rule the digest makes
what a changed module can change stale, and nothing else: comments, docstrings, layout, the types of functions'
arguments and results, and the prose of columns' declarations (which only report and documentation print) are no part
of it.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
#: Where columns are declared by functions -> how many of their arguments are not prose.
DECLARATIONS = "run_tables.table"
PLAIN_ARGUMENTS = {"text": 1, "truth": 1, "ordinal": 1, "number": 2, "count": 2, "interval": 3}


def code_of(*scripts: str) -> str:
    """Return the digest, 16 hex digits, of scripts with all that they import.

    A script is its path from this folder without ``.py``: ``topics/cells/describe_cells``. FileNotFoundError: there
    is none.
    """
    paths = sorted({path for script in scripts for path in (f"{script}.py", *modules_of(script))})
    return hashlib.sha256("\n".join(f"{path} {_digest(path)}" for path in paths).encode()).hexdigest()[:16]


@lru_cache
def modules_of(script: str) -> tuple[str, ...]:
    """Return the modules that a script imports from this folder, directly or through others: paths from here, sorted."""
    own, known = f"{script}.py", set()
    waiting = [own]
    while waiting:
        for path in _imported(_tree(waiting.pop())):
            if path not in known and (SCRIPTS / path).exists():
                known.add(path)
                waiting.append(path)
    return tuple(sorted(known - {own}))


@lru_cache
def _tree(path: str) -> ast.Module:
    return ast.parse((SCRIPTS / path).read_text(encoding="utf-8"))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]  # a folder's module
        yield from (f"{name.replace('.', '/')}.py" for name in names)


@lru_cache
def _digest(path: str) -> str:
    tree = _WithoutProse(_declaring(_tree(path))).visit(ast.parse(ast.unparse(_tree(path))))
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _declaring(tree: ast.Module) -> set[str]:
    """Return the names by which a module calls the functions that declare columns."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == DECLARATIONS
        for alias in node.names
        if alias.name in PLAIN_ARGUMENTS
    }


class _WithoutProse(ast.NodeTransformer):
    """Take out docstrings, types of functions, and what only readers of a column's declaration see."""

    def __init__(self, declaring):
        self.declaring = declaring

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
            node.args, node.keywords = node.args[: PLAIN_ARGUMENTS[node.func.id]], []
        return self.generic_visit(node)
