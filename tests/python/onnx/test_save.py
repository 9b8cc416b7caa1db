"""Functions saved as models in ONNX's format: valid, and computed alike by ONNX Runtime (or by
onnx's own evaluator, where that has no kernel), and by composit when they are read again."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx.reference import ReferenceEvaluator

import composit as ct
import composit.numpy as cnp
import composit.onnx as co
from composit import flashlight, nn
from composit.structure import flatten

onnxruntime.set_default_logger_severity(3)
draw = np.random.default_rng(0)


def floats(*shape, dtype="float32"):
    return draw.standard_normal(shape).astype(dtype)


def integers(*shape, dtype="int64"):
    return draw.integers(-9, 9, shape).astype(dtype)


UNARY = [
    "absolute", "ceil", "floor", "rint", "trunc", "exp", "exp2", "expm1", "sin", "cos", "tan",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "cbrt", "square", "negative", "sign", "isnan",
    "isinf", "isfinite", "signbit", "deg2rad", "rad2deg", "positive", "reciprocal", "fabs",
    "modf",
]  # fmt: skip
POSITIVE = ["sqrt", "log", "log2", "log10", "log1p"]
WITHIN_ONE = ["arcsin", "arccos", "arctanh"]
BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "arctan2",
    "hypot", "logaddexp", "logaddexp2", "copysign", "fmod", "remainder", "floor_divide",
    "heaviside", "greater", "less", "equal", "not_equal", "less_equal", "greater_equal",
    "logical_and", "logical_or", "logical_xor", "power", "float_power",
]  # fmt: skip
OF_INTEGERS = [
    "add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "power", "equal",
    "less",
]  # fmt: skip
# Formulas of operators, of other bits than the row.
FORMULAS = {
    "expm1",
    "rad2deg",
    "log2",
    "log10",
    "log1p",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "cbrt",
    "exp2",
    "running",
    "activations",
    "layer_norm",
}


def write(x):
    y = cnp.copy(x)
    y[1:, 0] = 5
    y[0, 1] = y[0, 0] * 2
    y[::2] += 1
    return y


def step(w, x, y):
    return w - 0.1 * ct.grad(lambda w: ((nn.sigmoid(x @ w) - y) ** 2).mean())(w)


def convolve(x, w):
    return nn.convolution(x, w, channels_last=False, strides=2)


def pool(x):
    return nn.max_pool(x, kernel_size=2, strides=2, channels_last=False)


def reductions(x):
    return (
        x.sum(), x.sum(0), x.mean(1), x.max(axis=(0, 1)), x.min(), x.prod(2),
        cnp.any(x > 0, axis=1), cnp.all(x > 0), x.argmax(), x.argmin(1), x.var(0), x.std(),
        cnp.median(x, axis=1),
    )  # fmt: skip


def running(x):
    return cnp.cumsum(x, axis=1), cnp.cumprod(x, axis=0), cnp.maximum.accumulate(x, axis=1)


def layouts(x):
    return (
        x.reshape(4, 6), x.T, x[1:, ::-1, ::2], cnp.broadcast_to(x[:, :1], (2, 3, 4)),
        cnp.concatenate([x, x], 1), cnp.stack([x, x]), cnp.split(x, 2, axis=2)[1], cnp.flip(x, 0),
        cnp.roll(x, 1, axis=1), cnp.pad(x, ((1, 2), (0, 0), (0, 1))),
    )  # fmt: skip


def indexed(x, k):
    return (
        x[k], x[:, k], x[k, k], cnp.take(x, k, axis=1),
        cnp.take_along_axis(x, cnp.argsort(x, axis=1), axis=1),
    )  # fmt: skip


def activations(x):
    return tuple(
        f(x) for f in (nn.gelu, nn.silu, nn.relu, nn.sigmoid, nn.softplus, nn.elu, nn.mish,
                       nn.hardswish, nn.leaky_relu)
    )  # fmt: skip


CASES = {
    **{name: (getattr(cnp, name), floats(3, 4)) for name in UNARY},
    **{name: (getattr(cnp, name), np.abs(floats(3, 4)) + 0.1) for name in POSITIVE},
    **{name: (getattr(cnp, name), np.tanh(floats(3, 4))) for name in WITHIN_ONE},
    **{name: (getattr(cnp, name), np.abs(floats(3, 4)), floats(4)) for name in BINARY},
    **{
        f"{name} of integers": (getattr(cnp, name), integers(3, 4), np.abs(integers(4)) + 1)
        for name in OF_INTEGERS
    },
    "special": (
        lambda x: (ct.erf(x), ct.erfc(x), ct.lgamma(x * x + 1), ct.digamma(x)),
        floats(3, 4),
    ),
    "bools": (
        lambda x, y: (x & y, x | y, x ^ y, ~x, x + y, x * y, cnp.maximum(x, y)),
        floats(3, 4) > 0, floats(3, 4) > 0,
    ),
    "matrices": (lambda x, y: x @ y, floats(3, 4), floats(4, 5)),
    "many matrices": (lambda x, y: x @ y, floats(2, 3, 4), floats(2, 4, 5)),
    "einsum": (lambda x, y: cnp.einsum("bij,bkj->bik", x, y), floats(2, 3, 4), floats(2, 5, 4)),
    "tensordot": (
        lambda x, y: cnp.tensordot(x, y, axes=([0, 2], [1, 0])), floats(2, 3, 4), floats(4, 2, 5),
    ),
    "matrices of integers": (lambda x, y: x @ y, integers(3, 4), integers(4, 5)),
    "reductions": (reductions, floats(2, 3, 4)),
    "running": (running, floats(3, 4)),
    "layouts": (layouts, floats(2, 3, 4)),
    "indexed": (indexed, floats(4, 4), np.array([1, 0, -1])),
    "orders": (
        lambda x: (cnp.sort(x, axis=0), cnp.argsort(x, axis=1),
                   cnp.searchsorted(cnp.sort(x[0]), x[1])),
        floats(4, 5),
    ),
    "writes": (write, floats(4, 5)),
    "softmax": (lambda x: (nn.softmax(x, axis=-1), nn.log_softmax(x, axis=1)), floats(4, 5)),
    "activations": (activations, floats(4, 5)),
    "layer_norm": (
        lambda x, w, b: (nn.layer_norm(x), nn.layer_norm(x, w), nn.layer_norm(x, w, b)),
        floats(4, 5), floats(5), floats(5),
    ),
    "convolution": (convolve, floats(2, 3, 8, 8), floats(4, 3, 3, 3)),
    "gradients of a convolution": (
        ct.grad(lambda x, w: (convolve(x, w) ** 2).sum(), argnums=(0, 1)),
        floats(2, 3, 8, 8), floats(4, 3, 3, 3),
    ),
    "pool": (pool, floats(2, 3, 8, 8)),
    "gradient of a pool": (ct.grad(lambda x: (pool(x) ** 2).sum()), floats(1, 2, 6, 6)),
    "pool of integers": (pool, integers(1, 1, 4, 4)),
    "loop": (
        lambda y: ct.fori_loop(1, 5, lambda k, s: s * 2 + cnp.astype(k, np.float32), y),
        floats(4, 5),
    ),
    "scan": (lambda z, y: ct.scan(lambda s, a: (s + a, s * a), z, y), floats(5), floats(4, 5)),
    "training step": (step, floats(4, 1), floats(8, 4), floats(8, 1)),
    "choices": (
        lambda x: (cnp.where(x > 0, x, 0), cnp.clip(x, -0.5, 0.5), cnp.nan_to_num(x),
                   cnp.isclose(x, x)),
        floats(4, 5),
    ),
    "float16": (lambda x: (x * 2 + 1, cnp.exp(x)), floats(4, 5, dtype="float16")),
    "int8": (lambda x: (x + x, x * 3, x // 2, -x, x.sum()), integers(3, 4, dtype="int8")),
    "uint32": (
        lambda x: (x + x, x >> 1, x << 2, -x, ~x),
        np.abs(integers(3, 4)).astype("uint32"),
    ),
    "interp": (
        lambda x: cnp.interp(x, np.array([-1.0, 0, 1]), np.array([0.0, 1, 5])),
        floats(7, dtype="float64"),
    ),
    "overlapping windows": (
        ct.grad(lambda x: (cnp.lib.stride_tricks.sliding_window_view(x, 3) ** 2).sum()), floats(7),
    ),
    "random numbers": (lambda x: x + ct.random.normal(ct.random.key(3), (3,)), floats(3)),
    "empty": (lambda x: (x[:0], x[:0].sum(0), cnp.concatenate([x[:0], x])), floats(3, 4)),
}  # fmt: skip


def computed(content, arguments):
    """By ONNX Runtime; where it has no kernel, by onnx's evaluator."""
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    named = dict(zip((value.name for value in model.graph.input), arguments))
    try:
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        return ReferenceEvaluator(model).run(None, named)
    return session.run(None, named)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_saved_functions_compute_the_same(name):
    function, *arguments = CASES[name]
    content = co.model_bytes(function, *arguments)
    expected = [np.asarray(y) for y in flatten(function(*map(cnp.asarray, arguments)))[0]]
    tolerance = 1e-2 if name == "float16" else 1e-5
    for found, y in zip(computed(content, arguments), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(found, y, rtol=tolerance, atol=tolerance)
    again = flatten(co.load(content)(*arguments))[0]
    for found, y in zip(map(np.asarray, again), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        if name in FORMULAS:
            np.testing.assert_allclose(found, y, rtol=1e-6, atol=1e-7)
        else:
            assert found.tobytes() == y.tobytes()


@pytest.mark.parametrize("name", ["gelu", "softmax", "layer_norm"])
def test_an_older_opset_has_the_same_values(name):
    function = {
        "gelu": nn.gelu, "softmax": lambda x: nn.softmax(x, axis=1), "layer_norm": nn.layer_norm,
    }[name]  # fmt: skip
    x = floats(4, 5)
    content = co.model_bytes(function, x, opset=18)
    assert onnx.load_from_string(content).opset_import[0].version == 18
    np.testing.assert_allclose(computed(content, [x])[0], np.asarray(function(x)), rtol=1e-5)


def operations(content):
    return [node.op_type for node in onnx.load_from_string(content).graph.node]


def test_layers_are_onnxs_operators():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(128, 10),
        torch.nn.LayerNorm(10), torch.nn.GELU(), torch.nn.Softmax(-1),
    ).eval()  # fmt: skip
    torch.manual_seed(0)
    net[1].running_mean.normal_()
    net[1].weight.data.normal_()
    x = torch.randn(2, 3, 8, 8)
    content = co.model_bytes(flashlight.trace(net, x), x.numpy())
    assert operations(content) == [
        "Conv", "BatchNormalization", "Relu", "MaxPool", "Reshape", "Gemm", "LayerNormalization",
        "Gelu", "Softmax",
    ]  # fmt: skip
    model = onnx.load_from_string(content)
    assert model.graph.node[0].name == "0/conv_1"  # the part of the model that it belongs to
    assert {"0.weight", "5.bias", "1.running_var"} <= {t.name for t in model.graph.initializer}
    expected = net(x).detach().numpy()
    np.testing.assert_allclose(computed(content, [x.numpy()])[0], expected, rtol=1e-5, atol=1e-6)


def test_names_and_lines_are_kept(tmp_path):
    weights = cnp.asarray(floats(4, 3))

    def score(image, scale):
        return {"scores": image @ weights * scale, "sum": image.sum()}

    path = tmp_path / "model.onnx"
    co.save(path, score, floats(2, 4), floats(1))
    graph = onnx.load(path).graph
    assert [value.name for value in graph.input] == ["image", "scale"]
    assert [value.name for value in graph.output] == ["scores", "sum"]
    assert graph.node[0].doc_string.startswith("test_save.py:")
    co.save(path, score, floats(2, 4), floats(1), input_names=["a", "b"], output_names=["c", "d"])
    graph = onnx.load(path).graph
    assert [value.name for value in (*graph.input, *graph.output)] == ["a", "b", "c", "d"]


def test_tensors_are_saved_with_their_placeholders():
    x = ct.placeholder("x", (2, 3), np.float32)
    content = co.model_bytes({"twice": x * 2, "same": x, "one": cnp.ones(2)})
    graph = onnx.load_from_string(content).graph
    assert [value.name for value in graph.input] == ["x"]
    values = floats(2, 3)
    twice, same, one = computed(content, [values])
    assert (twice == values * 2).all() and (same == values).all() and (one == 1).all()


def test_what_is_not_read_is_not_written():
    def function(x):
        x.sum()
        return nn.softmax(x, axis=1)

    assert operations(co.model_bytes(function, floats(2, 3))) == ["Softmax"]


def test_equal_constants_are_one():
    content = co.model_bytes(lambda x: (x * 2.5 + 1) * 2.5 + 1, floats(3))
    assert len(onnx.load_from_string(content).graph.initializer) == 2


@pytest.mark.parametrize(
    "function, arguments, options, error, text",
    [
        (cnp.linalg.inv, [np.eye(2)], {}, NotImplementedError,
         "onnx.save: inv has no operator of ONNX. A graph of other operations is required"),
        (lambda x: cnp.fft.fft(x).real, [floats(4)], {}, NotImplementedError,
         "ONNX's operators take no complex numbers: real dtypes are required"),
        (cnp.gcd, [integers(2), integers(2)], {}, NotImplementedError,
         "onnx.save: loop of uint64 has no operator of ONNX."),
        (lambda x: x, [floats(2)], {"opset": 17}, ValueError,
         "onnx.save: opset is 17. An integer from 18 on is required."),
        (lambda x: x, [floats(2)], {"input_names": ["a", "b"]}, ValueError,
         "onnx.save: 2 input names are given for 1 inputs. One for each is required."),
        (lambda x: (x, x), [floats(2)], {"output_names": ["a", "a"]}, ValueError,
         "onnx.save: output \"a\" is there twice. Different names are required."),
        (lambda x: (), [floats(2)], {}, ValueError,
         "onnx.save: there are no outputs. One or more are required."),
        (3.0 + cnp.ones(2), [floats(2)], {}, TypeError,
         "onnx.save: examples are given for tensors. A function is required."),
    ],
)  # fmt: skip
def test_errors(function, arguments, options, error, text):
    with pytest.raises(error) as raised:
        co.model_bytes(function, *arguments, **options)
    assert text in str(raised.value)


def test_a_newer_operator_is_refused_by_name():
    with pytest.raises(NotImplementedError) as raised:
        co.model_bytes(lambda x: x.view(np.int32), floats(3), opset=20)
    assert "onnx.save: BitCast is an operator of opset 26; opset 20 was asked for." in str(
        raised.value
    )


def test_a_placeholder_that_is_no_input_is_refused():
    other = ct.placeholder("other", (2,), np.float32)
    with pytest.raises(ValueError, match='depend on the placeholder "other"'):
        co.model_bytes(lambda x: x + other, floats(2))


def test_nothing_is_written_where_it_fails(tmp_path):
    path = tmp_path / "model.onnx"
    with pytest.raises(NotImplementedError):
        co.save(path, cnp.linalg.inv, np.eye(2))
    assert not path.exists()
    with pytest.raises(OSError):
        co.save(tmp_path / "none" / "model.onnx", lambda x: x, floats(2))
