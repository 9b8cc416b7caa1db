"""numpy.pad in all modes: values, dtypes and errors are NumPy's, bits are the same compiled."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives

import composit
import composit.numpy as cnp
from composit import _core

WIDTHS = [1, 0, (1, 2), ((0, 2), (3, 1)), [[2], [0]], {1: (1, 2)}]
STATISTICS = ["maximum", "minimum", "mean", "median"]
SIMPLE = ["edge", "reflect", "symmetric", "wrap", "constant"]


def drawn(dtype, shape=(3, 4)):
    values = np.random.default_rng(3).normal(0, 5, shape)
    return (abs(values) if dtype.startswith("u") else values).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_modes(dtype, widths):
    x = drawn(dtype)
    for mode in [*SIMPLE, "maximum", "minimum", "median"]:
        agrees("pad", x, widths, mode)
    agrees("pad", x, widths, "mean", ulp=2, scale=8.0)
    agrees("pad", x, widths, "linear_ramp", ulp=2, scale=8.0)


@pytest.mark.parametrize("length", [1, 2, 9, (1, 3), ((1, 2), (3, 1))], ids=str)
def test_lengths_of_statistics(length):
    for mode in STATISTICS:
        agrees(
            "pad", drawn("float64"), ((2, 1), (1, 3)), mode, stat_length=length, ulp=2, scale=9.0
        )
        agrees("pad", drawn("int16"), ((2, 1), (1, 3)), mode, stat_length=length)


@pytest.mark.parametrize("values", [7, (1, 2), ((1, 2), (3, 4)), [[5], [6]], 2.5], ids=str)
def test_values_by_side(values):
    for dtype in ("int32", "float32"):
        agrees("pad", drawn(dtype), ((2, 1), (1, 3)), "constant", constant_values=values)
        agrees(
            "pad", drawn(dtype), ((2, 1), (1, 3)), "linear_ramp", end_values=values, ulp=2, scale=9
        )


def test_complex_values():
    z = drawn("float64") + 1j * drawn("float64")[::-1]
    for mode in ["constant", "edge", "mean", "linear_ramp"]:
        agrees("pad", z, 2, mode, ulp=4, scale=9.0)


def test_other_ranks():
    for x in (np.arange(5.0), np.array(3.0), np.arange(24.0).reshape(2, 3, 4)):
        for mode in ["mean", "linear_ramp", "maximum"]:
            agrees("pad", x, 2, mode, ulp=2, scale=24.0)


def test_mistakes():
    x = drawn("float64")
    agrees("pad", x, 1, "nonsense")
    agrees("pad", x, 1, "edge", constant_values=3)
    agrees("pad", x, 1, "mean", end_values=3)
    agrees("pad", x, 1, "maximum", stat_length=0)
    agrees("pad", x, 1, "mean", stat_length=-1)
    agrees("pad", x, -1, "mean")
    agrees("pad", np.zeros((0, 3)), 1, "mean")
    agrees("pad", np.zeros((0, 3)), 1, "linear_ramp")
    agrees("pad", x, 1, "constant", constant_values=[1, 2, 3])
    agrees("pad", np.zeros((0, 3)), 1, "reflect", reflect_type="odd")


def test_one_node_compiled_and_differentiated():
    x = drawn("float64")
    for mode in ["mean", "median", "linear_ramp", "maximum"]:
        y = cnp.pad(cnp.asarray(x), 2, mode)
        assert [node.name for node in y.graph][1:] == ["pad"]
        same_bits_compiled(lambda x, mode=mode: cnp.pad(x, 2, mode), x)
    check_derivatives(lambda x: cnp.pad(x, ((1, 2), (0, 1)), "mean"), x)
    check_derivatives(lambda x: cnp.pad(x, ((1, 2), (0, 1)), "linear_ramp"), x)
    batched = composit.vmap(lambda x: cnp.pad(x, 1, "mean"))(np.stack([x, x + 1]))
    expected = np.stack([np.pad(x, 1, "mean"), np.pad(x + 1, 1, "mean")])
    np.testing.assert_allclose(cnp.evaluate(batched), expected, rtol=1e-14)


def padded_with(vector, width, axis, options):
    """NumPy's example: writes both ends of each vector in place."""
    value = options.get("padder", 10) + axis
    vector[: width[0]] = value
    if width[1]:
        vector[-width[1] :] = -vector[width[0]]


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "float16", "float64", "complex64"])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_a_function_pads_as_in_numpy(dtype, widths):
    def by_the_sum(vector, width, axis, options):
        vector[: width[0]] = vector[width[0]]
        vector[len(vector) - width[1] :] = options["scale"] + axis

    agrees("pad", drawn(dtype), widths, by_the_sum, scale=3)
    if dtype not in ("bool", "uint8"):
        agrees("pad", drawn(dtype), widths, padded_with)
        agrees("pad", drawn(dtype), widths, padded_with, padder=100)
    agrees("pad", drawn(dtype), -1, padded_with)


def test_a_function_pads_at_the_call_also_compiled():
    calls = []

    def counted(vector, width, axis, options):
        calls.append((tuple(width), axis, options))
        padded_with(vector, width, axis, options)

    x = drawn("float32")
    made = cnp.pad(x, (1, 2), counted, padder=np.float32(2))
    ours = list(calls)
    values = cnp.evaluate(made)
    assert calls == ours
    calls.clear()
    np.testing.assert_array_equal(values, np.pad(x, (1, 2), counted, padder=np.float32(2)))
    assert ours == calls
    compiled = composit.compile(lambda x: cnp.pad(x * 2, 1, padded_with) + 1, x)
    np.testing.assert_array_equal(compiled(x), np.pad(x * 2, 1, padded_with) + 1)


def test_errors_of_a_padding_function_are_its_own():
    def fails(vector, width, axis, options):
        raise ZeroDivisionError("of the function")

    with pytest.raises(ZeroDivisionError, match="of the function"):
        cnp.evaluate(cnp.pad(np.ones(3), 1, fails))


def test_calls_of_one_padding_function_share_a_plan():
    x = drawn("float64")
    cnp.evaluate(cnp.pad(x, 1, padded_with, padder=5))
    before = _core.plan_statistics()[0]
    for _ in range(3):
        cnp.evaluate(cnp.pad(x, 1, padded_with, padder=5))
    assert _core.plan_statistics()[0] == before


@pytest.mark.parametrize("width", [1, (1,), (1, 2), [1, 2], ((1, 2),), ((1,), (2,)),
                                   [[1, 2], [3, 4]], {0: 1}, {0: (1, 2), -1: (1, 2)}])  # fmt: skip
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_a_padding_function_is_told_widths_as_numpy_tells_them(width, shape):
    def told(xp, x):
        calls = []
        try:
            np.asarray(xp.pad(x, width, lambda *a: calls.append(a[1:]), extra=5))
        except (ValueError, IndexError) as error:
            return type(error)
        return calls

    x = np.ones(shape)
    assert repr(told(cnp, cnp.asarray(x))) == repr(told(np, x))
