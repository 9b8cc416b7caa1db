"""NumPy's in-place functions: a cell, its names and views, or an ndarray hold what NumPy's do."""

import numpy as np
import numpy_agreement
import pytest

import composit
import composit.numpy as cnp

M = np.arange(12.0).reshape(3, 4)
I = np.arange(6, dtype="int8").reshape(2, 3)
E = np.zeros((0, 3))
MASK = np.array([[True, False, True], [False, True, True]])
SHAPES = [(2, 2), (5, 2), (2, 5), (3, 3, 3), (2, 3, 3), (0, 0), (4,), (), (7, 2), (1, 1)]

# The function's first argument comes first.
CASES = {
    "fill_diagonal": [((np.zeros(shape, dtype), value, wrap),) for shape in SHAPES
                      for dtype in ("float64", "int8") for wrap in (False, True)
                      for value in (7, [1, 2], 2.5, [], 300)],
    "put": [((x, i, v, mode),) for x in (M, I) for i in (0, [0, 2], [-1, 0, 0], [], [99], [[1, 2]],
                                                        [True], [1.5])
            for v in (7, [8, 9], [1.5], [], np.array([1.5])) for mode in ("raise", "wrap", "clip")]
    + [((E, 0, 1),), ((E, [], 1),), ((I, 0, 300),), ((I, 0, 1, "odd"),)],
    "place": [((I, MASK, v),) for v in (1, [7, 8], np.int8([5]), np.array([1.5]), [])]
    + [((I, np.zeros((2, 3)), []),), ((I, MASK[0], 1),), ((I, MASK.ravel(), [1, 2]),),
       ((M, M > 3, np.arange(100)),), ((E, E, [1]),), ((I, MASK, 300),)],
    "putmask": [((I, MASK, v),) for v in (1, [7, 8], np.arange(6), I + 1,
                                          np.array([True, False]), [1.5], [], np.arange(60))]
    + [((I, MASK[0], 1),), ((I, MASK.ravel(), [1, 2]),), ((E, E, [1]),), ((I, MASK, 300),)],
    "copyto": [((M, v),) for v in (1, [1, 2, 3, 4], np.arange(4), np.ones((3, 1)), np.ones(3),
                                         True)]
    + [((I, v),) for v in (5, 300, 1.5, np.arange(3), np.ones(3), np.float32(1), True)]
    + [((I, np.arange(3), casting),) for casting in ("no", "equiv", "safe", "same_kind", "unsafe")]
    + [((M, np.float32(2), "safe"),), ((I, np.ones(3), "unsafe"),), ((I, 1, "odd"),)]
    + [((I, 9), {"where": MASK}), ((I, 9), {"where": [True, False, True]}),
       ((I, 9), {"where": [True, False]})],
    "put_along_axis": [
        ((M, np.array([[0], [1], [3]]), v, 1),) for v in (9, [[1], [2], [3]], np.ones((3, 3)))
    ] + [((M, np.array([[0, 2, 1, -1]]), 9, 0),), ((M, np.array([0, 11]), [1, 2], None),),
         ((M, np.array([[0]]), 9, None),), ((M, np.array([0]), 9, 1),),
         ((M, np.array([[9]]), 1, 1),),
         ((M, np.array([[0.5]]), 1, 1),), ((M, np.array([[0]]), 1, 2),),
         ((I, np.array([[0]]), 2.7, 1),)],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_agrees(name):
    ours, theirs = getattr(cnp, name), getattr(np, name)
    written = []
    for arguments, *keywords in CASES[name]:
        keywords = keywords[0] if keywords else {}
        expected, array = arguments[0].copy(), arguments[0].copy()
        tensor = cnp.asarray(arguments[0])
        alias, view = tensor, tensor[...]
        _, wrong = numpy_agreement.attempt(theirs, (expected, *arguments[1:]), keywords)
        for target in (tensor, array):
            made, error = numpy_agreement.attempt(ours, (target, *arguments[1:]), keywords)
            where = f"{name}{arguments} {keywords}: {wrong!r} {error!r}"
            assert made is None
            assert (error is None) == (wrong is None), where
            assert error is None or isinstance(error, type(wrong)), where
        try:
            numpy_agreement.assert_same(tensor, expected)
            numpy_agreement.assert_same(view, expected)
        except AssertionError as error:
            raise AssertionError(f"{name}{arguments} {keywords}: {error}") from error
        assert alias is tensor
        np.testing.assert_array_equal(array, expected)
        written.append(tensor)
    numpy_agreement.assert_compiled_equals_interpreted(written[:40])


@pytest.mark.parametrize("name", CASES)
def test_the_target_must_be_writable(name):
    with pytest.raises(TypeError, match="A tensor, or an ndarray, is required"):
        getattr(cnp, name)(*([[1, 2]], 0, 1, 0)[: 4 if name == "put_along_axis" else 3])
    frozen = cnp.broadcast_to(cnp.ones(3), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        cnp.copyto(frozen, 1)


def test_a_view_writes_its_base():
    base = cnp.zeros((3, 3))
    cnp.fill_diagonal(base[1:, 1:], 5)
    cnp.put(base[0], [1], 7)
    assert np.asarray(base).tolist() == [[0, 7, 0], [0, 5, 0], [0, 0, 5]]


def test_gradients_reach_what_stays_and_what_is_written():
    def total(x, v):
        y = x * 1
        cnp.put(y, [1, 5], v)
        z = y * 2
        cnp.putmask(z, MASK, x)
        cnp.place(z, ~MASK, v * 3)
        return cnp.sum(z * np.arange(6.0).reshape(2, 3))

    x, v = composit.grad(total, (0, 1))(np.ones((2, 3)), np.ones(2))
    assert np.asarray(x).tolist() == [[0, 0, 2], [0, 4, 5]]
    assert np.asarray(v).tolist() == [3, 9]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "float16", "float32", "int64", "complex64", "complex128"]
)
def test_elements_that_lie_apart_are_written(dtype):
    values = np.arange(24).astype(dtype)
    for at in (slice(None, None, 2), slice(20, 3, -3), slice(5, 6, 7)):
        known, held = np.zeros(24, dtype), cnp.asarray(np.zeros(24, dtype)).copy()
        assert float(cnp.sum(abs(held))) == 0  # its memory is known, and written in place
        known[at] = values[at]
        held[at] = cnp.asarray(values[at])
        np.testing.assert_array_equal(np.asarray(held), known)
