"""cnp.vectorize against NumPy's: values, types, and when the function is called."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp


def capped(a, b):
    """a, at most b."""
    return a if a < b else b


def both(a, b):
    return a + b, a * b


CALLS = [
    (capped, {}, ([1.0, 5.0, 3.0], 2.0)),
    (capped, {"otypes": "d"}, ([1, 5, 3], [[2], [4]])),
    (capped, {"otypes": [np.float32]}, (np.float64([1, 5]), 2)),
    (capped, {"otypes": [bool]}, (0, 2)),
    (capped, {"otypes": ["int8"]}, ([], 2)),
    (both, {}, ([1, 2], [3, 4])),
    (both, {"otypes": "dq"}, ([1, 2], [3, 4])),
    (capped, {"excluded": [1]}, ([1.0, 5.0], 2.0)),
    (np.mean, {"signature": "(n)->()"}, (np.arange(6.0).reshape(2, 3),)),
    (capped, {"cache": True}, ([1j.imag, 5.0], 2.0)),
]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("function", "options", "operands"), CALLS)
def test_results_are_numpys(function, options, operands, lazy):
    expected = np.vectorize(function, **options)(*operands)
    given = [cnp.asarray(x) if lazy and np.ndim(x) else x for x in operands]
    got = cnp.vectorize(function, **options)(*given)
    assert isinstance(got, tuple) == isinstance(expected, tuple)
    pairs = zip(got, expected) if isinstance(got, tuple) else [(got, expected)]
    for ours, theirs in pairs:
        assert isinstance(ours, cnp.LazyTensor)
        assert (ours.dtype, ours.shape) == (np.asarray(theirs).dtype, np.shape(theirs))
        np.testing.assert_array_equal(ours.evaluated(), theirs)


def test_with_otypes_it_is_a_node_that_is_called_once():
    seen = []

    def noted(x):
        seen.append(x)
        return 2 * x

    doubled = cnp.vectorize(noted, otypes=[float])
    y = doubled(cnp.arange(3.0)) + 1
    assert seen == [0, 1, 2] and y.shape == (3,)
    assert composit.evaluate(y).tolist() == [1, 3, 5] and seen == [0, 1, 2]


def test_compiled_functions_call_it():
    capping = cnp.vectorize(capped, otypes=[float])
    compiled = composit.compile(lambda x: cnp.exp(capping(x, 0.5)) * 2, np.zeros(4))
    x = np.array([0.0, 0.25, 0.75, 2.0])
    assert np.array_equal(compiled(x), composit.evaluate(cnp.exp(capping(x, 0.5)) * 2))


def test_as_a_decorator():
    @cnp.vectorize
    def plain(x):
        return x + 1

    @cnp.vectorize(otypes=[float], doc="One more.")
    def typed(x):
        return x + 1

    assert plain(cnp.arange(2)).evaluated().tolist() == [1, 2]
    assert typed(cnp.arange(2)).dtype == float and typed.__doc__ == "One more."


def test_errors_are_numpys():
    for module in (np, cnp):
        with pytest.raises(ValueError):
            module.vectorize(capped, otypes=3)
        with pytest.raises(TypeError):
            module.vectorize(3)
        with pytest.raises(ValueError):
            module.vectorize(capped, otypes=[float])([1, 2], [1, 2, 3])
        with pytest.raises(ValueError, match="size 0"):
            module.vectorize(capped)([], [])
    with pytest.raises(TypeError, match="dtype object is not supported"):
        cnp.vectorize(capped, otypes=[object])([1], [2])


def test_what_depends_on_placeholders_needs_types():
    with pytest.raises(composit.errors.NotSupported, match="give otypes="):
        composit.compile(cnp.vectorize(lambda x: x), np.ones(3))
