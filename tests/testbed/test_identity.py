"""The identity of the testbed: changed code changes it; comments, docstrings and layout don't."""

import ast
import io
import re
import tokenize

import pytest

from experiment.specification import RunSpecification
from testbed.job import still_valid
from testbed.machine import identity
from testbed.machine.identity import SIMULATOR, TESTBED, module_digest, package_digest, program_identity

MODULES = [path for folder in (*TESTBED, SIMULATOR) for path in sorted(folder.rglob("*.py"))]
MODULE = '''\
"""A queue."""

import os  # of the machine

#: How long.
LIMIT = 10


class Full(Exception):
    """It is full."""


def put(queue, packet, note="a # b"):
    """Put a packet into it."""
    if len(queue) >= LIMIT:
        raise Full(f"{packet!r}: {'none' if not queue else len(queue):>5}")
        queue.pop()
    text = """two  lines,
    # the second"""
    queue.append((packet, note, text), os.sep)
    return (packet,)
'''
SAME = {
    "another comment": ("# of the machine", "# whose?"),
    "no comment": ("  # of the machine", ""),
    "a comment that is a line": ("    queue.append", "# here\n    queue.append"),
    "another docstring": ('"""Put a packet into it."""', "'''Put it\n\n        there.'''"),
    "a docstring in brackets": ('"""Put a packet into it."""', '("Put a packet "\n        "into it.")'),
    "no docstring": ('    """Put a packet into it."""\n', ""),
    "no docstring of the module": ('"""A queue."""\n\n', ""),
    "no docstring where it is all": ('    """It is full."""\n', "    pass\n"),
    "a docstring in the same line": (':\n    """It is full."""\n', ': "Full."\n'),
    "two docstrings": ('"""It is full."""', '"""It is full."""\n    """Really."""'),
    "blank lines": ("    if len", "\n\n    if len"),
    "blanks at the end": ("LIMIT = 10", "LIMIT = 10   "),
    "blanks between": ("LIMIT = 10", "LIMIT  =  10"),
    "a wrapped call": ("queue.append((packet, note, text), os.sep)", "queue.append(\n  (packet, note, text),\n  os.sep,\n)"),
    "a wrapped tuple": ("(packet, note, text)", "(\n        packet,\n        note,\n        text,\n    )"),
    "a wrapped signature": ('put(queue, packet, note="a # b")', 'put(\n    queue,\n    packet,\n    note="a # b",\n)'),
    "a wrapped condition": ("len(queue) >= LIMIT", "len(\n        queue,\n    ) >= LIMIT"),
    "line ends of Windows": ("\n", "\r\n"),
}  # fmt: skip
OTHER = {
    "a number": ("LIMIT = 10", "LIMIT = 11"),
    "a name": ("LIMIT", "MOST"),
    "an operator": (">=", ">"),
    "an indentation": ("        queue.pop()", "    queue.pop()"),
    "a string with a #": ("a # b", "a # c"),
    "blanks in a string": ("two  lines", "two lines"),
    "indentation in a string": ("\n    # the second", "\n  # the second"),
    "text of an f-string": ("!r}: ", "!r}; "),
    "an expression of an f-string": ("'none' if not", "'no' if not"),
    "a format of an f-string": (":>5}", ":>6}"),
    "blanks in an f-string": ("!r}: ", "!r}:  "),
    "quotes of a string": ('"a # b"', "'a # b'"),
    "a tuple that is none": ("(packet,)", "(packet)"),
    "a deleted statement": ("    queue.append((packet, note, text), os.sep)\n", ""),
    "a string that is returned": ("return (packet,)", 'return "it"'),
    "a docstring that is a value": ('    """Put a packet into it."""', '    about = """Put a packet into it."""'),
}


def digest_of(text):
    return module_digest(text.encode())


