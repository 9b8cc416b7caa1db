"""Programs of modules without inputs, and of modules and inputs of any names."""

import subprocess

import numpy as np
import pytest

import composit
from composit import cg
from composit.cg import op
from composit.cg.template import distinct, identifiers

FLAGS = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def compiles(folder):
    """That each file, and main.cpp, is accepted without a warning."""
    for file in sorted(folder.glob("*.cpp")):
        done = subprocess.run([*FLAGS, file], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
    return True


def module(function, *names, name="f", params=()):
    return cg.Module.build(name, function, tuple(map(cg.Variable, names)), params)


def test_modules_without_inputs(tmp_path):
    def call(self):
        return self.param("w") * 2

    m = module(call, params=cg.Parameter("w", np.array([2.0, 3.0])))
    for i, write in enumerate((m.export, lambda path: m().export(path))):
        write(tmp_path / str(i))
        assert compiles(tmp_path / str(i))
    for program in (m.compile(), m().compile()):
        assert np.array_equal(program(), [4, 6]) and program.kernels is not None
    result = m()
    result.back()
    assert np.array_equal(result.grad(m.param("w")), [[2, 0], [0, 2]])
    assert np.array_equal(composit.evaluate(m.function()), [4, 6])
    assert np.array_equal(m.gradfn("w")().value, [[2, 0], [0, 2]])


@pytest.mark.long_tail
@pytest.mark.parametrize("name", ["lambda", "x 1", "x-1", "for", "1", "x.y", "é", "*", "None"])
def test_names_of_inputs_that_are_none_of_python(name, tmp_path):
    m = module(lambda self, x, y: op.add(x, y) * 2, name, "y")
    assert m(3.0, 1.0).value == 8
    for program in (m.compile(3.0, 1.0), m(3.0, 1.0).compile()):
        assert program(3.0, 1.0) == 8
    m.export(tmp_path)
    assert compiles(tmp_path)
    many = composit.vmap(m.function)(np.ones(3), np.ones(3))
    assert np.array_equal(composit.evaluate(many), [4, 4, 4])
    result = m(3.0, 1.0)
    result.back()
    assert result.grad(m.input(name)) == 2 and m.gradfn(name)(3.0, 1.0).value == 2


def test_identifiers():
    names = ["x 1", "x-1", "for", "x_1", "1", "y"]
    assert identifiers(names) == ["x_1", "x_1_1", "for_", "x_1_3", "x1", "y"]
    assert distinct(["a", "a", "a_1"]) == ["a", "a_2", "a_1"]
    assert distinct(["x", "y", "x"]) == ["x", "y", "x_2"]


LIBRARY = ["exp", "index", "read", "run", "NULL", "errno", "open", "mmap", "abs", "size_t",
           "INT_MAX", "stdin"]  # fmt: skip


@pytest.mark.long_tail
@pytest.mark.parametrize("name", LIBRARY)
def test_modules_whose_names_c_has(name, tmp_path):
    def call(self, x):
        return op.exp(x) @ op.log(x) + op.sum(self.param("w") * op.tanh(x))

    m = module(call, "x", name=name, params=cg.Parameter("w", np.arange(40.0)))  # a weights file
    m.export(tmp_path, np.ones(40))
    assert compiles(tmp_path)
    renamed = "size_t_" if name == "size_t" else f"{name}_1"
    assert (tmp_path / f"{renamed}.hpp").exists()


@pytest.mark.long_tail
@pytest.mark.parametrize("name", ["NULL", "EOF", "errno", "INT_MAX", "stdin", "exp", "DBL_MAX"])
def test_inputs_whose_names_c_has(name, tmp_path, recwarn):
    m = module(lambda self, x: op.exp(x) * 2, name)
    result = m.compile(np.ones(3))
    assert np.allclose(result(np.ones(3)), 2 * np.e) and not recwarn.list
    m.export(tmp_path, np.ones(3))
    assert compiles(tmp_path)
    macros = ("NULL", "EOF", "errno", "INT_MAX", "stdin", "DBL_MAX")
    expected = f"const double* {name}{'_1' if name in macros else ''} /*"
    assert expected in (tmp_path / "f.hpp").read_text()


@pytest.mark.parametrize("name", ["a\n#error b", "a\r#error b", 'a\n"b', "a\\", "a\v\f#error b"])
def test_names_of_several_lines_stay_in_comments(name, tmp_path):
    inner = module(lambda self, x: op.square(x), "x", name=f"inner {name}")
    m = module(lambda self, x: inner(x) + x, name, name=name)
    m(np.ones(3))
    m.export(tmp_path)
    assert compiles(tmp_path)
    header = next(tmp_path.glob("*.hpp")).read_text()
    assert "#error" not in [line[:6] for line in header.splitlines()]
