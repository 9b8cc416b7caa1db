"""Functions saved as models in ONNX's format: valid, and computed alike by ONNX Runtime (or by
onnx's own evaluator, where that has no kernel), and by composit when they are read again."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from exported_functions import CASES, floats, integers
from onnx.reference import ReferenceEvaluator

import composit as ct
import composit.numpy as cnp
import composit.onnx as co
from composit import flashlight, nn
from composit.structure import flatten

onnxruntime.set_default_logger_severity(3)
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


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits_are_written_as_they_are_converted_here(tmp_path, dtype):
    x = np.array([0.3, -2.7, 448, 464, 465, -60000, 61440, np.inf, np.nan], "float32")

    def function(x):
        return x.astype(dtype), x.astype(dtype).astype("float32") * 0.5

    wanted = [np.asarray(each).astype("float32") for each in function(cnp.asarray(x))]
    co.save(tmp_path / "m.onnx", function, x)
    found = co.load(tmp_path / "m.onnx")(x)
    assert found[0].dtype.name == dtype
    for one, other in zip(found, wanted):
        np.testing.assert_array_equal(np.asarray(one).astype("float32"), other)
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    peers = session.run(["output_1"], {"x": x})[0]  # whose float8_e5m2 is NaN for 61440
    np.testing.assert_array_equal(peers[:6], wanted[1][:6])
    with pytest.raises(NotImplementedError, match=f"Concat of {dtype} is not in ONNX"):
        co.save(tmp_path / "n.onnx", lambda x: cnp.concatenate([x, x]), cnp.zeros(3, dtype))


LAYOUTS = {
    "identity": (lambda x: x, 19), "reshape": (lambda x: x.reshape(4), 19),
    "transpose": (lambda x: x.T, 21), "squeeze": (lambda x: x[None].T.squeeze(), 21),
    "cast": (lambda x: x.astype("float32"), 19),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_opset_has_floats_of_8_bits(tmp_path, name, dtype):
    function, opset = LAYOUTS[name]
    x = cnp.asarray([[1.0, 2.0], [3.0, -4.0]]).astype(dtype)
    co.save(tmp_path / "m.onnx", function, x)
    proto = onnx.load(tmp_path / "m.onnx")
    assert proto.opset_import[0].version == opset
    assert proto.ir_version == {19: 9, 21: 10}[opset]
    onnx.checker.check_model(proto, full_check=True)
    found, wanted = co.load(tmp_path / "m.onnx")(x), function(x)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(
        np.asarray(found).astype("float32"), np.asarray(wanted).astype("float32")
    )
    with pytest.raises(
        NotImplementedError, match=r"of floats of 8 bits is an .* opset 18 was asked"
    ):
        co.save(tmp_path / "n.onnx", function, x, opset=18)
