"""Masks of known arrays choose and write when they are called: NumPy's values, and the graphs that
there would be."""

import numpy as np
import pytest

import composit.numpy as cnp
from composit import chain_rule, compile, evaluate, grad, placeholder

SIZES = [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000, 1024, 1025, 5000]
DTYPES = ["float32", "float64", "int64", "uint8"]


def numbers(size, dtype, seed=0):
    drawn = np.random.default_rng(seed).integers(1, 100, size)
    return (drawn / 4 if dtype.startswith("float") else drawn).astype(dtype)


def operations(tensor):
    """The operations that it is made of, each node's once."""
    seen, waiting = {}, [tensor.node]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = str(node.operation)
            waiting += [operand.node for operand in node.operands]
    return sorted(each for each in seen.values() if each not in ("constant", "input"))


def is_same(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.asarray(found).tobytes() == expected.tobytes()


def mask_of(shape, kind):
    drawn = np.random.default_rng(2).random(shape) < 0.5
    return {"half": drawn, "all": drawn | True, "none": drawn & False}[kind]


@pytest.mark.parametrize("kind", ["half", "all", "none"])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "complex128", "int8"])
def test_what_masks_choose_is_numpys(dtype, kind):
    for size in SIZES:
        x, mask = numbers(size, dtype), mask_of(size, kind)
        is_same(cnp.asarray(x)[cnp.asarray(mask)], x[mask])
    for shape, masked in (((6, 5), (6, 5)), ((6, 5), 6), ((6, 5, 4), (6, 5)), ((30, 1), 30)):
        x, mask = numbers(shape, dtype), mask_of(masked, kind)
        is_same(cnp.asarray(x)[cnp.asarray(mask)], x[mask])


@pytest.mark.parametrize("value", [3, 2.5, -1, 300, True, 1e300, float("nan")])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "int8", "float16"])
@pytest.mark.filterwarnings("ignore")
def test_stores_through_masks_are_numpys(dtype, value):
    for shape, masked in ((1, 1), (100, 100), (1000, 1000), ((6, 5), (6, 5)), ((6, 5), 6)):
        for kind in ("half", "all", "none"):
            x, mask = numbers(shape, dtype), mask_of(masked, kind)
            ours = cnp.asarray(x)
            view = ours[1:]
            try:
                x[mask] = value
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error)):
                    ours[cnp.asarray(mask)] = value
            else:
                try:
                    ours[cnp.asarray(mask)] = value
                except ValueError:  # a fraction in integers, which NumPy cuts off
                    assert not float(value).is_integer() and not dtype.startswith("float")
                    continue
            is_same(ours, x)
            is_same(view, x[1:])


def test_masks_of_other_shapes_are_refused_as_ever():
    x = cnp.asarray(np.ones((6, 5)))
    for shape in (5, (6, 4), (6, 5, 1), 7):
        with pytest.raises(IndexError):
            x[cnp.asarray(np.ones(shape, bool))]
        with pytest.raises(IndexError):
            x[cnp.asarray(np.ones(shape, bool))] = 1.0


def test_graphs_and_gradients_of_masks():
    values, chosen = numbers((20, 3), "float64"), mask_of(20, "half")
    x, mask = cnp.asarray(values), cnp.asarray(chosen)
    rows = x[mask]
    assert not rows.has_node
    assert operations(rows) == operations(placeholder("x", (20, 3), "float64")[mask])
    (gradient,) = chain_rule({cnp.sum(rows * rows): 1.0}, [x])
    np.testing.assert_array_equal(evaluate(gradient), 2 * values * chosen[:, None])
    start = cnp.asarray(values)
    written = start.copy()
    written[mask] = 2.0
    (gradient,) = chain_rule({cnp.sum(written * written): 1.0}, [start])
    np.testing.assert_array_equal(evaluate(gradient), 2 * values * ~chosen[:, None])
    slope = grad(lambda x: cnp.sum(x[mask] * 3.0))
    np.testing.assert_array_equal(evaluate(slope(x)), values * 0 + 3.0 * chosen[:, None])
    taken = compile(lambda x: x[mask] + 1.0)
    np.testing.assert_array_equal(taken(values), values[chosen] + 1.0)


def test_what_a_mask_chose_stays():
    values, chosen = numbers(100, "float64"), mask_of(100, "half")
    x, mask = cnp.asarray(values), cnp.asarray(chosen)
    taken = x[mask]
    x[mask] = -1.0
    mask[:] = True
    x[0] = 7.0
    np.testing.assert_array_equal(np.asarray(taken), values[chosen])
    np.testing.assert_array_equal(evaluate(taken * 1.0), values[chosen])
