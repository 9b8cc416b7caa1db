"""A row registered from Python is a full operation: one line, and everything follows."""

import inspect
import itertools
import subprocess

import numpy as np
import pytest

import composit
from composit import numpy as cnp

_numbers = itertools.count()


def fresh(prefix):
    return f"{prefix}_{next(_numbers)}"


X = np.array([-2.0, -0.5, 0.0, 1.5, np.inf], "float32")


def test_value_only():
    name = fresh("softsign")
    softsign = composit.register(name, value=lambda x: x / (1 + abs(x)), doc="x / (1 + |x|)")
    assert getattr(cnp, name) is softsign and getattr(composit, name) is softsign
    x = X[:4]
    np.testing.assert_array_equal(composit.evaluate(softsign(x)), x / (1 + abs(x)))
    gradient = composit.grad(lambda t: softsign(t).sum())(x[[0, 1, 3]])
    expected = 1 / (1 + abs(x[[0, 1, 3]])) ** 2
    np.testing.assert_allclose(composit.evaluate(gradient), expected, rtol=1e-6)
    compiled = composit.compile(softsign, x)
    np.testing.assert_array_equal(compiled(x), composit.evaluate(softsign(x)))
    mapped = composit.vmap(softsign)(x)
    np.testing.assert_array_equal(composit.evaluate(mapped), composit.evaluate(softsign(x)))


def test_exported(tmp_path):
    """The exported program gives the bits of evaluate."""
    name = fresh("soft")
    soft = composit.register(name, value=lambda x: x / (1 + abs(x)), doc="x / (1 + |x|)")
    x = np.random.default_rng(0).standard_normal(1000).astype("float32")
    composit.compile(soft, x, name="model").export(tmp_path)
    assert f"// {name}: x / (1 + |x|)\n" in (tmp_path / "model.cpp").read_text()
    build = "c++ -O2 -std=c++17 -Wall -Wextra -Werror model.cpp main.cpp -o program"
    subprocess.run(build, shell=True, cwd=tmp_path, check=True)
    x.tofile(tmp_path / "x")
    subprocess.run(["./program", "model_", "x", "y"], cwd=tmp_path, check=True)
    assert (tmp_path / "y").read_bytes() == composit.evaluate(soft(x)).tobytes()


def test_documented():
    name, alias = fresh("soft"), fresh("smooth")
    soft = composit.register(
        name, value=lambda x, y: x / (y + abs(x)), doc="x / (y + |x|)", aliases=[alias]
    )
    assert soft.__doc__ == "x / (y + |x|)" and soft.__name__ == name
    assert list(inspect.signature(soft).parameters)[:2] == ["x1", "x2"]
    assert {name, alias} <= set(dir(cnp))
    assert inspect.getdoc(getattr(cnp, alias)) == "x / (y + |x|)"
    assert [(row.name, row.doc) for row in composit.scalar.all_rows()][-1] == (name, soft.__doc__)


def test_slope_and_functions_of_the_table():
    name = fresh("leaky")
    s = composit.scalar

    leaky = composit.register(
        name,
        value=lambda x: s.where(x > 0, x, s.expm1(x) * 0.5),
        slope=lambda x, y: s.where(x > 0, 1 + 0 * x, 3),
        doc="a test",
    )
    x = X[:4]
    value = composit.evaluate(leaky(x))
    np.testing.assert_allclose(value, np.where(x > 0, x, np.expm1(x) * 0.5), rtol=1e-6)
    gradient = composit.evaluate(composit.grad(lambda t: leaky(t).sum())(x))
    np.testing.assert_array_equal(gradient, [3, 3, 3, 1])


def test_two_operands_and_a_name_twice():
    name = fresh("squared_distance")
    f = composit.register(name, value=lambda a, b: (a - b) * (a - b), types="numeric", doc="a test")
    np.testing.assert_array_equal(composit.evaluate(f(np.arange(3), 1)), [1, 0, 1])
    with pytest.raises(ValueError, match="exp"):
        composit.register("exp", value=lambda x: x)


@pytest.mark.parametrize("name", ["foo bar", "lambda", "2x", ""])
def test_a_name_that_cannot_be_called_is_refused(name):
    with pytest.raises(ValueError, match="cannot name a function"):
        composit.register(name, value=lambda x: x)


def test_numbers_chosen_by_a_condition():
    step = composit.register(
        fresh("step"), value=lambda x: composit.scalar.where(x > 0, 1.0, 0.1), doc="a test"
    )
    x = np.array([1, -1, np.inf], "float32")
    np.testing.assert_array_equal(composit.evaluate(step(x)), np.float32([1, 0.1, 1]))
