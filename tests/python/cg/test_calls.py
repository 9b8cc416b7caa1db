"""What calls take: arguments by name, torch's tensors; what they give: nodes with Python's
operators and shapes, results that are parameters; and what is refused of them."""

import copy
import pickle

import numpy as np
import pytest

from composit import cg, evaluate
from composit import numpy as cnp
from composit.cg import op


def module(function, *names, params=(), name="f"):
    return cg.Module.build(name, function, tuple(map(cg.Variable, names)), params)


def double(self, x):
    return x * 2


def test_arguments_by_name():
    m = module(lambda self, a, b: a - 2 * b, "a", "b")
    assert [m(a=5, b=1).value, m(b=1, a=5).value, m(5, b=1).value] == [3, 3, 3]
    assert module(double, "x 1")(**{"x 1": 3}).value == 6
    assert op.Subtract()(b=1, a=5).value == 4
    inner = module(lambda self, x: m(b=x, a=5), "x")
    assert inner(1).value == 3
    with pytest.raises(TypeError, match=r"f: 'c' is no input. Each of its inputs once is required"):
        m(1, 2, c=3)
    with pytest.raises(TypeError, match=r"f: 'a' is given twice. .* is required: 'a', 'b'\."):
        m(1, 2, a=3)
    with pytest.raises(ValueError, match="f: 1 of 2 inputs are given; without: 'a'"):
        m(b=1)


@pytest.mark.parametrize("value", [2**70, -(2**70), 2**64, -(2**63) - 1])
def test_integers_that_have_no_dtype(value):
    said = f"x' is given {value}, which does not fit in int64 or uint64"
    with pytest.raises(OverflowError, match=f"f: input '{said}"):
        module(double, "x")(value)
    with pytest.raises(OverflowError, match=r"Multiply: input 'b' is given .* does not fit"):
        module(lambda self, x: x * value, "x")(1.0)
    with pytest.raises(OverflowError, match=f"parameter '{said}"):
        cg.Parameter("x", value)


def test_results_that_are_parameters():
    m = module(lambda self, x: self.param("w"), "x", params=cg.Parameter("w", 2.0))
    result = m(5.0)
    result.back()
    assert result.value == 2 and result.grad(m.param("w")) == 1 and result.grad(m.input("x")) == 0
    assert evaluate(m.apply([3.0], 5.0)) == 3 and m.compile(5.0)(5.0) == 2
    outer = module(lambda self, x: m(x) * x, "x")
    assert outer(5.0).value == 10
    both = module(lambda self, x: (self.param("w"), x), "x", params=cg.Constant("w", 2.0))
    assert module(lambda self, x: op.add(*both(x)), "x")(5.0).value == 7


def test_names_that_several_parameters_have():
    class Outer(cg.Module):
        def __init__(self, count):
            super().__init__(cg.Variable("x"), functional_name="Outer")
            self.inner = [
                module(lambda self, x: x * self.param("w"), "x", params=cg.Parameter("w", 2.0))
                for _ in range(count)
            ]

        def call(self, x):
            for one in self.inner:
                x = one(x)
            return x

    assert Outer(1).gradfn("w")(3.0).value == 3
    two = Outer(2)
    with pytest.raises(ValueError, match=r"Outer: 'w' names 2 parameters of modules in it: 'f@"):
        two.gradfn("w")
    assert two.gradfn(two.inner[0].param("w"))(3.0).value == 6
    own = module(lambda self, x: self.inner(x) * self.param("w"), "x",
                 params=cg.Parameter("w", 5.0))  # fmt: skip
    own.inner = two
    slope = own.gradfn("w")
    assert slope(3.0).value == 12 and slope.gradfn("w")(3.0).value == 0


def test_pythons_operators():
    cases = [lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: ~a + b,
             lambda a, b: a << b, lambda a, b: a >> b, lambda a, b: +a - b, lambda a, b: 6 & a,
             lambda a, b: 6 | a, lambda a, b: 6 ^ a, lambda a, b: 6 << b, lambda a, b: 6 >> b,
             lambda a, b: sum(divmod(a, b)), lambda a, b: sum(divmod(7, a))]  # fmt: skip
    a, b = np.array([5, 6, 7]), np.array([1, 2, 3])
    for one in cases:
        m = module(lambda self, a, b, f=one: f(a, b), "a", "b")
        assert np.array_equal(m(a, b).value, one(a, b))
        w = module(lambda self, b, f=one: f(self.param("a"), b), "b", params=cg.Parameter("a", a))
        assert np.array_equal(w(b).value, one(a, b))
    bools = module(lambda self, a: ~(a > 5) & (a < 9), "a")
    assert np.array_equal(bools(a).value, [True, False, False])


