"""Kernels return what CPython returns for the same function."""

import math

import kernels
import numpy as np
import pytest
from kernels import Camera, Point

from composit import knossos


def flat(value):
    return list(value) if isinstance(value, tuple) else [value]


def same(got, want, ulps):
    if ulps == 0 or not isinstance(want, float):
        return got == want or (got != got and want != want)
    return abs(got - want) <= ulps * math.ulp(max(abs(want), 1e-3))


def a_float(random):
    return random.normal() * 2


CASES = {
    # how arguments are drawn, and how many ulps the functions of math may differ
    "relu3": (lambda r: (a_float(r),), 2),
    "gelu": (lambda r: (a_float(r),), 16),
    "newton": (lambda r: (abs(a_float(r)) + 0.1,), 0),
    "polar": (lambda r: (a_float(r), a_float(r)), 2),
    "collatz": (lambda r: (int(r.integers(1, 10000)),), 0),
    "ordered": (lambda r: (a_float(r), a_float(r)), 0),
    "project": (
        lambda r: (Point(a_float(r), a_float(r)), Camera(a_float(r), (a_float(r), a_float(r)))), 0,
    ),
    "distance": (
        lambda r: (Point(a_float(r), 1.0), Point(a_float(r), a_float(r)), a_float(r)), 8,
    ),
    "loops": (lambda r: (a_float(r), int(r.integers(-1, 12))), 0),
    "guarded": (lambda r: (a_float(r), int(r.integers(0, 8))), 8),
    "polynomial": (lambda r: (a_float(r),), 0),
    "integers": (lambda r: (int(r.integers(-1000, 1000)), int(r.integers(-1000, 1000))), 0),
    "shadowed": (lambda r: (int(r.integers(-2, 12)),), 0),
    "smooth": (lambda r: (a_float(r) / 4, a_float(r)), 400),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_cpython(name):
    draw, ulps = CASES[name]
    function = getattr(kernels, name)
    kernel = knossos.register(function)
    random = np.random.default_rng(len(name))
    for _ in range(300):
        arguments = draw(random)
        want, got = function(*arguments), kernel(*arguments)
        assert type(got) in (type(want), float), (arguments, want, got)
        for a, b in zip(flat(got), flat(want), strict=True):
            assert same(a, b, ulps), (arguments, want, got)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "name", ["loops", "guarded", "shadowed", "collatz", "smooth", "polar", "gelu", "relu3"]
)
def test_equal_bits_everywhere(name, dtype):
    """Numbers, arrays, and graphs that the interpreter and compiled code evaluate. gelu is the name
    of a row of the table, too, which computes it otherwise."""
    import composit

    draw, _ = CASES[name]
    kernel = knossos.register(getattr(kernels, name))
    random = np.random.default_rng(5)
    calls = [draw(random) for _ in range(100)]
    arrays = [np.array(column) for column in zip(*calls)]
    arrays = [a.astype(dtype) if a.dtype.kind == "f" else a for a in arrays]
    one_by_one = [flat(kernel(*[a[i] for a in arrays])) for i in range(len(calls))]
    want = [np.array(column) for column in zip(*one_by_one)]
    made = {
        "arrays": kernel(*arrays),
        "interpreter": composit.evaluate(
            *flat(kernel(*[composit.asarray(a) for a in arrays])), always_return_tuple=True
        ),
        "compiled": composit.compile(lambda *a: kernel(*a))(*arrays),
    }
    for how, results in made.items():
        results = results if isinstance(results, (tuple, list)) else [results]
        for a, b in zip(results, want, strict=True):
            assert np.asarray(a).tobytes() == b.tobytes(), how


def test_float_is_generic():
    kernel = knossos.register(kernels.relu3)
    x = np.linspace(-2, 2, 41)
    assert kernel(x).dtype == np.float64
    assert kernel(x.astype("f")).dtype == np.float32
    assert type(kernel(0.5)) is float
    assert type(kernel(np.float32(0.5))) is np.float32
    assert type(kernel.vjp(np.float64(0.5), np.float64(1.0))) is np.float64
    np.testing.assert_allclose(kernel(x.astype("f")), kernel(x), rtol=1e-6, atol=1e-7)


def test_broadcasting_and_mixed_arguments():
    kernel = knossos.vmap(kernels.ordered)
    a, b = np.random.default_rng(0).normal(size=(2, 4, 5))
    want = np.minimum(a, b[:1]) - 2 * np.maximum(a, b[:1])
    np.testing.assert_array_equal(kernel(a, b[:1]), want)
    np.testing.assert_array_equal(kernel(a[::2].T, 0.25), (
        np.minimum(a[::2].T, 0.25) - 2 * np.maximum(a[::2].T, 0.25)))  # fmt: skip
    np.testing.assert_array_equal(kernel([1.0, 3.0], [2.0, 2.0]), [-3.0, -4.0])


def test_decorators_take_all_forms():
    @knossos.register
    def a(x: float) -> float:
        return x + 1

    @knossos.register()
    def b(x: float) -> float:
        return a(x) + 1

    @knossos.elementwise(example_element=1.23)
    def c(x: float) -> float:
        return b(x) + 1

    @knossos.vmap(generate_lm=False)
    def d(x: float) -> float:
        return c(x) + 1

    assert d(1.0) == 5.0
    assert knossos.vmap(a) is a and knossos.elementwise()(b)(1.0) == 3.0
    np.testing.assert_array_equal(d(np.arange(3.0)), np.arange(3.0) + 4)


def test_closures():
    shift = 2.5

    def shifted(x: float) -> float:
        return x + shift

    assert knossos.register(shifted)(1.0) == 3.5


def test_no_compiler(monkeypatch, tmp_path):
    """Without a compiler calls are evaluated as graphs are."""
    monkeypatch.setenv("CXX", "/nonexistent/c++")
    monkeypatch.setenv("COMPOSIT_CACHE", str(tmp_path / "cache"))

    def plain(x: float) -> float:
        return x * x if x > 1 else -x

    kernel = knossos.register(plain)
    with pytest.warns(RuntimeWarning):
        assert kernel(3.0) == 9.0
    np.testing.assert_array_equal(kernel(np.array([0.5, 2.0])), [-0.5, 4.0])
