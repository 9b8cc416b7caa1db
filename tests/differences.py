"""Derivatives against central differences, and forward mode against reverse, in two orders."""

import numpy as np

import composit
import composit.numpy as cnp

STEP = 1e-5


def _weighted(function, weights):
    """The sum of all results' elements, each multiplied by a weight."""

    def total(*arguments):
        results = function(*arguments)
        results = results if isinstance(results, (list, tuple)) else [results]
        return sum(cnp.sum(y * w) for y, w in zip(results, weights))

    return total


def _differences(function, arrays, smooth):
    """Central differences of a scalar function in the direction of every element."""
    directions = [(k, i) for k in smooth for i in np.ndindex(arrays[k].shape)]
    stacked = [
        np.stack([a] * 2 * len(directions)) if k in smooth else a for k, a in enumerate(arrays)
    ]
    for row, (k, i) in enumerate(directions):
        stacked[k][(2 * row, *i)] += STEP
        stacked[k][(2 * row + 1, *i)] -= STEP
    axes = [0 if k in smooth else None for k in range(len(arrays))]
    values = composit.evaluate(composit.vmap(function, in_axes=axes)(*stacked))
    return (values[0::2] - values[1::2]) / (2 * STEP)


def check_derivatives(function, *arrays, tolerance=1e-6):
    """That the derivatives of `function` at these arrays are right, with respect to all of float64:
    reverse mode against differences, forward mode against reverse; then those of the gradient."""
    smooth = tuple(k for k, a in enumerate(arrays) if a.dtype == np.float64)
    random = np.random.RandomState(3)
    results = function(*[cnp.asarray(a) for a in arrays])
    results = results if isinstance(results, (list, tuple)) else [results]
    loss = _weighted(function, [random.uniform(0.5, 1.5, y.shape) for y in results])
    directions = {k: random.standard_normal(arrays[k].shape) for k in smooth}

    def along(*arguments):
        """The gradient's product with the directions; its own gradient is second order."""
        slopes = composit.grad(loss, smooth)(*arguments)
        return sum(cnp.sum(g * d) for g, d in zip(slopes, directions.values()))

    for order, target in (("first", loss), ("second", along)):

        def of_the_smooth(*moved, target=target):
            arguments = list(arrays)
            for k, x in zip(smooth, moved):
                arguments[k] = x
            return target(*arguments)

        slopes = composit.grad(target, smooth)(*arrays)
        primals = [arrays[k] for k in smooth]
        _, pushed = composit.jvp(of_the_smooth, primals, list(directions.values()))
        *pulled, forward = composit.evaluate(*slopes, pushed)
        reverse = sum((g * d).sum() for g, d in zip(pulled, directions.values()))
        np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9, err_msg=order)
        expected = _differences(target, arrays, smooth)
        got = np.concatenate([g.ravel() for g in pulled])
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=order)
