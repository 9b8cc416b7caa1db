"""wrap_as_operation(opaque=True): nodes that call Python when they are evaluated."""

import gc

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

DTYPES = [
    "bool", "int8", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip


def same_as_first(x, *_):
    return (x.shape, x.dtype)


@composit.wrap_as_operation(opaque=True, result=lambda x: (x.shape[:1], np.int64))
def lengths(x):
    """Without the zeros at the ends: needs the values."""
    return [len(np.trim_zeros(row)) for row in x]


def test_the_function_is_called_with_the_values_when_evaluated():
    x = np.array([[0, 1, 2], [0, 0, 0], [3, 0, 4]])
    found = lengths(cnp.array(x) * 1) + 1
    assert found.dtype == np.int64
    assert "lengths" in repr(found.graph) or len(found.graph) >= 3
    np.testing.assert_array_equal(np.asarray(found), [3, 1, 4])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (64, 65)])
def test_every_dtype_passes_both_ways(dtype, shape):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(shape) * 50).astype(dtype)
    seen = []

    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def twice(a):
        seen.append((a.dtype, a.shape, type(a)))
        return a + a

    with np.errstate(over="ignore"):
        result = twice(cnp.array(x).T).T
        np.testing.assert_array_equal(np.asarray(result), x + x)
    assert seen == [(np.dtype(dtype), shape[::-1], np.ndarray)]


def test_several_results_scalars_and_attributes():
    @composit.wrap_as_operation(
        opaque=True, result=lambda x, _: [(x.shape, x.dtype), ((), np.float32)]
    )
    def scaled(x, factor, *, shift=0):
        return x * factor + shift, 2.5

    x = np.arange(6.0).reshape(2, 3)
    y, z = scaled(cnp.array(x), 3, shift=1.5)
    np.testing.assert_array_equal(np.asarray(y), x * 3 + 1.5)
    assert z.dtype == np.float32
    assert float(z) == 2.5


@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_programs_call_it(threads):
    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def backwards(x):
        return x[::-1]

    def function(x, y):
        return cnp.exp(backwards(x * 2)) + y

    x, y = np.random.default_rng(0).standard_normal((2, 500, 3))
    compiled = composit.compile(function, x, y, threads=threads)
    expected = np.asarray(function(cnp.array(x), cnp.array(y)))
    np.testing.assert_array_equal(compiled(x, y), expected)
    np.testing.assert_array_equal(compiled(y, x), np.asarray(function(cnp.array(y), cnp.array(x))))


def test_alike_calls_share_one_registration_and_one_plan():
    calls = []

    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def noted(x, k):
        calls.append(k)
        return x + k

    before = composit._core.keep_python_function(len)
    values = [float(noted(cnp.array(float(i)), 2)) for i in range(5)]
    assert values == [2, 3, 4, 5, 6]
    assert composit._core.keep_python_function(len) == before + 2
    assert calls == [2] * 5
    assert float(noted(cnp.array(1.0), 3)) == 4


def test_the_arrays_are_the_functions_own():
    kept = []

    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def keeping(x):
        kept.append(x)
        x += 1
        return x

    x = cnp.arange(5.0)
    first = keeping(x * 2)
    np.testing.assert_array_equal(np.asarray(first), [1, 3, 5, 7, 9])
    del first
    gc.collect()
    np.testing.assert_array_equal(np.asarray(keeping(x * 3)), [1, 4, 7, 10, 13])
    np.testing.assert_array_equal(kept[0], [1, 3, 5, 7, 9])


def test_errors_of_the_function_are_its_own():
    class OwnError(Exception):
        pass

    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def failing(x):
        raise OwnError("no")

    for _ in range(2):
        with pytest.raises(OwnError, match="no"):
            failing(cnp.ones(3))
    compiled = composit.compile(lambda x: failing(x) + 1, np.ones(3), threads=2)
    with pytest.raises(OwnError):
        compiled(np.ones(3))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.ones(4), r"odd: a result of shape \(4,\) and dtype float64. Shape \(3,\) and dtype"),
        (np.ones(3, complex), "and dtype complex128. Shape"),
        ("text", "and dtype <U4. Shape"),
    ],
)
def test_other_results_than_promised_are_refused(returned, message):
    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def odd(x):
        return returned

    with pytest.raises(ValueError, match=message):
        composit.evaluate(odd(cnp.ones(3)))


def test_a_wrong_number_of_results():
    @composit.wrap_as_operation(opaque=True, result=[((), float), ((), float)])
    def three(x):
        return 1.0, 2.0, 3.0

    with pytest.raises(ValueError, match=r"three: 3 results. 2 are required\."):
        composit.evaluate(*three(cnp.ones(3)))


def test_what_it_cannot_do_is_refused_by_name_and_line():
    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def secret(x):
        return np.sin(x)

    x = cnp.ones(3)
    y = secret(x)
    with pytest.raises(TypeError, match=r"'secret' has no derivative.*test_opaque_operations\.py"):
        nn.chain_rule({y: y}, [x])
    with pytest.raises(NotImplementedError, match=r"'?secret'?.*test_opaque_operations\.py"):
        composit.vmap(secret)(cnp.ones((2, 3)))


def test_export_refuses_it(tmp_path):
    @composit.wrap_as_operation(opaque=True, result=same_as_first)
    def secret(x):
        return np.sin(x)

    compiled = composit.compile(lambda x: secret(x) + 1, np.ones(3))
    with pytest.raises(NotImplementedError, match="secret"):
        compiled.export(tmp_path / "project")


def test_wrong_declarations():
    with pytest.raises(TypeError, match="opaque=True without `result`"):
        composit.wrap_as_operation(opaque=True)(np.sin)
    with pytest.raises(TypeError, match="`result` without opaque=True"):
        composit.wrap_as_operation(result=((), float))
    with pytest.raises(TypeError, match="A pair"):
        composit.wrap_as_operation(opaque=True, result=3)(np.sin)(cnp.ones(3))
