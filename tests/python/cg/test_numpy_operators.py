"""composit.numpy's functions as operators: the values are NumPy's, derivatives those of the
function; nodes stand wherever arrays may."""

import math
import pickle

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import cg, nn
from composit.cg import op

X = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0], [1.0, 7.0, 5.0]])
V = np.array([0.5, -3.0, 2.0])


def module(function, *names):
    return cg.Module.build("f", function, tuple(map(cg.Variable, names)))


def split(name):
    space, _, last = name.rpartition(".")
    return space, last


def of(root, name):
    space, last = split(name)
    return getattr(getattr(root, space) if space else root, last)


# name: what it is called with, where "x" and "v" are nodes
CALLS = {
    "pad": ("x", 1), "flip": ("x",), "fliplr": ("x",), "sort": ("x", 0), "argsort": ("x",),
    "roll": ("x", 1), "rot90": ("x",), "tile": ("v", 2), "repeat": ("v", 3), "diff": ("x",),
    "median": ("x",), "std": ("x",), "percentile": ("x", [25.0, 50.0]), "trace": ("x",),
    "diag": ("x",), "tril": ("x",), "triu": ("x", 1), "kron": ("x", "v"), "inner": ("x", "v"),
    "einsum": ("ij,j->i", "x", "v"), "hstack": (["x", "x"],), "vstack": (("x", "v"),),
    "block": ([["x", "x"]],), "append": ("x", "v"), "ravel": ("x",), "moveaxis": ("x", 0, 1),
    "atleast_2d": ("v",), "zeros_like": ("x",), "nan_to_num": ("x",), "cumprod": ("v",),
    "searchsorted": (np.array([0.0, 1.0]), "v"), "interp": ("v", [0.0, 1.0], [1.0, 3.0]),
    "convolve": ("v", "v"), "cross": ("v", V[::-1].copy()), "round": ("x",), "ptp": ("x", 0),
    "isclose": ("x", "x"), "select": ([V > 0], ["v"]), "delete": ("v", 1), "insert": ("v", 1, 9.0),
    "linalg.inv": ("x",), "linalg.solve": ("x", "v"), "linalg.norm": ("x",), "linalg.det": ("x",),
    "linalg.matrix_power": ("x", 2), "fft.rfft": ("v",), "polyval": ("v", 2.0),
    "average": ("v",), "matrix_transpose": ("x",), "count_nonzero": ("x",), "nanmax": ("x",),
    "take_along_axis": ("x", np.array([[0], [2], [1]]), 1),
}  # fmt: skip
SEVERAL = {
    "split": ("x", 3), "array_split": ("v", 2), "hsplit": ("x", 3), "unstack": ("x",),
    "meshgrid": ("v", "v"), "broadcast_arrays": ("x", "v"), "divmod": ("x", 2.0), "modf": ("v",),
    "linalg.slogdet": ("x",), "linalg.qr": ("x",), "histogram": ("v", 3), "atleast_1d": ("v", "v"),
    "nonzero": ("x",),
}  # fmt: skip


def filled(arguments, values):
    if isinstance(arguments, (list, tuple)):
        return type(arguments)(filled(one, values) for one in arguments)
    return values[arguments] if isinstance(arguments, str) and arguments in values else arguments


