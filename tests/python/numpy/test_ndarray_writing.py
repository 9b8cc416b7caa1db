"""What an ndarray lets be written beside its elements: flat, shape, dtype; wrong indices."""

import pickle

import numpy as np
import pytest
from numpy_agreement import assert_agree, attempt

import composit.numpy as cnp


def both():
    values = np.arange(12).reshape(3, 4)
    return cnp.array(values), values


READS = [0, -1, 11, 12, slice(None), slice(2, 30, 3), slice(None, None, -1), (), ...,
         [1, 3], [[1], [2]],
         np.arange(12) % 2 == 0, np.zeros(3, bool), [True, False], None,
         (1, 2), 1.5, [], True]  # fmt: skip


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("index", READS, ids=repr)
def test_flat_is_numpys(index):
    tensor, values = both()
    assert_agree(lambda i: tensor.flat[i], lambda i: values.flat[i], (index,))
    for value in (7, [1, 2, 3], [[4]]) if index is not True else (7,):
        tensor, values = both()
        _, wrong = attempt(values.flat.__setitem__, (index, value), {})
        _, error = attempt(tensor.flat.__setitem__, (index, value), {})
        assert type(wrong) is type(error) or isinstance(error, type(wrong)), (wrong, error)
        np.testing.assert_array_equal(tensor, values)


def test_flat_is_an_iterator():
    tensor, values = both()
    ours, theirs = tensor.flat, values.flat
    for _ in range(5):
        assert int(next(ours)) == int(next(theirs))
        assert (ours.index, ours.coords) == (theirs.index, theirs.coords)
    assert [int(x) for x in ours] == [int(x) for x in theirs] == [*range(5, 12)]
    assert len(ours) == 12 and ours.base is tensor
    np.testing.assert_array_equal(tensor.T.flat, values.T.flat)
    np.testing.assert_array_equal(cnp.asarray(tensor.flat) + tensor.flat.copy(), 2 * values.ravel())
    tensor.T.flat = [5, 6]
    values.T.flat = [5, 6]
    np.testing.assert_array_equal(tensor, values)
    np.testing.assert_array_equal(tensor.flat == 5, values.flat == 5)


def test_shape_and_dtype_can_be_set():
    tensor, values = both()
    row = tensor[1]
    for x in (tensor, values):
        x.shape = (2, -1)
        x[0, 4] = -1
    assert tensor.shape == values.shape == (2, 6)
    assert np.asarray(row).tolist() == [-1, 5, 6, 7]  # the view is as it was
    with pytest.raises(ValueError, match="cannot reshape array"):
        tensor.shape = (5, 5)
    for x in (tensor, values):
        x.dtype = "int16"
        x[1, ::4] = 3
    assert tensor.dtype == values.dtype
    np.testing.assert_array_equal(tensor, values)


def test_a_view_knows_its_base():
    tensor, _ = both()
    assert tensor.base is None and tensor.T.base is tensor and tensor[1:][0].base is tensor
    assert (tensor + 1).base is None
    part = cnp.array([[1, 2], [3, 4]])[0]
    part[...] = 9
    assert np.asarray(part.base).tolist() == [[9, 9], [3, 4]]


def test_lazytensor_makes_zeros():
    tensor = cnp.LazyTensor((2, 3), "int8")
    tensor[0] = 1
    assert np.asarray(tensor).tolist() == [[1, 1, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="negative"):
        cnp.LazyTensor((2, -3))


WRONG = [1 << 64, (0.5, 1), (slice(0.5, 1), 0.5), [slice(None)], (..., ...), ["1"],
         ([0],) * 64,         np.array([0.5]), (True,) * 80]  # fmt: skip


@pytest.mark.parametrize("index", WRONG)
def test_wrong_indices_are_index_errors(index):
    tensor, values = both()
    for x in (tensor, values):
        with pytest.raises(IndexError):
            x[index]


def test_complex_values_in_real_tensors_are_warned_of():
    tensor, values = both()
    for x in (tensor, values):
        with pytest.warns(np.exceptions.ComplexWarning):
            x[0] = np.array([1j, 2, 3, 4])
    for astype in (cnp.asarray([1j]).astype, lambda dtype: cnp.astype(cnp.asarray([1j]), dtype)):
        with pytest.warns(np.exceptions.ComplexWarning):
            astype("float32")
        astype("complex64")
        astype("bool")
    np.testing.assert_array_equal(tensor, values)


@pytest.mark.parametrize("arrays", [(3,), ((2, 1), (4,)), ((5, 6, 7),), ((2, 3), (2, 4)), ()])
def test_broadcast_is_numpys(arrays):
    shapes = [shape if isinstance(shape, tuple) else (shape,) for shape in arrays]
    given = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    try:
        theirs = np.broadcast(*given)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(".")[0]):
            cnp.broadcast(*given)
        return
    ours = cnp.broadcast(*map(cnp.asarray, given))
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name)
    found = [tuple(int(x) for x in pair) for pair in ours]
    assert found == [tuple(int(x) for x in pair) for pair in theirs]


