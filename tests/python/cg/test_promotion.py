"""Dtypes: numbers of Python, as parameters and literals, promote as NumPy 2's; comparisons."""

import numpy as np
import pytest
from seed_modules import Multiply, SimpleModel

import composit
from composit import cg, knossos, nn
from composit.cg import op
from composit.knossos import Tensor

DTYPES = ["float32", "float64", "float16", "int8", "int64"]


def module(function, *inputs):
    return cg.Module.build("f", function, inputs[0] if len(inputs) == 1 else inputs)


def dtypes(m, *values):
    """Of the call's value, of its graph, and of programs."""
    result = m(*values)
    arrays = [np.asarray(result.value), result.compile()(*values), m.compile(*values)(*values)]
    tensors = [
        result.tensor,
        result.root.tensor,
        m.apply([p.value for p in m.parameters()], *values),
    ]
    return {str(one.dtype) for one in (*arrays, *tensors)}


@pytest.mark.parametrize("w", [1, 1.0, np.float32(1), np.float64(1), np.int8(1), np.array(1.0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_parameters_promote_as_numpys(w, dtype):
    x = np.array([1, 2], dtype)
    expected = np.multiply(np.add(x, w), np.square(x))
    m = SimpleModel(w)
    assert dtypes(m, x) == {str(expected.dtype)}
    assert np.array_equal(m(x).value, expected)
    result = m(x)
    result.back()
    assert np.allclose(result.grad(m.param("w")), [1, 4])
    assert np.allclose(m.gradfn("w")(x.astype("float32")).value, [1, 4])


@pytest.mark.parametrize("literal", [2, 2.0, np.float64(2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_literals_promote_as_numpys(literal, dtype):
    x = np.array([1, 2], dtype)
    inner = module(lambda self, x: op.add(x, literal), cg.Variable("x"))
    for m in (inner, module(lambda self, x: op.mult(inner(x), literal), cg.Variable("x"))):
        expected = x + literal if m is inner else (x + literal) * literal
        assert dtypes(m, x) == {str(expected.dtype)}
        result = m(x)
        result.back()
        literals = [one for one in cg.get_input_nodes(result.root) if one.ref.is_literal]
        assert len(literals) == (1 if m is inner else 2) and np.array_equal(result.value, expected)
        if isinstance(literal, int):  # constants of integers are no numbers to differentiate by
            assert all(one.gvalue is None for one in literals)
            continue
        slopes = [np.ones(2)] if m is inner else [x + literal, np.full(2, literal)]
        assert all(any(np.array_equal(one.gvalue, y) for one in literals) for y in slopes)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_outside_of_calls(dtype):
    x = np.array([1, 2], dtype)
    for one in (2, 2.0):
        assert op.add(x, one).value.dtype == op.add(one, x).value.dtype == (x + one).dtype
    assert op.add(1, 2).value == 3


def test_operators_of_ones_own():
    x = np.array([1, 2], "float32")
    m = module(lambda self, x: Multiply()(x, 3.0), cg.Variable("x"))
    assert dtypes(m, x) == {"float32"}
    result = m(x)
    result.back()
    literal = result.root.children[1]
    assert np.array_equal(literal.gvalue, x)
    weighted = module(lambda self, x: Multiply()(x, self.param("w")), cg.Variable("x"))
    own = cg.Module.build("g", lambda self, x: Multiply()(x, self.param("w")), cg.Variable("x"),
                          cg.Parameter("w", 3))  # fmt: skip
    assert dtypes(own, x) == {"float32"}
    lookup = module(lambda self, x: op.take(x, 1), cg.Variable("x"))  # stays an integer
    assert dtypes(lookup, x) == {"float32"} and lookup(x).value == 2
    with pytest.raises(ValueError, match="has no parameter 'w'"):
        weighted(x)


def test_integers_that_do_not_fit():
    m = SimpleModel(300)
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        m(np.array([1], "int8"))
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        op.add(np.array([1], "int8"), 300)
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        module(lambda self, x: op.add(x, 300), cg.Variable("x"))(np.array([1], "int8"))


def test_trained_numbers_stay_numbers():
    x = np.array([1, 2], "float32")
    m = SimpleModel(1)
    training = cg.Training(m, nn.mse, nn.sgd(1e-3))
    training.step(x, x)
    w = m.param("w").value
    assert isinstance(w, float) and w != 1
    assert dtypes(m, x) == {"float32"}
    m.param("w").assign(np.float64(w))
    assert dtypes(m, x) == {"float64"}


def test_batches_of_parameters():
    m, x = SimpleModel(1.0), np.array([1, 2], "float32")
    many = composit.vmap(lambda w: m.apply([w], x))(np.array([1.0, 2.0]))
    assert many.dtype == np.float32
    assert np.array_equal(composit.evaluate(many), [[2, 12], [3, 16]])
    slope = composit.grad(lambda w: m.apply([w], x).sum())(np.array(1.0))
    assert composit.evaluate(slope) == 5


def test_nodes_are_no_numbers():
    said = (
        r"Node: InputNode\(.*\) == 0, of type int\. A node is equal to nodes alone, those of its "
        r"id and value: the value \(x\.value == …\), or an operator \(op\.equal\), is required\."
    )
    for compare in (lambda x: x == 0, lambda x: x != 0, lambda x: x == 0):
        with pytest.raises(TypeError, match=said):
            module(lambda self, x, f=compare: op.exp(x) if f(x) else x, cg.Variable("x"))(1.0)
    for other in (np.ones(2), np.float32(1), 1.0, True, composit.numpy.ones(2), [1, 2]):
        with pytest.raises(TypeError, match="A node is equal to nodes alone"):
            module(lambda self, x, y=other: op.exp(x) if x == y else x, cg.Variable("x"))(1.0)
    m = module(lambda self, x: op.exp(x) if x in (None, "x") else x, cg.Variable("x"))
    assert m(2.0).value == 2
    equal = module(lambda self, x: op.equal(x, 2), cg.Variable("x"))
    assert np.array_equal(equal(np.array([1, 2])).value, [False, True])


def test_comparisons_are_operators_with_values():
    absolute = module(lambda self, x: x if x >= 0 else -x, cg.Variable("x"))
    for value in (3.0, -3.0):
        result = absolute(value)
        result.back()
        assert (result.value, result.grad(absolute.input("x"))) == (3, np.sign(value))
    compared = [lambda x: x < 2, lambda x: x <= 2, lambda x: x > 2, lambda x: x >= 2,
                lambda x: x > 2, lambda x: x < x]  # fmt: skip
    values = np.array([1, 2, 3])
    for one in compared:
        m = module(lambda self, x, f=one: f(x), cg.Variable("x"))
        assert np.array_equal(m(values).value, one(values))
    with pytest.raises(ValueError, match="ambiguous"):
        absolute(values)


@knossos.register
def nth_of(x: "Tensor[float, n]", k: int) -> float:  # noqa: F821
    return x[k] * 2.0


class Pick(cg.Operator):
    def __init__(self):
        super().__init__((cg.Variable("a"), cg.Variable("i")))

    def call(self, a, i):
        return a.value[i.value]


@pytest.mark.parametrize("literal", [1, np.int64(1)])
@pytest.mark.parametrize("function, value, slope", [
    (lambda x, i: x[i], 6.0, [0, 1, 0]),
    (lambda x, i: op.take(x, i), 6.0, [0, 1, 0]),
    (lambda x, i: op.embedding(i, op.reshape(x, (3, 1))), [6.0], [[0, 1, 0]]),
    (lambda x, i: op.ldexp(x, i), [10.0, 12.0, 14.0], 2 * np.eye(3)),
    (lambda x, i: nth_of(x, i), 12.0, [0, 2, 0]),
    (lambda x, i: Pick()(x, i), 6.0, [0, 1, 0]),
    (lambda x, i: op.get_item(x * i, index=i), 6.0, [0, 1, 0]),
])  # fmt: skip
def test_integers_stay_indices(function, value, slope, literal):
    x = np.array([5.0, 6.0, 7.0])
    m = cg.Module.build("f", lambda self, x: function(x, self.param("i")), cg.Variable("x"),
                        cg.Parameter("i", literal))  # fmt: skip
    result = m(x)
    result.back()
    assert np.array_equal(result.value, value) and np.array_equal(result.compile()(x), value)
    assert np.array_equal(m.compile(x)(x), value)
    assert np.array_equal(result.grad(m.input("x")), slope)
    assert np.array_equal(m.gradfn("x")(x).value, slope)
    child = next(one for one in result.root.children if one.tensor.dtype.kind == "f")
    assert np.sum(result.root.grad(child)) == np.sum(slope)


def test_indices_are_wider_than_what_they_choose_from():
    x = np.arange(400, dtype="int16").astype("uint8")
    m = cg.Module.build("f", lambda self, x: x[self.param("i")], cg.Variable("x"),
                        cg.Parameter("i", 300))  # fmt: skip
    for i in (300, -1):
        m.param("i").assign(i)
        assert m(x).value == x[i] == m.compile(x)(x) == composit.evaluate(m.apply([i], x))
        assert dtypes(m, x) == {"uint8"}
    assert op.take(x, 300).value == x[300] and op.take(x.astype("float32"), 300).value == x[300]
    flags = cg.Module.build("g", lambda self, x: x & self.param("i"), cg.Variable("x"),
                            cg.Parameter("i", 1))  # fmt: skip
    assert dtypes(flags, x) == {"uint8"}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_parameters_of_derived_modules_are_not_rounded(dtype):
    m = cg.Module.build("f", lambda self, x: op.astype(x, "float64") * self.param("w"),
                        cg.Variable("x"), cg.Parameter("w", 0.1))  # fmt: skip
    x = np.array(1, dtype)
    assert np.isclose(cg.logspace(m)(x).value, np.log(0.1), rtol=1e-14)
    assert m.gradfn("w").gradfn("x")(x).value == 1
    squared = cg.Module.build("f", lambda self, x: op.astype(x, "float64") * self.param("w") ** 2,
                              cg.Variable("x"), cg.Parameter("w", 0.1))  # fmt: skip
    assert squared.gradfn("w")(x).value == 0.2


def test_parameters_of_derived_modules_are_wider_than_inputs():
    m = cg.Module.build("f", lambda self, x: op.astype(x, "float64") * self.param("w"),
                        cg.Variable("x"), cg.Parameter("w", 300))  # fmt: skip
    x = np.array([1, 2], "int8")
    assert np.array_equal(m.gradfn("x")(x).value, 300 * np.eye(2))
    assert np.allclose(cg.logspace(m)(x).value, np.log(300.0 * x))