@pytest.mark.parametrize("name", [*CALLS])
def test_values_and_derivatives(name):
    arguments = CALLS[name]
    build = lambda self, x, v: of(op, name)(*filled(arguments, {"x": x, "v": v}))
    m = module(build, "x", "v")
    expected = of(np, name)(*filled(arguments, {"x": X, "v": V}))
    result = m(X, V)
    assert np.allclose(result.value, expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(np.asarray(result.value).shape, np.shape(expected))
    assert np.array_equal(result.compile()(X, V), result.value)
    if np.asarray(expected).dtype != float:
        return
    result.back()
    for i, (one, value) in enumerate((("x", X), ("v", V))):
        at = lambda y, i=i: cnp.sum(
            of(cnp, name)(*filled(arguments, {"x": X, "v": V} | {"xv"[i]: y}))
        )
        slope = composit.evaluate(composit.grad(at)(cnp.asarray(value)))
        axes = tuple(range(np.ndim(expected)))
        found = np.asarray(result.grad(m.input(one))).sum(axis=axes)
        assert np.allclose(found, slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [*SEVERAL])
def test_several_results_are_several_nodes(name):
    made = []

    def build(self, x, v):
        nodes = of(op, name)(*filled(SEVERAL[name], {"x": x, "v": v}))
        made.append(nodes)
        return nodes[1]

    m = module(build, "x", "v")
    result = m(X, V)
    expected = of(np, name)(*filled(SEVERAL[name], {"x": X, "v": V}))
    nodes = made[0]
    assert isinstance(nodes, (list, tuple)) and len(nodes) == len(expected)
    if hasattr(expected, "_fields"):
        assert nodes._fields == expected._fields
    for node, wanted in zip(nodes, expected):
        assert isinstance(node, cg.OperatorNode)
        assert np.allclose(node.value, wanted, rtol=1e-12, atol=1e-14)
    assert result.root is nodes[1]


def test_derivatives_of_one_of_several():
    m = module(lambda self, x: op.mult(*op.split(x, 2)), "x")
    result = m(np.array([2.0, 3.0]))
    result.back()
    assert np.array_equal(result.grad(m.input("x")), [[3, 2]])
    assert [one.short_name for one in cg.get_input_nodes(result.root)] == ["x"]


def test_nodes_stand_wherever_arrays_may():
    m = module(lambda self, x, w: op.average(x, weights=w), "x", "w")
    result = m(V, np.array([1.0, 2.0, 1.0]))
    result.back()
    assert result.value == np.average(V, weights=[1, 2, 1])
    assert np.array_equal(result.grad(m.input("x")), [0.25, 0.5, 0.25])
    assert np.any(result.grad(m.input("w")) != 0)
    m = module(lambda self, x, i: x[i, :2], "x", "i")
    assert np.array_equal(m(X, np.array([2, 0])).value, X[[2, 0], :2])
    m = module(lambda self, x, mask: op.sum(x, where=mask), "x", "mask")
    assert m(V, V > 0).value == 2.5
    m = cg.Module.build("f", lambda self, x: op.hstack([self.param("w"), x, 1.0]),
                        cg.Variable("x"), cg.Parameter("w", 2.0))  # fmt: skip
    result = m(V)
    result.back()
    assert np.array_equal(result.value, [2, *V, 1])
    assert np.array_equal(result.grad(m.param("w")), [1, 0, 0, 0, 0])


def test_names_of_operands():
    root = op.einsum("ij,j->i", X, V)
    assert [one.short_name for one in root.ref.inputs] == ["operands", "operands_1"]
    assert op.pad(X, 1).ref.input_name(0) == "array"
    assert op.Pad(pad_width=1)(X).value.shape == (5, 5)
    assert np.array_equal(op.Sort(axis=0)(X).value, np.sort(X, 0))
    assert op.Searchsorted(a=np.array([0.0, 1.0]))(0.5).value == 1
    assert op.linalg.Inv()(X).ref.functional_name == "composit.cg.op.linalg.Inv"


def test_options_are_kept_as_they_were():
    places = np.array([[0], [2], [1]])
    m = module(lambda self, x: op.take_along_axis(x, places, 1), "x")
    result = m(X)
    expected = np.take_along_axis(X, places, 1)
    places[:] = 0
    assert np.array_equal(result.compile()(X), expected)


def test_dtypes_among_options():

    for dtype in (np.float32, "float32", np.dtype("float32"), cnp.float32):
        assert op.cumprod(V, dtype=dtype).value.dtype == "float32"
        assert op.zeros((3,), dtype).value.dtype == "float32"
        assert op.sum(V, dtype=dtype).value.dtype == "float32"


def test_options_by_position():
    assert np.array_equal(op.sum(X, 0).value, X.sum(0))
    assert op.reshape(V, (3, 1)).value.shape == (3, 1)
    assert np.array_equal(op.transpose(X, (1, 0)).value, X.T)
    for joined in (op.concatenate(V, V), op.concatenate([V, V]), op.concatenate((V, V), 0)):
        assert np.array_equal(joined.value, [*V, *V])
    assert op.stack([V, V], axis=1).value.shape == (3, 2)


def test_operators_of_no_operand_and_of_lists():
    m = module(lambda self, x: op.add(x, op.arange(3)), "x")
    result = m(V)
    result.back()
    assert np.array_equal(result.value, V + np.arange(3))
    assert np.array_equal(result.compile()(V), result.value)
    assert np.array_equal(op.sort([3, 1, 2]).value, [1, 2, 3])


@pytest.mark.parametrize("name", [
    "put", "copyto", "shape", "allclose", "array_equal", "result_type", "evaluate", "ufuncs",
    "divmod_quotient", "random", "base_repr", "create_input", "fill_diagonal", "__file", "Wrong",
])  # fmt: skip
def test_what_is_no_function_of_arrays_is_not_there(name):
    assert not hasattr(op, name) and name not in op.names()


def test_every_function_has_a_name_and_a_class():
    assert {"pad", "einsum", "split", "linalg.inv", "exp", "softmax", "mult"} <= set(op.names())
    for name in op.names():
        assert callable(of(op, name)), name
        space, last = split(name)
        if name not in op.SHORT:
            kind = of(op, f"{space}.{op._class_name(last)}" if space else op._class_name(last))
            assert pickle.loads(pickle.dumps(kind)) is kind
    assert "inv" in dir(op.linalg) and "Inv" in dir(op.linalg) and "pad" in dir(op)
    assert op.pad.__doc__ == cnp.pad.__doc__


def test_refusals():
    with pytest.raises(TypeError, match=r"op\.Sum: out is float64\[3\]\. Nothing is required: a"):
        op.sum(V, out=V)
    with pytest.raises(TypeError, match=r"op\.exp: 2 operands are given\. 1 are required \(x\)"):
        op.exp(V, V)
    with pytest.raises(AttributeError, match=r"'composit\.cg\.op\.linalg' has no attribute 'pad'"):
        op.linalg.pad


MASKED = np.ma.array([1.0, 2.0, 4.0], mask=[0, 1, 0])
TRAINED = cg.Module.build(
    "f", lambda self, x: op.mult(x, self.param("w")), cg.Variable("x"), cg.Parameter("w", V)
)


@pytest.mark.parametrize("given", [
    lambda: op.exp(MASKED),
    lambda: op.sort(MASKED),
    lambda: module(lambda self, x: op.add(x, MASKED), "x")(1.0),
    lambda: module(lambda self, x: op.hstack([x, [MASKED]]), "x")(V),
    lambda: module(lambda self, x: x, "x")(MASKED),
    lambda: module(lambda self, x: x, "x")([MASKED, MASKED]),
    lambda: module(lambda self, x: x, "x").compile(MASKED),
    lambda: module(lambda self, x: x, "x").apply([], MASKED),
    lambda: TRAINED.apply([MASKED], V),
    lambda: cg.Training(TRAINED, nn.mse, nn.sgd(0.1)).step(MASKED, V),
    lambda: cg.Training(TRAINED, nn.mse, nn.sgd(0.1)).step(V, MASKED),
    lambda: cg.Parameter("w", MASKED),
    lambda: cg.Constant("w", np.ma.masked),
    lambda: cg.Parameter("w", 1.0).assign(MASKED),
])  # fmt: skip
def test_masked_arrays_are_refused(given):
    said = r" is given a masked array, .*, whose mask would be lost\. An array without one is "
    with pytest.raises(TypeError, match=said):
        given()


@pytest.mark.parametrize("name, function, value", [
    ("fill_value", lambda self, x: op.full((2,), x), 2.0),
    ("a", lambda self, x: op.linalg.det([[x, 1.0], [2.0, x]]), 2.0),
    ("end_values", lambda self, x: op.pad(np.ones(2), 2, mode="linear_ramp", end_values=x), 2.0),
    ("ddof", lambda self, x: op.std(np.arange(4.0), ddof=x), 1.0),
])  # fmt: skip
def test_no_derivative_is_lost_where_a_node_is_taken_as_a_number(name, function, value):
    m = cg.Module.build("b", function, (cg.Variable("x"),))
    result = m(value)
    with pytest.raises(NotImplementedError) as caught:
        result.back()
    assert f"as a number, for {name!r}, by which nothing is differentiated. An array" in str(
        caught.value
    )


def test_what_needs_shapes_alone_has_the_derivative_0():
    def call(self, x):
        return op.zeros_like(x) + op.ones_like(x) * op.full((2,), x.value[0]) * x

    m = cg.Module.build("shapes", call, (cg.Variable("x"),))
    result = m(np.array([3.0, 4.0]))
    result.back()
    np.testing.assert_array_equal(result.grad(m.input("x")), [[3, 0], [0, 3]])


@pytest.mark.parametrize("function, xs, slopes", [
    (lambda x, y: math.prod(op.meshgrid(x, y)), ([1.0, 2.0], [3.0]), ([[[3, 0], [0, 3]]],
                                                                     [[[1], [2]]])),
    (lambda x, y: math.prod(op.broadcast_arrays(x, y)), ([1.0, 2.0], 3.0), (3 * np.eye(2), [1, 2])),
    (lambda x, y: math.prod(op.atleast_1d(x, y)), (2.0, 3.0), ([3], [2])),
    (lambda x, y: math.prod(op.average(x, weights=y, returned=True)), ([1.0, 2.0], [3.0, 4.0]),
     ([3, 4], [1, 2])),
    (lambda x, y: op.sum(op.histogram(x, bins=2, weights=y)[1]) * op.sum(y),
     ([1.0, 2.0, 4.0], [3.0, 4.0, 5.0]), ([18, 0, 18], [7.5, 7.5, 7.5])),
])  # fmt: skip
def test_derivatives_of_functions_of_several_results(function, xs, slopes):
    m = cg.Module.build("f", lambda self, x, y: function(x, y),
                        (cg.Variable("x"), cg.Variable("y")))  # fmt: skip
    result = m(*map(np.asarray, xs))
    result.back()
    for one, slope in zip(m.inputs, slopes):
        assert np.allclose(result.grad(one), slope)


@pytest.mark.parametrize("i", [1, np.int64(1), np.array(1)])
@pytest.mark.parametrize("roll", [
    lambda x, i: op.roll(x, i), lambda x, i: op.roll(x, i * 2 - 1),
    lambda x, i: cg.Module.build("g", lambda self, y, k: op.roll(y, k),
                                 (cg.Variable("y"), cg.Variable("k")))(x, i + 0),
])  # fmt: skip
def test_parameters_that_are_taken_as_numbers_are_constants_of_programs(roll, i):
    m = cg.Module.build("f", lambda self, x: roll(x, self.param("i")) * self.param("w"),
                        cg.Variable("x"),
                        (cg.Parameter("i", i), cg.Parameter("w", 2.0)))  # fmt: skip
    x = np.array([1.0, 2.0, 3.0])
    result = m(x)
    result.back()
    assert np.array_equal(result.grad(m.input("x")), 2 * np.roll(np.eye(3), 1, 0))
    assert np.array_equal(result.grad(m.param("w")), [3, 1, 2])
    rolled = result.root.children[0]
    assert np.array_equal(rolled.grad(rolled.children[0]), np.roll(np.eye(3), 1, 0))
    for program in (result.compile(), m.compile(x)):
        assert np.array_equal(program(x), [6, 2, 4])
    with pytest.raises(TypeError, match="has no derivative with respect to 'i'"):
        result.grad(m.param("i"))
    shifted = cg.Module.build("f", lambda self, x, k: op.roll(x, k),
                              (cg.Variable("x"), cg.Variable("k")))  # fmt: skip
    with pytest.raises(ValueError, match=r"the placeholder 'k'.* has no value"):
        shifted.compile(x, 1)


@pytest.mark.parametrize("function, expected, slope", [
    (lambda x: op.clip(x, None, 1.5), [1.0, 1.5], [1, 0]),
    (lambda x: op.clip(x, min=1.5), [1.5, 2.0], [0, 1]),
    (lambda x: op.clip(x, a_min=0.0, a_max=1.5), [1.0, 1.5], [1, 0]),
    (lambda x: op.clip(x, 0.0, 1.5), [1.0, 1.5], [1, 0]),
    (lambda x: np.clip(x, None, 1.5), [1.0, 1.5], [1, 0]),
    (lambda x: op.reshape(op.reshape(x, (1, 2), order="F"), (2,)), [1.0, 2.0], [1, 1]),
    (lambda x: op.reshape(x, shape=(2,)), [1.0, 2.0], [1, 1]),
])  # fmt: skip
def test_arguments_are_those_of_composits_numpy(function, expected, slope):
    m = cg.Module.build("f", lambda self, x: function(x), cg.Variable("x"))
    result = m(np.array([1.0, 2.0]))
    result.back()
    assert np.array_equal(result.value, expected)
    assert np.array_equal(result.grad(m.input("x")), np.diag(slope))


def test_where_of_a_condition_alone():
    assert np.array_equal(op.where(np.array([0.0, 2.0, 3.0]))[0].value, [1, 2])


@pytest.mark.parametrize("wrong", [
    lambda x: op.transpose(x, 1, 0), lambda x: op.reshape(x, 3, 2, 1, 4),
    lambda x: op.expand_dims(x), lambda x: op.swapaxes(x, 0), lambda x: op.astype(x),
    lambda x: op.softmax(x, foo=1), lambda x: op.broadcast_to(x), lambda x: op.clip(x, foo=1),
    lambda x: op.clip(x, 1.5),
])  # fmt: skip
def test_wrong_arguments_are_those_of_a_function_with_a_name(wrong):
    with pytest.raises(TypeError) as caught:
        wrong(np.ones((2, 3)))
    assert "lambda" not in str(caught.value)