@pytest.mark.parametrize(
    "call",
    [
        lambda n, x: n.moveaxis(x(2, 3, 4), range(3), (2, 0, 1)),
        lambda n, x: n.moveaxis(x(2, 3), [0, 0], [0, 1]),
        lambda n, x: n.roll(x(2, 3), 2**100), lambda n, x: n.roll(x(2, 3), np.uint64(2**63 + 1), 1),
        lambda n, x: n.size(x(2, 3, 4), (0, -1)), lambda n, x: n.size(x(2, 3), (0, 0)),
        lambda n, x: n.clip(x(2, 3), -(2**70), 2), lambda n, x: n.clip(x(5), min=1, max=2),
        lambda n, x: n.clip(x(5), 2), lambda n, x: n.clip(x(5), 2, 3, max=3),
        lambda n, x: n.average(x(2, 3), 1, [1, 2, 3], returned=True),
        lambda n, x: n.average(x(2, 3, 4), (2, 0), x(4, 2)),
        lambda n, x: n.meshgrid(x(2), x(3), sparse=True, indexing="ij"),
        lambda n, x: n.meshgrid(x(2), x(3), x(4), sparse=True),
        lambda n, x: n.linalg.matrix_power(x(2, 2) * 0 + np.eye(2)[::-1], 2**100 + 1),
        lambda n, x: n.correlate(x(4) * (1 + 2j), x(2) * 1j, "full"),
        lambda n, x: n.convolve(x(2) * 1j, x(9), 2),
        lambda n, x: n.unique(x(4) % 2 * 1j, return_counts=True),
        lambda n, x: n.sort_complex(x(5)[::-1] * 1j), lambda n, x: n.arange(4, dtype="complex64"),
        lambda n, x: n.interp([0.5, 7, np.nan], x(3), x(3) * (1 - 1j), left=2j),
        lambda n, x: n.poly([1j, -1j, 2]), lambda n, x: n.poly([1j, 2]),
        lambda n, x: n.interp(0.5, [np.nan, 1], [0, 10]),
        lambda n, x: n.asarray(x(2, 3), order="F"), lambda n, x: n.ones((2, 3), order="F"),
        lambda n, x: n.insert(x(3), np.array([0.5, 1]), 1),
        lambda n, x: n.delete(x(3), np.array([0.5])),
        lambda n, x: n.array(x(2, 3)).byteswap(), lambda n, x: n.array(x(3) * 1j).byteswap(),
    ],
)  # fmt: skip
def test_calls_are_numpys(call):
    def x(*shape):
        return np.arange(np.prod(shape)).reshape(shape)

    assert_agree(lambda: call(cnp, x), lambda: call(np, x), (), ulps=4)


def test_corrcoef_of_complex_variables_is_numpys():
    z = np.random.default_rng(0).standard_normal((3, 9)) * (1 + 1j) + np.arange(9) * 1j
    np.testing.assert_allclose(cnp.evaluate(cnp.corrcoef(z)), np.corrcoef(z), rtol=1e-13)


def test_shuffle_draws_numpys_numbers():
    tensor, values = both()
    rows = [*range(7)]
    for n, x in ((cnp.random, tensor), (np.random, values)):
        n.seed(5)
        n.shuffle(x)
        n.shuffle(x[1])
    np.testing.assert_array_equal(tensor, values)
    cnp.random.shuffle(rows)
    np.random.seed(5)
    assert sorted(rows) == [*range(7)]


@pytest.mark.parametrize(
    "kind", ["quick", "q", "Heap", "heapsort", "m", "stable", "", "bubble", None]
)
def test_kinds_of_sorting_are_known_by_their_first_letter(kind):
    assert_agree(cnp.sort, np.sort, (np.array([3, 1, 2]),), {"kind": kind})


@pytest.mark.parametrize("name", ["ALWAYS", "IF_NEEDED"])
def test_modes_of_copying_are_taken(name):
    mode = getattr(np._CopyMode, name)
    x = cnp.asarray([1, 2])
    assert (cnp.asarray(x, copy=mode) is x) == (name == "IF_NEEDED")
    assert cnp.array(x, copy=mode).tolist() == [1, 2]


@pytest.mark.parametrize("shape", [(), (2, 2), (3, 3), 4, (0,), (-1,), "x", ((2, 4),), (2, -2),
                                   (None,), (2.5,), (7,)])  # fmt: skip
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
def test_resize(shape, dtype):
    arguments = shape if isinstance(shape, tuple) else (shape,)
    ours, theirs = cnp.arange(6).astype(dtype), np.arange(6).astype(dtype)
    name, seen = ours, ours[2:]
    try:
        theirs.resize(*arguments, refcheck=False)
    except Exception as error:
        with pytest.raises(type(error)):
            ours.resize(*arguments)
    else:
        ours.resize(*arguments)
    assert (name.shape, name.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(np.asarray(name), theirs)
    assert np.asarray(seen).tolist() == [2, 3, 4, 5]
    ours += 1
    np.testing.assert_array_equal(np.asarray(name), theirs + np.ones((), dtype))


def test_what_is_no_array_of_its_own_has_one_size():
    x = cnp.arange(6)
    with pytest.raises(ValueError, match="does not own its data"):
        x[1:].resize(2)


def test_dumps():
    x = cnp.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(pickle.loads(x.dumps())), np.asarray(x))
