"""Methods and keywords of ufuncs are NumPy's: reduce, accumulate, reduceat, outer, at, …"""

import functools
import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp

EXACT = [
    "subtract",
    "floor_divide",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "logical_and",
    "logical_or",
    "logical_xor",
    "gcd",
    "lcm",
    "copysign",
    "nextafter",
    "heaviside",
    "equal",
    "less",
]
ROUNDED = ["add", "multiply", "divide", "hypot", "logaddexp"]
RNG = np.random.default_rng(5)
OPERANDS = {
    "int32": RNG.integers(1, 6, (4, 40)).astype("int32"),
    "uint8": RNG.integers(1, 6, (4, 40)).astype("uint8"),
    "float64": RNG.uniform(0.5, 2, (4, 40)),
    "bool": RNG.random((4, 40)) < 0.7,
}
MASK = RNG.random((4, 40)) < 0.5
CALLS = {
    **{f"reduce {axis}": lambda f, x, m, axis=axis: f.reduce(x, axis=axis)
       for axis in (0, 1, -1, None, (0, 1), ())},
    "keepdims": lambda f, x, m: f.reduce(x, axis=1, keepdims=True),
    "where": lambda f, x, m: f.reduce(x, axis=0, where=m),
    "where and initial": lambda f, x, m: f.reduce(x, axis=0, where=m, initial=3),
    "initial": lambda f, x, m: f.reduce(x, axis=1, initial=2),
    "empty": lambda f, x, m: f.reduce(x[:0], axis=0),
    "no axis": lambda f, x, m: f.reduce(x, axis=2),
    "accumulate": lambda f, x, m: f.accumulate(x, axis=1),
    "accumulate rows": lambda f, x, m: f.accumulate(x),
    "accumulate nothing": lambda f, x, m: f.accumulate(x[:, :0], axis=1),
    "reduceat": lambda f, x, m: f.reduceat(x, [0, 5, 2, 2, 30], axis=1),
    "reduceat outside": lambda f, x, m: f.reduceat(x, [0, 40], axis=1),
    "outer": lambda f, x, m: f.outer(x[0], x[1]),
}  # fmt: skip


