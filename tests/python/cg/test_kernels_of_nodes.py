"""Kernels of composit.knossos within the calls of modules."""

# ruff: noqa: F821

import numpy as np
import pytest

from composit import cg, knossos
from composit.cg import op
from composit.knossos import Tensor


@knossos.register
def bend(x: float, s: float) -> float:
    return s * x if x > 0 else x * x


@knossos.register
def rotated(
    x: "Tensor[float, n]", w: "Tensor[float, n]", k: int
) -> "tuple[float, Tensor[float, n]]":
    z = x.copy()
    for _ in range(k):
        z = np.sin(z) * w
    return x @ w, z


class Model(cg.Module):
    def __init__(self):
        super().__init__([cg.Variable("x")], [cg.Parameter("w", np.array([0.5, 1.5, 2.0]))])

    def call(self, x):
        total, turned = rotated(bend(x, 3.0), self.param("w"), 2)
        return total * op.sum(turned)


X = np.array([1.0, -2.0, 3.0])


def test_a_kernel_is_an_operator():
    m = Model()
    result = m(X)
    total, turned = rotated(bend(X, 3.0), m.param("w").value, 2)
    np.testing.assert_allclose(result.value, total * np.sum(turned), rtol=1e-14)
    np.testing.assert_allclose(result.compile()(X), result.value, rtol=1e-14)
    names = [node.operator.short_functional_name for node in cg.get_all_nodes(result.root)
             if isinstance(node, cg.OperatorNode)]  # fmt: skip
    assert names.count("bend") == 1 and "rotated" in names
    result.back()
    for inpt, at in ((m.input("x"), X), (m.param("w"), m.param("w").value)):
        for k, direction in enumerate(np.eye(3) * 1e-6):
            moved = []
            for sign in (1, -1):
                other = Model()
                given = X
                if inpt is m.input("x"):
                    given = at + sign * direction
                else:
                    other.param("w").assign(at + sign * direction)
                moved.append(other(given).value)
            slope = (moved[0] - moved[1]) / 2e-6
            np.testing.assert_allclose(result.grad(inpt)[k], slope, rtol=1e-6)


def test_a_kernel_of_too_few_nodes():
    def call(self, x):
        return bend(x)

    m = cg.Module.build("short", call, (cg.Variable("x"),))
    with pytest.raises(TypeError, match=r"bend: got 1 arguments\. 2 are required"):
        m(1.0)
