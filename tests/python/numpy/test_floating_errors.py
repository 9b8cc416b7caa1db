"""Errors of floating point are NumPy's: the same warnings, exceptions and calls, by line."""

import itertools
import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit.nn.core import wrap_as_operation

INF, NAN = np.inf, np.nan
VALUES = [
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.0,
    -2.0,
    1.5,
    3e4,
    -7e4,
    1e10,
    1e300,
    -1e300,
    1e-300,
    INF,
    -INF,
    NAN,
]
ONE = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "reciprocal",
    "square",
    "rint",
    "floor",
    "sign",
    "isnan",
    "isfinite",
    "negative",
    "absolute",
    "signbit",
    "deg2rad",
    "rad2deg",
    "trunc",
    "fabs",
]
TWO = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "floor_divide",
    "remainder",
    "fmod",
    "arctan2",
    "hypot",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "less",
    "equal",
    "heaviside",
    "float_power",
    "copysign",
    "nextafter",
    "logaddexp",
    "logaddexp2",
]


def messages(function, *arguments):
    """What a call warns of, each once, in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments)
    return list(dict.fromkeys(str(each.message) for each in caught))


def evaluated(name, *operands):
    """composit's function, evaluated."""
    result = getattr(cnp, name)(*map(cnp.array, operands))
    return composit.evaluate(*(result if isinstance(result, tuple) else [result]))


def says_what_its_library_does(name, a, b):
    """Where NumPy's answer depends on the C library or the loop that it was built with."""
    return (name == "power" and np.isinf(b)) or (
        name == "floor_divide" and np.isfinite([a, b]).all() and b != 0 and np.isinf(a / b)
    )


def cast(values, dtype):
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand_warn_as_numpy(name, dtype):
    for value in cast(VALUES, dtype):
        x = np.full(20, value)
        expected = messages(getattr(np, name), x)
        got = messages(evaluated, name, x)
        if name == "arctanh" and abs(value) == 1:  # NumPy's is SLEEF's, which divides 0 by 0, too
            expected = [each for each in expected if "invalid" not in each]
        assert got == expected, (name, dtype, value)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_operands_warn_as_numpy(name, dtype):
    values = cast(VALUES, dtype)
    for a, b in itertools.product(values, values):
        if says_what_its_library_does(name, a, b):
            continue
        x, y = np.full(20, a), np.full(20, b)
        expected = messages(getattr(np, name), x, y)
        got = messages(evaluated, name, x, y)
        assert got == expected, (name, dtype, a, b)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "divide", "divmod"])
def test_integers_by_zero_warn_as_numpy(name, dtype):
    least = np.iinfo(dtype).min
    ones = np.array([-1 if least < 0 else 1], dtype)
    for divisor in (np.zeros(1, dtype), np.ones(1, dtype), ones, np.array([1, 0], dtype)):
        for dividend in (np.ones(1, dtype), np.array([least], dtype)):
            x, y = np.repeat(dividend, 70), np.resize(divisor, 70)
            expected = messages(getattr(np, name), x, y)
            assert messages(evaluated, name, x, y) == expected, (dividend, divisor)


def test_reciprocal_of_integer_zero():
    x = np.array([1, 0, 2])
    expected = messages(np.reciprocal, x)
    assert messages(evaluated, "reciprocal", x) == expected != []


@pytest.mark.parametrize("to", ["int8", "int16", "int32", "int64", "uint32", "uint64", "float16"])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_casts_warn_as_numpy(source, to):
    for value in cast(
        [0.0, 1.0, -1.0, 300.0, 7e4, 2**31, -(2**31), 2**63, 2**64, 1e300, INF, NAN], source
    ):
        x = np.full(40, value)
        expected = messages(x.astype, to)
        assert messages(lambda x: composit.evaluate(cnp.array(x).astype(to)), x) == expected, value


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_functions_warn(backend, threads):
    def function(x):
        return cnp.log(x) + cnp.sqrt(x) / 2 + cnp.sum(x * 1e300, axis=1, keepdims=True)

    x = np.full((300, 1000), 1.0)
    compiled = composit.compile(function, x, backend=backend, threads=threads)
    assert messages(lambda: compiled(x)) == []
    x[200, 7] = -1
    x[299, 999] = 0
    x[3] = 1e10
    assert messages(lambda: compiled(x)) == [
        "divide by zero encountered in log",
        "invalid value encountered in log",
        "invalid value encountered in sqrt",
        "overflow encountered in multiply",
    ]
    x[3] = 1e7
    assert messages(lambda: compiled(x))[-1] == "overflow encountered in reduce"


def test_bodies_of_loops_and_wrapped_functions_warn_once():
    x = cnp.array([1.0, 4.0])
    grown = composit.fori_loop(0, 8, lambda i, s: s * 1e100, x)
    assert messages(lambda: composit.evaluate(grown)) == ["overflow encountered in multiply"]

    @wrap_as_operation()
    def root(a):
        return cnp.sqrt(a - 2)

    expected = ["invalid value encountered in sqrt"]
    assert messages(lambda: composit.evaluate(root(x), root(x))) == expected


