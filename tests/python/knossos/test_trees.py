"""Trees of texts in C++: how they are written, and what stays of translations."""

from __future__ import annotations

import ast
import gc
import linecache
import pathlib
from collections.abc import Iterator

import composit._core as _core
import pytest

from composit import knossos

FILES = sorted(pathlib.Path(__file__).parent.glob("*.py"))
# What errors never show whole: blocks of these statements are Python's own texts.
_WITH_BLOCKS = (ast.Module, ast.ClassDef, ast.With, ast.Try, ast.Match, ast.AsyncFunctionDef)


def _functions(path: pathlib.Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        plain = isinstance(node, ast.FunctionDef) and not any(
            isinstance(each, _WITH_BLOCKS) for each in ast.walk(node)
        )
        if plain:
            yield node


def _parts(function: ast.FunctionDef) -> Iterator[ast.stmt | ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function:
            if not isinstance(node, ast.FunctionDef):  # its documentation is written otherwise
                yield node
        elif isinstance(node, ast.expr) and not isinstance(node, ast.FormattedValue):
            yield node


def _has_function(node: ast.AST) -> bool:
    return any(isinstance(each, ast.FunctionDef) for each in ast.walk(node))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_texts_are_those_of_python(path: pathlib.Path) -> None:
    for function in _functions(path):
        for node in _parts(function):
            if not _has_function(node):
                assert repr(_core.knossos.Text(node)) == ast.unparse(node)


@pytest.mark.parametrize(
    "text",
    ["-x ** 2", "(-x) ** 2", "not (a and b) or c", "a if b else (c if d else e)", "(a, b)[0]",
     "x[1:2, ::3, None]", "x[(1, 2),]", "f(*a, b=1, **c)", "(lambda: 0)()", "1 .real", "(1).real",
     "a < b is not c", "[x for x, y in z if x if y]", "f'{x!r:>3} {y}'", "{**a, 'b': 1}", "1e400",
     "(yield)", "(y := 3) + 1", "'\\n\\'' + \"'\"", "lambda x, y=1, *z: x", "-(-x)", "~-x",
     "lambda *, k=1: k", "lambda a, /, b, *c, d, **e: 0", "a @ b % c // d", "(a << b) + c",
     "x[()]", "1j * b''"],
)  # fmt: skip
def test_expressions_are_written_as_in_python(text: str) -> None:
    node = ast.parse(f"v = {text}").body[0]
    assert repr(_core.knossos.Text(node)) == ast.unparse(node)


_TEXT = """
import numpy as np
def kernel(x: Tensor[float, 3], k: float) -> float:
    total = 0
    twice = lambda v: 2 * v
    for i, v in enumerate(x):
        total += twice(v) if v > k else np.sum(np.sort(x))
    return total + sum(u * u for u in x)
def number(x: float) -> float:
    return x + 1.0 if x < 3.0 else x
"""


def _made(number: int) -> None:
    name = f"<text {number}>"
    linecache.cache[name] = (len(_TEXT), None, _TEXT.splitlines(True), name)
    space = {"Tensor": knossos.Tensor}
    exec(compile(_TEXT, name, "exec"), space)
    knossos.register(space["kernel"]).procedure()
    assert knossos.register(space["number"]).rows
    del linecache.cache[name]


def test_nothing_stays_of_kernels_that_are_dropped() -> None:
    for number in range(40):  # the last 32 files are remembered
        _made(number)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(40, 140):
        _made(number)
    gc.collect()
    # The text that functions were found in is remembered by its file: one list each.
    assert len(gc.get_objects()) - before <= 100 + 50