def outcome(call, f, x, mask):
    """The values, or the exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(call(f, x, mask))
    except Exception as error:
        return error


@pytest.mark.parametrize("dtype", OPERANDS)
@pytest.mark.parametrize("name", EXACT + ROUNDED)
def test_methods_are_numpys(name, dtype):
    x = OPERANDS[dtype]
    for what, call in CALLS.items():
        expected = outcome(call, getattr(np, name), x, MASK)
        got = outcome(call, getattr(cnp, name), cnp.array(x), cnp.array(MASK))
        if isinstance(expected, Exception):
            kind = TypeError if isinstance(expected, TypeError) else type(expected)
            assert isinstance(got, kind), (what, expected, got)
            continue
        assert not isinstance(got, Exception), (what, got)
        assert got.dtype == expected.dtype and got.shape == expected.shape, what
        if name in EXACT:
            np.testing.assert_array_equal(got, expected, what)
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-12, err_msg=what)


@pytest.mark.parametrize("name", ["power", "arctan2", "float_power"])
@pytest.mark.parametrize("count", [1, 5, 40])
def test_folds_go_from_the_first_to_the_last(name, count):
    # NumPy's own loops of these are wrong where the result is an operand: they read ahead.
    x = OPERANDS["float64"][0, :count]
    f = getattr(cnp, name)
    expected = functools.reduce(lambda a, b: f(cnp.array(a), b).evaluated(), x)
    assert composit.evaluate(f.reduce(cnp.array(x))) == expected
    assert composit.evaluate(f.accumulate(cnp.array(x)))[-1] == expected


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "maximum", "floor_divide", "power"]
)
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_at_counts_each_index(name, dtype):
    x = OPERANDS[dtype]
    indices = [
        ([0, 1, 0, 0], [1, 2, 1, 1]),
        (slice(None), [3, 3, 5]),
        (np.array([2, -1, 2]),),
        (MASK,),
        (..., 0),
    ]
    for index in indices:
        index = index if len(index) > 1 else index[0]
        shape = x[index].shape
        b = RNG.integers(1, 4, shape).astype(dtype)
        expected, got = x.copy(), cnp.array(x)
        getattr(np, name).at(expected, index, b)
        getattr(cnp, name).at(got, index, b)
        np.testing.assert_allclose(composit.evaluate(got), expected, rtol=1e-15)


def test_at_of_one_operand_and_mistakes():
    x = cnp.array([1.0, 4.0, 9.0])
    cnp.negative.at(x, [0, 0, 1])
    np.testing.assert_array_equal(composit.evaluate(x), [1, -4, 9])
    with pytest.raises(ValueError, match="second operand provided when ufunc is unary"):
        cnp.sqrt.at(x, [0], 1)
    with pytest.raises(TypeError, match="at most 3"):
        cnp.add.at(x, [0], 1, 2)
    with pytest.raises(ValueError, match="Only single output"):
        cnp.divmod.at(x, [0], 1)
    with pytest.raises(IndexError):
        cnp.subtract.at(x, [3], 1)


def test_functions_that_are_not_binary_have_no_folds():
    for method in ("reduce", "accumulate"):
        with pytest.raises(ValueError, match=f"{method} only supported for binary functions"):
            getattr(cnp.sqrt, method)([1.0])
        with pytest.raises(ValueError, match="returning a single value"):
            getattr(cnp.divmod, method)([1.0])
    with pytest.raises(ValueError, match="outer product only supported"):
        cnp.sqrt.outer([1.0], [2.0])


@pytest.mark.parametrize("name", ["add", "sqrt", "divmod", "logical_xor", "gcd", "maximum"])
def test_facts_are_numpys(name):
    ours, numpys = getattr(cnp, name), getattr(np, name)
    for fact in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "__name__"):
        assert getattr(ours, fact) == getattr(numpys, fact)


def test_keywords():
    x, y = cnp.array([1.5, -2.5]), cnp.array([2, 3])
    assert composit.evaluate(cnp.add(x, y, signature="dd->d")).tolist() == [3.5, 0.5]
    assert cnp.add(y, y, dtype="float32", casting="unsafe").dtype == np.float32
    assert cnp.add(x, y, dtype="int8", casting="unsafe").dtype == np.int8
    assert cnp.add(x, y, order="F", subok=False).dtype == np.float64
    for options, error in (
        ({"casting": "any"}, ValueError),
        ({"order": "X"}, ValueError),
        ({"dtype": "int32", "casting": "safe"}, TypeError),
        ({"sig": "dd->d", "signature": "dd->d"}, TypeError),
        ({"signature": "ff->d"}, TypeError),
        ({"extobj": []}, TypeError),
    ):
        with pytest.raises(error):
            cnp.add(x, y, **options)
        with pytest.raises(error):
            np.add([1.5, -2.5], [2, 3], **options)


def test_where_and_casting_of_out():
    x, mask = cnp.array([4.0, 9.0, 16.0]), cnp.array([True, False, True])
    out = cnp.array([7.0, 7.0, 7.0])
    assert cnp.sqrt(x, where=mask, out=out) is out
    assert composit.evaluate(out).tolist() == [2, 7, 4]
    free = cnp.sqrt(x, where=mask)
    assert composit.evaluate(free)[[0, 2]].tolist() == [2, 4]
    assert composit.evaluate(cnp.sqrt(x, where=mask, out=None)).shape == (3,)
    whole = cnp.array([0, 0, 0])
    with pytest.raises(TypeError, match="same_kind"):
        cnp.sqrt(x, out=whole)
    cnp.sqrt(x, out=whole, casting="unsafe")
    assert composit.evaluate(whole).tolist() == [2, 3, 4]