def test_the_errstate_of_the_building_counts():
    x = cnp.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        quiet = 1 / x
    with np.errstate(all="raise"):
        assert messages(lambda: composit.evaluate(quiet)) == []
    loud = 1 / x
    with np.errstate(all="raise"):
        assert messages(lambda: composit.evaluate(loud)) == ["divide by zero encountered in divide"]
        strict = composit.compile(lambda x: 1 / x, x)
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            strict(x)


def test_the_line_is_the_one_that_built_the_node():
    built = cnp.log(cnp.array([0.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        composit.evaluate(built)
    code = test_the_line_is_the_one_that_built_the_node.__code__
    assert caught[0].filename == __file__
    assert caught[0].lineno == code.co_firstlineno + 1
    assert caught[0].category is RuntimeWarning


def test_calls_logs_and_prints(capsys):
    calls = []

    class Log:
        def write(self, text):
            calls.append(text)

    x = cnp.array([0.0, 1e300])
    with cnp.errstate(all="call", call=lambda *given: calls.append(given)):
        result = (1 / x, x * x)
    composit.evaluate(*result)
    assert calls == [("divide by zero", 1), ("overflow", 2)]
    del calls[:]
    with cnp.errstate(all="log", call=Log()):
        result = 1 / x
    composit.evaluate(result)
    assert calls == ["Warning: divide by zero encountered in divide\n"]
    with cnp.errstate(all="print"):
        result = 1 / x
    composit.evaluate(result)
    assert capsys.readouterr().err == "Warning: divide by zero encountered in divide\n"


def test_underflow_is_reported_where_it_is_wanted():
    x = cnp.array([1e-200, 0.0])
    assert messages(lambda: composit.evaluate(x * x)) == []

    def noted(build):
        with np.errstate(under="warn"):
            y = build()
        return messages(lambda: composit.evaluate(y))

    assert noted(lambda: x * x) == ["underflow encountered in multiply"]
    assert noted(lambda: x * 0.5) == []
    assert noted(lambda: cnp.exp(cnp.array([-1000.0]))) == ["underflow encountered in exp"]


def test_a_look_reports_what_it_computes_beside():
    x = cnp.linspace(0, 1, 40)  # smaller arrays are computed as they are made
    loud = 1 / x
    assert messages(lambda: composit.evaluate(x + 1)) == ["divide by zero encountered in divide"]
    assert messages(lambda: composit.evaluate(loud)) == []


def test_what_is_not_chosen_warns_as_in_numpy():
    x = cnp.array([-1.0, 4.0])
    chosen = cnp.where(x > 0, cnp.sqrt(x), 0)
    assert messages(lambda: composit.evaluate(chosen)) == ["invalid value encountered in sqrt"]


def test_large_graphs_are_checked_in_parts():
    x = cnp.array([1.0, 2.0])
    for _ in range(1000):
        x = x * 2.0
        x = x - 1.0
    y = cnp.log(x - x)
    expected = messages(lambda: composit.evaluate(y))
    assert expected == ["divide by zero encountered in log"]


NANS = np.full((4, 3), NAN)
SOME = np.array([[NAN, 1, 2], [NAN, NAN, NAN], [1, 2, 3], [NAN, 4, 5]])


@pytest.mark.parametrize("x", [NANS, SOME, np.ones((2, 3)), SOME.astype("float32")])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("name", ["nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian"])
def test_slices_of_nothing_but_nan_warn_as_numpy(name, axis, x):
    expected = messages(getattr(np, name), x, axis)
    tensor = getattr(cnp, name)(cnp.array(x), axis)
    assert messages(composit.evaluate, tensor) == expected
    with np.errstate(all="raise"):  # it is a warning, not an error of floating point
        assert messages(getattr(cnp, name), cnp.array(x), axis) == expected
    np.testing.assert_allclose(composit.evaluate(tensor), quiet(getattr(np, name), x, axis))


@pytest.mark.parametrize("name", ["nanquantile", "nanpercentile"])
def test_quantiles_of_nothing_but_nan_warn_as_numpy(name):
    for x in (NANS, SOME, SOME[2:]):
        expected = messages(getattr(np, name), x, [0.2, 0.5], 1)
        tensor = getattr(cnp, name)(cnp.array(x), [0.2, 0.5], 1)
        assert messages(composit.evaluate, tensor) == expected


def quiet(function, *arguments):
    """What a function gives, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


@pytest.mark.parametrize("name, ddof", [("mean", {}), ("var", {"ddof": 3}), ("std", {"ddof": 4})])
def test_too_few_elements(name, ddof):
    x = np.ones((2, 3))[:, : 0 if name == "mean" else 3]
    said = messages(lambda: getattr(np, name)(x, axis=1, **ddof))[0]
    tensors = []
    assert messages(lambda: tensors.append(getattr(cnp, name)(cnp.array(x), axis=1, **ddof))) == [
        said
    ]