def edited(old, new):
    assert old in MODULE
    return MODULE.replace(old, new)


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_what_has_no_effect_is_no_part_of_it(edit):
    assert digest_of(edited(*edit)) == digest_of(MODULE)


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_what_has_an_effect_is_part_of_it(edit):
    assert digest_of(edited(*edit)) != digest_of(MODULE)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("if a:\n    'x'\n    b()\n", "if a:\n    'x'\nb()\n"),
        ("class A: 'x'; b = 1\n", "class A: 'x'\nb = 1\n"),
        ("if a:\n    if b: pass\n    else: c()\n", "if a:\n    if b: pass\nelse: c()\n"),
        ("x = (lambda a, b: a,)\n", "x = (lambda a, b: a)\n"),
        ("x[a,]\n", "x[a]\n"),
        ("b'x'\n", "'x'\n"),
        ("f'{x()}'\n", "'x'\n"),
        ("x = 'a'\n'b'\n", "x = ('a'\n'b')\n"),
    ],
)
def test_what_looks_alike_is_told_apart(first, second):
    assert digest_of(first) != digest_of(second)


def test_a_module_that_cannot_be_read_is_refused():
    with pytest.raises(SyntaxError):
        digest_of("if:\n")


def test_the_place_of_an_f_string_counts_characters():
    """Not bytes: there are characters of several bytes before and in it."""
    text = "name = 'Høiland-Jørgensen', f'{a}ü', f'''{b}\n{'ä'}'''  # Täht\n"
    assert identity.meaningful_tokens(text) == [
        "name", "=", "'Høiland-Jørgensen'", ",", "f'{a}ü'", ",", "f'''{b}\n{'ä'}'''", "\n",
    ]  # fmt: skip


def without_comments(text):
    """Return a module without its comments, found by the positions of tokens, which is not the digest's method."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            lines[line - 1] = lines[line - 1][:column].rstrip(" ") + "\n"
    return "".join(lines)


def with_more_text(text):
    """Return a module with a comment before each statement that begins a line, and with every docstring replaced."""
    tree, lines = ast.parse(text), text.split("\n")
    before = {
        node.lineno: node.col_offset for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.Return, ast.For))
    }
    strings = [
        node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", 0), str)
    ]  # fmt: skip
    docs = {node.lineno: node for node in strings}
    for number in sorted(before.keys() | docs.keys(), reverse=True):
        if number in docs:
            node = docs[number]
            lines[number - 1 : node.end_lineno] = [" " * node.col_offset + '"""Something else: "# no comment"."""']
        elif not lines[number - 1][: before[number]].strip():
            lines.insert(number - 1, "# one more, (with a bracket")
    return "\n".join(lines)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_of_each_module_only_code_counts(path):
    text = path.read_text(encoding="utf-8")
    digest = module_digest(path.read_bytes())
    assert digest_of(without_comments(text)) == digest
    assert digest_of(with_more_text(text)) == digest
    for name in re.findall(r"^([A-Z_]+) = ", without_comments(text), re.MULTILINE)[:1]:
        assert digest_of(re.sub(rf"\b{name}\b", f"{name}_OTHER", text)) != digest


def test_no_module_reads_its_docstrings():
    """Otherwise they would have an effect."""
    assert [path.name for path in MODULES if re.search(r"__doc__|getdoc", path.read_text())] == []


def test_names_of_modules_are_part_of_a_package(tmp_path):
    (tmp_path / "below").mkdir()
    module = tmp_path / "below/one.py"
    module.write_text("a = 1\n")
    before = package_digest(tmp_path)
    assert re.fullmatch("sha256:[0-9a-f]{64}", before)
    module = module.rename(tmp_path / "below/two.py")
    renamed = package_digest(tmp_path)
    module.write_text("a = 1  # one\n")
    assert package_digest(tmp_path) == renamed != before


def test_the_same_content_is_read_by_what_is_given(tmp_path):
    (tmp_path / "one.py").write_text("a = 1\n")
    assert package_digest(tmp_path, of_module=lambda content: "x") != package_digest(tmp_path)


def test_what_is_handed_over_is_believed_while_the_modules_are_the_same():
    content = identity.content_digest(*TESTBED, SIMULATOR)
    assert still_valid("sha256:1", content) == "sha256:1"
    assert still_valid("sha256:1", "of another content") is None
    assert still_valid("sha256:1", None) is None
    assert program_identity(RunSpecification({}, testbed_digest="sha256:1")) == "sha256:1"
    assert program_identity(RunSpecification({})) == package_digest(*TESTBED)