def test_shapes():
    x = np.arange(6.0).reshape(2, 3)

    def call(self, x):
        for one in (x, self.param("w")):
            assert (one.shape, one.ndim, one.size, len(one)) == ((2, 3), 2, 6, 2)
        with pytest.raises(TypeError, match="len\\(\\) of unsized object"):
            len(op.sum(x))
        return x.T @ self.param("w") + x.shape[0]

    m = module(call, "x", params=cg.Parameter("w", x))
    result = m(x)
    assert np.array_equal(result.value, x.T @ x + 2) and result.root.shape == (3, 3)
    mixed = module(lambda self, x: cnp.ones(3) + np.ones(3) + x + x.value + np.float64(1), "x")
    assert np.array_equal(mixed(np.ones(3)).value, [5, 5, 5])


def test_nodes_are_no_arrays():
    for function in (np.asarray, cnp.asarray, cnp.sum, lambda x: np.array([x, x])):
        with pytest.raises(TypeError, match=r"InputNode.* (is no array|An array of)"):
            module(lambda self, x, f=function: f(x), "x")(np.ones(3))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (0, -1), (2, 0), (), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_of_axes(axis, keepdims):
    x = np.random.RandomState(0).standard_normal((2, 3, 4))
    expected = np.log(np.sum(np.exp(x), axis, keepdims=keepdims))
    m = module(lambda self, x: op.logsumexp(x, axis=axis, keepdims=keepdims), "x")
    assert m(x).value.shape == expected.shape if expected.ndim else True
    assert np.allclose(m(x).value, expected)
    if axis is None and not keepdims:
        result = m(x)
        result.back()
        assert np.allclose(result.grad(m.input("x")), np.exp(x) / np.exp(x).sum())


def test_logsumexp_of_wrong_axes():
    for axis, said in (((0, 3), "out of bounds"), ((0, 0), "repeated")):
        with pytest.raises(ValueError, match=said):
            op.logsumexp(np.ones((2, 3)), axis=axis)


def test_results_are_not_pickled():
    result = module(double, "x")(3.0)
    for one in (result, result.root):
        with pytest.raises(TypeError, match=r"cannot be pickled: it is part of a call\. Its value"):
            pickle.dumps(one)
        assert copy.copy(one) is one and copy.deepcopy(one) is one


def test_functions_that_were_not_set_up():
    class Hasty(cg.Module):
        def __init__(self):
            self.width = 3

        def call(self, x):
            return x

    class HastyOperator(cg.Operator):
        def __init__(self):
            self.width = 3

    for kind in (Hasty, HastyOperator):
        said = rf"{kind.__name__}: \w+ is wanted of a {kind.__name__} that was not set up\. A call "
        for use in (lambda m: m(3), lambda m: m.param("w"), lambda m: m.name):
            with pytest.raises(AttributeError, match=said + r"of super\(\)\.__init__"):
                use(kind())
        assert kind().width == 3
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'nothing'"):
        module(double, "x").nothing


def test_torchs_tensors():
    torch = pytest.importorskip("torch")
    m = module(double, "x")
    z = torch.tensor([1 + 2j, 3.0])
    assert np.array_equal(m(z.conj()).value, [2 - 4j, 6])
    assert np.array_equal(evaluate(cnp.asarray(z.conj())), [1 - 2j, 3])
    assert np.array_equal(evaluate(cnp.asarray(z.conj().imag)), [-2, 0])
    assert np.array_equal(m.compile(z)(z.conj()), [2 - 4j, 6])
    for short in (torch.tensor([1.0, 2.5], dtype=torch.bfloat16, requires_grad=True),
                  torch.nn.Parameter(torch.tensor([1.0, 2.5], dtype=torch.bfloat16))):  # fmt: skip
        value = m(short).value
        assert value.dtype.name == "bfloat16" and np.array_equal(value.astype(float), [2, 5])
        assert evaluate(cnp.asarray(short.detach())).dtype.name == "bfloat16"
        own = module(lambda self: self.param("w") * 2, params=cg.Parameter("w", short))
        assert own().value.dtype.name == "bfloat16"
        plain = short.detach()
        assert m.compile(plain)(plain).dtype.name == "bfloat16"
    said = "f: input 'x' is given a Tensor whose values cannot be had: .*composit.vmap"
    with pytest.raises(TypeError, match=said):
        torch.vmap(lambda x: m(x).value)(torch.ones(3))
