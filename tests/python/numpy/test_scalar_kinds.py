"""NumPy's abstract kinds, among whose instances are tensors of no dimension."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import composit
import composit.numpy as cnp

KINDS = [
    "generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating",
    "complexfloating",
]  # fmt: skip
DTYPES = [*"?bBhHiIlLefdFD", ml_dtypes.bfloat16]


@pytest.mark.parametrize(("kind", "dtype"), [*itertools.product(KINDS, DTYPES)])
def test_tensors_are_what_numpys_scalars_are(kind, dtype):
    array = np.ones((2, 3), dtype)
    tensor = cnp.asarray(array)
    ours, theirs = getattr(cnp, kind), getattr(np, kind)
    assert isinstance(tensor[0, 1], ours) == isinstance(array[0, 1], theirs)
    assert isinstance(tensor.max(), ours) == isinstance(array.max(), theirs)
    assert not isinstance(tensor, ours) and not isinstance(tensor[0], ours)
    assert isinstance(array[0, 1], ours) == isinstance(array[0, 1], theirs)
    assert issubclass(tensor.dtype.type, ours) == issubclass(array.dtype.type, theirs)
    assert cnp.issubdtype(tensor.dtype, ours) == np.issubdtype(array.dtype, theirs)


@pytest.mark.parametrize("value", [1, 1.5, True, None, "a", [1], np.array(1), np.int8(1)])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_else_is_what_numpy_says(kind, value):
    assert isinstance(value, getattr(cnp, kind)) == isinstance(value, getattr(np, kind))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(KINDS, KINDS)])
def test_the_classes_are_ordered_as_numpys(a, b):
    expected = issubclass(getattr(np, a), getattr(np, b))
    for first, second in itertools.product((cnp, np), repeat=2):
        assert issubclass(getattr(first, a), getattr(second, b)) == expected
        assert np.issubdtype(getattr(first, a), getattr(second, b)) == expected
        assert (getattr(first, a) == getattr(second, b)) == (a == b)
    assert {getattr(np, a): 1}.get(getattr(cnp, b)) == (1 if a == b else None)
    assert getattr(cnp, a) is getattr(cnp, a) and getattr(cnp, a).__name__ == a


def test_no_value_is_needed():
    kinds = []

    def f(x):
        kinds.append([isinstance(x.sum(), getattr(cnp, kind)) for kind in KINDS])
        return x.sum()

    composit.compile(f, cnp.ones(3, "float32"))
    assert kinds == [[kind in ("generic", "number", "inexact", "floating") for kind in KINDS]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_no_dtype(kind):
    with pytest.raises(TypeError):
        cnp.zeros(3, getattr(cnp, kind))
