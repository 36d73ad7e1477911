"""The digest that identifies a program: it depends on the code of the program's modules, but not on comments, docstrings and layout.

A run document contains the digest of the program that wrote it. If the digest changes, finished runs become stale. The digest is
computed from the tokens of each module and is the same under every Python version since 3.11. Syntax trees are not hashed, because they
differ between versions.
"""

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

WORKFLOW = Path(__file__).parents[2]
#: The packages that execute a run on Linux, and the additional package for a simulator.
TESTBED = (WORKFLOW / "experiment", WORKFLOW / "testbed")
SIMULATOR = WORKFLOW / "simulator"
#: Markers for line ends and blocks. No token of a module can be equal to a marker.
LINE_END, INDENT, DEDENT = "\n", "\x01", "\x02"
MARKERS = {tokenize.NEWLINE: LINE_END, tokenize.INDENT: INDENT, tokenize.DEDENT: DEDENT}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER}
#: Since Python 3.12 an f-string consists of several tokens (PEP 701), and since 3.14 so does a t-string (PEP 750).
STRING_STARTS, STRING_ENDS = {"FSTRING_START", "TSTRING_START"}, {"FSTRING_END", "TSTRING_END"}
PAIRS = {")": "(", "]": "[", "}": "{"}


def program_identity(specification) -> str:
    """Return the digest of the testbed that executes a run.

    This is the specification's ``testbed_digest`` if it has one; otherwise the digest is computed here.
    """
    return specification.testbed_digest or package_digest(*TESTBED)


def package_digest(*folders, of_module=None) -> str:
    """Return the digest of packages, computed from the names and the code of their modules, including modules in subfolders.

    Parameters
    ----------
    *folders : pathlib.Path
        Folder of each package.
    of_module : callable, optional
        Function to use instead of `module_digest`, such as one that caches its results.
    """
    lines = (
        f"{folder.name}/{module.relative_to(folder)} {(of_module or module_digest)(module.read_bytes())}\n"
        for folder in folders
        for module in modules_of(folder)
    )
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def content_digest(*folders) -> str:
    """Return the SHA-256 of the names and contents of all modules in packages, in hexadecimal digits."""
    digest = hashlib.sha256()
    for folder in folders:
        for module in modules_of(folder):
            content = module.read_bytes()
            digest.update(f"{folder.name}/{module.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def modules_of(folder) -> list[Path]:
    """Return the sorted paths of the modules in a package and its subfolders."""
    return sorted(folder.rglob("*.py"))


@cache
def module_digest(content) -> str:
    """Return the SHA-256 of a module's code, in hexadecimal digits.

    ``content`` is the content of the module's file. Raises `SyntaxError` if it is not Python, and `UnicodeDecodeError` if it is not UTF-8.
    """
    tokens = meaningful_tokens(content.decode("utf-8-sig").replace("\r\n", "\n"))
    return hashlib.sha256("\0".join(tokens).encode()).hexdigest()


def meaningful_tokens(source) -> list[str]:
    """Return the tokens that can affect a module's behaviour, with markers for line ends and for the beginning and the end of blocks."""
    effectless, call_ends = _places(source)
    kept, end = [], (0, 0)
    for start, text in _tokens(source):
        end = effectless.get(start, end)
        if start >= end:
            if start in call_ends and kept[-1] == ",":
                kept.pop()
            _append(kept, text)
    return _without_trailing_commas(kept)


def _append(kept, text) -> None:
    """Append a token, unless it ends an empty line or an empty block.

    If the token ends an empty block, the start of the block is removed.
    """
    if text == DEDENT and kept[-1:] == [INDENT]:
        kept.pop()
    elif text != LINE_END or (kept and kept[-1] not in MARKERS.values()):
        kept.append(text)


def _places(source) -> tuple[dict, set]:
    """Return the statements without effect in a module (start -> end), and the positions of the closing brackets of calls.

    A statement without effect is either ``pass`` or only a string, such as a docstring. A position is a line and a column.
    """
    lines, effectless, call_ends = source.split("\n"), {}, set()

    def place(line, offset):  # the syntax tree counts bytes
        return line, len(lines[line - 1].encode()[:offset].decode())

    for node in _nodes(ast.parse(source)):
        if isinstance(node, ast.Pass) or _is_text(node):
            effectless[place(node.lineno, node.col_offset)] = place(node.end_lineno, node.end_col_offset)
        elif isinstance(node, ast.Call):
            call_ends.add(place(node.end_lineno, node.end_col_offset - 1))
    return effectless, call_ends


def _nodes(tree) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree except those inside f-strings, whose positions are wrong before Python 3.12."""
    waiting = [tree]
    while waiting:
        yield (node := waiting.pop())
        waiting += (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.JoinedStr))


def _is_text(node) -> bool:
    """Return whether a node is a statement that is only a string."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)


def _tokens(source) -> Iterator[tuple[tuple, str]]:
    """Yield the position and the text of each token except layout; an f-string is a single token, whose text is its source."""
    lines, depth, begin = source.split("\n"), 0, None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind in STRING_STARTS:
            begin, depth = begin if depth else token.start, depth + 1
        elif kind in STRING_ENDS:
            depth -= 1
            if not depth:
                yield begin, _between(lines, begin, token.end)
        elif not depth and token.type not in LAYOUT:
            yield token.start, MARKERS.get(token.type, token.string)


def _between(lines, start, end) -> str:
    """Return the source between two positions."""
    (first, left), (last, right) = start, end
    if first == last:
        return lines[first - 1][left:right]
    return "\n".join([lines[first - 1][left:], *lines[first : last - 1], lines[last - 1][:right]])


def _without_trailing_commas(tokens) -> list[str]:
    """Return tokens without trailing commas in brackets, which a formatter may add.

    A trailing comma is removed only if the brackets contain another comma, because a single comma may make a tuple. Brackets that contain a
    lambda are not changed, because their commas may separate the lambda's arguments.
    """
    kept, commas = [], []
    for text in tokens:
        if text in PAIRS.values():
            commas.append(0)
        elif text in PAIRS and commas.pop() > 1 and kept[-1] == ",":
            kept.pop()
        elif commas and text in (",", "lambda"):
            commas[-1] += 1 if text == "," else -float("inf")
        kept.append(text)
    return kept
